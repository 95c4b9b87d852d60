"""Long answers of the bundled model under three kinds of retrieval, labelled by reading.

    python -m franq_bench.calibrator.own_long --data DATA answer --out FOLDER
    python -m franq_bench.calibrator.own_long --data DATA score --answers FOLDER --labels FILE \\
        --out RESULTS

The first asks every drawn question twice: with its gold passage among the three shown, and with
half of that passage or without it. FOLDER then holds what readers need (`to_read-*.jsonl`), which
is text of the data. It resumes, and `--part 2/3` makes it one of several processes. The second
measures the claims that were read. Questions come from SQuAD, NQ and CLAP-NQ, of folds that the
small faithfulness model was not trained on: of the fitting fold (part "train" of the rows) and of
the test fold. Claims of the training fold were read, too (`answer --fold training`), for whoever
wants to train a faithfulness model on them; nothing shipped uses them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

from franq_bench.calibrator import measured
from franq_bench.calibrator.build import K, Question, answer
from franq_bench.calibrator.label import label_claims
from franq_bench.data.files import LONG, SHORT
from franq_bench.data.folds import Fold, Folds
from franq_bench.data.read_claims import Label, by_text, digest_of
from franq_bench.long.matrix import as_score
from franq_bench.progress import Show
from franq_bench.tables.scores import BY_ALIAS, GOLD, Score, Scores, Split
from franq_guard.claims import RuleSplitter
from franq_guard.cli.console import bar, say
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.jsonl import json_rows
from franq_guard.faithfulness.small.chunks import sentences
from franq_guard.guard import Guard
from franq_guard.records import Claim, Passage, Trace, Verdict
from franq_guard.signals.components import WITH_THE_ANSWER
from franq_guard.signals.gather import gather
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import compute
from franq_guard.uncertainty.statistics import Statistics

__all__ = ["LIMITS", "METHODS", "RETRIEVALS", "answers", "asked", "claims_of", "scores", "to_read"]

Retrieval = Literal["gold", "half", "absent"]
RETRIEVALS: Final[tuple[Retrieval, ...]] = ("gold", "half", "absent")
#: Questions of each file.
LIMITS: Final[Mapping[Fold, int]] = {"training": 180, "fitting": 240, "test": 100}
_MEASURED: Final[Mapping[Fold, Split]] = {"fitting": "train", "test": "test"}
METHODS: Final = (
    "max-probability", "perplexity", "mean-token-entropy", "max-token-entropy", "pmi",
    "parametric-knowledge", "max-nli",
)  # fmt: skip
"""Measured beside P(faithful); CCP, P(True) and TokenSAR cost many times as much."""


def asked(folder: Path, fold: Fold, *, limit: int, seed: int) -> list[Question]:
    """Each drawn question twice; the id ends in the kind of retrieval.

    Args:
        folder: with the data files.
        fold: whose questions are drawn.
        limit: at most so many questions of each file.
        seed: of the draw, of the passages' order and of the second retrieval.

    Raises:
        FileNotFoundError: a data file is missing.
    """
    folds = Folds.read(folder)
    found: list[Question] = []
    for name in (*SHORT, *LONG):
        rows = [
            row
            for row in json_rows(folder / name)
            if row["gold_kind"] == "annotated" and row["answers"] and folds.of(row) == fold
        ]
        rng = random.Random(f"{seed}/{fold}/{name}")  # noqa: S311  (a reproducible shuffle)
        rng.shuffle(rows)
        for row in rows[:limit]:
            found += [_shown(row, kind, rng) for kind in ("gold", rng.choice(RETRIEVALS[1:]))]
    return [question for question in found if question.passages]


def _shown(row: dict[str, Any], kind: Retrieval, rng: random.Random) -> Question:
    gold = next(_passage(p, p["text"]) for p in row["passages"] if p["is_gold"])
    others = [p for p in row["passages"] if not p["is_gold"] and not p.get("has_answer")]
    first = {"gold": [gold], "half": [_half(gold, rng)], "absent": []}[kind]
    shown = [*first, *(_passage(p, p["text"]) for p in others)][:K]
    rng.shuffle(shown)
    return Question(f"{row['id']}~{kind}", row["question"], tuple(row["answers"]), tuple(shown))


def _passage(row: dict[str, Any], text: str) -> Passage:
    return Passage(text=text, title=row["title"])


def _half(gold: Passage, rng: random.Random) -> Passage:
    """Its first or its second half, by sentences; of a single sentence, by words."""
    spans = sentences(gold.text)
    parts = [gold.text[a:b] for a, b in spans] if len(spans) > 1 else gold.text.split()
    middle = len(parts) // 2
    return Passage(text=" ".join(rng.choice((parts[:middle], parts[middle:]))), title=gold.title)


def to_read(
    questions: Sequence[Question], traces: Sequence[Trace], gold: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """What a reader sees of each answer; ``gold`` is the gold passage by question."""
    for question, trace in zip(questions, traces, strict=True):
        if claims := claims_of(trace):
            yield {
                "id": question.id,
                "question": question.text,
                "gold_answers": question.answers,
                "gold_passage": gold[question.id.rpartition("~")[0]],
                "passages": [_text(p) for p in question.passages],
                "answer": trace.generation.text,
                "claims": {f"{question.id}/{i}": c.text for i, c in enumerate(claims)},
            }


def scores(
    questions: Sequence[Question],
    traces: Sequence[Trace],
    read: Mapping[tuple[str, str], Label],
    split: Split,
    guard: Guard,
    progress: Show,
) -> list[Score]:
    """The settled claims with their signals; claims with other texts than were read are left out.

    Args:
        questions: of :func:`asked`.
        traces: their answers.
        read: the readers' labels by answer and digest of the claim.
        split: of the rows.
        guard: reads the passages, and the answers by :data:`WITH_THE_ANSWER`; uncalibrated.
        progress: called with (measured, answers).
    """
    models = Models(guard.language_model, guard.faithfulness)
    found: list[Score] = []
    for number, (question, trace) in enumerate(zip(questions, traces, strict=True)):
        progress(number, len(traces))
        claims = claims_of(trace)
        labelled = [read.get((question.id, digest_of(claim.text))) for claim in claims]
        known = {i: label for i, label in enumerate(labelled) if label and label.settled}
        if not known:
            continue
        [statistics] = gather([Request(trace, METHODS, claims, "claim")], models)
        [checked] = guard.check_many([replace(trace, claims=tuple(claims))])
        aliased = label_claims(claims, question.answers, question.passages)
        for i, label in known.items():
            signals = {**_of_methods(statistics, i), **_per_token(statistics, i)}
            signals |= _of_guard(checked.verdicts[i]) | _marks(label, aliased[i])
            name = question.id.split("-")[0]
            found.append(Score(f"{question.id}/{i}", name, split, label.truth[0] == "T",
                               signals, group=question.id.rpartition("~")[0]))  # fmt: skip
    progress(len(traces), len(traces))
    return found


def claims_of(trace: Trace) -> list[Claim]:
    """The claims of an answer, without greetings, questions and the like."""
    found = RuleSplitter().split(trace.generation.text)
    return [claim for claim in found if claim.not_a_claim is None]


def _of_methods(statistics: Statistics, i: int) -> dict[str, float | None]:
    found = compute(METHODS, statistics, level="claim")
    return {name: as_score(name, float(values[i])) for name, values in found.items()}


def _per_token(statistics: Statistics, i: int) -> dict[str, float | None]:
    """Mean and lowest log-probability of the claim's tokens, with and without the passages."""
    shown, taken = statistics.own_or_given_logprobs, statistics.parametric
    assert shown is not None
    assert taken is not None
    with_them = shown[list(statistics.own_tokens(i))]
    without = taken[list(statistics.parametric_tokens(i))]
    if not len(with_them) or not len(without):
        return {}
    return {
        "mean-logprob": float(with_them.mean()),
        "lowest-logprob": float(with_them.min()),
        "mean-logprob-without": float(without.mean()),
        "lowest-logprob-without": float(without.min()),
        "mean-logprob-gain": float(with_them.mean() - without.mean()),
    }


