"""Applications without a prompt template: functions search, lay out the passages and write prompts.

LangChain reports no more of them than what each step was given and what it returned.
"""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough

from franq_guard.signals.likelihoods import contrast_of
from langchain_franq import FranqCallback, guard_chain, guard_node

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, format_docs, question

TEXTS = [
    "The tower of run 7 was finished by Ann Ler in 1911, and it stood on a hill\n"
    "above the harbour until the storm of 1954.",
    'Masons from Karsk carried 900 stones up the hill, which they called "the bald one",\n'
    "and they needed the whole winter of 1910 for it.",
]
DOCUMENTS = [Document(text, metadata={"title": f"Book {i}"}) for i, text in enumerate(TEXTS)]
ASKED = question(7)


class Books(BaseRetriever):
    """Finds both documents."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return DOCUMENTS


def prompt(context: str, asked: str) -> str:
    return f"You know old towers.\nUse this:\n{context}\n\nQuestion: {asked}\nAnswer:"


def blocks(texts: list[str]) -> str:
    return "\n\n".join(texts)


LAYOUTS = {
    "joined": blocks,
    "numbered": lambda texts: blocks([f"[{i}] Book {i}\n{text}" for i, text in enumerate(texts)]),
    "on one line": lambda texts: blocks([" ".join(text.split()) for text in texts]),
    "wrapped": lambda texts: blocks([textwrap.fill(text, 25) for text in texts]),
    "quoted": lambda texts: textwrap.indent(textwrap.fill(blocks(texts), 40), "> "),
    "JSON": lambda texts: json.dumps([{"body": text} for text in texts]),
}
CUT = {
    "cut": lambda texts: blocks([f"{text[:60]}..." for text in texts]),
    "bold words": lambda texts: blocks(texts).replace("Ann Ler", "**Ann Ler**"),
    "in small letters": lambda texts: blocks(texts).lower(),
}


def traces_of(chain: Runnable[Any, Any], value: Any = ASKED) -> list[Any]:
    """The trace of a guarded chain, and that of the same chain that a callback watches."""
    guard, watching = ScriptedGuard(), ScriptedGuard()
    guard_chain(chain, guard).invoke(value)
    watch = FranqCallback(watching)
    chain.invoke(value, {"callbacks": [watch]})
    assert watch.flush(20)
    return [*guard.traces, *watching.traces]


def passages_of(chain: Runnable[Any, Any], value: Any = ASKED) -> list[list[str]]:
    return [[passage.text for passage in trace.passages] for trace in traces_of(chain, value)]


# A retriever, and a prompt of the application's own ---------------------------------------------


def inside_of_it(layout: Any, model: Any) -> Runnable[Any, Any]:
    def write(asked: str) -> Any:
        found = Books().invoke(asked)
        return model.invoke(prompt(layout([one.page_content for one in found]), asked))

    return RunnableLambda(write)


def behind_it(layout: Any, model: Any) -> Runnable[Any, Any]:
    def write(given: dict[str, Any]) -> str:
        return prompt(layout([one.page_content for one in given["found"]]), given["asked"])

    return {"found": Books(), "asked": RunnablePassthrough()} | RunnableLambda(write) | model


def as_messages(layout: Any, model: Any) -> Runnable[Any, Any]:
    def write(given: dict[str, Any]) -> list[Any]:
        told = layout([one.page_content for one in given["found"]])
        return [SystemMessage(f"Use this:\n{told}"), HumanMessage(given["asked"])]

    found = {"found": Books(), "asked": RunnablePassthrough()}
    return found | RunnableLambda(write) | ScriptedChat()


def in_a_step_before(layout: Any, model: Any) -> Runnable[Any, Any]:
    laid_out = Books() | (lambda found: layout([one.page_content for one in found]))
    filled = {"told": laid_out, "asked": RunnablePassthrough()}
    return filled | RunnableLambda(lambda v: prompt(v["told"], v["asked"])) | model


WAYS = [inside_of_it, behind_it, as_messages, in_a_step_before]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", LAYOUTS | CUT)
def test_retrieved_passages_are_evidence_in_any_layout(layout, way):
    made = way((LAYOUTS | CUT)[layout], ScriptedLLM())
    assert passages_of(made) == [TEXTS, TEXTS]


@pytest.mark.parametrize("layout", LAYOUTS | CUT)
def test_and_they_are_taken_out_of_the_prompt_for_the_contrast(pipe, smollm2, layout):
    laid_out = (LAYOUTS | CUT)[layout]
    guard_chain(behind_it(laid_out, pipe), guard := ScriptedGuard()).invoke(ASKED)
    (trace,) = guard.traces
    assert trace.generation.source == "captured"
    assert "1911" in trace.generation.prompt
    found = contrast_of(smollm2, trace)
    assert (found.reason, found.found, found.total) == (None, 2, 2)
    assert found.prompt != trace.generation.prompt
    assert "You know old towers." in found.prompt
    assert ASKED in found.prompt
    for word in ("1911", "1954", "harbour", "masons", "stones", "winter"):
        assert word not in found.prompt.lower()


# A function that searches -------------------------------------------------------------------------

SEARCHES = {
    "documents": DOCUMENTS,
    "with scores": [(one, 0.4) for one in DOCUMENTS],
    "under a key": {"hits": DOCUMENTS},
    "texts": list(TEXTS),
    "a tuple": tuple(TEXTS),
    "texts with scores": [(text, 0.4) for text in TEXTS],
    "dicts": [{"text": text, "score": 0.4} for text in TEXTS],
    "dicts with keys of their own": {"result": {"hits": [{"body": text} for text in TEXTS]}},
}


def texts_in(value: Any) -> list[str]:
    if isinstance(value, Document):
        return [value.page_content]
    if isinstance(value, str):
        return [value]
    held = value.values() if isinstance(value, dict) else value
    inside = held if isinstance(value, (dict, list, tuple)) else ()
    return [text for one in inside for text in texts_in(one)]


def searched(found: Any, layout: Any, model: Any) -> Runnable[Any, Any]:
    steps = RunnableParallel(found=lambda _: found, asked=RunnablePassthrough())
    return steps | (lambda v: prompt(layout(texts_in(v["found"])), v["asked"])) | model


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", SEARCHES)
def test_what_a_function_finds_is_evidence_in_any_form_and_layout(kind, layout):
    chain = searched(SEARCHES[kind], LAYOUTS[layout], ScriptedLLM())
    assert passages_of(chain) == [TEXTS, TEXTS]


def test_what_it_finds_and_leaves_out_of_the_prompt_is_not():
    for found in (list(TEXTS), list(DOCUMENTS)):
        chain = searched(found, lambda texts: texts[1], ScriptedLLM())
        assert passages_of(chain) == [TEXTS[1:], TEXTS[1:]]


TURNS = {
    "dicts": [
        {
            "role": "user",
            "content": "Which towers did the storm of 1954 destroy in the whole land?",
        },
        {"role": "assistant", "content": f"Those of Karsk and Arden. {TEXTS[0]}"},
    ],
    "pairs": [
        (
            "human",
            "Which towers did the storm of 1954 destroy in the whole land, and by which day?",
        ),
        ("ai", f"Those of Karsk and Arden. {TEXTS[0]}"),
    ],
}


@pytest.mark.parametrize("kind", TURNS)
def test_an_earlier_conversation_that_a_function_loads_is_not(kind):
    """As a database has it, and without a key that tells what it is."""

    def written(turns: list[Any]) -> str:
        return "\n".join(": ".join(one.values() if isinstance(one, dict) else one) for one in turns)

    steps = RunnableParallel(loaded=lambda _: TURNS[kind], asked=RunnablePassthrough())
    chain = steps | (lambda v: prompt(written(v["loaded"]), v["asked"])) | ScriptedLLM()
    assert passages_of(chain) == [[], []]


@pytest.mark.parametrize("way", ["chain", "node"])
def test_documents_under_a_key_of_the_applications_own_are_evidence(way):
    """They were found before, such as in another node of the graph."""

    def write(state: dict[str, Any]) -> dict[str, Any]:
        told = blocks([one.page_content for one, _ in state["hits"]])
        return {"answer": ScriptedLLM().invoke(prompt(told, state["question"]))}

    guard = ScriptedGuard()
    guarded = (
        guard_chain(RunnableLambda(write), guard) if way == "chain" else guard_node(guard, write)
    )
    guarded.invoke({"question": ASKED, "hits": [(one, 0.4) for one in DOCUMENTS]})
    assert [[passage.text for passage in trace.passages] for trace in guard.traces] == [TEXTS]


# Pages in place of what was found -----------------------------------------------------------------

MORE = [
    "A café with forty seats was opened in its ruins in 1960, and since then the town owns it.",
    "Their foreman was called Ole Berg, and he wrote forty letters about that winter to his wife.",
]
PAGES = [f"{text} {more}" for text, more in zip(TEXTS, MORE, strict=True)]
ASKING = [f"{page} {ASKED} Nobody knows." for page in PAGES]
HEAD = "Here is what was found; cite each by its number, and say so where they tell nothing."
REPLACED = {
    "texts": (lambda found: list(PAGES), blocks, PAGES),
    "dicts": (lambda found: [{"page": page} for page in PAGES], None, PAGES),
    "joined": (lambda found: blocks(PAGES), str, [blocks(PAGES)]),
    "texts with the question": (lambda found: [*ASKING], blocks, ASKING),
    "the same with a head": (lambda found: f"{HEAD}\n\n{format_docs(found)}", str, []),
    "the same cut to a length": (lambda found: format_docs(found)[:220], str, []),
}


@pytest.mark.parametrize("kind", REPLACED)
def test_pages_by_which_a_function_replaces_the_hits_are_evidence_too(kind):
    """What is laid out in another way, cut or under a head is no page of its own."""
    replace, layout, pages = REPLACED[kind]
    lay_out = layout or (lambda found: blocks([one["page"] for one in found]))
    steps = RunnableParallel(found=Books() | replace, asked=RunnablePassthrough())
    chain = steps | (lambda v: prompt(lay_out(v["found"]), v["asked"])) | ScriptedLLM()
    assert passages_of(chain) == [[*TEXTS, *pages]] * 2


def test_neither_is_a_prompt_that_a_step_returns_for_a_later_one():
    def write(given: dict[str, Any]) -> dict[str, Any]:
        return {"text": prompt(f"{HEAD * 3}\n\n{format_docs(given['found'])}", given["asked"])}

    found = {"found": Books(), "asked": RunnablePassthrough()}
    messages = RunnableLambda(lambda v: [SystemMessage("Be brief."), HumanMessage(v["text"])])
    chain = found | RunnableLambda(write) | messages | ScriptedChat()
    assert passages_of(chain) == [TEXTS, TEXTS]
