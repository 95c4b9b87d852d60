"""A stream of claims against the same answer checked in one go, and all that may go wrong."""

import asyncio
import random
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from franq_guard import Claim, Generation, Guard, Passage, Policy, Trace
from franq_guard.basics.deadline import Abandonable
from franq_guard.calibration import Calibrator
from franq_guard.claims import LLMSplitter, RuleSplitter
from franq_guard.streaming.release import FactualityError, Release
from franq_guard.streaming.stream import ClaimStream
from franq_guard.streaming.worker import ClaimWorker
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from franq_guard.uncertainty.methods import methods

PASSAGES = tuple(
    map(
        Passage,
        [
            "Marie Curie was born in Warsaw. The river rises in the hills.",
            "Germany borders France and Spain.",
        ],
    )
)
SENTENCES = [
    "Marie Curie was born in Warsaw.", "Marie Curie was born in Berlin and died in France.",
    "Germany borders France, Spain and Italy.", "Zebras sing loud tunes at midnight.",
    "The river, which is wide, rises in the hills.", "Is the river wide?", "It does.",
    "The river rises in the hills, and it never freezes.",
]  # fmt: skip
GLUE = [" ", " ", " ", "\n\n", "\n- ", "\n1. ", "\n2. ", "\n\n## Life\n\n", "\n> ", "  \n"]
ANSWERS = st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from(GLUE)), max_size=9).map(
    lambda pairs: "".join(sentence + glue for sentence, glue in pairs)
)


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level("CRITICAL")  # uncalibrated models say so


def guard_of(*, fail=None, **options):
    """A guard whose language model reads every answer."""
    faithfulness = FakeFaithfulness(fail=fail)
    if not {"uq_faith", "form"} & set(options):
        options.setdefault("franq", Calibrator.uncalibrated())
    return Guard(language_model=FakeLanguageModel(), faithfulness=faithfulness, **options)


def trace(text):
    return Trace("Where is the river?", PASSAGES, Generation(text), id="run")


def pieces_of(text, seed=0):
    rng, at = random.Random(seed), 0
    while at < len(text):
        size = rng.choice([1, 3, 8, 25])
        yield text[at : at + size]
        at += size


def streamed(guard, pieces, release=None, *, lookup=None, patient=True):
    """What was released, in order, and the answer; ``patient`` waits for each check first."""
    stream = ClaimStream(guard, lookup or (lambda text: (guard, trace(text))), release=release)
    left = []
    try:
        for piece in pieces:
            left.append(stream.feed(piece))
            if patient:
                left += iter(stream.wait, None)
        stream.end()
        left += iter(stream.wait, None)
        answer = stream.answer()
        return [*left, stream.rest], answer
    finally:
        stream.close()


