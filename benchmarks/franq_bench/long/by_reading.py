"""What captured probabilities add to evidence alone, on claims that were labelled by reading.

`python -m franq_bench.long.by_reading benchmarks/results/own-long`

The folder holds `labels.jsonl`, what each reader said of a claim, and `scores.jsonl`, the signals
of the claims on whose truth they agree (:mod:`franq_bench.calibrator.own_long` makes both). What is
fitted is fitted on the rows of the part "train": for these, over questions left out in turn; once
more on all of them for those of the part "test". No model is loaded. The report is printed and
written as REPORT.md beside the scores, or to the folder of `--out`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from franq_bench.calibrator.measured import settings_section
from franq_bench.calibrator.own_short_fit import Shares, shares
from franq_bench.calibrator.reread import with_readings
from franq_bench.data.read_claims import Label, agreement, labels
from franq_bench.fits.fallback import fallback_note
from franq_bench.fits.fitted import matrix
from franq_bench.fits.logistic import AdditiveLogistic
from franq_bench.fits.long_form import SIGNALS as PAPER
from franq_bench.long.by_label import by_label
from franq_bench.tables.beside import MODEL
from franq_bench.tables.paper import SOURCE, further
from franq_bench.tables.resampling import bootstrap
from franq_bench.tables.scores import BY_ALIAS, GOLD, Score, Scores, Split
from franq_guard.calibration.classifier import FranqClassifier
from franq_guard.calibration.curves import LEAST, log_odds
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.mixture import FranqMixture, Sign
from franq_guard.calibration.store import Calibration
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import auroc, ece
from franq_guard.signals.components import OWN, WITH_THE_ANSWER

OF_PASSAGES: Final = ("contradiction", "entailment")
SIGNALS: Final = (*WITH_THE_ANSWER.names, *OF_PASSAGES)
"""Signals of learned FRANQ and of the additive model that it is compared with."""
ALONE: Final = (
    "faithfulness",
    "max-nli",
    "perplexity",
    "mean-token-entropy",
    "max-token-entropy",
    "max-probability",
    "parametric-knowledge",
    "pmi",
)
_PROBABILITY: Final = ("max-probability",)
_ENTROPY: Final = ("max-token-entropy",)
_BOTH: Final = (*_PROBABILITY, *_ENTROPY)
AS_SHIPPED: Final = ((OWN.uq_faith,), (OWN.uq_faith, *OF_PASSAGES))
_WITHOUT: Final = (*SIGNALS, "lowest-logprob-without", "mean-logprob-without")
LADDER: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "claim probability": (_PROBABILITY, _PROBABILITY),
    "claim probability; UQ_unfaith also contradiction, entailment": (
        _PROBABILITY, (*_PROBABILITY, *OF_PASSAGES),
    ),
    "largest token entropy": (_ENTROPY, _ENTROPY),
    "largest token entropy; UQ_unfaith also contradiction, entailment (as shipped)": AS_SHIPPED,
    "both": (_BOTH, _BOTH),
    "both; UQ_unfaith also contradiction, entailment": (_BOTH, (*_BOTH, *OF_PASSAGES)),
    "all four in UQ_faith and in UQ_unfaith": (SIGNALS, SIGNALS),
    "the same with lowest and mean probability without the passages": (_WITHOUT, _WITHOUT),
}  # fmt: skip
"""Signals of UQ_faith and of UQ_unfaith, each pair compared on data sets left out of the fit."""
_KAPPA: Final = "Cohen's kappa"
_FOLDS: Final = 5
_RESAMPLES: Final = 1000
_SEED: Final = 0
_CAUGHT: Final = 0.7
_PARTS: Final[Mapping[Split, str]] = {
    "train": "Fitting fold, questions left out of the fit in turn",
    "test": "Test fold",
}
_RETRIEVALS: Final = {
    "gold": "the gold passage among them",
    "half": "half of the gold passage",
    "absent": "not the gold passage",
}
_EVIDENCE: Final = "evidence alone"
_SHIPPED: Final = "FRANQ, learned: as shipped"
_LEARNED: Final = "FRANQ, learned: four signals"
_ADDED: Final = "additive logistic"
_BY_RETRIEVAL: Final = (_EVIDENCE, _SHIPPED, _ADDED, OWN.uq_faith)
_Fit = Callable[[FloatArray, FloatArray, NDArray[Any]], Any]
"""Takes the signals, P(faithful) first, the truth and the questions; what it returns predicts."""


def compared(rows: Sequence[Score]) -> list[tuple[str, FloatArray, bool]]:
    """P(true), or a signal, of each claim by several methods; whether it is a probability.

    The fitted ones have not seen the claim's question; those of the part "test" are in no fit.
    """
    faithful = matrix(rows, ["faithfulness"])[:, 0]
    nothing = np.zeros_like(faithful)  # it weighs no likelihoods
    any_writer = next(c for c in shipped() if c.writer is None and c.form == "long")
    evidence, _, _ = any_writer.apply(faithful, nothing, nothing)
    shown = np.column_stack([faithful, _unbounded(rows, (OWN.uq_faith, *OF_PASSAGES))])
    four = np.column_stack([faithful, _unbounded(rows, SIGNALS)])
    paper = _filled(matrix(rows, PAPER))
    fits: dict[str, tuple[_Fit, FloatArray]] = {
        _EVIDENCE: (_two_numbers, faithful[:, None]),
        _SHIPPED: (_learned(*AS_SHIPPED), shown),
        _LEARNED: (_learned(SIGNALS, SIGNALS), four),
        _ADDED: (_added, four),
        "FRANQ, condition-calibrated": (_isotonic("condition"), paper),
        "FRANQ, global-calibrated": (_isotonic("global"), paper),
    }
    found = [("evidence alone, any writer's", evidence, True)]
    found += [(name, _crossed(fit, x, rows), True) for name, (fit, x) in fits.items()]
    return found + [(n, _filled(matrix(rows, [n]))[:, 0], n == "faithfulness") for n in ALONE]


class _TwoNumbers(NamedTuple):
    """UQ_faith and UQ_unfaith each one number: the most likely ones."""

    found: Shares

    def predict_proba(self, x: FloatArray) -> FloatArray:
        p = self.found.p_true(x[:, 0])
        return np.column_stack([1 - p, p])


def _two_numbers(x: FloatArray, truth: FloatArray, _: NDArray[Any]) -> _TwoNumbers:
    return _TwoNumbers(shares(truth, x[:, 0]))


def _learned(faith: Sequence[str], unfaith: Sequence[str]) -> _Fit:
    """Learned FRANQ, as the shipped calibrator is fitted: no question is in two folds.

    It takes P(faithful), then every signal once: those of ``faith`` first.
    """
    names = list(dict.fromkeys((*faith, *unfaith)))
    signs = cast("tuple[Sign, ...]", tuple(-1 if n == "contradiction" else 1 for n in names))
    columns = [tuple(map(names.index, of)) for of in (faith, unfaith)]
    mixture = FranqMixture(faith=columns[0], unfaith=columns[1], signs=signs)
    return lambda x, truth, groups: clone(mixture).fit(x, truth, groups=groups)


def _unbounded(rows: Sequence[Score], names: Sequence[str]) -> FloatArray:
    """Signals (n, k) as they are fitted: log-odds of what the passages do, logarithms otherwise."""
    table = _filled(matrix(rows, names))
    for place, name in enumerate(names):
        if name in OF_PASSAGES:
            table[:, place] = log_odds(table[:, place])
        elif name in _ENTROPY:  # stored as exp(-entropy)
            table[:, place] = np.log(np.maximum(table[:, place], LEAST))
    return table


def _added(x: FloatArray, truth: FloatArray, _: NDArray[Any]) -> Any:
    # As they are: learned FRANQ gets the same columns, so that the formula alone differs.
    return AdditiveLogistic(log_space=True).fit(x, truth)


def _isotonic(calibration: Calibration) -> _Fit:
    return lambda x, truth, _: FranqClassifier(calibration, log_space=True).fit(x, truth)


def _crossed(fit: _Fit, x: FloatArray, rows: Sequence[Score]) -> FloatArray:
    """P(true) (n,) of each claim by the fit that has not seen its question."""
    values = np.full(len(x), np.nan)
    for part in _PARTS:
        for seen, out in _folds(rows, part):
            values[out] = _fitted(fit, x, rows, seen).predict_proba(x[out])[:, 1]
    return values


def _fitted(fit: _Fit, x: FloatArray, rows: Sequence[Score], seen: NDArray[np.intp]) -> Any:
    truth = np.array([row.is_true for row in rows], float)
    groups = np.array([row.group for row in rows])
    return fit(x[seen], truth[seen], groups[seen])


def _folds(rows: Sequence[Score], part: Split) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """What each fit for this part sees, and the claims of the part that it is for."""
    from sklearn.model_selection import GroupKFold

    train, test = (np.flatnonzero([r.split == s for r in rows]) for s in ("train", "test"))
    if part == "test":
        return [(train, test)] if len(test) else []
    questions = [row.group for row in rows if row.split == "train"]
    folds = GroupKFold(_FOLDS).split(train, groups=questions)
    return [(train[seen], train[out]) for seen, out in folds]


def _filled(values: FloatArray) -> FloatArray:
    """NaN (nothing to measure) as the column's median."""
    return np.where(np.isnan(values), np.nanmedian(values, axis=0), values)


