"""The Llama of a LlamaCPP is found by its name; the real one is run by ``make test-llamacpp``."""

from typing import Any

from llama_index.core.llms.mock import MockLLM
from pydantic import PrivateAttr

from llama_index_franq._find import local_model


class LlamaCPP(MockLLM):
    _model: Any = PrivateAttr()


def test_found_without_a_tokenizer():
    llm, llama = LlamaCPP(), object()
    llm._model = llama
    assert local_model(llm) == (llama, None)
    assert local_model(MockLLM()) is None