def _of_guard(verdict: Verdict) -> dict[str, float | None]:
    """What the guard measures: a claim that repeats another has the tokens that stated it first."""
    return {
        WITH_THE_ANSWER.uq_faith: verdict.raw.get("uq_faith"),
        WITH_THE_ANSWER.uq_unfaith: _exp(verdict.raw.get("uq_unfaith")),
        "faithfulness": verdict.p_faithful,
        "contradiction": verdict.raw.get("contradiction"),
        "entailment": verdict.raw.get("entailment"),
    }


def _exp(minus_entropy: float | None) -> float | None:
    """An entropy as the other tables hold it."""
    return None if minus_entropy is None else math.exp(minus_entropy)


def _marks(label: Label, aliased: bool | None) -> dict[str, float | None]:
    """What is no signal: faithfulness by reading, and truth by gold aliases if they tell."""
    stated = len(set(label.faith)) == 1
    found: dict[str, float | None] = {GOLD: float(label.faith[0] == "S")} if stated else {}
    return found if aliased is None else {**found, BY_ALIAS: float(aliased)}


def _text(passage: Passage) -> str:
    return f"{passage.title}: {passage.text}" if passage.title else passage.text


def _gold_passages(folder: Path) -> dict[str, str]:
    return {
        row["id"]: next(_text(_passage(p, p["text"])) for p in row["passages"] if p["is_gold"])
        for name in (*SHORT, *LONG)
        for row in json_rows(folder / name)
        if any(p["is_gold"] for p in row["passages"])
    }


