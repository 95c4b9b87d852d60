"""Pieces that a server sends, and the text they spell."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.language_model.server.completions import Reported, UntrustworthyServerError
from franq_guard.language_model.server.pieces import spans_of
from franq_guard.language_model.server.probe import after, common_tokens
from franq_guard.language_model.server.tokens import ServerToken

pieces = st.lists(st.text(alphabet="ab .é日", min_size=1, max_size=4), min_size=1, max_size=12)


def told(*tokens):
    spans = [(a, b) for a, b, _ in tokens]
    return Reported(tuple(spans), tuple(ServerToken(b"x", p) for _, _, p in tokens))


@given(pieces)
def test_pieces_of_a_text_tile_it(parts):
    text = "".join(parts)
    spans = spans_of(parts, text)
    assert [text[a:b] for a, b in spans] == parts


@given(pieces, st.sampled_from(["<s>", "<|begin|>"]), st.sampled_from(["</s>", "<|end|>"]))
def test_tokens_around_a_text_get_empty_spans(parts, start, end):
    text = "".join(parts)
    spans = spans_of([start, *parts], text)
    assert spans[0] == (0, 0)
    assert [text[a:b] for a, b in spans[1:]] == parts
    spans = spans_of([*parts, end], text)
    assert spans[-1] == (len(text), len(text))


@given(pieces, st.text(alphabet="xyz", min_size=1, max_size=5))
def test_an_untold_first_token(parts, first):
    text = first + "".join(parts)
    spans = spans_of(parts, text, without_first=True)
    assert [text[a:b] for a, b in spans] == parts


words = st.sampled_from(["ab", " cd", "日", "é", "😀", "."])


@given(
    st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=10), st.sampled_from("\ufffd")
)
def test_parts_of_characters(written, unknown):
    """日 is 3 bytes, 😀 4: as tokens of one byte each they are sent as U+FFFD."""
    text = "start " + "".join(word for word, _ in written) + " end"
    parts, clear = ["start "], [True]
    for word, whole in written:
        split = not word.isascii() and not whole
        parts += [unknown] * len(word.encode()) if split else [word]
        clear += [False] * len(word.encode()) if split else [True]
    spans = spans_of([*parts, " end"], text)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    for piece, whole, (a, b) in zip(parts, clear, spans, strict=False):
        assert text[a:b] == piece if whole else not text[a:b].isascii() or a == b


def test_parts_at_the_ends_and_tokens_around():
    assert spans_of(["\ufffd", "\ufffd", " a"], "é a") == [(0, 0), (0, 1), (1, 3)]
    assert spans_of(["a ", "\ufffd", "\ufffd"], "a é") == [(0, 2), (2, 2), (2, 3)]
    assert spans_of(["<s>", "a ", "\ufffd", ""], "a é") == [(0, 0), (0, 2), (2, 2), (2, 3)]
    assert spans_of(["a ", "\ufffd", ".", "</s>"], "a é.")[:3] == [(0, 2), (2, 3), (3, 4)]
    # A token may hold a space and the first bytes of what follows it.
    assert spans_of(["a", " \ufffd", "\ufffd", " ok"], "a 😀 ok") == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 6),
    ]
    told = spans_of([" b", "\ufffd", "c"], "a béc", without_first=True)
    assert told == [(1, 3), (3, 4), (4, 5)]


@pytest.mark.parametrize(
    ("parts", "text"),
    [([], "ab"), (["a"], "ab"), (["b", "a"], "ab"), (["ab"], ""), (["ab", "\ufffd"], "xyzw")],
)
def test_other_pieces_are_refused(parts, text):
    assert spans_of(parts, text) is None


def test_what_follows_a_place():
    one = told((0, 3, -1.0), (3, 5, -2.0), (5, 6, -3.0))
    assert after(one, 3) == told((0, 2, -2.0), (2, 3, -3.0))
    assert after(one, 4) == told((0, 1, -2.0), (1, 2, -3.0))  # the token across belongs to it
    with pytest.raises(UntrustworthyServerError, match="beginning of a text"):
        after(one, 6)
    with pytest.raises(UntrustworthyServerError, match="beginning of a text"):
        after(told((4, 5, -1.0)), 3)


def test_only_the_same_tokens_after_the_same_are_compared():
    """Cut at 0 2 4 6 8 and at 0 2 3 4 6 8: [4, 6] follows another token, [2, 4] is another one."""
    one = told((0, 2, -1.0), (2, 4, -2.0), (4, 6, -3.0), (6, 8, -4.0))
    two = told((0, 2, -1.5), (2, 3, -9.0), (3, 4, -9.0), (4, 6, -9.0), (6, 8, -4.5))
    assert list(common_tokens(one, two)) == [(-1.0, -1.5), (-4.0, -4.5)]
