"""Numbers, dates and measures of a claim in the passages' spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.faithfulness.small.spelling import as_written

PASSAGE = (
    "The Tarvo D2 drill runs at 18 V, weighs 1,250 g and came out on 3 March 2015. It sold "
    "2,500,000 times, 5 percent of them abroad, in 7,000 shops. A battery holds 1.7 l of gel."
)


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        ("It runs at 18V.", "It runs at 18 V."),
        ("It runs at 18\u00a0V.", "It runs at 18 V."),
        ("It runs at \uff11\uff18 V.", "It runs at 18 V."),
        ("It weighs 1250g.", "It weighs 1,250 g."),
        ("It came out on 03/03/2015.", "It came out on 3 March 2015."),
        ("It came out on 03.03.2015.", "It came out on 3 March 2015."),
        ("It came out on 2015-03-03.", "It came out on 3 March 2015."),
        ("It came out on March 3rd, 2015.", "It came out on 3 March 2015."),
        ("It sold 2.5 million times.", "It sold 2,500,000 times."),
        ("It sold 2 500 000 times.", "It sold 2,500,000 times."),
        ("It is in 7k shops.", "It is in 7,000 shops."),
        ("5% were sold abroad.", "5 percent were sold abroad."),
        ("It holds 1.70 l.", "It holds 1.7 l."),
    ],
)
def test_another_spelling_becomes_the_passages(claim: str, written: str) -> None:
    assert as_written(claim, PASSAGE) == written


@pytest.mark.parametrize(
    "claim",
    [
        "It runs at 18 V.",  # already the passage's
        "It weighs 1250 g.",  # the look-ups drop thousands separators themselves
        "It runs at 36V.",  # another value
        "It came out on 03/04/2015.",
        "It came out in 2015.",  # no whole date
        "The score was 5–0, version 1.7.2, at 18:05.",  # none of these is a number of its own
        "A drill is a tool.",
        "",
    ],
)
def test_nothing_else_changes(claim: str) -> None:
    assert as_written(claim, PASSAGE) == claim


@pytest.mark.parametrize(
    ("passage", "claim", "written"),
    [
        # 180 / 1000 V; 0.05 * 1000 nA; 0.0022 * 1000 µF; 47 * 1000 ohms; 2 * 1024 MiB; 2 * 7 days
        ("Drop: 180 mV.", "It drops 0.18 V.", "180 mV"),
        ("Standby: 0.05 µA.", "It draws 50 nA.", "0.05 µA"),
        ("Use 2.2 nF.", "Use 0.0022 \u03bcF.", "2.2 nF"),
        ("Add 47 kΩ.", "Add 47,000 ohms.", "47 kΩ"),
        ("Give it 2 GiB.", "Give it 2048 MiB.", "2 GiB"),
        ("Reply within 14 days.", "Reply within a fortnight.", "14 days"),
        # 3 * 12 months; 8 * 7 days; 1.5 * 60 minutes
        ("Leases run thirty-six (36) months.", "They run three years.", "thirty-six (36) months"),
        ("A pup feeds for eight weeks.", "A pup feeds for 56 days.", "eight weeks"),
        ("Appeals close after 7 days.", "Appeals close within a week.", "7 days"),
        ("It is an 18-month course.", "The course takes one and a half years.", "18-month"),
        ("The ferry needs 90 minutes.", "The ferry needs an hour and a half.", "90 minutes"),
        ("The ferry needs 90 minutes.", "The ferry needs 1 h 30 min.", "90 minutes"),
        ("The ferry needs 1 h 30 min.", "The ferry needs 90 minutes.", "1 h 30 min"),
        ("It takes 3,661 s.", "It takes one hour, 1 minute and 1 second.", "3,661 s"),
        ("It weighs 2,000 kg.", "It weighs 2 t.", "2,000 kg"),
        ("It costs 1,200,000 euros.", "It costs 1.200.000 euros.", "1,200,000"),
        ("It costs 1,200.50 euros.", "It costs 1.200,50 euros.", "1,200.50"),
        ("Let the dough rest for 30 min.", "The dough rests for half an hour.", "30 min"),
        ("Let the dough rest for 30 min.", "The first half hour the dough rests.", "30 min"),
        ("A half-hour visit is free.", "A visit of 30 minutes is free.", "half-hour"),
        ("Calls wait 45 seconds.", "Calls wait 45,000 ms.", "45 seconds"),
        ("The gate shuts at 17:00.", "The gate shuts at 5 p.m.", "17:00"),
        ("The gate shuts at 17:00.", "The gate shuts at 5 p.m. on Mondays.", "17:00"),
        ("The gate is open 08:15–18:45.", "It opens at 8:15 am.", "08:15"),
        ("The gate shuts at 6 pm.", "The gate shuts at 18:00.", "6 pm"),
        ("It opens at 9 am and shuts at 12 pm.", "It shuts at noon.", "12 pm"),
        ("The gate shuts at 17:30.", "The gate shuts at half past five.", "17:30"),
        ("The gate shuts at 5:30 p.m.", "The gate shuts at half past five.", "5:30 p.m"),
        ("The gate shuts at 21:45.", "It shuts at a quarter to ten in the evening.", "21:45"),
        ("The gate is open from 8:10 to 19:00.", "It opens at ten past eight.", "8:10"),
        ("The gate shuts at 03:00.", "The gate shuts at 3 o'clock, at night.", "03:00"),
        ("The gate shuts at 03:00.", "The gate shuts at three in the morning.", "03:00"),
        ("The bar shuts at midnight.", "The bar shuts at 00:00.", "midnight"),
        ("It is shut on 25 December.", "It is shut on Christmas Day.", "25 December"),
        ("It is shut on New Year’s Eve.", "It is shut on December 31st.", "New Year’s Eve"),
        ("Pour in 750 ml of broth.", "It takes 0.75 l of broth.", "750 ml"),
        ("The pier is 1,200 m long.", "The pier is 1.2 km long.", "1,200 m"),
        ("The line has 0.4 kV.", "The line has 400 volts.", "0.4 kV"),
        ("Keep it at 3 bar.", "Keep it at 300 kPa.", "3 bar"),
        ("It pumps 220 litres per minute.", "It pumps 220 L/min.", "220 litres per minute"),
        ("It pumps 220 l/min.", "It pumps 220 litres each minute.", "220 l/min"),
        ("It pumps 60 litres a minute.", "It pumps 3.6 m³ or 3,600 l/h.", "60 litres a minute"),
        ("Exports fell by 25 %.", "Exports fell by a quarter.", "25 %"),
        ("Half of the crew stayed.", "50 percent of the crew stayed.", "Half"),
        ("Three fifths of the crew stayed.", "60 % of the crew stayed.", "Three fifths"),
        ("Seven in ten cats are ill.", "70 % of the cats are ill.", "Seven in ten"),
        ("12.5 % of the staff left.", "One in eight left.", "12.5 %"),  # 100 / 8
        ("It failed in 40 % of the cases.", "It failed in two out of every five cases.", "40 %"),
        ("Permits: a quarter fewer.", "Permits fell by 25%.", "a quarter"),
        ("The fee is two fifths lower.", "The fee is 40 per cent lower.", "two fifths"),
        ("It rose in the third quarter of 2021.", "It rose in Q3 2021.", "third quarter of 2021"),
        ("Turnover rose in Q3.", "It rose in the third quarter of 2021.", "Q3"),
        ("The dam cost 1.2 million dollars.", "The dam cost $1.2M.", "1.2 million"),
        ("The dam cost £3.4m.", "The dam cost 3.4 million pounds.", "3.4m"),
        ("The dam cost 3,400,000.", "The dam cost £3.4m.", "3,400,000"),
        ("A dozen boats came.", "Twelve boats came.", "A dozen"),
        ("It has 24 rooms.", "It has two dozen rooms.", "24"),
        ("It has 5,000 seats.", "It has five thousand seats.", "5,000"),
        ("The flat has 85 m².", "The flat has 85 m2.", "85 m²"),
        ("The flat has 85 square metres.", "The flat has 85m^2.", "85 square metres"),
        ("The lake has 2 km².", "The lake has 2,000,000 square metres.", "2 km²"),
        ("The tank has 30 cubic metres.", "The tank has 30 m3.", "30 cubic metres"),
        ("The shop has 900 ft².", "The shop has 900 ft2.", "900 ft²"),
        ("The grant is EUR 500,000.", "The grant is EUR 500K.", "500,000"),
        ("It has 1,000 nodes.", "It has 10^3 nodes.", "1,000"),
        ("The rate is 0.0003.", "The rate is 3 × 10⁻⁴.", "0.0003"),
        ("The rate is 3 x 10^{-4}.", "The rate is 3e-4.", "3 x 10^{-4}"),
        ("There are 10¹² of them.", "There are 1 trillion of them.", "10¹²"),
        ("Call +1 555 123 4567.", "Call +1 (555) 123-4567.", "+1 555 123 4567"),
        ("Call +15551234567.", "Call 1-555-123-4567.", "+15551234567"),
        ("Call (555) 123-4567.", "Call 555.123.4567.", "(555) 123-4567"),
        ("Call +44 20 7946 0958.", "Call +44 (0)20 7946 0958.", "+44 20 7946 0958"),
        ("Call (020) 7946 0958.", "Call 020-7946-0958.", "(020) 7946 0958"),
    ],
)  # fmt: skip
def test_an_equal_value_in_another_form_becomes_the_passages(
    passage: str, claim: str, written: str
) -> None:
    found = as_written(claim, passage)
    assert found != claim
    assert written in found
    assert as_written(found, passage) == found


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Leases run for thirty-six months.", "Leases run for two years."),
        ("Files are kept for 365 days.", "Files are kept for one year."),  # or 366
        ("Files are kept for 30 days.", "Files are kept for one month."),
        ("A pup feeds for eight weeks.", "A pup feeds for two months."),
        ("Pills are taken every 7 days.", "A pill is taken twice a week."),
        ("The gate shuts at 17:00.", "The gate shuts at 5 a.m."),
        ("Doors open at 10:00, the show ends at 1 a.m.", "Doors open at 10 a.m."),  # 10 p.m.?
        ("The gate shuts at midnight.", "The gate shuts at noon."),
        ("Rides take an hour and 30 minutes.", "Rides take half-hourly breaks."),
        ("It is shut on 25 December.", "It is shut on Boxing Day."),
        ("It opened on 25 December 1990.", "It opened on Christmas Day."),  # of any year?
        ("The gate is open from 5:30 to 17:30.", "It opens at half past five."),  # which?
        ("The gate shuts at 17:30.", "The gate shuts at half past five in the morning."),
        ("The gate shuts at 9:30.", "The gate shuts at half past nine."),  # may be the evening
        ("It has 12 gates, 3 in the morning sun.", "It shuts at 15:00."),
        ("33 % of them left.", "One in three of them left."),
        ("Permits: a quarter fewer, one in ten.", "Permits fell by 20%."),
        ("The vote ended 3:40.", "It ended at 3:40 a.m."),
        ("Pour in 750 ml of broth.", "It takes 7.5 l of broth."),
        ("The pier is 1,200 m long.", "The pier is 1.2 miles long."),
        ("It pumps 220 litres per minute.", "It pumps 22 l/h."),
        ("Take 35 mg a week.", "Take 5 mg a day."),
        ("The stove weighs 14 kg.", "The stove weighs 30.9 pounds."),
        ("A disk holds 1,000 MB.", "A disk holds 1 GB."),  # or 1,024
        ("Exports fell by 33 %.", "Exports fell by a third."),
        ("Exports fell by 50 %.", "Exports fell in the first half of the year."),
        ("Exports fell by 25 %.", "It takes a quarter of an hour, sent once a quarter."),
        ("Turnover rose in Q3.", "Turnover rose in the second quarter."),
        ("A lap takes 120 minutes.", "A lap takes 2 hours 30 minutes."),
        ("A lap takes 60 minutes.", "A lap takes one hour and a half."),
        ("It moves 60 m per lap.", "It moves at 0.06 km/h."),
        ("The 1990s passed.", "It took 1,990,000 ms."),
        ("It lasts 300 s.", "It lasts 5m."),  # metres, minutes or millions
        ("A dozen boats came.", "Eleven boats came."),
        ("It is May.", "Wait a second, a quarter, half."),
        ("It takes 90 minutes.", "It takes 30 minutes and 1 hour."),  # two things, it seems
        ("It takes 150 minutes.", "It takes 1 hour and 90 minutes."),
        ("It takes 90 minutes.", "It takes 1 hour 30 minutes a day."),
        ("It costs 1.5 euros.", "It costs 1.500 euros."),  # or 1,500
        ("It costs 1,500 euros.", "It costs 1.500 euros."),
        ("The flat has 85 m².", "The flat has 85 m3, on the M2."),
        ("It holds 5,000 of them.", "It holds 5K of them."),  # a screen, or a run
        ("There are 1,000 of them.", "There are 10³ of them."),  # a footnote?
        ("It is 1.09e-32.", "It is the 109E-34."),  # a plane
        ("Call +1 555 123 4567.", "Call 555 123 4567."),  # of which country?
        ("Call 555 123 4567.", "Call 555-123-4576."),
        ("Its address is 192.168.100.1.", "Its address is 192 168 100 1."),
        ("It was on 03.04.2015.", "It was on 03-04-2015."),
    ],
)
def test_what_may_differ_stays_as_it_is(passage: str, claim: str) -> None:
    assert as_written(claim, passage) == claim


def test_version_3_10_is_not_version_3_1() -> None:
    for claim in ("It needs Python 3.10.", "See section 3.10 of it."):
        passage = claim.replace("3.10", "3.1")
        assert as_written(claim, passage) == claim
        assert as_written(passage, claim) == passage
    assert as_written("It weighs 3.10 kg.", "It weighs 3.1 kg.") == "It weighs 3.1 kg."
    assert as_written("The ratio is 3.10.", "The ratio is 3.1.") == "The ratio is 3.1."


def test_a_hyphen_or_plural_is_no_other_spelling() -> None:
    assert as_written("It takes three years.", "A three-year course.") == "It takes three years."


def test_a_value_the_passage_writes_in_both_ways_stays_as_it_is() -> None:
    assert as_written("At 18V.", "Rated 18 V, sold as 18V.") == "At 18V."


@given(st.text(alphabet="0123456789 .,/-%kVmM:phls$", max_size=30))
def test_a_text_is_already_written_like_itself(text: str) -> None:
    assert as_written(text, text) == text


_LENGTHS = {"mm": 1, "cm": 10, "m": 1000, "km": 1000000}


@given(st.integers(1, 9999), *[st.sampled_from(sorted(_LENGTHS))] * 2, st.integers(1, 9999))
def test_only_equal_lengths_become_the_passages(
    number: int, unit: str, other: str, second: int
) -> None:
    passage, claim = f"Over {number} {unit}.", f"Over {second} {other}."
    equal = number * _LENGTHS[unit] == second * _LENGTHS[other]
    assert as_written(claim, passage) == (passage if equal else claim)


@given(st.integers(1, 10**12))
def test_a_number_is_found_under_every_grouping(number: int) -> None:
    passage = f"There are {number:,} of them."
    spaced = f"{number:,}".replace(",", "\u202f")
    assert as_written(f"There are {spaced} of them.", passage) == passage


@given(st.text(alphabet="ab 12.,", max_size=20), st.text(alphabet="ab 12.,", max_size=20))
def test_a_second_time_changes_nothing(claim: str, text: str) -> None:
    once = as_written(claim, text)
    assert as_written(once, text) == once


def test_every_question_to_the_model_is_asked_in_the_passages_spelling(
    model: SmallFaithfulness,
) -> None:
    there, own = "It runs at 18 V.", "It runs at 18V."
    assert model.score([PASSAGE], [own]) == model.score([PASSAGE], [there])
    assert model.nli([PASSAGE], [own]).tolist() == model.nli([PASSAGE], [there]).tolist()
    ours, theirs = (model.nli_passages([[PASSAGE]], [claim])[0] for claim in (own, there))
    assert ours.tolist() == theirs.tolist()
    assert model.evidence([PASSAGE], [own]) == model.evidence([PASSAGE], [there])