def _part(text: str) -> tuple[int, int]:
    one, _, of = text.partition("/")
    if not (one.isdecimal() and of.isdecimal() and 1 <= int(one) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not such as 2/3")
    return int(one), int(of)


def _answer(options: argparse.Namespace) -> None:
    part, parts = options.part
    for fold in options.fold or _MEASURED:
        questions = asked(options.data, fold, limit=LIMITS[fold], seed=options.seed)
        mine = questions[part - 1 :: parts]
        name = f"{part}-{parts}"
        traces = answers(mine, options.out, fold, name)
        path = options.out / f"to_read-{fold}-{name}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for row in to_read(mine, traces, _gold_passages(options.data)):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def answers(questions: Sequence[Question], folder: Path, fold: Fold, part: str = "") -> list[Trace]:
    """Their answers; what no file of ``folder`` holds is generated.

    Args:
        questions: of :func:`asked`.
        folder: of the answers.
        fold: of the questions.
        part: of several processes that write at once; empty: there is one.
    """
    mine = folder / f"generations-{fold}-{part or 'all'}.jsonl"
    others = [] if part else sorted({*folder.glob(f"generations-{fold}-*.jsonl")} - {mine})
    with bar("answering") as show:
        total = len(questions)
        store = GenerationStore(mine, also=others)
        return answer(Guard.offline(), questions, store, lambda done: show(done, total))


def _score(options: argparse.Namespace) -> None:
    read = by_text(options.labels)
    answered, rows, settled = {name for name, _ in read}, [], 0
    faith, unfaith = WITH_THE_ANSWER.names
    guard = Guard.offline(uq_faith=faith, uq_unfaith=unfaith).uncalibrated()
    for fold, split in _MEASURED.items():
        questions = asked(options.data, fold, limit=LIMITS[fold], seed=options.seed)
        questions = [q for q in questions if q.id in answered]
        mine = {q.id for q in questions}
        settled += sum(label.settled for (name, _), label in read.items() if name in mine)
        traces = answers(questions, options.answers, fold)
        with bar(f"measuring {fold}") as show:
            rows += scores(questions, traces, read, split, guard, show)
    Scores(tuple(rows)).write(options.out)
    measured.write(options.out, guard)
    true = sum(row.is_true for row in rows)
    say(f"{len(rows)} of {settled} settled claims are there, {true} of them true: {options.out}")


def main(arguments: list[str] | None = None) -> None:
    """Answer and write what is to be read, or measure what was read."""
    parser = argparse.ArgumentParser(description="Own long answers, labelled by reading.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--seed", type=int, default=0)
    steps = parser.add_subparsers(required=True)
    first = steps.add_parser("answer", help="ask the bundled model")
    first.add_argument("--out", type=Path, required=True, help="folder for answers and readers")
    first.add_argument("--part", type=_part, default=(1, 1), help="of several, such as 2/3")
    first.add_argument(
        "--fold", choices=sorted(LIMITS), action="append", help="only of this fold; several times"
    )
    first.set_defaults(step=_answer)
    second = steps.add_parser("score", help="measure the claims that were read")
    second.add_argument("--answers", type=Path, required=True, help="folder of the first step")
    second.add_argument("--labels", type=Path, required=True, help="what the readers said, JSONL")
    second.add_argument("--out", type=Path, required=True, help="folder for scores.jsonl")
    second.set_defaults(step=_score)
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")
    if options.step is _score and not options.labels.is_file():
        parser.error(f"--labels: there is no file {options.labels}")
    options.step(options)


if __name__ == "__main__":
    main()
