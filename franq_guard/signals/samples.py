"""Other answers to the same prompt: drawn, scored and compared, a whole batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation, Trace
from franq_guard.signals.likelihoods import (
    Fields,
    has_logprobs,
    logprobs_of,
    pieces_of,
    prompt_of,
    text_prompt,
)
from franq_guard.signals.nli_pairs import Nli, semantic_matrices
from franq_guard.signals.request import TEMPERATURE, Request
from franq_guard.signals.similarity import Embed, similarity_and_relevances
from franq_guard.uncertainty.statistics import Samples, needed

__all__ = ["SAMPLED", "compared", "drawn"]

SAMPLED = frozenset({"samples", "sample_nli", "similarity", "relevances"})
"""Statistics that are computed from samples."""

Drawn = Sequence[Generation]


def drawn(
    model: LanguageModel | None,
    traces: Sequence[Trace],
    *,
    n: int,
    max_new_tokens: int,
    temperature: float = TEMPERATURE,
) -> list[Drawn]:
    """Samples of each trace with log-probabilities; one call draws all, one scores the others.

    Raises:
        ValueError: if samples or their log-probabilities are missing and there is no model.
    """
    known: list[Drawn] = [trace.samples for trace in traces]
    bare = [i for i, of in enumerate(known) if not of]
    if bare:
        asked = needed(model, "language_model")
        prompts = [text_prompt(asked, traces[i]) for i in bare]
        made = asked.sample(prompts, n=n, max_new_tokens=max_new_tokens, temperature=temperature)
        for i, of in zip(bare, made, strict=True):
            known[i] = of
    unscored = [i for i, of in enumerate(known) if not all(map(has_logprobs, of))]
    if unscored:
        asked = needed(model, "language_model")
        owners = [prompt_of(asked, traces[i]) for i in unscored for _ in known[i]]
        scored = iter(asked.score(owners, [sample for i in unscored for sample in known[i]]))
        for i in unscored:
            known[i] = [next(scored) for _ in known[i]]
    return known


def compared(
    requests: Sequence[Request], samples: Sequence[Drawn], nli: Nli | None, embed: Embed | None
) -> list[Fields]:
    """The statistics of all samples: one NLI call for all, one call of ``embed`` for all."""
    # Stripped, because white space around a sample does not make it a different answer.
    found = [
        Samples(tuple(s.text.strip() for s in of), tuple(map(logprobs_of, of))) for of in samples
    ]
    paired = [i for i, request in enumerate(requests) if "sample_nli" in request.needs]
    if paired:
        judge = needed(nli, "faithfulness")
        matrices = semantic_matrices(judge, [found[i].texts for i in paired])
        for i, of_answer in zip(paired, matrices, strict=True):
            found[i] = replace(found[i], **of_answer._asdict())
    alike = [
        i for i, request in enumerate(requests) if request.needs & {"similarity", "relevances"}
    ]
    if alike:
        per_token = any("relevances" in requests[i].needs for i in alike)
        measured = _similarities(
            needed(embed, "embed"), [samples[i] for i in alike], per_token=per_token
        )
        for i, fields in zip(alike, measured, strict=True):
            found[i] = replace(found[i], **fields)
    return [{"samples": of_answer} for of_answer in found]


def _similarities(embed: Embed, samples: Sequence[Drawn], *, per_token: bool) -> Iterator[Fields]:
    """``similarity`` and ``relevances`` of each answer's samples, from one call for all of them."""
    texts = [pieces_of(sample) for of_answer in samples for sample in of_answer]
    similarity, relevances = similarity_and_relevances(embed, texts, per_token=per_token)
    end = 0
    for of_answer in samples:
        start, end = end, end + len(of_answer)
        yield {
            "similarity": similarity[start:end, start:end],
            "relevances": relevances[start:end] or None,
        }
