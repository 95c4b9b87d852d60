"""A complete local RAG chain in LangChain: BM25 over passages and the guard's own model.

``franq demo`` runs it. Needs ``pip install 'langchain-franq[local]'``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import langchain_huggingface
from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import GenerationChunk
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableParallel, RunnablePassthrough
from pydantic import PrivateAttr

from franq_guard import GuardedAnswer, Passage
from franq_guard.datasets.local_rag import Answered
from franq_guard.datasets.search import Bm25
from langchain_franq._documents import document_of, passage_of
from langchain_franq.chain import guard_chain

if TYPE_CHECKING:
    from franq_guard import Guard
    from franq_guard.language_model import TransformersModel


class BM25PassageRetriever(BaseRetriever):
    """The ``k`` passages that share the question's rarest words (BM25, Lucene's variant).

    Passages without any word of the question are not returned, so it may return fewer, or none.
    """

    passages: Sequence[Passage]
    k: int = 3
    _index: Any = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Index the passages.

        Raises:
            ValueError: without passages, or for k below 1.
        """
        self._index = Bm25([f"{p.title} {p.text}" for p in self.passages], k=self.k)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [document_of(self.passages[i]) for i, _ in self._index.best(query)]


class HuggingFacePipeline(langchain_huggingface.HuggingFacePipeline):
    """LangChain's class, but it stops generating when its stream is no longer read.

    LangChain's own thread would generate the whole answer. The class name is the same because the
    guard recognises local models by it.
    """

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        left = threading.Event()
        options = kwargs.pop("pipeline_kwargs", {})
        # Not a stopping criterion, because LangChain passes its own and only one list is allowed.
        processors = [*options.get("logits_processor", ()), self._ending(left)]
        options = {**options, "logits_processor": processors}
        try:
            yield from super()._stream(prompt, stop, run_manager, **kwargs, pipeline_kwargs=options)
        finally:
            left.set()

    def _ending(self, left: threading.Event) -> Callable[[Any, Any], Any]:
        """A logits processor that ends the answer at the next token once ``left`` is set."""
        end = self.pipeline.model.generation_config.eos_token_id

        def process(ids: Any, logits: Any) -> Any:
            if end is not None and left.is_set():
                logits = logits.new_full(logits.shape, -float("inf"))
                logits[:, end] = 0.0
            return logits

        return process


def local_rag_chain(
    passages: Sequence[Passage],
    language_model: TransformersModel,
    *,
    k: int = 3,
    max_new_tokens: int = 120,
) -> Runnable[str, dict[str, Any]]:
    """A chain from a question to a dict of ``question``, ``context`` (Documents) and ``answer``.

    The answer is greedy. It uses the given model without loading another copy.

    Args:
        passages: what to search.
        language_model: for example ``Guard.offline().language_model``.
        k: passages to retrieve.
        max_new_tokens: length of an answer.

    Raises:
        ValueError: without passages, or for k below 1.
    """
    from franq_guard.language_model.prompts import rag_prompt

    def prompt(found: dict[str, Any]) -> str:
        given = [passage_of(document) for document in found["context"]]
        return language_model.render(rag_prompt(found["question"], given))

    retriever = BM25PassageRetriever(passages=passages, k=k)
    found: Runnable[str, dict[str, Any]] = RunnableParallel(
        question=RunnablePassthrough(), context=retriever
    )
    write = prompt | pipeline_of(language_model, max_new_tokens=max_new_tokens) | StrOutputParser()
    return found | RunnablePassthrough.assign(answer=write)


def pipeline_of(language_model: TransformersModel, *, max_new_tokens: int) -> HuggingFacePipeline:
    """A HuggingFacePipeline for the model of ``language_model``; greedy, answer text only."""
    from transformers import pipeline

    made = pipeline(
        "text-generation",
        model=language_model.model,
        tokenizer=language_model.tokenizer,
        max_new_tokens=max_new_tokens,
        do_sample=False,
        return_full_text=False,
    )
    return HuggingFacePipeline(pipeline=made)


def guarded_local_rag(
    passages: Sequence[Passage], guard: Guard, *, k: int = 3, max_new_tokens: int = 120
) -> Callable[[str], Answered]:
    """A function from a question to its checked answer; loads the guard's language model.

    Raises:
        ValueError: if the guard has no local language model, or there are no passages.
    """
    from franq_guard.language_model import TransformersModel

    model = guard.language_model
    if not isinstance(model, TransformersModel):
        raise ValueError("a local chain needs a guard with a local language model: Guard.offline()")
    reports: dict[str | None, GuardedAnswer] = {}
    chain = guard_chain(
        local_rag_chain(passages, model, k=k, max_new_tokens=max_new_tokens),
        guard,
        on_report=lambda report: reports.update({report.id: report}),
    )

    def ask(question: str) -> Answered:
        run = uuid4()
        output = chain.invoke(question, {"run_id": run})
        return Answered(reports.pop(str(run)), tuple(map(passage_of, output["context"])))

    return ask
