"""Headings, bold lines and header rows that state something are claims; others are not."""

import pytest

from franq_guard import Guard
from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.testing import FakeFaithfulness

SPLITTER = RuleSplitter()


def stated(answer):
    return [claim.text for claim in SPLITTER.split(answer) if claim.not_a_claim is None]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("**Tom Fox**", ["Tom Fox."]),
        ("The designer is:\n\n**Tom Fox**", ["The designer is: Tom Fox."]),
        (
            "The designer is:\n\n**Tom Fox**\n\nHe lives in Ulm.",
            ["The designer is: Tom Fox.", "He lives in Ulm."],
        ),
        ("Here you go:\n\n**9 minutes**", ["Here you go: 9 minutes."]),
        ("**The K7 was designed by Tom Fox**\n\nIt is red.",
         ["The K7 was designed by Tom Fox.", "It is red."]),
        ("## The K7 Was Designed By Tom Fox\n\nIt is red.",
         ["The K7 Was Designed By Tom Fox.", "It is red."]),
        ("## Answer: 9 minutes\n\nIt is red.", ["Answer: 9 minutes.", "It is red."]),
        ("# The K7 boils in 9 minutes.\n\nIt is red.",
         ["The K7 boils in 9 minutes.", "It is red."]),
        ("**Fact: the K7 was made by Tom**\n\nIt is red.",
         ["Fact: the K7 was made by Tom.", "It is red."]),
        ("## Price: €9\n\nIt is red.\n\n**Total: about 36**\n\nIt is big.",
         ["Price: €9.", "It is red.", "Total: about 36.", "It is big."]),
        ("## Plan B: from $9 per month\n\nIt is red.\n\n**Time: 2 hours 30 minutes**",
         ["Plan B: from $9 per month.", "It is red.", "Time: 2 hours 30 minutes."]),
        ("**Name: K7**\n**Colour: red**\n**Made: in Ulm**\n\nIt is big.",
         ["Name: K7.", "Colour: red.", "Made: in Ulm.", "It is big."]),
        ("# It boils in 9 minutes and was made in Ulm",
         ["It boils in 9 minutes.", "It was made in Ulm."]),
    ],
)  # fmt: skip
def test_a_heading_that_is_the_answer_is_a_claim(answer, claims):
    assert stated(answer) == claims
    found = SPLITTER.split(answer)
    assert stated(remove_claims(answer, found, range(len(found)))) == []


@pytest.mark.parametrize("line", ["=====", "=", "------------", " ----- "])
def test_a_line_under_a_line_makes_it_a_heading(line):
    found = SPLITTER.split(f"The K7\n{line}\nIt is red.\n\nThe price\n{line}\n\nIt is high.")
    assert [(c.text, c.not_a_claim or c.context) for c in found] == [
        ("The K7", "heading"),
        ("It is red.", "heading: The K7"),
        ("The price", "heading"),
        ("It is high.", "heading: The price"),
    ]
    assert stated(f"Tom Fox\n{line}") == ["Tom Fox."]  # the answer is nothing else
    answer = f"It was made in Ulm\n{line}\n\nIt is red."
    assert stated(answer) == ["It was made in Ulm.", "It is red."]
    assert remove_claims(answer, SPLITTER.split(answer), [0]) == "It is red."


