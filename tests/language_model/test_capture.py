"""The recorder: the user's generation unchanged, its tokens' log-probabilities found by content."""

import copy
import logging
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import torch
from transformers import LogitsProcessor, LogitsProcessorList, TextIteratorStreamer

from franq_guard.language_model import Recorder, TransformersModel
from franq_guard.language_model.transformers.recorder import _OPEN
from franq_guard.language_model.transformers.step_keeper import StepKeeper

from .wrappers import LoraAround, compiled

PROMPT = "How long is the river?"


@pytest.fixture
def net(make_llama):
    return make_llama()


@pytest.fixture
def recorder(net, byte_level):
    return Recorder.attach(net, byte_level)


def ids_of(tokenizer, *prompts):
    rows = [tokenizer(p).input_ids for p in prompts]
    width = max(map(len, rows))
    pad = tokenizer.eos_token_id
    return {
        "input_ids": torch.tensor([[pad] * (width - len(r)) + r for r in rows]),
        "attention_mask": torch.tensor([[0] * (width - len(r)) + [1] * len(r) for r in rows]),
        "pad_token_id": pad,
    }


def texts_of(tokenizer, out, inputs):
    answers = out[:, inputs["input_ids"].shape[1] :]
    return [tokenizer.decode(row, skip_special_tokens=True) for row in answers]


def assert_tiles(generation):
    ends = [0, *(t.end for t in generation.tokens)]
    assert [t.start for t in generation.tokens] == ends[:-1]
    assert ends[-1] == len(generation.text)


def assert_raw(net, reference, found):
    """What was captured is the model's own distribution after the recorded prompt."""
    assert found.source == "captured"
    assert_tiles(found)
    rows = reference(net, found.prompt_token_ids, [t.id for t in found.tokens])
    for token, row in zip(found.tokens, rows, strict=True):
        assert token.logprob == pytest.approx(float(row[token.id]), abs=1e-4)
        assert token.entropy == pytest.approx(float(-(row.exp() * row).sum()), abs=1e-3)
        # By their values: equals to the last digits may stand in either order.
        top = [i for i, _ in token.top]
        assert len(set(top)) == 5
        assert row[top].tolist() == pytest.approx(row.topk(5).values.tolist(), abs=1e-4)


PLAIN = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 0.7, "top_k": 10, "top_p": 0.9},
    "repetition penalty": {"repetition_penalty": 1.7},
    "no repeated n-grams": {"no_repeat_ngram_size": 2},
    "at least so many tokens": {"min_new_tokens": 6},
    "bad words": {"bad_words_ids": [[40], [41, 42]]},
    "several per prompt": {"do_sample": True, "num_return_sequences": 3},
    "as a dictionary": {"return_dict_in_generate": True, "output_scores": True},
    "contrast of nothing": {"guidance_scale": 1.5},
}


