"""Options that several commands share, and the guard built from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from franq_guard.basics.threads import SETTING, setting
from franq_guard.cli.answers import promises_of
from franq_guard.cli.configuration import Configuration
from franq_guard.cli.console import fail, needing, reason, say, working
from franq_guard.policy import MAY_BE_WEAK, WEAK, Action, Policy

if TYPE_CHECKING:
    from franq_guard.calibration.store import Calibrator
    from franq_guard.guard import Guard
    from franq_guard.language_model.asking import Asked
    from franq_guard.language_model.base import LanguageModel
    from franq_guard.rows.fields import Fields

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines instead of tables.")]
PolicyOption = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="POLICY",
        help="What happens to flagged claims: annotate marks them, filter removes them, block "
        "holds the whole answer back.",
    ),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        help="Smallest P(true) of a claim that passes, from 0 to 1. Default: the calibrator's. "
        "With the shipped one for any writer a higher number flags more claims, but a lower one "
        "does not flag fewer: for that `franq check` has --weak.",
    ),
]
FalseBelowOption = Annotated[
    float | None,
    typer.Option(
        "--false-below",
        help="A claim with P(true) below this is labelled false even if no passage contradicts it. "
        "Default: the calibrator's.",
    ),
]
WeakOption = Annotated[
    str | None,
    typer.Option(
        "--weak",
        metavar="LABELS",
        help=f"Labels that are flagged, such as false,doubtful ('' flags nothing). Default: "
        f"{','.join(WEAK)}. Without unsupported, claims that no passage states or contradicts pass "
        "unmarked; with unclear, those that the passages do not clearly state are flagged, too.",
    ),
]
BatchSizeOption = Annotated[int, typer.Option(min=1, help="Answers scored together.")]
CalibratorOption = Annotated[
    Path | None,
    typer.Option(metavar="MINE.json", help="Made by franq calibrate. Default: a shipped one."),
]
EvidenceOption = Annotated[
    bool, typer.Option(help="Look for the words in the passages that bear on each claim.")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--language-model",
        metavar="MODEL",
        help="Gives log-probabilities of the answer, if your --calibrator or a method that you "
        "name needs them: bundled (default), a .gguf file for llama.cpp, the folder of a "
        "transformers model, or URL#NAME of a completions server with prompt log-probabilities, "
        "such as http://localhost:8000/v1#my-model (its key in FRANQ_API_KEY).",
    ),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="NAME=FIELD",
        help="Read question, passages, answer or id from another field of the rows, such as "
        "question=user.text,answer=reply. May be repeated.",
    ),
]

_NEXT = re.compile(r",\s*(?=\w+=)")
"""Between two pairs of ``--map``; a field's name may have a comma."""


def _use(threads: int | None) -> int | None:
    """Set the number of threads for the whole process; runs before torch is loaded."""
    if threads is not None:
        os.environ[SETTING] = str(threads)
    return threads


ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        callback=_use,
        help="Threads that a model uses. Default: one for small batches, else the cores that "
        f"this process may use. The variable {SETTING} sets the same.",
    ),
]


def guard_from(
    policy: str = "annotate",
    threshold: float | None = None,
    calibrator: Calibrator | None = None,
    language_model: str | Callable[[], LanguageModel] | None = None,
    *,
    false_below: float | None = None,
    weak: str | None = None,
    evidence: bool = True,
    chosen: Configuration | None = None,
) -> Guard:
    """Build a guard from these options: offline, unless other models are named.

    If ``language_model`` is a function, it is called when an answer first needs the model.
    An invalid setting ends the program with an error message. What ``chosen`` names applies where
    no option of the same name is given.
    """
    chosen = chosen or Configuration()
    if calibrator is None and chosen.calibrator is not None:
        calibrator = calibrator_in(Path(chosen.calibrator))
    language_model = language_model or chosen.language_model
    with needing("pip install 'franq-guard[offline]'"):
        try:
            setting()  # a wrong FRANQ_THREADS would make every row fail
            settings = _policy(policy, threshold, false_below, weak)
            guard = _guard(settings, calibrator, language_model, chosen, evidence=evidence)
        except (ValueError, OSError, RuntimeError) as error:
            fail(str(error))
    for promise in promises_of(guard):
        from franq_guard.report.figures import promise_line

        say(promise_line(promise))
    return guard


def calibrator_in(file: Path) -> Calibrator:
    """The calibrator of a file; one that cannot be read ends the program."""
    from franq_guard.calibration.store import Calibrator

    try:
        return Calibrator.load(file)
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}")
    except ValueError as error:
        fail(str(error))


def _policy(
    action: str, threshold: float | None, false_below: float | None, weak: str | None
) -> Policy:
    """The policy; thresholds that are None are taken from the calibrator."""
    if action not in get_args(Action):  # the policy's own message offers a function, too
        raise ValueError(f"--policy must be annotate, filter or block, not {action!r}")
    for option, number in (("--threshold", threshold), ("--false-below", false_below)):
        if number is not None and not 0 <= number <= 1:
            raise ValueError(f"{option} must lie between 0 and 1, not {number:g}")
    if threshold is not None and false_below is not None and false_below > threshold:
        raise ValueError(
            f"--false-below ({false_below:g}) must not be above --threshold ({threshold:g})"
        )
    labels: Any = WEAK
    if weak is not None:  # "" flags nothing
        labels = [label.strip() for label in weak.split(",") if label.strip()]
        if not set(labels) <= set(MAY_BE_WEAK):  # the policy's message shows a tuple of Python
            known = ", ".join(MAY_BE_WEAK)
            raise ValueError(f"--weak must name labels out of {known}, not {weak!r}")
    chosen: Any = action
    return Policy(action=chosen, threshold=threshold, false_below=false_below, weak=labels)


