"""Labels, marks, filter, block, custom actions."""

import sys
from dataclasses import replace

import pytest

from franq_guard.claims import RuleSplitter
from franq_guard.label_rule import LabelRule
from franq_guard.policy import WEAK, Policy, annotate, status_of
from franq_guard.records import Claim, Verdict

ANSWER = "Rome is in Italy. Rome was founded in 1953. It is big."
SPANS = [(0, 17), (18, 43), (44, 54)]


def verdict(index, label, p_true):
    start, end = SPANS[index]
    claim = Claim(ANSWER[start:end], (SPANS[index],))
    return Verdict(claim, p_true, 0.9, 0.5, 0.5, {}, label)


@pytest.fixture
def verdicts():
    return [verdict(0, "supported", 0.9), verdict(1, "false", 0.1), verdict(2, "doubtful", 0.4)]


@pytest.mark.parametrize(
    ("p_true", "p_faithful", "label"),
    [
        (None, 0.9, "unverified"),
        (0.24, 0.9, "false"),
        (0.25, 0.9, "doubtful"),
        (0.49, 0.9, "doubtful"),
        (0.5, 0.51, "supported"),
        (0.5, 0.5, "unsupported"),
        (0.9, None, "unsupported"),
    ],
)
def test_label_boundaries(p_true, p_faithful, label):
    assert Policy().label(p_true, p_faithful) == label


# Of answers by any writer: P(true) alone makes nothing false, and nobody knows of what the passages
# do not state whether it is true.
ANY = LabelRule(threshold=0.7, false_below=None, unsupported_true=False)


@pytest.mark.parametrize(
    ("p_true", "p_faithful", "contradiction", "entailment", "rule", "label"),
    [
        (None, 0.9, 0.99, 0.0, ANY, "unverified"),
        (0.7, 0.51, 0.0, 0.9, ANY, "supported"),
        (0.7, 0.51, None, None, ANY, "supported"),
        (0.7, 0.5, 0.0, 0.0, ANY, "unsupported"),
        (0.7, 0.5, 0.0, 0.0, LabelRule(), "unsupported"),
        (0.7, 0.5, 0.0, 0.0, LabelRule(unsupported_true=True), "unsupported-true"),
        (0.7, 0.51, 0.0, 0.0, LabelRule(supported_from=0.1), "supported"),
        (0.7, 0.5, 0.0, 0.0, LabelRule(supported_from=0.1), "unclear"),
        (0.7, 0.11, 0.0, 0.0, LabelRule(supported_from=0.1, unsupported_true=True), "unclear"),
        (0.7, 0.1, 0.0, 0.0, LabelRule(supported_from=0.1), "unsupported"),
        (0.49, 0.11, 0.0, 0.0, LabelRule(supported_from=0.1), "doubtful"),
        (0.7, 0.7, 0.0, 0.0, LabelRule(supported_from=0.8), "unsupported"),
        (0.69, 0.1, 0.9, 0.0, ANY, "false"),
        (0.69, 0.1, 0.89, 0.0, ANY, "unsupported"),
        (0.01, 0.1, None, None, ANY, "unsupported"),
        (0.69, 0.6, 0.0, 0.0, ANY, "doubtful"),
        (0.24, 0.9, 0.0, 0.49, LabelRule(), "false"),
        (0.24, 0.9, 0.0, 0.5, LabelRule(), "doubtful"),  # a passage states it
        (0.24, 0.5, 0.0, 0.5, LabelRule(), "unsupported"),
        (0.3, 0.5, 0.0, 0.0, LabelRule(), "unsupported"),
        # one passage states it, another says the contrary
        (0.95, 0.9, 0.9, 0.5, ANY, "doubtful"),
        (0.01, 0.1, 0.9, 0.5, ANY, "doubtful"),
    ],
)
def test_labels_are_decided_in_order(p_true, p_faithful, contradiction, entailment, rule, label):
    found = Policy().label(
        p_true, p_faithful, contradiction=contradiction, entailment=entailment, rule=rule
    )
    assert found == label


def test_passages_that_disagree_have_a_cut_of_their_own():
    rule = LabelRule(contradiction=0.9, entailment=0.8, disagreement=0.4)
    assert rule.conflict(0.4, 0.5)
    for scores in ((0.39, 1.0), (1.0, 0.49), (None, 1.0), (1.0, None), (float("nan"), 1.0)):
        assert not rule.conflict(*scores)
    assert not rule.contradicts(0.4)  # the other cuts stay as they are
    assert not rule.entails(0.5)
    assert not replace(rule, disagreement=None).conflict(0.89, 0.8)
    with pytest.raises(ValueError, match="disagreement"):
        LabelRule(disagreement=1.1)


