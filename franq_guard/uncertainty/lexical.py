"""Sample diversity by shared words: Lexical Similarity and the Jaccard matrix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from franq_guard.franq import FloatArray

LexicalMetric = Literal["rouge1", "rouge2", "rougeL", "bleu"]

__all__ = ["LexicalMetric", "jaccard_matrix", "lexical_similarity_uncertainty"]


def jaccard_matrix(texts: Sequence[str]) -> FloatArray:
    """Shared words of each pair of texts as a share of their words, (n, n), symmetric, diagonal 1.

    Words are separated by white space and compared in lower case, each counted once; two texts
    without words have similarity 0 (Lin et al. 2023, arXiv 2305.19187).
    """
    words = [frozenset(text.lower().split()) for text in texts]
    matrix = np.eye(len(words))
    for i, j in combinations(range(len(words)), 2):
        union = len(words[i] | words[j])
        matrix[i, j] = matrix[j, i] = len(words[i] & words[j]) / union if union else 0.0
    return matrix


def lexical_similarity_uncertainty(texts: Sequence[str], *, metric: LexicalMetric) -> float:
    """Lexical Similarity, negated: -mean similarity of all pairs of samples, in [-1, 0].

    Fomicheva et al. 2020, arXiv 2005.10608. ROUGE is the F-measure of ``rouge-score`` with its
    stemmer; BLEU is ``nltk``'s sentence score of the later text against the earlier, with n-grams
    up to the shorter one's length (at most 4). Fewer than two samples: NaN.

    Raises:
        ImportError: without the extra: ``pip install 'franq-guard[uncertainty]'``.
        ValueError: on an unknown metric.
    """
    similarity = _similarity(metric)
    pairs = list(combinations(texts, 2))
    values = {pair: similarity(*pair) for pair in dict.fromkeys(pairs)}
    return -float(np.mean([values[pair] for pair in pairs])) if pairs else float("nan")


def _similarity(metric: str) -> Callable[[str, str], float]:
    if metric not in ("rouge1", "rouge2", "rougeL", "bleu"):
        raise ValueError(f"metric must be rouge1, rouge2, rougeL or bleu, not {metric!r}")
    try:
        if metric == "bleu":
            from nltk.translate.bleu_score import sentence_bleu

            return lambda first, second: _bleu(sentence_bleu, first, second)
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise ImportError(
            f"lexical similarity by {metric} needs: pip install 'franq-guard[uncertainty]'"
        ) from error
    scorer = RougeScorer([metric], use_stemmer=True)
    return lambda first, second: float(scorer.score(first, second)[metric].fmeasure)


def _bleu(sentence_bleu: Callable[..., float], first: str, second: str) -> float:
    reference, hypothesis = first.split(), second.split()
    size = min(len(reference), len(hypothesis))
    weights = {1: (1.0,), 2: (0.5, 0.5), 3: (0.33, 0.33, 0.33)}.get(size, (0.25,) * 4)
    return float(
        sentence_bleu([reference], hypothesis, weights=weights, smoothing_function=_no_smoothing)
    )


def _no_smoothing(precisions: Sequence[Any], **_: object) -> list[float]:
    # As nltk does by default, but without its warning for each pair that shares no long n-gram.
    return [float(p) or sys.float_info.min for p in precisions]
