import numpy as np
import pytest

from franq_guard.signals.request import Models
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel


class LanguageModel(FakeLanguageModel):
    """Scripted, with the tokenizer that CCP asks for."""

    class tokenizer:
        @staticmethod
        def decode(ids):
            return "".join(map(str, ids))


def embed(texts):
    rows = np.array([[1.0, float(len(text))] for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def models():
    return Models(LanguageModel(), FakeFaithfulness(), embed)


@pytest.fixture
def scripted():
    """Makes a language model whose ``answers`` are given."""
    return LanguageModel
