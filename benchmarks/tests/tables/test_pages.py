"""The figures that pages quote are those of the committed runs."""

import re
from pathlib import Path

import pytest

from franq_bench.data.labelled_answers import read_labelled
from franq_bench.tables.results import Results
from franq_bench.tables.scores import Scores
from franq_bench.tables.summary import methods_table
from franq_guard.datasets.questions import read_questions

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "benchmarks" / "results"
RUNS = ("short", "long-form", "claims-factcheck-gpt")
CHANGES = {
    "nothing: as the paper has it": "as the paper has it: condition-calibrated, no fallback",
    "the global curve where a condition has fewer than 5 true or false rows (our default)":
        "calibration: the global curve where a condition has few labels",
    'one curve for all rows ("calibrated")': "calibration: one curve for all rows (global)",
    "no calibration": "calibration: none",
    "no calibration, 1 / (1 + SE) and 1 / V as confidences":
        "calibration: none, and 1 / (1 + SE), 1 / V instead of exp(-SE), 1 - (V - 1) / 9",
    "learned: a logistic function in each branch":
        "calibration: learned, a logistic function in each branch",
    "no formula: the three signals added up (logistic regression)":
        "no formula: the three signals added up (logistic regression)",
    "no formula: trees (XGBoost)": "no formula: trees of the three signals (XGBoost)",
    "the same trees, 50 of depth 2": "the same trees, 50 of depth 2",
    "the same trees, XGBoost's own settings (100 of depth 6)":
        "the same trees, XGBoost's own settings",
    "no uncertainty: P(faithful) alone": "no uncertainty: P(faithful) alone",
    "P(faithful) cut at .5": "P_faithful: cut at 0.5",
    "a claim counts as faithful for the two curves above P(faithful) .3":
        "claims that count as faithful for the two curves: above 0.3",
    "the same above .7": "claims that count as faithful for the two curves: above 0.7",
    "P(faithful) of the answer alone": "P_faithful: of the answer alone",
    "P(faithful): Max NLI (the small model, entailment against contradiction, its best passage)":
        "P_faithful: Max NLI",
    "UQ_faith: Max Token Entropy": "UQ_faith: Max Token Entropy",
    "UQ_faith: Semantic Entropy, equal samples counted once (our default)":
        "UQ_faith: Semantic Entropy",
    "UQ_faith: Parametric Knowledge": "UQ_faith: Parametric Knowledge",
    "UQ_faith: Max NLI": "UQ_faith: Max NLI",
    "UQ_faith: Claim-Conditioned Probability": "UQ_faith: Claim-Conditioned Probability",
    "UQ_unfaith: Max Token Entropy": "UQ_unfaith: Max Token Entropy",
    "UQ_unfaith: Max Claim Probability": "UQ_unfaith: Max Sequence/Claim Probability",
    "UQ_unfaith: Parametric Knowledge": "UQ_unfaith: Parametric Knowledge",
    "the training rows of all data sets for one fit":
        "training rows: those of all data sets together",
}  # fmt: skip
"""Rows of the page's table, and of the runs' own."""
OWN = "FRANQ, learned, signals of its own"


def page_rows(page, heading):
    """The rows below a heading, by their first cell."""
    text = (ROOT / page).read_text(encoding="utf-8").split(heading)[1].split("\n#")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def shown(value):
    """A figure as pages write it: .41, -.06."""
    return f"{value:.2f}".replace("0.", ".", 1)


def test_the_rows_of_own_data_that_the_page_shows_are_read(tmp_path):
    text = (ROOT / "docs" / "paper-tables.md").read_text(encoding="utf-8")
    files = [tmp_path / name for name in ("questions.jsonl", "answers.jsonl")]
    for file, row in zip(files, re.findall(r"^{.*}$", text, re.MULTILINE), strict=True):
        file.write_text(row + "\n", encoding="utf-8")
    [question], [answer] = read_questions(files[:1]), read_labelled(files[1:])
    assert (question.answers, question.gold) == (("Bonn",), (True,))
    labels = [(claim.is_true, claim.is_faithful) for claim in answer.claims]
    assert labels == [(True, True), (False, False)]


def what_decides(run):
    return next(t for t in Results.read(RESULTS / run).tables if t.name == "one-change")


@pytest.mark.parametrize(("place", "run"), list(enumerate(RUNS)))
def test_what_decides(place, run):
    table = what_decides(run)
    made = {row[0]: (shown(row[1]), "*" in str(row[2] or "")) for row in table.rows}
    quoted = page_rows("docs/what-decides.md", "## One thing at a time")
    for words, name in CHANGES.items():
        cell = quoted[words][place]
        if name not in made or not re.match(r"-?\.\d", cell):
            assert name not in made or cell in {"", "(as it is)"}, (words, run)
            continue
        assert (cell.rstrip(" *"), "*" in cell) == made[name], (words, run)


@pytest.mark.parametrize(
    "run", [*RUNS, "short-temperature-1", "short-with-titles", "claims-refchecker-nq"]
)
def test_what_decides_starts_from_the_row_as_in_the_paper(run):
    methods = {row[0]: row for row in methods_table(Results.read(RESULTS / run)).rows}
    pr_auc, prr, _, ece = methods["FRANQ, condition-calibrated, as in the paper"][1:]
    first = what_decides(run).rows[0]
    assert first[0] == "as the paper has it: condition-calibrated, no fallback"
    assert (first[1], first[3], first[5]) == pytest.approx((prr, pr_auc, ece), abs=1e-9)


