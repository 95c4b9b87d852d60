"""Log-probabilities of an answer: under its prompt, without the evidence, without a prompt.

One answer may have two sets of tokens. Log-probabilities that came with it are used as they are
(those sent by a server only if the :class:`~.request.TokenRule` allows it). What only the model in
use can compute (entropies, alternatives, the answer without a prompt) needs tokens of that model:
those that came with the answer if they have its ids, else the model's own tokenisation. Each
function takes a batch and calls the model once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from franq_guard.claims import token_indices
from franq_guard.franq import FloatArray
from franq_guard.language_model.base import Contrast, LanguageModel, is_foreign
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.records import Generation, Trace
from franq_guard.signals.request import Request, TokenRule
from franq_guard.uncertainty.statistics import needed

__all__ = [
    "OF_TOKENS",
    "Answer",
    "Fields",
    "contrast_of",
    "has_logprobs",
    "logprobs_of",
    "origin",
    "pieces_of",
    "prompt_of",
    "read",
    "text_prompt",
    "token_fields",
    "tokens_of_claims",
    "unconditional",
    "without_evidence",
]

GIVEN_DO = frozenset({"logprobs", "parametric"})
"""Statistics for which log-probabilities that came with the answer are sufficient."""
OWN_ONLY = frozenset({"entropies", "unconditional", "alternatives", "relevance"})
"""Statistics that need tokens of the model in use."""
OF_TOKENS = GIVEN_DO | OWN_ONLY

_UNNAMED = "an unnamed model"

Fields = dict[str, Any]
TokensOfClaims = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Answer:
    """An answer as it was written under its prompt.

    Args:
        request: what is asked of it.
        plain: its tokens with log-probabilities, from whichever source.
        own: its tokens with log-probabilities in the tokenisation of the model in use.
            Both are None if no chosen method needs them.
    """

    request: Request
    plain: Generation | None
    own: Generation | None

    @cached_property
    def own_claims(self) -> TokensOfClaims:
        """Token indices of each claim in ``own``."""
        return tokens_of_claims(self.request, needed(self.own, "the model's own tokens"))


def has_logprobs(generation: Generation) -> bool:
    """Whether every token with text has a log-probability."""
    tokens = generation.tokens
    return bool(tokens) and all(math.isfinite(t.logprob) for t in tokens if t.end > t.start)


def origin(generation: Generation, model: LanguageModel | None, rule: TokenRule) -> str:
    """Whose log-probabilities of the answer are used, in words: see :class:`.GuardedAnswer`.

    Args:
        generation: the answer as it was given to the guard.
        model: the language model in use; None: only what came with the answer can be used.
        rule: whether log-probabilities sent by a server are used.
    """
    if _as_came(generation, model, rule) is not None:
        told = {"captured": f"captured from {generation.writer or _UNNAMED}", "server": "server"}
        return told.get(generation.source, f"read by {_UNNAMED}")
    return "none" if model is None else f"read by {model.fingerprint}"


def prompt_of(model: LanguageModel, trace: Trace) -> str | Sequence[int]:
    """The prompt the answer was written under; the guard's own RAG prompt if it is not known."""
    generation = trace.generation
    if generation.prompt_token_ids is not None and not is_foreign(generation, model):
        return generation.prompt_token_ids
    return text_prompt(model, trace)


def text_prompt(model: LanguageModel, trace: Trace) -> str:
    """:func:`prompt_of` as text, whatever ids are known."""
    prompt = trace.generation.prompt
    return model.render(rag_prompt(trace.question, trace.passages)) if prompt is None else prompt


def contrast_of(model: LanguageModel, trace: Trace) -> Contrast:
    """The trace's prompt without evidence: as an integration built it, else by removing it."""
    exact, total = trace.contrast_prompt, len(trace.passages)
    if exact is not None and trace.passages:
        return Contrast(exact, None, total, total, 0.0)
    return model.without_evidence(trace)


