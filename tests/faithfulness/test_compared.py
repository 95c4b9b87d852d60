"""Claims that compare the rows of a table: computed from its cells."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.comparing.compared import compared
from franq_guard.faithfulness.small.comparing.quantities import Quantity, column

BOATS = """Boats for hire in Ulvsund. Rowing boats are free for members.

| Boat | Built | Length (m) | Weight | Top speed | Price per day | Price per week | Seats | Leaves |
|---|---|---|---|---|---|---|---|---|
| Tern | 1998 | 5.2 | 340 kg | 12 km/h | €45 | €200 | 6 | 08:30 |
| Old Gannet | 1974 | 8.9 | 2.1 t | 9 km/h | €80 | €350 | 12 | 09:15 |
| Eider | 2011 | 4 | 95 kg | 6 km/h | €30 | €160 | 3 | 00:20 |
| Eider Plus | 2016 | 4.6 | 120 kg | | free | €210 | 3 | 11:00 |"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        # Two rows.
        ("The Tern has more seats than the Eider.", True),  # 6, 3
        ("The Eider has more seats than the Tern.", False),
        ("The Eider is older than the Tern.", False),  # 2011, 1998: the lower year is the older one
        ("The Old Gannet is older than the Tern.", True),
        ("The Old Gannet is lighter than the Tern.", False),  # 2.1 t
        ("The Tern is faster than the Old Gannet.", True),
        ("The Eider Plus is lighter than the Eider.", False),  # 120 kg, 95 kg
        ("The Tern costs more per day than the Old Gannet.", False),
        ("The Tern and the Old Gannet are longer than the Eider.", True),
        ("The Eider and the Old Gannet are longer than the Tern.", False),  # the Eider is not
        ("The Old Gannet has more seats than any other boat.", True),
        ("The Tern has more seats than all the others.", False),
        ("The Old Gannet's length is greater than that of the Tern.", True),
        ("The Tern has three more seats than the Eider.", True),  # 6 - 3
        ("The Tern has 9 more seats than the Eider.", False),
        ("The Tern is 245 kg heavier than the Eider.", True),  # 340 - 95
        # The most.
        ("The Eider is the newest boat.", False),  # the Eider Plus is
        ("The Eider Plus is the newest boat.", True),
        ("The second oldest boat is the Tern.", True),
        ("The second oldest boat is the Eider.", False),
        ("Of all boats on the list the Eider is the slowest.", None),  # one has no speed
        ("Of the four boats the Old Gannet is the fastest.", False),  # 9, but 12 is there
        ("The Tern has the highest price per day.", False),
        ("The Old Gannet has the most seats of the four boats, with 12.", True),
        ("The Tern has the most seats of the four boats, with 6.", False),
        # So many times as much.
        ("The Old Gannet has twice as many seats as the Tern.", True),  # 12, 6
        ("The Old Gannet has three times as many seats as the Tern.", False),
        ("The Old Gannet has half as many seats as the Tern.", False),
        ("The Eider has as many seats as the Eider Plus.", True),
        ("The Eider has the same number of seats as the Tern.", False),
        ("The Tern has a larger number of seats than the Eider.", True),
        # Limits and counts.
        ("Two boats are longer than 5 m.", True),  # 5.2, 8.9
        ("Three boats are longer than 5 m.", False),
        ("All boats are longer than 4.5 m.", False),  # one has 4
        ("The Tern is longer than 5 m.", True),
        ("The Tern costs less than €40 per day.", False),
        ("There are four boats in the list.", True),
        ("The table lists six boats.", False),
    ],
)
def test_a_comparison_is_computed(claim, verdict):
    assert compared(claim, BOATS) is verdict


