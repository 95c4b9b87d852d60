"""What is known of an answer while ``generate`` is still writing it."""

import gc
import threading
import weakref

import pytest

from franq_guard.language_model import Recorder, TransformersModel
from franq_guard.language_model.transformers.recorded_call import RecordedCall

PROMPT = "How long is the river?"
STEPS = 24


class Paused:
    """A streamer that stops ``generate`` after ``steps`` ids until it is released."""

    def __init__(self, steps, fail=False):
        self.steps, self.fail = steps, fail
        self.reached, self.go = threading.Event(), threading.Event()
        self.put_ids = []

    def put(self, value):
        self.put_ids.append(value)
        if len(self.put_ids) == self.steps + 1:  # the prompt is put first
            self.reached.set()
            assert self.go.wait(30)
            if self.fail:
                raise RuntimeError("the reader is gone")

    def end(self):
        pass


@pytest.fixture
def net(make_llama):
    return make_llama()


@pytest.fixture
def recorder(net, byte_level):
    return Recorder.attach(net, byte_level)


def started(net, tokenizer, streamer, prompt=PROMPT):
    inputs = tokenizer(prompt, return_tensors="pt")
    arguments = {
        "input_ids": inputs.input_ids,
        "attention_mask": inputs.attention_mask,
        "max_new_tokens": STEPS,
        "do_sample": False,
        "eos_token_id": None,
        "pad_token_id": 0,
        "streamer": streamer,
    }

    def run():
        try:
            net.generate(**arguments)
        except RuntimeError:
            assert streamer.fail

    thread = threading.Thread(target=run)
    thread.start()
    assert streamer.reached.wait(30)
    return thread


def let_go(thread, streamer):
    streamer.go.set()
    thread.join(30)
    assert not thread.is_alive()


def test_tokens_of_the_text_so_far(net, byte_level, recorder):
    streamer = Paused(12)
    thread = started(net, byte_level, streamer)
    try:
        ids = [int(value.flatten()[0]) for value in streamer.put_ids[1:]]
        said = byte_level.decode(ids[:8])
        found = recorder.find(said, prompt=PROMPT)
        unknown = recorder.find(byte_level.decode(ids) + " and more of it", prompt=PROMPT)
        nothing_kept = len(recorder)
    finally:
        let_go(thread, streamer)
    assert found.text == said
    assert found.source == "captured"
    assert found.prompt_token_ids == tuple(byte_level(PROMPT).input_ids)
    assert "".join(said[t.start : t.end] for t in found.tokens) == said
    written = [t.id for t in found.tokens]
    assert written == ids[: len(written)]
    (scored,) = TransformersModel(net, byte_level).score([found.prompt_token_ids], [found])
    assert [t.logprob for t in found.tokens] == pytest.approx(
        [t.logprob for t in scored.tokens], abs=1e-4
    )
    assert unknown is None
    assert nothing_kept == 0
    assert len(recorder) == 1


def test_four_at_once_are_told_apart_by_their_prompts(net, byte_level, recorder):
    prompts = [f"{PROMPT} {i}" for i in range(4)]
    streamers = [Paused(10) for _ in prompts]
    threads = [started(net, byte_level, s, p) for s, p in zip(streamers, prompts, strict=True)]
    try:
        for streamer, prompt in zip(streamers, prompts, strict=True):
            ids = [int(value.flatten()[0]) for value in streamer.put_ids[1:]]
            found = recorder.find(byte_level.decode(ids[:6]), prompt=prompt)
            assert found.prompt_token_ids == tuple(byte_level(prompt).input_ids)
    finally:
        for thread, streamer in zip(threads, streamers, strict=True):
            let_go(thread, streamer)


@pytest.mark.parametrize("fail", [False, True])
def test_nothing_is_left_of_a_call_that_is_over(net, byte_level, recorder, monkeypatch, fail):
    runs = weakref.WeakSet()
    start = RecordedCall.__init__

    def watched(self, *args, **kwargs):
        runs.add(self)
        start(self, *args, **kwargs)

    monkeypatch.setattr(RecordedCall, "__init__", watched)
    streamer = Paused(6, fail=fail)
    thread = started(net, byte_level, streamer)
    assert len(runs) == 1
    let_go(thread, streamer)
    del streamer, thread
    gc.collect()
    assert not runs
    assert len(recorder) == (0 if fail else 1)
