"""What captured probabilities add to evidence alone, on claims that were labelled by reading.

`python -m franq_bench.long.by_reading --data DATA --out benchmarks/results/own-answers`

The answers are those of the calibrator's builder (`franq_bench.calibrator.build`): SmolLM2 on SQuAD
and Natural Questions of the fitting fold, three passages, the gold one among them for 60 %. Two
readers labelled every claim of some of them, each without seeing the other's labels:
`labels.jsonl` in the output folder. Claims on whose truth they agree are used. Greedy answers
differ a little between processors; a claim with another text than the one that was read is left
out. With the scores already there (`scores.jsonl`) no model is loaded.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, cast

import numpy as np
from sklearn.base import BaseEstimator

from franq_bench.calibrator.build import answer, questions
from franq_bench.calibrator.own_writer import shares
from franq_bench.data.labelled_answers import LabelledAnswer, LabelledClaim
from franq_bench.fits.fitted import matrix
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.mixture import FranqMixture, Sign
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.jsonl import json_rows
from franq_guard.faithfulness.small.minilm import Embedder
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import auroc, bootstrap_se, ece

SIGNALS: Final = ("max-nli", "perplexity", "mean-token-entropy", "max-token-entropy")
"""Signals of the learned variants, all per token: a higher one must not speak against a claim."""
PAPER: Final = ("faithfulness", "max-probability", "parametric-knowledge")
ALONE: Final = (
    "faithfulness",
    *SIGNALS,
    "max-probability",
    "parametric-knowledge",
    "pmi",
    "p-true",
)
_FOLDS: Final = 5
_CAUGHT: Final = 0.7


@dataclass(frozen=True, slots=True)
class Label:
    """What each reader said of a claim: T true, F false, U undecided; S stated, C, N."""

    digest: str
    truth: tuple[str, ...]
    faith: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """Whether all decided, and alike, on its truth."""
        return len(set(self.truth)) == 1 and self.truth[0] != "U"


def labels(path: Path) -> dict[str, Label]:
    """Read the labels by claim id (the question's, then the claim's number)."""
    return {
        row["id"]: Label(row["digest"], tuple(row["truth"]), tuple(row["faith"]))
        for row in json_rows(path)
    }


def agreement(read: Mapping[str, Label]) -> dict[str, float]:
    """Share of equal labels and Cohen's kappa of the two readers, for truth and faithfulness."""
    from sklearn.metrics import cohen_kappa_score

    found: dict[str, float] = {"claims": len(read)}
    for name in ("truth", "faith"):
        pairs = [getattr(label, name) for label in read.values()]
        first, second = zip(*pairs, strict=True)
        found[f"{name}_equal"] = float(np.mean([a == b for a, b in pairs]))
        found[f"{name}_kappa"] = float(cohen_kappa_score(first, second))
    return found


def digest_of(text: str) -> str:
    """Tells whether a claim is the one that was read."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def measured(data: Path, read: Mapping[str, Label], cache: Path, limit: int) -> Scores:
    """Every claim-level signal of the settled claims; answers and measurements are kept in `cache`.

    Args:
        data: folder with the question files.
        read: the readers' labels.
        cache: folder for answers and measurements; it will contain text of the data.
        limit: number of questions that were drawn when the answers were read.
    """
    from franq_bench.long.matrix import score_rows
    from franq_bench.long.statistics import statistics_of
    from franq_bench.store.cache import Cache
    from franq_guard.datasets.generations import GenerationStore
    from franq_guard.guard import Guard
    from franq_guard.signals.request import Models

    guard = Guard.offline(franq=Calibrator.uncalibrated())
    asked = [q for q in questions(data, limit=limit, seed=0) if f"{q.id}/0" in read]
    store = GenerationStore(cache / "calibrator-generations.jsonl")
    traces = answer(guard, asked, store, partial(_tell, "answered"))
    known = [
        LabelledAnswer(q.id, q.id.split("-")[0], "factuality", trace, found)
        for q, trace in zip(asked, traces, strict=True)
        if trace.generation is not None
        for found in [tuple(_settled(q.id, trace.generation.text, read))]
        if found
    ]
    models = Models(guard.language_model, guard.faithfulness, Embedder())
    statistics = statistics_of(known, models, Cache(cache / "by-reading"), progress=_tell_both)
    rows = [r for a, s in zip(known, statistics, strict=True) for r in score_rows(a, s, "test")]
    return Scores(tuple(rows))


def _settled(question: str, text: str, read: Mapping[str, Label]) -> Iterator[LabelledClaim]:
    claims = [c for c in RuleSplitter().split(text) if c.not_a_claim is None]
    for number, claim in enumerate(claims):
        label = read.get(f"{question}/{number}")
        if label is not None and label.settled and label.digest == digest_of(claim.text):
            faithful = label.faith[0] == "S" if label.faith[0] == label.faith[1] else None
            yield LabelledClaim(claim, label.truth[0] == "T", faithful)


def compared(rows: Sequence[Score]) -> list[tuple[str, FloatArray, bool]]:
    """P(true), or a signal, of each claim by several methods; whether it is a probability.

    The fitted ones are cross-validated over whole answers.
    """
    truth = np.array([row.is_true for row in rows])
    groups = np.array([row.group for row in rows])
    faithful = matrix(rows, ["faithfulness"])[:, 0]
    nothing = np.zeros_like(faithful)  # it weighs no likelihoods
    any_writer = next(c for c in shipped() if c.writer is None and c.form == "long")
    evidence, _, _ = any_writer.apply(faithful, nothing, nothing)
    found = [
        ("any writer (evidence alone)", evidence, True),
        (
            "its writer (evidence alone)",
            _crossed(_OwnWriter(), faithful[:, None], truth, groups),
            True,
        ),
    ]
    learned = np.column_stack([faithful, _filled(matrix(rows, SIGNALS))])
    signs = cast("tuple[Sign, ...]", (1,) * len(SIGNALS))
    found.append(
        ("FRANQ, learned", _crossed(FranqMixture(signs=signs), learned, truth, groups), True)
    )
    found.append(("additive logistic", _crossed(_additive(), learned, truth, groups), True))
    paper = _filled(matrix(rows, PAPER))
    for name in ("condition", "global"):
        classifier = FranqClassifier(name, log_space=True)
        values = _crossed(classifier, paper, truth, groups)
        found.append((f"FRANQ, {name}-calibrated", values, True))
    return found + [(n, _filled(matrix(rows, [n]))[:, 0], n == "faithfulness") for n in ALONE]


class _OwnWriter(BaseEstimator):  # type: ignore[misc]
    """As the calibrator that is shipped for these answers is fitted."""

    def fit(self, x: FloatArray, truth: FloatArray) -> _OwnWriter:
        self.shares_ = shares(np.asarray(truth, float), x[:, 0])
        return self

    def predict_proba(self, x: FloatArray) -> FloatArray:
        p = self.shares_.p_true(x[:, 0])
        return np.column_stack([1 - p, p])


def _additive() -> object:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.3))


def _crossed(model: object, x: FloatArray, truth: FloatArray, groups: FloatArray) -> FloatArray:
    from sklearn.base import clone
    from sklearn.model_selection import GroupKFold

    values = np.full(len(x), np.nan)
    for seen, out in GroupKFold(_FOLDS).split(x, truth, groups):
        values[out] = clone(model).fit(x[seen], truth[seen]).predict_proba(x[out])[:, 1]
    return values


def _filled(values: FloatArray) -> FloatArray:
    """NaN (nothing to measure) as the column's median."""
    return np.where(np.isnan(values), np.nanmedian(values, axis=0), values)


