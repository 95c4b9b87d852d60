"""The page of the evaluators: its blocks run in order, in the real frameworks."""

import pytest

from ..docs.blocks import blocks

pytestmark = pytest.mark.evaluators


def test_the_blocks_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")
    names = {}
    for block in blocks("docs/evaluators.md"):
        exec(compile(block.text, "docs/evaluators.md", "exec"), names)
    said = capsys.readouterr().out
    assert said.count("True") >= 5
    assert "False" not in said
