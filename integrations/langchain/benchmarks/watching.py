"""What FranqCallback costs a chain on the chain's own threads, as a share of the chain's time.

    python integrations/langchain/benchmarks/watching.py --questions 4

The chain is BM25, a prompt, a HuggingFacePipeline over SmolLM2 and a parser, on this machine's CPU,
run whole and streamed. The seconds are those between the begin and the end of every callback event;
the checks themselves run in a thread of their own and are left out (and waited for in between).
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

from franq_bench.overhead import guard_and_model, options_of
from franq_guard.datasets.demo import corpus, questions
from langchain_franq import FranqCallback
from langchain_franq.local import local_rag_chain


class Timed(FranqCallback):
    """Adds up the seconds of its events."""

    spent = 0.0

    def _begin(self, *event: Any) -> None:
        began = perf_counter()
        super()._begin(*event)
        self.spent += perf_counter() - began

    def _end(self, *event: Any) -> None:
        began = perf_counter()
        super()._end(*event)
        self.spent += perf_counter() - began


def main() -> None:
    """Print the shares."""
    options = options_of(__doc__)
    guard, model = guard_and_model(options)
    chain = local_rag_chain(corpus(), model, max_new_tokens=options.max_new_tokens)
    watch = Timed(guard, models=[chain])
    ways = {"invoke": chain.invoke, "stream": lambda *given: list(chain.stream(*given))}
    for name, way in ways.items():
        watch.spent, total = 0.0, 0.0
        for asked in questions()[: options.questions]:
            began = perf_counter()
            way(asked.question, {"callbacks": [watch]})
            total += perf_counter() - began
            watch.flush()
        print(f"{name}: {watch.spent / total:.3%} of the chain's time")


if __name__ == "__main__":
    main()
