import numpy as np
import pytest

from franq_bench.tables import paper
from franq_bench.tables.method_names import MAIN, family, main, order, title
from franq_bench.tables.scores import MARKS


@pytest.mark.parametrize(
    ("model", "name", "metric", "mean"),
    [
        # the means of the paper's table 3, from the data sets of its tables 4 and 5
        ("Llama 3B", "franq-condition", "auroc", 0.802),
        ("Llama 3B", "franq-condition", "pr_auc", 0.631),
        ("Llama 3B", "franq-condition", "prr", 0.541),
        ("Llama 3B", "franq-global", "prr", 0.537),
        ("Llama 3B", "max-probability", "pr_auc", 0.558),
        ("Llama 3B", "p-true", "prr", -0.011),
        ("Llama 3B", "xgboost-all", "auroc", 0.766),
        ("Falcon 3B", "franq-condition", "auroc", 0.730),
        ("Falcon 3B", "franq-condition", "pr_auc", 0.711),
        ("Falcon 3B", "franq-none", "prr", 0.345),
        ("Falcon 3B", "faithfulness", "prr", 0.372),
        ("Falcon 3B", "sentence-sar", "pr_auc", 0.602),
    ],
)
def test_means_are_those_of_the_papers_summary(model, name, metric, mean):
    assert paper.means("short", metric)[model][name] == pytest.approx(mean, abs=0.0011)


def test_first_in_the_papers_means():
    for metric in ("pr_auc", "prr"):
        for figures in paper.means("short", metric).values():
            assert max(figures, key=figures.get) == "franq-condition"
    assert paper.means("short", "ece") == {
        "Llama 3B": pytest.approx(paper.means("short", "ece")["Llama 3B"])
    }
    assert paper.means("short", "ece")["Llama 3B"]["franq-condition"] == 0.07
    assert paper.means("long", "pr_auc")["Falcon 3B"]["franq-condition"] == 0.173


def test_tables_name_their_source():
    short, long = paper.paper_tables("short"), paper.paper_tables("long")
    assert [t.title for t in short] == [
        "The paper's table 4: Llama 3B",
        "The paper's table 5: Falcon 3B",
        "The paper's table 14b: Llama 3B",
    ]
    assert len(long) == 3
    assert all("2505.21072v2" in t.note and "not a target" in t.note for t in short + long)
    assert len({t.name for t in short + long}) == 6
    (row,) = (row for row in short[0].rows if row[0] == title("franq-condition"))
    assert row[1:4] == (0.748, 0.526, 0.409)  # NQ: ROC-AUC, PR-AUC, PRR
    assert np.shape(short[0].rows) == (21, 13)


def test_order_and_families():
    names = ["franq-condition", "own", "p-true", "xgboost-all", "max-probability", "faithfulness"]
    assert order(names) == [
        "max-probability", "p-true", "faithfulness", "own", "xgboost-all", "franq-condition",
    ]  # fmt: skip
    assert [family(n) for n in order(names)] == [
        "Information-based", "Reflexive", "RAG-specific", "Other", "XGBoost", "FRANQ",
    ]  # fmt: skip
    assert title("own") == "own"
    assert title("ccp:lm-polygraph").endswith("(lm-polygraph)")
    assert {title(mark) for mark in MARKS}.isdisjoint(MARKS)  # the browser of mistakes shows them
    assert main(["perplexity", *MAIN]) == list(MAIN)
    assert main(["own", "other"]) == ["own", "other"]
