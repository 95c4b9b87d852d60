"""The comparison with other frameworks' metrics: its file of scores, its table, and the page."""

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from franq_guard.faithfulness.small.storage import FOLDER, MANIFEST

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def module():
    path = ROOT / "benchmarks" / "evaluators" / "scores.py"
    spec = importlib.util.spec_from_file_location("evaluator_scores", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def scores(module, metric="franq", replies="-", **values):
    given = {"true": {"a": 1.0}, "changed": {"b": 0.0}, "seconds": 0.04, "model": "m"}
    return module.Scores(metric=metric, replies=replies, **{**given, **values})


def test_the_line_of_a_metric(module):
    true = {f"t{i}": 1.0 for i in range(5)} | {"t5": None}
    changed = {f"c{i}": value for i, value in enumerate([1.0, 0.0, 0.0, 0.0, 0.5])}
    line = scores(module, true=true, changed=changed).line()
    # 25 pairs: a tie with the first of the changed ones counts half for each of the 5 true ones,
    # the other 20 are won: (20 + 2.5) / 25 = 0.90. The changed ones' mean is 1.5 / 5 = 0.30.
    assert line.startswith("| franq | - | 10 of 11 | 0.90 (± 0.")
    assert line.endswith(") | 1.00 | 0.30 | 0.0 |")


def test_too_few_rows_have_no_auroc(module):
    assert scores(module).line() == "| franq | - | 2 of 2 | - | 1.00 | 0.00 | 0.0 |"
    unread = scores(module, true={"a": None}, changed={"b": None})
    assert unread.line() == "| franq | - | 0 of 2 | - | - | - | 0.0 |"


def test_a_rerun_takes_the_place_of_the_same_metric_alone(module, tmp_path):
    path = tmp_path / "new" / "scores.jsonl"
    old, other = scores(module), scores(module, metric="other", replies="held")
    for one in (old, other, scores(module, metric="other", replies="free")):
        module.store(one, path)
    new = scores(module, true={"a": 0.5}, model="n")
    module.store(new, path)
    known = module.stored(path)
    assert [(s.metric, s.replies) for s in known] == [
        ("franq", "-"),
        ("other", "held"),
        ("other", "free"),
    ]
    assert known[0] == new
    assert known[1] == other


def test_the_page_has_the_stored_figures(module):
    page = (ROOT / "docs" / "evaluators.md").read_text("utf-8")
    known = module.stored()
    assert known
    assert module.table(known) in page
    assert {s.model.split()[-1] for s in known} <= {word.strip("`,.;()") for word in page.split()}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["franq", "ragass"], "no metric ragass: there are franq, ragas"),
     (["franq", "--rows", "2"], "the stored scores are of 50 rows each; give --out")],
)  # fmt: skip
def test_what_would_fail_late_or_spoil_the_stored_scores_is_refused(
    words, said, monkeypatch, capsys
):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(ROOT / "benchmarks" / "evaluators")
    script = importlib.import_module("faithfulness")
    monkeypatch.setattr(script, "franq", lambda: pytest.fail("it began"))
    monkeypatch.setattr("sys.argv", ["faithfulness.py", *words])
    with pytest.raises(SystemExit):
        script.main()
    assert said in " ".join(capsys.readouterr().err.split())


def test_franqs_figures_are_of_the_shipped_small_model(module):
    shipped = json.loads((FOLDER / MANIFEST).read_text("utf-8"))["sha256"]
    (franq,) = (one for one in module.stored() if one.metric == "franq")
    assert franq.model == f"small model {shipped[:8]}"
