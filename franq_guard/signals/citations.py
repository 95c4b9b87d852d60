"""Whether the passage that an answer cites for a claim says what the claim says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from franq_guard.claims.citations import citations, cited_by, passages_named
from franq_guard.claims.spans import shifted
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.records import CitationFinding, Trace, Verdict

__all__ = ["cites", "with_citations"]

_SAYS_IT = 0.5


def with_citations(
    model: FaithfulnessModel, trace: Trace, verdicts: Sequence[Verdict]
) -> list[Verdict]:
    """The verdicts with a finding for each citation of a passage; one call of ``score`` at most.

    A name that fits no passage by id, title or number counts as a citation of none only where it is
    a number: "(Smith 2020)" may be quoted from a passage.

    Args:
        model: judges claim and cited passage alone.
        trace: its passages are what may be cited; numbers count them from 1.
        verdicts: with P(faithful) of their claims given all passages.
    """
    by = _begin(verdicts)
    text = trace.generation.text[by:]
    claims = [shifted(verdict.claim, -by) for verdict in verdicts]
    found: list[tuple[int, CitationFinding]] = []
    for i, of_claim in enumerate(cited_by(text, claims)):
        for citation in of_claim:
            for name in citation.names:
                passage = passages_named(name, trace.passages)
                if passage is not None or name.isdigit():
                    place = (citation.start + by, citation.end + by)
                    found.append((i, CitationFinding(name, place, passage, None, "nowhere")))
    asked = [(i, one) for i, one in found if one.passage is not None]
    scores = iter(
        model.score(
            [trace.passages[one.passage or 0].text for _, one in asked],
            [verdicts[i].claim.text for i, _ in asked],
        )
        if asked
        else ()
    )
    of: dict[int, list[CitationFinding]] = {}
    for i, one in found:
        score = None if one.passage is None else float(next(scores))
        of.setdefault(i, []).append(_judged(one, score, verdicts[i].p_faithful))
    return [
        replace(verdict, citations=tuple(of[i])) if i in of else verdict
        for i, verdict in enumerate(verdicts)
    ]


def cites(trace: Trace, verdicts: Sequence[Verdict]) -> bool:
    """Whether the answer may cite a passage, from the first of these claims on."""
    return bool(trace.passages) and bool(citations(trace.generation.text[_begin(verdicts) :]))


def _begin(verdicts: Sequence[Verdict]) -> int:
    """Where the first claim begins: before it, a growing answer was looked at already."""
    return min((v.claim.spans[0][0] for v in verdicts if v.claim.spans), default=0)


def _judged(
    found: CitationFinding, score: float | None, p_faithful: float | None
) -> CitationFinding:
    if score is not None and score > _SAYS_IT:
        return replace(found, p_faithful=score, finding="right")
    elsewhere = (p_faithful or 0.0) > _SAYS_IT
    return replace(found, p_faithful=score, finding="wrong passage" if elsewhere else "nowhere")
