from dataclasses import replace
from pathlib import Path

import pytest

from franq_guard.datasets.claim_set import CHOSEN, ClaimJudgement, ClaimSet
from franq_guard.records import Claim, ClaimLabel, Generation, Passage, Token, Trace

TEXT = "It is old. It is tall."
TRACE = Trace(
    "How is it?",
    (Passage("The tower is old.", title="Tower", id="p1"), Passage("Trees grow.")),
    Generation(
        TEXT,
        (Token(-1, 0, 10, -0.5, 0.25), Token(-1, 10, len(TEXT), -1.5)),
        prompt="<p>",
        source="captured",
        writer="lm",
    ),
    samples=(Generation("Old."),),
    claims=(
        Claim("It is old.", ((0, 10),), context="tower", full="The tower is old."),
        Claim("It is tall.", ((11, 22),), not_a_claim="question"),
    ),
    labels=(ClaimLabel(True, False), ClaimLabel()),
    contrast_prompt="<q>",
    id="a1",
)


def made(folder: Path) -> ClaimSet:
    found = ClaimSet.create(folder, {"model": "m"})
    found.add_answer(replace(TRACE, labels=()))
    return found


def said(source: str, claim: int = 0, **what: str) -> ClaimJudgement:
    return ClaimJudgement("a1", claim, source, **what)  # type: ignore[arg-type]


def test_people_come_before_judges_and_the_last_vote_counts(tmp_path: Path) -> None:
    found = made(tmp_path)
    found.add(said("judge:m", factuality="true", faithfulness="faithful"))
    found.add(said("person:ada", factuality="true"))
    found.add(said("person:ada", factuality="false"))
    (trace,) = ClaimSet(tmp_path).labelled()
    # Ada says nothing of faithfulness, so the judge's label stands there.
    assert trace.labels == (ClaimLabel(False, True, source="person"), ClaimLabel(trusted=False))


def test_of_several_people_the_majority_counts_and_a_tie_is_not_known(tmp_path: Path) -> None:
    found = made(tmp_path)
    for person, vote in (("a", "true"), ("b", "false")):
        found.add(said(f"person:{person}", factuality=vote))
    assert found.labelled()[0].labels[0].is_true is None
    found.add(said("person:c", factuality="false"))
    assert found.labelled()[0].labels[0].is_true is False
    assert found.labelled(["person:a"])[0].labels[0].is_true is True


def test_a_vote_taken_back_is_gone_and_unverifiable_is_kept(tmp_path: Path) -> None:
    found = made(tmp_path)
    found.add(said("person:ada", factuality="true"))
    found.add(said("person:ada"))
    found.add(said("person:ada", claim=1, factuality="unverifiable"))
    (left,) = found.judgements()
    assert left.factuality == "unverifiable"
    assert left.is_true is None


def test_a_torn_line_costs_that_line_alone(tmp_path: Path) -> None:
    found = made(tmp_path)
    for name in ("answers.jsonl", "labels.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write('{"answer": "a1", "cl')
    found.add(said("gold", factuality="true"))
    found.add_answer(replace(TRACE, id="a2", labels=()))
    again = ClaimSet(tmp_path)
    assert [trace.id for trace in again.answers()] == ["a1", "a2"]
    assert [judgement.source for judgement in again.judgements()] == ["gold"]


def test_going_on_needs_the_same_settings(tmp_path: Path) -> None:
    made(tmp_path)
    assert len(ClaimSet.create(tmp_path, {"model": "m"}).answers()) == 1
    with pytest.raises(ValueError, match=r"other settings \(model\)"):
        ClaimSet.create(tmp_path, {"model": "other"})


def test_a_set_of_an_earlier_version_which_had_fewer_settings_goes_on(tmp_path: Path) -> None:
    made(tmp_path)
    assert len(ClaimSet.create(tmp_path, {"model": "m", "retrieval": "bm25"}).answers()) == 1
    assert ClaimSet(tmp_path).settings == {"model": "m"}


def test_a_folder_without_a_set_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="franq dataset build"):
        ClaimSet(tmp_path)
    (tmp_path / "set.json").write_text('{"schema": "other"}')
    with pytest.raises(ValueError, match="does not describe"):
        ClaimSet(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "nobody"},
        {"source": "judge"},
        {"source": "gold:x"},
        {"factuality": "maybe"},
        {"faithfulness": "true"},
        {"claim": -1},
        {"answer": ""},
        {"other": 1},
    ],
)
def test_wrong_judgements_are_refused(wrong: dict[str, object]) -> None:
    row = {"answer": "a1", "claim": 0, "source": "gold", **wrong}
    with pytest.raises(ValueError, match=r"must be|not a judgement|must not"):
        ClaimJudgement.from_dict(row)


def test_an_answer_needs_an_id_and_claims(tmp_path: Path) -> None:
    found = made(tmp_path)
    for broken in (replace(TRACE, id=None), replace(TRACE, claims=None, labels=())):
        with pytest.raises(ValueError, match="needs an id and its claims"):
            found.add_answer(broken)


def test_a_promise_rests_on_people_where_there_are_any(tmp_path: Path) -> None:
    found = made(tmp_path)
    found.add(said("gold", factuality="true"))
    assert [label.trusted for label in found.labelled()[0].labels] == [True, False]
    found.add(said("person:ada", claim=1, factuality="false"))
    assert [label.trusted for label in found.labelled()[0].labels] == [False, True]
    assert [label.trusted for label in found.labelled(["person:ada"])[0].labels] == [False, True]
    found.add(said("person:ada", claim=1, factuality="false", version=CHOSEN))
    assert [label.trusted for label in found.labelled()[0].labels] == [False, False]


def test_what_a_judge_says_of_a_statement_made_from_documents_is_no_label(tmp_path: Path) -> None:
    """`franq dataset annotate` judges these, too; only `edit` knows them, and no promise may."""
    found = made(tmp_path)
    found.add(said("edit", claim=1, factuality="false"))
    for claim in (0, 1):
        found.add(said("judge:m", claim=claim, factuality="true"))
    unknown = ClaimLabel(trusted=False)
    assert found.labelled(["person", "gold", "judge"])[0].labels == (unknown, unknown)
    changed = ClaimLabel(False, trusted=False, source="edit")
    assert found.labelled(["judge", "edit"])[0].labels == (unknown, changed)


def test_what_a_person_calls_unverifiable_is_not_known_to_a_judge(
    tmp_path: Path,
) -> None:
    found = made(tmp_path)
    found.add(said("judge:m", factuality="true"))
    found.add(said("person:ada", factuality="unverifiable"))
    assert found.labelled()[0].labels[0].is_true is None
    for person in ("bo", "cy"):
        found.add(said(f"person:{person}", factuality="false"))
    assert found.labelled()[0].labels[0].is_true is False
