"""Removing claims leaves correct prose."""

import pytest

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.records import Claim


def without(answer, *drop):
    return remove_claims(answer, RuleSplitter().split(answer), drop)


BORDERS = "Germany borders France, Poland, and Denmark."
CURIE = "Marie Curie, who was born in Warsaw, won the prize and died in 1934."
BORN = "He was born in Ulm, studied in Bern, and died in Rome."
NESTED = "He lives in Ulm and his works include plays, novels, and poems."
ARTISTS = "Artists hated violence, war, and nationalism, and met in Zurich."
MADE = "Ada, born in Ulm and raised in Bonn, won the prize and died in 1934."
LOCKE = "Locke, a former coach, joined Ulm in May and left in June."
WOLVES = "Wolves live in packs of ten animals, which are led by a pair."
STORM = "The storm grew on Monday, gaining strength and becoming a hurricane."
TEAM = "The team moved to Ulm in May, drawing with Bern and winning against Graz."
GATE = "The gate, which opened in 1937 and is red, was designed by Ann Lee."
BUT = "Although leaving would break the law, Tom decides to go, and invites Ann."
WHILE = "While it rained, the gate, which is red, stood open for ten days."
FLAGS = "The flags, named Red Sun and Blue Moon, were sewn by Lee, and are sold."
LIFT = 'Though the tower is old and has no lift, "Ada" is new and has one.'
BIRDS = "While some birds, such as parrots, are known for tricks, they do not count."
NAMES = "The list has many names, including Ann, Eva, and Tom.[1]"
SONGS = "Although the list has many names, including Ann, Eva, and Tom, Ivo left."
FRIEND = "Tom Fox was cast as Ivo, the friend of Ann, and Eva Orr stars as the witch."
YET = "He was born in Ulm, lives in Bern, and has not retired yet."
SO = "She was born in Ulm, left in May, and was the first woman to do so."


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        (BORDERS, (0,), "Germany borders Poland and Denmark."),
        (BORDERS, (1,), "Germany borders France and Denmark."),
        (BORDERS, (2,), "Germany borders France and Poland."),
        (BORDERS, (0, 1), "Germany borders Denmark."),
        (BORDERS, (0, 1, 2), ""),
        (CURIE, (0,), "Marie Curie was born in Warsaw and died in 1934."),
        (CURIE, (1,), "Marie Curie won the prize and died in 1934."),
        (CURIE, (2,), "Marie Curie, who was born in Warsaw, won the prize."),
        (CURIE, (0, 1), "Marie Curie died in 1934."),
        (BORN, (1,), "He was born in Ulm and died in Rome."),
        (BORN, (2,), "He was born in Ulm and studied in Bern."),
        (NESTED, (3,), "He lives in Ulm and his works include plays and novels."),
        (ARTISTS, (2,), "Artists hated violence and war, and met in Zurich."),
        (NESTED, (0,), "His works include plays, novels, and poems."),
        (STORM, (2,), "The storm grew on Monday, gaining strength."),
        (MADE, (2,), "Ada, born in Ulm, won the prize and died in 1934."),
        (MADE, (3,), "Ada, born in Ulm and raised in Bonn, won the prize."),
        (MADE, (2, 3), "Ada, born in Ulm, won the prize."),
        (LOCKE, (2,), "Locke, a former coach, joined Ulm in May."),
        (WOLVES, (1,), "Wolves live in packs of ten animals."),
        (WOLVES, (0,), ""),  # what is left would say the removed claim over again
        ("He left; she stayed.", (0,), "She stayed."),
        ("He left; she stayed.", (1,), "He left."),
        ("Although he was ill, he won.", (0,), "He won."),
        ("Although he was ill, he won.", (1,), "He was ill."),
        (GATE, (1,), "The gate was designed by Ann Lee. The gate is red."),
        (GATE, (2,), "The gate, which opened in 1937, was designed by Ann Lee."),
        (TEAM, (0,), "The team drew with Bern. The team won against Graz."),
        (TEAM, (1,), "The team moved to Ulm in May. The team won against Graz."),
        (BUT, (0,), "Tom decides to go, and invites Ann."),
        (BUT, (2,), "Although leaving would break the law, Tom decides to go."),
        (BUT, (1,), "Leaving would break the law. Tom invites Ann."),
        (WHILE, (0,), "The gate stood open for ten days. The gate is red."),
        (FLAGS, (0,), "The flags were named Red Sun and Blue Moon, and are sold."),
        (LIFT, (0,), 'The tower has no lift. "Ada" is new and has one.'),
        (LIFT, (1,), 'Though the tower is old, "Ada" is new and has one.'),
        (LIFT, (2,), 'The tower is old and has no lift. "Ada" has one.'),
        (BIRDS, (1,), "While some birds are known for tricks, they do not count."),
        (NAMES, (1,), "The list has many names, including Eva and Tom.[1]"),
        (SONGS, (1,), "The list has many names, including Eva and Tom. Ivo left."),
        (SONGS, (3,), "Although the list has many names, including Ann and Eva, Ivo left."),
        (SONGS, (4,), "The list has many names, including Ann, Eva, and Tom."),
        (FRIEND, (0,), "Ivo is the friend of Ann, and Eva Orr stars as the witch."),
        (FRIEND, (2,), "Tom Fox was cast as Ivo, the friend of Ann."),
        (YET, (1,), "He was born in Ulm, and has not retired yet."),
        (SO, (1,), "She was born in Ulm, and was the first woman to do so."),
        ("**Rome is old and was founded by twins.**", (1,), "**Rome is old.**"),
        ("Rome is old and has seven hills.[1]", (1,), "Rome is old.[1]"),
        ("Rome is old and has seven hills.¹", (1,), "Rome is old.¹"),
        ("Rome is old and has 5 km²", (1,), "Rome is old"),
    ],
)
def test_a_sentence_keeps_its_grammar(answer, drop, expected):
    assert without(answer, *drop) == expected


