"""docs/telemetry.md is true: its code runs, and it has every name that is sent."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from franq_guard.telemetry import names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "telemetry.md").read_text(encoding="utf-8")
EXAMPLE, TEXT, WORKER = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FAKES = """
from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
made = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
Guard.offline = lambda: made
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def objects(text):
    """The JSON objects that the console exporters print one after the other."""
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


def test_the_example_prints_spans_and_results():
    told = run(FAKES + EXAMPLE)
    spans = {found["name"]: found for found in told if "kind" in found}
    results = [found for found in told if "severity_number" in found]
    assert {"chat", "franq.check", "franq.stage.claims", "franq.stage.franq"} <= set(spans)
    assert spans["franq.check"]["attributes"]["franq.status"] == "ok"
    assert [found["event_name"] for found in results] == ["gen_ai.evaluation.result"] * 2
    assert {found["span_id"] for found in results} == {spans["chat"]["context"]["span_id"]}


def test_text_is_told_where_the_page_says_so():
    told = run(FAKES + TEXT + EXAMPLE)
    texts = [found["attributes"].get("franq.claim.text") for found in told]
    assert "The bridge is made of oak." in texts


def test_the_worker_runs():
    given = """
from franq_guard import Generation, Passage, Trace
guard = Guard.offline()
trace = Trace("Which?", (Passage("It leans."),), Generation("The tower leans."))
"""
    assert run(FAKES + given + WORKER) == []


@pytest.mark.parametrize("name", [n for n in vars(names) if n.isupper() and n != "SCOPE"])
def test_every_name_is_on_the_page(name):
    assert vars(names)[name] in PAGE


def test_the_lowest_version_is_one_whose_sdk_takes_our_results():
    # Before 1.37 the SDK hands a record of the API to its exporters as it is, and they fail on it.
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert extras["optional-dependencies"]["telemetry"] == ["opentelemetry-api>=1.37"]
    assert "(1.37 or newer)" in PAGE
