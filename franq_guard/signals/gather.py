"""Run the models once for any choice of methods: a trace goes in, a ``Statistics`` comes out.

What several methods need is measured once: one set of samples, one NLI call for all their pairs,
one for all alternatives of all tokens, one scoring call for all P(True) questions, which reads
what the questions share only once. Nothing that was not asked for is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import commonprefix
from typing import Any

import numpy as np

from franq_guard.claims import token_indices
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.franq import FloatArray
from franq_guard.language_model.base import LanguageModel, Prompt
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.records import Claim, Generation, Token, Trace
from franq_guard.signals.long_form import TEMPERATURE, context_of, contrast, prompt_of, samples
from franq_guard.signals.nli_pairs import alternative_relations, semantic_matrices
from franq_guard.signals.short_form import samples_of
from franq_guard.signals.similarity import Embed, similarity_and_relevances
from franq_guard.uncertainty.ccp import function_words
from franq_guard.uncertainty.method import Level
from franq_guard.uncertainty.methods import find
from franq_guard.uncertainty.reflexive import p_true_options, p_true_question
from franq_guard.uncertainty.statistics import Samples, Statistics, needed

__all__ = ["Models", "gather", "p_true_logprobs"]

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Models:
    """What may be run; None where no asked method needs it.

    ``embed``: texts -> unit vectors, for SAR. ``n_samples`` of up to ``sample_tokens``
    tokens are drawn where the trace brings none.
    """

    language_model: LanguageModel | None = None
    faithfulness: FaithfulnessModel | None = None
    embed: Embed | None = None
    n_samples: int = 10
    sample_tokens: int = 32


def gather(
    names: Iterable[str],
    trace: Trace,
    models: Models,
    *,
    claims: Sequence[Claim] = (),
    level: Level = "sequence",
) -> Statistics:
    """Measure what the named methods need, each thing once.

    Args:
        names: methods of :mod:`franq_guard.uncertainty.methods`.
        trace: the answer; captured log-probabilities and given samples are used as they are.
        models: what may be run.
        claims: of the answer, at claim level.
        level: the one the values are wanted at.

    Returns:
        Statistics for ``compute(names, statistics, level=level)``.

    Raises:
        ValueError: for an unknown method, or one that needs a model that is not there.
    """
    asked = [find(name) for name in names]
    job = _Job(trace, models, tuple(claims), level, frozenset(method.name for method in asked))
    fields: Fields = {"claims": job.tokens_of_claims}
    steps = {_STEPS[method.need]: None for method in asked}
    for step in steps:
        fields |= step(job)
    return Statistics(**fields)


def p_true_logprobs(model: LanguageModel, questions: Sequence[str]) -> FloatArray:
    """Log-probabilities of "True" and "False" after each question, (n, 2), in one scoring call.

    The questions' shared beginning (up to its last line break) is the prompt, the rest of each
    question with either option the answer, so a model that keeps the prompt's cache reads it once.
    """
    prompts = [model.render(Prompt("", question)) for question in questions]
    common = commonprefix(prompts)  # noqa: RUF071  (of characters is what is meant)
    shared = common[: common.rfind("\n") + 1]
    asked = [
        (prompt[len(shared) :], option) for prompt in prompts for option in p_true_options(prompt)
    ]
    answers = [Generation(rest + option) for rest, option in asked]
    scored = model.score([shared] * len(answers), answers)
    values = [
        sum(t.logprob for t in generation.tokens if t.end > max(t.start, len(rest)))
        for generation, (rest, _) in zip(scored, asked, strict=True)
    ]
    return np.array(values, float).reshape(len(questions), 2)


@dataclass(frozen=True)
class _Job:
    """One answer and what may be run on it; what steps share is found once."""

    trace: Trace
    models: Models
    claims: tuple[Claim, ...]
    level: Level
    names: frozenset[str]

    @property
    def model(self) -> LanguageModel:
        return needed(self.models.language_model, "language_model")

    @property
    def judge(self) -> FaithfulnessModel:
        return needed(self.models.faithfulness, "faithfulness")

    @cached_property
    def answer(self) -> Generation:
        given = self.trace.generation
        known = [not math.isnan(t.logprob) for t in given.tokens if t.end > t.start]
        # A server's tokens (id -1) cannot be scored again as they are, and all that is measured of
        # an answer must be of the same tokens.
        ours = self.models.language_model is None or all(t.id >= 0 for t in given.tokens)
        return given if known and all(known) and ours else self.scored

    @cached_property
    def scored(self) -> Generation:
        prompt = prompt_of(self.model, self.trace)
        return self.model.score([prompt], [self.trace.generation])[0]

    @property
    def stated(self) -> list[str]:
        """What the passages may entail: the claims, or the question with the answer."""
        if self.level == "claim":
            return [claim.text for claim in self.claims]
        return [f"{self.trace.question} {self.trace.generation.text}"]

    @property
    def pieces(self) -> list[str]:
        return _pieces(self.answer)

    @cached_property
    def tokens_of_claims(self) -> tuple[tuple[int, ...], ...]:
        if self.level == "sequence":
            return ()
        return tuple(tuple(token_indices(c.spans, self.answer.tokens)) for c in self.claims)

    @cached_property
    def samples(self) -> Sequence[Generation]:
        if self.trace.samples:
            return samples(self.models.language_model, [self.trace], n=self.models.n_samples)[0]
        trace, n, length = self.trace, self.models.n_samples, self.models.sample_tokens
        prompt = trace.generation.prompt
        if prompt is None:
            prompt = self.model.render(rag_prompt(trace.question, trace.passages))
        return self.model.sample([prompt], n=n, max_new_tokens=length, temperature=TEMPERATURE)[0]


def _captured(job: _Job) -> Fields:
    entropies = [np.nan if t.entropy is None else t.entropy for t in job.answer.tokens]
    return {"logprobs": _logprobs(job.answer), "entropies": np.array(entropies, float)}


def _faithfulness(job: _Job) -> Fields:
    context = context_of(job.trace)
    values = job.judge.score([context] * len(job.stated), job.stated)
    if job.level == "claim":
        return {"claim_p_faithful": np.array(values)}
    return {"p_faithful": values[0]}


def _entailed(job: _Job) -> Fields:
    pairs = [(p.text, stated) for stated in job.stated for p in job.trace.passages]
    classes = job.judge.nli(*map(list, zip(*pairs, strict=True))) if pairs else np.empty((0, 3))
    values = classes[:, 0].reshape(len(job.stated), len(job.trace.passages))
    return {"claim_entailed": values} if job.level == "claim" else {"entailed": values[0]}


def _answer_faithfulness(job: _Job) -> Fields:
    stated = job.trace.generation.text
    if not stated.strip():  # nothing was claimed
        return {"answer_p_faithful": math.nan}
    return {"answer_p_faithful": job.judge.score([context_of(job.trace)], [stated])[0]}


def _parametric(job: _Job) -> Fields:
    prompt = contrast(job.model, job.trace).prompt
    return {"parametric": _scored_under(needed(prompt, "prompt without evidence"), job)}


def _unconditional(job: _Job) -> Fields:
    return _captured(job) | {"unconditional": _scored_under("", job)}


def _p_true(job: _Job) -> Fields:
    whole = job.level == "sequence"
    stated = [job.trace.generation.text] if whole else [claim.text for claim in job.claims]
    passages = context_of(job.trace)
    questions = [p_true_question(job.trace.question, s, passages=passages) for s in stated]
    values = p_true_logprobs(job.model, questions)
    return {"p_true": values[0]} if whole else {"claim_p_true": values}


def _alternatives(job: _Job) -> Fields:
    tokens = job.answer.tokens
    if tokens and not any(token.top for token in tokens):  # a server that keeps none
        tokens = job.scored.tokens
    rows = [_with_alternatives(token) for token in tokens]
    width = max(map(len, rows), default=1)
    logprobs = np.full((len(rows), width), -np.inf)
    for i, row in enumerate(rows):
        logprobs[i, : len(row)] = [logprob for _, logprob in row]
    decode = _decoder(job.model)
    texts = [
        [piece, *(decode(i) for i, _ in row[1:])]
        for piece, row in zip(job.pieces, rows, strict=True)
    ]
    by_fact = any(name.startswith("ccp-fact-preference") for name in job.names)
    alone = bool(job.names & {"ccp", "ccp:lm-polygraph"})
    compared = [[text.strip() for text in row] for row in texts] if alone else []
    in_context = [_in_claim(texts, of_claim) for of_claim in job.tokens_of_claims if by_fact]
    flat = [*compared, *(row for claim in in_context for row in claim)]
    relations = alternative_relations(job.judge.nli, flat, width=width)
    ends = np.cumsum([len(compared), *map(len, in_context)])
    parts = np.split(relations, ends[:-1])
    return {
        "alternatives": logprobs,
        "relations": parts[0] if alone else None,
        "claim_relations": tuple(parts[1:]) if by_fact else None,
        "function_words": function_words(job.pieces),
    }


def _relevance(job: _Job) -> Fields:
    embed = needed(job.models.embed, "embed")
    _, (relevance,) = similarity_and_relevances(embed, [job.pieces], per_token=True)
    return _captured(job) | {"relevance": relevance}


def _samples(job: _Job) -> Fields:
    """All that is asked of the samples, whichever method asked first."""
    needs = {find(name).need for name in job.names}
    bundle: Samples = samples_of(job.samples)
    if "sample_nli" in needs:
        (matrices,) = semantic_matrices(job.judge.nli, [bundle.texts])
        bundle = replace(bundle, **matrices._asdict())
    if needs & {"similarity", "relevances"}:
        similarity, relevances = similarity_and_relevances(
            needed(job.models.embed, "embed"),
            [_pieces(sample) for sample in job.samples],
            per_token="relevances" in needs,
        )
        bundle = replace(bundle, similarity=similarity, relevances=relevances or None)
    return {"samples": bundle}


_STEPS: dict[str, Callable[[_Job], Fields]] = {
    "logprobs": _captured,
    "entropies": _captured,
    "p_faithful": _faithfulness,
    "answer_p_faithful": _answer_faithfulness,
    "entailed": _entailed,
    "parametric": _parametric,
    "unconditional": _unconditional,
    "p_true": _p_true,
    "alternatives": _alternatives,
    "relevance": _relevance,
    "samples": _samples,
    "sample_nli": _samples,
    "similarity": _samples,
    "relevances": _samples,
}


def _logprobs(generation: Generation) -> FloatArray:
    return np.array([token.logprob for token in generation.tokens], float)


def _pieces(generation: Generation) -> list[str]:
    return [generation.text[token.start : token.end] for token in generation.tokens]


def _scored_under(prompt: str, job: _Job) -> FloatArray:
    return _logprobs(job.model.score([prompt], [job.answer])[0])


def _with_alternatives(token: Token) -> list[tuple[int, float]]:
    """(id, log-probability) of the written token, then of the others that were likely."""
    return [(token.id, token.logprob), *((i, p) for i, p in token.top if i != token.id)]


def _in_claim(texts: list[list[str]], tokens: Sequence[int]) -> list[list[str]]:
    """Each of the claim's tokens and its alternatives after the claim's words so far."""
    rows, said = [], ""
    for token in tokens:
        rows.append([(said + text).strip() for text in texts[token]])
        said += texts[token][0]
    return rows


def _decoder(model: LanguageModel) -> Callable[[int], str]:
    tokenizer = getattr(model, "tokenizer", None)
    if tokenizer is None:
        raise ValueError("CCP reads the text of alternatives: it needs a model with a tokenizer")
    return lambda token: str(tokenizer.decode([token]))