CITED = "Rome is old [1], has seven hills [2], and was built by Lee [3]."
ONE_SOURCE = "Ann was born in Ulm and died in Bonn [1][2]."


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        (CITED, (0,), "Rome has seven hills [2] and was built by Lee [3]."),
        (CITED, (0, 1), "Rome was built by Lee [3]."),
        (CITED, (2,), "Rome is old [1] and has seven hills [2]."),
        (ONE_SOURCE, (0,), "Ann died in Bonn [1][2]."),
        (ONE_SOURCE, (1,), "Ann was born in Ulm [1][2]."),
        ("Rome is old and has seven hills.[1]", (0,), "Rome has seven hills.[1]"),
        ("Rome is old[^1] and has seven hills.[^2]", (0,), "Rome has seven hills.[^2]"),
        ("Rome is old[^1] and has seven hills.[^2]", (1,), "Rome is old[^1]."),
        ("Ann, who won a prize (Lee 2001), left.", (0,), "Ann won a prize (Lee 2001)."),
        ("Rome is old and has seven hills【2】.", (0,), "Rome has seven hills【2】."),
        (
            "Rome is old, and it has hills ([source](http://a.org)).",
            (0,),
            "It has hills ([source](http://a.org)).",
        ),
        (
            "Rome is old [1](http://a.org) and has hills [2](http://b.org/2).",
            (0,),
            "Rome has hills [2](http://b.org/2).",
        ),
        ("Rome is old and has [hills](http://a.org/2).", (0,), "Rome has hills."),
        (
            "The list has many names, including Ann [1] and Eva [2].",
            (1,),
            "The list has many names, including Eva [2].",
        ),
    ],
)
def test_a_claim_keeps_its_citations(answer, drop, expected):
    assert without(answer, *drop) == expected


def test_an_aside_goes_with_the_words_it_hangs_on():
    claims = RuleSplitter().split("He was born in Ulm and moved to Paris, which was large.")
    assert [c.text for c in claims][2] == "Paris was large."
    # "which was large" must not be left hanging on Ulm.
    assert without("He was born in Ulm and moved to Paris, which was large.", 1) == (
        "He was born in Ulm. Paris was large."
    )


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        ("One is odd. Two is even. Three is odd.", (1,), "One is odd. Three is odd."),
        ("One is odd. Two is even.", (1,), "One is odd."),
        ("One is odd.\n\nTwo is even.\n\nTen is even.", (1,), "One is odd.\n\nTen is even."),
        ("One is odd.\n\nTwo is even.\n", (1,), "One is odd.\n"),
        ("- One is odd.\n- Two is even.\n", (0,), "- Two is even.\n"),
        (
            "1. One is odd.\n2. Two is even.\n3. Ten is even.\n",
            (0,),
            "1. Two is even.\n2. Ten is even.\n",
        ),
        (
            "1. One is odd.\n   1. Two is even.\n   2. Six is even.\n2. Ten is even.",
            (1,),
            "1. One is odd.\n   1. Six is even.\n2. Ten is even.",
        ),
        ("* One is odd. It is small.\n* Two is even.", (1,), "* One is odd.\n* Two is even."),
        ("> One is odd.\n> Two is even.", (0,), "> Two is even."),
        ("Hi!\n\n- One is odd.\n- Two is even.\n\nTen is even.", (1, 2), "Hi!\n\nTen is even."),
        ("- One is odd.\n- Two is even.\n\nTen is even.", (0, 1), "Ten is even."),
        ("**One is odd.** Two is even.", (1,), "**One is odd.**"),
        ("**Is one odd?** It is. Two is even.", (2,), "**Is one odd?** It is."),
        ("1. Run `cut <name>`, since it is old.\n2. Two is even.", (0,), "1. Two is even."),
    ],
)
def test_sentences_items_and_paragraphs_go_whole(answer, drop, expected):
    assert without(answer, *drop) == expected


