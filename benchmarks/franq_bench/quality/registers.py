"""Verdicts on answers of our own, each claim labelled: do the passages state it or not?

    python -m franq_bench.quality.registers tests/fixtures/registers.jsonl

Every passage, answer and label is our own and invented. ``registers.jsonl`` has hard claims in 16
registers, from an encyclopaedia to an e-mail thread: half of them are stated by the passages, in
other words, units or formats, joined, computed or in a table; the other half has one changed fact.
Other files of that folder have the same form. Their shares say nothing about other texts; they are
for comparing two versions of the guard.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from franq_guard.calibration.store import Calibrator
from franq_guard.cli.console import counter, tell
from franq_guard.datasets.jsonl import json_rows
from franq_guard.faithfulness.loading import faithfulness_from
from franq_guard.guard import Guard
from franq_guard.records import Span

__all__ = ["Judged", "judged", "table"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim of the file: whether the passages state it, and what the guard says of it.

    ``unclear``: it is not flagged, and a verdict on a part of it is unclear.
    """

    register: str
    kind: str
    stated: bool
    flagged: bool
    unclear: bool = False


def judged(
    guard: Guard, path: Path, *, advance: Callable[[int], None] = lambda answers: None
) -> Iterator[Judged]:
    """Every claim of the file at ``path`` with the guard's opinion.

    A claim is flagged if a flagged verdict has most of its own characters within it.
    ``advance`` is called with 1 after every answer.
    """
    for row in json_rows(path):
        for answer, result in zip(row["answers"], guard.check_many(_asked(row)), strict=True):
            for claim in answer["claims"]:
                mine = [v for v in result.verdicts if _inside(v.claim.spans, claim["span"])]
                flagged = any(map(guard.policy.is_weak, mine))
                unclear = not flagged and any(v.label == "unclear" for v in mine)
                yield Judged(row["register"], claim["kind"], claim["stated"], flagged, unclear)
            advance(1)


def _asked(row: dict[str, Any]) -> list[tuple[str, list[str], str]]:
    return [(answer["question"], row["passages"], answer["answer"]) for answer in row["answers"]]


def _inside(spans: Sequence[Span], outer: Span) -> bool:
    size = sum(end - start for start, end in spans)
    shared = sum(max(0, min(end, outer[1]) - max(start, outer[0])) for start, end in spans)
    return shared > size / 2


def table(claims: Iterable[Judged]) -> str:
    """Flagged, and unclear, of the stated claims and of the changed ones.

    By register, by kind and in all.
    """
    found = list(claims)
    groups = [("register", c.register) for c in found] + [("kind", c.kind) for c in found]
    heads = (f"{of}, {what}" for of in ("stated", "changed") for what in ("flagged", "unclear"))
    lines = [" " * 22 + "".join(f"{head:>18}" for head in heads)]
    for key, name in dict.fromkeys([*sorted(groups, reverse=True), ("all", "all")]):
        mine = [c for c in found if name == "all" or getattr(c, key) == name]
        cells = []
        for stated in (True, False):
            of = [c for c in mine if c.stated == stated]
            for count in (sum(c.flagged for c in of), sum(c.unclear for c in of)):
                cells.append(f"{count} of {len(of)}" if of else "-")
        lines.append(f"{name:22}" + "".join(f"{cell:>18}" for cell in cells))
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Judge the file with the guard as shipped, or with other models, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m franq_bench.quality.registers",
        description="Labelled answers of our own, judged.",
    )
    parser.add_argument("file", type=Path, help="such as tests/fixtures/registers.jsonl")
    parser.add_argument("--faithfulness", help="another model, as for franq check")
    parser.add_argument("--calibrator", type=Path, help="the one that is for it")
    options = parser.parse_args(arguments)
    file = options.file
    if not file.is_file():
        parser.error(f"there is no file {file}: give tests/fixtures/registers.jsonl")
    try:
        total = sum(len(_asked(row)) for row in json_rows(file))
    except (KeyError, TypeError, ValueError):
        parser.error(f"{file} is no file of labelled answers like tests/fixtures/registers.jsonl")
    try:
        guard = _guard(options.faithfulness, options.calibrator)
    except (ValueError, OSError, RuntimeError) as error:  # a WeightsError is one of the last
        parser.error(f"--faithfulness, --calibrator: {error}")
    with counter("answers judged", total=total) as advance:
        found = list(judged(guard, file, advance=advance))
    tell(table(found))


def _guard(faithfulness: str | None, calibrator: Path | None) -> Guard:
    model = None if faithfulness is None else faithfulness_from(faithfulness)
    fitted = None if calibrator is None else Calibrator.load(calibrator)
    return Guard.offline(faithfulness=model, franq=fitted)


if __name__ == "__main__":
    main()
