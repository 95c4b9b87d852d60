"""Chooses the calibrator, methods and models for an answer, by the model that wrote it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from franq_guard.calibration import defaults
from franq_guard.calibration.store import Calibrator
from franq_guard.claims import ClaimSplitter
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.language_model.base import LanguageModel
from franq_guard.language_model.prompts import prompt_fingerprint
from franq_guard.records import Form, Generation, Source
from franq_guard.signals.components import Components, components_of
from franq_guard.signals.lazy import Lazy
from franq_guard.signals.likelihoods import origin
from franq_guard.signals.offline import sentence_embeddings
from franq_guard.signals.request import TEMPERATURE, Models
from franq_guard.signals.similarity import Embed

__all__ = ["Choice"]

_ANY: tuple[Source, str | None] = ("none", None)
_KEPT = 64
"""How many choices are cached; limited because the rows of a file may name many writers."""


@dataclass(kw_only=True, eq=False)
class Choice:
    """The calibrator, methods and models that one guard uses for an answer; thread-safe.

    Args:
        faithfulness: the faithfulness model in use.
        language_model: None: only log-probabilities that come with an answer are used.
        claims: the splitter in use.
        franq: the user's calibrator, used for every answer; None: one of :attr:`known` is chosen.
        components: the two uncertainty methods: those by name, else those that ``franq`` was fitted
            for; a known calibrator brings its own.
        named: whether the user chose the methods by name.
        form: ``long``, ``short`` or ``auto``.
        n_samples: how many samples are drawn for a method that compares samples.
        temperature: of these samples.
        strict: whether a user's calibrator that was fitted for something else is an error.
        evidence: whether to look for stretches of the passages as evidence.
        exact: whether an answer's own claims are measured and nothing else of it: to fit on them.
        embed: the embeddings that SAR reads; None: the bundled ones, if one of ``components`` does.

    Raises:
        MissingModelError: if one does and they are not installed; names the command to run.
        TypeError: if ``strict`` or ``evidence`` is no bool.
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
    temperature: float = TEMPERATURE
    exact: bool = False
    embed: Lazy[Embed] | None = None
    _chosen: dict[tuple[Source, str | None, bool], Calibrator] = field(
        init=False, default_factory=dict
    )
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for name in ("strict", "evidence"):
            if not isinstance(getattr(self, name), bool):  # "no" would count as yes
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.embed is None and self.components.embed_texts:
            self.embed = Lazy(sentence_embeddings())

    def __getstate__(self) -> dict[str, object]:
        """For pickle and deepcopy: everything but the lock, which a copy creates anew."""
        return {k: v for k, v in vars(self).items() if k != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    @cached_property
    def known(self) -> tuple[Calibrator, ...]:
        """The shipped calibrators, and those stored with the weights of the faithfulness model.

        Of the latter, those that need a language model to read an answer again are left out. Loads
        the faithfulness model.
        """
        own = defaults.beside(self.faithfulness())
        return (*defaults.shipped(), *(c for c in own if not _reads_again(c)))

    def reads(self, answer: Generation) -> bool:
        """Whether the language model may be needed for an answer; loads nothing.

        It is needed if the user's calibrator or methods use more than what came with the answer. It
        may be needed if a calibrator that does so is shipped for the answer's writer: whether that
        writer is the model in use is known only once it is loaded.
        """
        if self.franq is not None and self.franq.evidence_only:
            return False
        if self.franq is not None or self.named:
            model = self.language_model is not None
            return not self.components.brought_by(answer, any_tokens=not model)
        if self.language_model is None:
            return False
        return any(
            map(_reads_again, defaults.for_writer(defaults.shipped(), answer.source, answer.writer))
        )

    def calibrator(self, answer: Generation) -> Calibrator:
        """The calibrator for an answer, by its writer and the source of its log-probabilities.

        Raises:
            ValueError: with ``strict``, if the user's calibrator was fitted for something else.
        """
        reads = self.reads(answer)
        source, writer = (answer.source, answer.writer) if reads or self._own(answer) else _ANY
        key = source, writer, reads
        with self._lock:
            if key not in self._chosen:
                if len(self._chosen) >= _KEPT:
                    self._chosen.clear()
                setting = self.setting(reads=reads)
                if self.franq is None and not self.named:
                    for own in ("methods", "samples"):  # a known calibrator brings its own
                        setting.pop(own, None)
                elif not reads:  # then the model and its prompt cannot differ
                    for unread in ("language_model", "prompt"):
                        setting.pop(unread)
                self._chosen[key] = defaults.choose(
                    self.franq,
                    setting,
                    self.known,
                    source=source,
                    writer=writer,
                    named=self.named,
                    strict=self.strict,
                )
            return self._chosen[key]

    def _own(self, answer: Generation) -> bool:
        """Whether a calibrator for the answer's writer can be used without running a model."""
        if self.franq is not None:
            return self.franq.writer is not None or not self.franq.evidence_only
        if self.named:
            return True
        form = "short" if self.form == "short" else "long"
        own = defaults.for_writer(self.known, answer.source, answer.writer)
        return any(c.form == form and _has_enough_for(answer, c) for c in own)

    def methods(self, answer: Generation) -> Components:
        """The methods for an answer: those the user chose, else those of its calibrator."""
        calibrator = self.calibrator(answer)
        if calibrator.evidence_only or (self.franq is None and not self.named):
            return components_of(calibrator) or self.components
        return self.components

    def models(self, answer: Generation) -> Models:
        """The models that are needed for an answer, loaded on first use."""
        model = self.model() if self.reads(answer) else None
        faithfulness = self.faithfulness()
        return Models(
            model,
            faithfulness,
            None if self.embed is None else self.embed(),
            n_samples=self.n_samples,
            temperature=self.temperature,
            evidence=self.evidence,
        )

    def likelihoods(self, answer: Generation) -> str:
        """Whose log-probabilities decide on an answer; see :class:`.GuardedAnswer`."""
        if self.calibrator(answer).evidence_only:
            return "none"
        model = self.model() if self.reads(answer) else None
        return origin(answer, model, self.methods(answer).token_rule)

    def setting(self, *, reads: bool) -> dict[str, str]:
        """What determines the signals; ``reads`` says whether the language model is used.

        ``samples``, only if a method compares samples, says how the guard draws them. Samples that
        come with an answer are used however they were drawn.
        """
        model = self.model() if reads else None
        samples = f"{self.n_samples} at temperature {float(self.temperature)}"
        return {
            "language_model": "none" if model is None else model.fingerprint,
            "faithfulness": self.faithfulness().fingerprint,
            "claims": self.claims.fingerprint,
            "methods": self.components.methods,
            "prompt": prompt_fingerprint(),
            "form": self.form,
            **({"samples": samples} if self.components.compare_samples else {}),
        }

    def model(self) -> LanguageModel | None:
        """The language model, loaded on first use."""
        return None if self.language_model is None else self.language_model()


def _reads_again(calibrator: Calibrator) -> bool:
    methods = components_of(calibrator)
    return not calibrator.evidence_only and not (methods and methods.come_with_the_answer)


def _has_enough_for(answer: Generation, calibrator: Calibrator) -> bool:
    """Whether an answer comes with all that a calibrator needs, so that no model has to run."""
    methods = components_of(calibrator)
    return calibrator.evidence_only or (methods is not None and methods.brought_by(answer))
