"""Which calibrator, methods and models an answer gets, by who wrote it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Literal

from franq_guard.calibration.defaults import choose, shipped_for
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.language_model.prompts import prompt_fingerprint
from franq_guard.records import Form, Generation, Source
from franq_guard.signals.components import EVIDENCE, Components
from franq_guard.signals.lazy import Lazy
from franq_guard.signals.likelihoods import origin
from franq_guard.signals.request import Models

__all__ = ["Choice"]

_ANY: tuple[Source, str | None] = ("none", None)
_KEPT = 64
"""Choices that are remembered: rows may name any number of writers."""


@dataclass(kw_only=True, eq=False)
class Choice:
    """What one guard takes for an answer; safe for many threads.

    Args:
        faithfulness: the faithfulness model in use.
        language_model: None: only what comes with an answer.
        claims: the splitter in use.
        franq: the user's calibrator; it holds for every answer.
        components: the two methods where likelihoods are read.
        named: whether the user named them.
        form: ``long``, ``short`` or ``auto``.
        n_samples: samples drawn where a method compares them.
        strict: a calibrator of the user's that does not fit is an error.
        evidence: whether stretches of the passages are looked for.
    """

    faithfulness: Lazy[FaithfulnessModel]
    language_model: Lazy[LanguageModel] | None
    claims: ClaimSplitter
    franq: Calibrator | None
    components: Components
    named: bool
    form: Form | Literal["auto"]
    n_samples: int
    strict: bool
    evidence: bool = True
    _chosen: dict[tuple[Source, str | None], Calibrator] = field(init=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __getstate__(self) -> dict[str, object]:
        """For pickle and deepcopy: all but the lock, which is made again."""
        return {k: v for k, v in vars(self).items() if k != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def reads(self, answer: Generation) -> bool:
        """Whether the language model may be needed; loads nothing.

        It is where a calibrator or methods of the user's ask for it, and for an answer whose writer
        has a shipped calibrator: then it is looked whether that is the model in use.
        """
        if self.franq is not None:
            return not self.franq.evidence_only
        own = self.language_model is not None and shipped_for(answer.source, answer.writer)
        return self.named or own

    def calibrator(self, answer: Generation) -> Calibrator:
        """The calibrator for an answer, by its writer and the source of its log-probabilities.

        Raises:
            ValueError: with ``strict``, where the user's was fitted for something else.
        """
        reads = self.reads(answer)
        # Where the passages alone decide, it is all one who wrote.
        key = (answer.source, answer.writer) if reads else _ANY
        with self._lock:
            if key not in self._chosen:
                if len(self._chosen) >= _KEPT:
                    self._chosen.clear()
                self._chosen[key] = choose(
                    self.franq,
                    self.setting(reads=reads),
                    source=key[0],
                    writer=key[1],
                    named=self.named,
                    strict=self.strict,
                )
            return self._chosen[key]

    def methods(self, answer: Generation) -> Components:
        """The methods an answer is measured by: the guard's two, or what the passages say."""
        return EVIDENCE if self.calibrator(answer).evidence_only else self.components

    def models(self, answer: Generation) -> Models:
        """The models that are needed for an answer, loaded at the first use."""
        model = self.model() if self.reads(answer) else None
        faithfulness = self.faithfulness()
        return Models(model, faithfulness, n_samples=self.n_samples, evidence=self.evidence)

    def likelihoods(self, answer: Generation) -> str:
        """Whose log-probabilities decide on an answer; see :class:`.GuardedAnswer`."""
        if self.calibrator(answer).evidence_only:
            return "none"
        return origin(answer, self.model(), self.components.token_rule)

    def setting(self, *, reads: bool) -> dict[str, str]:
        """What determines the signals, where the language model reads or where it does not."""
        model = self.model() if reads else None
        return {
            "language_model": "none" if model is None else model.fingerprint,
            "faithfulness": self.faithfulness().fingerprint,
            "claims": self.claims.fingerprint,
            "methods": self.components.methods,
            "prompt": prompt_fingerprint(),
            "form": self.form,
        }

    def model(self) -> LanguageModel | None:
        """The language model, loaded at the first use."""
        return None if self.language_model is None else self.language_model()
