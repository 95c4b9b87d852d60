"""Compares the amounts of a column: which is more, which is the most, how many are above a limit.

Each answer is None where it is not decided: an amount is missing, of another kind, or equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from franq_guard.faithfulness.small.comparing.quantities import Quantity

Amounts = Sequence[Quantity | None]

_LATE: Final = Decimal(240)  # minutes: a tram at 0:15 leaves after one at 23:50
_NEAR: Final = Decimal("0.2")


def ordered(values: Amounts) -> bool:
    """Whether the order of a column's times of day is that of the clock."""
    return all(value.kind != "clock" or value.amount >= _LATE for value in values if value)


def is_more(
    one: Quantity | None, other: Quantity | None, sign: int, gap: Quantity | None = None
) -> bool | None:
    """Whether one amount is more than another one.

    Args:
        one: an amount.
        other: what it is compared with.
        sign: 1; or -1, then whether it is less.
        gap: how much more a claim says that it is.
    """
    if one is None or other is None or one.kind != other.kind or one.amount == other.amount:
        return None
    ahead = (one.amount - other.amount) * sign
    if ahead < 0 or gap is None:
        return ahead > 0
    if one.kind == "clock" and gap.kind == "time":
        return _is_about(60 * ahead, gap.amount)
    return _is_about(ahead, gap.amount) if one.kind == gap.kind != "%" else None


def is_times(
    one: Quantity | None, other: Quantity | None, factor: Decimal, *, at_least: bool
) -> bool | None:
    """Whether one amount is so many times another one.

    Args:
        one: an amount.
        other: what it is compared with.
        factor: 1 for "as many as".
        at_least: whether more than as many is no contradiction.
    """
    if one is None or other is None or one.kind != other.kind or other.amount <= 0:
        return None
    if factor == 1:
        return None if at_least and one.amount > other.amount else one.amount == other.amount
    return None if one.kind == "date" else _is_about(one.amount, factor * other.amount)


def is_most(values: Amounts, row: int, rank: int, sign: int) -> bool | None:
    """Whether a row has the most of a column, or the second most if the rank is 2.

    A missing amount makes no row the first one, but two known ones can show that a row is not.
    """
    own = values[row]
    if own is None:
        return None
    others = [value for at, value in enumerate(values) if at != row]
    known = [value.amount for value in others if value and value.kind == own.kind]
    ahead = [amount for amount in known if (amount - own.amount) * sign > 0]
    if len(set(ahead)) >= rank:
        return False
    if len(known) < len(others) or own.amount in known or len(set(ahead)) < len(ahead):
        return None
    return len(ahead) == rank - 1


def beyond(values: Amounts, limit: Quantity, sign: int) -> list[bool] | None:
    """Whether each amount is above the limit, or below it if the sign is -1."""
    known = [value for value in values if value and value.kind == limit.kind]
    if len(known) < len(values) or any(value.amount == limit.amount for value in known):
        return None
    return [(value.amount - limit.amount) * sign > 0 for value in known]


def _is_about(amount: Decimal, said: Decimal) -> bool | None:
    """None where the claim may only have rounded."""
    if amount == said:
        return True
    return False if abs(amount - said) > _NEAR * abs(said) else None
