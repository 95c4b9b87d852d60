"""What a report says in words: its heading, its first paragraph, its banner."""

import pytest

from franq_bench.tables.findings import findings, heading, too_few
from franq_bench.tables.results import Dataset, Results, Row

SETTINGS = {"form": "long", "language_model": "writer-1b/abc/float32", "date": "2026-01-31"}


def results(*rows, names=("nq",), settings=SETTINGS):
    return Results(settings, {}, tuple(Dataset(n, 40, 60) for n in names), rows)


def row(method, auroc, error=0.01, *, ece=None, dataset="nq"):
    return Row(dataset, method, auroc=auroc, auroc_se=error, ece=ece, ece_se=None)


def test_the_heading_names_model_data_and_date():
    said = heading(results(names=("nq", "pop")))
    assert said == "Benchmark report: claims of long answers of writer-1b on nq, pop, 2026-01-31"
    assert heading(results(names="abcd", settings={})) == (
        "Benchmark report: short answers on 4 data sets"
    )


def test_the_first_paragraph_says_who_is_first_and_where_franq_stands():
    own = row("franq-condition", 0.7, ece=0.05)
    alone = row("franq-condition-alone", 0.7)
    other = row("perplexity", 0.8, ece=0.2)
    # the two variants of FRANQ are equal by ROC-AUC: one method is better than each
    assert findings(results(other, own, row("max-probability", 0.6), alone)) == (
        "Found on 60 test rows of 1 data set: Perplexity tells true from false best (ROC-AUC .80 "
        "±.01); FRANQ, condition-calibrated, as in the paper, is number 2 of 4 (.70 ±.01); FRANQ, "
        "condition-calibrated, is number 2 of 4 (.70 ±.01). FRANQ, "
        "condition-calibrated is best calibrated (Expected calibration error .05), first of 2."
    )
    assert "FRANQ" not in findings(results(row("perplexity", 0.8)))
    assert findings(results()) == "No method could be judged on 60 test rows of 1 data set."


@pytest.mark.parametrize("turn", [1, -1])
def test_equal_methods_are_first_together(turn):
    rows = [row("perplexity", 0.8), row("franq-condition", 0.8), row("max-probability", 0.6)][
        ::turn
    ]
    said = findings(results(*rows))
    assert "Perplexity" in said
    assert "FRANQ, condition-calibrated" in said
    assert said.endswith(" tell true from false best (ROC-AUC .80 ±.01), first of 3.")


def test_of_several_data_sets_the_mean_is_told():
    rows = (row("perplexity", 0.9, dataset="nq"), row("perplexity", 0.8, dataset="mean"))
    assert "ROC-AUC .80" in findings(results(*rows, names=("nq", "pop")))


@pytest.mark.parametrize(("error", "few"), [(0.02, False), (0.04, True), (None, False)])
def test_too_few_rows_to_rank_are_said(error, few):
    banners = list(too_few(results(*(row(m, 0.7, error) for m in ("perplexity", "franq-none")))))
    assert bool(banners) is few
    if few:
        assert "standard error of about .04" in banners[0].markdown()
        assert 'class="banner"' in banners[0].html()
