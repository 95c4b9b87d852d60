"""Shared by the benchmark's tests: labelled claims."""

import json

import pytest

COUNTRIES = ["Norway", "Portugal", "Kenya", "Peru", "Austria", "Ghana", "Chile", "Nepal"]


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
