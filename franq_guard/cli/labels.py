"""The labelled answers of a command: files or claim sets, whose labels count, and how much."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import fail, say
from franq_guard.cli.options import fields_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from franq_guard.cli.configuration import Configuration
    from franq_guard.records import ClaimLabel, Trace
    from franq_guard.rows.fields import Fields
    from franq_guard.rows.lines import RowError

_LABELS = "person,gold,judge"

FileArgument = Annotated[
    Path, typer.Argument(help="franq.trace/1 rows whose claims have is_true, or a claim set.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        help="Of a claim set: whose labels count, the most trusted first. Statements that were "
        "made false on purpose (edit) are no answers of your model: left out by default. Default: "
        f"{_LABELS}."
    ),
]
WeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="SOURCE=NUMBER",
        help="Of a claim set: how much the labels of a source count in the fit, such as judge=0.5; "
        "may be repeated. Others count 1.",
    ),
]
SlopesOption = Annotated[
    Path | None,
    typer.Option(
        "--slopes-from",
        help="More labelled rows, such as public data, for --calibration learned: they tell how "
        "much a signal says, but not how often claims are true.",
    ),
]


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The file of labelled claims, how to read it, and the guard that scores the claims."""

    file: Path
    labels: str | None
    mapped: list[str] | None
    chosen: Configuration
    slopes: Path | None = None

    @property
    def voices(self) -> str:
        """Whose labels of a claim set count."""
        return _LABELS if self.labels is None else self.labels

    def refuse_unread(self, *, weighed: bool = False) -> None:
        """End the program if an option says nothing about this kind of data."""
        if not self.file.is_dir() and (weighed or self.labels is not None):
            fail("--labels and --weight are for claim sets: rows do not say who gave a label")
        if self.file.is_dir() and self.mapped and self.slopes is None:
            fail("--map is for rows: the fields of a claim set have their own names")

    def recorded(self) -> dict[str, str | list[str] | None]:
        """Where the labels are from, for the settings of a result."""
        return {
            "data": str(self.file),
            "labels": self.voices if self.file.is_dir() else None,  # of a claim set alone
            "slopes_from": None if self.slopes is None else str(self.slopes),
            "map": self.mapped,
        }

    def files(self) -> list[Path | None]:
        """The files that are read, and those of a claim set that are kept for a later run."""
        from franq_guard.datasets.claim_set.store import FILES

        of_set = [self.file / name for name in FILES] if self.file.is_dir() else []
        return [self.file, self.slopes, *of_set]

    def others(self) -> list[Trace]:
        """Answers of other data; their labels count for the slopes alone."""
        if self.slopes is None:
            return []
        traces, _ = _of_rows(self.slopes, fields_from(self.mapped))
        return [
            replace(trace, id=f"public {i}", labels=_public(trace))
            for i, trace in enumerate(traces)
        ]

    def traces(self) -> tuple[list[Trace], list[RowError]]:
        """The readable answers, and an error for each unreadable row.

        A source of labels that cannot be there ends the program.
        """
        sources = _sources(self.voices)
        if self.file.is_dir():
            return _of_set(self.file, sources, self.chosen.form)
        return _of_rows(self.file, fields_from(self.mapped))


def _public(trace: Trace) -> tuple[ClaimLabel, ...]:
    return tuple(replace(label, trusted=False, source="public") for label in trace.labels)


def weights_from(given: list[str] | None) -> dict[str, float]:
    """The weights of sources of labels; one that cannot be read ends the program."""
    from franq_guard.datasets.claim_set.records import KINDS

    found = {}
    for text in given or ():
        source, _, number = text.rpartition("=")
        try:
            found[source] = float(number)
        except ValueError:
            fail(f"--weight must be SOURCE=NUMBER, such as judge=0.5, not {text!r}")
        if source.partition(":")[0] not in KINDS or not 0 <= found[source] < float("inf"):
            fail(
                f"--weight {text}: a source is {', '.join(KINDS)} (or judge:NAME), a weight 0 or "
                "more"
            )
    return found


def refuse_unused(weights: Iterable[str], traces: Iterable[Trace]) -> None:
    """End the program if a weight is of a single voice by which no label counts."""
    used = {label.source for trace in traces for label in trace.labels if label.source}
    for name in weights:  # a whole kind may be missing, as for --labels
        if ":" in name and name not in used:
            fail(
                f"--weight {name}: no label is counted under this name, but under "
                f"{', '.join(sorted(used)) or 'none'}. Name it in --labels, too, such as "
                f"--labels person,gold,{name}"
            )


def say_unmeasured(traces: Sequence[Trace], measured: int) -> None:
    """Say how many of the labelled claims are not among those that were measured."""
    total = sum(label.is_true is not None for trace in traces for label in trace.labels)
    if measured < total:
        say(
            f"{total - measured} of {total} labelled claims could not be measured and are left "
            "out: a failure, no log-probabilities of the language model, or no passages"
        )


