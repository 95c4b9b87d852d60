"""The calibrators that come with a faithfulness model, and the choice of one for an answer.

Those for the small model are shipped with the package. A model with a folder of its own may have
some there.

How often a model's claims are true depends on the model, so a calibrator for its own answers goes
before the one for any writer. One that uses likelihoods is valid for one source of
log-probabilities and one pair of models, too: the likelihood that one model gives to another
model's text says nothing about whether the text is true. Those for any writer use the passages
alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from franq_guard.basics.failures import OwnMessage
from franq_guard.calibration.store import SCHEMA, Calibrator
from franq_guard.faithfulness.base import FaithfulnessModel, folder_of
from franq_guard.records import Form, Source

_log = logging.getLogger(__name__)


class MismatchError(ValueError, OwnMessage):
    """A calibrator that was given does not fit what is used; the message says where."""


_REMEDY = (
    "Fit one for this set-up with `franq calibrate` and the same settings, or use the models and "
    "methods that it was fitted for"
)
_OF_SAMPLES = (
    ". --samples and --temperature set the samples (n_samples= and temperature= of a Guard)"
)

_PASSAGES_ALONE = "methods: fitted for the passages alone, so these are not measured: "
_WITHOUT_METHODS = (
    ". For the passages alone leave out the methods (--uq-faith, --uq-unfaith; uq_faith= and "
    "uq_unfaith= of a Guard)"
)

_IN_WORDS = {
    "faithfulness": "the faithfulness model",
    "claims": "the claim splitter",
    "writer": "the model that wrote the answer",
    "source": "the source of the log-probabilities",
    "language model": "the language model that reads answers",
    "methods": "the uncertainty methods",
    "samples": "the samples",
    "prompt": "the prompt",
    "form": "the form of the answer",
}
"""What a mismatch is about, by the word that it begins with; see :meth:`.Calibrator.check`."""

_LARGEST = 1_000_000
"""Bytes of a calibrator's file; real ones have a few thousand."""

__all__ = ["beside", "choose", "for_writer", "in_folder", "shipped"]


@cache
def shipped() -> tuple[Calibrator, ...]:
    """Every calibrator in ``franq_guard/calibration/shipped``."""
    folder = files("franq_guard.calibration") / "shipped"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".json")), key=lambda f: f.name)
    return tuple(Calibrator.from_json(f.read_text(encoding="utf-8")) for f in found)


def beside(model: FaithfulnessModel) -> list[Calibrator]:
    """Those that lie in the folder of the model's weights and were fitted with this model."""
    folder = folder_of(model)
    found = [] if folder is None else in_folder(folder)
    return [c for c in found if not c.check(faithfulness=model.fingerprint)]


def in_folder(folder: Path) -> list[Calibrator]:
    """Every calibrator in a folder, by name; one that cannot be read is told, and left out."""
    found = []
    for file in sorted(folder.glob("*.json")):
        try:
            small = file.stat().st_size < _LARGEST  # else some data that lies there, too
            if small and SCHEMA in (text := file.read_text(encoding="utf-8")):
                found.append(Calibrator.from_json(text))
        except (OSError, ValueError) as error:
            _log.warning("%s is not used: %s", file, error)
    return found


def for_writer(known: Iterable[Calibrator], source: Source, writer: str | None) -> list[Calibrator]:
    """Those for this writing model alone, of either form, and this source of log-probabilities."""
    if writer is None:
        return []
    return [c for c in known if c.writer == writer and not c.check(source=source)]


def choose(
    given: Calibrator | None,
    setting: Mapping[str, str],
    known: Sequence[Calibrator],
    *,
    source: Source = "none",
    writer: str | None = None,
    named: bool = False,
    strict: bool = False,
) -> Calibrator:
    """The calibrator for an answer: the given one, a known one that fits, or none.

    Args:
        given: the user's calibrator; if it was fitted for something else, or uses the passages
            alone though methods were named, a warning is logged.
        setting: ``language_model``, ``faithfulness``, ``claims``, ``methods``, ``prompt``, ``form``
            and ``samples`` in use.
        known: the shipped ones, and those beside the faithfulness model's weights.
        source: where the answer's log-probabilities come from.
        writer: fingerprint of the model that wrote it, if known.
        named: whether the user chose the methods; if so they are used even without a calibrator.
        strict: raise an error, instead of warning, if the given calibrator does not match.

    Raises:
        MismatchError: with ``strict``, instead of that warning.
    """
    used = {**setting, "source": source, "writer": writer or "unknown"}
    if given is not None:
        mismatches = given.check(**used)
        if named and given.evidence_only:  # it accepts any methods that are not asked for by name
            mismatches.append(f"{_PASSAGES_ALONE}{used['methods']!r}")
        return _given(given, mismatches, strict=strict)
    for calibrator in sorted(known, key=_generality):
        if not (named and calibrator.evidence_only) and not calibrator.check(**used):
            return calibrator
    _log.warning(
        "no calibrator fits %s: P(true) is uncalibrated. Fit one on labelled answers with "
        "`franq calibrate` and the same settings, and give it with --calibrator FILE (in Python: "
        "franq=)",
        _unfit(used, known, named=named),
    )
    form: Form = "short" if setting["form"] == "short" else "long"
    return Calibrator.uncalibrated(form=form) if named else Calibrator.evidence(form=form)


def _unfit(used: Mapping[str, str], known: Iterable[Calibrator], *, named: bool) -> str:
    """In words, what the nearest known calibrator was not fitted for."""
    own_form = [c for c in known if c.form == used["form"]]
    near = [c.check(**used) for c in own_form if not (named and c.evidence_only)]
    if not near:
        return f"{_IN_WORDS['methods']} in the {used['form']} form" if named else _IN_WORDS["form"]
    told = [_IN_WORDS[mismatch.partition(":")[0]] for mismatch in min(near, key=len)]
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))


def _generality(calibrator: Calibrator) -> tuple[bool, bool]:
    """For sorting: one writer's before any writer's, those that use likelihoods first."""
    return calibrator.writer is None, calibrator.evidence_only


def _given(given: Calibrator, mismatches: list[str], *, strict: bool) -> Calibrator:
    if mismatches and strict:
        told = "; ".join(mismatches)
        raise MismatchError(f"calibrator {given.name}: {told}. {_remedy(told)}")
    for mismatch in mismatches:
        _log.warning("calibrator %s: %s. %s", given.name, mismatch, _remedy(mismatch))
    return given


def _remedy(told: str) -> str:
    """What to do about these mismatches, as one text."""
    more = _WITHOUT_METHODS if _PASSAGES_ALONE in told else ""
    return _REMEDY + more + (_OF_SAMPLES if "samples: " in told else "")
