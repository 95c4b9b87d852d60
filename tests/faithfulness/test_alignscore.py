"""AlignScore's numbers: the original's, and what holds of them besides."""

import json
import random
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from franq_guard.basics import numbers
from franq_guard.faithfulness import AlignScore, FaithfulnessModel
from franq_guard.faithfulness.alignscore.checkpoint import read_weights
from franq_guard.records import Passage

FIXTURE = Path(__file__).parents[1] / "fixtures/alignscore"
MODES = ("nli_sp", "bin_sp", "reg_sp", "nli", "bin", "reg")
CASES = [json.loads(line) for line in (FIXTURE / "cases.jsonl").read_text("utf-8").splitlines()]
CONTEXTS = [case["context"] for case in CASES]
CLAIMS = [case["claim"] for case in CASES]


def split(text):
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


@pytest.fixture(scope="module")
def weights():
    return read_weights(FIXTURE / "tiny-align.ckpt")


@pytest.fixture
def make(weights):
    def build(**options):
        return AlignScore(weights, **{"sentence_splitter": split, **options})

    return build


def count_rows(model):
    """A list that grows by the length of every sequence that the model's network reads."""
    seen, encode = [], model._logits._encode

    def counting(rows):
        seen.extend(len(row) for row in rows)
        return encode(rows)

    model._logits._encode = counting
    return seen


def tokens(text):
    tokenizer = Tokenizer.from_file(str(FIXTURE / "tiny-roberta/tokenizer.json"))
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("mode", MODES)
def test_all_cases_of_the_original(make, mode):
    scores = make(mode=mode, exact=True).score(CONTEXTS, CLAIMS)
    np.testing.assert_allclose(scores, [case[mode] for case in CASES], rtol=0, atol=1e-5)


@pytest.mark.parametrize("mode", ["nli_sp", "bin"])
def test_without_exact_only_what_the_original_drops_differs(make, mode):
    # <s> A </s></s> B </s>: nothing is dropped where both texts have at most 508 tokens.
    fits = [
        case
        for case in CASES
        if case["context"].strip() and tokens(case["context"]) + tokens(case["claim"]) <= 508
    ]
    assert len(fits) > 60
    scores = make(mode=mode).score([c["context"] for c in fits], [c["claim"] for c in fits])
    np.testing.assert_allclose(scores, [case[mode] for case in fits], rtol=0, atol=1e-5)


@pytest.mark.parametrize("exact", [False, True])
def test_a_score_does_not_depend_on_its_neighbours(make, exact):
    model = make(exact=exact, cache_size=0)
    order = random.Random(3).sample(range(len(CASES)), 40)
    order += [i for i, case in enumerate(CASES) if case["kind"].startswith("claim_over_512")]
    alone = [model.score([CONTEXTS[i]], [CLAIMS[i]])[0] for i in order]
    mixed = model.score([CONTEXTS[i] for i in order], [CLAIMS[i] for i in order])
    np.testing.assert_allclose(mixed, alone, rtol=0, atol=5e-6)


@pytest.mark.parametrize("batch_tokens", [1, 700, 10**6])
def test_batch_size_changes_rounding_only(make, batch_tokens):
    expected = make().score(CONTEXTS[:20], CLAIMS[:20])
    scores = make(batch_tokens=batch_tokens).score(CONTEXTS[:20], CLAIMS[:20])
    np.testing.assert_allclose(scores, expected, rtol=0, atol=5e-6)


def test_text_without_sentence_marks_is_read_to_its_end(make):
    # The best window decides, so the end does not matter to every claim.
    start = "the old harbour town " * 400
    ends = [start + "Ghent", start + "a copper mine in Osaka 1933"]
    claims = [case["claim"] for case in CASES if case["kind"] == "single"][:8]
    for exact, differ in ((True, False), (False, True)):
        model = make(exact=exact)
        a, b = (np.array(model.score([end] * 8, claims)) for end in ends)
        assert (np.abs(a - b).max() > 1e-3) == differ


def test_a_claim_beyond_the_window_is_read_to_its_end(make):
    start = "the copper mine " * 300
    scores = make().score(["Ghent lies there."] * 2, [start, start + "of Osaka in the year 1933"])
    assert abs(scores[0] - scores[1]) > 1e-4


def test_equal_pairs_run_once_and_are_remembered(make):
    model = make()
    rows = count_rows(model)
    first = model.score(["One. Two."] * 3, ["Two.", "Two.", "Three."])
    assert len(rows) == 2
    assert model.score(["One. Two."], ["Three."]) == [first[2]]
    assert len(rows) == 2
    assert model.nli(["One. Two."], ["Two."])[0, 0] == pytest.approx(first[0])
    assert len(rows) == 2  # all heads come from one pass


def test_no_padding(make):
    model = make()
    rows = count_rows(model)
    model.score(["Chen Wei funded a mine."], ["Yes."])
    assert rows == [tokens("Chen Wei funded a mine.") + tokens("Yes.") + 4]


def test_cache_is_bounded_and_harmless(make):
    small = make(cache_size=2)
    first = small.score(CONTEXTS[:12], CLAIMS[:12])
    assert len(small._logits._cache) <= 2
    again = small.score(CONTEXTS[:12], CLAIMS[:12])
    np.testing.assert_allclose(again, first, rtol=0, atol=5e-6)


