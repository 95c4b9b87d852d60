"""Times a check of a given answer with evidence alone, relative to one that uses likelihoods.

    python benchmarks/speed/given_answer.py [--answers 12] [--threads 1] [--json]

Both checks run in turn on each answer in one process, with models loaded and warmed up. Each has
its own faithfulness model, so that neither finds the other's scores in a cache. ``evidence`` is the
default for answers whose generation was not captured; ``likelihoods`` requests the paper's two
methods by name. The figure is the median of the ratios of all answers. The floor of the first is
the encoder's pass over claims x chunks; of the second, that and two passes of SmolLM2 over the
prompt.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from time import perf_counter

import torch

from franq_bench.overhead import forget
from franq_guard import Guard, Trace
from franq_guard.datasets.demo import corpus
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.language_model.transformers.smollm2 import load_bundled
from franq_guard.records import Passage
from franq_guard.rows.traces import trace_of


def answers(count: int) -> list[Trace]:
    """Answers of a few sentences from three passages of one topic, in the passages' own words."""
    everything = corpus()
    topics = sorted({str(p.metadata["topic"]) for p in everything})
    found: list[Trace] = []
    for turn in range(count):
        texts = [p for p in everything if p.metadata["topic"] == topics[turn % len(topics)]]
        shown = [Passage(p.text, title=p.title) for p in texts[turn // len(topics) :][:3]]
        said = " ".join(p.text.split(". ")[0].rstrip(".") + "." for p in texts[:5])
        found.append(trace_of(f"What is known of {texts[0].title}?", shown, said))
    return found


def main() -> int:
    """Time both on the same answers and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = load_bundled()
    guards = {
        "likelihoods": Guard(
            language_model=model,
            faithfulness=SmallFaithfulness.bundled(),
            uq_faith="max-probability",
            uq_unfaith="parametric-knowledge",
        ),
        "evidence": Guard(language_model=model, faithfulness=SmallFaithfulness.bundled()),
    }
    traces = answers(options.answers)
    for guard in guards.values():
        guard.check_trace(traces[0])
    seconds: dict[str, list[float]] = {name: [] for name in guards}
    claims = 0
    for turn, trace in enumerate(traces):
        for name in list(guards)[:: 1 if turn % 2 else -1]:
            forget(guards[name])  # the warm-up's answer
            start = perf_counter()
            checked = guards[name].check_trace(trace)
            seconds[name].append(perf_counter() - start)
        claims += len(checked.verdicts)
    ratios = [b / a for a, b in zip(seconds["evidence"], seconds["likelihoods"], strict=True)]
    found = {
        "answers": len(traces),
        "claims": claims,
        "threads": options.threads,
        "seconds_evidence": round(statistics.median(seconds["evidence"]), 3),
        "seconds_likelihoods": round(statistics.median(seconds["likelihoods"]), 3),
        "likelihoods_over_evidence": round(statistics.median(ratios), 2),
    }
    sys.stdout.write(json.dumps(found) + "\n" if options.json else _pretty(found))
    return 0


def _pretty(found: dict[str, float]) -> str:
    return "".join(f"{name.replace('_', ' '):28}{value:>10}\n" for name, value in found.items())


if __name__ == "__main__":
    raise SystemExit(main())
