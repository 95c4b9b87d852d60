"""The command ``franq``: demo, ask, check, calibrate, convert-alignscore, methods, bench, compare.

Results go to standard output, progress and complaints to standard error. Exit codes: 0 all done,
1 some row could not be read, checked or written (or a calibrator was refused), 2 wrong use,
141 the reader of the output went away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

try:
    import typer

    from franq_bench.cli.bench import bench
    from franq_bench.cli.compare import compare
    from franq_guard.cli.console import (
        counter,
        drop_output,
        emit,
        fail,
        lines_of,
        listen,
        output,
        say,
        tell,
        working,
    )
except ModuleNotFoundError as missing:  # the bare package has no command line
    raise SystemExit(
        f"the command line needs {missing.name}: pip install 'franq-guard[cli]'"
    ) from None

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.faithfulness.base import FaithfulnessModel
    from franq_guard.guard import Guard
    from franq_guard.language_model.base import LanguageModel
    from franq_guard.records import Passage, Trace
    from franq_guard.rows.lines import RowError

app = typer.Typer(
    help="Tell true from false in RAG answers: is a claim in the passages, and is it true?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(bench, name="bench")
app.command()(compare)

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines instead of tables.")]
PolicyOption = Annotated[
    str, typer.Option("--policy", help="annotate, filter or block weak claims.")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="A claim with P(true) below this is weak; default: the calibrator file's, else 0.5.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--language-model",
        metavar="bundled|FILE.gguf|FOLDER|URL[#NAME]",
        help="What scores the answers: the bundled model (default), a GGUF file through llama.cpp, "
        "a transformers folder, or a completions server with prompt log-probabilities "
        "(such as http://localhost:8000/v1; its key in FRANQ_API_KEY).",
    ),
]


@app.command()
def demo(
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    count: Annotated[int, typer.Option("--questions", min=1, help="How many questions.")] = 6,
) -> None:
    """Answer questions over the built-in corpus with the bundled model, guarded by FRANQ."""
    from franq_guard.datasets.demo import corpus, questions

    asked = [question.question for question in questions()[:count]]
    _answer(asked, corpus(), policy, threshold, as_json)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    docs: Annotated[Path, typer.Option("--docs", help="Folder of .txt and .md files.")],
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Passages to retrieve.")] = 3,
) -> None:
    """Answer a question from a folder of text files with the bundled model, guarded by FRANQ."""
    from franq_guard.datasets.documents import read_folder

    if not question.strip():
        fail("the question is empty")
    try:
        passages = read_folder(docs)
    except (ValueError, OSError) as error:
        fail(str(error))
    _answer([question], passages, policy, threshold, as_json, k=k)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="franq.trace/1 rows; - reads standard input.")],
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Answers scored together.")] = 8,
    calibrator: Annotated[Path | None, typer.Option(help="From franq calibrate.")] = None,
    language_model: ModelOption = None,
) -> None:
    """Check answers given as JSON Lines (question, passages, answer; more where you have it).

    Rows are read, checked and written as a stream. A broken row is reported in its place and the
    rest is still done; the exit code is 1 then, and also where an answer's check failed.
    """
    from franq_guard.report.terminal import print_answer
    from franq_guard.rows.check import check_rows
    from franq_guard.rows.lines import RowError

    guard = _guard(policy, threshold, calibrator, language_model)
    failed = 0
    with lines_of(file) as lines, counter("answers checked", beside_output=True) as advance:
        for result in check_rows(guard, lines, batch_size=batch_size):
            advance(1)
            failed += result.failed
            if as_json:
                emit(result.outcome.to_dict())
            elif isinstance(result.outcome, RowError):
                tell(f"line {result.outcome.line}: {result.outcome.error}")
            else:
                print_answer(output, result.question, result.outcome, result.passages)
    if failed:
        say(f"{failed} row(s) could not be checked")
        raise typer.Exit(1)


@app.command()
def calibrate(
    file: Annotated[Path, typer.Argument(help="franq.trace/1 rows whose claims have is_true.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the calibrator (JSON).")],
    calibration: Annotated[str, typer.Option(help="condition, global or none.")] = "condition",
    threshold_for: Annotated[
        str | None, typer.Option(help="fpr=0.1, precision=0.9 or kept=0.8: pick the threshold.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Reliability diagram as SVG.")] = None,
    language_model: ModelOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit a calibrator on labelled answers and say how good it is on answers it did not see.

    Unreadable rows are left out; the calibrator is still written, but the exit code is 1.
    """
    from franq_guard.calibration.fit import fit_calibrator
    from franq_guard.datasets.labelled import uniform
    from franq_guard.report.figures import figures_text, reliability_svg

    _check_wishes(calibration, threshold_for, [out, *([plot] if plot else [])])
    guard = _guard("annotate", None, language_model=language_model)
    rows, unread = _scored(guard, file)
    try:
        choice: Any = calibration
        fitted = fit_calibrator(
            uniform(rows),
            calibration=choice,
            name=out.stem,
            fingerprint=guard.fingerprint,
            threshold_for=threshold_for,
        )
    except ValueError as error:
        say(f"no calibrator: {error}")
        raise typer.Exit(1) from None
    fitted.save(out)
    if plot is not None:
        plot.write_text(reliability_svg(fitted.figures), encoding="utf-8")
    if as_json:
        emit(fitted.figures)
    else:
        tell(figures_text(fitted.figures))
    say(f"written to {out}; use it with --calibrator or Guard(franq=Calibrator.load(...))")
    if (threshold := _stored_threshold(fitted)) is not None:
        say(f"it goes with --threshold {threshold} (franq check --calibrator {out} takes it)")
    if unread:
        say(f"{unread} row(s) could not be read and were left out")
        raise typer.Exit(1)


