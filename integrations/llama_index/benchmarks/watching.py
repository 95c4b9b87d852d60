"""What FranqHandler costs an engine on the engine's own threads, as a share of the engine's time.

    python integrations/llama_index/benchmarks/watching.py --questions 4

The engine is BM25, the default prompt and a HuggingFaceLLM over SmolLM2, on this machine's CPU, run
whole and streamed. The seconds are those in the handlers of spans and events; the checks themselves
run in a thread of their own and are left out (and waited for in between).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import perf_counter
from typing import Any

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode

from franq_bench.overhead import guard_and_model, options_of
from franq_guard.datasets.demo import corpus, questions
from llama_index_franq import FranqHandler
from llama_index_franq._events import _Router
from llama_index_franq.local import BM25NodeRetriever, llm_of
from llama_index_franq.watching import _Events, _Spans

TIMED = {_Spans: ("span_enter", "span_exit", "span_drop"), _Events: ("handle",)}
TIMED[_Router] = ("handle",)  # passes on the events of a stream that is being read


class Clock:
    """Adds up the seconds that the handlers take; one handler inside another counts once."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._inside: set[int] = set()

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """``method``, with its seconds added."""

        def call(*args: Any, **named: Any) -> Any:
            if get_ident() in self._inside:
                return method(*args, **named)
            self._inside.add(get_ident())
            began = perf_counter()
            try:
                return method(*args, **named)
            finally:
                self.spent += perf_counter() - began
                self._inside.discard(get_ident())

        return call


def main() -> None:
    """Print the shares."""
    options, clock = options_of(__doc__), Clock()
    for kind, names in TIMED.items():
        for name in names:
            setattr(kind, name, clock.timed(getattr(kind, name)))
    guard, model = guard_and_model(options)
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    llm, retriever = llm_of(model, max_new_tokens=options.max_new_tokens), BM25NodeRetriever(nodes)
    with FranqHandler(guard).attach() as watch:
        for name, streaming in (("query", False), ("stream", True)):
            engine = RetrieverQueryEngine.from_args(retriever, llm=llm, streaming=streaming)
            clock.spent, total = 0.0, 0.0
            for asked in questions()[: options.questions]:
                began = perf_counter()
                str(engine.query(asked.question))  # reads a stream to its end
                total += perf_counter() - began
                watch.flush()
            print(f"{name}: {clock.spent / total:.3%} of the engine's time")
        print(f"{watch.checked} answers checked, {watch.failed} failed, {watch.dropped} dropped")


if __name__ == "__main__":
    main()
