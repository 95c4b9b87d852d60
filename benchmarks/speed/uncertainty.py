"""Every uncertainty method's extra time as a ratio to plain generation (`make bench-uncertainty`).

Plain: SmolLM2 answers a prompt with three passages, without the guard. A method's extra time is the
time to measure what it needs beyond the captured answer and to compute its value. Figures are
ratios of CPU seconds of one thread, medians over prompts. They are shown with lm-polygraph 0.7.0's
ratios for the same language model and prompts of the same size, taken once on a similar machine;
its NLI model and cross-encoder were replaced by a 28 times smaller model, so those ratios are lower
bounds. If lm-polygraph is installed, its estimators that need no other model are timed here too.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from time import process_time
from typing import TypeVar

import numpy as np
import torch

from franq_guard.claims import RuleSplitter
from franq_guard.datasets.demo import corpus
from franq_guard.faithfulness.small import storage
from franq_guard.faithfulness.small.minilm import Embedder, load_minilm
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.franq import FloatArray
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.language_model.transformers.model import TransformersModel
from franq_guard.language_model.transformers.smollm2 import load_bundled
from franq_guard.records import Claim, Passage, Token, Trace
from franq_guard.signals.gather import gather
from franq_guard.signals.nli_pairs import alternative_relations
from franq_guard.signals.request import Models, Request
from franq_guard.uncertainty.methods import Level, Method, compute, methods

T = TypeVar("T")
Ratios = dict[str, list[float]]

ASK = {
    "short": "What do the passages say? Give every figure and date.",
    "long": "Write two paragraphs on the passages, in full sentences, with every figure and date.",
}
TOKENS = {"short": 32, "long": 120}
CAPTURE, TOGETHER = "capture while generating", "all methods together"
# lm-polygraph 0.7.0, (short, long); rows it has no time for are None. Its samples are ten single
# generations; its cross-encoder reads the whole prompt on both sides of every pair (the long
# figure is extrapolated from two samples).
REFERENCE: dict[str, tuple[float | None, float | None]] = {
    CAPTURE: (0.07, 0.11),
    "logprobs": (0.0, 0.0),
    "entropies": (0.001, 0.002),
    "unconditional": (0.15, 0.07),
    "p_true": (0.48, 0.14),
    "p_true of claims": (None, 1.49),
    "alternatives": (0.44, 0.67),
    "alternatives in claims": (None, 3.35),
    "samples": (10.0, 10.4),
    "sample_nli": (10.67, 11.22),
    "similarity": (24.4, 38.4),
    "relevances": (24.4, 38.4),
    "relevance": (24.4, 38.4),
}
SIDE_BY_SIDE = {
    "max-probability": "MaximumSequenceProbability",
    "mean-token-entropy": "MeanTokenEntropy",
    "pmi": "MeanPointwiseMutualInformation",
    "p-true": "PTrue",
    "lexical-rougeL": "LexicalSimilarity",
}


@dataclass(frozen=True)
class Answer:
    """A captured answer, its claims, and the CPU seconds of generating it plainly and captured."""

    trace: Trace
    claims: Sequence[Claim]
    plain: float
    captured: float


def timed(function: Callable[[], T]) -> tuple[float, T]:
    began = process_time()
    result = function()
    return process_time() - began, result


def passages(count: int) -> list[tuple[Passage, ...]]:
    """Three passages of one topic for each prompt."""
    everything = corpus()
    topics = sorted({str(p.metadata["topic"]) for p in everything})
    of_topic = [[p for p in everything if p.metadata["topic"] == topic] for topic in topics]
    return [tuple(found[:3]) for found in of_topic[:count]]


def answer(model: TransformersModel, form: str, shown: tuple[Passage, ...]) -> Answer:
    prompt = model.render(rag_prompt(ASK[form], shown))
    inputs = model.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)

    def plainly() -> object:
        with torch.inference_mode():
            return model.model.generate(**inputs, do_sample=False, max_new_tokens=TOKENS[form])

    plain, _ = timed(plainly)
    captured, made = timed(lambda: model.generate([prompt], max_new_tokens=TOKENS[form]))
    claims = [c for c in RuleSplitter().split(made[0].text) if c.not_a_claim is None]
    return Answer(Trace(ASK[form], shown, made[0]), claims, plain, captured)


def levels(form: str) -> list[tuple[Method, Level]]:
    """Every method; claims of long answers where it has them, else the whole answer."""
    wanted: Level = "claim" if form == "long" else "sequence"
    chosen = [(m, wanted if wanted in m.levels else m.levels[0]) for m in methods()]
    return [(m, level) for m, level in chosen if form == "long" or level == "sequence"]


def work(method: Method, level: Level) -> str:
    """Name of the statistics a method needs; methods with the same name share them."""
    if method.name.startswith("ccp-fact-preference"):
        return "alternatives in claims"
    return "p_true of claims" if (method.need, level) == ("p_true", "claim") else method.need


def extra(model: TransformersModel, form: str, found: Answer) -> dict[str, float]:
    """Ratios by method; statistics that several methods share are timed once."""
    models = Models(model, judge(), Embedder(), sample_tokens=TOKENS[form])
    ratios = {CAPTURE: found.captured / found.plain - 1}
    done: dict[tuple[str, Level], float] = {}
    for method, level in levels(form):
        key = (work(method, level), level)

        def measure(name: str = method.name, level: Level = level) -> object:
            request = Request(found.trace, [name], found.claims, level)
            [bundle] = gather([request], models)
            return compute([name], bundle, level=level)

        if key not in done:
            done[key] = timed(measure)[0]
        ratios[method.name] = done[key] / found.plain
    ratios[TOGETHER] = timed(lambda: together(models, form, found))[0] / found.plain
    return ratios


def together(models: Models, form: str, found: Answer) -> None:
    """Compute all methods from one generation, measuring each statistic once."""
    for level in ("sequence", "claim") if form == "long" else ("sequence",):
        names = [m.name for m, of in levels(form) if of == level]
        [bundle] = gather([Request(found.trace, names, found.claims, level)], models)
        compute(names, bundle, level=level)


def judge() -> SmallFaithfulness:
    """The bundled faithfulness model in float32, without a cache."""
    network, blend, _ = storage.load(storage.FOLDER)
    return SmallFaithfulness(network, load_minilm()[1], blend, name="benchmark", cache=0)


def pooling(model: TransformersModel, found: Answer) -> tuple[float, bool]:
    """Speed-up of pooled NLI over the reference's batches of ten per token; are labels equal?"""
    nli = judge().nli

    def tens(premises: Sequence[str], hypotheses: Sequence[str]) -> FloatArray:
        cuts = range(0, len(premises), 10)
        return np.concatenate([nli(premises[i : i + 10], hypotheses[i : i + 10]) for i in cuts])

    rows = [words(model, token, found) for token in found.trace.generation.tokens]
    width = max(map(len, rows))
    pooled, one = timed(lambda: alternative_relations(nli, rows, width=width))
    single, many = timed(
        lambda: np.concatenate([alternative_relations(tens, [row], width=width) for row in rows])
    )
    return single / pooled, bool((one == many).all())


