"""Would the language model help as a second reader of faithfulness? Fitted and measured.

The language model reads a claim after its passage; the mean log-probability of the claim's words
joins the small model's P(faithful) in a logistic regression. It was not found to help enough to be
part of the guard (docs/small-model.md).

`python -m franq_bench.training.reader --data FOLDER --out FOLDER` reads pairs of the fitting and
the test fold with the bundled language model (half an hour of one core; a run that was stopped goes
on) and writes `figures.json`. The penalty is chosen on the fitting fold, each
set scored by weights fitted without it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from franq_bench.data.pairs import SOURCES, Example
from franq_bench.progress import report
from franq_bench.quality import faithfulness as bench
from franq_bench.tables.resampling import bootstrap
from franq_bench.training.options import parsed
from franq_bench.training.reader_pairs import Read, drawn, likelihoods, numbers, texts_to_read
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.franq import FloatArray as Floats
from franq_guard.language_model.base import LanguageModel
from franq_guard.language_model.transformers.smollm2 import load_bundled
from franq_guard.metrics.measures import auroc, ece

Input = Literal["odds", "likelihood"]
#: What is compared: names of inputs.
CHOICES: Final[Mapping[str, tuple[Input, ...]]] = {
    "small model": ("odds",),
    "reader": ("likelihood",),
    "both": ("odds", "likelihood"),
}
STRENGTHS: Final = (1e-3, 1e-2, 1e-1, 1.0)
"""Inverse L2 penalties on standardised inputs that are tried."""
_LARGEST_ODDS: Final = 8.0


def fit(reads: Sequence[Read], names: Sequence[Input], strength: float) -> tuple[Floats, float]:
    """Return weights and intercept of a logistic regression.

    Only pairs of sets that may be trained on are used (`pairs.SOURCES`). The penalty is strong, so
    that peculiarities of single sets are not learned. It shrinks the probabilities towards the
    middle; a second fit, without penalty and on the resulting score alone, undoes that.

    Args:
        reads: pairs with their numbers.
        names: inputs.
        strength: inverse of the L2 penalty.
    """
    from sklearn.linear_model import LogisticRegression

    kept = [one for one in reads if one.source in SOURCES]
    rows, labels = inputs(kept, names), supported(kept)
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    first = LogisticRegression(C=strength, max_iter=5000).fit((rows - mean) / scale, labels)
    slope = first.coef_[0] / scale
    score = (rows - mean) @ slope
    second = LogisticRegression(C=1e6, max_iter=5000).fit(score[:, None] / score.std(), labels)
    slope = slope * second.coef_[0, 0] / score.std()
    return slope, float(second.intercept_[0] - slope @ mean)


def inputs(reads: Sequence[Read], names: Sequence[Input]) -> Floats:
    """Return the named inputs (n, len(names)) of each pair.

    "odds" are the log-odds of the small model's P(faithful), at most 8 in size.
    """
    columns: dict[Input, Floats] = {
        "odds": log_odds([one.small for one in reads]),
        "likelihood": np.array([one.likelihood for one in reads]),
    }
    return np.column_stack([columns[name] for name in names])


def log_odds(probabilities: Sequence[float]) -> Floats:
    """Return the log-odds of probabilities, at most 8 in size."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.clip(np.log(p / (1 - p)), -_LARGEST_ODDS, _LARGEST_ODDS)


def supported(reads: Sequence[Read]) -> Floats:
    """Return 1 for each pair that is supported, 0 for the others."""
    return np.array([one.supported for one in reads], dtype=np.float64)


def left_out(reads: Sequence[Read], names: Sequence[Input], strength: float) -> Floats:
    """Return the score of each pair by weights fitted without the pair's own data set."""
    scores = np.zeros(len(reads))
    for name in {one.dataset for one in reads}:
        own = np.array([one.dataset == name for one in reads])
        others = [one for one in reads if one.dataset != name]
        slope, intercept = fit(others, names, strength)
        scores[own] = inputs([one for one in reads if one.dataset == name], names) @ slope
        scores[own] += intercept
    return scores


def by_set(reads: Sequence[Read], scores: Floats) -> dict[str, float]:
    """Return the AUROC of each data set of the figures' macro row; sets of one class left out."""
    labels, sets = supported(reads), np.array([one.dataset for one in reads])
    found = {name: auroc(labels[sets == name], scores[sets == name]) for name in bench.GROUNDED
             if (sets == name).any()}  # fmt: skip
    return {name: value for name, value in found.items() if not np.isnan(value)}


def macro(reads: Sequence[Read], scores: Floats) -> float:
    """Return the mean of `by_set`."""
    return float(np.mean(list(by_set(reads, scores).values())))


