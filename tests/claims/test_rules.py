"""The rule-based splitter: clauses, what they share, context."""

import pytest

from franq_guard.claims import RuleSplitter


def texts(answer, **kw):
    return [c.text for c in RuleSplitter().split(answer, **kw) if c.not_a_claim is None]


SPLIT = [
    # coordinated predicates, the subject carried over
    ["Marie Curie was born in Warsaw.", "Marie Curie won two prizes.",
     "Marie Curie was born in Warsaw and won two prizes."],
    ["He was born in Ulm.", "He studied in Bern.", "He died in Rome.",
     "He was born in Ulm, studied in Bern, and died in Rome."],
    ["The firm was founded in 1890.", "The firm was renamed in 1900.",
     "The firm was founded in 1890 and renamed in 1900."],
    ["Members can borrow ten books.", "Members can keep them for a month.",
     "Members can borrow ten books and keep them for a month."],
    ["It's free.", "It has no ads.", "It's free and has no ads."],
    ["Bees collect nectar.", "Bees pollinate crops.", "Bees collect nectar and pollinate crops."],
    ["It draws 1.2 kW.", "It weighs 9 kg.", "It runs on 230 V.",
     "It draws 1.2 kW, weighs 9 kg, and runs on 230 V."],
    # clauses of their own
    ["The Louvre is in Paris.", "The Prado is in Madrid.",
     "The Louvre is in Paris and the Prado is in Madrid."],
    ["He left Germany.", "He moved to Rome.", "He left Germany; he moved to Rome."],
    ["He was born in Ulm.", "He grew up in Bern.",
     "Although he was born in Ulm, he grew up in Bern."],
    ["Some species eat fruit.", "Others feed on insects.",
     "Some species eat fruit, others feed on insects."],
    # lists
    ["Germany borders France.", "Germany borders Poland.", "Germany borders Denmark.",
     "Germany borders France, Poland and Denmark."],
    ["She was an English mathematician.", "She was an English writer.",
     "She was an English mathematician and writer."],
    ["It sells fruits: apples.", "It sells fruits: pears.", "It sells fruits: apples and pears."],
    # asides
    ["Marie Curie won the prize.", "Marie Curie was born in Warsaw.",
     "Marie Curie, who was born in Warsaw, won the prize."],
    ["Paris is on the Seine.", "Paris is the capital of France.",
     "Paris, the capital of France, is on the Seine."],
    ["He was born in Ulm.", "Ulm is a city in Germany.", "He was born in Ulm, a city in Germany."],
    ["The tower was the tallest.", "The tower was completed in 1889.",
     "The tower, completed in 1889, was the tallest."],
    ["She mapped the floor.", "She proved that it spreads.",
     "She mapped the floor, proving that it spreads."],
    ["He made 1,100 violins.", "Some 650 of them survive.",
     "He made 1,100 violins, of which some 650 survive."],
    ["Salt lowers the freezing point.", "This makes roads safer.",
     "Salt lowers the freezing point, which makes roads safer."],
    ["The text says that it opened in 1990.", "The text says that it won a prize.",
     "The text says that it opened in 1990 and won a prize."],
]  # fmt: skip


@pytest.mark.parametrize("case", SPLIT, ids=lambda case: case[-1])
def test_clauses_carry_what_they_share(case):
    *expected, answer = case
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "Water consists of hydrogen and oxygen.",
        "She said that Paris is big and London is bigger.",
        "The bridge was designed and built by John Roebling.",
        "The distance between Paris and London is 344 km.",
        "He wrote Crime and Punishment in 1866.",
        "She praised research and development.",
        "The man who shot Lincoln and fled was an actor.",
        "It is one of the most influential and respected papers.",
        "If Greece and Turkey fell, others would follow.",
        "He was a complex and deep thinker.",
        "It opened on January 4, 2018 in Rome.",
        'The film "War, Peace and Love" was long.',
        "The Minister for Food, Agriculture and Fisheries resigned.",
        "Das Haus ist alt und groß.",
    ],
)
def test_unsure_sentences_stay_whole(answer):
    assert texts(answer) == [answer]


