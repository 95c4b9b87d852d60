"""The drawings and sentences of a calibrator's report, counted again row by row."""

import datetime
import re

import pytest

from franq_guard.calibration.fit import fit_calibrator, labelled, out_of_fold
from franq_guard.calibration.fitting import fit_by
from franq_guard.metrics.plots import reliability_plot
from franq_guard.report.calibration import calibration_page, calibration_plots
from franq_guard.report.calibration_words import found_text, warnings_of


@pytest.fixture(scope="module")
def rows():
    """Sixty claims of thirty answers; every fifth contradicts what its signals suggest."""
    made = []
    for i in range(60):
        likely = i % 2 == 0
        made.append(
            {
                "group": f"a{i // 2}",
                "p_faithful": (0.9 if likely else 0.2) - (i % 7) / 100,
                "uq_faith": -1.0 - (i % 5) - (0 if likely else 3),
                "uq_unfaith": -6.0 - (i % 3),
                "is_true": likely != (i % 5 == 0),
            }
        )
    return made


@pytest.fixture(scope="module")
def fitted(rows):
    return fit_calibrator(rows, name="mine", fingerprint={"language_model": "tiny/1"})


def test_the_drawings_count_what_the_fit_did_not_see(rows, fitted):
    data = labelled(rows)
    p_true = out_of_fold(fit_by(fitted.calibration), data)
    reliability, traded = calibration_plots(fitted, rows)
    lines = {line.name: line.points for line in (*reliability.lines, *traded.lines)}
    assert reliability.title == "Reliability"
    assert len(lines["P(true)"]) == len({int(10 * p - 1e-9) for p in p_true})
    # Flagged: by the threshold, or whatever P(true) is, since no passage states the claim.
    rule = fitted.labels
    flagged = [
        p < rule.threshold
        or (row["p_faithful"] <= rule.supported_from and not rule.unsupported_true)
        for p, row in zip(p_true, rows, strict=True)
    ]
    shares = []
    for wanted in (True, False):
        of = [f for f, row in zip(flagged, rows, strict=True) if row["is_true"] is wanted]
        shares.append(sum(of) / len(of))
    assert lines["the chosen one"] == (pytest.approx(tuple(shares)),)


def test_the_drawings_are_of_the_fit_with_its_weights(rows):
    """A judge says the opposite of many claims; with weight 0 nothing is learned from it."""
    opposite = [{**row, "is_true": not row["is_true"], "source": "judge"} for row in rows[:40]]
    both = [*({**row, "source": "gold"} for row in rows), *opposite]
    weights = {"judge": 0.0}
    made = fit_calibrator(both, weights=weights)
    data = labelled(both, weights)
    p_true = out_of_fold(fit_by(made.calibration), data)
    expected = reliability_plot(data.is_true, {"P(true)": p_true})
    assert calibration_plots(made, both, weights=weights)[0].lines == expected.lines
    assert calibration_plots(made, both)[0].lines != expected.lines
    assert calibration_page(made, both, weights=weights) != calibration_page(made, both)


def test_the_title_and_the_first_paragraph_say_what_was_found(rows, fitted):
    page = calibration_page(fitted, rows, data="rows.jsonl", day=datetime.date(2026, 11, 5))
    title = "Calibrator mine, for tiny/1, fitted on rows.jsonl, 2026-11-05"
    assert f"<h1>{title}</h1>" in page
    # Of 30 likely claims 6 are false (0, 10, ..., 50), of the others 6 are true (5, 15, ..., 55).
    assert "60 labelled claims of 30 answers, 30 of them true." in page
    pairs = f"in {fitted.figures['auroc']:.0%} of the pairs (50 % is chance)"
    assert pairs in page
    bare = calibration_page(fitted, rows)
    assert "<h1>Calibrator mine, for tiny/1</h1>" in bare


def test_a_warning_of_the_command_is_a_banner_of_the_page(rows, fitted):
    (few,) = warnings_of(fitted.figures)
    assert few.startswith("fitted on 60 claims only")
    banners = re.findall(
        r'class="banner"[^>]*><b>Mind:</b> ([^<]*)</p>', calibration_page(fitted, rows)
    )
    assert banners == [few]


def test_without_a_ranking_the_paragraph_does_not_claim_one():
    figures = {"n": 3, "answers": 3, "share_true": 1.0, "auroc": None, "ece": None}
    said = found_text(figures)
    assert said.startswith("3 labelled claims of 3 answers, 3 of them true.")
    assert "not enough to say" in said


@pytest.mark.parametrize("promise", [None, 0.5])
def test_the_page_measures_what_the_figures_do(rows, promise):
    """Neither statements made for the fit count, nor the claims that set a threshold."""
    real = [{**row, "source": "person:ada"} for row in rows]
    made = [
        {**row, "group": f"e{i}", "is_true": i % 2 == 0, "source": "edit", "trusted": False}
        for i, row in enumerate(rows)
    ]
    fitted = fit_calibrator(real + made, at_most_flagged=promise, about="true", name="mine")
    page = re.sub(r"<[^>]+>", " ", calibration_page(fitted, real + made))
    own = page.partition("this one, on answers it did not see")[2].split()[:2]
    assert own == [f"{fitted.figures[name]:.2f}".lstrip("0") for name in ("auroc", "ece")]
    assert f"of {fitted.figures['n']})" in page  # the worst mistakes, out of all claims


def test_a_page_about_real_answers_that_are_all_true_says_so(rows):
    """Statements made for the fit have both labels, the model's own answers one."""
    made = [{**row, "source": "edit", "trusted": False} for row in rows]
    real = [
        {**row, "group": f"r{i}", "is_true": True, "source": "gold"} for i, row in enumerate(rows)
    ]
    fitted = fit_calibrator(made + real)
    page = calibration_page(fitted, made + real)
    assert fitted.figures["auroc"] is None
    assert "All these claims have one label: nothing can be told apart." in page
    assert ">nan<" not in page
    traded = calibration_plots(fitted, made + real)[1]
    assert {line.name: len(line.points) for line in traded.lines}["by threshold"] == 0
