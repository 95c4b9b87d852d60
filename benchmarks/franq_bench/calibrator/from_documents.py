"""What a calibrator from documents alone is worth on a model's real answers.

    python -m franq_bench.calibrator.from_documents --data FOLDER

Statements are made from SQuAD passages as ``franq dataset build`` makes them: a sentence as it
stands (true), and with one fact changed (false). A calibrator is fitted to them and applied to the
real answers of the long-form benchmark, whose labels come from human gold answers; beside it stand
calibrators that were fitted to real answers, by leaving answers out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from franq_guard import metrics
from franq_guard.calibration.fit import flagged_always, out_of_fold
from franq_guard.calibration.fitting import Fit, fit_by, learned
from franq_guard.calibration.labels import Labelled, labelled
from franq_guard.calibration.store import AnyCalibration
from franq_guard.cli.console import tell
from franq_guard.datasets.building import Recipe, build
from franq_guard.datasets.building.build import plan
from franq_guard.datasets.building.questions import by_rules
from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.datasets.entities import Pool
from franq_guard.datasets.jsonl import json_rows
from franq_guard.datasets.labelled import labelled_rows
from franq_guard.datasets.questions import digest
from franq_guard.datasets.search import Bm25
from franq_guard.franq import FloatArray
from franq_guard.guard import Guard
from franq_guard.records import Passage

REAL = 30
"""Labels of real answers that set the level in the third row of the table."""
_SCORES = Path(__file__).parents[2] / "results" / "long-form" / "scores.jsonl"
_WAYS: tuple[AnyCalibration, ...] = ("condition", "learned")
_SIGNALS = {
    "p_faithful": "faithfulness",
    "uq_faith": "max-probability",
    "uq_unfaith": "parametric-knowledge",
}


def made_rows(guard: Guard, folder: Path, limit: int) -> list[dict[str, Any]]:
    """Labelled claims with signals from ``limit`` sentences of SQuAD passages, two of each."""
    rows = list(json_rows(folder / "rag_qa_squad.jsonl.gz"))
    texts = dict.fromkeys(p["text"] for row in rows for p in row["passages"] if p["is_gold"])
    passages = [Passage(text) for text in sorted(texts, key=lambda t: digest(0, "made", t))][:200]
    made = by_rules(passages, common=Pool(p.text for p in passages).common)
    recipe = Recipe(k=1, edits=1.0)
    search = Bm25([p.text for p in passages], k=20)
    planned = [row for row in plan(made, passages, search, recipe) if row.given is not None]
    model = guard.language_model
    if model is None:
        raise ValueError("the guard has no language model")
    with tempfile.TemporaryDirectory() as place:
        claims = ClaimSet.create(Path(place), {})
        build(claims, planned[: 2 * limit], passages, model, recipe)
        return [row for rows in labelled_rows(guard, claims.labelled(["edit"])) for row in rows]


def real_rows(scores: Path = _SCORES) -> Iterator[tuple[str, dict[str, Any]]]:
    """The data set and the labelled claim, for each claim of the long-form benchmark."""
    for row in json_rows(scores):
        signals = {name: row["scores"][key] for name, key in _SIGNALS.items()}
        yield (
            row["dataset"],
            {**signals, "is_true": row["is_true"], "group": row["group"], "source": "gold"},
        )


def quality(data: Labelled, p_true: FloatArray, fitted: Any) -> dict[str, float]:
    """AUROC, ECE, and the shares of true and of false claims that are flagged."""
    known = ~np.isnan(p_true)
    flagged = flagged_always(data, fitted.labels) | (p_true < fitted.labels.threshold)
    true = data.is_true == 1
    return {
        "auroc": metrics.auroc(data.is_true[known], p_true[known]),
        "ece": metrics.ece(data.is_true[known], p_true[known]),
        "true flagged": float(flagged[known & true].mean()),
        "false caught": float(flagged[known & ~true].mean()),
    }


def compared(made: Sequence[Mapping[str, Any]], real: Sequence[Mapping[str, Any]]) -> Any:
    """Rows of the table: how it was fitted, and its quality on the real answers."""
    edits, answers = labelled(made), labelled(real)
    for way in _WAYS:
        alone = fit_by(way)(edits).calibrator
        name = f"documents alone, {way}"
        yield name, quality(answers, alone.apply(*answers.signals.T)[0], alone)
    rest = np.ones(len(answers.is_true), bool)
    rest[np.random.default_rng(0).permutation(len(rest))[:REAL]] = False
    few = [row for row, kept in zip(real, rest.tolist(), strict=True) if not kept]
    both = learned(labelled([*made, *few])).calibrator
    left = answers.only(rest)
    name = f"learned, level from {REAL} real answers"
    yield name, quality(left, both.apply(*left.signals.T)[0], both)
    for way in _WAYS:
        fit: Fit = fit_by(way)
        name = f"real answers, {way}"
        yield name, quality(answers, out_of_fold(fit, answers), fit(answers).calibrator)


def main(arguments: list[str] | None = None) -> None:
    """Print the table, as text."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator.from_documents")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--limit", type=int, default=30, help="sentences that are changed")
    options = parser.parse_args(arguments)
    made = made_rows(Guard.offline(), options.data, options.limit)
    real: dict[str, list[dict[str, Any]]] = {}
    for name, row in real_rows():
        real.setdefault(name, []).append(row)
        real.setdefault("all", []).append(row)
    tell(json.dumps({"made": len(made)}))
    for name, rows in real.items():
        for how, found in compared(made, rows):
            numbers = ", ".join(f"{key} {value:.2f}" for key, value in found.items())
            tell(f"{name} ({len(rows)} claims); {how}: {numbers}")


if __name__ == "__main__":
    main()
