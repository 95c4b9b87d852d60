"""The work of a check grows with the answer's length, not with its square: counted, not timed."""

from collections import Counter
from concurrent.futures import Future
from dataclasses import replace

import pytest

import franq_guard.claims.removal
import franq_guard.claims.rules.splitter
import franq_guard.claims.settling
import franq_guard.claims.spans
import franq_guard.signals.likelihoods
import franq_guard.streaming.released_text
import franq_guard.streaming.stream
from franq_guard import Guard, Passage, Policy, Trace
from franq_guard.calibration.store import Calibrator
from franq_guard.records import Generation
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

EVEN = " ".join(str(n) for n in range(100, 300, 2))
"""The claims about these are kept by the filter, the others go."""
PASSAGES = (Passage(f"The bridge opened in 1890. The river and the pier is wide and slow. {EVEN}"),)
PROMPT = f"{PASSAGES[0].text}\nWhat of the bridge?"
SHAPES = {
    "paragraphs": "The bridge {n} opened in 1890. Pier {n} is wide and slow.\n\n",
    "one paragraph": "The bridge {n} opened in 1890, and the river is wide. Pier {n} is slow. ",
    "list": "- The bridge {n} opened in 1890.\n- Pier {n} is wide.\n",
    "numbered": "1. The bridge {n} opened in 1890.\n2. Zebras {n} sing loud.\n",
    "headings": "## Pier {n}\n\nThe bridge {n} opened in 1890.\n\n",
    "rows": "| {n} | opened in 1890 |\n",
    "brackets": "The bridge {n} (the pier {n} is slow) opened in 1890. Pier {n} is wide. ",
    "code": "let x{n} = {n};\n",
}
BEGINNINGS = {"rows": "| a | b |\n|---|---|\n", "code": "```\n"}


def text_of(shape, count):
    return BEGINNINGS.get(shape, "") + "".join(
        SHAPES[shape].format(n=100 + i) for i in range(count)
    )


class Reading(FakeLanguageModel):
    """Reads on where it stopped, as a model of transformers does, and counts what it reads."""

    def __init__(self, work):
        super().__init__(known=0.99, unknown=0.5)
        self.work = work

    def session(self, prompt):
        return Session(self, prompt)

    def score(self, prompts, answers):
        self.work["calls of the language model"] += 1
        self.work["tokens read"] += sum(len(answer.text.split()) for answer in answers)
        return super().score(prompts, answers)


class Session:
    def __init__(self, model, prompt):
        self.model, self.prompt, self.read = model, prompt, 0

    def recent(self, answer, since):
        self.model.work["calls of the language model"] += 1
        self.model.work["tokens read"] += len(answer.text[self.read :].split())
        self.read = len(answer.text)
        wanted = answer.since(since).tokens
        first = wanted[0].start if wanted else len(answer.text)
        made = self.model._scored(self.prompt, Generation(answer.text[first:])).tokens
        told = [replace(t, logprob=m.logprob) for t, m in zip(wanted, made, strict=True)]
        return Generation(answer.text, tuple(told), source="teacher-forced")

    def close(self):
        pass


@pytest.fixture
def work(monkeypatch):
    """Counts of everything that looks at the answer, by what is looked at."""
    counts = Counter()

    def watch(owner, name, what, size):
        original = getattr(owner, name)

        def counted(*args, **kwargs):
            counts[what] += size(*args, **kwargs)
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    for owner in (
        franq_guard.claims.settling,
        franq_guard.claims.removal,
        franq_guard.claims.rules.splitter,
    ):
        name = owner.__name__
        watch(owner, "blocks", f"blocks of {name}", len)
        watch(owner, "sentences", f"sentences of {name}", lambda t, a, b, **_: b - a)
    watch(franq_guard.signals.likelihoods, "logprobs_of", "tokens", lambda g: len(g.tokens))
    watch(franq_guard.signals.likelihoods, "has_logprobs", "tokens", lambda g: len(g.tokens))
    watch(franq_guard.claims.spans, "_states", "tokens looked at", lambda *_: 1)
    watch(Policy, "so_far", "characters judged", lambda self, answer, verdicts: len(answer))
    watch(FakeFaithfulness, "score", "claims measured", lambda self, contexts, claims: len(claims))
    return counts


