"""What is said of the grades of a run's answers."""

from types import SimpleNamespace

from franq_bench.cli.grades import tell_grades
from franq_bench.tables.scores import Score, Scores


def _row(name, at, split, is_true):
    return Score(str(at), name, split, bool(is_true), {"sar": 0.5})


def test_agreement_and_labels_that_are_all_one_are_told(tmp_path, capsys):
    rows = [_row("squad", i, "train", 1) for i in range(3)]
    rows += [_row("squad", 3, "test", 0)]  # is not fitted on
    rows += [_row("trivia", i, "train", i % 2) for i in range(2)]
    rows += [_row("webqa", 0, "train", 0)]
    Scores(tuple(rows)).write(tmp_path)
    counts = {"same": 5, "different": 2}
    tell_grades(SimpleNamespace(settings={"answers_graded_as_by_alias": counts}), tmp_path)
    assert capsys.readouterr().err.splitlines() == [
        "the grader agrees with the aliases on 5 of 7 answers",  # 5 + 2
        "warning: nothing can be fitted on squad: all training answers are graded true",
        "warning: nothing can be fitted on webqa: all training answers are graded false",
    ]
    tell_grades(SimpleNamespace(settings={}), tmp_path)
    assert "grader" not in capsys.readouterr().err