def test_numbers_of_the_policy_override_the_calibrators():
    assert Policy(threshold=0.6).label(0.65, 0.9, rule=ANY) == "supported"
    assert Policy(false_below=0.2).label(0.19, 0.1, rule=ANY) == "false"
    # what its rows show of unsupported claims, they show from its own threshold on
    shown = LabelRule(threshold=0.6, unsupported_true=True)
    assert Policy(threshold=0.6).label(0.65, 0.1, rule=shown) == "unsupported-true"
    assert Policy(threshold=0.5).label(0.65, 0.1, rule=shown) == "unsupported"
    # a threshold under the calibrator's false_below takes that along
    assert Policy(threshold=0.1).rule(LabelRule()).false_below == 0.1
    assert Policy(threshold=0.1).label(0.15, 0.9) == "supported"


def test_an_app_may_let_unsupported_claims_pass():
    found = [verdict(0, "unsupported", 0.5), verdict(1, "false", 0.1), verdict(2, "supported", 0.9)]
    assert Policy().apply(ANSWER, found) == (
        "Rome is in Italy [not in the passages]. Rome was founded in 1953 [likely false]. "
        "It is big."
    )
    assert [Policy().is_weak(one) for one in found] == [True, True, False]
    lenient = Policy(weak=("doubtful", "false"))
    assert [lenient.is_weak(one) for one in found] == [False, True, False]
    assert "[not in" not in lenient.apply(ANSWER, found)
    kept = Policy(action="filter", weak=("doubtful", "false")).apply(ANSWER, found)
    assert kept == "Rome is in Italy. It is big."


def test_unclear_claims_pass_unmarked_unless_an_app_flags_them():
    unclear = verdict(1, "unclear", 0.6)
    assert not Policy().is_weak(unclear)
    assert Policy().apply(ANSWER, [unclear]) == annotate(ANSWER, [unclear]) == ANSWER
    strict = Policy(weak=(*WEAK, "unclear"))
    assert strict.is_weak(unclear)
    assert strict.apply(ANSWER, [unclear]) == (
        "Rome is in Italy. Rome was founded in 1953 [may not be in the passages]. It is big."
    )
    assert strict.marked == ("false", "doubtful", "unsupported", "unclear", "unverified")
    stricter = replace(strict, action="filter")
    assert stricter.apply(ANSWER, [unclear]) == "Rome is in Italy. It is big."


def test_annotate_keeps_the_text_and_marks_weak_claims(verdicts):
    text = Policy().apply(ANSWER, verdicts)
    assert text == (
        "Rome is in Italy. Rome was founded in 1953 [likely false]. It is big [doubtful]."
    )


def test_a_mark_that_a_guard_inside_has_put_there_stands_once():
    text = "Rome was founded in 1953 [likely false]. It is big."
    again = Verdict(Claim(text[:24], ((0, 24), (39, 40))), 0.1, 0.9, 0.5, 0.5, {}, "false")
    other = Verdict(Claim("It is big.", ((41, 51),)), 0.4, 0.9, 0.5, 0.5, {}, "doubtful")
    assert Policy().apply(text, [again]) == text
    assert Policy().apply(text, [again, other]) == f"{text[:-1]} [doubtful]."
    assert Policy().apply(text, [replace(again, label="doubtful")]) == (
        "Rome was founded in 1953 [doubtful] [likely false]. It is big."
    )


def test_the_mark_of_a_formula_stands_in_a_line_of_its_own():
    text = "It is:\n$$\nx = 3\n$$\nSo it is big."
    formula = Verdict(Claim("$$ x = 3 $$.", ((7, 18),)), 0.1, 0.9, 0.5, 0.5, {}, "false")
    marked = "It is:\n$$\nx = 3\n$$\n[likely false]\nSo it is big."
    assert Policy().apply(text, [formula]) == marked
    assert Policy().apply(marked, [formula]) == marked
    unverified = replace(formula, label="unverified", p_true=None)
    other = Verdict(Claim("So it is big.", ((19, 32),)), 0.1, 0.9, 0.5, 0.5, {}, "false")
    left = Policy(action="filter").apply(text, [unverified, other])
    assert left == "It is:\n$$\nx = 3\n$$\n[unverified]"


def test_annotate_puts_the_worst_mark_where_claims_end_together(verdicts):
    twice = [verdict(1, "doubtful", 0.4), verdict(1, "false", 0.1), verdict(1, "unverified", None)]
    assert annotate(ANSWER, twice).count("[") == 1
    assert "[likely false]" in annotate(ANSWER, twice)


def test_filter_removes_weak_claims(verdicts):
    assert Policy(action="filter").apply(ANSWER, verdicts) == "Rome is in Italy."


