"""The records that are passed from capture to verdict; every room takes and returns these.

All are frozen: a later stage makes a new record instead of changing an earlier one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

from franq_guard.basics.names import name_of
from franq_guard.basics.unchecked import Unchecked, unchecked_because

_SHOWN = 60  # characters of a text in a repr
Span = tuple[int, int]
"""Half-open range of characters, ``text[start:end]``."""

Form = Literal["long", "short"]
"""``long``: claims of an answer, each judged by its tokens; ``short``: the answer as one claim."""
Source = Literal["captured", "server", "teacher-forced", "none"]
Label = Literal[
    "supported", "unclear", "unsupported-true", "unsupported", "doubtful", "false", "unverified",
    "not-a-claim"]  # fmt: skip
WEAK: tuple[Label, ...] = ("false", "doubtful", "unsupported")
"""Labels that a policy acts against by default, worst first."""
Status = Literal["ok", "partial", "unverified", "policy_error"]
Reason = Literal[
    "no_evidence", "no_prompt", "no_logprobs", "no_contrast", "language", "prior", "conflict",
    "error", "timeout", "not_in_answer",
]  # fmt: skip
"""Why there is no P(true), or a remark on it; docs/verdicts.md says what each means."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved passage, which answers may cite by its title or id; both are made text."""

    text: str
    title: str = ""
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", name_of(self.title))
        object.__setattr__(self, "id", name_of(self.id) or None)

    def to_dict(self) -> dict[str, str]:
        """The passage as JSON-ready values, without the user's metadata."""
        title, named = {"title": self.title}, {"id": self.id or ""}
        return {"text": self.text, **(title if self.title else {}), **(named if self.id else {})}


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token.

    ``id`` is that of the model's vocabulary, -1 where unknown; ``start`` and ``end`` are characters
    of :attr:`Generation.text`; ``logprob`` is in nats, of the model's own distribution (temperature
    1, no truncation), NaN where unknown; ``entropy`` is that distribution's, in nats; ``top`` holds
    (token id, log-probability) pairs, most probable first.
    """

    id: int
    start: int
    end: int
    logprob: float
    entropy: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """A generated text. The spans of ``tokens`` cover ``text`` without gaps (some may be empty).

    ``prompt`` is the string the model saw, chat template included; ``prompt_token_ids`` are the ids
    it saw and are preferred if both are given. ``source`` says where the log-probabilities come
    from: ``captured`` while the model wrote, sent by a ``server``, computed by a model that did not
    write the text (``teacher-forced``), or ``none``. ``writer`` is the fingerprint of the model
    that wrote the text; None if it is unknown, and for every text that a model only scored.
    """

    text: str
    tokens: tuple[Token, ...] = ()
    prompt: str | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    source: Source = "none"
    writer: str | None = None

    def since(self, position: int) -> Generation:
        """The same text with only the tokens that end at ``position`` or later."""
        first = bisect_left(self.tokens, position, key=lambda token: token.end)
        return replace(self, tokens=self.tokens[first:])


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the answer.

    ``spans`` are the ranges of the answer's characters that state it, ordered, without overlap.
    ``context`` is what a reader needs to understand it (a pronoun's antecedent, a heading).
    ``not_a_claim`` is the reason why the stretch states nothing that can be true or false, if so.
    ``aligned`` in [0, 1] says how well ``text`` was found in the answer (1: by construction).
    ``full`` is ``text`` with pronouns and phrases such as "the film" replaced by the name they
    refer to, or what a lone "Yes." states; None: nothing is replaced, or it is not certain.
    """

    text: str
    spans: tuple[Span, ...]
    context: str | None = None
    not_a_claim: str | None = None
    aligned: float = 1.0
    full: str | None = None

    @property
    def in_full(self) -> str:
        """The text for scoring: :attr:`full` if there is one, else :attr:`text`."""
        return self.full or self.text


