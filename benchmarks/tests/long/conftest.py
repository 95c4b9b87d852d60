import json

import numpy as np
import pytest

from franq_guard.signals.request import Models
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

COUNTRIES = ["Norway", "Portugal", "Kenya", "Peru", "Austria", "Ghana", "Chile", "Nepal"]


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


def _claim_row(i, claim, label, *, kind="factuality", response=None, question=None, **more):
    """A claim row about the i-th country."""
    country = COUNTRIES[i % len(COUNTRIES)]
    return {
        "id": more.pop("id", f"{i}.{len(claim)}"),
        "dataset": more.pop("dataset", "made"),
        "question": question or f"What is sold in {country}?",
        "passages": more.pop("passages", [{"title": country, "text": f"{country} sells fish."}]),
        "response": response or f"{country} sells fish. {country} sells old maps.",
        "claim": claim,
        "label": label,
        "label_kind": kind,
        "model": "scripted",
        **more,
    }


@pytest.fixture
def claim_row():
    return _claim_row


@pytest.fixture
def scripted():
    """Makes a language model whose ``answers`` are given."""
    return LanguageModel


@pytest.fixture
def countries():
    return COUNTRIES


@pytest.fixture
def rows():
    """Eight answers of two claims: one true and in the passage, one false and in none."""
    return [
        row
        for i, country in enumerate(COUNTRIES)
        for row in (
            _claim_row(i, f"{country} sells fish", "true"),
            _claim_row(i, f"{country} sells old maps", "false"),
        )
    ]


@pytest.fixture
def written(tmp_path):
    """Rows -> a file of them."""

    def write(rows, name="claims.jsonl"):
        file = tmp_path / name
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    return write
