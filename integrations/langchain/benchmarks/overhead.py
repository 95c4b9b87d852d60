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

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable

from franq_bench.overhead import MODES, Show, guard_and_model, options_of, report
from franq_guard.datasets.demo import corpus
from langchain_franq import guard_chain
from langchain_franq.local import local_rag_chain


class LastToken(BaseCallbackHandler):
    """Notes when the model was done."""

    run_inline = True

    def __init__(self) -> None:
        self.at = 0.0

    def on_llm_end(self, response: Any, **_: Any) -> None:
        """Note the time."""
        self.at = perf_counter()


def shown(chain: Runnable, last: LastToken) -> Show:
    """The answer of a chain as it streams."""

    def show(question: str) -> Iterator[str]:
        for chunk in chain.stream(question, {"callbacks": [last]}):
            yield chunk.get("answer") or ""

    return show


def main() -> None:
    """Print the table."""
    options, last = options_of(__doc__), LastToken()
    guard, model = guard_and_model(options)
    plain = local_rag_chain(corpus(), model, max_new_tokens=options.max_new_tokens)
    guarded = {mode: shown(guard_chain(plain, guard, stream=mode), last) for mode in MODES}
    report(shown(plain, last), guarded, last, guard=guard, n=options.questions, name="chain")


if __name__ == "__main__":
    main()