@dataclass(frozen=True, slots=True)
class ClaimLabel:
    """Whether a claim is true, and whether the passages entail it; None if not known.

    ``trusted``: whether a guarantee may be based on the label (a person's); otherwise it is used to
    fit alone. ``source``: who gave ``is_true``: "person", "judge:NAME" ..., where known.
    """

    is_true: bool | None = None
    is_faithful: bool | None = None
    trusted: bool = True
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """All that one RAG answer needs to be checked: the ``generation`` holds the answer.

    ``samples`` are other answers to the same prompt, for the short form. ``claims`` are checked
    as they are, and the rest of the answer is split; ``labels``, one each, are for calibration.
    ``contrast_prompt`` is the prompt without the passages, if the code that built the prompt knows
    it; None: the passages are found in the prompt and removed. ``prompt_seen`` is False if the
    prompt of the answer is not known (the answer came from a cache). ``metadata`` is the user's own
    and never read.
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
    """A stretch of a passage that bears on a claim: ``passages[passage].text[start:end]``.

    ``passage`` counts from 0. ``score`` is in [0, 1]: how well that stretch alone supports the
    claim; for a stretch that contradicts it, P(contradiction). ``text`` is the stretch itself,
    empty if it was not looked up. Two stretches are equal if their place and score are.
    """

    passage: int
    start: int
    end: int
    score: float
    text: str = field(default="", compare=False)

    def quoted(self, passages: Sequence[Passage]) -> Evidence:
        """The same with its text, taken from the passages it was found in."""
        if not 0 <= self.passage < len(passages):  # a user's model may return any index
            return self
        return replace(self, text=passages[self.passage].text[self.start : self.end])

    def to_dict(self) -> dict[str, Any]:
        """The stretch as JSON-ready values."""
        place = {"passage": int(self.passage), "start": int(self.start), "end": int(self.end)}
        return {**place, **({"text": self.text} if self.text else {})}


@dataclass(frozen=True, slots=True)
class Signals:
    """What the rooms measured for one claim, before FRANQ.

    ``p_faithful`` is in [0, 1]; ``uq_faith`` and ``uq_unfaith`` are log-probabilities (nats) in the
    long form and confidences in [0, 1] in the short form; None where not available, with the cause
    in ``reason``. If the passages alone decide, ``uq_faith`` is Max NLI, and ``uq_unfaith`` is 0.
    ``raw`` has every uncalibrated score by name: ``faithfulness``, ``uq_faith``, ``uq_unfaith``,
    what they come from, and ``log_probability``, the writer's (nats), where known and not weighed.
    ``contradiction`` and ``entailment`` are the highest over the passages, each read by itself;
    None without passages or three NLI classes. ``against`` is the stretch that contradicts most.
    """

    p_faithful: float | None = None
    uq_faith: float | None = None
    uq_unfaith: float | None = None
    contradiction: float | None = None
    entailment: float | None = None
    evidence: Evidence | None = None
    against: Evidence | None = None
    reason: Reason | None = None
    raw: Mapping[str, float] = field(default_factory=dict)


CitedAs = Literal["right", "wrong passage", "nowhere"]
"""``right``: the cited passage states the claim; ``wrong passage``: the passages do, but not that
one; ``nowhere``: no passage does."""


@dataclass(frozen=True, slots=True)
class CitationFinding:
    """The result of checking a citation against the passage it names.

    ``name`` is as the answer writes it, ``span`` its place there; ``passage`` is the index of the
    named one, None if there is none; ``p_faithful`` in [0, 1]: how well it alone states the claim.
    """

    name: str
    span: Span
    passage: int | None
    p_faithful: float | None
    finding: CitedAs

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready values."""
        return {
            "name": self.name,
            "span": [int(position) for position in self.span],
            "passage": None if self.passage is None else int(self.passage),
            "p_faithful": _finite(self.p_faithful),
            "finding": self.finding,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The guard's verdict on one claim.

    ``label`` is one of :data:`Label`. ``reason`` says why there is no P(true), or is a
    remark on it (:data:`Reason`); for ``not-a-claim`` it says what the stretch is instead, such as
    ``question``.
    ``p_true``, ``p_faithful``, ``uq_faith``, ``uq_unfaith`` are in [0, 1], None where unknown; the
    two ``uq_*`` are the calibrated values that entered the formula (arXiv 2505.21072, eq. 1), and
    ``raw`` are the scores before it (:attr:`Signals.raw`). ``evidence`` is the stretch that states
    the claim best, ``against`` the one that contradicts it most. ``citations`` has a finding for
    each passage that the answer cites for the claim. ``differs`` are words of a flagged claim, each
    with those that the passage has in their place (:mod:`franq_guard.signals.differing`).
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
    against: Evidence | None = None
    citations: tuple[CitationFinding, ...] = ()
    differs: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        numbers = f"P(true) {_number(self.p_true)}, P(faithful) {_number(self.p_faithful)}"
        reason = f" ({self.reason})" if self.reason else ""
        return f"<Verdict {self.label}{reason}, {numbers}: {_cut(self.claim.text)!r}>"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-ready values, as in ``franq.answer/1``; NaN and infinity as null."""
        claim = self.claim
        differs = [dict(zip(("claim", "passage"), pair, strict=True)) for pair in self.differs]
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
            "evidence": self.evidence and self.evidence.to_dict(),
            "against": self.against and self.against.to_dict(),
            **({"differs": differs} if differs else {}),
            **({"citations": [one.to_dict() for one in self.citations]} if self.citations else {}),
        }


@dataclass(frozen=True, slots=True, repr=False)
class GuardedAnswer:
    """A checked answer: ``original`` as it was written, ``text`` after the policy.

    ``verdicts`` has one for each claim, and for each stretch that states nothing. ``status`` is
    ``ok`` if every claim was checked, ``partial`` if some were, ``unverified`` if none was, and
    ``policy_error`` if the policy's own action failed (its ``on_error`` then decides on the text).
    ``calibrator`` names what turned the signals into P(true), and ``likelihoods`` says whose
    log-probabilities were used: ``captured from MODEL`` while it wrote, sent by a ``server``,
    ``read by MODEL`` that did not write the answer, or ``none``: then the passages alone decide,
    and whether a claim is true that they do not state is unknown. ``timings``: seconds by stage;
    ``weak``: labels that the policy acts against; ``question``, ``passages``, ``id``: the trace's.
    """

    text: str
    original: str
    verdicts: tuple[Verdict, ...]
    status: Status
    calibrator: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    id: str | None = None
    likelihoods: str = "none"
    question: str = ""
    passages: tuple[Passage, ...] = ()
    weak: tuple[Label, ...] = WEAK

    @property
    def claims(self) -> tuple[Verdict, ...]:
        """The verdicts on statements that can be true or false: all but ``not-a-claim``."""
        return tuple(v for v in self.verdicts if v.label != "not-a-claim")

    @property
    def flagged(self) -> tuple[Verdict, ...]:
        """The claims that the policy acts against; empty if there are none."""
        return tuple(v for v in self.verdicts if v.label in self.weak)

    @property
    def score(self) -> float | None:
        """The lowest P(true) of its claims: an answer is only as good as its weakest claim.

        None if no claim has a P(true).
        """
        return min((v.p_true for v in self.verdicts if v.p_true is not None), default=None)

    @property
    def reason(self) -> Unchecked | None:
        """``no_answer`` or ``no_claims`` if nothing in it could be checked."""
        return unchecked_because(self.original, [v.claim.not_a_claim for v in self.verdicts])

    def __repr__(self) -> str:
        n, flagged = len(self.claims), len(self.flagged)
        said = f"{n} claim{'s' * (n != 1)}, {flagged} flagged, score {_number(self.score)}"
        return f"<GuardedAnswer {self.status}: {said}: {_cut(self.text)!r}>"

    def to_html(self) -> str:
        """The answer with its claims in colour and their evidence, as an HTML fragment.

        It needs no script and loads nothing; all text is escaped. By
        :mod:`franq_guard.report.answer`.
        """
        # Imported by name at run time, because this module must not import any other room.
        view = import_module("franq_guard.report.answer")
        return str(view.answer_html(self))

    def _repr_html_(self) -> str:
        return self.to_html()  # what a notebook shows

    def to_dict(self, *, passages: bool = False) -> dict[str, Any]:
        """The answer as JSON-ready values, schema ``franq.answer/1``.

        ``passages``: also the question and the passages, as ``franq.trace/1`` has them.
        """
        asked = {"question": self.question, "passages": [p.to_dict() for p in self.passages]}
        return {
            "schema": "franq.answer/1",
            **({"id": self.id} if self.id is not None else {}),
            **(asked if passages else {}),
            "text": self.text,
            "original": self.original,
            "status": self.status,
            **({"reason": self.reason} if self.reason else {}),
            "flagged": len(self.flagged),
            "verdicts": [{**v.to_dict(), "flagged": v.label in self.weak} for v in self.verdicts],
            "calibrator": self.calibrator,
            "likelihoods": self.likelihoods,
            "timings": {stage: round(float(spent), 4) for stage, spent in self.timings.items()},
        }


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def _finite(value: float | None) -> float | None:
    # float(): json cannot write numpy numbers
    return float(value) if value is not None and math.isfinite(value) else None