TABLE = "| City | Size | Age |\n|---|---|---|\n| Rome | big | old |\n| Bonn | small | new |\n"


def test_tables_lose_cells_or_rows():
    assert without(TABLE, 1) == TABLE.replace(" big ", "  ")
    assert without(TABLE, 1, 2) == TABLE.replace("| Rome | big | old |\n", "")
    assert without(f"{TABLE}\nOne is odd.", 1, 2, 3, 4) == "One is odd."


def test_an_emptied_cell_keeps_no_link_or_citation():
    linked = TABLE.replace("big", "[big](#size)").replace("small", "small [2]")
    assert without(linked, 1, 3) == TABLE.replace(" big ", "  ").replace(" small ", "  ")


BOLD = "**One is odd. Two is even.** Ten is even."


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        (BOLD, (0,), "Two is even. Ten is even."),
        (BOLD, (1,), "One is odd. Ten is even."),
        (BOLD, (0, 1), "Ten is even."),
        (BOLD, (2,), "**One is odd. Two is even.**"),
        ("*One is odd. Two is even.*", (1,), "One is odd."),
        ("~~One is odd. Two is even.~~ Ten is even.", (1,), "One is odd. Ten is even."),
        ("<b>One is odd. Two is even.</b> Ten is even.", (0,), "Two is even. Ten is even."),
        ("**One is odd. What is two?**\n- Ten is even.", (0,), "What is two?\n- Ten is even."),
        (
            "**One is odd, and it is small. Two is even.** Ten is even.",
            (1,),
            "One is odd. Two is even. Ten is even.",
        ),
        ("One is odd. It costs 5* a day. *Two is even.", (0,), "It costs 5* a day. *Two is even."),
        ("Two is 2*3. One is odd. It is *2*3*.", (1,), "Two is 2*3. It is *2*3*."),
        ("Use `**a` here. One is odd. It is `b**`.", (0,), "One is odd. It is `b**`."),
        ("It is in [a](b.md/*c). One is odd. Two is (d*).", (0,), "One is odd. Two is (d*)."),
    ],
)
def test_marks_of_emphasis_stay_in_pairs(answer, drop, expected):
    assert without(answer, *drop) == expected


SECTIONS = "# Rome\n\n## Size\n\nIt is big.\n\n## Age\n\nIt is old.\n"
UNDERLINED = "Rome\n====\n\nSize\n----\nIt is big.\n\nAge\n----\nIt is old.\n"
PARTS = "One is odd. Parts:\n- It is big.\n- It is old.\n\nTwo is even."
NESTED_PARTS = "- Big parts:\n  - It is red.\n- Old parts:\n  - It is tall.\n"
TITLES = "1. **Size**\n   - It is big.\n2. **Age**\n   It is old.\n3. **Hue**\n   It is red.\n"
BOLD_HEADINGS = "One is odd.\n\n**Size**\n- It is big.\n\n**Age**\n\nIt is old.\n\nIt is red.\n"
PLAIN = "It is red.\n\n## Size\n\n### In metres\n\nIt is big.\n\n"


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        (SECTIONS, (2,), "# Rome\n\n## Age\n\nIt is old.\n"),
        (SECTIONS, (4,), "# Rome\n\n## Size\n\nIt is big.\n"),
        (SECTIONS, (2, 4), ""),
        (UNDERLINED, (2,), "Rome\n====\n\nAge\n----\nIt is old.\n"),
        (PARTS, (2,), PARTS.replace("- It is big.\n", "")),
        (PARTS, (2, 3), "One is odd.\n\nTwo is even."),
        (NESTED_PARTS, (1,), "- Old parts:\n  - It is tall.\n"),
        (TITLES, (1, 5), "1. **Age**\n   It is old.\n"),
        (BOLD_HEADINGS, (2,), BOLD_HEADINGS.replace("**Size**\n- It is big.\n\n", "")),
        (BOLD_HEADINGS, (4, 5), "One is odd.\n\n**Size**\n- It is big.\n"),
        (PLAIN, (3,), "It is red.\n\n"),
        (f"{PLAIN}Sources:\n[1] Lee", (3,), "It is red.\n\nSources:\n[1] Lee"),
        (f"{PLAIN}```\nf()\n```\n", (3,), f"{PLAIN}```\nf()\n```\n".replace("It is big.\n\n", "")),
        (
            "## Is it big?\n\nOne is odd.\n\n# Two\n\nIt is even.",
            (1,),
            "# Two\n\nIt is even.",
        ),
        ("It is red.\n\n## To do", (0,), "## To do"),
        ("- \n  - It is red.\n  - It is big.\n\nTen", (0, 1), "- \n\nTen"),
    ],
)
def test_a_heading_or_lead_in_goes_if_nothing_is_left_below_it(answer, drop, expected):
    assert without(answer, *drop) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is red.\n\n## Size\n\n### In metres", "It is red."),
        ("It is red. Parts:", "It is red."),
        ("It is red.\n\n| a | b |\n|---|---|", "It is red."),
        ("It is red.\n\n## Size\n\nIt is big.", "It is red.\n\n## Size\n\nIt is big."),
        ("It is red.\n\nIs it big?", "It is red.\n\nIs it big?"),
    ],
)
def test_of_text_that_goes_on_no_heading_is_left_at_the_end(answer, expected):
    claims = RuleSplitter().split(answer)
    assert remove_claims(answer, claims, [], goes_on=True) == expected


