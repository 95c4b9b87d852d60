"""A 3-way NLI model in the format of transformers, such as DeBERTa fine-tuned on MNLI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.text import without_surrogates
from franq_guard.basics.threads import threads_for
from franq_guard.faithfulness.base import check_pairs
from franq_guard.franq import FloatArray

__all__ = ["SequenceNli", "label_order"]

_CLASSES = ("entail", "neutral", "contra")
_BATCH = 16


class SequenceNli:
    """P(entailment), P(neutral), P(contradiction) by a sequence-classification model.

    Which output is which class is read from the model's own label names. A pair that is too long
    loses the end of its longer text, nearly always the premise.

    Args:
        tokenizer: of transformers.
        model: of transformers, on the CPU or another device.
        fingerprint: identifies the weights.

    Raises:
        ValueError: if the model's labels are not entailment, neutral and contradiction.
    """

    def __init__(self, tokenizer: Any, model: Any, *, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._tokenizer, self._model = tokenizer, model.eval()
        self._order = label_order(model.config.id2label)
        limit = getattr(model.config, "max_position_embeddings", 512)
        self._window = min(512, limit - 2)  # RoBERTa's positions start at 2

    @classmethod
    def from_pretrained(cls, where: str) -> SequenceNli:
        """The model of a folder, or ``NAME@COMMIT`` of the hub: a name alone could change.

        Raises:
            ValueError: for a name without a commit, or a model that is none of NLI.
            OSError: if it cannot be read.
        """
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        name, _, revision = where.partition("@")
        folder = Path(where)
        if not folder.is_dir() and not revision:
            raise ValueError(f"{where} is no folder; of a model hub give NAME@COMMIT")
        pinned: dict[str, Any] = {} if folder.is_dir() else {"revision": revision}
        source = where if folder.is_dir() else name
        tokenizer = AutoTokenizer.from_pretrained(source, **pinned)
        model = AutoModelForSequenceClassification.from_pretrained(source, **pinned)
        found = _digest(folder) if folder.is_dir() else revision[:12]
        return cls(tokenizer, model, fingerprint=f"nli:{Path(name).name}:{found}")

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> FloatArray:
        """Probabilities (n, 3) of entailment, neutral, contradiction for each pair.

        Raises:
            TypeError: one text in place of a list.
            ValueError: for sequences of different length.
        """
        check_pairs(premises, hypotheses)
        sizes = [len(a) + len(b) for a, b in zip(premises, hypotheses, strict=True)]
        found = np.empty((len(premises), 3))
        order = np.argsort(sizes, kind="stable")  # pairs of like length: little padding
        for start in range(0, len(order), _BATCH):
            between_batches()
            chosen = order[start : start + _BATCH]
            found[chosen] = self._batch([premises[i] for i in chosen],
                                        [hypotheses[i] for i in chosen])  # fmt: skip
        return found

    def _batch(self, premises: list[str], hypotheses: list[str]) -> FloatArray:
        import torch

        read = self._tokenizer(
            [without_surrogates(text) for text in premises],
            [without_surrogates(text) for text in hypotheses],
            truncation="longest_first",
            max_length=self._window,
            padding=True,
            return_tensors="pt",
        ).to(self._model.device)
        with torch.inference_mode(), threads_for():
            logits = self._model(**read).logits[:, list(self._order)]
        return np.asarray(torch.softmax(logits.double(), dim=-1).cpu().numpy(), float)


def label_order(labels: Mapping[int, str]) -> tuple[int, int, int]:
    """The outputs of entailment, neutral and contradiction, by the model's own label names.

    Raises:
        ValueError: unless exactly one name means each.
    """
    found = [[int(i) for i, name in labels.items() if c in str(name).lower()] for c in _CLASSES]
    if len(labels) != 3 or any(len(places) != 1 for places in found):
        raise ValueError(
            "an NLI model needs the labels entailment, neutral and contradiction, not "
            f"{', '.join(map(str, labels.values()))}"
        )
    return found[0][0], found[1][0], found[2][0]


def _digest(folder: Path) -> str:
    whole = sha256()
    for file in sorted(folder.glob("*")):
        if file.suffix in (".safetensors", ".bin", ".json"):
            with file.open("rb") as content:
                whole.update(file_digest(content, "sha256").digest())
    return whole.hexdigest()[:12]
