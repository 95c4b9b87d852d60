"""No text is too much to read: with a pattern that reads a run again and again these take hours."""

import pytest

import franq_guard.claims.removal
from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.records import Claim

LONG = 60_000


@pytest.mark.parametrize(
    "answer",
    [
        f"See https://example.org{' ' * LONG}now.",
        f"It is red{'.' * LONG} and old.",
        f"The page does not mention it, https://example.org/{'a' * LONG} but it is red.",
        f"It is{'[1]' * (LONG // 3)} red.",
        f"Sources{' ' * LONG}of light.\n",
        f"It is{' about max. ten' * (LONG // 15)}.",
        f"Sources:\n[1] It is{' ' * LONG}red (a) (b).",
        f"Sources:\n[1] {'a-' * (LONG // 2)}a. It is red.",
        f"Sources:\n[1] It is red{'(' * LONG}.",
        f"Sources:\n[1] {'It is red. ' * (LONG // 11)}",
        f"It is red.\n\n[1]: {', accessed 1 ' * (LONG // 13)}.",
        f"It is red.\n\n[1]: {'http://' * (LONG // 7)} red.",
    ],
    ids=lambda answer: f"{answer[:10]}{answer[LONG // 2]}",
)
def test_a_long_run_of_one_mark_is_read_once(answer):
    claims = RuleSplitter().split(answer)
    assert claims
    remove_claims(answer, claims, range(1, len(claims)))


@pytest.mark.parametrize("item", ["<li>It is red.</li>", "<p>It is red.</p>", "It is red.<br>"])
def test_a_line_of_many_items_is_not_read_with_each(item, monkeypatch):
    looked_at = []

    def counted(text, block, start):
        looked_at.append(block.start - start)
        return with_tags(text, block, start)

    with_tags = franq_guard.claims.removal._with_tags
    monkeypatch.setattr(franq_guard.claims.removal, "_with_tags", counted)
    answer = f"<ul>{item * 200}It is big.</ul>"
    claims = RuleSplitter().split(answer)
    left = remove_claims(answer, claims, range(200))
    assert "red" not in left
    assert left.count("big") == 1
    assert sum(looked_at) < len(answer)


def test_behind_a_long_claim_the_others_are_not_all_looked_at():
    class Counted(list):
        reads = 0

        def __getitem__(self, k):
            Counted.reads += 1
            return super().__getitem__(k)

    short = [Claim("It is.", ((k, k + 6),)) for k in range(50_000, 70_000, 10)]
    placed = franq_guard.claims.removal._Placed([Claim("It is.", ((0, 50_000),)), *short], set())
    placed._spans = Counted(placed._spans)
    assert placed.inside(69_000, 69_010) == [1901]
    assert Counted.reads < 30


def test_a_table_row_of_empty_cells_is_a_row():
    row = f"| - |{'  |' * 60} 4 |"
    table = f"| a |{' b |' * 61}\n|-|{'-|' * 61}\n{row}\n"
    assert [claim.text for claim in RuleSplitter().split(table)][1:] == ["B: 4."]


def test_a_model_that_repeats_itself_ends():
    answer = f"It is the best{' of all time' * 40} and"
    assert RuleSplitter().split(answer)


def test_a_list_of_lead_ins_is_no_longer_and_longer_context():
    splitter = RuleSplitter()
    reader = splitter.reader()
    text = "It is:\n\n" + "- It is red.\n- Then it is:\n" * 50 + "- It is big."
    found = [c for unit in splitter.units(text, reader=reader) for c in unit.claims]
    assert {claim.context for claim in found[3::2]} == {"list: Then it is"}
    assert len(reader._leads) == 2


def test_a_very_long_lead_in_is_not_read_with_each_item():
    lead = f"The {'red ' * 2_000}boats are:"
    claims = RuleSplitter().split(f"{lead}\n\n" + "- It is red.\n- big\n" * 100)
    assert {claim.text for claim in claims[1:]} == {"It is red.", "Big."}
    assert {claim.context for claim in claims[1:]} == {None}
