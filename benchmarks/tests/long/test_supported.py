"""What is called supported, counted against what was read."""

from franq_bench.long.supported import supported
from franq_bench.tables.scores import GOLD, Score


def claim(name, faithful, truth, stated=None, contradiction=0.02):
    scores = {"faithfulness": faithful, "max-token-entropy": 0.95, "entailment": faithful}
    scores |= {"contradiction": contradiction} | ({} if stated is None else {GOLD: stated})
    return Score(name, "squad", "test", truth, scores, group=name)


def test_claims_are_counted_by_how_far_the_passages_state_them():
    rows = [
        claim("a", 0.99, 1, 1.0),
        claim("b", 0.99, 1, 0.0),
        claim("c", 0.99, 0),  # nobody said whether it is stated
        claim("d", 0.4, 1, 0.0),
        claim("e", 0.05, 1, 1.0),  # under the cut: not supported
        claim("f", 0.99, 1, 1.0, contradiction=0.99),  # passages disagree
    ]
    assert supported(rows).splitlines()[2:] == [
        "| above 0.1 | 4 | 33% | 75% |",
        "| 0.1 to 0.5 | 1 | 0% | 100% |",
    ]
    assert supported([]).splitlines()[2] == "| above 0.1 | 0 | - | - |"