def checked(text, work, action, *, streamed):
    """Work of a whole check, or of a stream, by what was looked at; and the verdicts."""
    model = Reading(work)
    guard = Guard(
        language_model=model,
        faithfulness=FakeFaithfulness(),
        policy=Policy(action=action),
        franq=Calibrator.uncalibrated(form="long"),  # it asks for likelihoods
    )
    whole = FakeLanguageModel(known=0.99, unknown=0.5).score(
        [PROMPT], [Generation(text, prompt=PROMPT)]
    )[0]

    def trace(so_far):
        tokens = tuple(t for t in whole.tokens if t.start < len(so_far))
        found = Generation(so_far, tokens, PROMPT, source="captured")
        return Trace("What of the bridge?", PASSAGES, found)

    work.clear()
    if not streamed:
        found = guard.check_trace(trace(text)).verdicts
        return dict(work), found
    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    try:
        for start in range(0, len(text), 12):
            stream.feed(text[start : start + 12])
            while stream.wait() is not None:
                pass
        stream.end()
        while stream.wait() is not None:
            pass
        found = stream.answer().verdicts
    finally:
        stream.close()
    return dict(work), found


class AtOnce:
    """Steps without a thread, so that what is done does not depend on who is faster."""

    def __init__(self, what):
        pass

    def submit(self, step, *args, **kwargs):
        made = Future()
        made.set_result(step(*args, **kwargs))
        return made

    def cancel(self):
        pass


@pytest.fixture(autouse=True)
def _small(caplog, monkeypatch):
    """Long begins early, so that short texts show it."""
    monkeypatch.setattr(franq_guard.streaming.stream, "Steps", AtOnce)
    monkeypatch.setattr(franq_guard.streaming.stream, "_LONG", 50)
    monkeypatch.setattr(franq_guard.streaming.released_text, "_HELD_FROM", 50)
    for module in (franq_guard.streaming.stream, franq_guard.streaming.released_text):
        monkeypatch.setattr(module, "_SHARE", 4)
    caplog.set_level("CRITICAL")  # uncalibrated models say so


@pytest.mark.parametrize(
    ("shape", "action"), [*((shape, "filter") for shape in SHAPES), ("one paragraph", "annotate")]
)
def test_twice_the_answer_is_twice_the_work(shape, action, work):
    """Two doublings: 4 times the work, 2.2 squared at most; the square would be 16 times."""
    count = (2500 if shape == "code" else 750) // len(SHAPES[shape])  # code settles at its end
    for streamed in (False, True):
        once, _ = checked(text_of(shape, count), work, action, streamed=streamed)
        more, verdicts = checked(text_of(shape, 4 * count), work, action, streamed=streamed)
        growth = {what: round(more[what] / once[what], 2) for what in once if once[what] > 20}
        assert {what: times for what, times in growth.items() if times > 2.2**2} == {}
        if not streamed:
            expected = verdicts
    assert verdicts == expected


def test_what_a_model_without_sessions_reads_grows_with_the_answer():
    """A server is sent all of the answer so far each time: less often, the longer it is."""

    class Served(FakeLanguageModel):
        """Reads each text as a whole."""

        def score(self, prompts, answers):
            sent.append(sum(len(answer.text) for answer in answers))
            return super().score(prompts, answers)

    model = Served(known=0.99, unknown=0.5)
    franq = Calibrator.uncalibrated(form="long")
    guard = Guard(language_model=model, faithfulness=FakeFaithfulness(), franq=franq)

    def trace(so_far):
        return Trace("What of the bridge?", PASSAGES, Generation(so_far, prompt=PROMPT))

    traffic = []
    for count in (200, 400):  # 12,000 and 24,000 characters
        sent, text = [], text_of("paragraphs", count)
        stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
        for start in range(0, len(text), 40):
            stream.feed(text[start : start + 40])
            while stream.wait() is not None:
                pass
        stream.end()
        while stream.wait() is not None:
            pass
        assert stream.answer().original == text
        stream.close()
        traffic.append(sum(sent))
        assert sum(sent) < 25 * len(text)  # with the evidence and without, each 8 + 1 times at most
    assert traffic[1] < 2.6 * traffic[0]  # 4 where it grows with the square
