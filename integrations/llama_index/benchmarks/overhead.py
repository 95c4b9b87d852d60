"""What the guard adds to a LlamaIndex query engine, as ratios to the unguarded engine.

    python integrations/llama_index/benchmarks/overhead.py

The engine is BM25, the default prompt and a HuggingFaceLLM over SmolLM2, on this machine's CPU.
Each question is answered without the guard and with it in both modes of streaming, one after the
other; a row is the median over the questions. "after the last token" is what a reader waits for
the check alone, "first text" when the first words of the answer are shown: a claim's length into
the answer in ``claims`` mode, after all of it in ``buffer`` mode. The model answers in a sentence
or two; ``--min-new-tokens 120`` makes it go on, as larger models do.
Both engines have the recorder on their model: what capturing costs is not in the ratio (the
repository's benchmarks/speed/capture_overhead.py prints that).
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from franq_bench.overhead import MODES, Show, guard_and_model, options_of, report
from franq_guard.datasets.demo import corpus
from llama_index_franq import guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of


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


def shown(engine: BaseQueryEngine) -> Show:
    """The answer of an engine as it streams."""

    def show(question: str) -> Iterable[str]:
        return engine.query(question).response_gen

    return show


def main() -> None:
    """Print the table."""
    options = options_of(__doc__)
    get_dispatcher().add_event_handler(last := LastToken())
    guard, model = guard_and_model(options)
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    plain = RetrieverQueryEngine.from_args(
        BM25NodeRetriever(nodes, k=3),
        llm=llm_of(model, max_new_tokens=options.max_new_tokens),
        streaming=True,
    )
    guarded = {mode: shown(guard_query_engine(plain, guard, stream=mode)) for mode in MODES}
    report(shown(plain), guarded, last, guard=guard, n=options.questions, name="engine")


if __name__ == "__main__":
    main()
