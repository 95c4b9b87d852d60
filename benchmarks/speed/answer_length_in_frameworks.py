"""Seconds of a guarded answer by its length, in LangChain and in LlamaIndex.

Run: python benchmarks/speed/answer_length_in_frameworks.py [--characters 100000]. The answer comes
word by word through a guarded chain or query engine, checked as a whole (``buffer``) or claim by
claim (``claims``). Models and scorer are fakes, so that the guard and its capture are timed; the
time of the unguarded chain or engine is subtracted. Each row also has its ratio to the row before:
about 2 means linear time.
"""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

from answer_length import PASSAGES, answer
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.outputs import GenerationChunk
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.llms import CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import guard_chain
from llama_index_franq import guard_query_engine

QUESTION = "What of the bridge?"


class Words(FakeListLLM):
    """Streams its answer word by word."""

    def _stream(self, prompt: str, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        for word in re.findall(r"\s*\S+", self.responses[0]):
            yield GenerationChunk(text=word)


class Writing(CustomLLM):
    """Streams its answer word by word."""

    words: list[str] = []  # noqa: RUF012  # a field of pydantic

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text="".join(self.words))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        return (CompletionResponse(text="", delta=word) for word in self.words)


class Found(BaseRetriever):
    """A retriever that returns the passages for any question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=passage.text)) for passage in PASSAGES]


def langchain_stream(text: str, guard: Guard | None, mode: Any) -> Iterator[str]:
    context = PASSAGES[0].text
    chain = RunnableLambda(lambda asked: f"{context}\n{asked}") | Words(responses=[text])
    if guard is None:
        return chain.stream(QUESTION)
    return guard_chain(chain, guard, stream=mode, evidence=lambda *_: context).stream(QUESTION)


def llama_index_stream(text: str, guard: Guard | None, mode: Any) -> Iterator[str]:
    llm = Writing(words=re.findall(r"\s*\S+", text))
    engine: Any = RetrieverQueryEngine.from_args(Found(), llm=llm, streaming=True)
    if guard is not None:
        engine = guard_query_engine(engine, guard, stream=mode)
    return engine.query(QUESTION).response_gen


Stream = Callable[[str, Guard | None, Any], Iterator[str]]
FRAMEWORKS: dict[str, Stream] = {"LangChain": langchain_stream, "LlamaIndex": llama_index_stream}


def seconds(stream: Stream, text: str, guard: Guard | None, mode: str) -> float:
    began = process_time()
    written = sum(map(len, stream(text, guard, mode)))
    assert written >= len(text.strip())
    return process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", type=int, default=100_000, help="the longest answer")
    longest = parser.parse_args().characters
    logging.disable(logging.WARNING)  # uncalibrated models say so
    print(f"{'framework':12}{'mode':8}{'characters':>11}{'seconds':>9}{'x':>6}")
    guard = Guard(faithfulness=FakeFaithfulness())
    for framework, stream in FRAMEWORKS.items():
        for mode in ("buffer", "claims"):
            last = 0.0
            for size in (longest // 16, longest // 8, longest // 4, longest // 2, longest):
                text = answer(size, 5)
                plain = seconds(stream, text, None, mode)
                now = max(0.0, seconds(stream, text, guard, mode) - plain)
                ratio = f"{now / last:.1f}" if last else "-"
                print(f"{framework:12}{mode:8}{size:11}{now:9.2f}{ratio:>6}", flush=True)
                last = now


if __name__ == "__main__":
    main()
