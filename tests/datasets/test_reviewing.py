import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from franq_guard.datasets.agreeing import votes
from franq_guard.datasets.claim_set import CHOSEN, SAMPLED, ClaimJudgement, ClaimSet
from franq_guard.datasets.reviewing import Review
from franq_guard.datasets.reviewing.order import order
from franq_guard.datasets.reviewing.table import read_table, write_table
from franq_guard.records import Claim, Generation, Passage, Trace


def made(folder: Path, count: int = 8) -> ClaimSet:
    claims = ClaimSet.create(folder, {})
    for i in range(count):
        text = f"=Town {i} is old. Is it?"
        stated = (
            Claim(text[:-7], ((0, 14),)),
            Claim("Is it?", ((15, 21),), not_a_claim="question"),
        )
        passages = (Passage(f"Town {i} is old.", "T"),)
        claims.add_answer(Trace("How?", passages, Generation(text), claims=stated, id=f"a{i}"))
    return claims


def test_half_is_drawn_and_the_other_half_sorted_by_what_it_tells(tmp_path: Path) -> None:
    claims = made(tmp_path)
    plain = order(claims.answers(), [])
    assert sorted(item.key for item in plain) == [(f"a{i}", 0) for i in range(8)]
    assert [item.sampled for item in plain] == [True, False] * 4
    drawn = [item.key for item in plain if item.sampled]
    one, two, three, four = (item.key[0] for item in plain if not item.sampled)
    # Sources that disagree (2 + 1 for "false"), false (1), the rest in the order drawn.
    claims.add(ClaimJudgement(three, 0, "judge:m", "faithful", "true"))
    claims.add(ClaimJudgement(three, 0, "gold", "faithful", "false"))
    claims.add(ClaimJudgement(two, 0, "judge:m", "unfaithful-contra", "false"))
    found = order(claims.answers(), claims.judgements())
    assert [item.key[0] for item in found if not item.sampled] == [three, two, one, four]
    # What judges say moves no claim into or out of the sample, nor within it.
    assert [item.key for item in found if item.sampled] == drawn


def test_statements_made_from_documents_are_not_reviewed(tmp_path: Path) -> None:
    claims = made(tmp_path)
    claims.add(ClaimJudgement("a3", 0, "edit", "unfaithful-contra", "false"))
    keys = {item.key for item in order(claims.answers(), claims.judgements())}
    assert keys == {(f"a{i}", 0) for i in range(8) if i != 3}


def test_votes_are_kept_at_once_and_undone(tmp_path: Path) -> None:
    review = Review(made(tmp_path))
    first = review.next("ada")
    assert first is not None
    key = (first.answer, first.claim)
    review.vote("ada", key, faithfulness="faithful", factuality="true")
    assert votes(ClaimSet(tmp_path).judgements(), ["person"], "factuality") == {key: "true"}
    assert review.progress("ada") == {"mine": 1, "anybody": 1, "claims": 8}
    assert review.progress("bob") == {"mine": 0, "anybody": 1, "claims": 8}
    # Bob sees the same claim first: two people on a claim tell how far they agree.
    assert review.next("bob") == first

    again = Review(ClaimSet(tmp_path))  # closed and opened
    second = again.next("ada")
    assert second is not None
    assert second.answer != first.answer
    assert again.undo("ada") == key
    assert again.undo("ada") is None
    assert ClaimSet(tmp_path).judgements() == []
    assert again.next("ada") == first


def test_a_blind_review_shows_the_judge_only_after_the_vote(tmp_path: Path) -> None:
    claims = made(tmp_path, 1)
    claims.add(ClaimJudgement("a0", 0, "judge:m", "faithful", "true", quote="is old", passage=0))
    claims.add(ClaimJudgement("a0", 0, "judge:n", error="time-out"))
    blind, shown = Review(claims), Review(claims, blind=False)
    assert blind.card("ada", ("a0", 0)).judge == ()
    assert [j["source"] for j in shown.card("ada", ("a0", 0)).judge] == ["judge:m"]
    blind.vote("ada", ("a0", 0), faithfulness="faithful", factuality="false")
    assert [j["source"] for j in blind.card("ada", ("a0", 0)).judge] == ["judge:m"]
    assert blind.card("bob", ("a0", 0)).judge == ()


def test_a_vote_says_whether_its_claim_was_drawn_at_random(tmp_path: Path) -> None:
    claims = made(tmp_path)
    for i in range(8):
        claims.add(ClaimJudgement(f"a{i}", 0, "judge:m", "unfaithful-contra", "false"))
    review = Review(claims)
    while card := review.next("ada"):
        review.vote("ada", (card.answer, card.claim), faithfulness=None, factuality="true")
    versions = [s.version for s in claims.judgements() if s.kind == "person"]
    assert set(versions) == {SAMPLED, CHOSEN}


