"""Options that several commands share, and the guard that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.console import fail, needing, say, working
from franq_guard.policy import WEAK, Policy

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.faithfulness.base import FaithfulnessModel
    from franq_guard.guard import Guard
    from franq_guard.language_model.base import LanguageModel

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines instead of tables.")]
PolicyOption = Annotated[
    str, typer.Option("--policy", help="annotate, filter or block weak claims.")
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="A claim with P(true) below this does not pass; default: the calibrator's.",
    ),
]
FalseBelowOption = Annotated[
    float | None,
    typer.Option(
        "--false-below",
        help="A claim with P(true) below this is false even where no passage contradicts it; "
        "default: the calibrator's.",
    ),
]
WeakOption = Annotated[
    str | None,
    typer.Option(
        "--weak",
        metavar="LABELS",
        help=f"What is flagged, with commas between; default: {','.join(WEAK)}. Without "
        "unsupported, claims that no passage states or contradicts pass unmarked.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--language-model",
        metavar="bundled|FILE.gguf|FOLDER|URL[#NAME]",
        help="What reads answers where a calibrator of yours asks for it: the bundled model "
        "(default), a GGUF file through llama.cpp, a transformers folder, or a completions server "
        "with prompt log-probabilities "
        "(such as http://localhost:8000/v1; its key in FRANQ_API_KEY).",
    ),
]


def guard_from(
    policy: str = "annotate",
    threshold: float | None = None,
    calibrator: Path | None = None,
    language_model: str | None = None,
    *,
    false_below: float | None = None,
    weak: str | None = None,
) -> Guard:
    """The guard that these options describe: offline, unless another language model is named.

    A setting that cannot work ends the program with the reason.
    """
    with needing("pip install 'franq-guard[offline]'"):
        try:
            fitted = _fitted(calibrator, own_threshold=threshold is not None)
            settings = _policy(policy, threshold, false_below, weak)
            return _guard(settings, fitted, language_model)
        except (ValueError, OSError, RuntimeError) as error:
            fail(str(error))


def _fitted(calibrator: Path | None, *, own_threshold: bool) -> Calibrator | None:
    """The calibrator; what it promises is said unless another threshold is in its place."""
    from franq_guard.calibration.store import Calibrator

    fitted = Calibrator.load(calibrator) if calibrator else None
    if fitted and fitted.promise is not None and not own_threshold:
        from franq_guard.report.figures import promise_line

        say(promise_line(fitted.promise))
    return fitted


def _policy(
    action: str, threshold: float | None, false_below: float | None, weak: str | None
) -> Policy:
    """What is not given is the calibrator's own rule."""
    labels: Any = [label.strip() for label in weak.split(",") if label.strip()] if weak else WEAK
    chosen: Any = action
    return Policy(action=chosen, threshold=threshold, false_below=false_below, weak=labels)


def _guard(settings: Policy, fitted: Calibrator | None, language_model: str | None) -> Guard:
    from franq_guard.guard import Guard

    if language_model is None:
        return Guard.offline(policy=settings, franq=fitted)
    return Guard(
        language_model=_language_model(language_model),
        faithfulness=_small_faithfulness(),
        policy=settings,
        franq=fitted,
    )


def _language_model(where: str) -> LanguageModel:
    from franq_guard.language_model.loading import language_model_from

    with working(f"loading {where}"):
        return language_model_from(where, api_key=os.environ.get("FRANQ_API_KEY"))


def _small_faithfulness() -> Callable[[], FaithfulnessModel]:
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    return SmallFaithfulness.bundled