def side_by_side(model: TransformersModel, form: str, found: Answer) -> dict[str, float]:
    """lm-polygraph's own extra time on this answer's prompt; empty if it is not installed."""
    if find_spec("lm_polygraph") is None:
        return {}
    from lm_polygraph import estimators
    from lm_polygraph.utils.estimate_uncertainty import estimate_uncertainty
    from lm_polygraph.utils.generation_parameters import GenerationParameters
    from lm_polygraph.utils.model import WhiteboxModel

    settings = GenerationParameters(max_new_tokens=TOKENS[form])
    theirs = WhiteboxModel(model.model, model.tokenizer, "here", generation_parameters=settings)
    prompt = found.trace.generation.prompt or ""
    usual = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")  # lm-polygraph needs the attention matrices
    ratios = {}
    for ours, name in SIDE_BY_SIDE.items():
        estimator = getattr(estimators, name)()
        took, _ = timed(lambda e=estimator: estimate_uncertainty(theirs, e, prompt))
        ratios[f"{ours} (lm-polygraph, here)"] = took / found.plain - 1
    model.model.set_attn_implementation(usual)
    return ratios


def words(model: TransformersModel, token: Token, found: Answer) -> list[str]:
    written = found.trace.generation.text[token.start : token.end]
    others = [model.tokenizer.decode([i]) for i, _ in token.top if i != token.id]
    return [text.strip() for text in (written, *others)]


def table(form: str, ratios: Ratios) -> list[dict[str, object]]:
    """One row per method: our ratio, its range, and the reference's ratio."""
    known = {m.name: work(m, level) for m, level in levels(form)}
    return [
        {
            "method": name,
            "ratio": round(statistics.median(values), 3),
            "range": [round(min(values), 3), round(max(values), 3)],
            "lm-polygraph": REFERENCE.get(known.get(name, name), (None, None))[form == "long"],
        }
        for name, values in ratios.items()
    ]


def show(form: str, rows: Sequence[dict[str, object]], found: Sequence[Answer]) -> None:
    claims = statistics.median(len(a.claims) for a in found)
    tokens = statistics.median(len(a.trace.generation.tokens) for a in found)
    print(f"\n{form} answers: {len(found)}, median {tokens:g} tokens, {claims:g} claims")
    print(f"{'extra time / plain generation':34} {'here':>7} {'(range)':>16} {'lm-polygraph':>13}")
    for row in rows:
        low, high = row["range"]  # type: ignore[misc]
        spread = f"({low:.2f}..{high:.2f})"
        theirs = "-" if row["lm-polygraph"] is None else f"{row['lm-polygraph']:.3g}"
        print(f"{row['method']:34} {row['ratio']:7.3f} {spread:>16} {theirs:>13}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=5)
    parser.add_argument("--form", choices=[*ASK, "both"], default="both")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    bundled = load_bundled()
    model = TransformersModel(bundled.model, bundled.tokenizer, top_k=10)
    report: dict[str, object] = {}
    for form in ASK if options.form == "both" else (options.form,):
        topics = passages(options.prompts)
        answer(model, form, topics[0])  # the first generation warms everything up
        found = [answer(model, form, shown) for shown in topics]
        single = [extra(model, form, one) | side_by_side(model, form, one) for one in found]
        rows = table(form, {name: [r[name] for r in single] for name in single[0]})
        faster, same = pooling(model, found[0])
        report[form] = {"rows": rows, "pooled_nli_speedup": faster, "labels_equal": same}
        if not options.json:
            show(form, rows, found)
            print(f"NLI pooled over the answer: {faster:.1f}x faster, labels equal: {same}")
    if options.json:
        print(json.dumps(report))


if __name__ == "__main__":
    main()
