"""Tables of committed runs, as the tests of pages look them up."""

from pathlib import Path

import pytest

from franq_bench.tables.results import Results
from franq_bench.tables.stored import report_table, table_of
from franq_guard.report.tables import Column, Table, number

SHORT = Path(__file__).parents[2] / "results" / "short"
ENTROPY = "Max Token Entropy"


def test_tables_of_the_rows_and_stored_ones():
    results = Results.read(SHORT)
    mean = {row.method: row for row in results.rows if row.dataset == "mean"}
    row = mean["max-token-entropy"]
    figures = {cells[0]: cells[1:] for cells in table_of(SHORT, "methods").rows}
    assert figures[ENTROPY] == (row.pr_auc, row.prr, row.auroc, row.ece)
    assert table_of(SHORT, "prr").title == "PRR (at most half rejected) on the test parts"
    assert table_of(SHORT, "one-change") in results.tables
    with pytest.raises(ValueError, match=r"no table 'nothing'; there are: summary, methods, .*prr"):
        table_of(SHORT, "nothing")


def test_a_report_shows_what_the_results_hold():
    made, shown = table_of(SHORT, "one-change"), report_table(SHORT / "REPORT.md", CHANGES)
    assert [list(row.values())[1:] for row in shown] == made.shown()
    rows = report_table(SHORT / "REPORT.md", "PRR (at most half rejected) on the test parts")
    (own,) = (row for row in rows if row["method"] == ENTROPY)
    value, error = next(
        row.figure("prr")
        for row in Results.read(SHORT).rows
        if (row.dataset, row.method) == ("mean", "max-token-entropy")
    )
    assert own["mean"] == f"{number(value)} ±{number(error)}"
    assert own[""] == "Information-based"


CHANGES = "What decides: one thing changed at a time"


def test_marks_and_escapes_are_taken_off(tmp_path):
    columns = (Column("a_b"), Column("x", "higher"), Column("change"))
    rows = (("one",), ("P_f | *", 0.5, "+.05 [.01, .09] *"), ("two",), ("c", 0.4, "-"))
    file = tmp_path / "REPORT.md"
    file.write_text("# R\n\n" + Table("t", "A_title [1]", columns, rows, "Note.").markdown())
    assert report_table(file, "A_title [1]") == [
        {"": "one", "a_b": "P_f | *", "x": ".50", "change": "+.05 [.01, .09] *"},
        {"": "two", "a_b": "c", "x": ".40", "change": "-"},
    ]
    with pytest.raises(ValueError, match="no table with the title 'B'"):
        report_table(file, "B")


@pytest.mark.parametrize(
    "run",
    ["short", "short-temperature-1", "short-with-titles", "long-form", "claims-factcheck-gpt",
     "claims-refchecker-nq"],
)  # fmt: skip
def test_what_decides_starts_from_the_row_as_in_the_paper(run):
    methods = {row[0]: row for row in table_of(SHORT.parent / run, "methods").rows}
    pr_auc, prr, _, ece = methods["FRANQ, condition-calibrated, as in the paper"][1:]
    first = table_of(SHORT.parent / run, "one-change").rows[0]
    assert first[0] == "as the paper has it: condition-calibrated, no fallback"
    assert (first[1], first[3], first[5]) == pytest.approx((prr, pr_auc, ece), abs=1e-9)
