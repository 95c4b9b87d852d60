"""No text is too much to read: with a pattern that reads a run again and again these take hours."""

import pytest

from franq_guard.claims import RuleSplitter, remove_claims

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
