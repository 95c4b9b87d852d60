"""What training reads of a folder of data, and what it says of a folder that is not the one."""

import json

import pytest

from franq_bench.training.sources import fold_reader


def write(folder, *rows):
    lines = "\n".join(map(json.dumps, rows))
    (folder / "pairs.jsonl").write_text(lines, encoding="utf-8")


def pair(number, dataset):
    return {"id": f"{dataset}-{number}", "dataset": dataset, "premise": f"Owl {number} eats.",
            "hypothesis": f"It eats {number}.", "label": "entailment"}  # fmt: skip


def test_sets_that_a_folder_lacks_are_told(tmp_path, capsys):
    write(tmp_path, *(pair(i, "fm2") for i in range(20)))
    pairs, passages = fold_reader(tmp_path, ("fever-symmetric",))("training")
    assert "fm2" in {e.dataset for e in pairs}
    assert passages == []
    said = capsys.readouterr().err
    assert "has no pairs for training of: mnli-dev, snli-dev" in said
    assert "wice" in said
    # what is there, what is left out on purpose, and what the package has itself
    assert not [name for name in ("fm2", "fever", "written", "answers") if name in said]


def test_a_folder_of_other_files_is_refused(tmp_path):
    """The written pairs alone gave a model, after hours."""
    write(tmp_path, *(pair(i, "rows-of-my-own") for i in range(20)))
    with pytest.raises(ValueError, match="no pairs of the sets that are read for fitting"):
        fold_reader(tmp_path)("fitting")
