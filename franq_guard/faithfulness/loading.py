"""Loads a faithfulness model by one argument, as given to ``--faithfulness`` and ``--nli``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from franq_guard.faithfulness.alignscore.files import WEIGHTS_FILE
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.larger import ADAPTER, folder_named
from franq_guard.faithfulness.sequence_nli import SequenceNli
from franq_guard.franq import FloatArray

__all__ = ["WithNli", "faithfulness_from", "loader_of"]

_PUBLISHED: Final[Mapping[str, Literal["base", "large"]]] = {
    "alignscore-base": "base",
    "alignscore-large": "large",
}
_SMALL = "small.safetensors"


def faithfulness_from(where: str, *, nli: str | None = None) -> FaithfulnessModel:
    """The model at ``where``; with ``nli`` another one answers its NLI questions.

    Args:
        where: ``small``; ``larger``, the distribution `franq-larger`; a folder of a small model
            that was trained anew (``small.safetensors``, ``small.json``) or of a larger one
            (``adapter.safetensors``, ``blend.json``);
            ``alignscore-base`` or ``alignscore-large``, downloaded if necessary; a folder that
            ``franq convert-alignscore`` wrote; or ``FILE.ckpt#BACKBONE``, an original checkpoint
            and the folder of its backbone's config and tokenizer.
        nli: a folder or ``NAME@COMMIT`` of a sequence-classification model of transformers; None:
            the faithfulness model itself.

    Raises:
        ValueError: for anything else; says what is possible.
        OSError: if a file cannot be read.
        MissingModelError: if a bundled model is not installed.
    """
    model = loader_of(where)()
    return model if nli is None else WithNli(model, SequenceNli.from_pretrained(nli))


class WithNli:
    """A faithfulness model with another model's NLI: AlignScore and a DeBERTa side by side.

    Everything but :meth:`nli` and ``fingerprint`` is the faithfulness model's.
    """

    def __init__(self, model: FaithfulnessModel, nli: SequenceNli) -> None:
        self._model, self._nli = model, nli

    def __getattr__(self, name: str) -> Any:
        """What the faithfulness model has beyond the protocol, such as ``score_passages``.

        Not its ``nli_passages``: who finds that would never ask the other model.
        """
        own = ("_model", "_nli")  # looked for here while it is being copied
        if name.startswith("__") or name in (*own, "nli_passages"):
            raise AttributeError(name)
        return getattr(self._model, name)

    @property
    def fingerprint(self) -> str:
        """Both models' fingerprints."""
        return f"{self._model.fingerprint} with {self._nli.fingerprint}"

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """P(faithful) of each pair, by the faithfulness model."""
        return self._model.score(contexts, claims)

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> FloatArray:
        """Probabilities (n, 3) of entailment, neutral, contradiction, by the NLI model."""
        return self._nli.nli(premises, hypotheses)

    def evidence(self, passages: Sequence[Any], claims: Sequence[str]) -> list[Any]:
        """For each claim the part of a passage that supports it best, by the faithfulness model."""
        return self._model.evidence(passages, claims)


def loader_of(where: str) -> Callable[[], FaithfulnessModel]:
    """What loads the model at ``where``, as for :func:`faithfulness_from`; loads nothing itself.

    Raises:
        ValueError: nothing is there; says what is possible.
        MissingModelError: the distribution `franq-larger` is not installed.
    """
    if where == "small":
        return _small
    folder = folder_named(where)
    if (folder / _SMALL).is_file():
        return partial(_small, folder)
    if (folder / ADAPTER).is_file():
        return partial(_larger, folder)
    file, _, backbone = where.partition("#")
    if where in _PUBLISHED or Path(file).is_file() or (Path(file) / WEIGHTS_FILE).is_file():
        return partial(_alignscore, file, backbone or None)
    raise ValueError(
        f"no faithfulness model {where!r}: give small, larger, a folder with {_SMALL} or "
        f"{ADAPTER}, alignscore-base, alignscore-large, a folder from "
        "`franq convert-alignscore`, or FILE.ckpt#BACKBONE"
    )


def _small(weights: Path | None = None) -> FaithfulnessModel:
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    return SmallFaithfulness.bundled(weights=weights)


def _larger(folder: Path) -> FaithfulnessModel:
    from franq_guard.faithfulness.larger.model import LargerFaithfulness

    return LargerFaithfulness.load(folder)


def _alignscore(where: str, backbone: str | None) -> FaithfulnessModel:
    from franq_guard.faithfulness.alignscore.model import AlignScore

    if where in _PUBLISHED:
        return AlignScore.from_pretrained(_PUBLISHED[where])
    return AlignScore.from_checkpoint(where, backbone=backbone)
