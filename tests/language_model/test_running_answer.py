"""An answer that is still being written: the same text and tokens, and each token decoded once."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.language_model import Recorder
from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.transformers.recorded_answer import RecordedAnswer
from franq_guard.language_model.transformers.recorded_call import Row
from franq_guard.language_model.transformers.running_answer import RunningAnswer
from franq_guard.language_model.transformers.token_scores import TokenScores

PROMPT = (3, 4, 5)
TEXTS = [
    "The river rises in the hills, and runs to the sea.",
    "Ein Fluß 😀👩‍👧 fließt, où l'été est",
    "\n\n  日本 と \ufffd \ufffd\ufffd\ufffd\ufffd\ufffd and more  ",
]


class Call:
    """A call of ``generate`` that has written the first ``known`` of some ids."""

    def __init__(self, ids):
        steps = torch.arange(len(ids))
        top = torch.stack([steps, steps + 1], dim=1)
        self.ids, self.known = tuple(ids), len(ids)
        self.scores = TokenScores(-steps / 8, steps / 4, top, -top / 2)

    def so_far(self, since=0):
        if self.known <= since:
            return []
        new = slice(since, self.known)
        return [Row(PROMPT, self.ids[new], self.scores.rows(new))]


class Counting:
    """A tokeniser that counts the ids it is asked about."""

    def __init__(self, inner):
        self.inner, self.asked = inner, 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def __call__(self, *args, **kwargs):
        return self.inner(*args, **kwargs)

    def decode(self, ids, **kwargs):
        self.asked += len(ids)
        return self.inner.decode(ids, **kwargs)

    def convert_ids_to_tokens(self, ids):
        self.asked += len(ids)
        return self.inner.convert_ids_to_tokens(ids)


def complete(encoder, ids):
    """The answer up to the last complete character."""
    upto = len(ids)
    while upto and encoder.text(ids[:upto]).endswith("\ufffd"):
        upto -= 1
    return upto


def spans(generation):
    return [(t.id, t.start, t.end) for t in generation.tokens if t.end > t.start]


def assert_same_at_every_part(tokenizer, ids, ends):
    """At each of the ``ends`` both ways find the same of any beginning of the text."""
    encoder, call = Encoder(tokenizer, None), Call(ids)
    running = RunningAnswer(encoder, call, PROMPT)
    for end in ends:
        call.known = upto = complete(encoder, ids[:end])
        if end - upto > 3:
            continue  # no character has so many bytes
        whole = RecordedAnswer(encoder, *call.so_far()[0]) if upto else None
        call.known = end
        text = whole.text if whole else ""
        for said in (text, text.strip(), text[: len(text) * 2 // 3], f" {text.strip()}", text[1:]):
            if not said.strip():
                continue
            rank = whole.rank(said, sure=True) if whole else None
            assert (running.rank(said, sure=True) is None) == (rank is None), said
            if upto == end:
                assert running.rank(said, sure=True) == rank, said
            if rank is not None:
                found = running.as_text(said)
                assert spans(found) == spans(whole.as_text(said)), said
                assert found == whole.as_text(said) or upto < end, said
    assert running.rank("no such text", sure=True) is None


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("text", TEXTS)
def test_text_and_spans_are_those_of_the_whole(any_tokenizer, text, size):
    ids = any_tokenizer(text, add_special_tokens=False).input_ids
    assert_same_at_every_part(any_tokenizer, ids, range(1, len(ids) + 1, size))


@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_any_ids_in_any_parts(any_tokenizer, data):
    """A model may write any ids: broken characters, special tokens, nothing but bytes."""
    ids = data.draw(st.lists(st.integers(0, len(any_tokenizer) - 1), min_size=1, max_size=20))
    ends = data.draw(st.lists(st.integers(1, len(ids)), min_size=1, max_size=6))
    assert_same_at_every_part(any_tokenizer, ids, sorted(ends))


def test_a_byte_without_its_rest_hides_nothing_before_it(sentencepiece):
    """<0x00> and <0x80> decode as two broken characters, though <0x00> alone is one that is not."""
    zero, rest = sentencepiece.convert_tokens_to_ids(["<0x00>", "<0x80>"])
    ids = [zero, rest, sentencepiece.convert_tokens_to_ids("'"), zero, rest]
    assert_same_at_every_part(sentencepiece, ids, [5])


class Reader:
    """A streamer that looks up the answer so far after every few tokens, as a stream of claims."""

    def __init__(self, recorder, tokenizer, prompt):
        self.recorder, self.tokenizer, self.prompt = recorder, tokenizer, prompt
        self.ids, self.found = [], []

    def put(self, value):
        if value.numel() > 1:  # the prompt
            return
        self.ids.append(int(value))
        if len(self.ids) % 5 == 0:
            said = self.tokenizer.decode(self.ids[:-2]).rstrip("\ufffd")
            self.found.append((said, self.recorder.find(said, prompt=self.prompt)))

    def end(self):
        pass


def test_each_token_is_decoded_only_while_it_is_new(make_llama, byte_level):
    """240 tokens in 48 parts: to decode the whole answer at each would be 5,900 ids and more."""
    net, counting, prompt = make_llama(512), Counting(byte_level), "How long is the river?"
    recorder = Recorder.attach(net, counting)
    reader = Reader(recorder, byte_level, prompt)
    inputs = byte_level(prompt, return_tensors="pt")
    torch.manual_seed(1)
    net.generate(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask,
        max_new_tokens=240,
        do_sample=True,
        eos_token_id=None,
        pad_token_id=0,
        streamer=reader,
    )
    assert len(reader.found) == 48
    for said, found in reader.found:
        assert found.text == said
        assert found.source == "captured"
        assert [t.id for t in found.tokens] == reader.ids[: len(found.tokens)]
    # New tokens: decoded, their pieces looked up; a few before them for their context.
    # 48 times the whole: 5,900 ids to decode and as many to look up.
    assert counting.asked < 20 * 240


def test_tokens_before_a_stripped_answer_are_left_out(byte_level):
    """With an empty span they would count to the first claim."""
    blanks, words = (byte_level(text).input_ids for text in ("\n\n", "the river"))
    ids = (*blanks, *words, byte_level.eos_token_id)
    zeros = torch.zeros(len(ids))
    kept = TokenScores(zeros, zeros, torch.zeros(len(ids), 0), torch.zeros(len(ids), 0))
    record = RecordedAnswer(Encoder(byte_level, None), (5,), ids, kept)
    found = record.as_text("the river")
    assert [t.id for t in found.tokens] == [*words, byte_level.eos_token_id]
    assert "".join(found.text[t.start : t.end] for t in found.tokens) == found.text
