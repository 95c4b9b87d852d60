"""The list of all methods: name, title, needed statistic, source, functions and scale of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from franq_guard.franq import FloatArray
from franq_guard.uncertainty import ccp, graph, information, lexical, rag, reflexive, sar, semantic
from franq_guard.uncertainty.method import (
    Method,
    OfClaim,
    OfSequence,
    ToConfidence,
    nats,
    squashed,
)
from franq_guard.uncertainty.statistics import Samples, Statistics, needed

__all__ = ["METHODS"]

_LIN, _DUAN, _KUHN = "arXiv 2305.19187", "arXiv 2307.01379", "arXiv 2302.09664"
_FADEEVA, _MALININ = "arXiv 2403.04696", "arXiv 2002.07650"


def _share(u: float, _: int) -> float:
    return 1.0 - u


def _negated(u: float, _: int) -> float:
    return -u


def _sets(u: float, n: int) -> float:
    return 1.0 - (u - 1.0) / max(n - 1, 1)


def _one_in(u: float, _: int) -> float:
    return 1.0 / max(u, 1.0)


def _one_in_and_one(u: float, _: int) -> float:
    return 1.0 / (1.0 + max(u, 0.0))


def _radius(u: float, n: int) -> float:
    return 1.0 - u / math.sqrt(max(n, 1))


def _given_tokens(s: Statistics, i: int) -> tuple[int, ...]:
    return s.claims[i]


def _both_levels(
    function: Callable[..., float],
    *fields: str,
    of_claim: Callable[[Statistics, int], tuple[int, ...]] = Statistics.own_tokens,
) -> tuple[OfSequence, OfClaim]:
    """A function of per-token arrays for both levels; ``of_claim`` gives the tokens of a claim."""

    def value(s: Statistics, tokens: tuple[int, ...] | None) -> float:
        arrays: list[FloatArray] = [needed(getattr(s, field), field) for field in fields]
        return function(*arrays, tokens=tokens)

    return lambda s: value(s, None), lambda s, i: value(s, of_claim(s, i))


def _ccp(s: Statistics, tokens: tuple[int, ...] | None, *, skip: bool) -> float:
    return ccp.ccp_uncertainty(
        needed(s.alternatives, "alternatives"),
        needed(s.relations, "relations"),
        tokens=tokens,
        ignore=needed(s.function_words, "function_words") if skip else None,
    )


def _ccp_fact_preference(s: Statistics, i: int, *, skip: bool) -> float:
    tokens = list(s.own_tokens(i))
    return ccp.ccp_uncertainty(
        needed(s.alternatives, "alternatives")[tokens],
        needed(s.claim_relations, "claim_relations")[i],
        ignore=needed(s.function_words, "function_words")[tokens] if skip else None,
    )


def _p_true(
    s: Statistics, i: int | None = None, *, field: str = "p_true", normalised: bool = False
) -> float:
    name = field if i is None else f"claim_{field}"
    values = needed(getattr(s, name), name)
    pair = values if i is None else values[i]
    return reflexive.p_true_uncertainty(float(pair[0]), float(pair[1]) if normalised else None)


def _samples(function: Callable[[Samples], float]) -> OfSequence:
    return lambda s: function(needed(s.samples, "samples"))


def _semantic_sets(x: Samples) -> float:
    entail, contradict = needed(x.entail, "entail"), needed(x.contradict, "contradict")
    return float(graph.semantic_sets_uncertainty(entail, contradict))


def _sar(x: Samples) -> float:
    similarity = needed(x.similarity, "similarity")
    return sar.sar_uncertainty(x.logprobs, needed(x.relevances, "relevances"), similarity)


def _information() -> list[Method]:
    def tokenwise(
        name: str, title: str, source: str, function: Callable[..., float], *fields: str
    ) -> Method:
        scale = squashed if name == "pmi" else nats
        given = fields == ("logprobs",)
        tokens = _given_tokens if given else Statistics.own_tokens
        levels = _both_levels(function, *fields, of_claim=tokens)
        return Method(name, title, "information", fields[-1], source, *levels, scale)

    probability = information.max_probability_uncertainty
    perplexity = information.perplexity_uncertainty
    mean, most = information.mean_entropy_uncertainty, information.max_entropy_uncertainty
    pmi, both = information.pmi_uncertainty, ("own_or_given_logprobs", "unconditional")
    title = "Max Sequence/Claim Probability"
    return [
        tokenwise("max-probability", title, "arXiv 2406.15627", probability, "logprobs"),
        tokenwise("perplexity", "Perplexity", _MALININ, perplexity, "logprobs"),
        tokenwise("mean-token-entropy", "Mean Token Entropy", _MALININ, mean, "entropies"),
        tokenwise("max-token-entropy", "Max Token Entropy", _FADEEVA, most, "entropies"),
        tokenwise("pmi", "Pointwise Mutual Information", "ACL W19-4115", pmi, *both),
        *_ccps("", skip=True),
        *_ccps(":lm-polygraph", skip=False),
    ]


def _ccps(suffix: str, *, skip: bool) -> list[Method]:
    plain, by_fact = partial(_ccp, skip=skip), partial(_ccp_fact_preference, skip=skip)
    title, kind = "Claim-Conditioned Probability", ("information", "alternatives", _FADEEVA)
    facts = f"{title}, fact preference"
    return [
        Method(f"ccp{suffix}", title, *kind, *_claims_of(plain), _negated),
        Method(f"ccp-fact-preference{suffix}", facts, *kind, None, by_fact, _negated),
    ]


def _claims_of(
    function: Callable[[Statistics, tuple[int, ...] | None], float],
) -> tuple[OfSequence, OfClaim]:
    return lambda s: function(s, None), lambda s, i: function(s, s.own_tokens(i))


def _reflexive() -> list[Method]:
    def asked(name: str, *, field: str = "p_true", normalised: bool = False) -> Method:
        value = partial(_p_true, field=field, normalised=normalised)
        source = "arXiv 2207.05221"
        return Method(name, "P(True)", "reflexive", field, source, value, value, nats)

    return [
        asked("p-true", normalised=True),
        asked("p-true:lm-polygraph"),
        asked("p-true:lm-polygraph-prompt", field="p_true_polygraph"),
    ]


def _lexical() -> list[Method]:
    def similarity(x: Samples, metric: lexical.LexicalMetric) -> float:
        return lexical.lexical_similarity_uncertainty(x.texts, metric=metric)

    metrics: tuple[lexical.LexicalMetric, ...] = ("rouge1", "rouge2", "rougeL", "bleu")
    named = partial(_diversity, need="samples", source="arXiv 2005.10608", scale=_negated)
    return [
        named(f"lexical-{m}", f"Lexical Similarity ({m})", partial(similarity, metric=m))
        for m in metrics
    ]


def _graphs() -> list[Method]:
    def degree(x: Samples, kind: str) -> float:
        return graph.degree_uncertainty(x.weights(kind))

    def eccentricity(x: Samples, kind: str) -> float:
        return graph.eccentricity_uncertainty(x.spectrum(kind))

    def eigenvalues(x: Samples, kind: str) -> float:
        return graph.eigenvalue_uncertainty(x.spectrum(kind))

    found = []
    for title, function, scale in (
        ("Degree Matrix", degree, _share),
        ("Eccentricity", eccentricity, _radius),
        ("Sum of Eigenvalues", eigenvalues, _sets),
    ):
        for kind in ("jaccard", "entail", "contra"):
            need = "samples" if kind == "jaccard" else "sample_nli"
            on_kind = partial(function, kind=kind)
            name = f"{function.__name__}-{kind}"
            found.append(_diversity(name, f"{title} ({kind})", on_kind, need, _LIN, scale))
            if name == "eigenvalues-entail":
                other = f"{name}:reciprocal", f"{title} ({kind}, reciprocal)"
                found.append(_diversity(*other, on_kind, need, _LIN, _one_in))
    sets = ("semantic-sets", "Number of Semantic Sets", _semantic_sets)
    return [*found, _diversity(*sets, need="sample_nli", source=_LIN, scale=_sets)]


def _semantic() -> list[Method]:
    def entropy(x: Samples, rule: semantic.DuplicateRule) -> float:
        return semantic.semantic_entropy_uncertainty(x.log_probs, x.classes, x.texts, rule=rule)

    def discrete(x: Samples) -> float:
        return semantic.discrete_semantic_entropy_uncertainty(x.classes)

    def plain(x: Samples) -> float:
        return semantic.monte_carlo_uncertainty(x.log_probs)

    def normalised(x: Samples) -> float:
        return semantic.normalized_monte_carlo_uncertainty(x.logprobs)

    unique, library = partial(entropy, rule="unique"), partial(entropy, rule="lm-polygraph")
    farquhar = "doi 10.1038/s41586-024-07421-0"
    title, monte = "Semantic Entropy", "Monte-Carlo Sequence Entropy"
    rows: list[tuple[str, str, Callable[[Samples], float], str, str]] = [
        ("semantic-entropy", title, unique, "sample_nli", _KUHN),
        ("semantic-entropy:lm-polygraph", title, library, "sample_nli", _KUHN),
        ("discrete-semantic-entropy", f"Discrete {title}", discrete, "sample_nli", farquhar),
        ("monte-carlo-entropy", monte, plain, "samples", _MALININ),
        ("normalized-monte-carlo-entropy", f"{monte}, per token", normalised, "samples", _MALININ),
    ]
    other = ("semantic-entropy:reciprocal", title, unique, "sample_nli", _KUHN)
    return [*(_diversity(*row, scale=nats) for row in rows), _diversity(*other, _one_in_and_one)]


def _relevance() -> list[Method]:
    def sentence(x: Samples) -> float:
        return sar.sentence_sar_uncertainty(x.log_probs, needed(x.similarity, "similarity"))

    token = _both_levels(sar.token_sar_uncertainty, "own_or_given_logprobs", "relevance")
    return [
        _diversity("sentence-sar", "SentenceSAR", sentence, "similarity", _DUAN, squashed),
        Method("token-sar", "TokenSAR", "diversity", "relevance", _DUAN, *token, nats),
        _diversity("sar", "SAR", _sar, "relevances", _DUAN, squashed),
    ]


def _rag() -> list[Method]:
    def whole(s: Statistics) -> float:
        return rag.unfaithfulness_uncertainty(needed(s.p_faithful, "p_faithful"))

    def of_claim(s: Statistics, i: int) -> float:
        return rag.unfaithfulness_uncertainty(
            float(needed(s.claim_p_faithful, "claim_p_faithful")[i])
        )

    def answer(s: Statistics) -> float:
        return rag.unfaithfulness_uncertainty(needed(s.answer_p_faithful, "answer_p_faithful"))

    def nli(s: Statistics, i: int | None = None) -> float:
        if i is None:
            return rag.max_nli_uncertainty(needed(s.entailed, "entailed"))
        return rag.max_nli_uncertainty(needed(s.claim_entailed, "claim_entailed")[i])

    known = _both_levels(
        rag.parametric_knowledge_uncertainty, "parametric", of_claim=Statistics.parametric_tokens
    )
    title, align, paper = (
        "Parametric Knowledge",
        "AlignScore or the model in use",
        "arXiv 2305.16739",
    )
    return [
        Method(
            "parametric-knowledge", title, "rag", "parametric", "arXiv 2505.21072", *known, nats
        ),
        Method("faithfulness", align, "rag", "p_faithful", paper, whole, of_claim, _share),
        Method(
            "faithfulness-answer",
            f"{align}, without the question",
            "rag",
            "answer_p_faithful",
            "this library",
            answer,
            None,
            _share,
        ),
        Method("max-nli", "Max NLI", "rag", "entailed", "arXiv 2505.21072", nli, nli, _share),
    ]


def _diversity(
    name: str,
    title: str,
    function: Callable[[Samples], float],
    need: str,
    source: str,
    scale: ToConfidence,
) -> Method:
    return Method(name, title, "diversity", need, source, _samples(function), None, scale)


METHODS: tuple[Method, ...] = (
    *_information(),
    *_reflexive(),
    *_lexical(),
    *_graphs(),
    *_semantic(),
    *_relevance(),
    *_rag(),
)
