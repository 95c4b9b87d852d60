"""Evidence: the right stretch, inside one passage, at little cost."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.faithfulness import AlignScore
from franq_guard.faithfulness.alignscore.checkpoint import read_weights

WEIGHTS = read_weights(Path(__file__).parents[1] / "fixtures/alignscore/tiny-align.ckpt")
MODELS = {
    context: AlignScore(WEIGHTS, context=context, shortlist=None)
    for context in ("joined", "per-passage")
}
PASSAGES = [
    "  Chen Wei funded a mine. It closed in 1933.\n",
    "",
    "Ghent lies in Belgium. It has canals and towers! Trams run.",
]
CLAIMS = ["Ghent is Belgian.", "The mine closed. Trams run."]


def stretch(evidence, passages=PASSAGES):
    return passages[evidence.passage][evidence.start : evidence.end]


@pytest.mark.parametrize("context", MODELS)
def test_best_sentence_is_the_one_that_scores_best_alone(context):
    model = MODELS[context]
    sentences = [
        "Chen Wei funded a mine.",
        "It closed in 1933.",
        "Ghent lies in Belgium.",
        "It has canals and towers!",
        "Trams run.",
    ]
    for claim, support in zip(CLAIMS, model.support(PASSAGES, CLAIMS), strict=True):
        assert support is not None
        chunk, sentence = support.chunk, support.sentence
        inside = [s for s in sentences if context == "joined" or s in stretch(chunk)]
        scores = model.score(inside, [claim] * len(inside))
        assert stretch(sentence) == inside[int(np.argmax(scores))]
        assert sentence.score == pytest.approx(max(scores), abs=5e-6)
        assert chunk.passage == sentence.passage
        assert chunk.start <= sentence.start
        assert sentence.end <= chunk.end
        assert stretch(chunk) == stretch(chunk).strip() != ""


def test_per_passage_takes_the_chunk_of_the_best_passage():
    model = MODELS["per-passage"]
    for claim, support in zip(CLAIMS[:1], model.support(PASSAGES, CLAIMS[:1]), strict=True):
        scores = model.score(PASSAGES, [claim] * 3)
        assert support is not None
        assert support.chunk.passage == int(np.argmax(scores))
        assert support.chunk.score == pytest.approx(max(scores), abs=5e-6)


def test_evidence_is_the_sentence():
    model = MODELS["joined"]
    assert model.evidence(PASSAGES, CLAIMS) == [s.sentence for s in model.support(PASSAGES, CLAIMS)]


@pytest.mark.parametrize("context", MODELS)
def test_no_text_no_evidence(context):
    assert MODELS[context].evidence([" ", "\n"], CLAIMS) == [None, None]
    assert MODELS[context].evidence([], CLAIMS) == [None, None]


def test_a_blank_passage_is_never_the_evidence():
    # The clipped regression head scores many pairs 0, as a blank passage does.
    for exact in (False, True):
        model = AlignScore(WEIGHTS, context="per-passage", mode="reg", exact=exact)
        for found in model.support(
            [" ", *PASSAGES], [f"{claim} {i}" for claim in CLAIMS for i in range(9)]
        ):
            assert found is not None
            assert found.chunk.passage in (1, 3)


def test_a_sentence_that_runs_over_a_passages_end_is_cut_there():
    passages = ["the mine in Osaka", "closed down in 1933"]
    model = AlignScore(WEIGHTS, sentence_splitter=lambda text: [text])
    (found,) = model.evidence(passages, ["The mine closed."])
    assert found is not None
    assert stretch(found, passages) == passages[1]  # the longer part


def test_unpunctuated_text_gives_a_window():
    text = "the harbour town of Ghent has canals " * 300
    (found,) = MODELS["joined"].evidence([text], ["Ghent has canals."])
    assert found is not None
    assert 0 < found.end - found.start < len(text) / 2
    assert not text[found.start].isspace()


def test_shortlist_keeps_the_sentences_that_share_words():
    model = AlignScore(WEIGHTS, shortlist=1)
    (found,) = model.evidence(PASSAGES, ["Some trams still run there."])
    assert found is not None
    assert stretch(found) == "Trams run."


@pytest.mark.parametrize("context", ["joined", "per-passage"])
def test_after_a_score_only_sentences_are_new(context):
    model = AlignScore(WEIGHTS, context=context, shortlist=2)
    model.score_passages([PASSAGES], CLAIMS[:1])
    seen, encode = [], model._logits._encode
    model._logits._encode = lambda rows: (seen.extend(rows), encode(rows))[1]
    model.evidence(PASSAGES, CLAIMS[:1])
    assert len(seen) <= 2


texts = st.text(st.sampled_from("ab .!?\n\t\u00a0é😀\ud800</s>"), max_size=60)


@pytest.mark.parametrize("context", MODELS)
@settings(deadline=None, max_examples=60)
@given(passages=st.lists(texts, max_size=4), claim=texts.filter(str.strip))
def test_ranges_index_into_the_passages(context, passages, claim):
    (found,) = MODELS[context].support(passages, [claim])
    if found is None:
        assert not any(text.strip() for text in passages)
        return
    for evidence in (found.chunk, found.sentence):
        text = passages[evidence.passage]
        assert 0 <= evidence.start < evidence.end <= len(text)
        assert text[evidence.start : evidence.end].strip() == text[evidence.start : evidence.end]
        assert 0 <= evidence.score <= 1
