"""Whether the passages state each claim, contradict it, or do neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from franq_guard.claims.rules.words import DETERMINERS, THIRD_PERSON
from franq_guard.claims.sentences import sentences
from franq_guard.faithfulness.base import FaithfulnessModel, PassageNli
from franq_guard.franq import FloatArray
from franq_guard.label_rule import RATHER
from franq_guard.records import Claim, Evidence, Passage, Span, Trace
from franq_guard.signals.nli_pairs import Nli, pooled_nli
from franq_guard.signals.siblings import are_siblings
from franq_guard.uncertainty.numeric import in_parts

__all__ = ["Stance", "stances"]

_WORTH_READING = 0.1
"""A passage with at least this P(contradiction) is searched for the contradicting sentence."""
_SENTENCES = 3
"""How many sentences of it the model reads: those that share most words with the claim."""
_BEFORE = 2000
"""Characters of the answer that tell what a claim is about; for each claim of a long one the whole
would take too long."""
_ENTAILED = (1.0, 0.0, 0.0)
"""The classes of a text given itself; no model is asked."""
_PRONOUN = re.compile(r"(\w+): ([^;]+)")
_NAME = re.compile(r"[^\W_]*(?:[A-Z]|\d)\w*")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Stance:
    """Whether the passages state or contradict one claim, each passage read by itself.

    ``entailment`` and ``contradiction`` are the highest of all passages; ``max_nli`` is the highest
    e / (e + c) of a passage. Passages on another thing do not contradict. All are in [0, 1], None
    if nothing was retrieved or the model has no three NLI classes. ``against`` is the sentence that
    contradicts the claim most, its score P(contradiction); None if no passage has a noticeable
    P(contradiction).
    """

    entailment: float | None = None
    contradiction: float | None = None
    max_nli: float | None = None
    against: Evidence | None = None


def stances(
    model: FaithfulnessModel,
    traces: Sequence[Trace],
    texts: Sequence[str],
    claims: Sequence[Claim] | None = None,
    *,
    evidence: bool = True,
) -> list[Stance]:
    """The stance of each text's passages towards it, in two calls of the model for all texts.

    Args:
        model: its three NLI classes are used; a model without ``nli`` gives empty stances.
        traces: (n,), the trace of each text.
        texts: (n,), what the passages may state.
        claims: (n,), the claims of these texts, with what their pronouns stand for, if known.
        evidence: whether to look for the sentence that contradicts each text most.
    """
    nli: Nli | None = getattr(model, "nli", None)
    if nli is None or not texts:
        return [Stance()] * len(texts)
    shown = [[i for i, p in enumerate(trace.passages) if p.text.strip()] for trace in traces]
    read = [
        [trace.passages[i].text for i in places]
        for trace, places in zip(traces, shown, strict=True)
    ]
    tables = _tables(model, nli, read, texts)
    of: Sequence[Claim | None] = claims or [None] * len(texts)
    names, said = list(map(_antecedent, of)), list(map(_context_of, traces, of))
    denied = list(map(_contradictions, tables, traces, shown, texts, names, said))
    found = list(map(_stance, tables, denied))
    if not evidence:
        return found
    places = list(map(_contradicting, denied, shown))
    against = _against(model, nli, traces, texts, places)
    most = [one.contradiction for one in found]
    against = list(map(_at_most, against, most))
    return [replace(one, against=stretch) for one, stretch in zip(found, against, strict=True)]


def _tables(
    model: FaithfulnessModel, nli: Nli, passages: Sequence[Sequence[str]], texts: Sequence[str]
) -> list[FloatArray]:
    """The three classes (k, 3) of each text given its k passages."""
    if hasattr(model, "nli_passages"):  # isinstance sees no forwarded method from Python 3.12
        found = cast("PassageNli", model).nli_passages(passages, texts)
        for table, shown, text in zip(found, passages, texts, strict=True):
            table[[passage == text for passage in shown]] = _ENTAILED
        return found
    pairs = [
        (passage, text) for shown, text in zip(passages, texts, strict=True) for passage in shown
    ]
    return in_parts(pooled_nli(nli, pairs), [len(shown) for shown in passages])


def _contradictions(
    table: FloatArray,
    trace: Trace,
    shown: Sequence[int],
    text: str,
    name: str | None,
    said: str,
) -> FloatArray:
    """P(contradiction) of each passage (k,); 0 for one on something else than what states the text.

    "It is made in Rome." contradicts a passage on another thing that is made in Paris. So if a
    passage with the name that "it" stands for states the claim, those without it do not count; nor
    do those on a sibling of the thing that the passage is about which states it most, unless that
    sibling is what the answer is about: then what seems to state the claim is on something else.
    """
    read = [trace.passages[i] for i in shown]
    states = table[:, 0] >= RATHER
    if not states.any():
        return table[:, 2]
    best = read[int(table[:, 0].argmax())]
    named = np.array([name is None or _names(passage, name) for passage in read])
    apart = ~named & (named & states).any()
    for i in np.flatnonzero(~states & (table[:, 2] >= _WORTH_READING)):
        if name is None or not named[i] or _names(best, name):
            apart[i] |= are_siblings(text, best, read[i], said=said)
    return np.where(apart, 0.0, table[:, 2])


def _context_of(trace: Trace, claim: Claim | None) -> str:
    """The question, the answer before the claim, and what the claim's pronoun stands for."""
    if claim is None or not claim.spans:
        return trace.question
    start = claim.spans[0][0]
    before = trace.generation.text[max(0, start - _BEFORE) : start]
    return f"{trace.question} {before} {claim.context or ''}"