@pytest.mark.parametrize(
    "above",
    [
        "Red and big.", "Colour: red", "- red", "It is high. And red", "It is red,\nand so on",
        "Red and big\n",
    ],
)  # fmt: skip
def test_a_line_that_separates_hides_nothing(above):
    told = stated(f"It is high.\n\n{above}\n\nIt is big.")
    assert stated(f"It is high.\n\n{above}\n-----\nIt is big.") == told
    assert stated("It is high.\n\nRed and big\n---\nIt is big.") == [
        "It is high.", "Red and big.", "It is big.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "heading",
    [
        "History", "Key features", "Why does it matter?", "What makes it special", "How it works",
        "Things you should know", "Reasons it failed", "Life and works", "Awards won", "Overview",
        "Top 5 features", "The 1990s", "Step 1: Prepare the dough", "When to call a doctor",
        "Countries that use the euro", "Built to last", "Made in Germany", "Answer",
        "The Way It Is", "The paper: shuffled passages", "Red & refined colours", "What's changed",
        "Question: 3", "Report: 2014", "Topic: 5 Ways to Win", "Fields: Kinds and names",
        "Choosing a colour that suits the kitchen", "Fitting fold, questions left out in turn",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["## {}", "**{}**"])
def test_ordinary_headings_are_no_claims(heading, form):
    line = form.format(heading)
    assert stated(f"{line}\n\nIt is red.") == ["It is red."]
    assert stated(f"Here are the details:\n\n{line}\n\nIt is red.") == ["It is red."]
    assert stated(f"It is red.\n\n{line}") == ["It is red."]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("**Tom Berg**\n\nSource: Passage 1", "no_claims"),  # the bold line may be the answer
        ("## Summary\n\nI don't know.", None),
    ],
)
def test_an_answer_of_headings_alone_does_not_count_as_checked(answer, reason):
    guard = Guard(faithfulness=FakeFaithfulness())
    assert guard.check("Who painted it?", ["Ann Lee painted it."], answer).reason == reason


@pytest.mark.parametrize(
    "line",
    ["📌 Key facts", "🔎 Where to look", "💡 How it works", "🏨 The Fox Inn", "✨ Highlights",
     "📊 **Opening hours**"],
)  # fmt: skip
@pytest.mark.parametrize("below", ["It is red.", "- It is red.", "✅ It is red."])
def test_a_title_behind_an_emoji_is_a_heading(line, below):
    found = SPLITTER.split(f"It is big.\n\n{line}\n\n{below}")
    title = line.split(maxsplit=1)[1]
    assert [(c.text, c.not_a_claim) for c in found] == [
        ("It is big.", None), (title, "heading"), ("It is red.", None),
    ]  # fmt: skip
    assert found[2].context == f"heading: {title.strip('*')}"
    assert stated(f"It is big.\n{line}\n{below}") != ["It is big.", "It is red."]  # in a list


@pytest.mark.parametrize(
    "line",
    ["🍳 Breakfast included", "📍 Located in Bonn", "🚗 No pets", "🚌 Bus 12", "🏊 Pool: no",
     "💰 From $9", "✅ Sauna", "🔑 Free parking", "🐕 Dogs are welcome", "📍 Near the beach"],
)  # fmt: skip
def test_a_line_behind_an_emoji_that_says_something_is_a_claim(line):
    assert len(stated(f"{line}\n\nIt is red.")) == 2


@pytest.mark.parametrize("form", ["## {}", "**{}**", "### 2. {}"])
@pytest.mark.parametrize(
    "heading",
    [
        "Capacity 47 litres", "Pump weight 9 kg", "Pro – $9 per month", "Pro ($9/month)",
        "Warm-up (10 minutes)", "The north route - 12 km", "Battery life 10 hours",
    ],
)  # fmt: skip
def test_a_heading_that_ends_with_an_amount_is_a_claim_and_names_what_is_below_it(heading, form):
    told = SPLITTER.split(f"It is red.\n\n{form.format(heading)}\n\n- very old\n\nIt is big.")
    assert [(claim.text, claim.not_a_claim) for claim in told[1:]] == [
        (f"{heading}.", None), ("Very old.", None), ("It is big.", None),
    ]  # fmt: skip
    assert told[2].context == f"heading: {form.format(heading).strip('#* ')}"


@pytest.mark.parametrize("form", ["## {}", "**{}**"])
@pytest.mark.parametrize(
    "heading",
    [
        "The 5 km run", "World War II (1939–1945)", "Apollo (11)", "Heat pumps under 5 kW",
        "Best phones under $500", "Phones ($200–$400)", "Chapter 3 - 5 min read", "Plans (3)",
        "Choosing a capacity – 47 litres", "How to reduce weight 5 kg", "Questions - 12",
        "Weight", "Price (in euros)", "The 1990s - 2000s", "Size and weight",
    ],
)  # fmt: skip
def test_a_heading_whose_number_is_part_of_a_name_is_none(heading, form):
    answer = f"It is red.\n\n{form.format(heading)}\n\nIt is big."
    assert stated(answer) == ["It is red.", "It is big."]


