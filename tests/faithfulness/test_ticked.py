"""Tables of ticks, and of "yes" and "no"."""

import pytest

from franq_guard.faithfulness.small.comparing.compared import compared

PLANS = """| Feature | Basic | Pro | Team |
|---|---|---|---|
| Single sign-on | ✗ | ✓ | ✓ |
| Phone support | no | on weekdays | Yes |
| Backups | ✅ | ✅ | ✅ |"""
ROOMS = """| Room | Heating | No smoking | Balcony |
|---|---|---|---|
| Linden | yes | yes | no |
| Maple | no | yes | yes |
| Birch | yes | no | no |"""


@pytest.mark.parametrize(
    ("claim", "table", "right"),
    [
        ("The Pro plan includes single sign-on.", PLANS, True),
        ("The Basic plan includes single sign-on.", PLANS, False),
        ("Single sign-on is not available in Basic.", PLANS, True),
        ("Pro doesn’t come with single sign-on.", PLANS, False),
        ("Basic and Pro have single sign-on.", PLANS, False),
        ("Pro has backups and single sign-on.", PLANS, True),
        ("Pro has phone support.", PLANS, None),  # only on weekdays
        ("Only Team has phone support.", PLANS, None),
        ("Every plan other than Basic has single sign-on.", PLANS, None),
        ("If you pay, Basic has single sign-on.", PLANS, None),
        ("Basic has single sign-on since May.", PLANS, None),
        ("Does Basic have single sign-on?", PLANS, None),
        ("Team does not have backups and single sign-on.", PLANS, None),
        ("Basic has no single sign-on and Pro has backups.", PLANS, None),
        ("Basic has backups and Pro has single sign-on.", PLANS, None),
        ("Basic does not have backups and single sign-on.", PLANS, None),
        ("The Maple room has no heating.", ROOMS, True),
        ("Birch has heating and a balcony.", ROOMS, False),
        ("Smoking is allowed in Linden.", ROOMS, None),  # its header denies
    ],
)
def test_what_the_ticks_of_a_table_say(claim, table, right):
    assert compared(claim, table) is right


def test_a_claim_against_its_tick_is_not_supported_and_refuted(model):
    stated, wrong = "The Pro plan includes single sign-on.", "Basic includes single sign-on."
    scores = model.score_passages([[PLANS], [PLANS]], [stated, wrong])
    assert scores[0] > 0.8
    assert scores[1] < 0.2
    ((entailed, _, denied),) = model.nli_passages([[PLANS]], [wrong])[0]
    assert entailed == 0
    assert denied > 0.8
