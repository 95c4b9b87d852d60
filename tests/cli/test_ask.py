"""``franq ask`` on a guard of fakes."""

import json
import sys
from dataclasses import replace

import pytest

from franq_guard import Guard
from franq_guard.calibration.defaults import shipped
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel


@pytest.mark.parametrize("files", [[], ["data.csv"], ["empty.txt"]])
def test_ask_of_a_folder_without_text_says_so(run, tmp_path, files):
    for name in files:
        (tmp_path / name).write_text("")
    result = run("ask", "--docs", tmp_path, "Where?")
    assert result.exit_code == 2
    assert "no text found" in " ".join(result.stderr.split())


def test_ask_of_no_folder_or_no_question_says_so(run, tmp_path):
    assert "is not a folder" in " ".join(
        run("ask", "--docs", tmp_path / "x", "Where?").stderr.split()
    )
    result = run("ask", "--docs", tmp_path, " ")
    assert result.exit_code == 2
    assert "the question is empty" in " ".join(result.stderr.split())


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "rome.txt").write_text("Rome is in Italy.")
    (tmp_path / "oslo.md").write_text("Oslo is in Norway.")
    return tmp_path


@pytest.fixture
def scripted(offline):
    offline(
        Guard(
            language_model=FakeLanguageModel(answers=lambda prompt: "Rome is in Italy."),
            faithfulness=FakeFaithfulness(),
        )
    )


def test_ask_answers_from_the_folder_and_shows_the_verdicts(command, scripted, docs):
    result = command("ask", "--docs", docs, "Where is Rome?", "-k", 1)
    assert result.exit_code == 0, result.output
    assert "Q  Where is Rome?" in result.stdout
    assert "A  Rome is in Italy." in result.stdout
    assert "supported" in result.stdout
    assert "passage 1 (rome.txt) says: Rome is in Italy." in " ".join(result.stdout.split())


def test_ask_as_json_is_the_question_and_the_answer_row(command, scripted, docs):
    result = command("ask", "--docs", docs, "Where is Rome?", "--json")
    row = json.loads(result.stdout)
    assert list(row)[:2] == ["question", "schema"]
    assert (row["question"], row["schema"]) == ("Where is Rome?", "franq.answer/1")
    assert row["original"] == "Rome is in Italy."
    assert row["id"]


def test_ask_without_word_search_says_what_to_install(command, scripted, docs, monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    result = command("ask", "--docs", docs, "Where is Rome?")
    assert result.exit_code == 2
    assert result.stderr == "error: this command needs bm25s: pip install 'franq-guard[cli]'\n"


def test_ask_without_the_models_libraries_says_what_to_install(command, docs, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = command("ask", "--docs", docs, "Where is Rome?")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: torch, which runs the models, is not installed: ")
    assert result.stderr.endswith(": pip install 'franq-guard[offline]'\n")


def test_an_interrupted_answer_ends_without_a_trace(command, offline, docs):
    def interrupted(prompt):
        raise KeyboardInterrupt

    model = FakeLanguageModel(answers=interrupted)
    offline(Guard(language_model=model, faithfulness=FakeFaithfulness()))
    result = command("ask", "--docs", docs, "Where is Rome?")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_ask_whose_answer_cannot_be_checked_fails(command, offline, docs):
    def broken():
        raise OSError("out of order")

    model = FakeLanguageModel(answers=lambda prompt: "Rome is in Italy.")
    offline(Guard(language_model=model, faithfulness=FakeFaithfulness(fail=broken)))
    result = command("ask", "--docs", docs, "Where is Rome?")
    assert result.exit_code == 1
    assert "unverified" in result.stdout
    assert "the answer could not be checked" in result.stderr
    offline(Guard(language_model=model, faithfulness=broken))
    result = command("ask", "--docs", docs, "Where is Rome?")
    assert result.exit_code == 2
    assert "the models cannot be loaded: OSError: out of order" in result.stderr


def test_a_calibrator_for_the_answering_model_is_not_held_against_an_unknown_writer(
    command, offline, docs
):
    model = FakeLanguageModel(answers=lambda prompt: "Rome is in Italy.")
    faithfulness = FakeFaithfulness()
    own = next(c for c in shipped() if c.writer is None and c.form == "long")
    of_fakes = {"writer": model.fingerprint, "faithfulness": faithfulness.fingerprint,
                "source": "captured"}  # fmt: skip
    own = replace(own, name="mine", fingerprint={**own.fingerprint, **of_fakes})
    # with `strict` a mismatch is an error
    offline(Guard(language_model=model, faithfulness=faithfulness, franq=own, strict=True))
    result = command("ask", "--docs", docs, "Where is Rome?", "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert row["calibrator"] == "mine"
    assert "fitted for" not in result.stderr