def table(rows: Sequence[Score], part: Split) -> str:
    """The comparison on a part as Markdown; errors and intervals: of a bootstrap over questions."""
    inside = np.array([row.split == part for row in rows])
    truth = np.array([row.is_true for row in rows], float)[inside]
    groups = [str(row.group) for row in rows if row.split == part]
    found = [(name, values[inside], is_p) for name, values, is_p in compared(rows)]
    of = {name: values for name, values, _ in found}
    drawn = bootstrap(truth, of, groups=groups, resamples=_RESAMPLES, seed=_SEED)["auroc"]
    lines = [
        "| method | ROC-AUC | more than evidence alone (90 %) | ECE | true ones flagged where "
        "70 % of the false are |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, values, is_p in found:
        low, high = np.nanquantile(drawn[name] - drawn[_EVIDENCE], (0.05, 0.95))
        more = "" if name == _EVIDENCE else f"{low:+.3f} to {high:+.3f}"
        calibrated = f"{ece(truth, values):.2f}" if is_p else "-"
        cut = np.quantile(values[truth == 0], _CAUGHT)
        lines.append(
            f"| {name} | {auroc(truth, values):.3f} ±{np.nanstd(drawn[name]):.3f} | {more} | "
            f"{calibrated} | {float(np.mean(values[truth == 1] <= cut)):.0%} |"
        )
    low, high = np.nanquantile(drawn[_LEARNED] - drawn[_ADDED], (0.05, 0.95))
    lines += [
        "",
        f"What the formula adds, in ROC-AUC: {_LEARNED} minus {_ADDED}, of the same signals: "
        f"{auroc(truth, of[_LEARNED]) - auroc(truth, of[_ADDED]):+.3f} (90 %: {low:+.3f} to "
        f"{high:+.3f}). {_fallback(rows, part)}",
    ]
    return "\n".join(lines) + "\n"


def _fallback(rows: Sequence[Score], part: Split) -> str:
    """Which of the fits by condition took the curve of all claims."""
    paper = _filled(matrix(rows, PAPER))
    fits = [_fitted(_isotonic("condition"), paper, rows, seen) for seen, _ in _folds(rows, part)]
    return fallback_note({"": {f"fit {at}": fit.fallback_ for at, fit in enumerate(fits, 1)}})


def by_retrieval(rows: Sequence[Score]) -> str:
    """ROC-AUC by what the model was shown, over all rows, as Markdown (NaN: of one class only)."""
    truth = np.array([row.is_true for row in rows], float)
    kinds = np.array([row.id.partition("~")[2].partition("/")[0] for row in rows])
    values = {name: found for name, found, _ in compared(rows) if name in _BY_RETRIEVAL}
    lines = [f"| passages | claims | true | {' | '.join(values)} |",
             f"| --- | ---: | ---: {'| ---: ' * len(values)}|"]  # fmt: skip
    for kind, title in _RETRIEVALS.items():
        mine = kinds == kind
        if mine.any():
            ranks = [f"{auroc(truth[mine], found[mine]):.2f}" for found in values.values()]
            cells = [title, str(mine.sum()), f"{truth[mine].mean():.0%}", *ranks]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def by_set_left_out(rows: Sequence[Score]) -> str:
    """ROC-AUC on the claims of each data set by fits on the others, part "train", as Markdown."""
    mine = [row for row in rows if row.split == "train"]
    truth = np.array([row.is_true for row in mine], float)
    sets = np.array([row.dataset for row in mine])
    names = sorted(set(sets.tolist()))
    faithful = matrix(mine, ["faithfulness"])
    lines = [f"| signals | {' | '.join(names)} | mean |", f"| --- {'| ---: ' * (len(names) + 1)}|"]
    for title, (faith, unfaith) in {"none: evidence alone": ((), ()), **LADDER}.items():
        signals = tuple(dict.fromkeys((*faith, *unfaith)))
        x = np.column_stack([faithful, _unbounded(mine, signals)]) if signals else faithful
        fit = _learned(faith, unfaith) if signals else _two_numbers
        found = []
        for name in names:
            out = np.flatnonzero(sets == name)
            model = _fitted(fit, x, mine, np.flatnonzero(sets != name))
            found.append(auroc(truth[out], model.predict_proba(x[out])[:, 1]))
        cells = [f"{value:.3f}" for value in (*found, float(np.mean(found)))]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def report(read: Mapping[str, Label], rows: Sequence[Score], *, called: bool = True) -> str:
    """The tables of both parts, by retrieval and by data set, and what was read.

    With ``called`` also what the shipped calibrator calls supported: it holds for the small model.
    """
    parts = "".join(
        f"\n## {title}\n\n{_what(rows, part)}\n\n{table(rows, part)}"
        for part, title in _PARTS.items()
    )
    kinds = f"\n## By what was retrieved, both folds\n\n{by_retrieval(rows)}"
    sets = (
        "\n## Which signals: fitting fold, each data set left out of the fit\n\n"
        f"{by_set_left_out(rows)}"
    )
    test = [row for row in rows if row.split == "test"]
    last = f"\n## What the labels are worth, test fold\n\n{by_label(test)}" if called else ""
    return f"# Own answers, labelled by reading\n\n{_who_read(read)}\n{parts}{kinds}{sets}{last}"


def _settings(measured: Mapping[str, Path]) -> str:
    """The end of the report: how the claims were measured, and how it was made of them."""
    settings = {
        "folds of the fitting fold's questions": _FOLDS,
        "resamples of the bootstrap": _RESAMPLES,
        "seed of the bootstrap": _SEED,
    }
    return settings_section(settings, measured)


def _who_read(read: Mapping[str, Label]) -> str:
    twice = {name: label for name, label in read.items() if len(label.truth) == 2}
    found = agreement(twice)
    settled = [label for label in read.values() if label.settled and len(set(label.faith)) == 1]
    unsaid = {truth: _unsaid(settled, truth) for truth in ("T", "F")}
    neither = [label for label in settled if label.faith[0] == "N"]
    lucky = sum(label.truth[0] == "T" for label in neither)
    return (
        f"Claims of the bundled model (SmolLM2-135M). One reader labelled {len(read)}, a second "
        f"one {len(twice)} of them: equal on truth in {found['truth_equal']:.1%} (kappa "
        f"{found['truth_kappa']:.2f}), on faithfulness in {found['faith_equal']:.1%} (kappa "
        f"{found['faith_kappa']:.2f}); {_papers_agreement()}. Of {len(neither)} claims that no "
        f"passage states or contradicts {lucky} are true. So whoever goes by the passages alone, "
        f"and reads them without an error, flags {unsaid['T']:.0%} of the true claims and "
        f"{unsaid['F']:.1%} of the false ones."
    )


def _papers_agreement() -> str:
    """The paper's figures of the same kind."""
    found = further("agreement", "long")
    claims = found["Factuality"]["claims"]
    told = (
        f"{label.lower()} {cells['accuracy']:.0%} (kappa {cells[_KAPPA]:.2f})"
        for label, cells in found.items()
    )
    return f"in the paper ({SOURCE}; {claims:.0f} claims of {MODEL}) {', '.join(told)}"


def _unsaid(read: Sequence[Label], truth: str) -> float:
    """The share of the claims of this truth that the passages do not state."""
    return float(np.mean([label.faith[0] != "S" for label in read if label.truth[0] == truth]))


def _what(rows: Sequence[Score], part: Split) -> str:
    mine = [row for row in rows if row.split == part]
    true = float(np.mean([row.is_true for row in mine]))
    questions = len({row.group for row in mine})
    said = f"{len(mine)} claims of answers to {questions} questions, {true:.0%} of them true."
    read = [row for row in mine if GOLD in row.scores]
    if read:
        stated, faithful = matrix(read, [GOLD, "faithfulness"]).T
        truth = np.array([row.is_true for row in read])
        said += (
            " Whether the passages state them P(faithful) tells with ROC-AUC "
            f"{auroc(stated, faithful):.2f}. Who knew that without an error, and nothing else, "
            f"would tell true from false with {auroc(truth, stated):.2f} and flag "
            f"{np.mean(1 - stated[truth]):.0%} of the true ones."
        )
    aliased = [(row.scores[BY_ALIAS], row.is_true) for row in mine if BY_ALIAS in row.scores]
    if not aliased:
        return said
    wrong = float(np.mean([label != truth for label, truth in aliased]))
    return f"{said} The gold aliases label {len(aliased)} of them, {wrong:.0%} of these wrongly."


def main(arguments: list[str] | None = None) -> int:
    """Compare, and write REPORT.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with labels.jsonl and scores.jsonl")
    parser.add_argument(
        "--out", type=Path, help="folder whose REPORT.md is replaced; default: that of the scores"
    )
    parser.add_argument(
        "--read", type=Path, help="folder of what another faithfulness model says of the claims "
        "(franq_bench.calibrator.reread); its REPORT.md is written instead",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    folder, out = given.folder, given.out or given.read or given.folder
    for name in ("labels.jsonl", "scores.jsonl"):
        if not (folder / name).exists():
            parser.error(f"{folder} has no {name}: franq_bench.calibrator.own_long makes it")
    rows = Scores.read(folder).rows
    measured = {"claims": folder}
    if given.read is not None:
        measured = {"stored rows": folder, "what was read in their place": given.read}
        try:
            rows = tuple(with_readings(rows, given.read))
        except FileNotFoundError as error:
            parser.error(str(error))
    if {row.split for row in rows} != {*_PARTS}:
        parser.error(f"{given.read or folder}: claims of both folds, fitting and test, are needed")
    text = report(labels(folder / "labels.jsonl"), rows, called=given.read is None)
    text += f"\n{_settings(measured)}"
    out.mkdir(parents=True, exist_ok=True)
    (out / "REPORT.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
