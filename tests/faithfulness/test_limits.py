"""Lower limits and upper ones: read, and compared between claim and sentence."""

import pytest

from franq_guard.faithfulness.small.amounts.limits import Limit, begins_limit, limit_of
from franq_guard.faithfulness.small.replaced import replaced
from franq_guard.faithfulness.small.tokens import tokens


def values(claim, sentence):
    return replaced(claim, [sentence], sentence)._asdict()


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("at least 30 chairs", "least"),
        ("more than 30 chairs", "least"),
        ("30 chairs or more", "least"),
        ("aged 30 and older", "least"),
        ("no less than 30 chairs", "least"),
        ("a minimum of 30 chairs", "least"),
        ("up to €30", "most"),
        ("no more than 30 chairs", "most"),
        ("under the age of 30", "most"),
        ("30 °C at most", "most"),
        ("by 30 June at the latest", "most"),
        ("must not exceed 30 kg", "most"),
        ("no faster than 30 km/h", "most"),
        ("30 chairs", ""),
        ("over 30 days", ""),  # during them, or longer
        ("up to 30 days before the trip", ""),  # earlier or later
        ("no later than 30 days before the trip", "least"),
        ("no later than 30 days after the trip", "most"),
        ("no later than 30 days in advance", "least"),
        ("at least 30 days ahead", "least"),
        ("up to 30 days ahead", "most"),
        ("30 tablets at least 4 hours before bed", ""),  # the limit of the 4
    ],
)
def test_the_side_of_a_limit(text, side):
    found = {token.of.limit for token in tokens(text) if token.text == "30"}
    assert found == {Limit(side)}


def test_of_a_denied_limit_it_is_not_known_what_it_says():
    asked = "Do not take more than 30 a day.", "More than 30 are not accepted.", "No more than 30."
    found = [limit_of(text, text.index("30"), text.index("30") + 2, "") for text in asked]
    assert found == [Limit("least", denied=True), Limit("least", denied=True), Limit("most")]
    assert found[0].agrees(found[2])
    assert found[0].turns(found[2])
    assert not Limit("least").agrees(found[2])
    assert Limit().agrees(found[2])


@pytest.mark.parametrize(
    ("sentence", "claim", "told"),
    [
        ("Order no more than 30 chairs.", "Order more than 30 chairs.", True),
        ("Order up to 30 chairs.", "Order at least 30 chairs.", True),
        ("Guests under the age of 12 sleep free.", "Guests aged 12 and older sleep free.", True),
        ("Order no more than 30 chairs.", "Order up to 30 chairs.", False),
        ("Order no less than 30 chairs.", "Order 30 chairs or more.", False),
        ("Bags must not exceed 8 kg.", "Bags may weigh 8 kg at most.", False),
        ("It holds 30 chairs.", "It holds at least 30 chairs.", False),
        ("Do not order more than 30 chairs.", "Order up to 30 chairs.", False),
        ("Up to 30 are free, over 30 cost 2 euros.", "Over 30 cost 2 euros.", False),
        ("Files of up to 25 MB are accepted.", "Files over 25 MB are not accepted.", False),
        ("Apply no later than 3 weeks before.", "Apply at least 3 weeks before.", False),
    ],
)
def test_a_lower_limit_in_the_place_of_an_upper_one(sentence, claim, told):
    assert (values(claim, sentence)["number_replaced"] > 0) is told


def test_where_the_limit_is_turned_a_negation_may_be_turned_too():
    # Under 18 they cannot; so from 18 on they can. The negation does not count as all that differs.
    turned = values("People under 18 cannot vote here.", "People aged 18 or over can vote here.")
    assert max(turned.values()) <= 1
    plain = values("People over 18 cannot vote here.", "People aged 18 or over can vote here.")
    assert plain["negation_added"] > 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no later than Friday", True),
        ("not more than half of it", True),
        ("no longer than an hour", True),
        ("no faster than the old one", False),
        ("no older than Bergen", False),
        ("no reason", False),
    ],
)
def test_a_no_that_belongs_to_a_limit(text, told):
    assert begins_limit(text, text.index(" ")) is told
