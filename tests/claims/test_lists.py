"""What a list's lead-in says of its items: in lists inside lists, and where it denies them."""

import pytest

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.rules.citations import citations

SPLITTER = RuleSplitter()


def stated(answer):
    return [claim.text for claim in SPLITTER.split(answer) if claim.not_a_claim is None]


def streamed(answer):
    """The claims that are settled while the answer grows, and what is left at its end."""
    found, at = [], 0
    for size in range(1, len(answer) + 1):
        end = max(at, SPLITTER.settled(answer[:size], known=at))
        units = SPLITTER.units(answer[:size], after=at)
        found += [c for unit in units if unit.span[1] <= end for c in unit.claims]
        at = end
    return found + [c for unit in SPLITTER.units(answer, after=at) for c in unit.claims]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "It offers:\n\n- **Power:**\n  - 45 watts\n  - 60 watts\n- 38 dB\n",
            ["It offers.", "Power: 45 watts.", "Power: 60 watts.", "It offers: 38 dB."],
        ),
        (
            "It offers:\n1. **Power:**\n- 45 watts\n- 6 W\n2. **Noise:**\n- 38 dB\n3. Two seals\n",
            ["It offers.", "Power: 45 watts.", "Power: 6 W.", "Noise: 38 dB.",
             "It offers: Two seals."],
        ),
        (
            "It has:\n- seals:\n  - red ones:\n    - 5 cm\n  - blue ones\n- a lid",
            ["It has.", "red ones: 5 cm.", "seals: Blue ones.", "It has: A lid."],
        ),
        ("- Seals:\n- one\n- two", ["Seals: One.", "Seals: Two."]),
    ],
)  # fmt: skip
def test_behind_a_list_inside_a_list_the_outer_lead_in_holds_again(answer, claims):
    assert stated(answer) == claims
    assert streamed(answer) == SPLITTER.split(answer)


@pytest.mark.parametrize(
    "lead",
    [
        "The following statements are false:", "The following are wrong:", "Common myths about it:",
        "These claims are simply not true:", "3 incorrect statements:", "It is not true that:",
        "None of the following statements is true:", "## Common Misconceptions\n",
        "**Myths about the K7**\n",
    ],
)  # fmt: skip
def test_a_list_of_what_is_not_so_denies_its_items(lead):
    answer = f"{lead}\n- The K7 is red. It is blue.\n- Lee was born in Ulm, and she is old.\n"
    claims = SPLITTER.split(answer)
    assert [claim.text for claim in claims][1:] == [
        "It is not true that the K7 is red.",
        "It is blue.",
        "It is not true that Lee was born in Ulm.",
        "It is not true that she is old.",
    ]
    assert streamed(answer) == claims


@pytest.mark.parametrize(
    "lead",
    [
        "The following are true:", "What went wrong:", "The facts are:",
        "Facts, not myths:", "The options are not wrong:", "How to set wrong dates right:",
        "The myths say:", "No false statements:",
    ],
)  # fmt: skip
def test_another_list_states_its_items(lead):
    assert stated(f"{lead}\n- The K7 is red.\n")[-1] == "The K7 is red."


@pytest.mark.parametrize(
    "mark", ["- [ ]", "* [x]", "+ [X]", "1. [x]", "- []", "- [✓]", "[ ]", "[x]"]
)
def test_the_box_of_a_task_is_part_of_its_mark(mark):
    answer = f"The pump:\n\n{mark} Runs on petrol\n{mark} It holds 4 litres.\n"
    claims = [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]
    assert [claim.text for claim in claims] == ["The pump: Runs on petrol.", "It holds 4 litres."]
    said = [answer[a:b] for claim in claims for a, b in claim.spans]
    assert said == ["Runs on petrol", "It holds 4 litres."]
    assert citations(answer) == []
    assert streamed(answer) == SPLITTER.split(answer)
    assert "petrol" not in remove_claims(answer, SPLITTER.split(answer), [1])
    assert "[" not in remove_claims(answer, SPLITTER.split(answer), [1, 2])


@pytest.mark.parametrize("text", ["[X] was founded in 1900.", "[y] It is red.", "It is [x] red."])
def test_other_brackets_are_no_boxes(text):
    assert [claim.text for claim in SPLITTER.split(text)] == [text]
