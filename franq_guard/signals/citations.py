"""Checks whether the passage that an answer cites for a claim supports the claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from franq_guard.claims.attribution import is_own_name
from franq_guard.claims.rules.citations import citations, cited_by, passages_named
from franq_guard.claims.spans import shifted
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.records import CitationFinding, CitedAs, Trace, Verdict
from franq_guard.signals.faithfulness import probability, scores, stated

__all__ = ["cites", "with_citations"]


def with_citations(
    model: FaithfulnessModel, trace: Trace, verdicts: Sequence[Verdict], *, supported_from: float
) -> list[Verdict]:
    """The verdicts with a finding for each citation of a passage; one call of the model at most.

    A cited name that matches no passage by id, title or number is reported as a missing passage
    only if it is a number: other names, such as "(Smith 2020)", may be quoted from a passage. There
    is no finding for a cited passage if P(faithful) is not known, of the claim or for that passage.

    Args:
        model: scores the claim with the cited passage alone, as it does with all passages.
        trace: its passages can be cited; numbers count them from 1.
        verdicts: with P(faithful) of their claims given all passages.
        supported_from: above this P(faithful) a passage supports a claim.
    """
    found = [
        (i, one)
        for i, one in _found(trace, verdicts)
        if one.passage is None or verdicts[i].p_faithful is not None
    ]
    asked = [(i, one.passage) for i, one in found if one.passage is not None]
    alone = [replace(trace, passages=(trace.passages[passage],)) for _, passage in asked]
    texts = [stated(trace, verdicts[i].claim, "long") for i, _ in asked]
    values = map(probability, scores(model, alone, texts))
    of: dict[int, list[CitationFinding]] = {}
    for i, one in found:
        p_faithful = None if one.passage is None else next(values)
        if one.passage is None or p_faithful is not None:
            elsewhere = (verdicts[i].p_faithful or 0.0) > supported_from
            of.setdefault(i, []).append(_judged(one, p_faithful, supported_from, elsewhere))
    return [
        replace(verdict, citations=tuple(of[i])) if i in of else verdict
        for i, verdict in enumerate(verdicts)
    ]


def cites(trace: Trace, verdicts: Sequence[Verdict]) -> bool:
    """Whether the answer, from the first of these claims on, may cite a passage."""
    text = trace.generation.text
    return bool(trace.passages) and bool(citations(text[_begin(text, verdicts) :]))


def _found(trace: Trace, verdicts: Sequence[Verdict]) -> list[tuple[int, CitationFinding]]:
    """Each cited passage, not scored yet, with the index of the verdict it is cited for."""
    answer = trace.generation.text
    by = _begin(answer, verdicts)
    text = answer[by:]
    claims = [shifted(verdict.claim, -by) for verdict in verdicts]
    found: list[tuple[int, CitationFinding]] = []
    for i, of_claim in enumerate(cited_by(text, claims)):
        for citation in of_claim:
            if is_own_name(text[citation.start : citation.end], trace.passages):
                continue
            for name in citation.names:
                passage = passages_named(name, trace.passages)
                if passage is not None or name.isdigit():
                    place = (citation.start + by, citation.end + by)
                    found.append((i, CitationFinding(name, place, passage, None, "nowhere")))
    return found


def _begin(text: str, verdicts: Sequence[Verdict]) -> int:
    """The line of the first claim; a growing answer was already examined up to the claim."""
    first = min((v.claim.spans[0][0] for v in verdicts if v.claim.spans), default=0)
    return text.rfind("\n", 0, first) + 1


def _judged(
    found: CitationFinding, p_faithful: float | None, supported_from: float, elsewhere: bool
) -> CitationFinding:
    if p_faithful is not None and p_faithful > supported_from:
        return replace(found, p_faithful=p_faithful, finding="right")
    finding: CitedAs = "wrong passage" if elsewhere else "nowhere"
    return replace(found, p_faithful=p_faithful, finding=finding)
