"""stream="claims": each claim is released when it is checked, and not before."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from functools import reduce
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough

import franq_guard
import langchain_franq
from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.datasets.demo import corpus, questions
from franq_guard.language_model import TransformersModel
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import FactualityError, FranqMiddleware, guard_chain, guard_node
from langchain_franq._capture import Capture
from langchain_franq._model_run import ModelRun
from langchain_franq.local import local_rag_chain

from .fakes import ScriptedChat, ScriptedGuard, ScriptedLLM, lcel, question
from .test_chain_shapes import retrieval_chain
from .test_everywhere import alive

RUNS = 40
FALSE = "Purple zebras sing loud tunes there at midnight."


def told(prompt: str) -> str:
    """An answer of four sentences that names the run of the prompt; the third is made up."""
    run = re.search(r"run (\d+)", prompt)
    n = run.group(1) if run else "none"
    return (
        f"The archive says that the tower of run {n} is tall. "
        f"Masons began the tower of run {n} long ago. {FALSE} "
        f"Old letters tell how masons began the tower of run {n}."
    )


class Log:
    """What the models have written so far."""

    def __init__(self):
        self.written = ""


LOG = Log()


class LongLLM(ScriptedLLM):
    def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
        for word in re.findall(r"\s*\S+", told(prompt)):
            LOG.written += word
            chunk = GenerationChunk(text=word)
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk

    def _generate(self, prompts, stop=None, run_manager=None, **kwargs):
        found = super()._generate(prompts, stop, run_manager, **kwargs)
        for (generation,), prompt in zip(found.generations, prompts, strict=True):
            generation.text = (prompt if self.echo else "") + told(prompt)
        return found


class LongChat(ScriptedChat):
    logprobs: bool = False

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        for word in re.findall(r"\s*\S+", told("\n".join(str(m.text) for m in messages))):
            entry = {"token": word, "bytes": list(word.encode()), "logprob": -0.25}
            info = {"logprobs": {"content": [entry]}} if self.logprobs else None
            message = AIMessageChunk(word, id="run-1")
            chunk = ChatGenerationChunk(message=message, generation_info=info)
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


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


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # fakes have no calibrator, and say so each time
    yield
    logging.disable(logging.NOTSET)


def chunks_of(chain, value, way):
    if way == "stream":
        return list(chain.stream(value))

    async def streamed():
        return [chunk async for chunk in chain.astream(value)]

    return asyncio.run(streamed())


@pytest.fixture
def slowly(monkeypatch):
    """``slowly(chain)``: the chain, whose next chunk comes once all checks so far are done."""
    checks, submit = [], ClaimStream._submit

    def kept(stream, *args, **kwargs):
        checks.append(submit(stream, *args, **kwargs))
        return checks[-1]

    def late(chunks):
        for chunk in chunks:
            wait(checks, 60)
            yield chunk

    async def alate(chunks):
        async for chunk in chunks:
            await asyncio.to_thread(wait, checks, 60)
            yield chunk

    monkeypatch.setattr(ClaimStream, "_submit", kept)
    return lambda chain: chain | RunnableGenerator(late, alate)


WAYS = pytest.mark.parametrize("way", ["stream", "astream"])
ACTIONS = pytest.mark.parametrize("action", ["annotate", "filter"])


@WAYS
@ACTIONS
@pytest.mark.parametrize("model", [LongLLM(), LongChat()])
def test_sentences_leave_while_the_model_writes(way, action, model, slowly):
    chain = guard_chain(slowly(lcel(model)), guard_of(action), stream="claims")
    chunks = chunks_of(chain, question(7), way)
    assert "".join(chunks) == wanted(7, action)
    assert len(chunks) >= 3
    assert chunks[0].startswith("The archive says that the tower of run 7 is tall.")


class UnreadLLM(ScriptedLLM):
    """Answers with what no claim is read from."""

    unread: str

    def _stream(self, prompt, stop=None, run_manager=None, **kwargs):
        for piece in re.findall(r"\s*\S+", self.unread):
            chunk = GenerationChunk(text=piece)
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk


@WAYS
@pytest.mark.parametrize("unread", ['{"tower": "It has zebras in it."}', "Yes."])
def test_an_answer_that_nobody_read_is_replaced_where_errors_are_closed(way, unread, slowly):
    guard = guard_of("filter")
    guard.policy = Policy(action="filter", on_error="closed", replacement="Nothing sure.")
    chain = guard_chain(slowly(lcel(UnreadLLM(unread=unread))), guard, stream="claims")
    assert chunks_of(chain, question(7), way) == ["Nothing sure."]


THOUGHTS = "The user asks how tall it is. I should look at the letters first, and then say so."


@WAYS
@pytest.mark.parametrize(("opens", "first"), [("<think>", THOUGHTS), ("", "</think>")])
def test_thoughts_that_the_prompt_opens_are_held_back_until_they_end(way, opens, first, slowly):
    """As with a model whose chat template has written the opening tag."""
    model = UnreadLLM(unread=f"{THOUGHTS}\n</think>\n\n{told('run 7')}")
    chain = slowly(lcel(RunnableLambda(lambda prompt: f"{prompt.text} {opens}\n") | model))
    chunks = chunks_of(guard_chain(chain, guard_of("filter"), stream="claims"), question(7), way)
    assert len(chunks) >= 3
    assert chunks[0].startswith(first)
    assert "".join(chunks).endswith(wanted(7, "filter"))


@WAYS
def test_a_sentence_has_left_before_the_last_one_is_written(way, slowly):
    LOG.written = ""
    chain = guard_chain(slowly(lcel(LongLLM())), guard_of(), stream="claims")
    if way == "stream":
        stream = chain.stream(question(7))
        next(stream)
        written = LOG.written
        stream.close()
    else:

        async def first():
            stream = chain.astream(question(7))
            await anext(stream)
            written = LOG.written
            await stream.aclose()
            return written

        written = asyncio.run(first())
    assert "Old letters" not in written


@WAYS
@pytest.mark.parametrize("model", [LongLLM(), LongChat()])
@pytest.mark.parametrize("parse", [True, False])
def test_no_character_leaves_before_its_check(way, model, parse, slowly):
    """The scorer is held at its second call: only the first sentence may be out by then."""
    go, calls, seen = threading.Event(), [], []

    def hold():
        calls.append(1)
        if len(calls) == 2:
            seen.append(True)
            threading.Timer(0.5, go.set).start()
            assert go.wait(30)

    chain = guard_chain(
        slowly(lcel(model, parse=parse)), guard_of("filter", fail=hold), stream="claims"
    )
    shown = ""
    early = []

    def look(chunk):
        nonlocal shown
        shown += chunk if isinstance(chunk, str) else chunk.text
        if not go.is_set():
            early.append(shown)

    if way == "stream":
        for chunk in chain.stream(question(7)):
            look(chunk)
    else:

        async def run():
            async for chunk in chain.astream(question(7)):
                look(chunk)

        asyncio.run(run())
    assert seen
    assert early == ["The archive says that the tower of run 7 is tall."]
    assert FALSE not in shown
    assert shown == wanted(7, "filter")


@WAYS
def test_messages_add_up_to_the_guarded_message(way, slowly):
    chain = guard_chain(slowly(lcel(LongChat(), parse=False)), guard_of(), stream="claims")
    chunks = chunks_of(chain, question(7), way)
    whole = reduce(lambda a, b: a + b, chunks)
    assert whole.text == wanted(7)
    assert whole.id == "run-1"
    assert whole.response_metadata["franq"]["text"] == wanted(7)
    assert len(whole.response_metadata["franq"]["verdicts"]) == 4
    assert all("franq" not in chunk.response_metadata for chunk in chunks[:-1])


@WAYS
def test_dicts_show_documents_first_and_the_report_last(way):
    chain = guard_chain(retrieval_chain(LongChat()), guard_of(), stream="claims")
    chunks = chunks_of(chain, {"input": question(7)}, way)
    assert [sorted(chunk) for chunk in chunks[:2]] == [["input"], ["context"]]
    assert sorted(chunks[-1]) == ["answer", "franq"]
    assert all(sorted(chunk) == ["answer"] for chunk in chunks[2:-1])
    whole = reduce(lambda a, b: a + b, chunks)
    assert whole["answer"] == wanted(7) == whole["franq"]["text"]
    assert whole["franq"]["verdicts"][0]["evidence"]["passage"] == 0


@WAYS
def test_on_claim_tells_what_to_show_and_how(way):
    released, reports = [], []
    chain = guard_chain(
        lcel(LongLLM()), guard_of(), stream="claims", on_claim=released.append,
        on_report=reports.append,
    )  # fmt: skip
    text = "".join(chunks_of(chain, question(7), way))
    assert "".join(r.text for r in released) == text
    assert [v.label for r in released for v in r.verdicts] == [
        "supported", "supported", "false", "supported",
    ]  # fmt: skip
    (report,) = reports
    assert report.text == text
    assert all(report.original[r.start : r.end].strip() for r in released if r.verdicts)


def test_the_event_loop_tells_what_an_async_stream_lets_out():
    threads = []
    chain = guard_chain(
        lcel(LongLLM()), guard_of(), stream="claims",
        on_claim=lambda released: threads.append(threading.get_ident()),
    )  # fmt: skip
    chunks_of(chain, question(7), "astream")
    assert set(threads) == {threading.get_ident()}


@WAYS
def test_passages_that_a_dict_carries_as_strings_are_evidence(way):
    write = RunnableLambda(lambda given: f"{given['context']} {given['question']}") | LongLLM()
    found = RunnablePassthrough.assign(context=lambda _: [told("run 7")])
    chain = found | RunnablePassthrough.assign(answer=write)
    reports = {}
    for mode in ("buffer", "claims"):
        guarded = guard_chain(chain, guard_of(), stream=mode)
        whole = reduce(lambda a, b: a + b, chunks_of(guarded, {"question": question(7)}, way))
        reports[mode] = [v["p_faithful"] for v in whole["franq"]["verdicts"]]
    assert reports["claims"] == reports["buffer"] == [1.0] * 4


@WAYS
def test_a_failed_capture_keeps_the_runs_id(way, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("not now")

    monkeypatch.setattr("langchain_franq._call.job_of", broken)
    reports = []
    chain = guard_chain(lcel(LongLLM()), guard_of(), stream="claims", on_report=reports.append)
    run = uuid4()
    chunks_of(chain.with_config(run_id=run), question(7), way)
    assert [report.id for report in reports] == [str(run)]


@WAYS
def test_it_stops_where_a_claim_must_not_pass(way):
    reports = []
    chain = guard_chain(
        lcel(LongLLM()), guard_of(), stream="claims", raise_on=("false",), on_report=reports.append
    )
    shown = []

    async def run():
        async for chunk in chain.astream(question(7)):
            shown.append(chunk)

    with pytest.raises(FactualityError):
        shown.extend(chain.stream(question(7))) if way == "stream" else asyncio.run(run())
    assert "zebras" not in "".join(shown)
    assert len(reports) == 1


@WAYS
def test_log_probabilities_of_a_server_are_read_as_they_come(way, slowly):
    chain = guard_chain(
        slowly(lcel(LongChat(logprobs=True), parse=False)), guard_of(), stream="claims"
    )
    whole = reduce(lambda a, b: a + b, chunks_of(chain, question(7), way))
    first = whole.response_metadata["franq"]["verdicts"][0]
    assert first["raw"]["uq_faith"] == pytest.approx(-0.25 * 11)  # of eleven words


def test_no_text_is_seen_before_its_log_probabilities():
    seen = []

    class Watched(ModelRun):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            known = self.growing.sent if "growing" in vars(self) else []
            said = b"".join(token.text for token in known).decode()
            seen.append((getattr(self, "text", None) or "", said))

    capture, run = Capture(), uuid4()
    capture.on_chat_model_start(None, [[]], run_id=run)
    capture._models[run] = Watched("Server", messages=())
    for chunk in LongChat(logprobs=True)._stream([]):
        capture.on_llm_new_token(chunk.text, chunk=chunk, run_id=run)
    assert seen[-1][0] == told("")
    assert all(known.startswith(text) for text, known in seen)


@WAYS
def test_an_answer_that_comes_at_once(way):
    chain = guard_chain(lcel(LongLLM()) | RunnableLambda(str.strip), guard_of(), stream="claims")
    assert "".join(chunks_of(chain, question(7), way)) == wanted(7)


@WAYS
def test_a_repeated_prompt_is_no_claim(way):
    reports = []
    prompt_and_answer = lcel(RunnableLambda(LongLLM(echo=True).invoke), parse=False)
    chain = guard_chain(prompt_and_answer, guard_of(), stream="claims", on_report=reports.append)
    text = "".join(chunks_of(chain, question(7), way))
    assert text.startswith("Use this:\n")
    assert text.endswith(f"Answer:{wanted(7)}")
    assert reports[0].original == told("run 7")


@WAYS
def test_outputs_that_cannot_be_told_yet_leave_at_the_end(way):
    def steps(_):
        yield {"text": "Purple zebras sing. "}
        yield {"text": "They do."}

    async def asteps(_):
        for step in steps(_):
            yield step

    chain = guard_chain(RunnableGenerator(steps, asteps), guard_of(), stream="claims")
    chunks = chunks_of(chain, "?", way)
    (chunk,) = chunks
    assert chunk["text"] == chunk["franq"]["text"]
    assert chunk["franq"]["original"] == "Purple zebras sing. They do."


def test_an_exception_in_the_chain_is_the_callers(slowly):
    def broken(chunks):
        for i, chunk in enumerate(chunks):
            if i == 30:
                raise RuntimeError("the line is dead")
            yield chunk

    chain = guard_chain(
        slowly(lcel(LongLLM())) | RunnableGenerator(broken), guard_of(), stream="claims"
    )
    shown = []
    with pytest.raises(RuntimeError, match="the line is dead"):
        shown.extend(chain.stream(question(7)))
    assert wanted(7).startswith("".join(shown))
    no_threads()


def no_threads():
    for thread in threading.enumerate():
        if thread.name.startswith("franq-claims"):
            thread.join(10)
            assert not thread.is_alive()


@WAYS
@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_scorer_that_fails_or_hangs_never_breaks_the_stream(way, on_error):
    go = threading.Event()

    def fail():
        raise RuntimeError("no scores today")

    for broken, reason, deadline in ((lambda: go.wait(30), "timeout", 0.2), (fail, "error", 60)):
        guard = Guard(
            language_model=FakeLanguageModel(known=0.999),
            faithfulness=FakeFaithfulness(fail=broken),
            policy=Policy(action="filter", on_error=on_error),
            franq=Calibrator.uncalibrated(),
            deadline=deadline,
        )
        reports = []
        chain = guard_chain(lcel(LongLLM()), guard, stream="claims", on_report=reports.append)
        text = "".join(chunks_of(chain, question(7), way))
        assert {v.reason for v in reports[0].verdicts} == {reason}
        if on_error == "closed":
            assert text == guard.policy.replacement
        else:
            assert text.replace(" [unverified]", "") == told("run 7")
    go.set()
    no_threads()


@WAYS
def test_an_abandoned_stream_leaves_nothing_behind(way, slowly):
    checked = []
    chain = guard_chain(
        slowly(lcel(LongLLM())), guard_of(), stream="claims", on_claim=checked.append
    )

    async def abandoned():
        stream = chain.astream(question(3))
        await anext(stream)
        await stream.aclose()

    if way == "stream":
        stream = chain.stream(question(3))
        next(stream)
        stream.close()
    else:
        asyncio.run(abandoned())
    gc.collect()
    no_threads()
    assert len(checked) == 1


def test_a_cancelled_task_leaves_the_guard_usable(slowly):
    chain = guard_chain(slowly(lcel(LongLLM())), guard_of(), stream="claims")

    async def read(run, begun):
        shown = ""
        async for chunk in chain.astream(question(run)):
            shown += chunk
            begun.set()
        return shown

    async def main():
        begun = asyncio.Event()
        task = asyncio.create_task(read(1, begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await read(2, begun)

    assert asyncio.run(main()) == wanted(2)
    no_threads()


def test_a_stream_read_in_another_context():
    chain = guard_chain(lcel(LongLLM()), guard_of(), stream="claims")
    stream = contextvars.Context().run(chain.stream, question(4))
    with ThreadPoolExecutor(1) as pool:
        assert "".join(pool.submit(list, stream).result()) == wanted(4)


@pytest.mark.parametrize("model", [LongLLM, LongChat])
def test_streams_at_once_in_threads(model):
    chain = guard_chain(lcel(model()), guard_of(), stream="claims")
    with ThreadPoolExecutor(16) as pool:
        texts = list(pool.map(lambda i: "".join(chain.stream(question(i))), range(RUNS)))
    assert texts == [wanted(i) for i in range(RUNS)]
    no_threads()


def test_streams_at_once_in_tasks():
    chain = guard_chain(lcel(LongChat()), guard_of(), stream="claims")

    async def one(i):
        return "".join([chunk async for chunk in chain.astream(question(i))])

    async def main():
        return await asyncio.gather(*map(one, range(RUNS)))

    assert asyncio.run(main()) == [wanted(i) for i in range(RUNS)]
    no_threads()


def test_invoke_and_batch_are_as_ever():
    chain = guard_chain(lcel(LongLLM()), guard_of(), stream="claims")
    assert chain.invoke(question(1)) == wanted(1)
    assert asyncio.run(chain.abatch([question(1), question(2)])) == [wanted(1), wanted(2)]


def test_memory_and_threads_stay_flat(kept_bytes):
    chain = guard_chain(lcel(LongLLM()), guard_of(), stream="claims")

    def runs(times):
        for i in range(times):
            "".join(chain.stream(question(i % 7)))
        LOG.written = ""
        no_threads()
        gc.collect()

    runs(10)  # fills every cache
    before = alive()
    # One kept trace is over 1,000.
    assert kept_bytes(runs, 10, franq_guard, langchain_franq, enough=256) < 256
    assert not alive() - before  # an earlier test's objects may go meanwhile


def test_what_cannot_stream_by_claims_says_so():
    with pytest.raises(ValueError, match=r"on_claim .* needs stream='claims', not 'buffer'"):
        guard_chain(lcel(LongLLM()), guard_of(), on_claim=print)
    with pytest.raises(ValueError, match="action='annotate' or 'filter'"):
        guard_chain(lcel(LongLLM()), guard_of("block"), stream="claims")
    with pytest.raises(ValueError, match="guard a chain"):
        FranqMiddleware(ScriptedGuard(), stream="claims")
    with pytest.raises(ValueError, match="guard a chain"):
        guard_node(ScriptedGuard(), stream="claims")


@pytest.fixture(scope="module")
def local(smollm2):
    """A chain on the bundled model, its guard, and an answer that was checked as a whole."""
    guard = Guard(
        language_model=smollm2, faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated()
    )
    inner = local_rag_chain(corpus(), smollm2, k=1, max_new_tokens=24)
    return inner, guard, guard_chain(inner, guard).invoke(questions()[0].question)


@WAYS
def test_smollm2_in_the_chain(local, way, monkeypatch):
    """Its tokens are found while it writes; no prompt is read twice."""
    inner, guard, whole = local
    asked, lengths, released = questions()[0].question, [], []
    chain = guard_chain(inner, guard, stream="claims", on_claim=released.append)

    def counted(self, network, prompt, read=PromptCache.__init__):
        lengths.append(len(prompt))
        read(self, network, prompt)

    monkeypatch.setattr(PromptCache, "__init__", counted)
    monkeypatch.setattr(TransformersModel, "score", None)
    streamed = reduce(lambda a, b: a + b, chunks_of(chain, asked, way))
    assert streamed["answer"] == whole["answer"] == "".join(r.text for r in released)
    assert len(lengths) == 1  # the prompt without the passages
    pairs = zip(streamed["franq"]["verdicts"], whole["franq"]["verdicts"], strict=True)
    for ours, theirs in pairs:
        assert ours["claim"] == theirs["claim"]
        assert ours["label"] == theirs["label"]
        assert ours["raw"] == pytest.approx(theirs["raw"], abs=1e-3)
