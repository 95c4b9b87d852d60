"""The records that flow from capture to verdict; every room takes and returns these.

All are frozen: a later stage makes a new record, it never changes an earlier one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Span = tuple[int, int]
"""Half-open range of characters, ``text[start:end]``."""

Form = Literal["long", "short"]
"""``long``: claims of an answer, each judged by its tokens; ``short``: the answer as one claim."""
Source = Literal["captured", "server", "teacher-forced", "none"]
Label = Literal["supported", "unsupported-true", "doubtful", "false", "unverified", "not-a-claim"]
Status = Literal["ok", "partial", "unverified"]
Reason = Literal["no_evidence", "no_prompt", "no_logprobs", "no_contrast", "error", "timeout"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved passage."""

    text: str
    title: str = ""
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token.

    ``start`` and ``end`` are characters of :attr:`Generation.text`; ``logprob`` is in nats, of the
    model's own distribution (temperature 1, no truncation), NaN where unknown; ``entropy`` is in
    nats; ``top`` holds (token id, log-probability) pairs, most probable first.
    """

    id: int
    start: int
    end: int
    logprob: float
    entropy: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """A text a model wrote. The spans of ``tokens`` tile ``text`` exactly (some may be empty).

    ``prompt`` is the string the model saw, chat template included; ``prompt_token_ids`` are the ids
    it saw, which win over the string where both are given. ``source`` says where the
    log-probabilities come from.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    prompt: str | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    source: Source = "none"


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the answer.

    ``spans`` are ordered, non-empty, non-overlapping ranges of the answer that state it.
    ``context`` names what a reader needs besides (a pronoun's antecedent, a heading).
    ``not_a_claim`` gives the reason where the stretch states nothing that can be true or false.
    ``aligned`` in [0, 1] says how well ``text`` was found in the answer (1: by construction).
    ``full`` is ``text`` with the name in place of a pronoun or "the film", where only one can be
    meant; None: ``text`` has none, or it is not sure.
    """

    text: str
    spans: tuple[Span, ...]
    context: str | None = None
    not_a_claim: str | None = None
    aligned: float = 1.0
    full: str | None = None

    @property
    def in_full(self) -> str:
        """The text for scoring: with names for what it refers to, where they are sure."""
        return self.full or self.text


@dataclass(frozen=True, slots=True)
class ClaimLabel:
    """Whether a claim is true, and whether the passages entail it; None where not known."""

    is_true: bool | None = None
    is_faithful: bool | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """All that one RAG answer needs to be checked.

    ``samples`` are other answers to the same prompt, for the short form. ``claims`` are checked
    instead of splitting the answer; ``labels``, one for each of them, are for calibration alone.
    ``contrast_prompt`` is the prompt without the passages where whoever built the prompt knows it;
    None: the passages are looked for in the prompt and taken out. ``prompt_seen`` is False where
    nobody saw the prompt of the answer (it came out of a cache). ``metadata`` is the user's own and
    never read.
    """

    question: str
    passages: tuple[Passage, ...]
    generation: Generation
    samples: tuple[Generation, ...] = ()
    claims: tuple[Claim, ...] | None = None
    labels: tuple[ClaimLabel, ...] = ()
    contrast_prompt: str | None = None
    prompt_seen: bool = True
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The stretch of a passage that supports a claim best: ``passages[passage].text[start:end]``.

    ``score`` is in [0, 1]: how well that stretch alone supports the claim.
    """

    passage: int
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Signals:
    """What the rooms measured for one claim, before FRANQ.

    ``uq_faith`` and ``uq_unfaith`` are log-probabilities (nats) in the long form and confidences in
    [0, 1] in the short form; None where not available, with the cause in ``reason``.
    ``raw`` keeps every uncalibrated score by name: ``faithfulness``, ``uq_faith``, ``uq_unfaith``
    and what they were made of.
    """

    p_faithful: float | None = None
    uq_faith: float | None = None
    uq_unfaith: float | None = None
    evidence: Evidence | None = None
    reason: Reason | None = None
    raw: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the guard says of one claim.

    ``p_true``, ``p_faithful``, ``uq_faith``, ``uq_unfaith`` are in [0, 1]; the two ``uq_*`` are the
    calibrated values that entered the formula (arXiv 2505.21072, eq. 1).
    """

    claim: Claim
    p_true: float | None
    p_faithful: float | None
    uq_faith: float | None
    uq_unfaith: float | None
    raw: Mapping[str, float]
    label: Label
    reason: str | None = None
    evidence: Evidence | None = None

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-ready values, as in ``franq.answer/1``; numbers not finite: null."""
        found, claim = self.evidence, self.claim
        return {
            "claim": {
                "text": claim.text,
                "spans": [[int(start), int(end)] for start, end in claim.spans],
                **({"context": claim.context} if claim.context else {}),
                **({"not_a_claim": claim.not_a_claim} if claim.not_a_claim else {}),
            },
            "p_true": _finite(self.p_true),
            "p_faithful": _finite(self.p_faithful),
            "uq_faith": _finite(self.uq_faith),
            "uq_unfaith": _finite(self.uq_unfaith),
            "raw": {name: _finite(value) for name, value in self.raw.items()},
            "label": self.label,
            "reason": self.reason,
            "evidence": found
            and {"passage": int(found.passage), "start": int(found.start), "end": int(found.end)},
        }


@dataclass(frozen=True, slots=True)
class GuardedAnswer:
    """A checked answer. ``text`` is after the policy; ``timings`` are seconds by stage."""

    text: str
    original: str
    verdicts: tuple[Verdict, ...]
    status: Status
    calibrator: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON-ready values, schema ``franq.answer/1``."""
        return {
            "schema": "franq.answer/1",
            **({"id": self.id} if self.id is not None else {}),
            "text": self.text,
            "original": self.original,
            "status": self.status,
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "calibrator": self.calibrator,
            "timings": {stage: round(float(spent), 4) for stage, spent in self.timings.items()},
        }


def _finite(value: float | None) -> float | None:
    # float(): a numpy number is no JSON
    return float(value) if value is not None and math.isfinite(value) else None