@app.command(name="convert-alignscore")
def convert_alignscore(
    source: Annotated[Path, typer.Argument(help="Checkpoint, such as AlignScore-base.ckpt.")],
    target: Annotated[Path, typer.Argument(help="Folder to write.")],
    backbone: Annotated[
        str | None, typer.Option(help="roberta-base, roberta-large or a folder.")
    ] = None,
) -> None:
    """Convert a published AlignScore checkpoint once: a third of the size, faster to load."""
    from franq_guard.faithfulness.alignscore.convert import convert_checkpoint
    from franq_guard.faithfulness.alignscore.files import CheckpointError
    from franq_guard.faithfulness.alignscore.hub import HubUnreachableError

    try:
        with working(f"converting {source.name}"):
            written = convert_checkpoint(source, target, backbone=backbone)
    except (CheckpointError, HubUnreachableError, OSError) as error:
        fail(str(error))
    say(f"written to {written}; load it with AlignScore.from_checkpoint")


@app.command()
def methods(as_json: JsonFlag = False) -> None:
    """List every uncertainty method: name, level, cost beyond generation, source."""
    from rich.table import Table

    from franq_guard.uncertainty.methods import methods as known

    rows = [method.row() for method in known()]
    if as_json:
        for row in rows:
            emit(row)
        return
    table = Table(box=None)
    for key in ("name", "level", "cost", "source"):
        table.add_column(key, no_wrap=key == "name")
    for row in rows:
        table.add_row(row["name"], row["level"], row["cost"], row["source"])
    output.print(table)


def _answer(
    asked: Sequence[str],
    passages: Sequence[Passage],
    policy: str,
    threshold: float | None,
    as_json: bool,
    *,
    k: int = 3,
) -> None:
    """Ask the bundled model through the guarded LangChain chain and show each answer."""
    from franq_guard.report.terminal import print_answer

    ask_chain = _local_rag()
    guard = _guard(policy, threshold)
    with working("loading the bundled model"):
        chain = ask_chain(passages, guard, k=k)
    for question in asked:
        with working(f"answering: {question}"):
            report = chain(question)
        if as_json:
            emit({"question": question, **report.answer.to_dict()})
        else:
            print_answer(output, question, report.answer, report.passages)


