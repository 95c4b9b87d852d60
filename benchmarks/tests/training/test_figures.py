"""What the model card's command says of paths that are not there, before it loads a model."""

import pytest

pytest.importorskip("torch")

from franq_bench.training import figures


@pytest.mark.parametrize(
    ("data", "pairs", "said"),
    [
        ("none", "pairs.jsonl", "--data: none is not a folder with the data files"),
        (".", "none.jsonl", "--pairs: there is no file none.jsonl"),
    ],
)
def test_wrong_paths_end_with_a_message(data, pairs, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.jsonl").touch()
    with pytest.raises(SystemExit):
        figures.main(["--data", data, "--pairs", pairs, "--out", "out"])
    told = " ".join(capsys.readouterr().err.split())
    assert told.startswith("usage: python -m franq_bench.training.figures")
    assert said in told
