"""Live models of an application: what they wrote is found again, and the guard asks those models.

The networks are random; what a recorder finds and what it refuses is tested with the recorder.
"""

import copy
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from franq_guard import Guard
from franq_guard.capture.local import LocalModel, check_recorded, live_models
from franq_guard.language_model import LlamaCppModel, TransformersModel
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

from ..language_model.fake_llama import FakeLlama, library

PROMPT = "Who built the old town? Many people live there."


@pytest.fixture
def net(make_llama):
    return make_llama()


@pytest.fixture
def guard():
    return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())


def write(net, tokenizer, prompt=PROMPT):
    inputs = tokenizer(prompt, return_tensors="pt")
    out = net.generate(
        **inputs, max_new_tokens=24, do_sample=False, pad_token_id=tokenizer.eos_token_id
    )
    return tokenizer.decode(out[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def test_what_the_model_wrote_is_found_under_its_prompt(net, byte_level, guard):
    own = LocalModel(guard, net, byte_level)
    text = write(net, byte_level)
    found = own.generation(text, PROMPT)
    assert (found.text, found.prompt, found.source) == (text, PROMPT, "captured")
    assert found.writer == own.fingerprint == own.guard.language_model.fingerprint
    assert own.generation(text, "Another prompt") is None
    assert own.generation("Nobody wrote this sentence.", PROMPT) is None


def test_it_is_recalled_where_its_prompt_holds_all_parts(net, byte_level, guard):
    own = LocalModel(guard, net, byte_level)
    text = write(net, byte_level)
    assert own.recalled(text, ["old town", "Many people"]).prompt == PROMPT
    assert own.recalled(text, []).writer == own.fingerprint
    assert own.recalled(text, []).prompt == PROMPT
    assert own.recalled(text, ["old town", "new town"]) is None
    assert own.recalled("Nobody wrote this sentence.", []) is None


def test_the_guard_asks_this_very_model(net, byte_level, guard):
    own = LocalModel(guard, net, byte_level)
    assert own.guard.language_model.model is net
    assert own.guard.faithfulness is guard.faithfulness
    assert guard.language_model is not own.guard.language_model


def test_a_guard_that_has_the_network_is_the_guard_itself(net, byte_level):
    named = TransformersModel(net, byte_level, name="named")
    guard = Guard(language_model=named, faithfulness=FakeFaithfulness())
    assert LocalModel(guard, net, byte_level).guard is guard


def test_threads_get_one_guard(net, byte_level, guard):
    own = LocalModel(guard, net, byte_level)
    with ThreadPoolExecutor(4) as pool:
        guards = list(pool.map(lambda _: own.guard, range(4)))
    assert all(found is guards[0] for found in guards)


def test_models_that_cannot_be_recorded_are_left_out(net, byte_level, guard, caplog):
    class Odd:
        """Has neither a configuration nor weights."""

    class Translator(Odd):
        class config:
            is_encoder_decoder = True

    class Tekken:
        """Like the tokeniser of mistral-common."""

        @property
        def added_tokens_decoder(self):
            raise NotImplementedError("there is no `added_tokens_decoder`")

    learning = copy.deepcopy(net).train()
    pairs = [
        (Odd(), byte_level),
        (net, byte_level),
        (Translator(), byte_level),
        (learning, byte_level),
        (net, Tekken()),
    ]
    (own,) = live_models(pairs, guard)
    assert own.tokenizer is byte_level
    assert "generate" not in vars(learning)
    assert own.guard.language_model.model is net
    assert "tokens of Odd are not captured" in caplog.text
    assert "tokens of Translator are not captured: a causal language model" in caplog.text
    assert "in training mode: call model.eval() first" in caplog.text
    assert "there is no `added_tokens_decoder`" in caplog.text


class TestLlama:
    """A Llama of llama.cpp is asked, not recorded."""

    @pytest.fixture(autouse=True)
    def llama_cpp(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "llama_cpp", library())

    def test_the_guard_asks_this_very_llama(self, net, byte_level, guard):
        llama = FakeLlama(net, byte_level, template="any")
        [own] = live_models([(llama, None)], guard)
        assert own.generation("x", "y") is None
        assert own.recalled("x", []) is None
        assert own.guard is own.guard
        assert own.guard.language_model.model is llama
        assert own.tokenizer.apply_chat_template([{"role": "user", "content": "Who?"}]) == (
            "<s>user: Who?\nassistant: "
        )

    def test_a_guard_that_has_the_llama_is_the_guard_itself(self, net, byte_level):
        llama = FakeLlama(net, byte_level)
        guard = Guard(language_model=LlamaCppModel(llama), faithfulness=FakeFaithfulness())
        [own] = live_models([(llama, None)], guard)
        assert own.guard is guard

    def test_one_without_logits_is_left_out_with_what_to_do(self, net, byte_level, guard, caplog):
        assert live_models([(FakeLlama(net, byte_level, logits_all=False), None)], guard) == []
        assert "make it with logits_all=True" in caplog.text

    def test_it_is_not_asked_while_it_may_be_writing(self, net, byte_level, guard):
        models = live_models([(FakeLlama(net, byte_level), None)], guard)
        with pytest.raises(ValueError, match=r"a stream would ask .* llama.cpp .*: wait"):
            check_recorded(models, "a stream", "wait")
        check_recorded(live_models([(net, byte_level)], guard), "a stream", "wait")
