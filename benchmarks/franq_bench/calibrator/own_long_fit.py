"""Fits the calibrator for long answers that the bundled language model wrote itself.

Learned FRANQ (:mod:`franq_guard.calibration.mixture`): P(true) = P(faithful) * UQ_faith +
(1 - P(faithful)) * UQ_unfaith. Each uncertainty is a logistic function of the writer's largest
entropy at a token of the claim, which comes with the captured answer; that of what the passages do
not state also weighs how much they contradict it. Half of the questions fit it, the other half set
the threshold, with a promise about this model's true claims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from franq_bench.calibrator.own_short_fit import of_other_sets
from franq_bench.tables.scores import GOLD, Score
from franq_guard.calibration.curves import LEAST
from franq_guard.calibration.fit import fit_calibrator, flagged_always
from franq_guard.calibration.labels import Labelled, labelled, p_true_of
from franq_guard.calibration.store import Calibrator
from franq_guard.metrics import auroc, ece
from franq_guard.signals.components import OWN

__all__ = ["AT_MOST_FLAGGED", "SIGNAL", "SUPPORTED_FROM", "fit", "labelled_rows"]

SIGNAL: Final = OWN.uq_faith
SIGNALS: Final = frozenset({"faithfulness", SIGNAL, "contradiction", "entailment"})
AT_MOST_FLAGGED: Final = 0.25
"""Share of the true claims. So small a model does not allow 5 %: every fourth of its true claims
stands in no passage that it was shown."""
SUPPORTED_FROM: Final = 0.1
"""P(true) weighs P(faithful) already, with the writer's confidence. A higher bound on P(faithful)
alone would flag too many true claims for the promise, whatever the threshold."""


def fit(
    rows: Sequence[Score],
    any_writer: Calibrator,
    *,
    name: str,
    writer: str,
    sources: Sequence[str],
    labelled_by: str,
    test: Sequence[Score] = (),
    elsewhere: Sequence[Score] = (),
) -> Calibrator:
    """The calibrator for one writer.

    Args:
        rows: claims with :data:`SIGNALS` and their truth; ``group`` is the question.
        any_writer: its rule for evidence against a claim is kept.
        name: of the calibrator, as results show it.
        writer: fingerprint of the model that wrote the claims.
        sources: names and licences of the data.
        labelled_by: how the truth of the claims is known.
        test: further claims, of questions that nothing was fitted on, for figures.
        elsewhere: further claims, for a figure of how far the curves carry. Those of a data set
            that ``rows`` hold, too, by the first word of their ids, are left out, and those without
            a signal.

    Raises:
        PromiseRefusedError: too few true claims, or too many of them are flagged at any threshold.
        TooFewLabelsError: too few claims to fit on.
    """
    made = fit_calibrator(
        [_row(row) for row in rows],
        calibration="learned",
        name=name,
        fingerprint={
            **{key: any_writer.fingerprint[key] for key in ("faithfulness", "claims")},
            "language_model": "any",  # none reads: the signal comes with the answer
            "prompt": "any",
            "methods": OWN.methods,
            "writer": writer,
            "source": "captured",
            "sources": list(sources),
        },
        at_most_flagged=AT_MOST_FLAGGED,
        source=", ".join(source.partition(":")[0] for source in sources),
        rule=replace(any_writer.labels, supported_from=SUPPORTED_FROM, threshold=0.5),
    )
    others = [row for row in of_other_sets(elsewhere, rows) if row.scores.keys() >= SIGNALS]
    parts = {"test": test, "elsewhere": others}
    found = {key: _figures(part, made, any_writer) for key, part in parts.items() if part}
    return replace(made, figures={"labels": labelled_by, **made.figures, **found})


def labelled_rows(rows: Sequence[Score]) -> Labelled:
    """The claims as :func:`fit` takes them."""
    return labelled(map(_row, rows))


def _row(row: Score) -> dict[str, Any]:
    stated, confidence = row.scores.get(GOLD), row.scores.get(SIGNAL)
    # The guard has logarithms, the rows exp(-entropy).
    signal = None if confidence is None else math.log(max(confidence, LEAST))
    return {
        "p_faithful": row.scores["faithfulness"],
        "uq_faith": signal,
        "uq_unfaith": signal,
        "contradiction": row.scores.get("contradiction"),
        "entailment": row.scores.get("entailment"),
        "is_true": int(row.is_true),
        "stated": None if stated is None else int(stated) * int(row.is_true),
        "group": row.id if row.group is None else row.group,
    }


def _figures(rows: Sequence[Score], made: Calibrator, any_writer: Calibrator) -> Mapping[str, Any]:
    """AUROC, ECE and the shares flagged, beside those of the calibrator for any writer."""
    data = labelled_rows(rows)
    truth, nothing = data.is_true, np.zeros(len(rows))  # the other one weighs no likelihoods
    ours = p_true_of(data, made)
    theirs = any_writer.apply(data.signals[:, 0], nothing, nothing)[0]
    flagged = (ours < made.labels.threshold) | flagged_always(data, made.labels)
    return {
        "n": len(truth),
        "share_true": round(float(truth.mean()), 4),
        "auroc": round(auroc(truth, ours), 4),
        "auroc_of_any_writer": round(auroc(truth, theirs), 4),
        "ece": round(ece(truth, ours), 4),
        "ece_of_any_writer": round(ece(truth, theirs), 4),
        "true_flagged": _share(flagged[truth == 1]),
        "false_flagged": _share(flagged[truth == 0]),
    }


def _share(flagged: NDArray[np.bool_]) -> float | None:
    return round(float(np.mean(flagged)), 4) if len(flagged) else None