def test_filter_with_nothing_weak_is_the_identity(verdicts):
    assert Policy(action="filter").apply(ANSWER, verdicts[:1]) == ANSWER


def test_filter_of_everything_gives_the_replacement(verdicts):
    policy = Policy(action="filter", threshold=1.0)
    weak = [verdict(i, "doubtful", 0.4) for i in range(3)]
    assert policy.apply(ANSWER, weak) == policy.replacement


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Here is what I found:\n\n- Rome is new.\n- Rome is big.", None),
        ("Hello!\n\n## Rome\n\nRome is new [1].\n\nSources:\n[1] Lee", None),
        ("| City | Age |\n|---|---|\n| Rome | new |", None),
        ("I do not know its size. Rome is new.", "I do not know its size."),
        ("Rome is new.\n\n```\nrun()\n```", "```\nrun()\n```"),
    ],
)
def test_filter_replaces_what_only_announced_the_removed_claims(answer, left):
    claims = RuleSplitter().split(answer)
    found = [replace(verdict(0, "false", 0.1), claim=claim) for claim in claims]
    for k, one in enumerate(found):
        if one.claim.not_a_claim is not None:
            found[k] = replace(one, label="not-a-claim", p_true=None)
    policy = Policy(action="filter")
    assert policy.apply(answer, found) == (policy.replacement if left is None else left)


def test_block_replaces_when_anything_is_weak(verdicts):
    policy = Policy(action="block", replacement="No.")
    assert policy.apply(ANSWER, verdicts) == "No."
    assert policy.apply(ANSWER, verdicts[:1]) == ANSWER


def test_unverified_claims_pass_marked_when_open_and_go_when_closed(verdicts):
    unsure = [verdicts[0], verdict(1, "unverified", None), verdict(2, "supported", 0.9)]
    assert "1953 [unverified]." in Policy().apply(ANSWER, unsure)
    kept_open = Policy(action="filter").apply(ANSWER, unsure)
    assert "1953 [unverified]." in kept_open
    assert "1953" not in Policy(action="filter", on_error="closed").apply(ANSWER, unsure)
    assert (
        Policy(action="block", on_error="closed", replacement="No.").apply(ANSWER, unsure) == "No."
    )
    # an open block lets it pass, but not unmarked
    assert "1953 [unverified]." in Policy(action="block").apply(ANSWER, unsure)


def test_filter_removes_around_marks():
    mixed = [
        verdict(0, "unverified", None),
        verdict(1, "false", 0.1),
        verdict(2, "unverified", None),
    ]
    text = Policy(action="filter").apply(ANSWER, mixed)
    assert text == "Rome is in Italy [unverified]. It is big [unverified]."


def test_callable_action_gets_answer_and_verdicts(verdicts):
    policy = Policy(action=lambda answer, found: f"{len(found)}: {answer[:4]}")
    assert policy.apply(ANSWER, verdicts) == "3: Rome"


