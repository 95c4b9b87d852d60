"""The samples of short answers: drawn as the settings say, and known to a calibrator."""

import json

import pytest

from franq_guard import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel


@pytest.fixture(autouse=True)
def _fake_faithfulness(monkeypatch):
    monkeypatch.setattr(
        "franq_guard.faithfulness.loading.faithfulness_from", lambda *_, **__: FakeFaithfulness()
    )


def test_samples_are_drawn_as_the_settings_say(command, monkeypatch, tmp_path, row):
    asked = []

    class Sampling(FakeLanguageModel):
        def sample(self, prompts, **options):
            asked.append((options["n"], options["temperature"]))
            return super().sample(prompts, **options)

    monkeypatch.setattr(
        "franq_guard.language_model.transformers.smollm2.load_bundled", lambda: Sampling()
    )
    file, rows = tmp_path / "mine.toml", tmp_path / "rows.jsonl"
    file.write_text("samples = 3\ntemperature = 0.75\n")
    rows.write_text(json.dumps(row))
    words = ("--form", "short", "--uq-faith", "discrete-semantic-entropy", "--config", file)
    assert command("check", rows, *words).exit_code == 0
    assert command("check", rows, *words, "--samples", 4, "--temperature", 1).exit_code == 0
    assert asked == [(3, 0.75), (4, 1.0)]
    usual = tmp_path / "usual.toml"
    usual.write_text("form = 'short'\ncalibration = 'none'\n")
    assert command("check", rows, "--config", usual).exit_code == 0
    assert asked[2:] == [(10, 0.5)]  # what the configuration starts from is what the guard does


def test_samples_are_recorded_where_a_method_draws_them(command, monkeypatch, tmp_path, row):
    monkeypatch.setattr(
        "franq_guard.language_model.transformers.smollm2.load_bundled",
        lambda: FakeLanguageModel(),
    )
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row))

    def recorded(name, *words):
        out = tmp_path / name
        # With --strict it is no default guard, so that it takes the fake faithfulness model.
        words = ("--form", "short", "--samples", 3, "--strict", *words)
        assert command("check", rows, "--out", out, *words).exit_code == 0
        return json.loads((tmp_path / f"{name}.settings.json").read_text())

    passages_alone = recorded("usual.jsonl")
    assert passages_alone["fingerprint"]["methods"] == "evidence + prior"
    assert "samples" not in passages_alone["fingerprint"]
    assert not {"samples", "temperature"} & set(passages_alone["settings"])
    assert not {"samples", "temperature"} & set(
        recorded("other.jsonl", "--uq-faith", "perplexity", "--uq-unfaith", "perplexity")[
            "settings"
        ]
    )
    drawn = recorded("drawn.jsonl", "--uq-faith", "discrete-semantic-entropy")
    assert drawn["fingerprint"]["samples"] == "3 at temperature 0.5"
    assert (drawn["settings"]["samples"], drawn["settings"]["temperature"]) == (3, 0.5)


def test_a_calibrator_knows_its_samples(command, monkeypatch, tmp_path, row):
    monkeypatch.setattr(
        "franq_guard.language_model.transformers.smollm2.load_bundled",
        lambda: FakeLanguageModel(answers=lambda prompt: "Rome is in Italy."),
    )
    file, out, rows = (tmp_path / name for name in ("labelled.jsonl", "mine.json", "rows.jsonl"))
    labelled = [
        row | {"id": str(i), "answer": answer, "is_true": answer.endswith("Italy.")}
        for i, answer in enumerate(["Rome is in Italy.", "Rome is on the moon."] * 12)
    ]
    file.write_text("\n".join(map(json.dumps, labelled)))
    rows.write_text(json.dumps(row))
    words = ("--form", "short", "--uq-faith", "discrete-semantic-entropy")
    words += ("--uq-unfaith", "discrete-semantic-entropy")
    drawn = ("--samples", 3, "--temperature", 1)
    result = command("calibrate", file, "--out", out, *words, *drawn)
    assert result.exit_code == 0, result.stderr
    assert Calibrator.load(out).fingerprint["samples"] == "3 at temperature 1.0"
    check = ("check", rows, *words, "--calibrator", out, "--strict")
    assert command(*check, *drawn).exit_code == 0
    for other in ((), ("--samples", 3), ("--temperature", 1)):
        result = command(*check, *other)
        assert result.exit_code == 2
        told = " ".join(result.stderr.split())
        assert "samples: fitted for '3 at temperature 1.0', used with" in told
        assert "--samples and --temperature set the samples" in told