def test_the_five_lines_of_the_front_page():
    table = methods_table(Results.read(RESULTS / "short"))
    made = {row[0]: [shown(v) for v in row[1:] if v is not None] for row in table.rows}
    quoted = page_rows("README.md", "## How good")
    for words, name in {
        "Max Token Entropy": "Max Token Entropy",
        "Faithfulness score": "Faithfulness score",
        "FRANQ, learned": "FRANQ, learned",
        "FRANQ, condition-calibrated, as in the paper (no fallback)":
            "FRANQ, condition-calibrated, as in the paper",
        "FRANQ, no calibration": "FRANQ, no calibration",
    }.items():  # fmt: skip
        assert quoted[words] == made[name], words


def test_learned_franq_with_signals_of_its_own():
    """The front page has the row without the judged data set first, the other as "the same"."""
    table = next(t for t in Results.read(RESULTS / "short").tables if t.name == "own-signals")
    page = page_rows("docs/paper-tables.md", "### Signals of its own")
    for name, *cells in table.rows:
        stars = [" *" if "*" in (change or "") else "" for change in cells[1::2]]
        assert page[name] == [shown(v) + s for v, s in zip(cells[::2], stars, strict=True)], name
    made = {name: [shown(v) for v in cells[::2]] for name, *cells in table.rows}
    front = page_rows("README.md", "## How good")
    assert front["the same on the training rows of all four data sets"] == made[OWN]
    [held_out] = [cells for words, cells in front.items() if words.startswith(OWN)]
    assert held_out == made[f"{OWN}, without the data set"]


def reported(run):
    """The tables of a run's report by heading and method: the cells, without marks of the best."""
    found, heading = {}, ""
    for line in (RESULTS / run / "REPORT.md").read_text(encoding="utf-8").splitlines():
        heading = line[3:] if line.startswith("## ") else heading
        if line.startswith("| "):
            first, *rest = (cell.strip(" *_") for cell in line.strip("|").split(" | "))
            found.setdefault((heading, first), [cell.replace("_", "") for cell in rest])
    return {key: [cell.replace("*", "") for cell in cells] for key, cells in found.items()}


METHODS = {
    "faithfulness score": "Faithfulness score",
    "Logistic regression of FRANQ's three signals": "Logistic regression (FRANQ features)",
    "XGBoost, FRANQ features": "XGBoost (FRANQ features)",
    "XGBoost, all methods": "XGBoost (all features)",
    "FRANQ, not calibrated": "FRANQ, no calibration",
    "FRANQ, condition-calibrated, ours": "FRANQ, condition-calibrated",
}
"""Rows of the page of the paper's tables that the reports call otherwise."""
RANKS = ("PR-AUC", "PRR (at most half rejected)")


def test_the_page_of_the_papers_tables_long_form():
    runs = {"claims-factcheck-gpt": 0, "long-form": 2, "claims-refchecker-nq": 0}
    made = {run: reported(run) for run in runs}
    quoted = page_rows("docs/paper-tables.md", "## Claims of longer answers")
    del quoted["method"], quoted["---"]
    assert len(quoted) == 11
    for words, cells in quoted.items():
        method = METHODS.get(words, words)
        expected = [made[run][metric, method][at] for run, at in runs.items() for metric in RANKS]
        assert cells == expected, words


@pytest.mark.parametrize(
    ("run", "said"),
    [("claims-factcheck-gpt", "(247 test claims, "),
     ("claims-refchecker-nq", "(294 test claims of 50 answers ")],
)  # fmt: skip
def test_the_page_counts_the_claims_and_the_answers_that_errors_are_drawn_by(run, said):
    assert said in (ROOT / "docs" / "paper-tables.md").read_text(encoding="utf-8")
    rows = [row for row in Scores.read(RESULTS / run).rows if row.split == "test"]
    counts = re.findall(r"\d+", said)
    assert [str(len(rows)), str(len({row.group for row in rows}))][: len(counts)] == counts
    report = (RESULTS / run / "REPORT.md").read_text(encoding="utf-8")
    assert "Claims of one answer are drawn together." in report


def test_the_page_of_the_papers_tables_short_form():
    made = reported("short")
    metrics = (*RANKS, "ROC-AUC", "Expected calibration error")
    quoted = page_rows("docs/paper-tables.md", "## Short form")
    known = 0
    for words, cells in quoted.items():
        method = METHODS.get(words.partition(" (no condition")[0], words)
        if (RANKS[0], method) in made and not words.startswith("method"):
            means = [made.get((metric, method), [""] * 5)[4] for metric in metrics]
            assert cells == [*means[:2], *(mean.partition(" ")[0] for mean in means[2:])], words
            known += 1
    assert known == 13


def test_what_the_labels_are_worth():
    report = (RESULTS / "own-long" / "REPORT.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| (supported|unclear|flagged) \| (.*) \|$", report, re.MULTILINE))
    pages = [(ROOT / f"docs/{n}.md").read_text("utf-8") for n in ("captured", "verdicts")]
    told = {label: cells.split(" | ")[2] for label, cells in lines.items()}
    said = (
        f"`supported` {told['supported']} are true, of the `unclear` ones {told['unclear']} "
        f"and of the flagged ones {told['flagged']}"
    )
    assert said.replace("%", " %") in " ".join(pages[1].split())
    for label, cells in lines.items():
        assert f"| {label} | {cells} |".replace("%", " %") in pages[0]
    true, false = ([int(lines[n].split(" | ")[k]) for n in lines] for k in (3, 4))
    shares = [f"{100 * (sum(of) - of[0]) / sum(of):.0f} % of the" for of in (true, false)]
    assert f"{shares[0]} true claims and {shares[1]} false" in pages[0]
