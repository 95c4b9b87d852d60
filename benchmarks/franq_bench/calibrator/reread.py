"""What another faithfulness model says of the claims that `own_long` measured.

    python -m franq_bench.calibrator.reread --data DATA --answers FOLDER --faithfulness WHERE \\
        --out RESULTS

No language model reads the claims: what it said of them is in the stored rows. (It writes the
answers that FOLDER lacks.) RESULTS gets a file of readings for each fold; a run that was stopped
goes on with the next answer. `--read RESULTS` of `franq_bench.long.by_reading` and of
`franq_bench.calibrator` puts them in the place of the rows' own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any, Final

from franq_bench.calibrator import measured
from franq_bench.calibrator.build import Question
from franq_bench.calibrator.own_long import LIMITS, answers, asked, claims_of
from franq_bench.data.read_claims import Label, by_text, digest_of
from franq_bench.long.matrix import as_score
from franq_bench.progress import Show
from franq_bench.tables.scores import Score
from franq_guard.calibration.store import Calibrator
from franq_guard.cli.console import bar, say
from franq_guard.datasets.jsonl import json_rows
from franq_guard.faithfulness.loading import faithfulness_from
from franq_guard.guard import Guard
from franq_guard.records import Trace, Verdict
from franq_guard.signals.gather import gather
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import compute

__all__ = ["KEYS", "main", "read_again", "with_readings"]

KEYS: Final = ("faithfulness", "contradiction", "entailment", "max-nli")
"""What a faithfulness model says of a claim, as the rows name it."""
_FOLDS: Final = ("fitting", "test")
_METHOD: Final = ("max-nli",)


def read_again(
    questions: Sequence[Question],
    traces: Sequence[Trace],
    read: Mapping[tuple[str, str], Label],
    guard: Guard,
    progress: Show,
) -> Iterator[list[dict[str, Any]]]:
    """Yield, of each answer that has settled claims, their ids and :data:`KEYS`.

    Args:
        questions: of :func:`.own_long.asked`.
        traces: their answers.
        read: the readers' labels by answer and digest of the claim.
        guard: judges by the passages alone.
        progress: called with (measured, answers).
    """
    for number, (question, trace) in enumerate(zip(questions, traces, strict=True)):
        progress(number, len(traces))
        claims = claims_of(trace)
        labels = [read.get((question.id, digest_of(claim.text))) for claim in claims]
        settled = [i for i, label in enumerate(labels) if label and label.settled]
        if not settled:
            continue
        models = Models(None, guard.faithfulness)
        [statistics] = gather([Request(trace, _METHOD, claims, "claim")], models)
        nli = compute(_METHOD, statistics, level="claim")["max-nli"]
        [checked] = guard.check_many([replace(trace, claims=tuple(claims))])
        yield [
            {"id": f"{question.id}/{i}", **_values(checked.verdicts[i], float(nli[i]))}
            for i in settled
        ]
    progress(len(traces), len(traces))


def _values(verdict: Verdict, max_nli: float) -> dict[str, float | None]:
    raw = verdict.raw.get("contradiction"), verdict.raw.get("entailment")
    values = (verdict.p_faithful, *raw, as_score("max-nli", max_nli))
    return dict(zip(KEYS, values, strict=True))


def with_readings(rows: Sequence[Score], folder: Path) -> list[Score]:
    """The rows with the readings of a folder in the place of theirs.

    A row without a reading is left out: another processor may write another answer, and a run that
    was stopped has not read them all. How many these are is printed.

    Raises:
        FileNotFoundError: there are none.
    """
    files = sorted(folder.glob("readings-*.jsonl"))
    if not files or not (folder / measured.FILE).is_file():
        wanted = f"readings-*.jsonl with {measured.FILE}"
        raise FileNotFoundError(f"no {wanted} in {folder}: {__name__} makes them")
    found = {row["id"]: row for file in files for row in json_rows(file)}
    if lacking := sum(row.id not in found for row in rows):
        say(f"{lacking} of {len(rows)} claims have no reading in {folder} and are left out")
    return [
        replace(row, scores={**row.scores, **{key: found[row.id][key] for key in KEYS}})
        for row in rows
        if row.id in found
    ]


def main(arguments: list[str] | None = None) -> None:
    """Read the claims of both folds, or of the one that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator.reread",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--answers", type=Path, required=True, help="folder of `own_long answer`")
    parser.add_argument(
        "--labels", type=Path, default=Path("benchmarks/results/own-long/labels.jsonl"),
        help="what the readers said",
    )  # fmt: skip
    parser.add_argument("--faithfulness", required=True, help="as of franq check")
    parser.add_argument("--out", type=Path, required=True, help="folder for the readings")
    parser.add_argument("--fold", choices=_FOLDS, action="append", help="only of this fold")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")
    if not options.labels.is_file():
        parser.error(f"--labels: there is no file {options.labels}")
    try:
        model = faithfulness_from(options.faithfulness)
    except (ValueError, OSError) as error:
        parser.error(f"--faithfulness: {error}")
    guard = Guard(faithfulness=model, franq=Calibrator.evidence())
    options.out.mkdir(parents=True, exist_ok=True)
    now = {key: guard.fingerprint[key] for key in ("faithfulness", "claims")}
    if (options.out / measured.FILE).exists() and measured.read(options.out) != now:
        parser.error(f"--out: {options.out} has readings by other models or claims than "
                     f"{now}: remove it, or name another folder")  # fmt: skip
    measured.write(options.out, guard)
    for fold in options.fold or _FOLDS:
        _read(options, fold, guard)


def _read(options: argparse.Namespace, fold: Any, guard: Guard) -> None:
    read, file = by_text(options.labels), options.out / f"readings-{fold}.jsonl"
    answered = {name for name, _ in read}
    done = {row["id"].rpartition("/")[0] for row in json_rows(file)} if file.exists() else set()
    questions = asked(options.data, fold, limit=LIMITS[fold], seed=0)
    questions = [q for q in questions if q.id in answered]
    traces = answers(questions, options.answers, fold)
    left = [q.id not in done for q in questions]
    questions, traces = list(compress(questions, left)), list(compress(traces, left))
    with bar(f"reading {fold}") as show, file.open("a", encoding="utf-8") as out:
        for rows in read_again(questions, traces, read, guard, show):
            out.write("".join(json.dumps(row) + "\n" for row in rows))
            out.flush()  # whole answers: what is in the file is not read again
    say(f"{file}: {sum(1 for _ in json_rows(file))} claims")


if __name__ == "__main__":
    main()
