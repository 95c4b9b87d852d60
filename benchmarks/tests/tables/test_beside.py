"""The paper's further tables beside ours: each figure in the row of the same method."""

import pytest

from franq_bench.tables.beside import beside, beside_spoiled
from franq_bench.tables.method_names import title
from franq_guard.report.tables import Column, Table


def ours(name, names, metrics=("PRR",)):
    firsts = list(names)
    rows = tuple((first, *(0.5 for _ in metrics)) for first in firsts)
    errors = tuple((None, *(0.1 for _ in metrics)) for _ in firsts)
    columns = (Column("method"), *(Column(m, "higher") for m in metrics))
    return Table(name, "Ours", columns, (("A family",), *rows), "Note.", ((None,), *errors))


def found(table):
    return {row[0]: row[2:] for row in table.rows if len(row) > 1}


def test_answers_by_p_faithful():
    methods = ("max-probability", "ccp", "ccp:lm-polygraph", "faithfulness", "max-nli")
    for name, first, ccp, last in (
        ("above", (0.518, 0.454, 0.754), (0.512, 0.434, 0.742), (0.321, 0.170, 0.606)),
        ("below", (0.648, 0.446, 0.752), (0.631, 0.445, 0.741), (0.488, 0.142, 0.555)),
    ):
        table = beside(ours(f"p-faithful-{name}", map(title, methods)), "short")
        titles = ["method", "PRR", "paper: PR-AUC", "paper: PRR", "paper: ROC-AUC"]
        assert [c.title for c in table.columns] == titles
        none = (None, None, None)
        # our form of CCP is not the one that the paper ran; Max NLI is not among its methods
        expected = dict(zip(map(title, methods), (first, none, ccp, last, none), strict=True))
        assert found(table) == expected
        assert table.rows[0] == ("A family",)
        assert table.shown()[1][1:] == [".50", *(f"{x:.3f}"[1:] for x in first)]  # as printed there
        assert table.errors[1] == (None, 0.1, None, None, None)
        assert table.note.startswith(
            "Note. The columns 'paper' are arXiv 2505.21072's for Llama 3B"
        )


def test_p_faithful_cut_at_one_half():
    names = ("franq-global", "franq-condition", "franq-condition-alone")
    firsts = [f"{title(name)}{cut}" for name in names for cut in ("", ", T = 0.5")]
    short = found(beside(ours("thresholded", firsts), "short"))
    long = found(beside(ours("thresholded", firsts), "long"))
    assert short[title("franq-global")] == (0.628, 0.537, 0.797)
    assert long[f"{title('franq-global')}, T = 0.5"] == (0.085, 0.084, 0.607)
    assert short[f"{title('franq-condition-alone')}, T = 0.5"] == (0.556, 0.515, 0.793)
    assert long[title("franq-condition-alone")] == (0.140, 0.223, 0.641)
    # ours with its fallback is not the paper's
    assert short[title("franq-condition")] == long[title("franq-condition")] == (None,) * 3


def test_p_faithful_calibrated_to_gold():
    by_gold = "branches by gold faithfulness"
    firsts = [
        f"{name}{rule}"
        for rule in ("", ", no fallback")
        for name in ("as it is", f"as it is, {by_gold}", f"calibrated, {by_gold}")
    ]
    figures = found(beside(ours("faithfulness-calibration", firsts), "long"))
    there = {name: values for name, values in figures.items() if values != (None,) * 3}
    assert there == {
        "as it is, no fallback": (0.140, 0.223, 0.641),
        f"calibrated, {by_gold}, no fallback": (0.124, 0.112, 0.587),
    }


def test_runtime_stands_beside_any_form_of_a_method():
    methods = ("p-true", "ccp:lm-polygraph", "franq-condition", "franq-condition-alone")
    table = beside(ours("runtime", map(title, methods)), "short")
    expected = {
        "p-true": ("1.3 s", "-", "-"),
        "ccp:lm-polygraph": ("1.7 s", "-", "-"),
        "franq-condition": (None, None, None),
        "franq-condition-alone": ("1.7 s", "0.58 s", "244 B"),
    }
    assert found(table) == {title(name): cells for name, cells in expected.items()}
    assert "on its own hardware" in table.note


@pytest.mark.parametrize(
    ("name", "form", "target"),
    [("p-faithful-above", "long", "factuality"), ("runtime", "long", "factuality"),
     ("thresholded", "long", "faithfulness"), ("pooled", "short", "factuality")],
)  # fmt: skip
def test_of_another_question_the_paper_has_nothing(name, form, target):
    table = ours(name, [title("faithfulness")])
    assert beside(table, form, target) is table


def test_failed_retrieval():
    methods = ("semantic-entropy", "semantic-entropy:lm-polygraph", "franq-condition-alone", "sar")
    settings = ("original", "corrupted", "shuffled")
    table = beside_spoiled(ours("robustness-prr", map(title, methods), settings), "prr")
    assert [c.title for c in table.columns[4:]] == [f"paper: {name}" for name in settings]
    assert {row[0]: row[4:] for row in table.rows if len(row) > 1} == {
        title("semantic-entropy"): (None, None, None),
        title("semantic-entropy:lm-polygraph"): (0.525, 0.447, 0.537),
        title("franq-condition-alone"): (0.541, 0.478, 0.553),
        title("sar"): (None, None, None),
    }
    auc = beside_spoiled(
        ours("robustness-pr-auc", [title("xgboost-all")], ("corrupted",)), "pr_auc"
    )
    assert auc.rows[1][2:] == (0.774,)
    other = ours("robustness-prr", [title("sar")], ("mine",))
    assert beside_spoiled(other, "prr") is other
