"""The Llama of a LlamaCPP is found by its name; the real one is run by ``make test-llamacpp``."""

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.llms.mock import MockLLM
from pydantic import PrivateAttr

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
from llama_index_franq import guard_query_engine
from llama_index_franq._find import local_model
from llama_index_franq._models import Models

from .fakes import rag


class LlamaCPP(MockLLM):
    _model: Any = PrivateAttr()


def test_found_without_a_tokenizer():
    llm, llama = LlamaCPP(), object()
    llm._model = llama
    assert local_model(llm) == (llama, None)
    assert local_model(MockLLM()) is None


def test_a_llama_is_not_asked_while_it_may_be_writing(monkeypatch):
    """Asked between two tokens of the application's answer, it would lose its place."""
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    llama = SimpleNamespace(recorded=False)
    monkeypatch.setattr("llama_index_franq._models.live_models", lambda *_: [llama])
    engine = rag(LlamaCPP())
    with pytest.raises(ValueError, match=r"stream='claims'.*llama.cpp.*use stream='buffer'"):
        guard_query_engine(engine, guard, stream="claims")
    guard_query_engine(engine, guard)
    assert Models(engine, guard).local == [llama]
    # Who only watches does not know when the application's next answer begins.
    assert Models(engine, guard, recorded_only=True).local == []