def test_evidence_is_marked_and_its_failure_marks_nothing(tmp_path: Path) -> None:
    def find(passages: Sequence[Passage], claim: str) -> list[tuple[int, int, int]]:
        return [(0, 0, len(passages[0].text))]

    def broken(passages: Sequence[Passage], claim: str) -> list[tuple[int, int, int]]:
        raise RuntimeError("no model")

    claims = made(tmp_path, 1)
    assert Review(claims, evidence=find).card("x", ("a0", 0)).evidence == ((0, 0, 14),)
    assert Review(claims, evidence=broken).card("x", ("a0", 0)).evidence == ()


def test_wrong_votes_are_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    claims = made(tmp_path, 1)
    review = Review(claims)
    with pytest.raises(ValueError, match="there is no claim 7"):
        review.vote("ada", ("a0", 7), faithfulness=None, factuality="true")
    with pytest.raises(ValueError, match="there is no claim 1"):  # a question is no claim
        review.vote("ada", ("a0", 1), faithfulness=None, factuality="true")
    with pytest.raises(ValueError, match="must say something"):
        review.vote("ada", ("a0", 0), faithfulness=None, factuality=None)
    with pytest.raises(ValueError, match="needs a name"):
        review.next("  ")
    assert claims.judgements() == []


def filled(file: Path, *labels: tuple[str, str]) -> None:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, (faithfulness, factuality) in zip(rows, labels, strict=False):
        row.update(faithfulness=faithfulness, factuality=factuality)
    with file.open("w", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def test_a_table_goes_out_and_comes_back(tmp_path: Path) -> None:
    claims, file = made(tmp_path / "set"), tmp_path / "out.csv"
    assert write_table(claims, file) == 8
    with file.open(encoding="utf-8-sig", newline="") as stream:
        first = next(csv.DictReader(stream))
    assert first["text"].startswith("'=Town")  # no spreadsheet runs it
    assert first["passages"].startswith("[1] Town")
    filled(file, ("faithful", "TRUE "), ("", ""), ("", "unverifiable"))
    assert read_table(claims, file, "ada") == 2
    labels = [said.factuality for said in claims.judgements()]
    assert sorted(filter(None, labels)) == ["true", "unverifiable"]


def test_a_table_never_replaces_one_with_votes(tmp_path: Path) -> None:
    claims, file = made(tmp_path / "set"), tmp_path / "out.csv"
    write_table(claims, file)
    filled(file, ("faithful", "true"))
    with pytest.raises(FileExistsError):
        write_table(claims, file)
    assert read_table(claims, file, "ada") == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_a_table_comes_back_as_spreadsheets_store_it(
    tmp_path: Path, delimiter: str, encoding: str
) -> None:
    claims, file = ClaimSet.create(tmp_path / "set", {}), tmp_path / "out.csv"
    text = "The café is open."
    # Both ids are numbers to a spreadsheet: 640000000000 becomes 6.4E+11.
    for name, long in (("640000000000", "é; "), ("20171e3", "x" * 200_000)):
        passages = (Passage(f"The café, the old one, is open. {long}"),)
        made_of = (Claim(text, ((0, len(text)),)),)
        claims.add_answer(Trace("Open?", passages, Generation(text), claims=made_of, id=name))
    write_table(claims, file)
    with file.open(encoding="utf-8-sig", newline="") as stream:
        limit = csv.field_size_limit(2**20)
        rows = list(csv.reader(stream))
        csv.field_size_limit(limit)
    with pytest.raises(ValueError, match="could not convert"):
        float(rows[1][0])
    votes = [[*row[:-2], "faithful", "true"] for row in rows[1:]]
    with file.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([rows[0], *votes])
    assert read_table(claims, file, "ada") == 2
    assert {said.answer for said in claims.judgements()} == {"640000000000", "20171e3"}
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("labels", "why"),
    [((("yes", ""),), "line 2: faithfulness must be"), ((("", "t"),), "line 2: factuality must")],
)
def test_a_wrong_table_is_named_and_nothing_of_it_is_kept(
    tmp_path: Path, labels: tuple[tuple[str, str]], why: str
) -> None:
    claims, file = made(tmp_path / "set"), tmp_path / "out.csv"
    write_table(claims, file)
    filled(file, *labels, ("faithful", "true"))
    with pytest.raises(ValueError, match=why):
        read_table(claims, file, "ada")
    assert claims.judgements() == []
    file.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="lacks the columns answer, claim, fact"):
        read_table(claims, file, "ada")
