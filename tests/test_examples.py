"""The core's examples run as they stand."""

import runpy
from pathlib import Path

from franq_guard.language_model.transformers import smollm2
from franq_guard.policy import MARKS

WRONG = ("Gustave Eiffel", "in San Francisco")
EXAMPLES = Path(__file__).parent.parent / "examples"


def test_check_an_answer(capsys):
    result = runpy.run_path(str(EXAMPLES / "check_an_answer.py"))["main"]()
    assert len(result.verdicts) == 2
    assert "P(true)" in capsys.readouterr().out


def test_short_form(capsys, monkeypatch, smollm):
    monkeypatch.setattr(smollm2, "load_bundled", lambda: smollm)
    main = runpy.run_path(str(EXAMPLES / "short_form.py"))["main"]
    monkeypatch.setitem(main.__globals__, "ASKED", main.__globals__["ASKED"][:1])  # 12 s each
    answers = main()
    assert len(answers) == 1
    assert all(a.status == "ok" and len(a.verdicts) == 1 for a in answers)
    assert all(
        {"semantic_entropy", "sum_of_eigenvalues"} <= set(a.verdicts[0].raw) for a in answers
    )
    assert all(a.timings["samples"] > 0 for a in answers)
    assert "seconds" in capsys.readouterr().out


def test_annotate_and_filter(capsys):
    results = runpy.run_path(str(EXAMPLES / "annotate_and_filter.py"))["main"]()
    labels = [v.label for v in results["annotate"].verdicts]
    # the wrong name, and what the passage does not say; what it states has no mark
    assert labels[0] == labels[3] == "supported"
    assert all(label in ("unsupported", "false") for label in labels[1:3])
    marked = results["annotate"].text
    assert all(
        f"{words} {MARKS[label]}" in marked for words, label in zip(WRONG, labels[1:3], strict=True)
    )
    assert "Eiffel" not in results["filter"].text
    assert capsys.readouterr().out.startswith("annotate: The Golden Gate Bridge")
