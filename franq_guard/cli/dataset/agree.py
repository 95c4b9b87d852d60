"""``franq dataset agree``: compare two sources of labels; correct rates for a judge's errors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from franq_guard.cli.console import emit, fail, output, tell
from franq_guard.cli.dataset.sets import SetArgument, opened
from franq_guard.cli.options import JsonFlag

if TYPE_CHECKING:
    from franq_guard.datasets.agreeing import Agreement, Counted, Rate


def agree(
    folder: SetArgument,
    judge: Annotated[
        str, typer.Option("--judge", help="The labels to test: judge, or judge:NAME.")
    ] = "judge",
    against: Annotated[
        str, typer.Option("--against", help="The labels to trust: person, gold or edit.")
    ] = "person",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.9,
    as_json: JsonFlag = False,
) -> None:
    """Compare a judge with people: accuracy, Cohen's kappa, confusion, corrected rates.

    The rates are of the model's own answers, without statements made from documents (unless these
    are compared). They use only votes on claims that were drawn at random (half of those that
    `franq dataset review` shows); the labels of other sources are all used.
    """
    from franq_guard.datasets.agreeing import agreement, corrected_rate, counted, votes
    from franq_guard.datasets.agreeing.agreement import ANSWERS
    from franq_guard.datasets.claim_set import CHOSEN

    if not 0 < confidence < 1:
        fail(f"--confidence must lie between 0 and 1, not {confidence}")
    claims = opened(folder)
    said = claims.judgements()
    made = {s.answer for s in said if s.kind == "edit"}
    if "edit" in (judge, against):
        made = set()
    own = [s for s in said if s.answer not in made]
    drawn = [s for s in own if s.version != CHOSEN]
    agreements, rates = [], []
    for question, labels in ANSWERS.items():
        tested, trusted = (votes(said, [s], question) for s in (judge, against))
        sample = votes(drawn, [against], question)
        agreements.append(agreement(trusted, tested, question))
        counted_of = votes(own, [judge], question)
        rates += [
            corrected_rate(counted_of, sample, label, confidence=confidence) for label in labels
        ]
    count = counted(claims, [against, judge])
    if not any(found.n for found in agreements):
        voices = sorted({s.source for s in said}) or ["nobody"]
        fail(
            f"no claim is labelled by {judge} and by {against}; labelled by: {', '.join(voices)}. "
            "franq dataset annotate adds a judge's labels, franq dataset review people's"
        )
    if as_json:
        emit(_row(count, agreements, rates))
    else:
        _show(count, agreements, rates, (judge, against))


def _row(count: Counted, agreements: Sequence[Agreement], rates: Sequence[Rate]) -> dict[str, Any]:
    return {
        "set": count.to_dict(),
        "agreement": [found.to_dict() for found in agreements],
        "rates": [{k: _finite(v) for k, v in asdict(rate).items()} for rate in rates],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _show(
    count: Counted,
    agreements: Sequence[Agreement],
    rates: Sequence[Rate],
    voices: tuple[str, str],
) -> None:
    tell(
        f"{count.questions} questions, {count.answers} answers, {count.claims} claims; "
        f"{count.not_judged} not judged"
    )
    for found in agreements:
        if not found.n:
            tell(f"{found.question}: no claim is labelled by both\n")
            continue
        output.print(_confusion(found, *voices))
        tell(f"accuracy {_number(found.accuracy)}, Cohen's kappa {_number(found.kappa)}\n")
    output.print(_rates(rates, *voices))


def _confusion(found: Agreement, judge: str, against: str) -> Table:
    title = f"{found.question}: {against} (rows) and {judge} (columns), {found.n} claims"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for label in found.labels:
        table.add_column(label, justify="right")
    for label, row in zip(found.labels, found.confusion, strict=True):
        table.add_row(label, *map(str, row))
    return table


def _rates(rates: Sequence[Rate], judge: str, against: str) -> Table:
    table = Table(title="share of all claims", title_justify="left")
    for name in ("", judge, against, "corrected", "interval"):
        table.add_column(name, justify="left" if not name else "right")
    for rate in rates:
        table.add_row(rate.label, *_cells(rate))
    return table


def _cells(rate: Rate) -> Iterator[str]:
    yield f"{_number(rate.judge)} ({rate.n_judge})"
    yield f"{_number(rate.people)} ({rate.n_people})"
    yield _number(rate.corrected)
    yield f"{_number(rate.low)} to {_number(rate.high)}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"