def _guard(
    settings: Policy,
    fitted: Calibrator | None,
    language_model: str | Callable[[], LanguageModel] | None,
    chosen: Configuration,
    *,
    evidence: bool,
) -> Guard:
    from franq_guard.guard import Guard

    others: dict[str, Any] = {} if evidence else {"evidence": False}
    if isinstance(language_model, str):
        others["language_model"] = loaded_language_model(language_model)
    elif language_model is not None:
        others["language_model"] = language_model
    if chosen.ordinary:
        return Guard.offline(policy=settings, franq=fitted, **others)
    return _chosen_guard(settings, fitted, chosen, others)


def _chosen_guard(
    settings: Policy, fitted: Calibrator | None, chosen: Configuration, others: dict[str, Any]
) -> Guard:
    """A guard with the chosen models and methods; by default the bundled language model."""
    from franq_guard.guard import Guard
    from franq_guard.language_model.asking import asked
    from franq_guard.signals.offline import bundled_language_model

    if "language_model" not in others:
        others["language_model"] = bundled_language_model()
    model = others["language_model"]

    def own() -> Asked:
        if not hasattr(model, "score"):  # a function that loads it: load it once, for both uses
            others["language_model"] = model()
        return asked(others["language_model"], max_new_tokens=600)

    claims = chosen.splitter(own)
    options = chosen.options(fitted)
    return Guard(policy=settings, claims=claims, **options, **others)


def fields_from(mapped: Sequence[str] | None) -> Fields:
    """The field names of the rows, from ``--map``; an invalid mapping ends the program."""
    from franq_guard.rows.fields import Fields

    items = [item for given in mapped or () for item in _NEXT.split(given)]
    pairs = [item.partition("=") for item in items]
    for item, (ours, _, theirs) in zip(items, pairs, strict=True):
        if not ours or not theirs:
            fail(f"--map must be NAME=FIELD, such as question=user_input, not {item!r}")
    try:
        return Fields({ours: theirs for ours, _, theirs in pairs})
    except ValueError as error:
        fail(f"--map: {error}")


@contextmanager
def loading_models() -> Iterator[None]:
    """In the block the models are loaded, so that a failure does not show up amid a run.

    A model that cannot be loaded would make every row fail, so the program ends here instead.
    """
    try:
        with working("loading the models"):
            yield
    except typer.Exit:
        raise
    except ValueError as error:  # says itself what to do: a calibrator that does not fit, a path
        fail(str(error))
    except Exception as error:  # a model may raise anything
        fail(f"the models cannot be loaded: {_of_loading(error)}")


def _of_loading(error: Exception) -> str:
    """What went wrong, and of which file, where the operating system says it."""
    if not isinstance(error, OSError) or error.filename is None:
        return f"{type(error).__name__}: {error}"
    folder = os.environ.get("FRANQ_CACHE_DIR")  # for unpacked models
    own = bool(folder) and str(error.filename).startswith(str(folder))
    return reason(error) + (" (the folder is FRANQ_CACHE_DIR's)" if own else "")


def load_models(guard: Guard, *, writes: bool = False) -> None:
    """Load the models that an answer of an unknown writer needs, or end the program.

    With ``writes`` the guard's own model writes the answers: none is of an unknown writer, for whom
    the user's calibrator may be the wrong one.
    """
    with loading_models():
        # Reading the calibrator loads them: choosing one needs their fingerprints.
        getattr(guard, "faithfulness" if writes else "calibrator", None)


def refuse_unwritable(*files: Path | None, inputs: Sequence[Path | None] = ()) -> None:
    """End the program if an output file cannot be written, is an input, or is named twice."""
    outputs = [file for file in files if file is not None]
    for i, file in enumerate(outputs):
        if not file.parent.is_dir():
            fail(f"cannot write {file}: there is no folder {file.parent}")
        if file.is_dir():
            fail(f"cannot write {file}: it is a folder")
        if not os.access(file if file.exists() else file.parent, os.W_OK):
            fail(f"cannot write {file}: permission denied")
        if any(other is not None and _same(file, other) for other in inputs):
            fail(f"{file} is read by this command: name another file to write to")
        if any(_same(file, other) for other in outputs[:i]):
            fail(f"{file} is named for two outputs: give each a file of its own")


def refuse_to_replace(out: Path) -> None:
    """End the program if a calibrator would take the place of anything but a calibrator."""
    if not out.is_file() or not out.stat().st_size:
        return
    from franq_guard.calibration.store import Calibrator

    try:
        Calibrator.load(out)
    except (OSError, ValueError):
        fail(f"{out} is there already and is no calibrator: name another file, or delete it")


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, or would if it existed."""
    there = one.exists() and other.exists()
    return one.samefile(other) if there else one.resolve() == other.resolve()


def loaded_language_model(where: str) -> LanguageModel:
    """The model that ``--language-model`` names; a server's key is read from FRANQ_API_KEY."""
    from franq_guard.language_model.loading import language_model_from

    with working(f"loading {where}"):
        return language_model_from(where, api_key=os.environ.get("FRANQ_API_KEY"))