def table(rows: Sequence[Score]) -> str:
    """The comparison as Markdown; errors are standard errors of a bootstrap over answers."""
    truth = np.array([row.is_true for row in rows], float)
    groups = [str(row.group) for row in rows]
    lines = ["| method | ROC-AUC | ECE | true ones flagged where 70 % of the false are |",
             "| --- | ---: | ---: | ---: |"]  # fmt: skip
    for name, values, probability in compared(rows):
        error = bootstrap_se(auroc, truth, values, groups=groups)
        calibrated = f"{ece(truth, values):.2f}" if probability else "-"
        cut = np.quantile(values[truth == 0], _CAUGHT)
        lines.append(
            f"| {name} | {auroc(truth, values):.3f} ±{error:.3f} | {calibrated} | "
            f"{float(np.mean(values[truth == 1] <= cut)):.0%} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Measure if needed, compare, and write REPORT.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of JSONL files; measures again")
    parser.add_argument("--out", type=Path, required=True, help="folder with labels.jsonl")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/franq-guard")
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args(arguments)
    if not (options.out / "labels.jsonl").exists():
        parser.error(f"{options.out} has no labels.jsonl: name the folder with the readers' labels")
    read = labels(options.out / "labels.jsonl")
    if options.data is not None:
        measured(options.data, read, options.cache, options.limit).write(options.out)
    elif not (options.out / "scores.jsonl").exists():
        parser.error(f"{options.out} has no scores.jsonl yet: give --data to measure the claims")
    rows = Scores.read(options.out).rows
    text = f"# Own answers, labelled by reading\n\n{_first_lines(read, rows)}\n\n{table(rows)}"
    (options.out / "REPORT.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def _first_lines(read: Mapping[str, Label], rows: Sequence[Score]) -> str:
    found = agreement(read)
    true = float(np.mean([row.is_true for row in rows]))
    unsupported = [label for label in read.values() if label.settled and label.faith == ("N", "N")]
    lucky = sum(label.truth[0] == "T" for label in unsupported)
    return (
        f"{len(rows)} claims of {len({row.group for row in rows})} answers of the bundled model "
        f"(SmolLM2-135M) to SQuAD and NQ questions of the fitting fold, {true:.0%} of them true. "
        f"Two readers labelled {found['claims']:.0f} claims: equal on truth in "
        f"{found['truth_equal']:.0%} (kappa {found['truth_kappa']:.2f}), on faithfulness in "
        f"{found['faith_equal']:.0%} (kappa {found['faith_kappa']:.2f}). Of {len(unsupported)} "
        f"claims that no passage states or contradicts {lucky} are true."
    )


def _tell(what: str, done: int) -> None:
    sys.stderr.write(f"{what} {done}\n")


def _tell_both(done: int, total: int) -> None:
    sys.stderr.write(f"measured {done} of {total}\n")


if __name__ == "__main__":
    sys.exit(main())
