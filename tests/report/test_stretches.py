"""What is shown of the passages, for and against a claim, and how many claims have which label."""

import html
import io
from dataclasses import replace

import pytest
from rich.console import Console

from franq_guard.policy import Policy
from franq_guard.records import CitationFinding, Claim, Evidence, GuardedAnswer, Passage, Verdict
from franq_guard.report.counts import Counts
from franq_guard.report.stretches import stretches
from franq_guard.report.terminal import print_answer, print_legend

PASSAGES = [Passage("Ann built it in 1900.", "{Ann}"), Passage("It is old. Bob built it.")]
FOR, AGAINST = Evidence(0, 0, 21, 0.9), Evidence(1, 11, 24, 0.95)


def verdict(label, p=0.5, reason=None, **stretch):
    return Verdict(Claim("Ann built it.", ((0, 13),)), p, p, p, p, {}, label, reason, **stretch)


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            verdict("supported", 0.9, evidence=FOR),
            ["passage 1 ({Ann}) says: Ann built it in 1900."],
        ),
        # half faithful is not faithful: what lies closest supports nothing
        (
            verdict("false", 0.5, evidence=FOR, against=AGAINST),
            [
                "closest is passage 1 ({Ann}): Ann built it in 1900.",
                "passage 2 says otherwise: Bob built it.",
            ],
        ),
        (
            verdict("doubtful", 0.1, "conflict", evidence=FOR, against=AGAINST),
            [
                "passage 1 ({Ann}) says: Ann built it in 1900.",
                "passage 2 says otherwise: Bob built it.",
            ],
        ),
        (verdict("false", against=AGAINST), ["passage 2 says otherwise: Bob built it."]),
        # it was not enough for the label
        (verdict("unsupported", against=AGAINST), ["passage 2 may say otherwise: Bob built it."]),
        # the closest stretch is the one against it: shown once
        (
            verdict("false", evidence=AGAINST, against=AGAINST),
            ["passage 2 says otherwise: Bob built it."],
        ),
        # no stretch both says it and may say otherwise
        (
            verdict("supported", 0.9, evidence=AGAINST, against=AGAINST),
            ["passage 2 says: Bob built it."],
        ),
        (
            verdict("supported", 0.9, evidence=FOR, against=AGAINST),
            [
                "passage 1 ({Ann}) says: Ann built it in 1900.",
                "passage 2 may say otherwise: Bob built it.",
            ],
        ),
        # the calibrator's bound on P(faithful) decided on the label, not one half
        (
            verdict("unclear", 0.3, evidence=FOR),
            ["passage 1 ({Ann}) may say so: Ann built it in 1900."],
        ),
        (
            verdict("unsupported", 0.9, evidence=FOR),
            ["closest is passage 1 ({Ann}): Ann built it in 1900."],
        ),
        (verdict("unverified", None), []),
        (verdict("false", against=Evidence(7, 0, 1, 0.9)), []),  # of other passages than these
        (verdict("false", against=Evidence(-1, 0, 1, 0.9)), []),
    ],
)
def test_what_passages_say_for_and_against_a_claim(found, lines):
    assert [stretch.line(100) for stretch in stretches(found, PASSAGES)] == lines


def test_a_long_stretch_is_cut():
    (found,) = stretches(verdict("false", against=AGAINST), PASSAGES)
    assert found.line(8) == "passage 2 says otherwise: Bob bui…"


def printed(show):
    console = Console(file=io.StringIO(), width=200)
    show(console)
    return console.file.getvalue()


def test_the_terminal_shows_both_sides_and_the_counts():
    found = (
        verdict("doubtful", 0.9, "conflict", evidence=FOR, against=AGAINST),
        verdict("unsupported", 0.5, "prior"),
        verdict("unverified", None, "language"),
        verdict("not-a-claim", None, "greeting"),
    )
    answer = GuardedAnswer("Ann.", "Ann.", found, "partial", "any writer", likelihoods="none")
    text = printed(lambda console: print_answer(console, "Who?", answer, PASSAGES))
    assert "passage 1 ({Ann}) says: Ann built it in 1900." in text
    assert "passage 2 says otherwise: Bob built it." in text
    assert "(conflict)" in text
    assert (
        "2 of 3 claims checked, 2 flagged: 1 unsupported, 1 doubtful, 1 unverified; "
        "calibrator: any writer; likelihoods: none; checked in 0.00 s"
    ) in text
    lenient = Policy(weak=("false", "doubtful"))
    text = printed(lambda console: print_answer(console, "?", answer, PASSAGES, policy=lenient))
    assert "2 of 3 claims checked, 1 flagged" in text


