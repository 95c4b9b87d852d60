"""Sentences inside quotation marks, brackets, code and table cells are claims of their own."""

from itertools import combinations

import pytest

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.rules.enclosed import statements

SPLITTER = RuleSplitter()
FIRST, SECOND, THIRD = "The K7 holds 1.7 litres.", "It boils in 9 minutes.", "Ilse designed it."
PAIRS = {'"': '"', "“": "”", "«": "»", "'": "'", "‘": "’", "(": ")", "`": "`"}
ENCLOSED = [
    "{0}{text}{1}",
    "The manual says: {0}{text}{1}",
    "The K7 is a kettle {0}{text}{1} of steel.",
    "{0}{text}{1}, says the manual.",
]


@pytest.mark.parametrize("pair", PAIRS.items(), ids=list(PAIRS))
@pytest.mark.parametrize("form", ENCLOSED)
def test_each_enclosed_sentence_is_a_claim_and_marks_stay_in_pairs(form, pair):
    answer = form.format(*pair, text=f"{FIRST} {SECOND} {THIRD}")
    claims = SPLITTER.split(answer)
    assert [claim.text for claim in claims[1:]] == [SECOND, THIRD]
    assert FIRST[:-1] in claims[0].text
    assert "boils" not in claims[0].text
    stated = ["".join(answer[a:b] for a, b in claim.spans) for claim in claims]
    assert stated == [form.format(*pair, text=FIRST), SECOND, THIRD]
    for size in (1, 2, 3):
        for drop in combinations(range(3), size):
            left = remove_claims(answer, claims, drop)
            assert left.count(pair[0]) == left.count(pair[1])
            assert pair[0] != pair[1] or left.count(pair[0]) % 2 == 0
            kept = [FIRST, SECOND, THIRD]
            assert [text in left for text in kept] == [k not in drop for k in range(3)]
    assert remove_claims(answer, claims, [1]) == answer.replace(f"{SECOND} ", "")


def test_what_is_around_the_brackets_is_split_into_clauses():
    answer = f"The K7 ({FIRST} {SECOND}) was designed by Ilse and was sold in Ulm."
    claims = SPLITTER.split(answer)
    assert [claim.text for claim in claims] == [
        "The K7 (The K7 holds 1.7 litres.) was designed by Ilse.",
        SECOND,
        "The K7 was sold in Ulm.",
    ]
    assert remove_claims(answer, claims, [2]) == (
        "The K7 (The K7 holds 1.7 litres.) was designed by Ilse. It boils in 9 minutes."
    )


def test_an_enclosed_question_does_not_excuse_the_sentence_after_it():
    claims = SPLITTER.split(f'The manual says: "Is it fast? {SECOND}"')
    assert [claim.not_a_claim for claim in claims] == ["question", None]


def test_each_sentence_of_a_cell_is_a_claim():
    table = "| Topic | Details |\n|---|---|\n| Facts | {} |"
    answer = table.format(f'{FIRST} "{SECOND} {THIRD}"')
    claims = SPLITTER.split(answer)
    assert [claim.text for claim in claims[1:]] == [
        f"Facts: Details: {FIRST}",
        f'Facts: Details: "{SECOND}"',
        f"Facts: Details: {THIRD}",
    ]
    assert remove_claims(answer, claims, [1]) == table.format(f'"{SECOND} {THIRD}"')
    only = SPLITTER.split(f"| Facts |\n|---|\n| {FIRST} {SECOND} |")
    assert [claim.text for claim in only[1:]] == [FIRST, SECOND]


@pytest.mark.parametrize(
    "title",
    ["Help! In the Name of Love", "Dr. No. Part Two", "Who Is It? A Life of Tom Fox", "Yes. Or no"],
)
def test_a_title_is_not_cut(title):
    assert statements(title, 0, len(title)) == [(0, len(title))]
    for form in ('He wrote "{}" in 2014.', "The book ({}) was sold in 2014."):
        assert len(SPLITTER.split(form.format(title))) == 1


def test_phonetic_script_after_an_abbreviation_is_no_sentence():
    [claim] = SPLITTER.split(
        "The Vostra Union (Vostran: Вострания, tr. Vostra Unya, IPA: [ʋəˈstrɐ ˈunʲjə]) is in Vost."
    )
    assert claim.text.endswith("is in Vost.")
