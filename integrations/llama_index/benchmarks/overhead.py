"""What the guard adds to a LlamaIndex query engine, as ratios to the unguarded engine.

    python integrations/llama_index/benchmarks/overhead.py

The engine is BM25, the default prompt and a HuggingFaceLLM over SmolLM2, on this machine's CPU.
Each question is answered without the guard and with it in both modes of streaming, one after the
other; a row is the median over the questions. "after the last token" is what a reader waits for
the check alone, "first text" when the first words of the answer are shown: a claim's length into
the answer in ``claims`` mode, after all of it in ``buffer`` mode. The model answers in a sentence
or two; ``--min-new-tokens 120`` makes it go on, as larger models do.
Both engines have the recorder on their model: what capturing costs is not in the ratio (the
repository's benchmarks/capture_overhead.py prints that).
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from franq_guard import Guard
from franq_guard.datasets.demo import corpus, questions
from llama_index_franq import guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

MODES = ("buffer", "claims")


class LastToken(BaseEventHandler):
    """Notes when the model was done."""

    at: float = 0.0

    @classmethod
    def class_name(cls) -> str:
        """Its name."""
        return "LastToken"

    def handle(self, event: Any, **_: Any) -> None:
        """Note the time."""
        if isinstance(event, LLMChatEndEvent):
            self.at = perf_counter()


@dataclass(frozen=True)
class Timed:
    """Seconds of one streamed answer: all of it, after the last token, until the first text."""

    total: float
    after: float
    first: float


def timed(engine: BaseQueryEngine, question: str, last: LastToken) -> Timed:
    """One streamed answer."""
    first, began = 0.0, perf_counter()
    for text in engine.query(question).response_gen:
        if text and not first:
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
    get_dispatcher().add_event_handler(last := LastToken())
    guard = Guard.offline()
    guard.language_model.model.generation_config.min_new_tokens = options.min_new_tokens or None
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    plain = RetrieverQueryEngine.from_args(
        BM25NodeRetriever(nodes, k=3),
        llm=llm_of(guard.language_model, max_new_tokens=options.max_new_tokens),
        streaming=True,
    )
    guarded = {mode: guard_query_engine(plain, guard, stream=mode) for mode in MODES}
    asked = [question.question for question in questions()][: options.questions]
    for engine in (plain, *guarded.values()):
        timed(engine, asked[0], last)  # warm-up
    rows: dict[tuple[str, str], list[float]] = {}
    for question in asked:
        p = timed(plain, question, last)
        for mode, engine in guarded.items():
            g = timed(engine, question, last)
            rows.setdefault((mode, "total"), []).append((g.total - p.total) / p.total)
            rows.setdefault((mode, "after the last token"), []).append(
                (g.after - p.after) / p.total
            )
            rows.setdefault((mode, "first text"), []).append(g.first / p.total)
    print(f"{len(asked)} answers, shares of the unguarded engine's time; total: extra time")
    for (mode, name), ratios in rows.items():
        spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
        print(f"  {mode:7} {name:22} {statistics.median(ratios):.2f}  {spread}")


if __name__ == "__main__":
    main()
