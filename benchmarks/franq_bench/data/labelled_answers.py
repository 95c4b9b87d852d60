"""Labelled claims of given answers: rows of any file in the documented schemas, answer by answer.

Two kinds of rows, also mixed in one file:

- claim rows (``question, response, claim, label, label_kind``): the rows of one response form one
  answer, and each claim is aligned to its words in the response. The evidence is what a RAG prompt
  would have shown: the first passage of each claim, then the second of each and so on, without
  repeated texts, up to a maximum number. If the label is about ``reference`` (``faithfulness``), it
  is used as the passage. If the label is the truth, ``reference`` is a fact-checker's note, often
  the verdict itself, and is never shown.
- ``franq.trace/1`` rows whose claims have ``is_true`` or ``is_faithful``; all their passages are
  shown. Besides the documented keys they may have ``dataset`` (default: the file's name) and
  ``contrast`` (the rendered prompt without passages).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from franq_guard.claims import ALIGNED
from franq_guard.claims.alignment import Index
from franq_guard.datasets.jsonl import numbered_lines, text_of
from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.rows.traces import passages_from, trace_from_dict

__all__ = ["LabelledAnswer", "LabelledClaim", "Target", "read_labelled"]

Target = Literal["factuality", "faithfulness"]
"""What ``is_true`` means in a data set: true in the world, or entailed by the passages."""

_LABELS: Mapping[str, Mapping[str, bool]] = {
    "factuality": {"true": True, "false": False},
    "faithfulness": {
        "entailment": True,
        "neutral": False,
        "contradiction": False,
        "supported": True,
        "unsupported": False,
    },
}


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim with the label of its data set's target and, where known, gold faithfulness."""

    claim: Claim
    is_true: bool
    is_faithful: bool | None = None


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One answer and its labelled claims.

    Args:
        id: unique in its data set.
        dataset: its name.
        target: what ``is_true`` of the claims means.
        trace: question, passages and the answer.
        claims: claims whose words were found in the answer; may be empty if ``unaligned`` > 0.
        unaligned: labelled claims that were left out because their words were not found.
        writer: the model that wrote the answer, where known.
    """

    id: str
    dataset: str
    target: Target
    trace: Trace
    claims: tuple[LabelledClaim, ...]
    unaligned: int = 0
    writer: str | None = None


def read_labelled(paths: Iterable[Path], *, passages: int = 3) -> list[LabelledAnswer]:
    """The labelled answers of all files, in order of their first rows.

    Args:
        paths: JSONL files, compressed if the name ends in ``.gz``.
        passages: how many of a claim row's passages are shown.

    Raises:
        ValueError: if a line is invalid (the message names file and line), a data set has labels of
            both targets, an id occurs twice, or no claim is labelled.
        OSError: if a file cannot be opened.
    """
    groups: dict[tuple[str, ...], _Group] = {}
    found: list[LabelledAnswer | _Group] = []
    for path in paths:
        for number, line in numbered_lines(path):
            try:
                row = json.loads(line)
                if isinstance(row, dict) and "claims" in row:
                    found += _of_trace_row(row, path, number)
                    continue
                claim = _claim_row(row)
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
            if claim.key not in groups:
                groups[claim.key] = _Group(claim)
                found.append(groups[claim.key])
            groups[claim.key].rows.append(claim)
    answers = [one.answer(passages) if isinstance(one, _Group) else one for one in found]
    _check(answers)
    return answers


@dataclass(frozen=True, slots=True)
class _ClaimRow:
    id: str
    dataset: str
    target: Target
    question: str
    response: str
    writer: str | None
    claim: str
    label: bool
    passages: tuple[Passage, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """The values that all rows of one answer have in common."""
        return self.dataset, self.target, self.question, self.response, self.writer or ""


@dataclass(frozen=True, slots=True)
class _Group:
    """The claim rows of one response."""

    first: _ClaimRow
    rows: list[_ClaimRow] = field(default_factory=list)

    def answer(self, passages: int) -> LabelledAnswer:
        index = Index(self.first.response)
        aligned = [(row, index.align(row.claim)) for row in self.rows]
        claims = tuple(
            LabelledClaim(
                Claim(row.claim, at.spans, aligned=at.score),
                row.label,
                row.label if row.target == "faithfulness" else None,
            )
            for row, at in aligned
            if at.score >= ALIGNED and at.spans
        )
        return LabelledAnswer(
            id=self.first.id,
            dataset=self.first.dataset,
            target=self.first.target,
            trace=Trace(
                self.first.question,
                _in_turns([row.passages for row in self.rows], passages),
                Generation(self.first.response),
                id=self.first.id,
            ),
            claims=claims,
            unaligned=len(self.rows) - len(claims),
            writer=self.first.writer,
        )


def _in_turns(lists: Sequence[Sequence[Passage]], most: int) -> tuple[Passage, ...]:
    turns = (passage for turn in zip_longest(*lists) for passage in turn if passage is not None)
    return tuple({passage.text: passage for passage in turns}.values())[:most]


def _claim_row(row: object) -> _ClaimRow:
    if not isinstance(row, dict):
        raise ValueError("a row must be a JSON object")
    kind, label = text_of(row, "label_kind"), text_of(row, "label")
    if label not in _LABELS.get(kind, ()):
        known = "; ".join(f"{k}: {', '.join(names)}" for k, names in _LABELS.items())
        raise ValueError(f"no label {label!r} of the kind {kind!r} is known ({known})")
    target: Target = "factuality" if kind == "factuality" else "faithfulness"
    shown = passages_from(row.get("passages") or [])
    if not shown and target == "faithfulness" and row.get("reference"):
        shown = (Passage(text_of(row, "reference")),)
    return _ClaimRow(
        id=text_of(row, "id"),
        dataset=text_of(row, "dataset"),
        target=target,
        question=text_of(row, "question"),
        response=text_of(row, "response"),
        writer=row.get("model"),
        claim=text_of(row, "claim"),
        label=_LABELS[kind][label],
        passages=shown,
    )


def _of_trace_row(row: Mapping[str, Any], path: Path, number: int) -> Iterator[LabelledAnswer]:
    """The answer of a trace row; nothing if none of its claims is labelled."""
    trace = trace_from_dict(row)
    pairs = list(zip(trace.claims or (), trace.labels, strict=True))
    known = any(label.is_true is not None for _, label in pairs)
    target: Target = "factuality" if known else "faithfulness"
    labelled = [
        LabelledClaim(claim, wanted, label.is_faithful)
        for claim, label in pairs
        if (wanted := label.is_true if known else label.is_faithful) is not None
    ]
    kept = tuple(c for c in labelled if c.claim.aligned >= ALIGNED and c.claim.spans)
    if not labelled:
        return
    contrast = None if row.get("contrast") is None else str(row["contrast"])
    yield LabelledAnswer(
        id=trace.id or f"{path.name}:{number}",
        dataset=str(row.get("dataset") or path.name.removesuffix(".gz").removesuffix(".jsonl")),
        target=target,
        trace=replace(trace, claims=None, labels=(), contrast_prompt=contrast),
        claims=kept,
        unaligned=len(labelled) - len(kept),
        writer=row.get("model"),
    )


def _check(answers: Sequence[LabelledAnswer]) -> None:
    if not any(answer.claims for answer in answers):
        raise ValueError(
            "no labelled claim in the data: give claim rows (claim, label, label_kind) or "
            "franq.trace/1 rows whose claims have is_true or is_faithful"
        )
    targets: dict[str, Target] = {}
    seen: set[tuple[str, str]] = set()
    for answer in answers:
        if targets.setdefault(answer.dataset, answer.target) != answer.target:
            raise ValueError(
                f"data set {answer.dataset!r} has labels of factuality and of faithfulness; give "
                "its rows a 'dataset' each"
            )
        if (answer.dataset, answer.id) in seen:
            raise ValueError(f"the id {answer.id!r} is there twice in {answer.dataset!r}")
        seen.add((answer.dataset, answer.id))
