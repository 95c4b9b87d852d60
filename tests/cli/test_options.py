"""The guard that the options describe."""

import json
import os
from types import SimpleNamespace

import pytest

from franq_guard import Guard
from franq_guard.basics.threads import SETTING
from franq_guard.cli.options import calibrator_in, fields_from, guard_from
from franq_guard.label_rule import LabelRule
from franq_guard.policy import MAY_BE_WEAK, WEAK


def test_wrong_policy_and_damaged_calibrator_end_with_the_reason(command, tmp_path, rows):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for words, message in (
        (["--policy", "erase"], "--policy must be annotate, filter or block, not 'erase'"),
        (["--threshold", "2"], "--threshold must lie between 0 and 1, not 2"),
        (["--threshold", "nan"], "--threshold must lie between 0 and 1, not nan"),
        (["--false-below", "-1"], "--false-below must lie between 0 and 1, not -1"),
        (
            ["--threshold", "0.3", "--false-below", "0.4"],
            "--false-below (0.4) must not be above --threshold (0.3)",
        ),
        (
            ["--weak", "doubtful,bad"],
            "--weak must name labels out of false, doubtful, unsupported, unclear, not",
        ),
        (["--calibrator", str(bad)], "not a usable"),
        (["--calibrator", str(tmp_path / "none.json")], "none.json"),
    ):
        result = command("check", rows, *words)
        assert result.exit_code == 2, words
        assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("given", "weak"),
    [
        (None, WEAK),
        ("", ()),
        ("false, unclear", ("false", "unclear")),
        (",".join(MAY_BE_WEAK), MAY_BE_WEAK),
    ],
)
def test_every_label_that_a_policy_may_act_against_can_be_named(given, weak):
    policy = guard_from("annotate", None, None, None, weak=given).policy
    assert tuple(policy.weak) == weak


def test_threads_are_set_for_the_whole_program(command, rows, monkeypatch):
    monkeypatch.setenv(SETTING, "1")  # put back at the end
    assert command("check", rows, "--threads", "3", "--policy", "erase").exit_code == 2
    assert os.environ[SETTING] == "3"
    assert command("check", rows, "--threads", "0").exit_code == 2
    assert os.environ[SETTING] == "3"


def test_a_wrong_number_of_threads_in_the_environment_ends_the_program(command, rows, monkeypatch):
    monkeypatch.setenv(SETTING, "two")
    result = command("check", rows)
    assert result.exit_code == 2
    assert f"{SETTING} must be a whole number" in result.stderr


def test_waiting_threads_of_a_command_sleep(monkeypatch):
    from franq_guard.cli import app as module

    seen = []
    monkeypatch.setenv("OMP_WAIT_POLICY", "")  # put back at the end
    monkeypatch.delenv("OMP_WAIT_POLICY")
    monkeypatch.setenv("KMP_BLOCKTIME", "7")
    monkeypatch.setattr(module, "app", lambda: seen.append(os.environ["OMP_WAIT_POLICY"]))
    monkeypatch.setattr(module, "listen", lambda: None)
    module.main()
    assert (seen, os.environ["KMP_BLOCKTIME"]) == (["PASSIVE"], "7")


def test_check_takes_the_threshold_of_the_calibrator_unless_one_is_given(
    monkeypatch, tmp_path, capsys
):
    from franq_guard import Calibrator, Guard

    def guard(policy, franq):
        return SimpleNamespace(policy=policy, choice=SimpleNamespace(franq=franq))

    def threshold(given, file=None):
        made = guard_from("annotate", given, None if file is None else calibrator_in(file))
        return made.policy.rule(getattr(made.choice.franq, "labels", LabelRule())).threshold

    monkeypatch.setattr(Guard, "offline", guard)
    plain, tuned = tmp_path / "plain.json", tmp_path / "tuned.json"
    Calibrator().save(plain)
    rule = LabelRule(threshold=0.125, false_below=0.125)
    Calibrator(labels=rule, promise={"at_most_flagged": 0.2, "of": "true claims"}).save(tuned)
    assert threshold(None) == 0.5
    assert threshold(None, plain) == 0.5
    assert "promise" not in capsys.readouterr().err
    assert threshold(None, tuned) == 0.125
    assert "at most 20 % of the true claims are flagged" in " ".join(
        capsys.readouterr().err.split()
    )
    assert threshold(0.75, tuned) == 0.75
    assert "promise" not in capsys.readouterr().err  # another threshold than the promised one


def test_what_is_flagged_may_be_chosen(monkeypatch):
    from franq_guard import Guard, Policy

    monkeypatch.setattr(Guard, "offline", lambda policy, franq: policy)
    assert guard_from() == Policy()
    found = guard_from(false_below=0.2, weak="doubtful, false")
    assert (found.false_below, found.marked) == (0.2, ("false", "doubtful", "unverified"))
    assert guard_from(weak="").marked == ("unverified",)  # nothing is flagged


def test_several_fields_may_be_mapped_at_once():
    assert fields_from(["question=user.text,answer=reply", "id=n"]).given == {
        "question": "user.text", "answer": "reply", "id": "n",
    }  # fmt: skip
    assert fields_from(["answer=the reply, as sent"]).given == {"answer": "the reply, as sent"}


class TestLanguageModel:
    """--language-model: what scores the answers in place of the bundled model."""

    @pytest.mark.parametrize(
        ("where", "message"),
        [
            ("gpt-9", "no language model 'gpt-9': give bundled, a .gguf file"),
            ("none.gguf", "there is no file none.gguf"),
            ("http://127.0.0.1:9/v1#smol", "is the server running"),
        ],
    )
    @pytest.mark.parametrize("name", ["check", "calibrate"])
    def test_one_that_is_not_there_ends_with_the_reason(
        self, command, monkeypatch, tmp_path, row, name, where, message
    ):
        monkeypatch.chdir(tmp_path)
        rows = tmp_path / "rows.jsonl"  # with labels enough to fit on
        rows.write_text("\n".join(json.dumps(row | {"is_true": i % 2}) for i in range(60)))
        words = [name, rows, "--language-model", where]
        out = ["--out", "mine.json"] if name == "calibrate" else []
        result = command(*words, *out)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())

    def test_the_guard_has_it_beside_the_small_faithfulness_model(self, monkeypatch):
        from franq_guard.language_model import loading
        from franq_guard.testing import FakeLanguageModel

        asked = []

        def load(where, *, api_key):
            asked.append((where, api_key))
            return FakeLanguageModel()

        monkeypatch.setattr(loading, "language_model_from", load)
        monkeypatch.setenv("FRANQ_API_KEY", "secret")
        guard = guard_from("annotate", 0.3, None, "http://localhost:8000/v1")
        assert asked == [("http://localhost:8000/v1", "secret")]
        assert guard.language_model.fingerprint == "fake-language-model"
        assert guard.policy.threshold == 0.3


def test_a_cache_folder_that_cannot_be_is_named(command, offline, rows, monkeypatch):
    def unpack():
        raise NotADirectoryError(20, "Not a directory", "/some/file/x")

    monkeypatch.setenv("FRANQ_CACHE_DIR", "/some/file")
    offline(Guard(faithfulness=unpack))
    result = command("check", rows)
    assert result.exit_code == 2
    told = "error: the models cannot be loaded: /some/file/x: Not a directory (the folder is FRANQ"
    assert told in " ".join(result.stderr.split())
