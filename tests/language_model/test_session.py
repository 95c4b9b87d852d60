"""An answer scored piece by piece against the same answer scored in one go."""

import math

import pytest
import torch

from franq_guard.language_model import TransformersModel, token_spans
from franq_guard.language_model.session import PlainSession, session_of
from franq_guard.records import Generation, Token
from franq_guard.testing import FakeLanguageModel

PROMPT = "How long is the river? "
TEXT = "The river rises in the northern hills and runs for ninety miles to the sea. Ein Fluß 😀."


@pytest.fixture(params=["llama", "gpt2"])
def model(request, make_llama, make_gpt2, byte_level):
    made = make_llama() if request.param == "llama" else make_gpt2(256)
    return TransformersModel(made, byte_level)


def answer(model, count, text=TEXT):
    """The first ``count`` tokens of the text."""
    ids = model.encoder.ids(text)[:count]
    part = model.encoder.text(ids)
    spans = token_spans(model.tokenizer, ids, part)
    tokens = (Token(i, a, b, math.nan) for i, (a, b) in zip(ids, spans, strict=True))
    return Generation(part, tuple(tokens))


def assert_equal(found, wanted):
    assert (found.text, found.prompt, found.prompt_token_ids, found.source) == (
        wanted.text,
        wanted.prompt,
        wanted.prompt_token_ids,
        wanted.source,
    )
    assert len(found.tokens) == len(wanted.tokens)
    for a, b in zip(found.tokens, wanted.tokens, strict=True):
        assert (a.id, a.start, a.end) == (b.id, b.start, b.end)
        assert a.logprob == pytest.approx(b.logprob, abs=1e-4)
        assert a.entropy == pytest.approx(b.entropy, abs=1e-4)
        assert [p for _, p in a.top] == pytest.approx([p for _, p in b.top], abs=1e-4)


@pytest.mark.parametrize("steps", [[1, 2, 3], [5, 6, 40, 41], [60], [7, 7, 30], [30, 7, 20]])
def test_pieces_equal_the_whole(model, steps):
    session = model.session(PROMPT)
    for count in steps:
        given = answer(model, count)
        assert_equal(session.score(given), model.score([PROMPT], [given])[0])


def test_each_token_is_read_once(model, monkeypatch):
    read = []
    original = type(model.network).logits_at

    def counted(self, ids, *rest):
        read.append(ids.shape[1])
        return original(self, ids, *rest)

    session = model.session(PROMPT)
    session.score(answer(model, 10))
    monkeypatch.setattr(type(model.network), "logits_at", counted)
    session.score(answer(model, 25))
    session.score(answer(model, 25))
    assert read == [15]  # the tenth, which had not been an input yet, to the last but one


def test_an_answer_that_changes_its_mind_is_read_from_there(model):
    session = model.session(PROMPT)
    session.score(answer(model, 20))
    other = answer(model, 20, "The river rises in the old town; some came there by ship.")
    assert_equal(session.score(other), model.score([PROMPT], [other])[0])


def test_a_text_without_ids_is_tokenised_after_the_prompt(model):
    session = model.session(PROMPT)
    for text in ("It is", "It is long", "It is long."):
        given = Generation(text)
        assert_equal(session.score(given), model.score([PROMPT], [given])[0])


def test_beyond_the_window_all_is_read_anew(make_llama, byte_level):
    model = TransformersModel(make_llama(window=64), byte_level)
    session = model.session(PROMPT)
    for count in (20, 60, 70):
        given = answer(model, count)
        assert_equal(session.score(given), model.score([PROMPT], [given])[0])


def test_a_cache_that_cannot_be_continued(model, monkeypatch):
    prefill = type(model.network).prefill
    monkeypatch.setattr(
        type(model.network), "prefill", lambda self, ids: (prefill(self, ids)[0], None)
    )
    session = model.session(PROMPT)
    for count in (10, 25):
        given = answer(model, count)
        assert_equal(session.score(given), model.score([PROMPT], [given])[0])


def test_closed_it_begins_anew(model):
    session = model.session(PROMPT)
    session.score(answer(model, 10))
    session.close()
    given = answer(model, 12)
    assert_equal(session.score(given), model.score([PROMPT], [given])[0])


def test_no_tokens(model):
    assert model.session(PROMPT).score(Generation("")).tokens == ()


def test_models_without_a_session_score_the_whole():
    model = FakeLanguageModel()
    session = session_of(model, "a river")
    assert isinstance(session, PlainSession)
    assert (
        session.score(Generation("a town")) == model.score(["a river"], [Generation("a town")])[0]
    )
    session.close()


def test_another_thread_may_go_on_with_it(model):
    from concurrent.futures import ThreadPoolExecutor

    session = model.session(PROMPT)
    session.score(answer(model, 10))
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(session.score, answer(model, 20)).result()
    torch.testing.assert_close(
        torch.tensor([t.logprob for t in found.tokens]),
        torch.tensor([t.logprob for t in model.score([PROMPT], [answer(model, 20)])[0].tokens]),
        atol=1e-4,
        rtol=0,
    )
