"""stream="claims": each claim is released when it is checked, and not before."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import re
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

import franq_guard
import llama_index_franq
from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.datasets.demo import corpus, questions
from franq_guard.language_model import TransformersModel
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from llama_index_franq import FactualityError, guard_agent, guard_chat_engine, guard_query_engine
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._evidence import evidence_of

from .agent_fakes import function_agent
from .fakes import RunRetriever, ScriptedChat, ScriptedLLM, memory_of, question, rag
from .test_concurrency import alive

RUNS = 40
FALSE = "Purple zebras sing loud tunes there at midnight."
CHECKS: list[Future[object]] = []


def told(prompt: str) -> str:
    """An answer of four sentences that names the run of the prompt; the third is made up."""
    run = re.search(r"run (\d+)", prompt)
    n = run.group(1) if run else "none"
    return (
        f"The archive says that the tower of run {n} is tall. "
        f"The cellar of run {n} is surely old. {FALSE} "
        f"Nobody knows who built the tower of run {n}."
    )


def words(text):
    for word in re.findall(r"\s*\S+", text):
        wait(CHECKS, 60)
        yield word


class LongLLM(ScriptedLLM):
    def answer(self, prompt):
        return super().answer(prompt) if self.script else told(prompt)

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        def chunks():
            text = ""
            for word in words(self.answer(prompt)):
                text += word
                yield CompletionResponse(text=text, delta=word)

        return chunks()


class LongChat(ScriptedChat):
    def answer(self, prompt):
        return told(prompt)

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        def chunks():
            text = ""
            for word in words(told("\n".join(m.content or "" for m in messages))):
                text += word
                message = ChatMessage(role="assistant", content=text)
                yield ChatResponse(message=message, delta=word)

        return chunks()


@pytest.fixture
def slow(monkeypatch):
    """The next word comes once all checks so far are done."""
    submit = ClaimStream._submit

    def kept(stream, *args, **kwargs):
        CHECKS.append(submit(stream, *args, **kwargs))
        return CHECKS[-1]

    monkeypatch.setattr(ClaimStream, "_submit", kept)
    yield
    CHECKS.clear()


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # fakes have no calibrator, and say so each time
    yield
    logging.disable(logging.NOTSET)


def guard_of(action="annotate", *, fail=None, **options) -> Guard:
    return Guard(
        language_model=FakeLanguageModel(known=0.999),
        faithfulness=FakeFaithfulness(fail=fail),
        policy=Policy(action=action),
        franq=Calibrator.uncalibrated(),
        **options,
    )


def wanted(run: int, action: str = "annotate") -> str:
    text = told(f"run {run}")
    if action == "filter":
        return text.replace(f"{FALSE} ", "")
    return text.replace("midnight.", "midnight [likely false].")


def pieces_of(engine, way):
    if way == "sync":
        return list(engine.query(question(7)).response_gen)

    async def read():
        response = await engine.aquery(question(7))
        return [piece async for piece in response.async_response_gen()]

    return asyncio.run(read())


def no_threads():
    for thread in threading.enumerate():
        if thread.name.startswith("franq-claims"):
            thread.join(10)
            assert not thread.is_alive()


WAYS = pytest.mark.parametrize("way", ["sync", "async"])


@WAYS
@pytest.mark.parametrize("action", ["annotate", "filter"])
@pytest.mark.parametrize("model", [LongLLM, LongChat])
def test_sentences_leave_while_the_model_writes(way, action, model, slow):
    engine = guard_query_engine(rag(model(), streaming=True), guard_of(action), stream="claims")
    pieces = [piece for piece in pieces_of(engine, way) if piece]
    assert "".join(pieces) == wanted(7, action)
    assert len(pieces) >= 3
    assert pieces[0].startswith("The archive says that the tower of run 7 is tall.")
    no_threads()


@WAYS
@pytest.mark.parametrize("unread", ['{"tower": "It has zebras in it."}', "Yes."])
def test_an_answer_that_nobody_read_is_replaced_where_errors_are_closed(way, unread, slow):
    guard = guard_of("filter")
    guard.policy = Policy(action="filter", on_error="closed", replacement="Nothing sure.")
    inner = rag(ScriptedLLM(script=[unread]), streaming=True)
    engine = guard_query_engine(inner, guard, stream="claims")
    assert [piece for piece in pieces_of(engine, way) if piece] == ["Nothing sure."]
    no_threads()


THOUGHTS = "The user asks how tall it is. I should look at the letters first, and then say so."


@WAYS
@pytest.mark.parametrize(("opens", "first"), [("<think>", THOUGHTS), ("", "</think>")])
def test_thoughts_that_the_prompt_opens_are_held_back_until_they_end(way, opens, first, slow):
    """As with a model whose chat template has written the opening tag."""
    model = LongLLM(script=[f"{THOUGHTS}\n</think>\n\n{told('run 7')}"])
    template = PromptTemplate(f"{{context_str}}\n{{query_str}}\n{opens}\n")
    inner = rag(model, streaming=True, text_qa_template=template)
    engine = guard_query_engine(inner, guard_of("filter"), stream="claims")
    pieces = [piece for piece in pieces_of(engine, way) if piece]
    assert len(pieces) >= 3
    assert pieces[0].startswith(first)
    assert "".join(pieces).endswith(wanted(7, "filter"))


@WAYS
def test_no_character_leaves_before_its_check(way, slow):
    """The scorer is held at its second call: only the first sentence may be out by then."""
    go, calls, early = threading.Event(), [], []

    def hold():
        calls.append(1)
        if len(calls) == 2:
            threading.Timer(0.5, go.set).start()
            assert go.wait(30)

    guard = guard_of("filter", fail=hold)
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard, stream="claims")
    shown = ""
    if way == "sync":
        for piece in engine.query(question(7)).response_gen:
            shown += piece
            if not go.is_set():
                early.append(shown)
    else:

        async def read():
            nonlocal shown
            response = await engine.aquery(question(7))
            async for piece in response.async_response_gen():
                shown += piece
                if not go.is_set():
                    early.append(shown)

        asyncio.run(read())
    assert len(calls) >= 2
    assert early == ["The archive says that the tower of run 7 is tall."]
    assert shown == wanted(7, "filter")


@WAYS
def test_the_report_is_filled_when_the_stream_ends(way):
    released, reports = [], []
    engine = guard_query_engine(
        rag(LongLLM(), streaming=True),
        guard_of(),
        stream="claims",
        on_claim=released.append,
        on_report=reports.append,
    )

    async def read():
        response = await engine.aquery(question(7))
        before = dict(response.metadata["franq"])
        return before, [p async for p in response.async_response_gen()], response

    if way == "sync":
        response = engine.query(question(7))
        before, pieces = dict(response.metadata["franq"]), list(response.response_gen)
    else:
        before, pieces, response = asyncio.run(read())
    report = response.metadata["franq"]
    assert before == {}
    assert report["text"] == "".join(pieces) == wanted(7) == "".join(r.text for r in released)
    assert [v["label"] for v in report["verdicts"]] == [
        v.label for r in released for v in r.verdicts
    ]
    assert report["verdicts"][0]["evidence"]["node_id"] == "7-tall"
    assert len(reports) == 1
    assert engine.query(question(1)).get_response().response == wanted(1)


def chat(kind, llm, memory):
    if kind is SimpleChatEngine:
        return SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    return kind.from_defaults(retriever=RunRetriever(), llm=llm, memory=memory)


@pytest.mark.parametrize(
    "kind", [SimpleChatEngine, ContextChatEngine, CondensePlusContextChatEngine]
)
@pytest.mark.parametrize("way", ["stream_chat", "astream_chat"])
def test_chat_engines_remember_the_guarded_answer(kind, way):
    memory = memory_of()
    engine = guard_chat_engine(chat(kind, LongChat(), memory), guard_of("filter"), stream="claims")

    async def read():
        response = await engine.astream_chat(question(2))
        return [piece async for piece in response.async_response_gen()], response

    if way == "stream_chat":
        response = engine.stream_chat(question(2))
        pieces = list(response.response_gen)
    else:
        pieces, response = asyncio.run(read())
    text = "".join(pieces)
    # Without passages nothing can be verified: it is marked, not taken out.
    unread = kind is SimpleChatEngine
    assert ("zebras" in text) == ("[unverified]" in text) == unread
    assert text == response.metadata["franq"]["text"]
    assert memory.get_all()[-1].content == "".join(pieces).strip()
    no_threads()


def test_a_chat_stream_that_nobody_reads_to_its_end_is_not_remembered(slow):
    memory = memory_of()
    engine = guard_chat_engine(
        chat(ContextChatEngine, LongChat(), memory), guard_of(), stream="claims"
    )
    stream = engine.stream_chat(question(2)).response_gen
    assert next(stream)
    stream.close()
    gc.collect()
    no_threads()
    assert [m.role.value for m in memory.get_all()] in ([], ["user"])


@WAYS
def test_it_stops_where_a_claim_must_not_pass(way):
    engine = guard_query_engine(
        rag(LongLLM(), streaming=True), guard_of(), stream="claims", raise_on=("false",)
    )
    with pytest.raises(FactualityError):
        pieces_of(engine, way)
    no_threads()


@WAYS
@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_scorer_that_fails_or_hangs_never_breaks_the_stream(way, on_error):
    go = threading.Event()

    def fail():
        raise RuntimeError("no scores today")

    for broken, reason, deadline in (
        (lambda: go.wait(30), "timeout", 0.2),
        (fail, "error", 60),
    ):
        guard = Guard(
            language_model=FakeLanguageModel(),
            faithfulness=FakeFaithfulness(fail=broken),
            policy=Policy(action="filter", on_error=on_error),
            franq=Calibrator.uncalibrated(),
            deadline=deadline,
        )
        reports = []
        engine = guard_query_engine(
            rag(LongLLM(), streaming=True), guard, stream="claims", on_report=reports.append
        )
        text = "".join(pieces_of(engine, way))
        assert {v.reason for v in reports[0].verdicts} == {reason}
        if on_error == "closed":
            assert text == guard.policy.replacement
        else:
            assert text.replace(" [unverified]", "") == told("run 7")
    go.set()
    no_threads()


def test_an_exception_in_the_engine_is_the_callers():
    class Dying(CustomQueryEngine):
        def custom_query(self, query_str):
            def chunks():
                yield from re.findall(r"\s*\S+", told(query_str))[:20]
                raise RuntimeError("the line is dead")

            return StreamingResponse(response_gen=chunks())

    stream = guard_query_engine(Dying(), guard_of(), stream="claims").query(question(7))
    shown = []
    with pytest.raises(RuntimeError, match="the line is dead"):
        shown.extend(stream.response_gen)
    assert "zebras" not in "".join(shown)
    no_threads()


def test_a_cancelled_task_leaves_the_guard_usable():
    checking, go = threading.Event(), threading.Event()

    def fail():
        checking.set()
        assert go.wait(60)

    guard = guard_of(fail=fail)
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard, stream="claims")

    async def read(run):
        response = await engine.aquery(question(run))
        return "".join([piece async for piece in response.async_response_gen()])

    async def main():
        task = asyncio.create_task(read(1))
        assert await asyncio.to_thread(checking.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        return await read(2)

    assert asyncio.run(main()) == wanted(2)
    no_threads()


def test_a_stream_read_in_another_context():
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard_of(), stream="claims")
    response = contextvars.Context().run(engine.query, question(4))
    with ThreadPoolExecutor(1) as pool:
        assert "".join(pool.submit(list, response.response_gen).result()) == wanted(4)


def test_streams_at_once_in_threads():
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard_of(), stream="claims")
    with ThreadPoolExecutor(16) as pool:
        texts = list(
            pool.map(lambda i: "".join(engine.query(question(i)).response_gen), range(RUNS))
        )
    assert texts == [wanted(i) for i in range(RUNS)]
    no_threads()


def test_streams_at_once_in_tasks():
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard_of(), stream="claims")

    async def one(i):
        response = await engine.aquery(question(i))
        return "".join([piece async for piece in response.async_response_gen()])

    async def main():
        return await asyncio.gather(*map(one, range(RUNS)))

    assert asyncio.run(main()) == [wanted(i) for i in range(RUNS)]
    no_threads()


def test_memory_and_threads_stay_flat(kept_bytes):
    engine = guard_query_engine(rag(LongLLM(), streaming=True), guard_of(), stream="claims")

    def runs(times):
        for i in range(times):
            "".join(engine.query(question(i % 7)).response_gen)
        no_threads()
        gc.collect()

    runs(10)  # fills every cache
    before = alive()
    # One kept trace is over 1,000. Bounded caches still take in a few texts: where a stream is cut
    # depends on the threads.
    assert kept_bytes(runs, 10, franq_guard, llama_index_franq, enough=512) < 512
    assert not alive() - before  # an earlier test's objects may go meanwhile


def test_answers_that_do_not_stream_are_as_ever():
    engine = guard_query_engine(rag(LongLLM()), guard_of(), stream="claims")
    assert engine.query(question(1)).response == wanted(1)


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
def test_what_cannot_stream_by_claims_says_so():
    engine = rag(LongLLM(), streaming=True)
    with pytest.raises(ValueError, match=r"on_claim .* needs stream='claims', not 'buffer'"):
        guard_query_engine(engine, guard_of(), on_claim=print)
    with pytest.raises(ValueError, match="action='annotate' or 'filter'"):
        guard_query_engine(engine, guard_of("block"), stream="claims")
    with pytest.raises(ValueError, match="query and chat engines stream claims"):
        guard_agent(function_agent(), guard_of(), stream="claims")


@pytest.fixture(scope="module")
def local(smollm2):
    """An engine on the bundled model, its guard, and an answer that was checked as a whole."""
    from llama_index_franq.local import BM25NodeRetriever, llm_of

    guard = Guard(
        language_model=smollm2, faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated()
    )
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    inner = RetrieverQueryEngine.from_args(
        BM25NodeRetriever(nodes, k=1), llm=llm_of(smollm2, max_new_tokens=24), streaming=True
    )
    plain = guard_query_engine(inner, guard).query(questions()[0].question)
    str(plain)  # reads it to its end
    return inner, guard, plain


@WAYS
def test_smollm2_in_the_engine(local, way, monkeypatch):
    """Its tokens are found while it writes; no prompt is read twice."""
    inner, guard, plain = local
    asked, lengths, response = questions()[0].question, [], None
    engine = guard_query_engine(inner, guard, stream="claims")

    def counted(self, network, prompt, read=PromptCache.__init__):
        lengths.append(len(prompt))
        read(self, network, prompt)

    monkeypatch.setattr(PromptCache, "__init__", counted)
    monkeypatch.setattr(TransformersModel, "score", None)

    async def read():
        response = await engine.aquery(asked)
        return [piece async for piece in response.async_response_gen()], response

    if way == "sync":
        response = engine.query(asked)
        pieces = list(response.response_gen)
    else:
        pieces, response = asyncio.run(read())
    assert "".join(pieces) == str(plain)
    assert len(lengths) == 1  # the prompt without the passages
    ours, theirs = response.metadata["franq"]["verdicts"], plain.metadata["franq"]["verdicts"]
    for a, b in zip(ours, theirs, strict=True):
        assert a["claim"] == b["claim"]
        assert a["label"] == b["label"]
        assert a["raw"] == pytest.approx(b["raw"], abs=1e-3)


def test_an_answer_that_streams_is_not_taken_for_an_earlier_one():
    class Streaming(Capture):
        @property
        def runs(self):  # a chunk has come since the answer's run was looked up
            return [ModelRun("The river rises", prompt="Where?", ended=False)]

    nodes = [
        NodeWithScore(node=TextNode(text=text, id_=text[:3]))
        for text in ("The river rises in the hills.", "Zebras are striped.")
    ]
    found = evidence_of(nodes, Streaming(), ModelRun("The river", prompt="Where?", ended=False))
    assert [passage.id for passage in found] == ["The", "Zeb"]