def _local_rag() -> Any:
    try:
        from langchain_franq.local import guarded_local_rag
    except ModuleNotFoundError as missing:
        fail(f"this command needs {missing.name}: pip install 'langchain-franq[local]'")
    return guarded_local_rag


def _guard(
    policy: str,
    threshold: float | None,
    calibrator: Path | None = None,
    language_model: str | None = None,
) -> Guard:
    """The offline guard, or one with another language model.

    A setting that cannot work ends the program with the reason.
    """
    from franq_guard.calibration.store import Calibrator
    from franq_guard.guard import Guard
    from franq_guard.policy import Policy

    try:
        chosen: Any = policy
        fitted = Calibrator.load(calibrator) if calibrator else None
        if threshold is None and fitted:
            threshold = _stored_threshold(fitted)
        weak_below = 0.5 if threshold is None else threshold
        settings = Policy(action=chosen, threshold=weak_below, false_below=min(0.25, weak_below))
        if language_model is None:
            return Guard.offline(policy=settings, franq=fitted)
        return Guard(
            language_model=_language_model(language_model),
            faithfulness=_small_faithfulness(),
            policy=settings,
            franq=fitted,
        )
    except (ValueError, OSError, RuntimeError) as error:
        fail(str(error))


def _language_model(where: str) -> LanguageModel:
    from franq_guard.language_model.loading import language_model_from

    with working(f"loading {where}"):
        return language_model_from(where, api_key=os.environ.get("FRANQ_API_KEY"))


def _small_faithfulness() -> Callable[[], FaithfulnessModel]:
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    return SmallFaithfulness.bundled


def _stored_threshold(fitted: Calibrator) -> float | None:
    """The threshold that ``calibrate --threshold-for`` left in the calibrator."""
    stored = fitted.figures.get("threshold")
    value = stored.get("value") if isinstance(stored, dict) else None
    return float(value) if isinstance(value, (int, float)) else None


def _check_wishes(calibration: str, threshold_for: str | None, written: Sequence[Path]) -> None:
    """What cannot work in the options of ``calibrate``, said before any model runs."""
    from franq_guard.calibration.store import Calibration
    from franq_guard.calibration.thresholds import parse_goal

    if calibration not in get_args(Calibration):
        fail(f"--calibration must be condition, global or none, not {calibration!r}")
    if threshold_for is not None:
        try:
            parse_goal(threshold_for)
        except ValueError as error:
            fail(f"--threshold-for: {error}")
    for file in written:
        if not file.parent.is_dir():
            fail(f"cannot write {file}: there is no folder {file.parent}")
        if file.is_dir():
            fail(f"cannot write {file}: it is a folder")


def _scored(guard: Guard, file: Path) -> tuple[list[dict[str, Any]], int]:
    """The labelled claims of the file with their signals; how many rows could not be read."""
    from franq_guard.datasets.labelled import labelled_rows

    rows: list[dict[str, Any]] = []
    broken: list[RowError] = []
    with lines_of(file) as lines, counter("answers scored") as advance:
        for of_answer in labelled_rows(guard, _readable(lines, broken)):
            rows += of_answer
            advance(1)
    return rows, len(broken)


def _readable(lines: Iterable[str], broken: list[RowError]) -> Iterator[Trace]:
    """The readable rows; the others are named on standard error and added to ``broken``."""
    from franq_guard.rows.lines import RowError, read_traces

    for row in read_traces(lines):
        if isinstance(row, RowError):
            say(f"line {row.line}: {row.error}")
            broken.append(row)
        else:
            yield row


def main() -> None:
    """Entry point of the ``franq`` command."""
    listen()
    try:
        app()
    except OSError as error:  # a full disk, a device that fails: nothing a traceback explains
        say(f"error: {error}")
        drop_output()
        raise SystemExit(1) from None
