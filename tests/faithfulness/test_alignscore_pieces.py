"""What AlignScore is built of: chunks, windows, truncation, the dense layer, splitters."""

import re
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from franq_guard.basics.text import without_surrogates
from franq_guard.faithfulness.alignscore.chunks import (
    chunks,
    default_splitter,
    punkt,
    sentence_spans,
    sentencex,
    splitter_name,
    whole,
)
from franq_guard.faithfulness.alignscore.linear import Linear
from franq_guard.faithfulness.alignscore.pair_grid import _longest_first, stretches, windows

TOKENIZER = Path(__file__).parents[1] / "fixtures/alignscore/tiny-roberta/tokenizer.json"

texts = st.text(st.sampled_from("ab .!?\n\t\u00a0é😀"), max_size=200)


def regex_split(text):
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def original_chunks(sentences, word_count, words):
    """The original's rule in its own order of steps, on strings."""
    sentences = sentences or [""]
    size = max(len(sentences) // (word_count // words + 1), 1)
    return [" ".join(sentences[i : i + size]) for i in range(0, len(sentences), size)]


@pytest.mark.parametrize("splitter", [regex_split, sentencex])
@settings(deadline=None)
@given(text=texts, words=st.integers(1, 8))
def test_chunks_are_the_originals_and_know_their_place(splitter, text, words):
    found = chunks(text, splitter, words=words)
    expected = original_chunks(list(splitter(text)), len(text.split()), words)
    assert [chunk.text for chunk in found] == expected
    spans = [span for chunk in found for span in chunk.spans]
    assert [text[a:b] for a, b in spans] == list(splitter(text))
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    # Nothing but blanks is left out.
    outside = "".join(
        text[a:b]
        for a, b in zip(
            [0, *[e for _, e in spans]], [*[s for s, _ in spans], len(text)], strict=True
        )
    )
    assert not outside.strip()


@given(text=texts, data=st.data())
def test_a_stretch_of_a_chunk_is_found_in_the_text(text, data):
    for chunk in [*chunks(text, regex_split, words=3), whole(text)]:
        if not chunk.text:
            continue
        start = data.draw(st.integers(0, len(chunk.text) - 1))
        end = data.draw(st.integers(start, len(chunk.text)))
        a, b = chunk.source(start, end)
        assert 0 <= a <= b <= len(text)
        # Sentences are joined by one blank, whatever stood between them.
        wanted, got = chunk.text[start:end].split(), text[a:b].split()
        if start < end and not chunk.text[start].isspace() and not chunk.text[end - 1].isspace():
            assert wanted == got


def test_by_hand():
    # 4 sentences, 9 words, 4 words a chunk: 9 // 4 + 1 = 3 parts, 4 // 3 = 1 sentence each.
    text = "A b c.  D e. F g. H i."
    assert [c.text for c in chunks(text, regex_split, words=4)] == [
        "A b c.",
        "D e.",
        "F g.",
        "H i.",
    ]
    # 9 // 5 + 1 = 2 parts of 2.
    two = chunks(text, regex_split, words=5)
    assert [c.text for c in two] == ["A b c. D e.", "F g. H i."]
    assert two[0].spans == ((0, 6), (8, 12))
    assert two[0].source(0, 11) == (0, 12)
    assert two[1].source(3, 8) == (16, 21)


def test_lone_surrogates_go_and_the_length_stays():
    assert without_surrogates("a\ud83d\ude00b\udfff") == "a\ufffd\ufffdb\ufffd"


def test_repeated_sentences_are_found_one_after_the_other():
    assert sentence_spans("No. No. No.", regex_split) == [(0, 3), (4, 7), (8, 11)]


word_starts = st.lists(st.integers(0, 3000), max_size=200, unique=True).map(
    lambda found: np.array(sorted(found), dtype=np.int32)
)


@given(more=st.integers(1, 3000), room=st.integers(1, 508), words=word_starts)
def test_windows_cover_and_fit(more, room, words):
    length = room + more
    spans = windows(length, room, words)
    assert spans[0][0] == 0
    assert spans[-1][1] == length
    assert all(end - start <= room for start, end in spans)
    assert all(a[0] < b[0] <= a[1] < b[1] for a, b in pairwise(spans))
    if room >= 16:
        assert len(spans) <= max(1, 1.7 * length / room + 1)


@given(more=st.integers(1, 3000), limit=st.integers(1, 254), words=word_starts)
def test_stretches_tile_and_fit(more, limit, words):
    length = limit + more
    spans = stretches(length, limit, words)
    assert [start for start, _ in spans] == [0, *[end for _, end in spans[:-1]]]
    assert spans[-1][1] == length
    assert all(end - start <= limit for start, end in spans)
    assert all(start < end for start, end in spans)


@given(n=st.integers(0, 40), m=st.integers(0, 40))
def test_longest_first_is_the_tokenizers_library_own(n, m):
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(25, strategy="longest_first")
    ids = tokenizer.encode(" the" * n, " in" * m).ids
    the, within = tokenizer.token_to_id("Ġthe"), tokenizer.token_to_id("Ġin")
    kept = (ids.count(the), ids.count(within))
    assert _longest_first(n, m, 25 - 4) == kept


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("rows", [1, 7, 300])
def test_packed_product_is_the_plain_one(dtype, gelu, rows):
    torch.manual_seed(0)
    weight, bias = torch.randn(48, 32).to(dtype), torch.randn(48).to(dtype)
    x = torch.randn(rows, 32).to(dtype)
    plain = Linear(weight, bias, pack=False)(x, gelu=gelu)
    packed = Linear(weight, bias)(x, gelu=gelu)
    tolerance = 1e-5 if dtype is torch.float32 else 0.1
    torch.testing.assert_close(packed, plain, rtol=0, atol=tolerance)


def test_without_the_packed_operators_the_plain_product_serves(monkeypatch):
    monkeypatch.setattr(torch.ops, "mkldnn", types.SimpleNamespace())
    weight = torch.eye(3)
    assert Linear(weight, torch.ones(3))(torch.zeros(2, 3)).tolist() == [[1.0] * 3] * 2


def test_default_splitter_is_punkt_where_its_data_is(monkeypatch):
    tokenize = types.ModuleType("nltk.tokenize")

    def missing(text):
        raise LookupError("punkt_tab")

    tokenize.sent_tokenize = missing
    monkeypatch.setitem(sys.modules, "nltk.tokenize", tokenize)
    assert default_splitter() is sentencex
    tokenize.sent_tokenize = str.split
    assert default_splitter() is punkt
    assert punkt("a b") == ["a", "b"]


def test_splitter_names():
    assert splitter_name(punkt) == "punkt"
    assert splitter_name(sentencex) == "sentencex"
    assert splitter_name(regex_split).endswith("test_alignscore_pieces.regex_split")
    assert splitter_name(str.split) == "builtins.str.split"

    class Custom:
        fingerprint = "custom-3"

        def __call__(self, text):
            return [text]

    assert splitter_name(Custom()) == "custom-3"


def test_sentencex_knows_abbreviations():
    text = " Dr. Smith paid 3.5 million.\nIt sank. "
    assert sentencex(text) == ["Dr. Smith paid 3.5 million.", "It sank."]