def test_log_probabilities_that_are_not_weighed_come_with_what_to_do():
    told = replace(verdict("supported", 0.9), raw={"log_probability": -1.0})
    answer = GuardedAnswer("Ann.", "Ann.", (told,), "ok", "any writer")
    text = " ".join(printed(lambda console: print_answer(console, "?", answer, PASSAGES)).split())
    assert "likelihoods: none (the writer's are known; `franq calibrate` makes use of them)" in text


def test_the_legend_explains_what_was_shown_once_and_nothing_else():
    found = [verdict("unsupported", 0.5, "prior")] * 2 + [verdict("not-a-claim", None, "greeting")]
    text = printed(lambda console: print_legend(console, found))
    assert [line.split("  ")[0] for line in map(str.strip, text.splitlines())] == [
        "unsupported",
        "not-a-claim",
        "(prior)",
    ]
    assert "The passages do not say this; whether it is true is unknown." in text
    assert printed(lambda console: print_legend(console, [])) == ""


def test_the_terminal_shows_what_came_of_each_citation():
    rows = (
        ("1", 0, 0.51, "right"),
        ("1", 0, 0.5, "right"),  # enough for the calibrator's rule
        ("2", 1, 0.1, "wrong passage"),
        ("Bob", 1, 0.1, "nowhere"),
        ("9", None, None, "nowhere"),
    )
    cited = tuple(CitationFinding(name, (0, 1), at, p, finding) for name, at, p, finding in rows)
    found = replace(verdict("supported", 0.9), citations=cited)
    answer = GuardedAnswer("Ann.", "Ann.", (found,), "ok", "any writer")
    lines = printed(lambda console: print_answer(console, "Who?", answer, PASSAGES)).splitlines()
    assert [line.strip() for line in lines if "cites" in line] == [
        "cites passage 1, which says this",
        "cites passage 1, which may say this",
        "cites passage 2, which does not say this; another passage does",
        'cites "Bob", which does not say this, and neither does another passage',
        "cites passage 9, but there is no such passage",
    ]


def test_the_terminal_shows_which_words_differ():
    found = replace(verdict("false", 0.1, against=AGAINST), differs=(("Ann", "Bob"), ("", "not")))
    answer = GuardedAnswer("Ann.", "Ann.", (found,), "ok", "any writer")
    text = printed(lambda console: print_answer(console, "Who?", answer, PASSAGES))
    lines = [line.strip() for line in text.splitlines()]
    first = lines.index('differs: "Ann", the passage has "Bob"')
    assert lines[first - 1] == "passage 2 says otherwise: Bob built it."
    assert lines[first + 1] == 'differs: the passage has "not"'
    assert 'differs: "Ann", the passage has "Bob"' in html.unescape(answer.to_html())


def test_the_legend_ends_with_the_promise():
    promise = {"at_most_flagged": 0.1, "of": "stated claims", "confidence": 0.9, "n": 99}
    shown = [verdict("unsupported", 0.5, "prior")]
    text = printed(lambda console: print_legend(console, shown, [promise]))
    said = "promise: at most 10 % of the stated claims are flagged, at 90 % confidence (n = 99)"
    assert text.splitlines()[-1].strip() == said
    assert "promise" not in printed(lambda console: print_legend(console, shown))
    assert printed(lambda console: print_legend(console, [], [promise])) == ""


def test_counts_of_several_answers():
    counts = Counts(Policy())
    assert str(counts) == "0 claims"
    one = GuardedAnswer("A", "A", (verdict("supported", 0.9),), "ok")
    assert str(counts.add(one)) == "1 claim: 1 supported; 0 flagged"
    lost = verdict("unverified", None, "error")
    more = GuardedAnswer("A", "A", (verdict("false", 0.1), lost, lost), "partial")
    assert str(counts.add(more)) == "4 claims: 1 supported, 1 false, 2 unverified; 1 flagged"
    # those that could not be checked stay apart where they count as weak, too
    assert Counts(Policy(on_error="closed")).add(more).flagged == 1
