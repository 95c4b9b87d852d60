"""What `make test-versions` decides: which Python, which versions are new, what may be skipped."""

import pytest

from franq_guard.language_model import MissingModelError

from . import run, without_torch


def place(folder, version, works):
    python = folder / "versions" / version / "bin" / "python3.12"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nexit {0 if works else 1}\n")
    python.chmod(0o755)
    return python


def test_the_newest_python_of_pyenv_that_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    place(tmp_path, "3.12.9", works=True)
    newest = place(tmp_path, "3.12.10", works=True)
    place(tmp_path, "3.12.11", works=False)
    assert run.interpreter("python3.12") == str(newest)
    assert run.interpreter("python3.13") is None


def test_packages_that_are_pinned_to_another_version(monkeypatch):
    pins = dict(
        pin.lower().replace("_", "-").split("==")
        for pin in (run.ROOT / "constraints.txt").read_text().splitlines()
        if "==" in pin
    )
    here = [f"numpy=={pins['numpy']}", "huggingface-hub==0.0.1", "not-of-ours==1.0"]
    monkeypatch.setattr(run, "output", lambda folder, program: here)
    assert run.unpinned(run.ROOT) == ["huggingface-hub==0.0.1"]


def test_the_folders_of_tests_are_there():
    assert all((run.ROOT / tests).exists() for tests in [*run.TESTS, *run.TESTS_WITH_MODELS])


def test_only_a_missing_torch_excuses_a_test(monkeypatch):
    of_torch = ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")
    assert without_torch.missing(of_torch) == "torch.nn"
    wrapped = ImportError("install franq-guard[hf]")
    wrapped.__cause__ = of_torch
    assert without_torch.missing(wrapped) == "torch.nn"
    told = MissingModelError("torch, which runs the models, is not installed: pip install torch")
    assert without_torch.missing(told) == "torch"
    assert without_torch.missing(MissingModelError("the bundled language model ...")) is None
    assert without_torch.missing(ModuleNotFoundError("yaml", name="yaml")) is None
    assert without_torch.missing(ValueError("torch")) is None
    of_skipped = ImportError("cannot import name 'a'", name="tests.test_a", path="test_a.py")
    assert without_torch.missing(of_skipped) is None
    monkeypatch.setattr(without_torch, "_SKIPPED", {"test_a.py"})
    assert without_torch.missing(of_skipped) == "tests.test_a"
    with pytest.raises(pytest.skip.Exception):
        without_torch.skip_or_raise(of_torch)
    with pytest.raises(ValueError, match="torch"):
        without_torch.skip_or_raise(ValueError("torch"))