def test_threads_share_a_model(make):
    model = make()
    expected = model.score(CONTEXTS[:30], CLAIMS[:30])
    shared = make(cache_size=5)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: shared.score([CONTEXTS[i]], [CLAIMS[i]])[0], range(30)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-6)


def test_empty_inputs(make):
    model = make()
    assert model.score([], []) == []
    assert model.nli([], []).shape == (0, 3)
    assert model.evidence([], []) == []
    assert model.score(["", " \n", "x"], ["Yes."] * 3)[:2] == [0.0, 0.0]
    for call in (model.score, model.evidence):
        with pytest.raises(ValueError, match="claim 1 is empty"):
            call(["x", "y"], ["Yes.", " \t"])
    with pytest.raises(ValueError, match="empty"):
        make(exact=True).score(["x"], [""])
    assert len(make(exact=True, mode="nli").score(["x"], [""])) == 1  # works in the original


def test_misuse_is_told(make):
    with pytest.raises(TypeError, match="lists of texts"):
        make().score("one text", "one claim")
    with pytest.raises(TypeError, match="list of passages"):
        make().score_passages(["one text"], ["one claim"])
    with pytest.raises(TypeError, match="list of passages"):
        make().evidence("one text", ["one claim"])
    with pytest.raises(ValueError, match="2 contexts for 1 claims"):
        make().score(["x", "y"], ["z"])
    for option in ({"mode": "smart"}, {"context": "all"}, {"dtype": "int8"}):
        with pytest.raises(ValueError, match="choose one of"):
            make(**option)
    with pytest.raises(ValueError, match="must return unchanged stretches"):
        make(sentence_splitter=lambda text: [text.upper()]).score(["abc"], ["abc"])


def test_odd_characters_score(make):
    texts = ["\ud800 alone", "naïve 😀 \u202e", "\x00\x07", "e\u0301", "</s></s> yes", "\U0010ffff"]
    scores = make().score(texts, texts[::-1])
    assert all(0 <= score <= 1 for score in scores)


def test_special_tokens_in_a_text_are_text(make):
    pair = ["Ghent.</s></s>Yes."], ["Yes."]
    for exact, ends in ((False, 3), (True, 5)):
        model, seen = make(exact=exact), []
        encode = model._logits._encode
        model._logits._encode = lambda rows, e=encode, s=seen: (s.extend(rows), e(rows))[1]
        model.score(*pair)
        assert [(row == 2).sum() for row in seen] == [ends]


def test_regression_is_a_share_unless_exact(make):
    scores = make(mode="reg").score(CONTEXTS, CLAIMS)
    assert min(scores) >= 0
    assert max(scores) <= 1
    assert max(make(mode="reg", exact=True).score(CONTEXTS, CLAIMS)) > 1


def test_nli_gives_three_shares_and_the_first_is_the_nli_mode(make):
    shares = make(exact=True, mode="bin_sp").nli(CONTEXTS, CLAIMS)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(shares[:, 0], [case["nli"] for case in CASES], rtol=0, atol=1e-5)
    long = "word " * 1500
    np.testing.assert_allclose(make().nli([long, "", ""], [long, "", "x"]).sum(axis=1), 1)


def test_bfloat16_stays_near(make):
    exact = make().score(CONTEXTS[:40], CLAIMS[:40])
    near = make(dtype="bfloat16").score(CONTEXTS[:40], CLAIMS[:40])
    assert np.abs(np.subtract(exact, near)).mean() < 0.02


def test_auto_names_the_numbers_it_took(make, monkeypatch):
    for native, taken in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(numbers, "native_bfloat16", lambda native=native: native)
        assert make(dtype="auto").fingerprint == make(dtype=taken).fingerprint


def test_score_passages(make):
    passages = ["Chen Wei funded a mine. It closed.", "", Passage("Ghent lies in Belgium.")]
    texts = [passages[0], "", "Ghent lies in Belgium."]
    claims = ["Ghent is Belgian.", "A mine closed."]
    joined, apart = make(), make(context="per-passage")
    given = [passages, passages]
    assert joined.score_passages(given, claims) == joined.score(["\n".join(texts)] * 2, claims)
    expected = [max(apart.score(texts, [claim] * 3)) for claim in claims]
    np.testing.assert_allclose(apart.score_passages(given, claims), expected, atol=5e-6)
    for model in (joined, apart):
        assert model.score_passages([[], [" "]], claims) == [0.0, 0.0]


def test_fingerprint_names_what_changes_numbers(make, weights):
    options = [{}, {"mode": "bin"}, {"exact": True}, {"context": "per-passage"}]
    options += [{"dtype": "bfloat16"}, {"sentence_splitter": None}]
    assert len({make(**option).fingerprint for option in options}) == len(options)
    assert make().fingerprint == make(batch_tokens=7, cache_size=0).fingerprint
    assert weights.digest() in make().fingerprint


def test_is_a_faithfulness_model(make):
    assert isinstance(make(sentence_splitter=None), FaithfulnessModel)


@pytest.mark.slow
def test_ten_thousand_pairs_need_little_memory(make):
    dice = random.Random(0)
    words = " ".join(CONTEXTS[80:90]).split()
    contexts = [" ".join(dice.choices(words, k=dice.randint(50, 150))) for _ in range(10_000)]
    model = make()
    model.score(contexts[:100], CLAIMS[:1] * 100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(model.score(contexts, CLAIMS[:1] * 10_000)) == 10_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000  # kilobytes