def test_what_is_no_claim_is_never_removed():
    answer = "Hello! Rome is old. Is that enough?"
    assert without(answer, 0, 2) == answer
    assert without(answer, 0, 1, 2) == "Hello! Is that enough?"


@pytest.mark.parametrize(
    ("answer", "drop", "expected"),
    [
        ("No. The K7 is not red.", (1,), ""),
        ("**No.**\n\nThe K7 is not red.\n\nIt is big.", (1,), "It is big."),
        ("**No.**\n\nThe K7 is not red.\n\nIt is big.", (2,), "**No.**\n\nThe K7 is not red."),
        ("Yes, it does. It boils water and has a lid.", (1,), "It has a lid."),
        ("Yes, it does. It boils water and has a lid.", (2,), "Yes, it does. It boils water."),
        ("The K7 is red. It is. It has a lid.", (2,), "The K7 is red. It is."),
        ("- Yes. It is red.\n- No. It is small.", (1,), "- No. It is small."),
    ],
)
def test_a_bare_yes_or_no_goes_with_the_claim_that_says_what(answer, drop, expected):
    assert without(answer, *drop) == expected


@pytest.mark.parametrize(("opens", "closes"), [("$$", "$$"), ("\\[", "\\]")])
def test_a_formula_in_lines_of_its_own_is_one_claim(opens, closes):
    formula = f"{opens}\nA = \\pi r^2\n{closes}"
    answer = f"The area is:\n{formula}\nso it is 12 m².\n"
    claims = [claim for claim in RuleSplitter().split(answer) if claim.not_a_claim is None]
    assert [answer[slice(*claim.spans[0])] for claim in claims] == [formula, "so it is 12 m²."]
    assert without(answer, 1) == "The area is:\nso it is 12 m².\n"
    assert without(answer, 2) == f"The area is:\n{formula}\n"


def test_dropping_nothing_is_the_identity():
    answer = "  One fact.\r\n\r\n- a  b\n"
    assert without(answer) == answer


def test_an_unknown_index_is_an_error():
    with pytest.raises(IndexError):
        without("One is odd.", 7)


OVERLAP = "She won two prizes and moved to Paris. It rained."
SHARED = [
    Claim("Marie Curie won two prizes.", ((0, 18),), aligned=0.9),
    Claim("Marie Curie moved to Paris.", ((0, 3), (23, 37)), aligned=0.9),
    Claim("It rained.", ((39, 49),)),
]


def test_claims_that_share_words_are_written_by_their_texts():
    assert remove_claims(OVERLAP, SHARED, [0]) == "Marie Curie moved to Paris. It rained."
    assert remove_claims(OVERLAP, SHARED, [0, 1]) == "It rained."


def test_a_kept_claim_that_is_badly_aligned_goes_with_its_sentence():
    low = [SHARED[0], Claim("Something vague.", ((0, 38),), aligned=0.2), SHARED[2]]
    assert remove_claims(OVERLAP, low, [0]) == "It rained."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The dam is old. It is red and it is tall.", "The dam is old. It is tall."),
        ('The dam is old. "It is red" and it is tall.', "The dam is old. It is tall."),
    ],
)
def test_what_a_kept_claim_says_in_a_second_sentence_stays(answer, expected):
    last = answer.index(" and it")
    both = Claim("The dam is old and tall.", ((0, 15), (last, len(answer))))
    red = Claim("It is red.", ((16, last),))
    assert remove_claims(answer, [both, red], [1]) == expected


def test_a_kept_claim_without_a_text_is_written_by_its_own_words():
    answer = "The dam was opened in 1963, and it was designed by Mira Tollen. It is red."
    opened, designed, red = RuleSplitter().split(answer)
    bare = Claim("", designed.spans)
    left = remove_claims(answer, [opened, bare, red], [0])
    assert left == "It was designed by Mira Tollen. It is red."
