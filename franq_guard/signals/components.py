"""Which methods serve as UQ_faith and UQ_unfaith: any of the paper's, by name."""

from __future__ import annotations

from dataclasses import dataclass

from franq_guard.calibration.store import Calibrator
from franq_guard.records import Form, Generation
from franq_guard.signals.likelihoods import has_logprobs
from franq_guard.signals.request import OF_DEFAULT_METHODS, OF_NAMED_METHODS, TokenRule
from franq_guard.signals.samples import SAMPLED
from franq_guard.signals.similarity import EMBEDDED
from franq_guard.uncertainty.method import Level
from franq_guard.uncertainty.methods import find

OF_FAITHFULNESS = frozenset({"p_faithful", "answer_p_faithful", "entailed"})
"""Statistics that need neither a language model nor log-probabilities."""


@dataclass(frozen=True, slots=True)
class Components:
    """The names of the two methods, as listed by ``franq methods``."""

    uq_faith: str
    uq_unfaith: str

    @property
    def token_rule(self) -> TokenRule:
        """Which tokens state a claim."""
        of_ours = self in DEFAULTS.values() or {*self.names} <= {*WITH_THE_ANSWER.names}
        return OF_DEFAULT_METHODS if of_ours else OF_NAMED_METHODS

    @property
    def methods(self) -> str:
        """Both names in one text, as recorded in a calibrator's fingerprint."""
        return f"{self.uq_faith} + {self.uq_unfaith}"

    @property
    def names(self) -> tuple[str, ...]:
        """Both names without repetition."""
        return tuple(dict.fromkeys((self.uq_faith, self.uq_unfaith)))

    @property
    def come_with_the_answer(self) -> bool:
        """Whether a captured answer brings all they need, so that no model reads it again."""
        return self._needs <= {"logprobs", "entropies"} | OF_FAITHFULNESS

    @property
    def compare_samples(self) -> bool:
        """Whether one of them is computed from samples."""
        return bool(self._needs & SAMPLED)

    @property
    def embed_texts(self) -> bool:
        """Whether one of them is computed from embeddings."""
        return bool(self._needs & EMBEDDED)

    def brought_by(self, answer: Generation, *, any_tokens: bool = True) -> bool:
        """Whether this answer brings all they need.

        ``any_tokens``: also if its tokens have no ids, as those of a server. A language model that
        is in use reads such an answer again for its own entropies, and for log-probabilities unless
        the :class:`~.request.TokenRule` takes those that were sent.
        """
        brought = {"logprobs"} if has_logprobs(answer) else set()
        if brought and all(token.entropy is not None for token in answer.tokens):
            brought.add("entropies")
        if not any_tokens and any(token.id < 0 for token in answer.tokens):
            brought &= {"logprobs"} if self.token_rule.as_sent else set()
        return self._needs <= brought | OF_FAITHFULNESS

    @property
    def _needs(self) -> set[str]:
        return {find(name).need for name in self.names}


DEFAULTS: dict[Form, Components] = {
    "long": Components("max-probability", "parametric-knowledge"),
    "short": Components("semantic-entropy", "eigenvalues-entail"),
}
"""The paper's choice for each form (arXiv 2505.21072, section 3). Our Semantic Entropy counts equal
samples once; the paper ran its library's form ``semantic-entropy:lm-polygraph``, which does not."""

WITH_THE_ANSWER = Components("max-probability", "max-token-entropy")
"""The two signals of a captured answer that :data:`OWN` was chosen from."""

OWN = Components("max-token-entropy", "max-token-entropy")
"""What the calibrator shipped for the bundled model's own long answers uses: learned FRANQ, of the
largest token entropy of the claim, which comes with a captured answer (docs/captured.md says why
this one)."""

EVIDENCE = Components("evidence", "prior")
"""Used in place of two methods when the passages alone decide, without a language model.

UQ_faith is Max NLI, the highest e / (e + c) of a passage, with e = P(entailment) and c =
P(contradiction). UQ_unfaith is the calibrator's prior: without the writer's own probabilities there
is no sign whether a claim is true that the passages do not state.
"""


def components_of(calibrator: Calibrator) -> Components | None:
    """The methods that a calibrator was fitted for; None if it names none."""
    if calibrator.evidence_only:
        return EVIDENCE
    named = str(calibrator.fingerprint.get("methods", "")).split(" + ")
    return Components(*named) if len(named) == 2 else None


def components(
    form: Form, uq_faith: str | None, uq_unfaith: str | None, fitted: Calibrator | None = None
) -> Components:
    """The two methods of a form; None stands for what ``fitted`` was fitted for.

    Without ``fitted``, or where it names no methods or only the passages, None stands for the
    form's default.

    Raises:
        ValueError: for an unknown name, or a method that cannot be computed at the form's level.
    """
    own = None if fitted is None or fitted.evidence_only else components_of(fitted)
    default = own or DEFAULTS[form]
    chosen = Components(uq_faith or default.uq_faith, uq_unfaith or default.uq_unfaith)
    try:
        _check_level(chosen, form)
    except ValueError as error:
        if fitted is None or own is None:
            raise
        raise ValueError(f"with calibrator {fitted.name}: {error}") from None
    return chosen


def _check_level(chosen: Components, form: Form) -> None:
    for name in chosen.names:
        if level_of(form) not in find(name).levels:
            raise ValueError(f"{name!r} does not apply to {form}-form answers; see `franq methods`")


def level_of(form: Form) -> Level:
    """The level of a form: long answers have a value for each claim, short ones a single value."""
    return "claim" if form == "long" else "sequence"


def check_form(form: str, n_samples: int, *, chosen: bool) -> None:
    """Reject an unknown form, or settings that the form does not allow (``ValueError``).

    ``chosen``: whether methods or a calibrator were given.
    """
    if form not in ("long", "short", "auto"):
        raise ValueError(f"form must be 'long', 'short' or 'auto', not {form!r}")
    if form == "auto" and chosen:
        raise ValueError("form 'auto' takes the default methods and calibrators of both forms")
    if form != "long" and n_samples < 2:
        raise ValueError("the short form compares samples: n_samples must be at least 2")
