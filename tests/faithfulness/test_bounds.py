"""Bounds and rounded numbers of a claim: read as the passage's number where they hold."""

from __future__ import annotations

import pytest

from franq_guard.faithfulness.small.amounts.bounds import exact
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.faithfulness.small.spelling import as_written

PUMP = (
    "The Vellmar K2 pump weighs 14.5 kg and delivers 220 litres per minute at 3 bar. Spare "
    "filters cost 39 euros. The motor runs on 230 V and draws 1.2 kW. It comes with a warranty of "
    "24 months. The K3 is blue."
)
MILL = (
    "Ostra Mill was founded in 1962 by two brothers. It employs 310 people. A loaf costs $4.20. "
    "The oven reaches 260 °C. The new bakery was opened in March 2019."
)
REPORT = (
    "Harrow Ltd sold 48,200 bicycles last year. Revenue rose by 12 %. The fleet consists of 58 "
    "vans, which drive 21,000 km a year. Staff turnover reached 7 %."
)
RULES = (
    "Members must be 18 years old. Parcels up to 20 kg cost 9 euros. Drivers may carry 8 "
    "passengers. The hall seats between 200 and 240 guests. Refunds take at least 5 days. A badge "
    "costs 6 euros or more. It is closed if it rains for 3 hours."
)
TRAIL = (
    "The Brenn trail measures 17 km and climbs 640 m. About 90 hikers walked it yesterday. The old "
    "hut sleeps 12 guests; the new hut sleeps 40 guests. It took the record holder 95 minutes."
)
ARCHIVE = (
    "The Ostby archive holds 63,380 letters. The hall measures 412 metres. The catalogue lists "
    "2,912 maps. The vault opened on 19 May 1934. Kvistad lies by a river. It has 587 inhabitants."
)

