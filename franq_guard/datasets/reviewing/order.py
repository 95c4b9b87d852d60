"""Orders claims for review: a random sample for unbiased rates, and the most informative ones.

Half of the claims are drawn at random with a fixed seed; rates can be estimated from votes on
these, however early the reviewer stops. The other half is sorted: first the claims whose sources
disagree, or that a judge called false or could not verify. The two halves are shown alternately.
Claims of statements that were made from documents (``edit``) are left out: their labels are known,
and the model did not write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from franq_guard.datasets.claim_set import ClaimJudgement, claims_in
from franq_guard.datasets.questions import digest
from franq_guard.records import Trace

Key = tuple[str, int]
"""The id of an answer and the index of a claim in it."""


class Item(NamedTuple):
    """A claim to review; ``sampled``: drawn at random rather than selected."""

    key: Key
    sampled: bool


def order(answers: Sequence[Trace], judgements: Sequence[ClaimJudgement]) -> list[Item]:
    """Every claim of the model's own answers, alternately from the random and the sorted half.

    Args:
        answers: of a claim set.
        judgements: those of their claims; people's votes are ignored.
    """
    made = {said.answer for said in judgements if said.kind == "edit"}
    keys = [(trace.id or "", i) for trace, i in claims_in(answers) if trace.id not in made]
    drawn = sorted(keys, key=lambda key: digest(0, "review", key[0], str(key[1])))
    half = (len(drawn) + 1) // 2
    wanted = _wanted(judgements)
    chosen = sorted(drawn[half:], key=lambda key: -wanted.get(key, 0.0))
    turns = zip_longest(
        (Item(key, True) for key in drawn[:half]), (Item(key, False) for key in chosen)
    )
    return [item for pair in turns for item in pair if item is not None]


def _wanted(judgements: Sequence[ClaimJudgement]) -> dict[Key, float]:
    """How useful a vote on each claim would be; empty if nothing is known about the claims."""
    voices: dict[Key, list[ClaimJudgement]] = {}
    for said in judgements:
        if said.kind != "person":
            voices.setdefault((said.answer, said.claim), []).append(said)
    wanted: dict[Key, float] = {}
    for key, given in voices.items():
        factual = {said.factuality for said in given} - {None}
        disagree = 2.0 * (len(factual) > 1)
        wanted[key] = disagree + 1.0 * ("false" in factual) + 0.5 * ("unverifiable" in factual)
    return wanted