def fitted_for(fingerprint: Mapping[str, str], traces: Iterable[Trace]) -> dict[str, str]:
    """What a calibrator of these answers is for: the guard's fingerprint, and whose answers.

    ``writer`` and ``source`` (of the log-probabilities) are "any" if unknown or not the same for
    all answers, and so is ``samples`` if answers bring their own: nobody says how these were drawn.
    Several writers are warned of.
    """
    traces = list(traces)
    written = [trace.generation for trace in traces]
    writers = {generation.writer or "any" for generation in written}
    if (several := len(writers - {"any"})) > 1:
        say(
            f"warning: the answers are of {several} models, so the calibrator is for a mixture: "
            "models differ in how often they are wrong and in what their probabilities tell"
        )
    told = {**fingerprint, "writer": _one(writers), "source": _one({one.source for one in written})}
    if "samples" in told and any(trace.samples for trace in traces):
        told["samples"] = "any"
    return told


def _one(values: set[str]) -> str:
    return next(iter(values)) if len(values) == 1 else "any"


def _sources(labels: str) -> list[str]:
    """The sources that --labels names; a wrong name ends the program: it would label nothing."""
    from franq_guard.datasets.claim_set.records import KINDS

    sources = [name.strip() for name in labels.split(",") if name.strip()]
    unknown = [name for name in sources if name.partition(":")[0] not in KINDS]
    if unknown or not sources:
        fail(
            f"--labels {labels}: a source is {', '.join(KINDS)} (or judge:NAME, person:NAME)"
            + (f", not {unknown[0]!r}" if unknown else "")
        )
    return sources


def _of_set(folder: Path, sources: Sequence[str], form: str) -> tuple[list[Trace], list[RowError]]:
    """The answers of a claim set, labelled by these sources, most trusted first."""
    from franq_guard.cli.dataset.sets import opened

    found = opened(folder)
    built = found.settings.get("form", form)
    if built != form:
        fail(f"{folder} was built with --form {built}: its calibrator needs --form {built}, too")
    there = sorted({said.source for said in found.judgements()})
    for name in sources:  # a whole kind may be missing: the default names three
        if ":" in name and name not in there:
            fail(f"--labels {name}: no label in {folder} is by it, but by {', '.join(there)}")
    traces = found.labelled(sources)
    by_people = sum(label.trusted for trace in traces for label in trace.labels)
    say(f"{by_people} labels that a promise may rest on")
    return traces, []


def _of_rows(file: Path, fields: Fields) -> tuple[list[Trace], list[RowError]]:
    """The readable rows as traces, and the errors of the unreadable ones."""
    from franq_guard.cli.inputs import rows_in
    from franq_guard.rows.fields import with_row_label
    from franq_guard.rows.lines import RowError

    traces, broken = [], []
    columns = fields.columns | {"is_true", "is_faithful"}
    with rows_in(file, lambda row: with_row_label(fields(row)), columns=columns) as rows:
        for row in rows:
            if isinstance(row, RowError):
                say(str(row))
                broken.append(row)
            else:
                traces.append(row)
    _say_repeated(traces)
    _say_absent(file, traces)
    return traces, broken


def _say_absent(file: Path, traces: Sequence[Trace]) -> None:
    """Warn of labelled claims that their answer does not say; end the program if most are so."""
    from franq_guard.claims.alignment import ALIGNED

    labelled = [
        (claim, trace.id or f"answer {n}")
        for n, trace in enumerate(traces, start=1)
        for claim, label in zip(trace.claims or (), trace.labels, strict=True)
        if label.is_true is not None
    ]
    absent = [(claim, of) for claim, of in labelled if claim.aligned < ALIGNED]
    if not absent:
        return
    claim, of = absent[0]
    said = (
        f"{len(absent)} of {len(labelled)} labelled claims of {file} are not found in their "
        f"answer, such as {claim.text!r} of {of}"
    )
    if 2 * len(absent) > len(labelled):
        fail(f"{said}: do claims and answers belong together?")
    say(f"warning: {said}: each is measured at the sentence that is most like it")


def _say_repeated(traces: Sequence[Trace]) -> None:
    """Warn of rows that have the id of an earlier one, or that ask the same under another id."""
    ids = [trace.id for trace in traces if trace.id is not None]
    if repeated := len(ids) - len(set(ids)):
        say(
            f"warning: {repeated} row(s) have the id of an earlier one: rows of one id count as "
            "one answer"
        )
    asked = [(trace.question, tuple(p.text for p in trace.passages)) for trace in traces]
    named = {
        (n if trace.id is None else trace.id, of)
        for n, (trace, of) in enumerate(zip(traces, asked, strict=True))
    }
    if again := len(named) - len(set(asked)):
        say(
            f"warning: {again} row(s) ask an earlier one's question about the same passages: such "
            "answers are not independent, so the figures and a promise look better than they are. "
            "Give rows of one question one id, or keep one of them"
        )
