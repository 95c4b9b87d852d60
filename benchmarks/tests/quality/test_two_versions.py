"""The comparison of two versions of the claim rules, by hand."""

import json
import sys
from pathlib import Path

import pytest

from franq_bench.quality.two_versions import cuts, draw, main, rates
from franq_guard.datasets.jsonl import json_rows

ROOT = Path(__file__).parents[3]
OLD = {
    "He sat and she sang.": ("He sat.", "She sang."),
    "It rained and poured.": ("It rained.", "It poured."),
    "He won.": ("He won.",),
    "He lost.": ("He lost.",),
    "Only here.": ("Only.", "Here."),
}
NEW = {
    "He sat and she sang.": ("He sat.", "She sang."),
    "It rained and poured.": ("It rained and poured.",),
    "He won.": ("He won.",),
    "He lost.": ("He lost.",),
}


def test_every_sentence_is_written_once_with_the_claims_that_state_something(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"answer": "Is it so? He was born in Ulm and died in Rome. It rained."}\n'
        '{"answer": "It rained."}\n',
        encoding="utf-8",
    )
    found = {row["sentence"]: row["claims"] for row in cuts(path)}
    assert found == {
        "He was born in Ulm and died in Rome.": ["He was born in Ulm.", "He died in Rome."],
        "It rained.": ["It rained."],
    }


def test_claims_of_both_versions_are_drawn_and_the_same_claim_once():
    read, key = draw({"old": OLD, "new": NEW}, claims=300, uncut=1, seed=5)
    # 4 sentences are in both; 2 of them are cut, into 4 claims by the old and 3 by the new rules.
    assert key[0]["totals"] == {"sentences": 4, "cut": 2, "claims": {"old": 4, "new": 3}}
    assert [row["id"] for row in read] == [row["id"] for row in key[1:]] == list(range(len(read)))
    versions = {r["claim"]: k["versions"] for r, k in zip(read, key[1:], strict=True) if k["cut"]}
    assert versions == {
        "He sat.": ["old", "new"],
        "She sang.": ["old", "new"],
        "It rained.": ["old"],
        "It poured.": ["old"],
        "It rained and poured.": ["new"],
    }
    assert sum(not row["cut"] for row in key[1:]) == 1
    assert all(row.keys() == {"id", "sentence", "claim"} for row in read)
    assert not any(row["claim"] in str(key) for row in read)


def test_the_draw_ends_when_each_version_has_enough_and_leaves_out_what_was_read():
    both = {"old": OLD, "new": NEW}
    drawn = {
        frozenset(row["sentence"] for row in draw(both, claims=1, uncut=0, seed=seed)[0])
        for seed in range(20)
    }
    assert drawn == {frozenset({"He sat and she sang."}), frozenset({"It rained and poured."})}
    read, key = draw(both, claims=9, uncut=0, seed=0, leave_out=["He sat and she sang."])
    assert {row["sentence"] for row in read} == {"It rained and poured."}
    assert key[0]["totals"]["sentences"] == 3


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["two_versions", *map(str, words)])
    main()


def test_cuts_of_one_version_are_refused_before_somebody_reads_them(tmp_path, monkeypatch):
    answers, old, new = (tmp_path / f"{name}.jsonl" for name in ("answers", "old", "new"))
    answers.write_text('{"answer": "He was born in Ulm and died in Rome."}\n', encoding="utf-8")
    run(monkeypatch, "cut", answers, "--out", old)
    run(monkeypatch, "cut", answers, "--out", new)
    with pytest.raises(SystemExit, match=r"error: .* are both by rules/\d+: was `cut` run"):
        run(monkeypatch, "draw", old, new, "--out", tmp_path)
    assert not (tmp_path / "read.jsonl").exists()


def test_what_cannot_be_read_is_said_in_a_line(tmp_path, monkeypatch):
    (tmp_path / "key.jsonl").write_text(json.dumps(key_of((0, 0, True, ["old"]))[0]) + "\n"
                                        '{"id": 0}', encoding="utf-8")  # fmt: skip
    (tmp_path / "labels.jsonl").write_text('{"id": 0, "verdict": "good"}', encoding="utf-8")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(SystemExit, match="error: claim 0 has no verdict"):
        run(monkeypatch, "rates", tmp_path)
    with pytest.raises(SystemExit, match=r"error: .*empty\.jsonl has no rows"):
        run(monkeypatch, "draw", tmp_path / "empty.jsonl", tmp_path / "key.jsonl", "--out", "x")


def key_of(*rows):
    totals = {"sentences": 12, "cut": 2, "claims": {"old": 6, "new": 2}}
    names = ("id", "sentence", "cut", "versions")
    return [{"totals": totals}, *(dict(zip(names, row, strict=True)) for row in rows)]


