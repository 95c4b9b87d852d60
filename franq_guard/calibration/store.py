"""A fitted calibrator as plain numbers: applied with numpy only and stored as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.basics.files import write_whole
from franq_guard.calibration.curves import Interpolation, Knots, Logistic, curve_from
from franq_guard.franq import FloatArray, franq
from franq_guard.label_rule import LabelRule
from franq_guard.records import Form

SCHEMA = "franq.calibrator/1"
Calibration = Literal["none", "global", "condition"]
"""The calibrations of arXiv 2505.21072."""
AnyCalibration = Literal["none", "global", "condition", "learned"]
"""Those of the paper, and logistic curves that are fitted together."""
FAITHFUL_RANGE = (0.02, 0.98)
"""``learned`` keeps P(faithful) this far from 0 and 1: no faithfulness model is that certain, and a
claim of weight 0 would not affect a branch."""
EVIDENCE_METHODS = "evidence + prior"
"""The ``methods`` of a calibrator that uses only the passages."""

__all__ = [
    "EVIDENCE_METHODS",
    "FAITHFUL_RANGE",
    "SCHEMA",
    "AnyCalibration",
    "Calibration",
    "Calibrator",
    "Interpolation",
    "Knots",
    "Logistic",
    "stances_of",
]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """Turns a claim's three raw signals into P(true), by FRANQ (arXiv 2505.21072, eq. 1).

    Args:
        calibration: "none" (scores are probabilities already), "global" or "condition" (the
            paper's), or "learned": logistic curves, fitted together
            (:class:`~franq_guard.calibration.mixture.FranqMixture`).
        form: "long" (claims of an answer) or "short" (the answer is one claim).
        log_space: the two UQ inputs are log-probabilities (nats), and so are the knots' x.
        interpolation: between two knots, "linear" or "step" (the value of the knot to the left).
        faith: curve of UQ_faith; None if and only if calibration is "none".
        unfaith: curve of UQ_unfaith; None if and only if calibration is "none".
        faithfulness: curve of P(faithful); None: used unchanged (only an ablation has a curve).
        hard_threshold: P(faithful) becomes 1 above it, 0 up to it (ablation T); None: soft.
        fingerprint: what it was fitted for: writer, source, language_model, faithfulness, claims,
            methods, prompt, form, samples, n_train, date, versions ... (JSON values). ``writer``,
            ``source`` and ``samples`` may be "any".
        figures: quality measures from when it was fitted (JSON values).
        labels: the rule that turns P(true) into a label.
        promise: what is promised about the labels, and on which data (JSON values); None: nothing.
        name: shown to users.

    Raises:
        ValueError: if the parts do not fit together.
    """

    calibration: AnyCalibration = "none"
    form: Form = "long"
    log_space: bool = True
    interpolation: Interpolation = "linear"
    faith: Knots | Logistic | None = None
    unfaith: Knots | Logistic | None = None
    faithfulness: Knots | None = None
    hard_threshold: float | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    name: str = "uncalibrated"
    labels: LabelRule = field(default_factory=LabelRule)
    promise: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for key, options in _CHOICES.items():
            if getattr(self, key) not in options:
                raise ValueError(f"{key} must be one of {options}, not {getattr(self, key)!r}")
        needs = self.calibration != "none"
        if (self.faith is not None) != needs or (self.unfaith is not None) != needs:
            raise ValueError(
                f"calibration {self.calibration!r} needs {'both' if needs else 'no'} UQ curves"
            )
        learned = self.calibration == "learned"
        if needs and {isinstance(c, Logistic) for c in (self.faith, self.unfaith)} != {learned}:
            kind = "two logistic curves" if learned else "two curves of knots"
            raise ValueError(f"calibration {self.calibration!r} needs {kind}")
        promised = (self.promise or {}).get("threshold", self.labels.threshold)
        if promised != self.labels.threshold:
            raise ValueError(
                f"the promise was made with the threshold {promised}, not {self.labels.threshold}: "
                "with another one nothing is promised (promise: null)"
            )

    @classmethod
    def uncalibrated(cls, *, form: Form = "long") -> Calibrator:
        """Use the scores unchanged: exp of the log-probabilities (long), confidences (short)."""
        return cls(form=form, log_space=form == "long")

    @classmethod
    def evidence(cls, *, form: Form = "long") -> Calibrator:
        """Use only the evidence, with fixed numbers: for a faithfulness model without a calibrator.

        A supported claim is true with probability .95, any other with .5, because nothing is known
        about it; the threshold corresponds to P(faithful) = .5.
        """
        return cls(
            calibration="condition",
            form=form,
            log_space=False,
            faith=Knots((0.0,), (0.95,)),
            unfaith=Knots((0.0,), (0.5,)),
            fingerprint={
                "writer": "any",
                "source": "any",
                "language_model": "none",
                "faithfulness": "any",
                "claims": "any",
                "methods": EVIDENCE_METHODS,
                "form": form,
            },
            name="uncalibrated evidence",
            labels=LabelRule(threshold=0.725, false_below=None, unsupported_true=False),
        )

    @property
    def evidence_only(self) -> bool:
        """Whether it uses only the passages; then no language model is needed."""
        return bool(self.fingerprint.get("methods") == EVIDENCE_METHODS)

    @property
    def writer(self) -> str | None:
        """Fingerprint of the one model whose answers it is for; None: of any."""
        found = self.fingerprint.get("writer", "any")
        return None if found == "any" else str(found)

    def apply(
        self,
        p_faithful: ArrayLike,
        uq_faith: ArrayLike,
        uq_unfaith: ArrayLike,
        nli: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P(true) and the two calibrated UQ values of each claim.

        Args:
            p_faithful: (n,), in [0, 1]; None or NaN where unknown.
            uq_faith: (n,), log-probabilities where ``log_space``; None or NaN where unknown,
                -inf allowed (it gets the value of the lowest knot, or 0 if uncalibrated).
            uq_unfaith: (n,), as for ``uq_faith``.
            nli: (n, 2), the highest P(contradiction) and P(entailment) of a passage, NaN where
                unknown; read by learned curves with terms for them, which need it.

        Returns:
            P(true), calibrated UQ_faith, calibrated UQ_unfaith, each (n,) in [0, 1]; NaN where an
            input with non-zero weight is NaN, and only there.

        Raises:
            ValueError: on shapes that differ, P(faithful) outside [0, 1], no ``nli`` for curves
                that weigh it, or, uncalibrated, probabilities outside [0, 1].
        """
        given = np.asarray(p_faithful, float)
        weight = self.weight(given)
        stances = None if nli is None else stances_of(given, np.asarray(nli, float))
        faith = self._curve(self.faith, np.asarray(uq_faith, float), stances)
        unfaith = self._curve(self.unfaith, np.asarray(uq_unfaith, float), stances)
        return franq(weight, faith, unfaith), faith, unfaith

    def weight(self, p_faithful: FloatArray) -> FloatArray:
        """P(faithful) (n,) as used in the formula: calibrated or thresholded, if so fitted.

        Raises:
            ValueError: for a value outside [0, 1].
        """
        if np.any((p_faithful < 0) | (p_faithful > 1)):
            raise ValueError("p_faithful must lie in [0, 1]")
        if self.faithfulness is not None:
            p_faithful = self.faithfulness(p_faithful, self.interpolation)
        if self.calibration == "learned":
            p_faithful = np.clip(p_faithful, *FAITHFUL_RANGE)
        if self.hard_threshold is None:
            return p_faithful
        hard = (p_faithful > self.hard_threshold).astype(float)
        return np.where(np.isnan(p_faithful), np.nan, hard)

    def _curve(
        self, curve: Knots | Logistic | None, scores: FloatArray, nli: FloatArray | None
    ) -> FloatArray:
        if isinstance(curve, Logistic):
            return curve(scores, nli)
        if curve is not None:
            return curve(scores, self.interpolation)
        if self.log_space:
            # Rounding may make a sum of log-softmax values slightly greater than 0.
            return np.exp(np.minimum(scores, 0.0))
        return scores

    def check(
        self,
        *,
        language_model: str | None = None,
        faithfulness: str | None = None,
        claims: str | None = None,
        methods: str | None = None,
        prompt: str | None = None,
        form: str | None = None,
        writer: str | None = None,
        source: str | None = None,
        samples: str | None = None,
    ) -> list[str]:
        """The differences between this set-up and the one the calibrator was fitted for.

        Args:
            language_model: fingerprint in use; None: not compared (the same for all others).
            faithfulness: fingerprint of the faithfulness model in use.
            claims: fingerprint of the claim splitter in use.
            methods: names of UQ_faith and UQ_unfaith in use.
            prompt: fingerprint of the prompt in use.
            form: "long" or "short".
            writer: fingerprint of the model that wrote the answer; compared where the calibrator
                names one.
            source: where the log-probabilities come from; compared where the calibrator names one.
            samples: number and temperature of the samples, if a method compares samples; compared
                where the calibrator names them.

        Returns:
            One sentence per mismatch; empty if there is none. Uncalibrated scores were not fitted
            to anything, so only their form can differ. A calibrator that uses only the passages
            accepts any language model, methods and prompt.
        """
        found = {
            "language_model": language_model,
            "faithfulness": faithfulness,
            "claims": claims,
            "methods": methods,
            "prompt": prompt,
            "writer": writer,
            "source": source,
            "samples": samples,
        }
        optional = ("writer", "source", "samples")
        ignored = {key for key in optional if key not in self.fingerprint}
        ignored |= {key for key, value in self.fingerprint.items() if value == "any"}
        if self.calibration == "none":
            ignored = set(found)
        elif self.evidence_only:
            ignored |= {"language_model", "methods", "prompt", "samples"}
        problems = [
            f"{key.replace('_', ' ')}: fitted for {self.fingerprint.get(key, 'an unnamed one')!r}, "
            f"used with {value!r}"
            for key, value in found.items()
            if key not in ignored and value is not None and self.fingerprint.get(key) != value
        ]
        if form is not None and form != self.form:
            problems.append(f"form: fitted for {self.form!r}, used with {form!r}")
        return problems

    def to_json(self) -> str:
        """The calibrator as JSON text (schema ``franq.calibrator/1``); floats round-trip exactly.

        Raises:
            ValueError: if the fingerprint or the figures contain NaN or infinity.
        """
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Calibrator:
        """The calibrator that :meth:`to_json` wrote.

        Raises:
            ValueError: if the text is not a calibrator or is damaged; says what is wrong.
        """
        try:
            data = json.loads(text, parse_constant=_reject_constant, parse_float=_finite)
            return _from_dict(data)
        except _DAMAGED as error:
            raise ValueError(f"not a usable {SCHEMA} calibrator: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write :meth:`to_json` to ``path`` (UTF-8); a file that was there is replaced at once.

        Raises:
            OSError: if it cannot be written.
        """
        write_whole(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Calibrator:
        """Read a calibrator file.

        Raises:
            OSError: if the file cannot be read.
            ValueError: if it is damaged; names the file, fit it again with ``franq calibrate``.
        """
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}; fit it again with `franq calibrate`") from error


def stances_of(p_faithful: FloatArray, nli: FloatArray) -> FloatArray:
    """P(contradiction) and P(entailment) (n, 2); both 0 where nothing was retrieved.

    There P(faithful) is 0 by definition, and no passage could be read.
    """
    nothing = (p_faithful == 0)[:, None] & np.isnan(nli)
    return np.where(nothing, 0.0, nli)


_CHOICES: dict[str, tuple[str, ...]] = {
    "calibration": get_args(AnyCalibration),
    "form": get_args(Form),
    "interpolation": get_args(Interpolation),
}
_CURVES = ("faith", "unfaith", "faithfulness")
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""What a file raises that is no calibrator; the last two: numbers or brackets without end."""


def _from_dict(data: object) -> Calibrator:
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"the schema is not {SCHEMA}")
    fields: dict[str, Any] = {key: value for key, value in data.items() if key != "schema"}
    missing = {"calibration", "form", "log_space", "interpolation", *_CURVES} - set(fields)
    if missing:
        raise ValueError(f"missing {sorted(missing)}")
    for key in _CURVES:
        fields[key] = curve_from(key, fields[key])
    _check_types(fields)
    fields["labels"] = _labels(fields.get("labels", {}))
    return Calibrator(**fields)


def _check_types(fields: dict[str, Any]) -> None:
    if not isinstance(fields["log_space"], bool):
        raise ValueError("log_space must be true or false")
    if not isinstance(fields.get("name", ""), str):
        raise ValueError("name must be text")
    for key in ("fingerprint", "figures"):
        if not isinstance(fields.setdefault(key, {}), dict):
            raise ValueError(f"{key} must be an object")
    _check_promise(fields.get("promise"))
    hard = fields.get("hard_threshold")
    if not (hard is None or _is_number(hard)):
        raise ValueError("hard_threshold must be a number or null")
    fields["hard_threshold"] = None if hard is None else float(hard)


def _check_promise(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise ValueError("promise must be an object or null")
    for key in ("at_most_flagged", "confidence"):
        share = value.get(key)
        if share is not None and not (_is_number(share) and 0 < share < 1):
            raise ValueError(f"promise: {key} must lie between 0 and 1, not {share!r}")


def _labels(value: object) -> LabelRule:
    """The stored rule; older files have none, so they get the default rule."""
    if not isinstance(value, dict):
        raise ValueError("labels must be an object")
    for key, number in value.items():
        flag = key == "unsupported_true"
        missing = key in ("false_below", "disagreement") and number is None
        if isinstance(number, bool) is not flag or not (
            missing or isinstance(number, (int, float))
        ):
            raise ValueError(f"labels: {key} has a wrong value {number!r}")
    return LabelRule(**value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _reject_constant(value: str) -> float:
    raise ValueError(f"{value} is not a number that a calibrator may contain")


def _finite(value: str) -> float:
    number = float(value)
    return number if math.isfinite(number) else _reject_constant(value)
