"""Seconds of a guarded answer by its length, in LangChain and in LlamaIndex.

Run: python benchmarks/speed/answer_length_in_frameworks.py [--characters 100000] [--logprobs]. The
answer comes word by word through a guarded chain or query engine, with ``--logprobs`` together with
log-probabilities as a server sends them, and is checked as a whole (``buffer``) or claim by claim
(``claims``). Models and scorer are fakes, so that the guard and its capture are timed; the time of
the unguarded chain or engine is subtracted. Each row also has its ratio to the row before: about 2
means linear time.
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


def sent(word: str) -> dict[str, Any]:
    """The log-probability of a word, as an OpenAI-like server sends it."""
    entry = {"token": word, "bytes": list(word.encode()), "logprob": -0.1}
    return {"logprobs": {"content": [entry]}}


class Words(FakeListLLM):
    """Streams its answer word by word."""

    logprobs: bool = False

    def _stream(self, prompt: str, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        for word in re.findall(r"\s*\S+", self.responses[0]):
            chunk = GenerationChunk(
                text=word, generation_info=sent(word) if self.logprobs else None
            )
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


class Writing(CustomLLM):
    """Streams its answer word by word."""

    words: list[str] = []  # noqa: RUF012  # a field of pydantic
    logprobs: bool = False

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text="".join(self.words))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        for word in self.words:
            raw = {"choices": [sent(word)]} if self.logprobs else None
            yield CompletionResponse(text="", delta=word, raw=raw)


class Found(BaseRetriever):
    """A retriever that returns the passages for any question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=passage.text)) for passage in PASSAGES]


def langchain_stream(
    text: str, guard: Guard | None, mode: Any, logprobs: bool = False
) -> Iterator[str]:
    context = PASSAGES[0].text
    chain = RunnableLambda(lambda asked: f"{context}\n{asked}") | Words(
        responses=[text], logprobs=logprobs
    )
    if guard is None:
        return chain.stream(QUESTION)
    return guard_chain(chain, guard, stream=mode, evidence=lambda *_: context).stream(QUESTION)


def llama_index_stream(
    text: str, guard: Guard | None, mode: Any, logprobs: bool = False
) -> Iterator[str]:
    llm = Writing(words=re.findall(r"\s*\S+", text), logprobs=logprobs)
    engine: Any = RetrieverQueryEngine.from_args(Found(), llm=llm, streaming=True)
    if guard is not None:
        engine = guard_query_engine(engine, guard, stream=mode)
    return engine.query(QUESTION).response_gen


Stream = Callable[[str, Guard | None, Any, bool], Iterator[str]]
FRAMEWORKS: dict[str, Stream] = {"LangChain": langchain_stream, "LlamaIndex": llama_index_stream}


def seconds(stream: Stream, text: str, guard: Guard | None, mode: str, logprobs: bool) -> float:
    began = process_time()
    written = sum(map(len, stream(text, guard, mode, logprobs)))
    assert written >= len(text.strip())
    return process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", type=int, default=100_000, help="the longest answer")
    parser.add_argument("--logprobs", action="store_true", help="the model sends them along")
    options = parser.parse_args()
    longest, logprobs = options.characters, options.logprobs
    logging.disable(logging.WARNING)  # uncalibrated models say so
    print(f"{'framework':12}{'mode':8}{'characters':>11}{'seconds':>9}{'x':>6}")
    guard = Guard(faithfulness=FakeFaithfulness())
    for framework, stream in FRAMEWORKS.items():
        for mode in ("buffer", "claims"):
            last = 0.0
            for size in (longest // 16, longest // 8, longest // 4, longest // 2, longest):
                text = answer(size, 5)
                plain = seconds(stream, text, None, mode, logprobs)
                now = max(0.0, seconds(stream, text, guard, mode, logprobs) - plain)
                ratio = f"{now / last:.1f}" if last else "-"
                print(f"{framework:12}{mode:8}{size:11}{now:9.2f}{ratio:>6}", flush=True)
                last = now


if __name__ == "__main__":
    main()