def _antecedent(claim: Claim | None) -> str | None:
    """The last word of the name that a claim's pronoun stands for; None if that is in its text."""
    note = None if claim is None or claim.full else _PRONOUN.match(claim.context or "")
    if note is None or note[1] not in THIRD_PERSON:
        return None
    names = _NAME.findall(note[2])
    return names[-1] if names and names[-1].lower() not in DETERMINERS else None


def _names(passage: Passage, name: str) -> bool:
    return name.lower() in _WORDS.findall(f"{passage.title} {passage.text}".lower())


def _stance(table: FloatArray, denied: FloatArray) -> Stance:
    """The highest values of (k, 3) class probabilities, one row for each passage."""
    if not len(table) or np.isnan(table).any():
        return Stance()
    entailed, contradicted = table[:, 0], table[:, 2]
    either = entailed + contradicted
    # A passage that neither entails nor contradicts the claim counts as 0.5.
    share = np.divide(entailed, either, out=np.full(len(table), 0.5), where=either > 0)
    return Stance(float(entailed.max()), float(denied.max()), float(share.max()))


def _contradicting(denied: FloatArray, shown: Sequence[int]) -> int | None:
    """The passage that contradicts most; None if none reaches the minimum."""
    if not len(denied) or not denied.max() >= _WORTH_READING:  # "not >=" also holds for NaN
        return None
    return shown[int(denied.argmax())]


def _at_most(evidence: Evidence | None, most: float | None) -> Evidence | None:
    """The evidence with a score of at most that of its passage, of which it is a part."""
    if evidence is None or most is None:
        return evidence
    return replace(evidence, score=min(evidence.score, most))


def _against(
    model: FaithfulnessModel,
    nli: Nli,
    traces: Sequence[Trace],
    texts: Sequence[str],
    passages: Sequence[int | None],
) -> list[Evidence | None]:
    """The sentence of each claim's passage that contradicts it most."""
    spans = [
        () if i is None else _nearest(text, trace.passages[i].text)
        for trace, text, i in zip(traces, texts, passages, strict=True)
    ]
    pairs = [
        (trace.passages[i].text[a:b], text)
        for trace, text, i, of_text in zip(traces, texts, passages, spans, strict=True)
        if i is not None
        for a, b in of_text
    ]
    tables = _tables(model, nli, [[sentence] for sentence, _ in pairs], [text for _, text in pairs])
    rows = (float(table[0, 2]) for table in tables)
    return [
        max((Evidence(i, a, b, next(rows)) for a, b in of_text), key=lambda e: e.score).quoted(
            trace.passages
        )
        if i is not None and of_text
        else None
        for trace, i, of_text in zip(traces, passages, spans, strict=True)
    ]


def _nearest(text: str, passage: str) -> list[Span]:
    """The sentences that share most words with ``text``, in order."""
    words = set(_WORDS.findall(text.lower()))
    spans = sentences(passage, 0, len(passage))

    def shared(span: Span) -> int:
        return len(words & set(_WORDS.findall(passage[slice(*span)].lower())))

    return sorted(sorted(spans, key=shared, reverse=True)[:_SENTENCES])
