"""What readers said of claims whose texts cannot be published: labels by a claim's digest.

Two kinds of files:

- ``labels.jsonl`` of a run (:func:`labels`): truth and faithfulness of the model's own claims;
- ``clapnq_read.jsonl`` beside this file (:func:`beyond_the_passage`): of the claims of CLAP-NQ's
  answers, which say more than their passage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from franq_guard.datasets.jsonl import json_rows

__all__ = ["Label", "agreement", "beyond_the_passage", "by_text", "digest_of", "labels"]

CLAPNQ_READ: Final = Path(__file__).parent / "clapnq_read.jsonl"


@dataclass(frozen=True, slots=True)
class Label:
    """What each reader said of a claim: T true, F false, U undecided; S stated, C, N."""

    digest: str
    truth: tuple[str, ...]
    faith: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """Whether all decided, and alike, on its truth."""
        return len(set(self.truth)) == 1 and self.truth[0] != "U"


def labels(path: Path) -> dict[str, Label]:
    """Read the labels by claim id (the question's, then the claim's number)."""
    return {
        row["id"]: Label(row["digest"], tuple(row["truth"]), tuple(row["faith"]))
        for row in json_rows(path)
    }


def by_text(path: Path) -> dict[tuple[str, str], Label]:
    """The same labels by answer (its question's id and retrieval) and digest of the claim."""
    read = labels(path).items()
    return {(name.rpartition("/")[0], label.digest): label for name, label in read}


def agreement(read: Mapping[str, Label]) -> dict[str, float]:
    """Share of equal labels and Cohen's kappa of the two readers, for truth and faithfulness."""
    from sklearn.metrics import cohen_kappa_score

    found: dict[str, float] = {"claims": len(read)}
    for name in ("truth", "faith"):
        pairs = [getattr(label, name) for label in read.values()]
        first, second = zip(*pairs, strict=True)
        found[f"{name}_equal"] = float(np.mean([a == b for a, b in pairs]))
        found[f"{name}_kappa"] = float(cohen_kappa_score(first, second))
    return found


def digest_of(text: str) -> str:
    """Tells whether a claim is the one that was read."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def beyond_the_passage(path: Path = CLAPNQ_READ) -> dict[str, frozenset[str]]:
    """By question the digests of the claims that CLAP-NQ's passage does not state, as both say.

    CLAP-NQ's answers were written by people from one passage, but one claim in twenty says more
    than it: a guess given as a fact, something that the passage leaves out. Two readers who saw no
    score read each claim beside its passage: "stated"; "author" where the answer itself says more;
    "cut" where the answer is borne out and the claim, as the rules cut it, is not. Only "author"
    counts here, since a claim that was cut wrongly is the guard's own fault.
    """
    found: dict[str, set[str]] = {}
    for row in json_rows(path):
        if set(row["readers"]) == {"author"}:
            found.setdefault(row["id"], set()).add(row["digest"])
    return {question: frozenset(digests) for question, digests in found.items()}