@pytest.mark.parametrize(
    "claim",
    [
        "The Eider has more seats than the Eider Plus.",  # equal
        "The Tern is cheaper than the Eider.",  # per day or per week?
        "The Eider leaves earlier than the Tern.",  # 00:20 may be of the next day
        "The Tern does not have more seats than the Eider.",
        "The Eider doesn't have more seats than the Tern.",
        "No boat has more seats than the Tern.",
        "Is the Eider older than the Tern?",
        "If it rains, the Eider has more seats than the Tern.",
        "The Eider has more free seats than the Tern.",  # free ones are another matter
        "The Eider lost more seats than the Tern.",
        "In Norway the Eider has more seats than the Tern.",
        "The Eider had more seats than the Tern in 2005.",
        "The Eider used to have more seats than the Tern.",
        "The Tern and the Eider together have more seats than the Old Gannet.",
        "The Tern is one of the oldest boats.",
        "The Tern is the oldest boat in Norway.",
        "The Tern is the oldest rowing boat.",
        "The Eider is the largest of the three.",
        "The Eider is the fastest boat with six seats.",
        "The Gull is older than the Tern.",
        "The Tern's newest seat was built in 1998.",
        "The Eider's latest price is €30.",
        "The Eider arrives earlier than the Old Gannet.",
        "The Eider will have more seats than the Tern.",
        "It is the longest boat in the Old Gannet.",
        "The longest oar is in the Tern.",
        "The oldest seat of the Eider is long.",
        "The Tern is more seaty than the Eider.",
        "The Tern has larger seats than the Eider.",
        "The Tern is better than the Eider.",
        "It is older than the Tern.",
        "The Tern has about twice as many seats as the Old Gannet.",
        "The Tern is longer than the Old Gannet, but the Eider is older.",
        "The Tern has the most seats of the boats with 6.",
        "The Tern has the most seats of the boats with 6 seats.",
        "The Tern has 6 seats.",
        "At least two boats are longer than 5 m.",
    ],
)
def test_what_is_not_sure_is_not_decided(claim):
    assert compared(claim, BOATS) is None


@pytest.mark.parametrize(
    ("text", "claim", "verdict"),
    [
        # The things may stand above the columns.
        ("| | Uno | Duo |\n|-|-|-|\n| Weight | 900 g | 1.2 kg |\n| Range | 4 km | 3 km |",
         "The Uno is heavier than the Duo.", False),
        # Records, numbers that name a row with the header before them.
        ("Line: 4\nDeparts: 07:10\n\nLine: 12\nDeparts: 06:50",
         "Line 4 departs earlier than line 12.", False),
        # A row of sums is no thing among the others.
        ("Ward | Beds\n-|-\nEast | 20\nWest | 31\nTotal | 51", "West has the most beds.", True),
        ("Ward | Beds\n-|-\nEast | 20\nWest | 31\nTotal | 51", "East has the most beds.", False),
        # A higher rank is a lower number; of a loss the size is not the number.
        ("Team | Rank\n-|-\nElks | 1\nOwls | 2",
         "The Owls have a higher rank than the Elks.", None),
        ("Shop | Profit\n-|-\nEast | -9\nWest | 4", "West has a larger profit than East.", None),
        # "58:21" beside "1:02:10" are minutes.
        ("Runner | Time\n-|-\nAda | 58:21\nEve | 1:02:10", "Eve was faster than Ada.", False),
        # A header with a superlative.
        ("Isle | Highest point (m)\n-|-\nUlm | 90\nOst | 640",
         "The highest point of Ulm is higher than that of Ost.", False),
        # Other words that begin alike.
        ("Isle | Population\n-|-\nUlm | 90\nOst | 640", "Ulm is more popular than Ost.", None),
        ("Land | Year\n-|-\nUlm | 90\nOst | 640", "Ulm is the oldest producer.", None),
        # A column that has no name, or only a word such as "to".
        ("Ulm | blue | 4\nOst | red | 9\nAld | red | 7", "Ulm has more beds than Ost.", None),
        ("Bus | To\n-|-\nUlm | 4\nOst | 9", "Ulm has more than Ost.", None),
        # Of a row of numbers none is more than another one.
        ("Team | Won | Drawn | Lost\n-|-|-|-\nElks | 9 | 1 | 2\nOwls | 7 | 3 | 4",
         "The Elks lost the fewest games.", None),
        # "Three tents" are all rows, so these are tents; three of four are some.
        ("Model | Weight\n-|-\nFen | 2 kg\nAld | 1 kg\nMoss | 3 kg",
         "The Ald is the lightest of the three tents.", True),
        ("Model | Weight\n-|-\nFen | 2 kg\nAld | 1 kg\nMoss | 3 kg\nHill | 4 kg",
         "The Ald is the lightest of the three tents.", None),
        # What one table proves and another one refutes.
        ("Hut | Beds\n-|-\nElm | 4\nAsh | 9\n\nLater:\n\nHut | Beds\n-|-\nElm | 12\nAsh | 9",
         "Elm has more beds than Ash.", None),
        ("No table, but Elm has 4 beds and Ash has 9.", "Elm has more beds than Ash.", None),
    ],
)  # fmt: skip
def test_tables_of_other_forms(text, claim, verdict):
    assert compared(claim, text) is verdict