@pytest.mark.parametrize("action", ["annotate", "filter"])
@pytest.mark.parametrize("patient", [True, False])
@given(ANSWERS, st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_it_equals_the_check_of_the_whole(action, patient, text, seed):
    guard = guard_of(policy=Policy(action=action))
    told = []
    release = Release(on_claim=told.append)
    left, answer = streamed(guard, pieces_of(text, seed), release, patient=patient)
    whole = guard.check_trace(trace(text))
    assert answer.verdicts == whole.verdicts
    assert (answer.text, answer.original, answer.status, answer.calibrator, answer.id) == (
        whole.text, whole.original, whole.status, whole.calibrator, whole.id,
    )  # fmt: skip
    assert "".join(left) == answer.text
    assert "".join(released.text for released in told) == answer.text
    assert tuple(v for released in told for v in released.verdicts) == whole.verdicts
    assert [r.start for r in told] == [0, *(r.end for r in told)][: len(told)]


MARKS = [
    "<think>", "</think>It was so. ", "\n<think>", "<script>", "\n<script>\n", "</script>",
    "[THINK]", "[/THINK]It was so. ", "\n[THINK]", "<|channel|>analysis<|message|>", "<|im_end|>",
    "<|end|><|start|>assistant<|channel|>final<|message|>", "assistantfinal", "analysisThe town ",
    "\n\n📌 Key facts\n\n", "\n🔎 Where to look\n", "\n✅ Red\n", "\n1. **Life**\n",
    "\n   - It is. ", "\n**1. Life**\n", "📌 ",
    "<style>", "`<think>` ", "`<style>` ", "<br>", "\n```\n", "\n```python\n", "\n```md\n",
    "\n``` ", "\n~~~\n",
]  # fmt: skip
MARKED = st.lists(
    st.one_of(
        st.sampled_from([f"{sentence} " for sentence in SENTENCES]),
        st.sampled_from(GLUE),
        st.sampled_from(MARKS),
    ),
    max_size=14,
).map("".join)


@given(MARKED, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
@example(f"{SENTENCES[1]} \n```md\n{SENTENCES[0]} \n```\n{SENTENCES[1]}", 0)
@example(f"{SENTENCES[5]} \n\n{SENTENCES[2]}<script>\n</script>{SENTENCES[0]} {SENTENCES[1]}", 0)
@example(f"{SENTENCES[0]}\n```\nf()\n``` {SENTENCES[1]} {SENTENCES[2]}\n\n{SENTENCES[3]}", 0)
@example(f"Some write <think> first. {SENTENCES[1]} {SENTENCES[2]}</think>{SENTENCES[3]}", 0)
def test_it_finds_the_claims_of_the_whole_beside_code_and_tags(text, seed):
    guard = guard_of()
    _, answer = streamed(guard, pieces_of(text, seed))
    assert answer.verdicts == guard.check_trace(trace(text)).verdicts


def test_a_tag_that_a_sentence_names_holds_back_what_follows_alone():
    """Whether the tag is closed is known at the end; the sentence before it need not wait."""
    text = f"{SENTENCES[0]} Some models of the newest kind do write <think> first. {SENTENCES[1]} "
    guard = guard_of()
    for end, stated in ((SENTENCES[2], 3), ("</think>", 2)):
        left, answer = streamed(guard, [*text, end])
        early = "".join(left[: len(text)])
        assert SENTENCES[0] in early
        assert "<think>" not in early
        claims = [v.claim for v in answer.verdicts if v.claim.not_a_claim is None]
        hidden = [v.claim for v in answer.verdicts if v.claim.not_a_claim]
        assert bool(hidden) == (end == "</think>")
        assert len(claims) >= stated
        assert answer.original == text + end


class Opinionated(FakeLanguageModel):
    """What it tells of a token depends on all the text before, wherever the prompt ends."""

    class tokenizer:
        @staticmethod
        def decode(ids):
            return "".join(f" word{i}" for i in ids)

    def _scored(self, prompt, answer):
        made = super()._scored(prompt, answer)
        tokens = []
        for token in made.tokens:
            drawn = random.Random(f"{prompt}{answer.text[: token.end]}")
            logprob, other = -3 * drawn.random(), drawn.randrange(5)
            top = ((token.start, logprob), (other, -3 * drawn.random()))
            tokens.append(replace(token, id=9, logprob=logprob, entropy=drawn.random(), top=top))
        return replace(made, tokens=tuple(tokens))


NAMED = [method.name for method in methods() if "claim" in method.levels]


@pytest.mark.parametrize("name", [name for name in NAMED if name != "token-sar"])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_equals_the_check_of_the_whole_for_any_method(name, seed):
    rng = random.Random(seed)
    text = " ".join(rng.choices(SENTENCES, k=6))
    guard = Guard(
        language_model=Opinionated(),
        faithfulness=FakeFaithfulness(),
        uq_faith=name,
        uq_unfaith="mean-token-entropy",
    )
    _, answer = streamed(guard, pieces_of(text, seed))
    whole = guard.check_trace(trace(text))
    assert any(v.p_true is not None for v in whole.verdicts)
    assert [v.claim for v in answer.verdicts] == [v.claim for v in whole.verdicts]
    for got, want in zip(answer.verdicts, whole.verdicts, strict=True):
        assert got.raw == pytest.approx(want.raw, abs=1e-9)
        assert (got.label, got.reason, got.evidence) == (want.label, want.reason, want.evidence)


def test_what_was_scored_once_is_not_scored_again():
    """Faithfulness sees each claim once, and the language model each token once a prompt."""
    seen, read = [], []

    class Judge(FakeFaithfulness):
        def score(self, contexts, claims):
            seen.extend(claims)
            return super().score(contexts, claims)

    class Session:
        def __init__(self, model, prompt):
            self.model, self.prompt, self.known = model, prompt, 0

        def score(self, answer):
            read.append((self.prompt, self.known, len(answer.text)))
            self.known = len(answer.text)
            return FakeLanguageModel.score(self.model, [self.prompt], [answer])[0]

        def close(self):
            pass

    class Model(FakeLanguageModel):
        def session(self, prompt):
            return Session(self, prompt)

        def score(self, prompts, answers):
            raise AssertionError("the answer is scored in its sessions")

    text = " ".join(SENTENCES[:5])
    franq = Calibrator.uncalibrated()
    guard = Guard(language_model=Model(), faithfulness=Judge(), franq=franq)
    streamed(guard, pieces_of(text))
    assert len(seen) == len(set(seen)) == len(RuleSplitter().split(text))
    for prompt in {prompt for prompt, _, _ in read}:
        steps = [(a, b) for p, a, b in read if p == prompt]
        assert [a for a, _ in steps] == [0, *(b for _, b in steps[:-1])]
    assert len({prompt for prompt, _, _ in read}) == 2


def test_each_sentence_leaves_while_the_next_ones_are_written():
    text = " ".join(SENTENCES[:4])
    left, _ = streamed(guard_of(), text)  # character by character
    times = [i for i, piece in enumerate(left) if piece]
    assert left[times[0]] == SENTENCES[0]
    assert times[0] < len(SENTENCES[0]) + 60
    assert len(times) == 3  # the last two together: no more than their end settles them


def test_nothing_leaves_before_it_is_checked():
    """While the scorer holds the second sentence, only the first has left."""
    go, calls = threading.Event(), []

    def fail():
        calls.append(1)
        if len(calls) == 2:
            assert go.wait(30)

    guard = guard_of(fail=fail)
    stream = ClaimStream(guard, lambda text: (guard, trace(text)))
    left = ""
    for char in " ".join(SENTENCES[:4]):
        left += stream.feed(char)
        if not left:
            left += stream.wait() or ""
    assert left == SENTENCES[0]
    go.set()
    stream.end()
    left += "".join(iter(stream.wait, None))
    assert stream.answer().text == left + stream.rest
    stream.close()


def test_text_after_the_end_is_an_error_and_never_lost():
    guard = guard_of()
    stream = ClaimStream(guard, lambda text: (guard, trace(text)))
    stream.feed("Marie Curie was born in Warsaw.")
    stream.end()
    with pytest.raises(RuntimeError, match="after end"):
        stream.feed(" Zebras sing loud tunes at midnight.")
    assert stream.feed("") is not None  # asks only what is checked by now
    assert list(iter(stream.wait, None))
    assert [verdict.claim.text for verdict in stream.answer().verdicts] == [
        "Marie Curie was born in Warsaw."
    ]
    stream.close()


@pytest.mark.parametrize("done", [[], ["end"], ["end", "close"]], ids="-".join)
def test_what_is_not_checked_is_no_answer(done):
    guard = guard_of()
    stream = ClaimStream(guard, lambda text: (guard, trace(text)))
    stream.feed("Rome is in Italy. Rome was founded by zebras.")
    for step in done:
        getattr(stream, step)()
    try:
        with pytest.raises(RuntimeError, match="wait"):
            stream.answer()
    finally:
        stream.close()


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_failure_costs_its_own_claims_only(on_error):
    calls = []

    def fail():
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("no scores today")

    policy = Policy(action="filter", on_error=on_error)
    first, second = SENTENCES[0], "Germany borders France."
    rest = "In the hills the river rises in Warsaw, France and Spain. It was born."
    text = f"{first} {second} {rest}"
    left, answer = streamed(guard_of(fail=fail, policy=policy), text)
    assert [v.reason for v in answer.verdicts][:2] == [None, "error"]
    assert all(v.label != "unverified" for v in answer.verdicts[2:])
    assert answer.text == "".join(left)
    assert answer.text.startswith(f"{first} Germany" if on_error == "open" else f"{first} In")
    assert ("Germany borders France [unverified]." in answer.text) == (on_error == "open")
    assert answer.status == "partial"


@pytest.mark.parametrize("place", ["lookup", "settled", "units", "so_far"])
def test_whatever_fails_the_answer_is_dealt_with(place, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError(place)

    guard, lookup = guard_of(), None
    if place == "lookup":
        lookup = broken
    elif place == "so_far":
        monkeypatch.setattr(Policy, "so_far", broken)
    else:
        monkeypatch.setattr(RuleSplitter, place, broken)
    text = " ".join(SENTENCES[:3])
    left, answer = streamed(guard, pieces_of(text), lookup=lookup)
    assert "".join(left) == answer.text
    if place in ("lookup", "units"):
        assert {v.label for v in answer.verdicts} == {"unverified"}
        assert answer.text.replace(" [unverified]", "") == text
    else:
        assert answer == guard.check_trace(trace(text)).__class__(
            **{n: getattr(answer, n) for n in answer.__slots__}
        )
        assert answer.text == guard.check_trace(trace(text)).text


def test_a_deadline_ends_checking_not_the_answer():
    go, hung, ended = threading.Event(), threading.Event(), threading.Event()

    def hang():
        if hung.is_set():
            go.wait(30)
            ended.set()

    guard, text = guard_of(fail=hang, deadline=60), " ".join(SENTENCES[:5])
    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    read = len(" ".join(SENTENCES[:2]))
    left = [stream.feed(text[:read]), *iter(stream.wait, None)]
    hung.set()
    stream._worker._deadline = 0.1  # instead of waiting for a minute
    left += [stream.feed(text[read:]), *iter(stream.wait, None)]
    stream.end()
    left += [*iter(stream.wait, None)]
    answer = stream.answer()
    stream.close()
    assert not ended.is_set()
    go.set()
    assert "".join([*left, stream.rest]) == answer.text
    assert answer.original == text
    reasons = [v.reason for v in answer.verdicts]
    assert reasons[0] is None
    assert set(reasons[1:]) == {"timeout"}


def test_only_the_model_that_wrote_the_answer_is_loaded():
    def missing():
        raise RuntimeError("no such file")

    franq = Calibrator.uncalibrated()
    base = Guard(language_model=missing, faithfulness=FakeFaithfulness(), franq=franq)
    own = base.using(language_model=FakeLanguageModel())
    _, answer = streamed(base, [SENTENCES[0]], lookup=lambda text: (own, trace(text)))
    assert answer.status == "ok"


def test_seconds_are_never_counted_twice(monkeypatch):
    monkeypatch.setattr("franq_guard.streaming.worker.perf_counter", lambda: 106.0)
    left = []

    class Watched(ClaimWorker):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name in ("_spent", "_began") and hasattr(self, "_began"):
                left.append(self.seconds_left())

    guard = guard_of(deadline=10.0)
    worker = Watched(guard, lambda text: (guard, trace(text)))
    worker._began = 100.0
    worker._stop()
    assert all(4.0 <= seconds <= 10.0 for seconds in left)
    assert worker.seconds_left() == 4.0


def test_it_stops_at_a_claim_with_a_label_that_stops():
    told, released = [], []
    release = Release(told.append, ("false",), released.append)
    text = f"{SENTENCES[0]} {SENTENCES[3]} {SENTENCES[0]} {SENTENCES[4]}"
    with pytest.raises(FactualityError) as raised:
        streamed(guard_of(), pieces_of(text), release)
    assert [r.text for r in released] == [SENTENCES[0]]
    (answer,) = told
    assert answer is raised.value.answer
    assert answer.text == SENTENCES[0]
    assert [v.claim.text for v in raised.value.verdicts] == [SENTENCES[3]]


def test_the_language_is_that_of_what_is_written_so_far():
    """The Russian sentence is a quarter of the letters, and all that is there at first."""
    text = f"Река берёт начало в холмах. {SENTENCES[0]} {SENTENCES[4]}"
    guard = guard_of()
    guard.faithfulness.languages = ("en",)
    _, answer = streamed(guard, text)
    found = answer.verdicts
    assert (found[0].label, found[0].reason) == ("unverified", "language")
    whole = guard.check_trace(trace(text)).verdicts
    assert "language" not in {v.reason for v in whole}
    assert [v.claim for v in found] == [v.claim for v in whole]
    assert found[-1] == whole[-1]


def test_nothing_left_is_replaced_at_the_end():
    guard = guard_of(policy=Policy(action="filter", replacement="Nothing sure."))
    left, answer = streamed(guard, pieces_of(f"{SENTENCES[3]} Zebras paint walls."))
    assert [piece for piece in left if piece] == ["Nothing sure."]
    assert answer.text == "Nothing sure."


def test_what_only_announced_the_removed_claims_is_followed_by_the_replacement():
    guard = guard_of(policy=Policy(action="filter", replacement="Nothing sure."))
    text = f"Hello!\n\n- {SENTENCES[3]}\n- Zebras paint walls."
    left, answer = streamed(guard, pieces_of(text))
    assert "".join(left) == answer.text == "Hello!\n\nNothing sure."
    assert guard.check_trace(trace(text)).text == "Nothing sure."


def test_a_heading_is_held_back_until_something_stays_below_it():
    guard = guard_of(policy=Policy(action="filter", replacement="Nothing sure."))
    text = (
        f"{SENTENCES[0]}\n\n## Years\n\nIt does.\n\n## Life\n\n{SENTENCES[3]}\n\n## Work\n\n"
        f"{SENTENCES[3]} {SENTENCES[0]}\n\nThe parts:\n- {SENTENCES[3]}\n\n"
        f"More parts:\n- {SENTENCES[3]}\n- {SENTENCES[0]}\n\n"
        f"## Is it old?\n\n{SENTENCES[3]}"
    )
    left, answer = streamed(guard, text)
    assert [piece for piece in left if piece] == [
        SENTENCES[0], "\n\n## Years\n\nIt does.", f"\n\n## Work\n\n{SENTENCES[0]}",
        f"\n\nMore parts:\n- {SENTENCES[0]}",
    ]  # fmt: skip
    assert guard.check_trace(trace(text)).text == answer.text == "".join(left)


NOT_READ = [
    '{"answer": "Marie Curie was born in Berlin."}',
    '{"answers": [' + ", ".join(f'"Pier {n} is wide."' for n in range(200)) + "]}",  # over 2,000
    "```\nlet x = 1;\n```\n",
    "<think>Berlin, I guess.</think>",
    "Yes.",
]


@pytest.mark.parametrize("on_error", ["open", "closed"])
@pytest.mark.parametrize("action", ["annotate", "filter"])
@pytest.mark.parametrize("text", NOT_READ)
@pytest.mark.parametrize("patient", [True, False])
def test_an_answer_that_nobody_read_is_treated_as_in_a_check_of_the_whole(
    text, action, on_error, patient
):
    policy = Policy(action=action, on_error=on_error, replacement="Nothing sure.")
    guard, told = guard_of(policy=policy), []
    left, answer = streamed(guard, text, Release(on_claim=told.append), patient=patient)
    whole = guard.check_trace(trace(text))
    replaced = (action, on_error) == ("filter", "closed")
    assert whole.text == ("Nothing sure." if replaced else text)
    assert "".join(left) == answer.text == whole.text
    assert (answer.verdicts, answer.status) == (whole.verdicts, "unverified")
    assert "".join(r.text for r in told) == whole.text
    if replaced:
        ((start, end),) = [(r.start, r.end) for r in told]
        assert (told[0].verdicts, start, end) == (whole.verdicts, 0, len(text))


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_code_is_replaced_after_what_announced_it(on_error):
    """ "Hello!" has left when the code ends, of which alone the answer then consists."""
    lead, code = "Hello!", "\n```\nlet x = 1;\nlet y = 2;\n```\n"
    policy = Policy(action="filter", on_error=on_error, replacement="Nothing sure.")
    guard, told = guard_of(policy=policy), []
    left, answer = streamed(guard, lead + code, Release(on_claim=told.append))
    whole = guard.check_trace(trace(lead + code))
    closed = on_error == "closed"
    assert whole.text == ("Nothing sure." if closed else lead + code)
    assert "".join(left) == answer.text == lead + ("\n\nNothing sure." if closed else code)
    assert "".join(r.text for r in told) == answer.text
    assert [v for r in told for v in r.verdicts] == list(whole.verdicts)
    assert told[0].text == lead
    assert answer.status == "unverified"


def test_a_line_that_turns_into_a_table_after_all():
    """The one case that is not foreseen: what has left stays, the rest is split by itself."""
    first = SENTENCES[0] + " " + SENTENCES[4]
    text = f"{first} And more | of it\n---|---\nMarie Curie | Warsaw\n"
    left, answer = streamed(guard_of(), text)
    assert answer.original == text
    assert answer.verdicts[0].claim.text == SENTENCES[0]
    assert "".join(left) == answer.text
    covered = {i for v in answer.verdicts for a, b in v.claim.spans for i in range(a, b)}
    assert all(i in covered for i in range(len(first)) if not text[i].isspace())


@pytest.mark.parametrize("text", ["", " \n", "---\n"])
def test_an_answer_of_no_words(text):
    left, answer = streamed(guard_of(), [text])
    assert "".join(left) == answer.text == text
    assert answer.verdicts == ()
    assert answer.status == guard_of().check_trace(trace(text)).status


def test_given_claims_are_taken():
    claim = Claim("Empty Response", ((0, 14),), not_a_claim="nothing was asked of the model")
    guard = guard_of()
    given = Trace("Why?", (), Generation("Empty Response"), claims=(claim,))
    _, answer = streamed(guard, ["Empty Response"], lookup=lambda text: (guard, given))
    assert [v.claim for v in answer.verdicts] == [claim]


def test_what_given_claims_leave_of_the_answer_is_checked():
    text = " ".join(SENTENCES[:2])
    first = Claim(SENTENCES[0], ((0, len(SENTENCES[0])),))
    given = replace(trace(text), claims=(first,))
    guard = guard_of()
    _, answer = streamed(guard, [text], lookup=lambda text: (guard, given))
    told = [v.claim.text for v in answer.verdicts]
    assert told == [v.claim.text for v in guard.check_trace(given).verdicts]
    assert told.count(SENTENCES[0]) == 1
    assert len(told) > 1


def test_a_closed_stream_lets_nothing_out_and_ends_its_thread():
    go = threading.Event()
    guard = guard_of(fail=lambda: go.wait(30))
    told = []
    stream = ClaimStream(
        guard, lambda text: (guard, trace(text)), release=Release(on_claim=told.append)
    )
    for char in " ".join(SENTENCES[:4]):
        assert stream.feed(char) == ""
    stream.close()
    assert stream.wait() is None  # while the check that was under way still is
    assert not asyncio.run(stream.until_news())
    assert stream.feed(" It never freezes. It never freezes.") == ""
    go.set()
    for thread in threading.enumerate():
        if thread.name.startswith("franq-claims"):
            thread.join(30)
    assert stream.wait() is None
    assert told == []
    assert not [t for t in threading.enumerate() if t.name.startswith("franq-claims")]


class Caching(FakeLanguageModel):
    """Its sessions note when they are opened, used and closed."""

    def __init__(self):
        super().__init__()
        self.open, self.opened = set(), 0

    def session(self, prompt):
        return CachingSession(self, prompt)


class CachingSession:
    def __init__(self, model, prompt):
        self.model, self.prompt = model, prompt
        model.opened += 1

    def score(self, answer):
        self.model.open.add(self)
        return self.model.score([self.prompt], [answer])[0]

    def close(self):
        self.model.open.discard(self)


def caching_guard(**options):
    faithfulness, franq = FakeFaithfulness(**options), Calibrator.uncalibrated()
    return Guard(language_model=Caching(), faithfulness=faithfulness, franq=franq)


@pytest.mark.parametrize("over", [True, False])
def test_a_closed_stream_keeps_nothing_of_what_its_model_has_read(over):
    guard = caching_guard()
    model = guard.language_model
    stream = ClaimStream(guard, lambda text: (guard, trace(text)))
    for piece in pieces_of(" ".join(SENTENCES[:4])):
        stream.feed(piece)
        while stream.wait() is not None:
            pass
    if over:
        stream.end()
        while stream.wait() is not None:
            pass
        assert stream.answer().status == "ok"
    assert len(model.open) == model.opened == 2  # with the passages and without
    for _ in range(2):
        stream.close()
        assert not model.open
    stream.feed(" It never freezes. It never freezes at all.")
    assert model.opened == 2


def test_a_check_that_outlives_its_stream_frees_what_its_model_has_read():
    over, begun, go = threading.Event(), threading.Event(), threading.Event()

    def hold():
        if over.is_set():
            begun.set()
            assert go.wait(30)

    guard = caching_guard(fail=hold)
    model = guard.language_model
    stream = ClaimStream(guard, lambda text: (guard, trace(text)))
    stream.feed(f"{SENTENCES[0]} {SENTENCES[1]} ")
    while stream.wait() is not None:
        pass
    assert len(model.open) == 2
    over.set()
    stream.end()
    assert begun.wait(30)
    stream.close()
    assert len(model.open) == 2  # the check still uses them, and close() does not wait
    go.set()
    for thread in threads_of_streams():
        thread.join(30)
    assert model.opened == 2
    assert not model.open


def test_a_stream_closed_at_any_moment_by_several_threads_frees_what_its_model_has_read():
    guard = caching_guard()
    model = guard.language_model
    for moment in range(30):
        opened = model.opened
        stream = ClaimStream(guard, lambda text: (guard, trace(text)))
        for sentence in SENTENCES[:4]:
            stream.feed(sentence + " ")
        stream.end()
        while moment % 2 and model.opened == opened:
            time.sleep(0.0001)
        time.sleep(moment / 10_000)  # a step takes about a millisecond
        closing = [threading.Thread(target=stream.close) for _ in range(3)]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(30)
    for thread in threads_of_streams():
        thread.join(30)
    assert not model.open


HANGS = """
import time
from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.streaming.stream import ClaimStream
from franq_guard.testing import FakeFaithfulness

text = "Rome is big. Rome is in Italy. "
trace = Trace("What is Rome?", (Passage(text),), Generation(text))
guard = Guard(faithfulness=FakeFaithfulness(fail=lambda: time.sleep(600)), deadline=0.1)
stream = ClaimStream(guard, lambda so_far: (guard, trace))
stream.feed(text)
stream.end()
while stream.wait() is not None:
    pass
print({verdict.reason for verdict in stream.answer().verdicts})
if CLOSES:
    stream.close()
"""


@pytest.mark.parametrize("closes", [True, False])
def test_a_model_that_hangs_does_not_keep_the_process_alive(closes):
    code = HANGS.replace("CLOSES", str(closes))
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert ran.stdout == "{'timeout'}\n"


def threads_of_streams():
    return {thread for thread in threading.enumerate() if thread.name == "franq-claims"}


@pytest.mark.parametrize("deadline", [None, 60])
def test_streams_whose_model_hangs_do_not_fill_the_process_with_threads(deadline):
    go, begun, before = threading.Event(), threading.Semaphore(0), threads_of_streams()

    def hang():
        begun.release()
        go.wait(30)

    guard = guard_of(fail=hang, deadline=deadline)
    guard._streams = Abandonable(most=4)
    own = guard.using(language_model=FakeLanguageModel())  # it shares what it has left behind

    def hung(among):
        stream = ClaimStream(among, lambda text: (among, trace(text)))
        stream.feed(SENTENCES[0] + " ")
        stream.end()
        assert begun.acquire(timeout=30)
        if deadline:
            stream._worker._deadline = 0.0  # instead of waiting for a minute
            assert stream.wait()
            assert {v.reason for v in stream.answer().verdicts} == {"timeout"}
        for _ in range(2):
            stream.close()

    for among in (guard, own, guard, own):
        hung(among)
    found = []
    readers = [
        threading.Thread(target=lambda: found.append(streamed(guard, SENTENCES[:2])[1]))
        for _ in range(20)
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)
    assert not begun.acquire(blocking=False)  # no other stream has called the model
    assert len(found) == 20
    assert {v.reason for answer in found for v in answer.verdicts} == {"timeout"}
    assert {answer.original for answer in found} == {"".join(SENTENCES[:2])}
    go.set()
    for thread in threads_of_streams() - before:
        thread.join(30)  # each ends by itself, those that hung too
    guard.deadline = None
    assert streamed(guard, SENTENCES[:1])[1].status == "ok"


class Hiding(Policy):
    def apply(self, answer, verdicts):
        return super().apply(answer, verdicts).replace("Warsaw", "***")


class HidingAlways(Hiding):
    def so_far(self, answer, verdicts):
        return super().so_far(answer, verdicts).replace("Warsaw", "***")


def test_a_policy_of_ones_own_says_what_may_leave_of_an_unfinished_answer():
    left, answer = streamed(guard_of(policy=HidingAlways()), pieces_of(" ".join(SENTENCES[:3])))
    assert answer.text == "".join(left)
    assert "***" in answer.text
    assert "Warsaw" not in answer.text


def test_a_policy_of_ones_own_is_asked_for_the_whole_answer_once():
    asked = []

    class Counting(HidingAlways):
        def apply(self, answer, verdicts):
            asked.append(answer)
            return super().apply(answer, verdicts)

    text = " ".join(SENTENCES[:3])
    for action in ("annotate", "filter"):
        streamed(guard_of(policy=Counting(action=action)), pieces_of(text))
        assert asked == [text]
        asked.clear()


class Whole(RuleSplitter):
    def split(self, answer, *, question=""):
        return [Claim(answer, ((0, len(answer)),))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"claims": Whole()}, "RuleSplitter can, Whole cannot"),
        ({"policy": Hiding()}, "give it a so_far"),
        ({"policy": Policy(action="block")}, "action='annotate' or 'filter'"),
        ({"policy": Policy(action=lambda text, verdicts: text)}, "action='annotate' or 'filter'"),
        ({"form": "short"}, "form='long'"),
        ({"form": "auto"}, "form='long'"),
        ({"uq_faith": "token-sar"}, "cannot measure 'token-sar'"),
        ({"claims": LLMSplitter(lambda prompt: "")}, "RuleSplitter can, LLMSplitter cannot"),
    ],
)
def test_what_cannot_be_done_claim_by_claim_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ClaimStream(guard_of(**options), lambda text: None)


def test_a_stream_of_any_writer_needs_no_language_model():
    def missing():
        raise AssertionError("the language model was loaded")

    guard = Guard(language_model=missing, faithfulness=FakeFaithfulness())
    text = " ".join(SENTENCES[:4])
    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    left = [stream.feed(piece) for piece in pieces_of(text)]
    stream.end()
    while (more := stream.wait()) is not None:
        left.append(more)
    answer = stream.answer()
    stream.close()
    whole = guard.check_trace(trace(text))
    assert answer.verdicts == whole.verdicts
    assert "".join(left) + stream.rest == answer.text == whole.text
    assert (answer.calibrator, answer.likelihoods) == (whole.calibrator, "none")
