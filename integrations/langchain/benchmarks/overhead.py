"""What the guard adds to a LangChain chain, as ratios to the unguarded chain.

    python integrations/langchain/benchmarks/overhead.py

The chain is BM25, a prompt, a HuggingFacePipeline over SmolLM2 and a parser, on this machine's CPU.
Each question is answered without the guard and with it in both modes of streaming, one after the
other; a row is the median over the questions. "after the last token" is what a reader waits for
the check alone, "first text" when the first words of the answer are shown: a claim's length into
the answer in ``claims`` mode, after all of it in ``buffer`` mode. The model answers in a sentence
or two; ``--min-new-tokens 120`` makes it go on, as larger models do.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from franq_guard import Guard
from franq_guard.datasets.demo import corpus, questions
from langchain_franq import guard_chain
from langchain_franq.local import local_rag_chain

MODES = ("buffer", "claims")


class LastToken(BaseCallbackHandler):
    """Notes when the model was done."""

    run_inline = True

    def __init__(self) -> None:
        self.at = 0.0

    def on_llm_end(self, response: Any, **_: Any) -> None:
        """Note the time."""
        self.at = perf_counter()


@dataclass(frozen=True)
class Timed:
    """Seconds of one streamed answer: all of it, after the last token, until the first text."""

    total: float
    after: float
    first: float


def timed(chain: Runnable, question: str) -> Timed:
    """One streamed answer."""
    last, first, began = LastToken(), 0.0, perf_counter()
    for chunk in chain.stream(question, {"callbacks": [last]}):
        if chunk.get("answer") and not first:
            first = perf_counter()
    ended = perf_counter()
    return Timed(ended - began, ended - last.at, first - began)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--max-new-tokens", type=int, default=120)
    parser.add_argument("--min-new-tokens", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    guard = Guard.offline()
    guard.language_model.model.generation_config.min_new_tokens = options.min_new_tokens or None
    plain = local_rag_chain(corpus(), guard.language_model, max_new_tokens=options.max_new_tokens)
    guarded = {mode: guard_chain(plain, guard, stream=mode) for mode in MODES}
    asked = [question.question for question in questions()][: options.questions]
    for chain in (plain, *guarded.values()):
        timed(chain, asked[0])  # warm-up
    rows: dict[tuple[str, str], list[float]] = {}
    for question in asked:
        p = timed(plain, question)
        for mode, chain in guarded.items():
            g = timed(chain, question)
            rows.setdefault((mode, "total"), []).append((g.total - p.total) / p.total)
            rows.setdefault((mode, "after the last token"), []).append(
                (g.after - p.after) / p.total
            )
            rows.setdefault((mode, "first text"), []).append(g.first / p.total)
    print(f"{len(asked)} answers, shares of the unguarded chain's time; total: extra time")
    for (mode, name), ratios in rows.items():
        spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
        print(f"  {mode:7} {name:22} {statistics.median(ratios):.2f}  {spread}")


if __name__ == "__main__":
    main()