def test_spans_are_the_own_words_and_may_be_discontinuous():
    answer = "Marie Curie, who was born in Warsaw, won the prize."
    first, second = RuleSplitter().split(answer)
    assert [answer[a:b] for a, b in first.spans] == ["Marie Curie", "won the prize."]
    assert [answer[a:b] for a, b in second.spans] == [", who was born in Warsaw,"]


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        ("It sold 300 cars a year.", "it: Kestrel Motors"),
        ("Its factory stood in Leeds.", "its: Kestrel Motors"),
        ("In 1962, after a fire, it moved to York.", "it: Kestrel Motors"),
        # here the claim itself says who or what is meant
        ("Most of the workers were paid less than their foremen.", None),
        ("The union won because the owner feared it.", None),
        ("Two customers who wrote to the press were given their money back.", None),
    ],
)
def test_only_the_subject_of_a_claim_refers_to_what_came_before(claim: str, note: str | None):
    claims = RuleSplitter().split(f"Kestrel Motors built small cars. {claim}")
    assert claims[-1].context == note


def test_context_names_antecedent_heading_list_and_question():
    answer = (
        "# Life\n\nAda Lovelace was born in London. She died in 1852.\n\n"
        "It won:\n- a prize\n- He left."
    )
    claims = {c.text: c.context for c in RuleSplitter().split(answer)}
    assert claims["She died in 1852."] == "she: Ada Lovelace; heading: Life"
    assert claims["He left."] == "list: It won; heading: Life"  # she is not "he"
    assert "It won: A prize." in claims
    (year,) = RuleSplitter().split("1989", question="When did the wall fall?")
    assert (year.text, year.context) == ("1989.", "question: When did the wall fall?")


def test_texts_are_plain_sentences():
    assert texts("**Rome** is [old](http://a.b/c) and `big`.[2]") == ["Rome is old and big."]
    assert texts("iPhone sales grew") == ["iPhone sales grew."]
    escaped = r"Its file is pump\_data\_v2.csv. It costs \$40, 5\% less. It is \*A\* or *B*."
    assert texts(rf"{escaped} It takes $4$ l or $4\text{{ kg}}$.") == [
        "Its file is pump_data_v2.csv.", "It costs $40, 5% less.", "It is *A* or B.",
        "It takes 4 l or 4 kg.",
    ]  # fmt: skip


def test_an_empty_answer_has_no_claims():
    assert RuleSplitter().split("") == []
    assert RuleSplitter().split(" \n\t ") == []


def test_the_language_is_part_of_the_fingerprint():
    german = RuleSplitter(language="de")
    assert german.fingerprint != RuleSplitter().fingerprint
    assert len(german.split("Er kam z. B. am 5. Mai. Sie ging.")) == 2


@pytest.mark.parametrize(
    "markers",
    [
        ("i.", "ii.", "iii.", "iv."),
        ("(i)", "(ii)", "(iii)", "(xiv)"),
        ("I)", "II)", "III)", "IV)"),
        ("vi.", "vii.", "VIII.", "IX."),
        ("1️⃣", "2️⃣", "3️⃣", "10️⃣"),
        ("1\u20e3", "2\u20e3", "9\u20e3", "🔟"),
    ],
)
def test_roman_numerals_and_keycaps_are_list_markers(markers):
    facts = ["The K7 is red.", "It boils in 4 minutes.", "It is made in Ulm.", "It is new."]
    answer = "\n".join(f"{mark} {fact}" for mark, fact in zip(markers, facts, strict=True))
    claims = RuleSplitter().split(answer)
    assert [claim.text for claim in claims] == facts
    assert [answer[slice(*claim.spans[0])] for claim in claims] == facts


@pytest.mark.parametrize(
    "text", ["I. Kant was born in 1724.", "Mix. It is red.", "vim. It is red."]
)
def test_initials_and_words_are_no_roman_numerals(text):
    assert RuleSplitter().split(text)[0].spans[0][0] == 0