@pytest.mark.parametrize("how", PLAIN)
def test_raw_log_probabilities_however_it_was_decoded(net, byte_level, recorder, reference, how):
    inputs = ids_of(byte_level, PROMPT, "x")
    out = net.generate(**inputs, max_new_tokens=8, **PLAIN[how])
    out = out if torch.is_tensor(out) else out.sequences
    prompts = [p for p in (PROMPT, "x") for _ in range(len(out) // 2)]
    for text, prompt in zip(texts_of(byte_level, out, inputs), prompts, strict=True):
        found = recorder.find(text, prompt)
        assert found.text == text
        assert found.prompt == prompt
        assert found.prompt_token_ids == tuple(byte_level(prompt).input_ids)
        assert_raw(net, reference, found)


@pytest.mark.parametrize(
    "how", [{"num_beams": 3}, {"prompt_lookup_num_tokens": 2}, {"assistant": True}]
)
def test_ids_alone_where_steps_are_not_rows(net, make_llama, byte_level, recorder, how):
    inputs = ids_of(byte_level, "the river the river the river the")
    if how == {"assistant": True}:
        how = {"assistant_model": make_llama()}
    out = net.generate(**inputs, max_new_tokens=8, **how)
    [text] = texts_of(byte_level, out, inputs)
    found = recorder.find(text)
    assert found.source == "none"
    assert all(math.isnan(t.logprob) for t in found.tokens)
    assert_tiles(found)
    [scored] = TransformersModel(net, byte_level).score([found.prompt_token_ids], [found])
    assert all(math.isfinite(t.logprob) for t in scored.tokens)


def test_the_generation_itself_is_unchanged(make_llama, byte_level):
    plain, recorded = make_llama(), make_llama()
    Recorder.attach(recorded, byte_level)
    inputs = ids_of(byte_level, PROMPT, "x")
    for how in PLAIN.values():
        outs = []
        for net in (plain, recorded):
            torch.manual_seed(1)
            out = net.generate(**inputs, max_new_tokens=8, **how)
            outs.append(out if torch.is_tensor(out) else out.sequences)
        assert torch.equal(*outs)


def test_arguments_by_position_and_processors_of_the_user(net, byte_level, recorder, reference):
    class Never(LogitsProcessor):
        def __call__(self, input_ids, scores):
            scores[:, :200] = -math.inf
            return scores

    inputs = ids_of(byte_level, PROMPT)
    theirs = LogitsProcessorList([Never()])
    out = net.generate(inputs["input_ids"], None, theirs, max_new_tokens=5, pad_token_id=1)
    assert len(theirs) == 1
    [text] = texts_of(byte_level, out, inputs)
    assert_raw(net, reference, recorder.find(text))


def test_an_answer_ends_at_its_end_token_and_padding_is_left_out(net, byte_level, recorder):
    inputs = ids_of(byte_level, PROMPT, "x")
    free = net.generate(**inputs, max_new_tokens=8)[:, inputs["input_ids"].shape[1] :]
    end = int(free[0, 3])
    length = free[0].tolist().index(end) + 1
    out = net.generate(**inputs, max_new_tokens=8, eos_token_id=end)
    text = texts_of(byte_level, out[:1, : inputs["input_ids"].shape[1] + length], inputs)[0]
    found = recorder.find(text, PROMPT)
    assert [t.id for t in found.tokens] == free[0, :length].tolist()


def test_a_stream_is_recorded_before_its_end_is_seen(net, byte_level, recorder, reference):
    inputs = ids_of(byte_level, PROMPT)
    streamer = TextIteratorStreamer(byte_level, skip_prompt=True, timeout=20)
    thread = threading.Thread(
        target=net.generate, kwargs={**inputs, "max_new_tokens": 12, "streamer": streamer}
    )
    thread.start()
    text = "".join(streamer)
    found = recorder.find(text, PROMPT)  # at once, before generate has returned
    thread.join()
    assert found.text == text
    assert_raw(net, reference, found)
    assert len(recorder) == 1


def test_four_threads_at_once(net, byte_level, recorder, reference):
    prompts = [f"{word} river?" for word in ("How long is the", "Whose", "Which", "x")]
    texts = {}

    def run(prompt):
        inputs = ids_of(byte_level, prompt)
        out = net.generate(**inputs, max_new_tokens=20, do_sample=True)
        texts[prompt] = texts_of(byte_level, out, inputs)[0]

    threads = [threading.Thread(target=run, args=(p,)) for p in prompts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for prompt in prompts:
        found = recorder.find(texts[prompt], prompt)
        assert found.prompt == prompt
        assert_raw(net, reference, found)


def test_only_the_last_answers_are_kept(make_llama, byte_level):
    net = make_llama()
    recorder = Recorder.attach(net, byte_level, capacity=3)
    texts = []
    for n in range(5):
        inputs = ids_of(byte_level, f"{n} miles")
        texts += texts_of(byte_level, net.generate(**inputs, max_new_tokens=6), inputs)
    assert len(recorder) == 3
    assert recorder.find(texts[0], "0 miles") is None
    assert recorder.find(texts[4], "4 miles") is not None
    inputs = ids_of(byte_level, "4 miles")
    net.generate(**inputs, max_new_tokens=6)  # the same again takes no second place
    assert len(recorder) == 3


def test_no_step_keeps_the_prompt_in_memory(net, byte_level):
    """Or a long answer would hold as many copies of its long prompt as it has tokens."""
    keeper = StepKeeper(top_k=1)
    net.generate(
        **ids_of(byte_level, "one more " * 20),
        max_new_tokens=6,
        eos_token_id=None,
        logits_processor=LogitsProcessorList([keeper]),
    )
    kept = [chosen.untyped_storage().nbytes() for chosen in keeper._chosen]
    assert kept == [8] * 5  # one id of 64 bits a step; the last one has no step after it


class TestAttach:
    def test_once_per_model_and_taken_off_again(self, net, byte_level):
        before = set(vars(net))
        recorder = Recorder.attach(net, byte_level)
        assert Recorder.attach(net, byte_level) is recorder
        recorder.detach()
        recorder.detach()
        assert set(vars(net)) == before
        net.generate(**ids_of(byte_level, PROMPT), max_new_tokens=2)
        assert len(recorder) == 0

    def test_threads_that_attach_at_once_get_the_same(self, net, byte_level, monkeypatch):
        both, make = threading.Barrier(2), Recorder.__init__

        def make_together(self, *args, **options):
            make(self, *args, **options)
            with suppress(threading.BrokenBarrierError):
                both.wait(0.3)  # for the other thread, unless that waits for this one

        monkeypatch.setattr(Recorder, "__init__", make_together)
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(lambda _: Recorder.attach(net, byte_level), range(2))
        assert one is two
        net.generate(**ids_of(byte_level, PROMPT), max_new_tokens=2)
        assert len(one) == 1

    def test_a_generate_of_the_user_s_own_is_put_back(self, net, byte_level):
        calls = []
        own = net.generate

        def generate(*args, **kwargs):
            calls.append(1)
            return own(*args, **kwargs)

        net.generate = generate
        recorder = Recorder.attach(net, byte_level)
        inputs = ids_of(byte_level, PROMPT)
        [text] = texts_of(byte_level, net.generate(**inputs, max_new_tokens=4), inputs)
        assert recorder.find(text).source == "captured"
        assert calls == [1]
        recorder.detach()
        assert net.generate is generate

    def test_a_copied_model_still_generates(self, net, byte_level, recorder, reference):
        other = copy.deepcopy(net)
        with torch.no_grad():
            other.lm_head.weight.add_(torch.randn_like(other.lm_head.weight))
        inputs = ids_of(byte_level, PROMPT)
        [text] = texts_of(byte_level, other.generate(**inputs, max_new_tokens=4), inputs)
        assert_raw(other, reference, recorder.find(text))

    def test_a_model_that_is_recorded_can_be_pickled_and_takes_no_answer_along(
        self, net, byte_level, recorder, reference
    ):
        inputs = ids_of(byte_level, PROMPT)
        [text] = texts_of(byte_level, net.generate(**inputs, max_new_tokens=4), inputs)
        other = pickle.loads(pickle.dumps(net))
        known = Recorder.attach(other, byte_level)
        assert (len(known), len(recorder)) == (0, 1)
        assert texts_of(byte_level, other.generate(**inputs, max_new_tokens=4), inputs) == [text]
        assert_raw(other, reference, known.find(text, PROMPT))
        known.detach()
        assert "generate" not in vars(other)
        assert "generate" in vars(net)

    @pytest.mark.parametrize("wrap", [compiled, LoraAround])
    def test_a_model_with_something_around_it(self, net, byte_level, reference, wrap):
        around = wrap(net)
        recorder = Recorder.attach(around, byte_level)
        assert Recorder.attach(net, byte_level) is recorder
        inputs = ids_of(byte_level, PROMPT)
        [text] = texts_of(byte_level, around.generate(**inputs, max_new_tokens=4), inputs)
        assert_raw(net, reference, recorder.find(text))

    def test_an_encoder_decoder_is_refused(self, byte_level):
        class Fake:
            pass

        fake = Fake()
        fake.config = Fake()
        fake.config.is_encoder_decoder = True
        with pytest.raises(ValueError, match="causal"):
            Recorder.attach(fake, byte_level)


class TestFailures:
    def test_an_error_of_generate_is_the_user_s(self, net, byte_level, recorder):
        class Broken(LogitsProcessor):
            def __call__(self, input_ids, scores):
                raise RuntimeError("theirs")

        with pytest.raises(RuntimeError, match="theirs"):
            net.generate(
                **ids_of(byte_level, PROMPT), logits_processor=[Broken()], max_new_tokens=2
            )
        with pytest.raises(TypeError):
            net.generate(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
        assert len(recorder) == 0
        assert set(vars(recorder)) == set(vars(Recorder(net, byte_level)))

    @pytest.mark.parametrize("place", ["StepKeeper.__call__", "StepKeeper.finish", "Encoder.text"])
    def test_an_error_of_ours_is_not(self, net, byte_level, recorder, monkeypatch, caplog, place):
        from franq_guard.language_model import encoding
        from franq_guard.language_model.transformers import step_keeper

        def broken(*args, **kwargs):
            raise RuntimeError("ours")

        kind, method = place.split(".")
        owner = getattr(step_keeper if kind == "StepKeeper" else encoding, kind)
        monkeypatch.setattr(owner, method, broken)
        inputs = ids_of(byte_level, PROMPT)
        with caplog.at_level(logging.WARNING):
            out = net.generate(**inputs, max_new_tokens=4)
        assert out.shape[1] == inputs["input_ids"].shape[1] + 4
        monkeypatch.undo()
        found = recorder.find(texts_of(byte_level, out, inputs)[0])
        expected = "captured" if place == "Encoder.text" else "none"  # the ids are still known
        assert found.source == expected

    def test_a_broken_start_leaves_generate_alone(self, net, byte_level, recorder, monkeypatch):
        monkeypatch.setattr(Recorder, "start", lambda *a: 1 / 0)
        out = net.generate(**ids_of(byte_level, PROMPT), max_new_tokens=4)
        assert out.shape[0] == 1
        assert len(recorder) == 0

    def test_logits_that_are_not_numbers(self, net, byte_level, recorder):
        with torch.no_grad():
            net.lm_head.weight[7] = math.nan
            net.lm_head.weight[8] = math.inf
        inputs = ids_of(byte_level, PROMPT)
        out = net.generate(**inputs, max_new_tokens=4)
        found = recorder.find(texts_of(byte_level, out, inputs)[0])
        assert found is None or all(math.isnan(t.logprob) for t in found.tokens)


@pytest.fixture(scope="module")
def answered(smollm):
    recorder = Recorder.attach(smollm.model, smollm.tokenizer)
    inputs = smollm.tokenizer("The capital of France is", return_tensors="pt")
    out = smollm.model.generate(**inputs, max_new_tokens=14, min_new_tokens=14)
    recorder.detach()
    text = smollm.tokenizer.decode(out[0, inputs["input_ids"].shape[1] :])
    return recorder, text


class TestFind:
    """By content: the text itself, stripped, cut, contained, or behind its prompt."""

    def test_equal_stripped_and_spaced(self, answered):
        recorder, text = answered
        whole = recorder.find(text)
        for form in (text, text.strip(), f"\n {text.strip()}\n\n"):
            found = recorder.find(form)
            assert found.text == form
            assert_tiles(found)
            assert [t.logprob for t in found.tokens] == [t.logprob for t in whole.tokens]

    @pytest.mark.parametrize("end", [4, 9, 15])
    def test_cut_at_a_stop_string(self, answered, end):
        recorder, text = answered
        found = recorder.find(text[:end], "The capital of France is")
        assert_tiles(found)
        assert recorder.find(text[:end]) is None  # too short to be more than chance
        whole = recorder.find(text)
        kept = [t for t in whole.tokens if t.start < end]
        assert [t.logprob for t in found.tokens] == [t.logprob for t in kept]

    def test_with_other_white_space(self, answered):
        recorder, text = answered
        form = text.replace(" ", "\n  ").replace(",", " ,")
        found = recorder.find(form)
        assert found.text == form
        assert_tiles(found)
        whole = recorder.find(text)
        for token, same in zip(found.tokens, whole.tokens, strict=True):
            assert token.logprob == same.logprob
            assert form[token.start : token.end].split() == text[same.start : same.end].split()

    def test_a_part(self, answered):
        recorder, text = answered
        middle = text[3:-4]
        assert len(middle) >= 16
        found = recorder.find(middle)
        assert_tiles(found)
        assert found.text == middle
        written = [t for t in recorder.find(text).tokens if t.end > 3 and t.start < len(text) - 4]
        assert [t.id for t in found.tokens] == [t.id for t in written]
        assert recorder.find(text[5:12]) is None  # too short to be more than chance

    def test_what_stands_behind_the_thoughts(self, answered):
        """A short answer, found by the prompt; the tokens are those of its last place."""
        recorder, text = answered
        last = text.split()[-1]
        assert len(last) < 16
        found = recorder.find(last, "The capital of France is")
        assert found.text == last
        assert_tiles(found)
        start = len(text.rstrip()) - len(last)
        written = [t for t in recorder.find(text).tokens if t.end > start and t.end > t.start]
        assert [t.logprob for t in found.tokens] == [t.logprob for t in written]
        assert recorder.find(last) is None  # too short to be more than chance

    def test_behind_its_prompt(self, answered):
        recorder, text = answered
        for prompt in ("The capital of France is", " The capital of France is"):
            given = prompt + text
            found = recorder.find(given)
            assert given.endswith(found.text)
            assert found.text == text
            assert_tiles(found)
        cut = recorder.find("The capital of France is" + text[:9])
        assert cut.text == text[:9]

    def test_the_prompt_narrows(self, answered):
        recorder, text = answered
        assert recorder.find(text, "The capital of France is").text == text
        assert recorder.find(text, "The capital of  France is\n") is not None  # white space
        for other in ("France is", "The capital of Spain is", ""):
            assert recorder.find(text, other) is None

    def test_prompts_of_other_answers_are_not_decoded(self, make_llama, byte_level, monkeypatch):
        net = make_llama()
        recorder = Recorder.attach(net, byte_level)
        texts = []
        for prompt in ("The river runs", "Many people live", "the old town"):
            inputs = ids_of(byte_level, prompt)
            out = net.generate(**inputs, max_new_tokens=9, eos_token_id=None)
            texts += texts_of(byte_level, out, inputs)
        decoded = []
        prompt_text = recorder._encoder.prompt_text
        monkeypatch.setattr(
            recorder._encoder, "prompt_text", lambda ids: decoded.append(ids) or prompt_text(ids)
        )
        assert len(set(texts)) == 3
        assert recorder.find(texts[0], "The river runs").prompt == "The river runs"
        assert len(decoded) == 1

    def test_only_the_answers_found_last_keep_their_tokens(self, make_llama, byte_level):
        net = make_llama()
        recorder = Recorder.attach(net, byte_level)
        prompts = [f"The river runs for {n} miles" for n in range(_OPEN + 2)]
        found = {}
        for prompt in prompts:
            inputs = ids_of(byte_level, prompt)
            out = net.generate(**inputs, max_new_tokens=3, eos_token_id=None)
            (text,) = texts_of(byte_level, out, inputs)
            found[prompt] = text, recorder.find(text, prompt)
        for prompt, (text, before) in found.items():
            assert recorder.find(text, prompt) == before
        held = ["generation" in vars(record) for record in recorder._finished()]
        assert held == [True] * _OPEN + [False] * 2

    def test_unknown_texts(self, answered):
        recorder, _ = answered
        assert recorder.find("Something else entirely, that nobody wrote.") is None

    def test_a_blank_text_is_no_part_of_an_answer(self, make_llama, byte_level):
        net = make_llama()
        recorder = Recorder.attach(net, byte_level)
        net.generate(**ids_of(byte_level, "one"), max_new_tokens=24, eos_token_id=None)
        assert recorder._finished()[0].text.strip()
        assert recorder.find("") is None
        assert recorder.find(" ") is None

    def test_the_newest_wins(self, make_llama, byte_level):
        net = make_llama()
        recorder = Recorder.attach(net, byte_level)
        with torch.no_grad():
            net.lm_head.weight.zero_()  # every prompt gets the same answer
        for prompt in ("one", "two", "one more"):
            net.generate(**ids_of(byte_level, prompt), max_new_tokens=3, eos_token_id=None)
        text = byte_level.decode([0, 0, 0], skip_special_tokens=True)
        assert recorder.find(text).prompt == "one more"
        assert recorder.find(text, "two").prompt == "two"
