"""Citations: found, out of claims, and checked against the passage they name."""

import pytest

from franq_guard import Guard, Passage, Policy
from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.citations import citations, cited_by, passages_named
from franq_guard.testing import FakeFaithfulness

PASSAGES = (
    Passage("Rome is big.", title="Towns of Italy", id="doc-7"),
    Passage("Paris is old.", title="Smith 2020: Towns of France"),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Rome is big [1].", [("1",)]),
        ("Rome is big [1, 3–5].", [("1", "3", "4", "5")]),
        ("Rome is big[^2]. It is old【2†source】.", [("2",), ("2",)]),
        ("Rome is big (Smith 2020), they say (Smith et al., 2020a).",
         [("Smith 2020",), ("Smith et al., 2020a",)]),
        ("Rome is big [Source: Towns of Italy] or [doc-7].", [("Towns of Italy",), ("doc-7",)]),
        ("Rome is big [Towns of Italy].", [("Towns of Italy",)]),
        ("He said [the town] is big (in 1990), see [a page](http://a.b/1).", []),
    ],
)  # fmt: skip
def test_what_is_a_citation(text, names):
    assert [citation.names for citation in citations(text)] == names


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Rome is big [1].", ["Rome is big."]),
        ("Rome is big. [1][2] Paris is old (Smith 2020).", ["Rome is big.", "Paris is old."]),
        ("Rome [1] is big, and Paris is old [2].", ["Rome is big.", "Paris is old."]),
        ("Rome is big, see https://a.b/c?d=1.", ["Rome is big."]),
        ("Rome is [big](https://a.b/c).", ["Rome is big."]),
        ("| a | b |\n|---|---|\n| Rome [1] | big [2] |", ["Rome: b: big."]),
    ],
)
def test_claims_are_without_their_citations(text, claims):
    found = [claim for claim in RuleSplitter().split(text) if claim.not_a_claim is None]
    assert [claim.text for claim in found] == claims
    stated = " ".join(text[a:b] for claim in found for a, b in claim.spans)
    assert not any(part in stated for part in ("[1]", "[2]", "2020", "http"))


def test_a_citation_alone_is_no_claim_and_goes_with_its_sentence():
    (claim,) = RuleSplitter().split("(Smith 2020).")
    assert claim.not_a_claim == "citation"
    text = "Rome is big [1]. Paris is old [2]."
    assert remove_claims(text, RuleSplitter().split(text), [0]) == "Paris is old [2]."


def test_whose_citation_it_is():
    text = "Rome is big [1], and Paris is old and new [2][3]. Bonn is small. [4] It rains."
    claims = RuleSplitter().split(text)
    named = [[n for c in of for n in c.names] for of in cited_by(text, claims)]
    by = {claim.text: n for claim, n in zip(claims, named, strict=True)}
    assert by["Rome is big."] == ["1"]
    assert by["Bonn is small."] == ["4"]
    assert by["It rains."] == []
    assert all(n == ["2", "3"] for text, n in by.items() if text.startswith("Paris"))


@pytest.mark.parametrize(
    ("name", "index"),
    [("1", 0), ("2", 1), ("3", None), ("DOC-7", 0), ("towns of italy", 0), ("Smith 2020", 1),
     ("Jones 2020", None), ("Source 2", 1)],
)  # fmt: skip
def test_which_passage_is_named(name, index):
    assert passages_named(name, PASSAGES) == index


def findings(answer, **options):
    guard = Guard(faithfulness=FakeFaithfulness(), **options)
    found = guard.check("What is big?", PASSAGES, answer)
    return found, [(o.name, o.finding, o.passage) for v in found.verdicts for o in v.citations]


def test_right_wrong_passage_nowhere(caplog):
    caplog.set_level("CRITICAL")
    _, found = findings("Rome is big [1]. Paris is old [1]. Zebras sing loud tunes [2][9].")
    assert found == [
        ("1", "right", 0), ("1", "wrong passage", 0),
        ("2", "nowhere", 1), ("9", "nowhere", None),
    ]  # fmt: skip
    answer, found = findings("Rome is big [1].", policy=Policy(action="annotate"))
    (row,) = answer.to_dict()["verdicts"][0]["citations"]
    assert row == {
        "name": "1", "span": [12, 15], "passage": 0, "p_faithful": 1.0, "finding": "right",
    }  # fmt: skip
    _, found = findings("Rome is big. Zebras sing (Jones 2020).")
    assert found == []
