"""Parts for a local query engine without any download: BM25 and the guard's own model.

Needs ``pip install 'llama-index-franq[local]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from llama_index.llms.huggingface import HuggingFaceLLM  # type: ignore[import-untyped]

from franq_guard.datasets.search import Bm25

if TYPE_CHECKING:
    from franq_guard.language_model import TransformersModel


class BM25NodeRetriever(BaseRetriever):
    """The ``k`` nodes that share the question's rarest words (BM25, Lucene's variant).

    Nodes without any word of the question are not returned, so it may return fewer, or none.

    Raises:
        ValueError: without nodes, or for k below 1.
    """

    def __init__(self, nodes: Sequence[BaseNode], *, k: int = 3) -> None:
        super().__init__()
        self._nodes = nodes
        self._index = Bm25([n.get_content(metadata_mode=MetadataMode.EMBED) for n in nodes], k=k)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._index.best(query_bundle.query_str)
        return [NodeWithScore(node=self._nodes[i], score=score) for i, score in found]


def llm_of(language_model: TransformersModel, *, max_new_tokens: int = 120) -> HuggingFaceLLM:
    """A HuggingFaceLLM for the model of ``language_model``: greedy, with its chat template.

    Args:
        language_model: for example ``Guard.offline().language_model``.
        max_new_tokens: length of an answer.
    """
    name = language_model.tokenizer.name_or_path
    return HuggingFaceLLM(
        model=language_model.model,
        tokenizer=language_model.tokenizer,
        model_name=name,
        tokenizer_name=name,
        context_window=language_model.network.window or 2048,
        max_new_tokens=max_new_tokens,
        generate_kwargs={"do_sample": False},
        is_chat_model=True,
    )