def read(model: LanguageModel | None, requests: Sequence[Request]) -> list[Answer]:
    """The tokens of every answer, as far as its methods need them; one call scores all missing.

    Raises:
        ValueError: if an answer lacks them and there is no model.
    """
    plain = [_as_came(r.trace.generation, model, r.rule) for r in requests]
    own = [_readable(request, model) for request in requests]
    lacking = [
        i
        for i, request in enumerate(requests)
        if (request.needs & GIVEN_DO and not plain[i]) or (request.needs & OWN_ONLY and not own[i])
    ]
    if lacking:
        asked = needed(model, "language_model")
        traces = [requests[i].trace for i in lacking]
        prompts = [prompt_of(asked, trace) for trace in traces]
        scored = asked.score(prompts, [trace.generation for trace in traces])
        for i, generation in zip(lacking, scored, strict=True):
            plain[i], own[i] = plain[i] or generation, own[i] or generation
    return [Answer(*parts) for parts in zip(requests, plain, own, strict=True)]


def without_evidence(model: LanguageModel, answers: Sequence[Answer]) -> list[Fields]:
    """Parametric Knowledge's log-probabilities of every answer (arXiv 2505.21072, section 3)."""
    shown = [answer for answer in answers if answer.request.trace.passages]
    bare = [a.request.contrast or contrast_of(model, a.request.trace) for a in shown]
    prompts = [needed(contrast.prompt, "prompt without evidence") for contrast in bare]
    again = model.score(prompts, [needed(a.plain, "logprobs") for a in shown]) if shown else ()
    scored = iter(again)
    found = []
    for answer in answers:
        # Without passages the two prompts are the same, so the first scores are reused.
        generation = next(scored) if answer.request.trace.passages else answer.plain
        known = needed(generation, "logprobs")
        fields: Fields = {"parametric": logprobs_of(known)}
        claims = tokens_of_claims(answer.request, known)
        if claims != tokens_of_claims(answer.request, needed(answer.plain, "logprobs")):
            fields["parametric_claims"] = claims
        found.append(fields)
    return found


def unconditional(model: LanguageModel, answers: Sequence[Answer]) -> list[Fields]:
    """Log-probabilities of every answer without any prompt."""
    scored = model.score([""] * len(answers), [needed(a.own, "logprobs") for a in answers])
    return [{"unconditional": logprobs_of(generation)} for generation in scored]


def token_fields(answer: Answer) -> Fields:
    """The statistics that the tokens themselves give, and which of them state each claim."""
    request = answer.request
    plain = answer.plain or request.trace.generation
    fields: Fields = {"claims": tokens_of_claims(request, plain)}
    if request.needs & OF_TOKENS:
        fields["logprobs"] = logprobs_of(plain)
    if request.needs & OWN_ONLY:
        own = needed(answer.own, "entropies")
        entropies = [np.nan if t.entropy is None else t.entropy for t in own.tokens]
        fields["entropies"] = np.array(entropies, float)
        if own is not plain:
            fields["own_logprobs"] = logprobs_of(own)
            fields["own_claims"] = answer.own_claims
    return fields


def logprobs_of(generation: Generation) -> FloatArray:
    """Log-probability of each token, (T,), nats."""
    return np.array([token.logprob for token in generation.tokens], float)


def pieces_of(generation: Generation) -> list[str]:
    """The text of each token."""
    return [generation.text[token.start : token.end] for token in generation.tokens]


def _as_came(
    generation: Generation, model: LanguageModel | None, rule: TokenRule
) -> Generation | None:
    """The answer with the log-probabilities it came with, if they are to be used; else None."""
    foreign = model is not None and any(t.id < 0 for t in generation.tokens)
    usable = has_logprobs(generation) and (rule.as_sent or not foreign)
    return generation if usable else None


def _readable(request: Request, model: LanguageModel | None) -> Generation | None:
    """The answer as it came, if its tokens are the model's and have all that is needed."""
    given = request.trace.generation
    if not has_logprobs(given):
        return None
    if model is not None and (is_foreign(given, model) or any(t.id < 0 for t in given.tokens)):
        return None
    silent = "alternatives" in request.needs and not any(t.top for t in given.tokens)
    if "entropies" in request.needs:
        silent |= any(t.entropy is None for t in given.tokens)
    return None if silent else given


def tokens_of_claims(request: Request, generation: Generation) -> TokensOfClaims:
    """Indices of the tokens that state each claim; empty at the level of whole answers."""
    if request.level == "sequence":
        return ()
    text = generation.text if request.rule.without_blanks else ""
    return tuple(
        tuple(token_indices(claim.spans, generation.tokens, text=text)) for claim in request.claims
    )
