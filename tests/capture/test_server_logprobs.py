"""Log-probabilities that a server sends with its answer become tokens of the answer's text."""

import math
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard import Generation
from franq_guard.capture.server_logprobs import GrowingServerText, server_generation
from franq_guard.language_model.server.tokens import ServerToken, from_logprobs, from_response

ANSWER = "Ça va: 3 €."
# As a byte-level tokenizer splits it: the euro sign is spread over two tokens, sent as one.
PIECES = ["Ça".encode(), b" va", b":", b" 3", b" \xe2\x82", b"\xac", b"."]
SPANS = [(0, 2), (2, 5), (5, 6), (6, 8), (8, 10), (10, 11)]


def chat_raw(pieces, as_object=False):
    content = [
        {"token": p.decode(errors="replace"), "bytes": list(p), "logprob": -0.25 * i}
        for i, p in enumerate(pieces)
    ]
    if as_object:
        entries = [SimpleNamespace(**entry) for entry in content]
        choice = SimpleNamespace(logprobs=SimpleNamespace(content=entries))
        return SimpleNamespace(choices=[choice])
    return {"choices": [{"logprobs": {"content": content}}]}


def chat(*pieces):
    return from_logprobs(
        {"content": [{"token": t, "bytes": b, "logprob": p} for t, b, p in pieces]}
    )


def tokens_of(text, told):
    return server_generation(text, None, told).tokens


def spans_of(text, told):
    return [(token.start, token.end) for token in tokens_of(text, told)]


@pytest.mark.parametrize("as_object", [False, True])
def test_chat_log_probabilities_tile_the_text(as_object):
    tokens = tokens_of(ANSWER, from_response(chat_raw(PIECES, as_object)))
    assert [(t.start, t.end) for t in tokens] == SPANS
    assert [t.logprob for t in tokens] == [0, -0.25, -0.5, -0.75, -1 - 1.25, -1.5]


def test_chat_logprobs_become_tokens():
    told = chat(("The", None, -0.5), (" sky", None, -0.25), (".", None, 0.0))
    made = server_generation("The sky.", "prompt", told)
    assert (made.source, made.prompt) == ("server", "prompt")
    assert [(t.start, t.end, t.logprob) for t in made.tokens] == [
        (0, 3, -0.5),
        (3, 7, -0.25),
        (7, 8, 0.0),
    ]


def test_completion_log_probabilities():
    told = from_logprobs({"tokens": ["It", " is", "."], "token_logprobs": [None, -1.5, -9999.0]})
    first, second, third = tokens_of("It is.", told)
    assert (second.start, second.end, second.logprob) == (2, 5, -1.5)
    # The first token has none, and -9999 is how servers say that they do not know.
    assert math.isnan(first.logprob)
    assert math.isnan(third.logprob)


def test_a_character_cut_in_two_belongs_to_its_last_token():
    told = chat(("\\xc3", [0xC3], -1.0), ("\\xa9", [0xA9], -2.0), ("t", None, -3.0))
    assert spans_of("ét", told) == [(0, 0), (0, 1), (1, 2)]


def test_a_cut_character_in_the_middle_counts_with_the_part_before_it():
    told = [ServerToken(piece, -1.0) for piece in (b"\n", b"\xf0\x9f", b"\x98", b"\x80", b"!")]
    assert spans_of("😀!", told) == [(0, 0), (0, 0), (0, 1), (1, 2)]
    assert spans_of("!", told) == [(0, 1)]
    assert spans_of("\n", told) == [(0, 1)]


def test_an_answer_that_ended_within_a_character():
    told = [ServerToken(b"It is ", -1.0), ServerToken(b"\xe2\x82", -2.0)]
    assert spans_of("It is \ufffd", told) == [(0, 6), (6, 7)]


def test_a_stripped_answer_keeps_its_tokens_and_another_text_gets_none():
    told = from_response(chat_raw([b" It", b" is", b" so", b"\n"]))
    assert spans_of("It is so", told) == [(0, 2), (2, 5), (5, 8)]
    assert tokens_of("It was so", told) == ()
    assert tokens_of("", told) == ()


def test_what_follows_the_text_is_left_out():
    assert spans_of("A", chat(("A", None, -1.0), ("<end>", None, -0.1))) == [(0, 1)]
    # A stop string of several tokens, or those of a tool call.
    told = chat(("The sky.", None, -1.0), ("And more", None, -1.0), ("!", None, -1.0))
    assert spans_of("The sky.", told) == [(0, 8)]


@pytest.mark.parametrize(
    "told",
    [
        (),
        chat(("Other", None, -1.0)),
        chat(("The sky", None, -1.0)),
        from_logprobs(None),
        from_logprobs({"content": []}),
        from_logprobs({"tokens": ["The"], "token_logprobs": []}),
    ],
)
def test_log_probabilities_that_do_not_fit_the_text_are_not_used(told):
    assert server_generation("The sky.", "p", told) == Generation("The sky.", prompt="p")


def test_a_text_that_cannot_be_encoded_has_none():
    assert tokens_of("\ud83d", chat(("x", None, -1.0))) == ()


@given(st.text(min_size=1), st.lists(st.integers(1, 4)), st.text(max_size=3), st.text(max_size=3))
def test_server_tokens_tile_any_text(text, sizes, before, after):
    spelled, pieces = (before + text + after).encode("utf-8", "ignore"), []
    text = text.encode("utf-8", "ignore").decode()
    for size in [*sizes, len(spelled)]:
        pieces, spelled = [*pieces, spelled[:size]], spelled[size:]
    tokens = tokens_of(text, [ServerToken(piece, -1.0) for piece in pieces])
    assert "".join(text[t.start : t.end] for t in tokens) == text
    assert all(t.logprob == int(t.logprob) <= -1 for t in tokens)


@given(st.text(min_size=1, max_size=20), st.data())
def test_a_growing_answer_has_the_same_tokens_at_each_point(text, data):
    """However the bytes are cut into tokens, and how ever much of the text is asked for."""
    spelled = text.encode()
    cuts = data.draw(st.sets(st.integers(1, max(1, len(spelled) - 1))))
    bounds = [0, *sorted(cut for cut in cuts if cut < len(spelled)), len(spelled)]
    told = [ServerToken(spelled[a:b], -0.5, i) for i, (a, b) in enumerate(pairwise(bounds))]
    growing = GrowingServerText()
    for i, token in enumerate(told, 1):
        growing.add([token])
        known = b"".join(t.text for t in told[:i]).decode(errors="ignore")
        for upto in range(1, len(known) + 1):
            wanted = server_generation(known[:upto], "p", told[:i])
            assert growing.generation(known[:upto], "p") == wanted


def test_a_growing_answer_that_was_stripped_is_read_as_a_whole():
    growing = GrowingServerText()
    growing.add([ServerToken(b" It", -1.0, 1), ServerToken(b" is.", -2.0, 2)])
    assert growing.generation("It is.", None) == server_generation("It is.", None, growing.sent)
    assert growing.generation("", None) == Generation("")
