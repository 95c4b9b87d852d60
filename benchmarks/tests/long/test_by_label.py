"""Claims by the label that they get, counted against what was read."""

from franq_bench.long.by_label import by_label
from franq_bench.tables.scores import GOLD, Score


def claim(name, faithful, truth, stated=None, contradiction=0.02):
    scores = {"faithfulness": faithful, "max-token-entropy": 0.95, "entailment": faithful}
    scores |= {"contradiction": contradiction} | ({} if stated is None else {GOLD: stated})
    return Score(name, "squad", "test", truth, scores, group=name)


def test_claims_are_counted_by_label():
    rows = [
        claim("a", 0.99, 1, 1.0),
        claim("b", 0.99, 1, 0.0),
        claim("c", 0.99, 0),  # nobody said whether it is stated
        claim("d", 0.4, 1, 0.0),
        claim("e", 0.05, 1, 1.0),  # under the cut
        claim("f", 0.99, 0, 1.0, contradiction=0.99),  # passages disagree
    ]
    assert by_label(rows).splitlines()[2:] == [
        "| supported | 3 | 50% | 67% | 2 | 1 |",
        "| unclear | 1 | 0% | 100% | 1 | 0 |",
        "| flagged | 2 | 100% | 50% | 1 | 1 |",
    ]
    assert by_label([]).splitlines()[2] == "| supported | 0 | - | - | 0 | 0 |"