@pytest.mark.parametrize(
    ("head", "cell", "quantity"),
    [
        ("Weight", "1,200 g", ("mass", 1200)),
        ("Weight (kg)", "1.5", ("mass", 1500)),
        ("Price in €", "3,50", ("EUR", "3.5")),
        ("Price", "$9", ("USD", 9)),
        ("Share", "38.7%", ("%", "38.7")),
        ("Change", "−2.6", ("number", "-2.6")),
        ("Sales", "4.2 million", ("number", 4200000)),
        ("Stay", "2 h 30 min", ("time", 9000)),
        ("Starts", "7:30 pm", ("clock", 1170)),
        ("Joined", "3 May 2019", ("date", 20190503)),
        ("Sleeps", "four", ("number", 4)),
        ("Size", "12 rooms", ("rooms", 12)),
        ("Weight", "24.900", None),  # a thousand or a thousandth
        ("Open", "10:00–18:00", None),
        ("Ages", "5-8", None),
        ("Energy", "846 kJ / 202 kcal", None),
        ("Price", "from €9", None),
        ("Day", "03/04/2015", None),
        ("Size", "n/a", None),
    ],
)
def test_a_cell_is_read_as_a_quantity(head, cell, quantity):
    expected = quantity and Quantity(quantity[0], Decimal(quantity[1]))
    assert column(head, [cell]) == [expected]


NAMES = ("Ash", "Birch", "Cedar", "Elm", "Fir", "Holly")
ROWS = st.lists(st.integers(0, 12), min_size=2, max_size=len(NAMES))


def _table(beds):
    return "Hut | Beds\n-|-\n" + "\n".join(f"{n} | {v}" for n, v in zip(NAMES, beds, strict=False))


@given(ROWS, st.data())
def test_the_verdict_is_that_of_sorting(beds, data):
    text = _table(beds)
    row, other = data.draw(st.permutations(range(len(beds))))[:2]
    one, two = NAMES[row], NAMES[other]
    more = None if beds[row] == beds[other] else beds[row] > beds[other]
    fewer = None if more is None else not more
    assert compared(f"{one} has more beds than {two}.", text) is more
    assert compared(f"{one} has fewer beds than {two}.", text) is fewer
    alone = beds.count(beds[row]) == 1
    most = (alone or None) if beds[row] == max(beds) else False
    assert compared(f"{one} has the most beds.", text) is most
    least = (alone or None) if beds[row] == min(beds) else False
    assert compared(f"{one} has the fewest beds.", text) is least


@given(ROWS, st.integers(0, 12), st.integers(2, 6))
def test_the_count_is_that_of_counting(beds, limit, said):
    text = _table(beds)
    right = None if limit in beds else sum(value > limit for value in beds) == said
    assert compared(f"{said} huts have more than {limit} beds.", text) is right
    assert compared(f"There are {said} huts in the list.", text) is (len(beds) == said)


def test_of_a_table_that_is_too_long_nothing_is_decided():
    rows = "\n".join(f"Hut{number} | {number}" for number in range(501))
    assert compared("Hut1 has more beds than Hut0.", f"Hut | Beds\n-|-\n{rows}") is None
    assert compared("Hut1 has more beds than Hut0.", f"Hut | Beds\n-|-\n{rows[:5000]}") is True


@given(st.text("ab1,|\t;\n -.", max_size=80), st.text("ab1 ,.-", max_size=30))
def test_no_text_is_an_error(text, claim):
    assert compared(f"{claim} is older than b.", f"| a | b |\n|-|-|\n| c | 1 |\n{text}") is None


def test_the_shipped_model_reads_comparisons(model):
    """Invented tables with 30 right and 30 wrong claims, half of them written after the code.

    Before, 9 of the right ones lay below the bound and 5 of the wrong ones.
    """
    path = Path(__file__).parents[1] / "fixtures" / "comparisons.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    asked = [
        (row["passages"][0], answer["answer"][slice(*claim["span"])], claim["stated"])
        for row in rows
        for answer in row["answers"]
        for claim in answer["claims"]
    ]
    verdicts = [(compared(claim, passage), stated) for passage, claim, stated in asked]
    assert all(verdict in (None, stated) for verdict, stated in verdicts)
    scores = model.score([passage for passage, _, _ in asked], [claim for _, claim, _ in asked])
    below = Counter(stated for (_, _, stated), p in zip(asked, scores, strict=True) if p < 0.25)
    assert below[True] <= 3
    assert below[False] >= 24