def test_shares_and_bounds_by_hand():
    key = key_of(
        (0, 0, True, ["old", "new"]),
        (1, 0, True, ["old"]),
        (2, 1, True, ["old"]),
        (3, 1, True, ["new"]),
        (4, 2, False, ["old", "new"]),
    )
    said = {0: "fine", 1: "wrong", 2: "ungrammatical", 3: "fine", 4: "fine"}
    (old, new), difference, uncut = rates(key, said)
    assert (old.claims, old.wrong, old.ungrammatical, old.bad) == (3, 1, 1, pytest.approx(2 / 3))
    # 2 of 3 at most: 1 - p^3 = 0.1. 0 of 2: (1 - p)^2 = 0.1. Both of 2 sentences: 1.
    assert old.bad_bound == pytest.approx(0.9 ** (1 / 3))
    assert new.bad_bound == new.sentences_bound == pytest.approx(1 - 0.1**0.5)
    assert (old.bad_sentences, old.sentences_bound, new.bad_sentences) == (2, 1, 0)
    # Old: 6 claims of the 2 cut sentences, 10 of the others. 2 / 3 of 6 of 16.
    assert (old.of_all, new.of_all) == (pytest.approx(2 / 3 * 6 / 16), 0)
    assert (old.claims_a_sentence, new.claims_a_sentence) == (pytest.approx(16 / 12), 1)
    assert (difference.only_first, difference.only_second) == (2, 0)
    # Old, a bootstrap of 2 sentences: 1 of 2, 2 of 3, 2 of 2. Both are drawn half of the time.
    assert difference.difference == pytest.approx(-2 / 3)
    assert (difference.low, difference.high) == (-1, -0.5)
    assert uncut == (0, 1)


def test_a_claim_without_a_verdict_is_an_error():
    with pytest.raises(ValueError, match="claim 7 has no verdict of fine, wrong"):
        rates(key_of((7, 0, True, ["old", "new"])), {7: "good"})


READINGS = ROOT / "benchmarks/results/claims-by-reading"
LAST = "rules-9-10"


def _reading(folder):
    return (list(json_rows(folder / f"{name}.jsonl")) for name in ("key", "labels"))


@pytest.mark.parametrize("folder", sorted(READINGS.iterdir()), ids=lambda folder: folder.name)
def test_a_stored_reading_holds_no_text(folder):
    key, labels = _reading(folder)
    assert {frozenset(row) for row in key[1:]} == {
        frozenset({"id", "digest", "sentence", "cut", "versions"})
    }
    assert {field for row in labels for field in row} == {"id", "verdict", "kind"}
    kinds = {row["kind"] for row in labels if row["verdict"] != "fine"}
    assert len(kinds) <= 9  # a kind of error each, never a claim's words


def test_the_page_says_what_the_last_reading_found():
    key, labels = _reading(READINGS / LAST)
    bad = {row["id"] for row in labels if row["verdict"] != "fine"}
    page = (ROOT / "docs/measurements.md").read_text(encoding="utf-8")
    for version in key[0]["totals"]["claims"]:
        read = {row["id"] for row in key[1:] if row["cut"] and version in row["versions"]}
        assert f"{len(bad & read)} of {len(read)}" in page


def _rates(name):
    key, labels = _reading(READINGS / name)
    found, _, _ = rates(key, {row["id"]: row["verdict"] for row in labels})
    return key[0]["totals"], found


def test_the_page_shows_the_figures_of_the_stored_reading():
    totals, (before, now) = _rates(LAST)
    page = (ROOT / "docs" / "measurements.md").read_text("utf-8")
    assert (
        f"| claims a sentence | {now.claims_a_sentence:.2f} | {before.claims_a_sentence:.2f} |"
        in page
    )
    assert f"| 12 of {now.claims} | 16 of {before.claims} |" in page
    assert (now.wrong + now.ungrammatical, before.wrong + before.ungrammatical) == (12, 16)
    assert f"{now.sentences} sentences,\ndrawn from {totals['cut']} that" in page
    assert f"of {totals['sentences']:,} sentences of real answers" in page
    shares = [f"{100 * x.of_all:.1f} % ({100 * x.of_all_bound:.1f} %)" for x in (now, before)]
    assert f"none wrong) | {' | '.join(shares)} |" in page


def test_the_page_says_how_much_less_is_cut_than_by_rules_4():
    _, (before, now) = _rates("rules-4-7")
    page = (ROOT / "docs" / "measurements.md").read_text("utf-8")
    assert "3 to 4 % fewer claims a sentence" in page
    assert 0.03 < 1 - now.claims_a_sentence / before.claims_a_sentence < 0.04
