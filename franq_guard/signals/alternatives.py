"""What a model could have written instead of each token, and how NLI relates the two (for CCP)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from franq_guard.franq import FloatArray
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation, Token
from franq_guard.signals.likelihoods import Answer, pieces_of
from franq_guard.signals.nli_pairs import Nli, alternative_relations
from franq_guard.uncertainty.ccp import function_words
from franq_guard.uncertainty.numeric import in_parts
from franq_guard.uncertainty.statistics import needed

__all__ = ["alternatives"]

Rows = list[list[str]]
_BY_FACT = "ccp-fact-preference"


def alternatives(model: LanguageModel, nli: Nli, answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Alternatives of every token and their relations, in one NLI call for all answers.

    Args:
        model: its tokenizer decodes the alternatives.
        nli: see :mod:`.nli_pairs`.
        answers: their tokens have alternatives where the model recorded any.

    Raises:
        ValueError: for a model without a tokenizer.
    """
    decode = _decoder(model)
    owns = [needed(answer.own, "alternatives") for answer in answers]
    texts = [_texts(own, decode) for own in owns]
    blocks = [_blocks(answer, rows) for answer, rows in zip(answers, texts, strict=True)]
    flat = [row for of_answer in blocks for block in of_answer for row in block]
    tables = [_logprobs(own) for own in owns]
    # Not the longest of ``flat``: a token that no claim needs may have the most alternatives.
    width = max((table.shape[1] for table in tables), default=1)
    relations = alternative_relations(nli, flat, width=width)
    parts = iter(in_parts(relations, [len(block) for of_answer in blocks for block in of_answer]))
    found = []
    for answer, own, of_answer, logprobs in zip(answers, owns, blocks, tables, strict=True):
        alone, *in_claims = [next(parts)[:, : logprobs.shape[1]] for _ in of_answer]
        found.append(
            {
                "alternatives": logprobs,
                "relations": alone if _wants(answer, "ccp") else None,
                "claim_relations": tuple(in_claims) if _wants(answer, _BY_FACT) else None,
                "function_words": function_words(pieces_of(own)),
            }
        )
    return found


def _blocks(answer: Answer, texts: Rows) -> list[Rows]:
    """The comparisons for one answer: its tokens by themselves, then each claim's in context."""
    in_claims = answer.own_claims if _wants(answer, _BY_FACT) else ()
    return [_alone(answer, texts), *(_in_claim(texts, claim) for claim in in_claims)]


def _wants(answer: Answer, method: str) -> bool:
    return any(name.partition(":")[0] == method for name in answer.request.names)


def _logprobs(generation: Generation) -> FloatArray:
    rows = [_with_alternatives(token) for token in generation.tokens]
    width = max(map(len, rows), default=1)
    logprobs = np.full((len(rows), width), -np.inf)
    for i, row in enumerate(rows):
        logprobs[i, : len(row)] = [logprob for _, logprob in row]
    return logprobs


def _with_alternatives(token: Token) -> list[tuple[int, float]]:
    """(id, log-probability) of the written token, then of the likely alternatives."""
    return [(token.id, token.logprob), *((i, p) for i, p in token.top if i != token.id)]


def _texts(generation: Generation, decode: Callable[[int], str]) -> Rows:
    """For each token its text, then the texts of its alternatives."""
    return [
        [piece, *(decode(i) for i, _ in _with_alternatives(token)[1:])]
        for piece, token in zip(pieces_of(generation), generation.tokens, strict=True)
    ]


def _alone(answer: Answer, texts: Rows) -> Rows:
    """Each token with its alternatives; only the written text for tokens that no claim needs."""
    if not _wants(answer, "ccp"):
        return []
    asked = {token for claim in answer.own_claims for token in claim}
    if answer.request.level == "sequence":
        asked = set(range(len(texts)))
    return [
        [text.strip() for text in (row if i in asked else row[:1])] for i, row in enumerate(texts)
    ]


def _in_claim(texts: Rows, tokens: Sequence[int]) -> Rows:
    """Each of the claim's tokens and its alternatives, preceded by the claim's text before it."""
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