def test_lines_behind_emojis_are_a_list_also_with_blank_lines():
    for end in ("\n", "\n\n"):
        assert (
            len(stated(end.join(["🚗 Big garage", "🏊 Large pool", "📶 Fast net", "It is red."])))
            == 4
        )
    long = "🎉 The fair of the towns on the river starts on 3 June"
    assert stated(f"{long}\n🚌 Bus 12 runs daily\nℹ️ More info: https://a.org") == [
        f"{long}.", "🚌 Bus 12 runs daily.",
    ]  # fmt: skip


@pytest.mark.parametrize("lead", ["", "Here are the main points:\n\n"])
@pytest.mark.parametrize("below", ["\n   - {}\n", "\n- {}\n", "\n   {}\n", "\n\n   - {}\n\n"])
def test_a_bold_item_above_its_own_items_is_a_heading(lead, below):
    parts = [f"{k + 1}. **{name}**" for k, name in enumerate(["Background", "Effects"])]
    answer = lead + "".join(part + below.format("It is red.") for part in parts)
    assert stated(answer) == ["It is red."] * 2


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("The causes are:\n\n1. **Rain**\n   - It was heavy.\n2. **Wind**\n   - It was cold.",
         ["The causes are: Rain.", "It was heavy.", "The causes are: Wind.", "It was cold."]),
        ("1. **Rain**\n2. **Wind**\n\nBoth were bad.", ["Rain.", "Wind.", "Both were bad."]),
        ("- **Sold in 1990**\n  - It was red.", ["Sold in 1990.", "It was red."]),
        ("- **Made in Ulm**\n  - It was red.", ["Made in Ulm.", "It was red."]),
    ],
)  # fmt: skip
def test_a_bold_item_that_answers_is_a_claim(answer, claims):
    assert stated(answer) == claims


def test_a_bold_item_is_named_with_the_items_below_it():
    answer = (
        "There are two plans:\n\n- **Basic**\n  - Price: $9\n  - It is old.\n- **Pro**\n  - new"
    )
    found = SPLITTER.split(answer)
    assert [(c.text, c.context) for c in found[1:]] == [
        ("There are two plans: Basic.", None), ("Basic: Price: $9.", None),
        ("It is old.", "list: Basic"), ("There are two plans: Pro.", None), ("Pro: New.", None),
    ]  # fmt: skip


def test_what_leads_to_a_heading_does_not_lead_to_the_list_below_it():
    claims = SPLITTER.split("Here are the plans:\n\n**Basic**\n\n- old\n\n**Pro**\n\n- new")
    assert [(c.text, c.context) for c in claims if c.not_a_claim is None] == [
        ("Old.", "heading: Basic"), ("New.", "heading: Pro"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "claims"),
    [
        ("**1. Background**", []),
        ("**12. Key features:**", []),
        ("**1. The K7 was made in Ulm**", ["The K7 was made in Ulm."]),
        ("**2. Price: $9**", ["Price: $9."]),
        ("**3. Colour**: It was blue.", ["Colour: It was blue."]),
        ("**J. Smith**", ["J. Smith."]),
    ],
)
def test_the_number_of_a_bold_line_is_no_sentence(line, claims):
    assert stated(f"It is old.\n\n{line}\nIt is red.") == ["It is old.", *claims, "It is red."]


def test_what_a_heading_with_a_value_is_about_is_told_below_it():
    claims = SPLITTER.split("## Plan A: $9\n\n- 5 GB\n\n## Plan B: $19\n\n- 9 GB")
    assert [(claim.text, claim.context) for claim in claims] == [
        ("Plan A: $9.", None), ("5 GB.", "heading: Plan A: $9"),
        ("Plan B: $19.", None), ("9 GB.", "heading: Plan B: $19"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "full"),
    [
        ("**No**\n\n- 9 cm\n- 9 kg", "The K7 is not waterproof."),
        ("# Yes.\n\n- 9 cm", "The K7 is waterproof."),
    ],
)
def test_a_bold_yes_above_a_list_is_the_answer(answer, full):
    assert SPLITTER.split(answer, question="Is the K7 waterproof?")[0].full == full