RIGHT = [
    (PUMP, "The pump weighs less than 20 kg.", "14.5 kg"),
    (PUMP, "The pump weighs under 15 kg.", "14.5 kg"),
    (PUMP, "The pump weighs more than 10 kg.", "14.5 kg"),
    (PUMP, "The pump weighs more than 14,000 g.", "14.5 kg"),
    (PUMP, "The pump weighs about 15 kg.", "14.5 kg"),
    (PUMP, "The pump delivers over 200 litres per minute.", "220 litres per minute"),
    (PUMP, "It delivers at least 200 litres per minute.", "220 litres per minute"),
    (PUMP, "Spare filters cost less than 50 euros.", "39 euros"),
    (PUMP, "Spare filters cost almost 40 euros.", "39 euros"),
    (PUMP, "The motor draws more than 1 kW.", "1.2 kW"),
    (PUMP, "The motor draws over 1,000 W.", "1.2 kW"),
    (PUMP, "The motor runs on less than 400 V.", "230 V"),
    (PUMP, "It has a warranty of more than a year.", "24 months"),
    (PUMP, "It has a warranty of less than three years.", "24 months"),
    (MILL, "It now employs over 300 people.", "310 people"),
    (MILL, "It employs at least 300 people.", "310 people"),
    (MILL, "It employs about 300 people.", "310 people"),
    (MILL, "It employs fewer than 400 people.", "310 people"),
    (MILL, "Ostra Mill was founded before 1970.", "in 1962"),
    (MILL, "Ostra Mill was founded after 1950.", "in 1962"),
    (MILL, "Ostra Mill was founded in the 1960s.", "in 1962"),
    (MILL, "The new bakery was opened after 2015.", "in 2019"),
    (MILL, "The loaf costs less than $5.", "$4.20"),
    (MILL, "The oven reaches more than 250 °C.", "260 °C"),
    (REPORT, "Harrow sold more than 48,000 bicycles.", "48,200 bicycles"),
    (REPORT, "Revenue rose by more than 10 %.", "by 12 %"),
    (REPORT, "Staff turnover reached less than 10 %.", "7 %"),
    (TRAIL, "The trail measures less than 20 km.", "17 km"),
    (TRAIL, "The trail climbs over 600 m.", "640 m"),
    (TRAIL, "The trail climbs roughly 650 m.", "640 m"),
    (ARCHIVE, "The Ostby archive holds about 63,000 letters.", "63,380 letters"),
    (ARCHIVE, "The Ostby archive holds about sixty-three thousand letters.", "63,380 letters"),
    (ARCHIVE, "The Ostby archive holds some 63,400 letters.", "63,380 letters"),
    (ARCHIVE, "The hall measures about 400 metres.", "412 metres"),
    (ARCHIVE, "The hall measures just over 400 metres.", "412 metres"),
    (ARCHIVE, "The catalogue lists nearly 3,000 maps.", "2,912 maps"),
    (ARCHIVE, "The vault opened in the 1930s.", "in 1934"),
    (ARCHIVE, "The vault opened before 1940.", "in 1934"),
    (ARCHIVE, "Kvistad has about 600 inhabitants.", "587 inhabitants"),
    (ARCHIVE, "It has fewer than 600 inhabitants.", "587 inhabitants"),
]
WRONG = [
    (PUMP, "The pump weighs less than 10 kg."),
    (PUMP, "The pump weighs under 14,000 g."),
    (PUMP, "The pump weighs more than 20 kg."),
    (PUMP, "The pump weighs about 12 kg."),
    (PUMP, "The pump weighs nearly 14 kg."),  # it weighs more
    (PUMP, "The pump weighs less than 20 pounds."),
    (PUMP, "The K3 weighs less than 20 kg."),  # another pump
    (PUMP, "The pump delivers over 200 litres per hour."),
    (PUMP, "The pump delivers more than 200 gallons per minute."),
    (PUMP, "Spare filters cost less than 50 cents."),
    (PUMP, "Spare filters cost less than $50."),
    (PUMP, "Spare filters cost at least 40 euros."),
    (PUMP, "The motor draws more than 2 kW."),
    (PUMP, "The motor runs on more than 1 kV."),
    (PUMP, "It has a warranty of more than three years."),
    (PUMP, "It has a warranty of less than a year."),
    (MILL, "It employs over 400 people."),
    (MILL, "It employs about 350 people."),
    (MILL, "It employs over 300 bakers."),
    (MILL, "Ostra Mill was founded before 1960."),
    (MILL, "Ostra Mill was founded after 1962."),
    (MILL, "Ostra Mill was founded in the 1950s."),
    (MILL, "A loaf costs over 4 euros."),
    (REPORT, "Revenue rose to more than 10 %."),
    (REPORT, "Harrow sold over 50,000 bicycles."),
    (RULES, "Members must be over 16 years old."),
    (RULES, "Parcels under 30 kg cost 9 euros."),
    (RULES, "Drivers may carry at least 6 passengers."),
    (RULES, "Refunds take more than 3 days."),
    (RULES, "A badge costs less than 10 euros."),
    (TRAIL, "The record holder took over 90 minutes."),
    (TRAIL, "The hut sleeps over 30 guests."),  # one of two does
    (ARCHIVE, "The Ostby archive holds about 60,000 letters."),  # 5.3 % off
    (ARCHIVE, "The Ostby archive holds nearly 63,000 letters."),  # it holds more
    (ARCHIVE, "The hall measures about 430 metres."),  # 412 is not 430 in round tens
    (ARCHIVE, "The hall measures just over 300 metres."),
    (ARCHIVE, "The hall measures just under 500 metres."),
    (ARCHIVE, "The catalogue lists nearly 2,900 maps."),
    (ARCHIVE, "The vault opened in the 1940s."),
    (ARCHIVE, "The vault opened around 1900."),
    (ARCHIVE, "Kvistad has about 500 inhabitants."),
    (ARCHIVE, "Sundby has about 600 inhabitants."),
]


@pytest.mark.parametrize(("passage", "claim", "number"), RIGHT)
def test_a_bound_that_holds_becomes_the_passages_number(
    passage: str, claim: str, number: str
) -> None:
    written = exact(claim, passage)
    assert written != claim
    assert number in written
    assert as_written(claim, passage) == as_written(written, passage)


@pytest.mark.parametrize(("passage", "claim"), WRONG)
def test_any_other_bound_stays(passage: str, claim: str) -> None:
    assert exact(claim, passage) == claim


@pytest.mark.parametrize(
    "claim",
    [
        "Orders over 30 euros cost nothing.",  # which ones, not how much
        "Filters costing under 50 euros are sold.",
        "The pump never weighs less than 20 kg.",
        "Pumps that weigh over 10 kg need two people.",
        "It must weigh less than 20 kg.",
        "The pump weighs more than 10 kg less.",
        "The pump weighs over 10 to 12 kg.",
        "It weighs less.",
    ],
)
def test_cases_rules_and_comparisons_stay(claim: str) -> None:
    assert exact(claim, PUMP + " Orders of 39 euros cost nothing.") == claim


def test_the_passages_own_bound_stays() -> None:
    passage = "Costs rose above 10 %. Wages rose 38 %."
    assert exact("Costs rose above 10 %.", passage) == "Costs rose above 10 %."


def test_the_model_reads_the_passages_number(model: SmallFaithfulness) -> None:
    right = model.score([p for p, *_ in RIGHT], [claim for _, claim, _ in RIGHT])
    wrong = model.score([p for p, _ in WRONG], [claim for _, claim in WRONG])
    assert sum(p > 0.5 for p in right) >= 37
    assert sum(p > 0.5 for p in wrong) <= 3
