"""A fact of the claim in the place of another one of its nearest sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.differences.subjects import other_subject
from franq_guard.faithfulness.small.replaced import Replaced, replaced
from franq_guard.faithfulness.small.tokens import tokens

BAKERY = "In 2003 Elin Marsh sold the bakery in Brenn to Tomas Birk for nine thousand crowns."
MILL = "The mill at Harrow was never used during the war, and twenty-five people lived in it."
SENTENCES = (BAKERY, MILL)


def value(name, claim, sentences=SENTENCES):
    found = replaced(claim, sentences, "\n".join(sentences))
    return getattr(found, name)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("In 2003 Elin Marsh sold the bakery.", False),
        ("In 2005 Elin Marsh sold the bakery.", True),
        ("Elin Marsh sold the bakery for 9 thousand crowns.", False),  # spelled out or not
        ("Elin Marsh sold the bakery for two thousand crowns.", True),
        ("25 people lived in the mill.", False),
        ("30 people lived in it.", True),
    ],
)
def test_a_number_in_the_place_of_another(claim, told):
    assert (value("number_replaced", claim) > 0) == told


def test_a_first_where_the_sentence_has_another_ordinal():
    sentence = "It was the seventh title of the series."
    assert value("number_replaced", "It was the first title of the series.", (sentence,)) == 1
    assert value("number_replaced", "It was the seventh title.", (sentence,)) == 0
    one = "Every word has one or more parts."
    assert value("number_replaced", "Every word has six or more parts.", (one,)) == 2


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Elin Marsh sold the bakery to Tomas Birk.", False),
        ("Elin Marsh sold the bakery to Otto Lind.", True),
        ("Elin Marsh sold the bakery in Harrow to Tomas Birk.", True),  # of the other sentence
        ("Tomas Birk got his shop from Elin Marsh.", False),  # told in other words
    ],
)
def test_a_name_in_the_place_of_another(claim, told):
    assert (value("name_replaced", claim) > 0) == told


PIER = "The Vik pier opened on 3 June 1958."
FERRY = "The ferry stopped in July 1957."
BURNT = "The mill burned down on May 9, 1971."


@pytest.mark.parametrize(
    ("claim", "times"),
    [
        ("The Vik pier opened in July 1958.", 2),  # a month that stands elsewhere
        ("The Vik pier opened in April 1958.", 2),
        ("The Vik pier opened on 7 July 1958.", 2),
        ("The mill burned down in July 1971.", 2),
        ("The Vik pier opened in June 1958.", 0),
        ("The Vik pier opened on June 3rd, 1958.", 0),
        ("The mill burned down in May 1971.", 0),
        ("The Vik pier opened in 1958.", 0),
    ],
)
def test_a_month_in_the_place_of_a_day_of_another(claim, times):
    found = value("name_replaced", claim, (PIER, FERRY, BURNT))
    assert (found > 0, found > 1) == (times > 0, times > 1)


LONG = (
    "The Ilm rises in the hills of Dorr, north of the village of Felde.",
    "It then flows past the mills of Harrow and ends in Sorn county at the town of Keld.",
)


@pytest.mark.parametrize(
    ("claim", "times"),
    [
        # One claim of two sentences: its end stands in the other one.
        ("The Ilm rises in the hills of Dorr and ends in Sorn county, at the town of Keld.", 0),
        ("The Ilm rises in the hills of Dorr and ends in Sorn county, at the town of Brenn.", 1),
        ("The Ilm rises in the hills of Keld, north of the village of Felde.", 2),  # alone differs
    ],
)
def test_a_name_of_another_sentence_replaces_none_unless_it_alone_differs(claim, times):
    assert (value("name_replaced", claim, LONG) > 0) == (times > 0)
    assert (value("name_replaced", claim, LONG) > 1) == (times > 1)


@pytest.mark.parametrize(
    ("claim", "sentence", "times"),
    [
        ("The mill was not used during the war.", "The mill was used during the war.", 2),
        ("The mill was used during the war.", "The mill wasn't used during the war.", 2),
        ("Somebody was hurt in the mill.", "Nobody was hurt in the mill.", 2),
        ("Nobody was hurt in the mill.", "Everyone was hurt in the mill.", 2),
        ("The mill did not stop during the war.", "The mill worked all through the war.", 1),
        ("It did not fall.", "Nobody saw it fall.", 0),  # at the beginning, beside other words
        ("The mill was not used during the war.", "The mill was never used during the war.", 0),
    ],
)
def test_a_negation_that_alone_differs_counts_twice(claim, sentence, times):
    found = value("negation_added", claim, (sentence,))
    assert (found > 0, found > 1) == (times > 0, times > 1)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Ada Vale moved to Brenn.", "She moved to Brenn."),  # a pronoun
        ("The arena stands in Southeast London.", "The arena stands in South East London."),
        ("The Court of Appeals of Brenn hears it.", "The Court of Appeals (CA) hears it."),
        ("It was a hit in the UK in spring.", "It was a hit in the United Kingdom in spring."),
        ("Nikolai Marsh sang it.", "Nicolai Marsh sang it."),
        ("It is a large mill in Brennland.", "It is a large Brennish mill."),
    ],
)
def test_the_same_name_in_another_form_is_no_other_name(claim, sentence):
    assert value("name_replaced", claim, (sentence,)) == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It was a number 1 hit.", "It was a number one hit."),
        ("It grew in the 1990's.", "It grew in the 1990s."),
        ("It was the 1st mill.", "It was the first mill."),
    ],
)
def test_the_same_number_in_another_form_is_no_other_number(claim, sentence):
    assert value("number_replaced", claim, (sentence,)) == 0
    assert value("number_unknown", claim, (sentence,)) == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The jar holds 60 g of salt.", "The jar holds 60 mg of salt."),
        ("The mill was shut for six months.", "The mill was shut for six weeks."),
        ("The mill was shut for thirty-six weeks.", "It was shut for thirty-six (36) months."),
        ("The dam cost 2.5 billion.", "The dam cost 2.5 million crowns."),
        ("The dam cost £3.4bn.", "The dam cost £3.4m."),
        ("The dough rests for 30 hours.", "The dough rests for 30 minutes."),
        ("The pass costs $12 a month.", "The pass costs €12 a month."),
        ("The pass costs 12 dollars.", "The pass costs EUR 12."),
        ("Turnout rose by 5 percentage points.", "Turnout rose by 5 %."),
        ("Nobody may drive faster than 75 mph.", "Nobody may drive faster than 75 km/h."),
        ("The kiln reached 900 °F.", "The kiln reached 900 °C."),
        ("It pumps 220 gallons a minute.", "It pumps 220 litres per minute."),
        ("It pumps 220 litres per hour.", "It pumps 220 litres per minute."),
        ("It pumps 220 l/h.", "It pumps 220 litres a minute."),
        ("It packs 30 parcels per day.", "It packs 30 parcels per hour."),
        ("It is cleaned 3 times a week.", "It is cleaned three times a day."),
        ("The pass costs $12 a week.", "The pass costs $12 a month."),
        ("Give 5 mg per kg.", "Give 5 mg per litre."),
        ("It drives 90 kilometres a minute.", "It drives 90 km/h."),
        ("A filter costs 39 cents.", "A filter costs 39 euros."),
        ("A filter costs 39 pounds.", "A filter costs 39 euros."),
        ("The stove weighs 14 pounds.", "The stove weighs 14 kg."),
        ("It runs on 230 kV.", "It runs on 230 V."),
        ("The tyre needs 3 psi.", "The tyre needs 3 bar."),
        ("The hall has 300 square feet.", "The hall has 300 m²."),
        ("Lots must be bid for by 31 May.", "Lots must be bid for by 31 March."),
        ("Lots must be bid for by March 31st.", "Lots must be bid for by the 31st of May."),
    ],
)
def test_the_same_number_of_another_unit_is_another_one(claim, sentence):
    assert value("number_replaced", claim, (sentence,)) > 0
    assert value("number_unknown", claim, (sentence,)) > 0
    elsewhere = (sentence, f"Nobody knew before: {claim}")
    assert value("number_unknown", claim, elsewhere) == 0
    for text in (claim, sentence):
        assert value("number_replaced", text, (text,)) == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The jar holds 60 g of salt.", "The jar holds 60 grams of salt."),
        ("The jar holds 60 of them.", "The jar holds 60 mg of salt."),  # a unit of one only
        ("The jar holds 60 spoons of salt.", "The jar holds 60 mg of salt."),
        ("Answers take 3 working days.", "Answers take 3 days."),
        ("It was a 3-year lease.", "The lease was for three (3) years."),
        ("The dam cost 3.4 million pounds.", "The dam cost £3.4m."),
        ("The dam cost 2.5 million.", "The dam cost €2.5 million."),
        ("The pass costs $12.", "The pass costs A$12."),
        ("It drives 80 kilometres per hour.", "It drives 80 km/h."),
        ("It drives 80 kilometres an hour.", "It drives 80 km/h."),
        ("It drives 80 miles every hour.", "It drives 80 mph."),
        ("It pumps 220 l/min.", "It pumps 220 litres a minute."),
        ("It pumps 220 litres.", "It pumps 220 litres per minute."),  # of one only
        ("It packs 30 parcels.", "It packs 30 parcels per hour."),
        ("It packs 30 parcels every hour.", "It packs 30 an hour, for the first month."),
        ("It was sold for 30 euros a year ago.", "It was sold for 30 euros a month."),
        ("It pays 4 % a year.", "It pays 4 % per annum."),
        ("The stove weighs 14 pounds.", "The stove weighs 14 lb."),
        ("The stove costs 14 pounds.", "The stove costs £14."),
        ("The hall has 3 bars.", "The hall has 3 psi valves and 3 rooms."),
        ("The hall has 300 square metres.", "The hall has 300 m²."),
        ("It uses 5 mg/kg/day.", "It uses 5 mg daily."),
        ("A tuned 12 cent gap.", "A tuned gap of 12."),
        ("Lots are sold on May 31.", "Lots are sold on the 31st of May."),
        ("It ran from May 2003.", "It ran from March to May 2003."),
        ("It takes 5 minutes.", "It takes 5 hours by boat, 5 minutes by car."),
        ("It saves 5 %, and 5 minutes a day.", "It saves 5 minutes a day."),
        ("She was born on the third day of May.", "She was born on 3 May."),
        ("It was sold on April 8.", "Fairs: March 27 April 8 May 2"),
    ],
)
def test_the_same_unit_in_another_form_or_none_is_no_other_one(claim, sentence):
    assert value("number_replaced", claim, (sentence,)) == 0
    assert value("number_unknown", claim, (sentence,)) == 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The mill reopened in May 1987.", "The mill reopened in April 1987."),
        ("The mill reopened in April 1987.", "The mill reopened in May 1987."),
        ("The mill closes in June for repairs.", "The mill closes in July for repairs."),
        ("The mill is shut on Tuesday.", "The mill is shut on Thursday."),
        ("May 2 is a holiday in Brenn.", "July 2 is a holiday in Brenn."),
    ],
)
def test_months_and_weekdays_are_compared_exactly(claim, sentence):
    assert value("name_replaced", claim, (sentence,)) > 0


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It is shut on Tue for repairs.", "It is shut on Tuesdays for repairs."),
        ("It reopens on 3 Sept in Brenn.", "It reopens on 3 September in Brenn."),
        ("You may enter the mill.", "Guests must not enter the mill."),  # not the month
    ],
)
def test_the_same_day_or_month_is_no_other_name(claim, sentence):
    assert value("name_replaced", claim, (sentence,)) == 0


def test_the_value_is_the_share_of_the_other_words_that_the_sentence_has():
    # beside 2005 and the names of the sentence: sold, bakery and quickly, of which two are there
    claim = "In 2005 Elin Marsh quickly sold the bakery."
    assert value("number_replaced", claim) == pytest.approx(
        2 * 4 / 5
    )  # elin, marsh, sold, bakery; twice


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The mill at Harrow was never used during the war.", False),
        ("The mill at Harrow was not used during the war.", False),
        ("The mill at Harrow was used during the war.", True),
        ("Elin Marsh did not sell the bakery.", True),
        ("Elin Marsh hasn't sold the bakery.", True),
    ],
)
def test_a_negation_of_one_of_the_two(claim, told):
    assert (value("negation_added", claim) > 0) == told


def test_a_number_is_unknown_where_no_sentence_has_it():
    assert value("number_unknown", "The mill was sold for 9 crowns.") == 0
    assert value("number_unknown", "The mill at Harrow was never used by 7 people.") > 0


def test_a_question_states_nothing():
    assert value("name_replaced", "Did Elin Marsh sell the bakery to Otto Lind?") == 0
    assert value("name_replaced", "who sold the bakery in Brenn Otto Lind") == 0
    assert (
        value("number_replaced", "When in 2005 Elin Marsh sold the bakery, he left.", (BAKERY,)) > 0
    )


def test_words_are_told_by_what_they_are():
    found = {token.text: token.kind for token in tokens("Mills in Brenn weren't sold, she said 3.")}
    assert found == {
        "mill": "opening", "brenn": "name", "not": "negation", "sold": "word", "she": "pronoun",
        "said": "word", "3": "number",
    }  # fmt: skip
    assert tokens("Otto Lind left.")[0].kind == "name"  # it opens the sentence, and a name follows


def test_nothing_is_told_of_nothing():
    assert replaced("", SENTENCES, "") == replaced("It.", (), "") == Replaced()


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_value_is_a_share(claim, text):
    assert all(0 <= v <= 1 for v in replaced(claim, (text,), text))


@given(st.text(alphabet="ab 12.,ABnot", min_size=1, max_size=60))
def test_a_sentence_replaces_nothing_of_itself(text):
    assert replaced(text, (text,), text) == Replaced()


def test_a_fact_that_is_all_that_differs_counts_more():
    sentence = ("In Brenn they sold nine loaves at the market to Tomas Birk in 2003.",)
    claims = {
        "In Brenn they sold four loaves at the market.": 2,
        "They sold loaves to Tomas Birk in 2004.": 2,  # at the end
        # Only "sold" and "loaves" of sold, large, round, loaves, market are there: 2 of 4 as the
        # number does not count itself, and so few show nothing. Once: .5
        "They sold four large round loaves.": 0.5,
    }
    for claim, times in claims.items():
        assert value("number_replaced", claim, sentence) == times, claim
    units = {
        "The stove weighs 14 pounds.": 2,  # "pounds" for "kg" does not lower the share
        "The large iron stove of the mill weighs 14 pounds.": 0.5,  # stove, weighs, 14 of six
    }
    for claim, times in units.items():
        assert value("number_replaced", claim, ("The stove weighs 14 kg.",)) == times, claim
    names = {
        "In Brenn they sold nine loaves at the market to Otto Lind in 2003.": 3,
        "In Brenn they sold nine loaves to Otto Lind in 2003.": 1,  # nor is the market there
    }
    for claim, times in names.items():
        assert value("name_replaced", claim, sentence) == times, claim


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The mill was bought by Robert Harrow.", False),
        ("The mill was bought by Albert Harrow.", True),
        ("The mill was bought by Bobbin Marlow.", True),
    ],
)
def test_short_first_names_are_the_same_person(claim, told):
    assert (value("name_replaced", claim, ("The mill was bought by Bob Harrow.",)) > 0) == told


def test_two_names_are_not_the_same_by_one_word_of_them():
    sentence = ("The first flight was led by Christiaan Barlow in May.",)
    assert (
        value("name_replaced", "The first flight was led by Christopher Maro in May.", sentence)
        == 3
    )
    assert (
        value("name_replaced", "The first flight was led by Christian Barlow in May.", sentence)
        == 0
    )


@pytest.mark.parametrize(
    ("claim", "sentence", "times"),
    [
        # The last word that the claim leaves out negates what follows.
        ("The mill closed in May.", "The mill opened in March but never closed in May.", 2),
        ("The mill closed in May.", "The mill never opened in March and closed in May.", 1),
        # A subject that the sentence has as "it", of one or more words.
        ("Brenn wax may be used near fire.", "It must not be used near fire.", 2),
        ("The hard wax may be used near fire.", "It must not be used near fire.", 2),
        ("The hard wax must not be used near fire.", "It must not be used near fire.", 0),
        # A word that negates the verb after it, and one that says the same as a negation.
        ("The pump started during the test.", "The pump failed to start during the test.", 2),
        ("The crew can mend the pump.", "The crew was unable to mend the pump.", 2),
        ("The crew could not mend the pump.", "The crew was unable to mend the pump.", 0),
        # An adjective negates nothing.
        (
            "The leaders of the coup fled in 1990.",
            "The leaders of the failed coup fled in 1990.",
            0,
        ),
        ("The town built a school.", "The declining town built a school.", 0),
        # "All" is no subject that a name may stand for.
        ("None of the rooms has a bath.", "All rooms are old; none has a bath.", 0),
    ],
)
def test_a_negation_of_what_the_claim_leaves_out_or_names(claim, sentence, times):
    assert value("negation_added", claim, (sentence,)) == times


@pytest.mark.parametrize(
    ("claim", "sentence", "times"),
    [
        ("She sold Harrow mill in May.", "She sold Brenn mill in May, and Harrow in June.", 3),
        ("Ada Vale led the choir.", "Otto Lind led the choir, with Ada Vale at the organ.", 3),
        ("Ada Vale led the choir.", "Otto Lind and Ada Vale led the choir.", 0),
        # "Characters" is a noun here, and "character" no verb that both have.
        ("Ada Vale character on Grey Bay.", "Grey Bay characters: Ada Vale is the owner.", 0),
        # On Monday nobody leads: a day is no subject.
        ("Ada Vale led the choir.", "Each week on Monday led the choir Ada Vale.", 0),
        # What little words join to a name is of the same subject.
        ("Otto Lind led the choir.", "Otto Lind from Brenn led the choir.", 0),
        ("The hall opened in 1903.", "The hall in Brenn opened in 1903.", 0),
        ("The Brenn Museum opened in 1903.", "The Brenn Museum in Harrow opened in 1903.", 0),
        # Of a passive the subject is another one.
        (
            "The fees that Ada Vale paid were high.",
            "The fees in Brenn paid by Ada Vale were high.",
            0,
        ),
    ],
)
def test_a_name_in_the_place_of_another_though_it_stands_elsewhere(claim, sentence, times):
    assert value("name_replaced", claim, (sentence,)) == times


OLD_MILL = "The old mill was bought by Otto Lind."


@pytest.mark.parametrize(
    ("claim", "sentence", "times"),
    [
        # old, mill and bought are there before the last name, and then another one.
        (OLD_MILL, "The old mill was bought by Ada Vale in 1903.", 3),
        # Only mill and passed are: new, but nothing says that the name is in the other's place.
        ("The mill passed to Otto Lind.", "The mill passed to Ada Vale in 1903.", 1),
        # What stands there is named by the claim, too: it leaves something out, but tells no other.
        (
            "In Harrow the old mill was bought by Otto Lind.",
            "The old mill was bought by Harrow.",
            0,
        ),
        # The name in another spelling is among the next four words (ada, vale, wife, nicolai),
        (
            "The old mill was bought by Nikolai.",
            "The old mill was bought by Ada Vale, wife of Nicolai.",
            1,
        ),
        # or is not: ada, vale, young, wife.
        (
            "The old mill was bought by Nikolai.",
            "The old mill was bought by Ada Vale, young wife of Nicolai.",
            3,
        ),
        # The very same name is aligned with itself, wherever it stands.
        (OLD_MILL, "The old mill was bought by Ada Vale, the young new wife of one Otto Lind.", 0),
    ],
)
def test_a_name_at_the_end_of_the_claim_in_the_place_of_another(claim, sentence, times):
    assert value("name_replaced", claim, (sentence,)) == times


@pytest.mark.parametrize(
    ("claim", "sentence", "told"),
    [
        ("Ada Vale led the choir.", "Otto Lind led it, with Ada Vale at the organ.", True),
        # What neither did is no verb that tells who did it.
        ("Ada Vale never led the choir.", "Otto Lind never led it, unlike Ada Vale.", False),
        # Three little words join Brenn to the subject, four do not: it is what led the choir.
        ("Otto Lind led the choir.", "Otto Lind who is from Brenn led the choir.", False),
        ("Otto Lind led the choir.", "Otto Lind who had been in Brenn led the choir.", True),
        # Only little words do.
        ("Otto Lind led the choir.", "Otto Lind whom Brenn led the choir to.", False),
        ("Otto Lind led the choir.", "Otto Lind says Brenn led the choir.", True),
        # The verb stands behind the little words.
        ("Ada Vale would have to be fed.", "Otto Lind would have to be led.", False),
        ("Ada Vale would have to be led.", "Otto Lind would have to be led.", True),
    ],
)
def test_another_subject_before_the_same_verb(claim, sentence, told):
    assert other_subject(claim, sentence, frozenset()) == told


@pytest.mark.parametrize(
    ("claim", "sentence", "names", "told"),
    [
        # A text's first word has a capital anyway.
        ("Ada led the choir.", "Otto led it.", "", False),
        ("Ada led the choir.", "Otto led it.", "ada", False),
        ("Ada led the choir.", "Otto led it.", "otto", False),
        ("Ada led the choir.", "Otto led it.", "ada otto", True),
        # Inside a text, or beside another one, it shows a name.
        ("There Ada led the choir.", "There Otto led it.", "", True),
        ("Ada Vale led the choir.", "Otto Lind led it.", "", True),
    ],
)
def test_a_lone_first_word_is_a_subject_only_if_it_is_known_as_a_name(claim, sentence, names, told):
    assert other_subject(claim, sentence, names.split()) == told


def test_a_first_that_the_sentence_has_elsewhere_is_no_replaced_number():
    sentence = "The moth was first described by Ada Vale in 1903."
    assert (
        value("number_replaced", "Ada Vale was the first to describe the moth.", (sentence,)) == 0
    )


@pytest.mark.parametrize(
    ("sentence", "claim", "negated"),
    [
        # A limit in other words; the first "no" negates nothing.
        ("Report it no later than 14 days after.", "Report it at the latest 14 days after.", False),
        ("It runs for not more than an hour daily.", "It runs for an hour at most daily.", False),
        # "unless" is "if not", so both or neither are negated.
        ("It is free unless another has it.", "It is free if nobody has it.", False),
        ("It is free unless another has it.", "It is free if another has it.", True),
        ("All rooms except the attic are warm.", "All rooms and the attic are warm.", True),
        ("All rooms except the attic are warm.", "All rooms but not the attic are warm.", False),
        # Not a limit: what is compared with is no amount.
        ("The pump is no faster than before.", "The pump is faster than before.", True),
        ("Vik is not larger than Brenn.", "Vik is larger than Brenn.", True),
    ],
)
def test_limits_are_no_negations_and_exceptions_are(sentence, claim, negated):
    found = replaced(claim, [sentence], sentence)._asdict()
    assert (found["negation_added"] > 0) is negated


IN_A_JAR = "In a closed jar with a lid, it keeps for {}."


@pytest.mark.parametrize(
    ("claim", "text", "times"),
    [
        # The number is in the part that moved; all other words (closed, jar, lid, keeps) are there.
        ("three days", "It keeps for four days in a closed jar with a lid.", 2),
        ("four days", "It keeps for four days in a closed jar with a lid.", 0),
        # The text counts days by three elsewhere, or the sentence counts other things.
        ("three days", "It keeps for four days in a closed jar with a lid. Or three days.", 0),
        ("three days", "It keeps for four weeks in a closed jar with a lid.", 0),
        # The claim has the sentence's number as well.
        ("three days or four days", "It keeps for four days in a closed jar with a lid.", 0),
    ],
)
def test_a_count_in_a_part_that_moved(claim, text, times):
    found = replaced(IN_A_JAR.format(claim), [text.split(". ")[0]], text)
    assert found.number_replaced == times


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Keep it at -5 °C.", ["-5"]),
        ("Keep it at −5°C (-6 °C at night).", ["-5", "-6"]),
        ("Keep it between -20 and -10 degrees.", ["-20", "-10"]),
        ("Keep it at minus five degrees.", ["-5"]),
        ("Keep it at 5 degrees Celsius below zero.", ["-5"]),
        ("It freezes at minus 6.", ["-6"]),
        ("Keep it at 5–10 °C, or 3 - 4 °C.", ["5", "10", "3", "4"]),  # ranges
        ("It is 12 minus 6.", ["12", "6"]),
        ("Sales: -5%.", ["5"]),  # told as "fell by 5%"
    ],
)
def test_numbers_below_zero(text, numbers):
    assert [token.text for token in tokens(text) if token.kind == "number"] == numbers


def test_a_temperature_below_zero_is_another_than_the_one_above():
    text = "The vaccine is kept in the freezer of the ward at -5 °C."
    right = "The vaccine is kept in the freezer of the ward at minus 5 degrees Celsius."
    found = [replaced(claim, [text], text)._asdict() for claim in (right, text.replace("-5", "5"))]
    assert [(values["number_replaced"], values["number_unknown"]) for values in found] == [
        (0, 0),
        (2, 1),  # it alone differs; every other word is there
    ]


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("The vaccine is kept at 6 °C.", 2),  # vaccine and kept, 2 of 2, and all that differs
        ("The vaccine is kept at 6 °C or 7 °C.", 2),
        ("The vaccine is used at 6 °C.", 1 / 2),  # "used" is not there
        ("The vaccine is kept for 12 hours.", 2 / 3),  # nor are hours
        ("The vaccine is kept at 5 °C.", 0),
    ],
)
def test_a_number_at_the_end_of_the_claim_where_the_sentence_goes_on(claim, value):
    text = "The vaccine is kept at 5 °C until noon."
    found = replaced(claim, [text], text)._asdict()
    assert found["number_replaced"] == pytest.approx(value)
