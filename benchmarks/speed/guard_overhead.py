"""The guard's extra time as a ratio to plain generation (`make bench`).

Plain: SmolLM2 answers a prompt with three passages, without the guard. Guarded: the same generation
with the recorder attached, then the whole check. Both are timed in turn for each prompt, in one
process; the figure is the median of the ratios of all prompts.

The floor, per answer: one forward pass over the prompt without evidence plus the answer, and the
faithfulness model over (claims x chunks) pairs. Capturing adds one reduction over the vocabulary
per token.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import dataclass, replace
from time import perf_counter

import torch

from franq_bench.overhead import forget
from franq_guard import Guard, Trace
from franq_guard.datasets.demo import corpus
from franq_guard.language_model.prompts import rag_prompt
from franq_guard.language_model.transformers.model import TransformersModel
from franq_guard.language_model.transformers.recorder import Recorder
from franq_guard.records import Passage

ASK = (
    "Write two paragraphs on what the passages say, in full sentences, with every figure and date."
)


@dataclass(frozen=True)
class Pair:
    """One prompt timed both ways (seconds), and what the check's stages took."""

    tokens: int
    claims: int
    plain: float
    guarded: float
    stages: dict[str, float]

    @property
    def ratio(self) -> float:
        return (self.guarded - self.plain) / self.plain


def prompts(count: int) -> list[tuple[str, tuple[Passage, ...]]]:
    """Questions with three passages of about 100 words each, of one topic."""
    everything = corpus()
    topics = sorted({str(p.metadata["topic"]) for p in everything})
    chosen = []
    for topic in topics[:count]:
        texts = [p for p in everything if p.metadata["topic"] == topic]
        joined = [
            Passage(f"{a.text} {b.text}", title=a.title)
            for a, b in zip(texts[::2], texts[1::2], strict=False)
        ]
        chosen.append((ASK, tuple(joined[:3])))
    return chosen


def plain(model: TransformersModel, prompt: str, tokens: int) -> tuple[float, int]:
    """Seconds of plain greedy generation without a recorder, and the tokens it wrote."""
    inputs = model.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
    began = perf_counter()
    with torch.inference_mode():
        out = model.model.generate(**inputs, do_sample=False, max_new_tokens=tokens)
    return perf_counter() - began, int(out.shape[1] - inputs["input_ids"].shape[1])


def guarded(
    guard: Guard,
    model: TransformersModel,
    question: str,
    passages: tuple[Passage, ...],
    tokens: int,
) -> tuple[float, int, dict[str, float]]:
    """Seconds of generation with capture plus the check, claims found, seconds by stage."""
    forget(guard)  # what the warm-up has read
    recorder = Recorder.attach(model.model, model.tokenizer)
    prompt = model.render(rag_prompt(question, passages))
    inputs = model.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
    began = perf_counter()
    with torch.inference_mode():
        out = model.model.generate(**inputs, do_sample=False, max_new_tokens=tokens)
    text = model.tokenizer.decode(out[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    found = recorder.find(text)
    if found is None:
        raise RuntimeError("the generation was not captured")
    written = replace(found, writer=model.fingerprint)
    result = guard.check_trace(Trace(question, passages, written))
    seconds = perf_counter() - began
    recorder.detach()
    return seconds, len(result.verdicts), dict(result.timings)


def measure(count: int, tokens: int) -> list[Pair]:
    """One :class:`Pair` a prompt, after a warm-up."""
    guard = Guard.offline()
    model = guard.language_model
    if not isinstance(model, TransformersModel):
        raise TypeError("the benchmark measures the transformers backend")
    pairs = []
    for i, (question, passages) in enumerate([*prompts(1), *prompts(count)]):
        seconds, n = plain(model, model.render(rag_prompt(question, passages)), tokens)
        total, claims, stages = guarded(guard, model, question, passages, tokens)
        if i:  # the first is the warm-up
            pairs.append(Pair(n, claims, seconds, total, stages))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pairs = measure(options.prompts, options.tokens)
    stages = {
        name: statistics.median(p.stages.get(name, 0.0) / p.plain for p in pairs)
        for name in pairs[0].stages
    }
    figures = {
        "answers": len(pairs),
        "tokens": statistics.median(p.tokens for p in pairs),
        "claims": statistics.median(p.claims for p in pairs),
        "extra_time_ratio": statistics.median(p.ratio for p in pairs),
        "extra_time_ratio_range": [min(p.ratio for p in pairs), max(p.ratio for p in pairs)],
        "stages_ratio": stages,
    }
    if options.json:
        print(json.dumps(figures))
        return
    median = f"median {figures['tokens']} tokens, {figures['claims']} claims"
    print(f"{figures['answers']} answers, {median}")
    print(f"extra time beyond plain generation: {figures['extra_time_ratio']:.3f} of it (median)")
    for name, share in stages.items():
        print(f"  {name:16} {share:.3f}")


if __name__ == "__main__":
    main()
