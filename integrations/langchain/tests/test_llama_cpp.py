"""The Llama of a ChatLlamaCpp or LlamaCpp is found by its name; the packages need not be installed.

The real ones are run by ``make test-llamacpp``.
"""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from langchain_franq import FranqCallback, capture, guard_chain
from langchain_franq._find import local_models
from langchain_franq._model_run import ModelRun
from langchain_franq._written import written

from .fakes import ScriptedChat, ScriptedLLM, lcel


class Llama:
    """Stands for llama_cpp.Llama."""


class ChatLlamaCpp(ScriptedChat):
    client: Any = None


class LlamaCpp(ScriptedLLM):
    client: Any = None


class LiveLlama:
    """What franq_guard.capture.local makes of a Llama: its answers are not recorded."""

    fingerprint = "live-llama"
    recorded = False

    def __init__(self, guard):
        self.guard = guard
        self.tokenizer = self
        self.chat_template = "any"

    def generation(self, text, prompt):
        return None

    def apply_chat_template(self, turns, *, tokenize, add_generation_prompt):
        return "".join(f"<{turn['role']}>{turn['content']}" for turn in turns) + "<assistant>"


@pytest.mark.parametrize("kind", [ChatLlamaCpp, LlamaCpp])
def test_found_in_a_chain_and_behind_a_function(kind):
    llama = Llama()
    model = kind(client=llama)
    assert local_models(lcel(model)) == [(llama, None)]
    assert local_models(RunnableLambda(lambda x: model.invoke(x))) == [(llama, None)]
    assert local_models([model, kind(client=llama)]) == [(llama, None)]
    assert local_models(kind()) == []


def test_capture_records_no_llama():
    with capture(ChatLlamaCpp(client=Llama())) as run:
        pass
    assert run is not None


@pytest.mark.parametrize("name", ["ChatLlamaCpp", "ChatHuggingFace"])
def test_its_answer_is_put_under_the_exact_prompt_for_its_own_guard(name):
    own = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    messages = (SystemMessage("Be brief."), HumanMessage("Where is Rome?"))
    run = ModelRun(name, messages=messages, text="In Italy.")
    found = written(None, [LiveLlama(own)], run, "In Italy.")
    assert found.guard is own
    assert found.generation.prompt == "<system>Be brief.<user>Where is Rome?<assistant>"
    assert found.generation.source == "none"
    assert found.generation.writer == "live-llama"


def test_server_log_probabilities_of_its_chat_are_kept():
    own = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    told = {"content": [{"token": "In", "logprob": -0.5}, {"token": " Italy.", "logprob": -1.0}]}
    run = ModelRun("ChatLlamaCpp", messages=(HumanMessage("Where?"),), text="In Italy.")
    run.info, run.ended = {"logprobs": told}, True
    found = written(None, [LiveLlama(own)], run, "In Italy.")
    assert [t.logprob for t in found.generation.tokens] == [-0.5, -1.0]
    assert found.generation.source == "server"
    assert found.guard is own


def test_a_llama_is_not_asked_while_it_may_be_writing(monkeypatch):
    """Asked between two tokens of the application's answer, it would lose its place."""
    asked = LiveLlama(Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness()))
    for module in ("chain", "callback"):
        monkeypatch.setattr(f"langchain_franq.{module}.models_of", lambda *_: [asked])
    chain = lcel(ChatLlamaCpp(client=Llama()))
    with pytest.raises(ValueError, match=r"stream='claims'.*llama.cpp.*use stream='buffer'"):
        guard_chain(chain, asked.guard, stream="claims")
    guard_chain(chain, asked.guard)
    with pytest.raises(ValueError, match=r"FranqCallback.*llama.cpp.*leave it out of models="):
        FranqCallback(asked.guard, models=[chain])