def gain(
    reads: Sequence[Read], scores: Floats, before: Floats, *, resamples: int = 1000
) -> dict[str, float]:
    """Return what `scores` add to the macro AUROC of `before`, with a paired 90 % interval.

    The pairs of each set are drawn again and again, the same for both.
    """
    labels, sets = supported(reads), np.array([one.dataset for one in reads])
    moved = []
    for name in by_set(reads, scores):
        own = sets == name
        both = {"after": scores[own], "before": before[own]}
        drawn_again = bootstrap(labels[own], both, resamples=resamples)["auroc"]
        moved.append(drawn_again["after"] - drawn_again["before"])
    found = np.nanmean(moved, axis=0)  # NaN: a small set drawn with one class only
    low, high = np.quantile(found, [0.05, 0.95])
    difference = macro(reads, scores) - macro(reads, before)
    return {"gain": difference, "low": float(low), "high": float(high)}


def chosen_strengths(reads: Sequence[Read]) -> dict[str, tuple[float, Floats]]:
    """Return for each choice of inputs its best penalty, and the scores of the sets left out."""
    found = {}
    for name, names in CHOICES.items():
        tried = {c: left_out(reads, names, c) for c in (STRENGTHS if len(names) > 1 else (1.0,))}
        best = max(tried, key=lambda c: macro(reads, tried[c]))
        found[name] = (best, tried[best])
    return found


def figures(fitting: Sequence[Read], test: Sequence[Read]) -> dict[str, Any]:
    """Return of each choice: macro AUROC of the sets left out, and all figures on the test fold."""
    found: dict[str, Any] = {}
    chosen = chosen_strengths(fitting)
    for name, (strength, scores) in chosen.items():
        slope, intercept = fit(fitting, CHOICES[name], strength)
        on_test = inputs(test, CHOICES[name]) @ slope + intercept
        found[name] = {
            "strength": strength,
            "left_out": macro(fitting, scores),
            "left_out_gain": gain(fitting, scores, log_odds([r.small for r in fitting])),
            **_on_test(test, 1 / (1 + np.exp(-on_test))),
        }
    found["small model, as it is"] = _on_test(test, np.array([one.small for one in test]))
    return found


def _on_test(test: Sequence[Read], scores: Floats) -> dict[str, Any]:
    labels = supported(test)
    sets = np.array([one.dataset for one in test])
    halves = [bench.balanced_accuracy(labels[sets == name], scores[sets == name])
              for name in bench.GROUNDED]  # fmt: skip
    trained = np.array([one.source in SOURCES for one in test])
    return {
        "auroc": macro(test, scores),
        "gain": gain(test, scores, np.array([one.small for one in test])),
        "by_set": by_set(test, scores),
        "balanced_accuracy": float(np.nanmean(halves)),
        "ece": ece(labels[trained], scores[trained]),
    }


def cost(
    pairs: Sequence[Example], small: SmallFaithfulness, language_model: LanguageModel
) -> dict[str, float]:
    """Return CPU seconds a claim: what the small model takes, and what the reader adds.

    Args:
        pairs: claims and passages to time, 10 at a time; the middle of three times counts.
        small: must not know these pairs yet.
        language_model: the reader.
    """
    alone, added = [], []
    for start in (0, 10, 20):
        group = pairs[start : start + 10]
        texts, claims = [e.premise for e in group], [e.hypothesis for e in group]
        begin = time.process_time()
        small.score(texts, claims)
        middle = time.process_time()
        likelihoods(language_model, texts_to_read(small, texts, claims), claims)
        alone.append((middle - begin) / len(group))
        added.append((time.process_time() - middle) / len(group))
    return {"small": float(np.median(alone)), "reader_adds": float(np.median(added))}


def main(arguments: list[str] | None = None) -> int:
    """Read, fit and measure with the options of the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training.reader",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument("--out", type=Path, required=True, help="folder for numbers and results")
    parser.add_argument("--fitting", type=int, default=60, help="pairs of a set to fit on")
    parser.add_argument("--test", type=int, default=100, help="pairs of a set to measure on")
    options = parsed(parser, arguments)
    import torch

    torch.set_num_threads(1)
    small, language_model = SmallFaithfulness.bundled(dtype="float32"), load_bundled()
    pairs = drawn(options.data, {"fitting": options.fitting, "test": options.test})
    pairs["test"] = [e for e in pairs["test"] if bench.group(e.dataset) in bench.GROUNDED]
    fitting, test = (
        numbers(pairs[fold], small, language_model, options.out, report) for fold in pairs
    )
    found = figures(fitting, test)
    timed = [pair for pair in pairs["test"] if pair.dataset == "refchecker-nq"]
    fresh = SmallFaithfulness.bundled(dtype="float32")
    found["cpu_seconds_a_claim"] = cost(timed, fresh, language_model)
    found["fingerprints"] = [small.fingerprint, language_model.fingerprint]
    text = json.dumps(found, indent=1) + "\n"
    (options.out / "figures.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
