"""A parser of objects streams what it has parsed so far, again and again: the last one counts."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.language_models import FakeStreamingListLLM
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnableParallel
from pydantic import BaseModel

from langchain_franq import guard_chain

from .fakes import ScriptedGuard

MODEL = FakeStreamingListLLM(responses=['{"summary": "It is red.", "note": "old", "n": 1}'])


class Reply(BaseModel):
    summary: str
    note: str = "none"  # as long as the model has not written it
    n: int = 0


CHAINS = {
    "pydantic": MODEL | PydanticOutputParser(pydantic_object=Reply),
    "json": MODEL | JsonOutputParser(),
}
CHECKED = {"summary": "It is red. [checked: ]", "note": "old", "n": 1}


def streams_of(chain):
    async def streamed():
        return [chunk async for chunk in chain.astream("?")]

    return [list(chain.stream("?")), asyncio.run(streamed())]


@pytest.mark.parametrize("kind", CHAINS)
def test_the_last_object_is_checked_and_returned(kind):
    assert len(list(CHAINS[kind].stream("?"))) > 2
    guarded = guard_chain(CHAINS[kind], ScriptedGuard(), fields=("summary",))
    for (made,) in streams_of(guarded):
        assert {key: dict(made)[key] for key in CHECKED} == CHECKED


@pytest.mark.parametrize("kind", CHAINS)
def test_so_it_is_where_the_parser_is_behind_a_key(kind):
    chain = RunnableParallel(reply=CHAINS[kind], asked=RunnableLambda(len))
    guarded = guard_chain(chain, ScriptedGuard(), fields=("reply.summary",))
    for chunks in streams_of(guarded):
        whole = {key: value for chunk in chunks for key, value in chunk.items()}
        assert dict(whole["reply"]) == CHECKED
        assert whole["asked"] == 1


def test_objects_of_which_none_goes_on_with_another_are_not_lost_silently():
    def write(_):
        yield Reply(summary="It is red.")
        yield Reply(summary="It is tall.")

    guarded = guard_chain(RunnableGenerator(write), ScriptedGuard(), fields=("summary",))
    with pytest.raises(TypeError, match="cannot put together a stream of Reply"):
        list(guarded.stream("?"))