@pytest.mark.parametrize(
    "wrong",
    [
        {"action": "remove"},
        {"threshold": 1.5},
        {"threshold": 0.2, "false_below": 0.3},
        {"on_error": "ajar"},
        {"weak": ("supported",)},
        {"weak": "false"},
        {"replacement": None},
        {"threshold": "0.5"},
        {"threshold": True},
        {"false_below": "x"},
    ],
)
def test_wrong_settings_raise_at_construction(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Policy(**wrong)


def test_status():
    good, bad = verdict(0, "supported", 0.9), verdict(1, "unverified", None)
    other = verdict(2, "not-a-claim", None)
    assert status_of([good, other], "...") == "ok"
    assert status_of([good, bad], "...") == "partial"
    assert status_of([bad, other], "...") == "unverified"
    assert status_of([], "...") == "unverified"  # a splitter that finds nothing is no pass
    assert status_of([other], "...") == "ok"


def test_filter_keeps_the_mark_of_an_unverified_claim_it_writes_anew():
    answer = "Paris is in France and Rome is in Spain."
    from franq_guard.claims import RuleSplitter

    first, second = RuleSplitter().split(answer)
    found = [
        Verdict(first, 0.1, 0.9, 0.5, 0.5, {}, "false"),
        Verdict(second, None, None, None, None, {}, "unverified"),
    ]
    assert Policy(action="filter").apply(answer, found) == "Rome is in Spain [unverified]."


def test_a_weak_claim_that_is_nowhere_in_the_answer_takes_all_of_it_along():
    lost = Verdict(Claim("Elephants are blue.", ()), 0.1, 0.9, 0.5, 0.5, {}, "false")
    policy = Policy(action="filter")
    assert policy.apply(ANSWER, [lost]) == policy.replacement
    assert Policy().apply(ANSWER, [lost]) == ANSWER[:-1] + " [likely false]."


def test_filter_takes_time_that_grows_with_the_answer():
    """With marks of unverified claims between the weak ones; counted in calls, not in seconds."""

    def calls(count):
        answer = "Rome is big. " * count
        spans = [(13 * i, 13 * i + 12) for i in range(count)]
        labels = ["false" if i % 2 else "unverified" for i in range(count)]
        found = [
            Verdict(Claim("Rome is big.", (span,)), None, None, None, None, {}, label)
            for span, label in zip(spans, labels, strict=True)
        ]
        made = []
        sys.setprofile(lambda frame, event, arg: made.append(event))
        try:
            text = Policy(action="filter").apply(answer, found)
        finally:
            sys.setprofile(None)
        assert text.count("Rome is big [unverified].") == count // 2
        return len(made)

    calls(4)  # so that what is loaded or compiled at first is not counted
    assert calls(400) < 6 * calls(100)  # 16 times where it grows with the square


def test_filter_of_an_empty_answer_is_empty():
    assert Policy(action="filter").apply("", []) == ""


@pytest.mark.parametrize("head", ["## Size", "Its parts:", "# Rome\n\n**Size**"])
def test_of_an_unfinished_answer_no_heading_is_left_at_the_end(head):
    """What comes may be removed: only then is it known whether the heading stays."""
    answer = f"Rome is big.\n\n{head}"
    found = [
        Verdict(claim, 0.9, 0.9, 0.5, 0.5, {}, "not-a-claim" if claim.not_a_claim else "supported")
        for claim in RuleSplitter().split(f"{answer}\n")
    ]
    policy = Policy(action="filter")
    assert policy.so_far(answer, found) == "Rome is big."
    assert policy.apply(answer, found) == Policy().so_far(answer, found) == answer


def test_actions_that_return_no_text_are_refused():
    with pytest.raises(TypeError, match="int"):
        Policy(action=lambda answer, verdicts: 5).apply(ANSWER, [])

    async def later(answer, verdicts):
        return answer

    with pytest.raises(ValueError, match="coroutine"):
        Policy(action=later)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("It is red[1].", "It is red [likely false] [1]."),
        ("It is red(see below).", "It is red [likely false] (see below)."),
        ("It is red (see below).", "It is red [likely false] (see below)."),
        ("It is red.[1]", "It is red [likely false].[1]"),
    ],
)
def test_a_mark_never_becomes_a_markdown_link(answer, text):
    claim = Claim("It is red.", ((0, 9),))
    wrong = Verdict(claim, 0.1, 0.1, 0.5, 0.5, {}, "false")
    assert Policy().apply(answer, [wrong]) == text
    unsure = replace(wrong, p_true=None, label="unverified")
    kept = Policy(action="filter").apply(f"{answer} It is big.", [unsure, _after(answer)])
    assert kept == text.replace("likely false", "unverified")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("It is in [Ulm](http://a.org).", "It is in [Ulm](http://a.org) {}."),
        ("It is in **[Ulm](b.md)**, too.", "It is in **[Ulm](b.md)** {}, too."),
        ("It is in [Ulm](http://a.org/Ulm_(city)).", "It is in [Ulm](http://a.org/Ulm_(city)) {}."),
        ("It is in [Ulm][u], too.", "It is in [Ulm][u] {}, too."),
        ("It is in Ulm [1](http://a.org).", "It is in Ulm {} [1](http://a.org)."),
        ("It is [![Ulm](u.png)](http://a.org).", "It is [![Ulm](u.png)](http://a.org) {}."),
        ("It is in **`--in a::Ulm.x`**, too.", "It is in **`--in a::Ulm.x`** {}, too."),
        ('It is in Ulm. "It is.', 'It is in Ulm {}. "It is.'),
    ],
)
def test_a_mark_stands_behind_a_link_or_code_and_not_in_it(answer, text):
    end = answer.index("Ulm") + 3
    end += answer[end : end + 2] == "]("  # where the splitter takes the address for a source
    end += 3 * answer.startswith('. "', end)  # where it takes a quotation mark for a closing one
    wrong = Verdict(Claim("It is in Ulm.", ((0, end),)), 0.1, 0.1, 0.5, 0.5, {}, "false")
    assert Policy().apply(answer, [wrong]) == text.format("[likely false]")
    unsure = replace(wrong, p_true=None, label="unverified")
    kept = Policy(action="filter").apply(f"{answer} It is big.", [unsure, _after(answer)])
    assert kept == text.format("[unverified]")


def _after(answer):
    """A false claim "It is big." after the answer and a blank."""
    place = (len(answer) + 1, len(answer) + 11)
    return Verdict(Claim("It is big.", (place,)), 0.1, 0.1, 0.5, 0.5, {}, "false")
