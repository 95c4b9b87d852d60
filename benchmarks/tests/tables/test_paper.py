import numpy as np
import pytest

from franq_bench.tables import paper
from franq_bench.tables.method_names import MAIN, family, main, order, title
from franq_bench.tables.scores import MARKS


@pytest.mark.parametrize(
    ("model", "name", "metric", "mean"),
    [
        # ROC-AUC: means of the tables by data set; the others stand in the table of means
        ("Llama 3B", "franq-condition-alone", "auroc", (0.748 + 0.763 + 0.821 + 0.877) / 4),
        ("Falcon 3B", "franq-condition-alone", "auroc", (0.668 + 0.781 + 0.695 + 0.776) / 4),
        ("Llama 3B", "franq-condition-alone", "pr_auc", 0.631),
        ("Llama 3B", "franq-condition-alone", "prr", 0.541),
        ("Llama 3B", "franq-global", "prr", 0.537),
        ("Llama 3B", "max-probability", "pr_auc", 0.558),
        ("Falcon 3B", "franq-condition-alone", "pr_auc", 0.711),
        ("Falcon 3B", "franq-none", "prr", 0.345),
        ("Falcon 3B", "faithfulness", "prr", 0.372),
        ("Llama 8B", "mean-token-entropy", "pr_auc", 0.640),
        ("Gemma 12B", "xgboost-all", "prr", 0.301),
    ],
)
def test_means_are_those_of_the_papers_summary(model, name, metric, mean):
    assert paper.means("short", metric)[model][name] == pytest.approx(mean)


def test_the_table_of_means_agrees_with_the_tables_by_data_set():
    whole = [b for b in paper._blocks("short") if b["datasets"] == ["mean"]]
    sets = [b for b in paper._blocks("short") if len(b["datasets"]) == 4]
    assert len(sets) == 2
    for block in sets:
        (mean,) = (b for b in whole if b["model"] == block["model"] and "prr" in b["rows"]["ccp"])
        for name, figures in block["rows"].items():
            for metric in ("pr_auc", "prr"):
                assert np.mean(figures[metric]) == pytest.approx(
                    mean["rows"][name][metric][0], abs=0.0021
                ), (block["model"], name, metric)


def test_first_in_the_papers_means():
    first = {
        (metric, model): max(figures, key=figures.get)
        for metric in ("pr_auc", "prr")
        for model, figures in paper.means("short", metric).items()
    }
    assert first.pop(("prr", "Gemma 12B")) == "xgboost-all"
    assert len(first) == 7
    assert set(first.values()) == {"franq-condition-alone"}
    assert paper.means("short", "ece") == {
        "Llama 3B": pytest.approx(paper.means("short", "ece")["Llama 3B"])
    }
    assert paper.means("short", "ece")["Llama 3B"]["franq-condition-alone"] == 0.07
    assert paper.means("long", "pr_auc")["Falcon 3B"]["franq-condition-alone"] == 0.173


def test_figures_stand_beside_the_form_that_the_paper_ran():
    short = paper.means("short", "prr")["Llama 3B"]
    assert (short["semantic-entropy:lm-polygraph"], short["ccp:lm-polygraph"]) == (0.525, 0.443)
    of_prompt, of_form = "p-true:lm-polygraph-prompt", "p-true:lm-polygraph"
    for there, name in (((of_form, of_prompt), of_prompt), ((of_form,), of_form), ((), of_prompt)):
        long = paper.means("long", "prr", there=there)["Llama 3B"]
        assert long[name] == 0.207
        assert not {"ccp", "p-true", "franq-condition", of_form, of_prompt} - {name} & set(long)
    assert not {"semantic-entropy", "ccp", "franq-condition"} & set(short)


def test_another_target_has_other_figures():
    (found,) = paper.means("long", "prr", "faithfulness").values()
    assert (found["faithfulness"], found["parametric-knowledge"]) == (0.789, -0.704)
    assert not {"franq-condition", "franq-condition-alone"} & set(found)
    assert paper.means("long", "ece", "faithfulness") == {}
    assert paper.means("short", "prr", "faithfulness") == {}
    assert paper.means("long", "prr", "") == {}


def test_every_label_of_the_papers_further_tables_has_a_name_of_ours():
    names = {"spoiled", "runtime", "above", "below", "faithfulness-target", "thresholded"}
    further = [t for t in paper._read()["further"] if t["name"] in names]
    assert {t["name"] for t in further} == names
    for table in further:
        methods = {row[0].removesuffix(" T=0.5") for row in table["rows"]}
        assert methods <= set(paper.LABELS), table["name"]
    assert all(title(name) != name for name in paper.OURS)  # all are methods that we know


def test_the_cut_at_one_half_stands_in_both_forms():
    for form in ("short", "long"):
        (cut,) = (t for t in paper.paper_tables(form) if t.name == f"paper-{form}-thresholded")
        assert cut.rows[-1][0] == "FRANQ condition-calibrated T=0.5"
        assert cut.rows[-1][1:] == (0.587, 0.111, 0.18, 0.793, 0.556, 0.515)


def test_tables_name_their_source():
    short, long = paper.paper_tables("short"), paper.paper_tables("long")
    assert [t.title.removeprefix("The paper, short form, ") for t in short[:6]] == [
        "mean over four data sets: Llama 3B",
        "mean over four data sets: Falcon 3B",
        "mean over four data sets: Llama 8B",
        "mean over four data sets: Gemma 12B",
        "by data set: Llama 3B",
        "by data set: Falcon 3B",
    ]
    assert all("2505.21072" in t.note and "not a target" in t.note for t in short + long)
    assert len({t.name for t in short + long}) == len(short + long) == 13 + 11
    (row,) = (row for row in short[4].rows if row[0] == title("franq-condition"))
    assert row[1:4] == (0.748, 0.526, 0.409)  # NQ: ROC-AUC, PR-AUC, PRR
    assert np.shape(short[4].rows) == (15, 13)
    (row,) = (i for i, row in enumerate(long[3].rows) if row[0] == title("franq-global"))
    assert long[3].rows[row][1:] == (0.150, 0.401)  # Gemma 4B
    assert long[3].errors[row][1:] == (0.005, 0.022)


def test_the_papers_figures_are_marked_as_they_are_printed():
    """PR-AUC .631 is the highest mean; .628 and .629 would look the same with two decimals."""
    means = paper.paper_tables("short")[0]
    column = [c.title for c in means.columns].index("mean PR-AUC")
    shown = {row[0]: row[column] for row in means.shown()}
    marked = {means.shown()[row][column]: mark for (row, at), mark in means.marks().items()
              if at == column}  # fmt: skip
    figures = sorted((f for f in shown.values() if f.startswith(".")), reverse=True)
    assert figures[:3] == [".631", ".629", ".628"]
    assert marked == {".631": "best", ".629": "second"}
    assert "**.631** ±.007" in means.markdown()
    ece = next(t for t in paper.paper_tables("short") if "calibration" in t.title)
    assert ".07" in {row[1] for row in ece.shown()}  # printed with two decimals
    cut = next(t for t in paper.paper_tables("long") if t.name == "paper-long-faithfulness-target")
    assert "-.704" in {cell for row in cut.shown() for cell in row}


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