@pytest.mark.parametrize("value", ["9 minutes", "1,250 g", "€89", "4%", "14 March 2014", "5 km/h"])
def test_a_header_row_with_an_amount_is_a_claim(value):
    table = f"| Boiling time | {value} |\n|---|---|\n| Capacity | 1.7 litres |"
    assert stated(table) == [f"Boiling time: {value}.", "Capacity: 1.7 litres."]
    claims = SPLITTER.split(table)
    assert remove_claims(table, claims, [0]) == (
        "|  |  |\n|---|---|\n| Capacity | 1.7 litres |"  # the line of dashes keeps its header
    )


@pytest.mark.parametrize("head", ["Metric | 2014", "Item | Details", "City | 2020 census", "a | 3"])
def test_a_header_row_that_names_columns_is_none(head):
    assert stated(f"| {head} |\n|---|---|\n| Sales | big |") == [
        f"Sales: {head.split(' | ')[1]}: big."
    ]
    assert stated("| Size | 9 cm | Age |\n|---|---|---|\n| a | | c |") == ["A: Age: c."]


@pytest.mark.parametrize(
    "step",
    [
        "Step 1: Heat the water to 90 °C", "Step 2 – The water boils at 90 °C",
        "1. Heat the water to 90 °C", "Step 1: Add 3 eggs", "Step 3 - Bake it for 20 minutes",
        "2) Preheat the oven to 180°C", "Step 6: Pay the €50 fee",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["### {}", "**{}**"])
def test_a_step_with_an_amount_is_a_claim_and_names_what_is_below_it(step, form):
    answer = f"## Tea\n\nIt is red.\n\n{form.format(step)}\n\n- Then pour it.\n"
    head, told, claim, below = SPLITTER.split(answer)
    assert (head.not_a_claim, told.not_a_claim, claim.not_a_claim) == ("heading", None, None)
    assert step.partition(" ")[2].partition(" ")[2] in claim.text
    assert answer[slice(*claim.spans[0])].strip("*").endswith(step[-6:])
    assert below.context == f"heading: {step}"


@pytest.mark.parametrize(
    "step",
    [
        "Step 1: Heat the water", "1. Visit the 12 Apostles", "Step 1: Heat pumps under 5 kW",
        "Step 2: The 3 settings", "1. Install Python 3.11", "3. The 5 km run",
        "Step 1: Heating to 90 °C", "Step 2: How to heat it to 90 °C", "Step 3: Repeat step 1",
        "Heat the water to 90 °C", "Step 1: Installation", "Installation", "Pump weight and size",
    ],
)  # fmt: skip
def test_a_step_that_only_names_what_is_below_it_is_a_heading(step):
    assert stated(f"It is red.\n\n### {step}\n\nThen pour it.") == ["It is red.", "Then pour it."]


@pytest.mark.parametrize(
    "entry",
    [
        '- "The pump holds 47 litres." (manual.pdf)', "1. “The pump holds 47 litres” – manual.pdf",
        '- manual.pdf: "The pump holds 47 litres."', '- Manual, page 3: "Pump B holds 47 litres."',
        '- manual.pdf, "Red pumps. The pump holds 47 litres."',
        "- The pump holds 47 litres (manual.pdf)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("above", ["Sources:", "## References", "**Sources**"])
def test_a_sentence_that_an_entry_of_the_sources_quotes_is_a_claim(above, entry):
    answer = f"It is red.\n\n{above}\n- leaflet.pdf\n{entry}\n- Pump guide, 2019"
    claims = [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]
    assert "47 litres" in claims[-1].text
    assert "47 litres" in answer[slice(*claims[-1].spans[0])]
    left = remove_claims(answer, SPLITTER.split(answer), range(len(SPLITTER.split(answer))))
    assert "47" not in left
    assert "leaflet.pdf" in left


@pytest.mark.parametrize(
    "entry",
    [
        '"A History of Pumps." Journal of Pumps, 2019', '"Boeing recalls 47 planes" (report, 2019)',
        '"The pump that wins", manual.pdf', '"The Pump Is Red", manual.pdf', "manual.pdf",
        '"Is the pump red?" (guide, 2019)', '"How it works." Manual', "https://a.org/manual.pdf",
        'Lee, "The pumps," Journal of Pumps, vol. 4', "[Manual](https://a.org)", "Manual, page 47",
    ],
)  # fmt: skip
def test_a_title_in_the_sources_is_no_claim(entry):
    assert stated(f"It is red.\n\nSources:\n- {entry}") == ["It is red."]
