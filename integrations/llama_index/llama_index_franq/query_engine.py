"""guard_query_engine: a query engine whose answers are checked before it returns them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType

from franq_guard.capture.evidence import EvidenceOfTwo
from franq_guard.capture.outlet import StreamMode, check_guard
from franq_guard.records import Label
from franq_guard.streaming.release import OnClaim, OnReport
from llama_index_franq._call import Watch, watch_on
from llama_index_franq._engine import GuardedEngine
from llama_index_franq._events import observed
from llama_index_franq._find import remembers
from llama_index_franq._responses import aguarded, guarded

if TYPE_CHECKING:
    from franq_guard import Guard


def guard_query_engine(
    engine: BaseQueryEngine,
    guard: Guard,
    *,
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    on_claim: OnClaim | None = None,
    raise_on: Collection[Label] = (),
    evidence: EvidenceOfTwo | None = None,
    fields: Collection[str] = (),
) -> GuardedQueryEngine:
    """``engine`` with every answer checked by ``guard`` before it is returned.

    The result returns what ``engine`` does. The evidence is ``source_nodes`` after post-processing.
    The report (schema ``franq.answer/1``) is in ``response.metadata["franq"]``; for a stream the
    mapping is filled when it ends. A HuggingFaceLLM in the engine is found and captured as it
    writes, and the guard scores with that very model.

    Args:
        engine: retriever, citation, router, sub-question engines, your own.
        guard: any number of engines and threads may share it.
        stream: ``buffer``: no unchecked text is shown; a stream has the answer in one piece.
            ``claims``: in a stream each sentence is released as soon as its claims are checked,
            while the model goes on writing. ``tail``: advisory only; a stream shows the raw text as
            it is written, and its last piece says which claims are weak.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`; its exceptions are raised.
        on_claim: called in a stream of claims with each :class:`~franq_guard.streaming.Released`.
        raise_on: labels, such as ``("false",)``; an answer with such a claim is not returned, but
            raises :class:`FactualityError`.
        evidence: where the passages are if they are in no retriever and no ``source_nodes``: a key
            or dotted path in the response or its metadata (``"metadata.docs"``), or a function of
            the question and the response. Default: the nodes, else passages under a usual name
            (``documents``, ``context`` ...) in the metadata or in the prompt's template.
        fields: of a structured answer: the text fields to check one by one; the policy is applied
            to each (``("summary", "findings.text")``; ``("*",)``: all). Each other field is one
            claim; if the policy would remove one, the whole object is left out.

    Raises:
        TypeError: if ``engine`` is not a query engine, or ``guard`` is not a guard.
        ValueError: for an unknown ``stream`` mode or label, ``on_claim`` in another mode
            than ``claims``, a guard that cannot check claim by claim, or an engine that writes no
            answers (``response_mode="no_text"`` or ``"context_only"``).
    """
    check_guard("guard_query_engine", guard)
    _check_engine(engine)
    watch = watch_on(
        engine,
        guard,
        stream=stream,
        on_report=on_report,
        on_claim=on_claim,
        raise_on=raise_on,
        evidence=evidence,
        fields=fields,
    )
    return GuardedQueryEngine(engine, watch)


def _check_engine(engine: object) -> None:
    """Reject what cannot be guarded, and warn of memories inside the engine."""
    if not isinstance(engine, BaseQueryEngine):
        raise TypeError(
            f"guard_query_engine guards a LlamaIndex query engine, not {type(engine).__name__}"
        )
    if isinstance(getattr(engine, "_response_synthesizer", None), (NoText, ContextOnly)):
        raise ValueError(
            "the engine's response mode writes no answer (no_text, context_only): there is nothing "
            "to check. Use another response mode, or the retriever itself"
        )
    kept = remembers(engine)
    if kept is not None:
        warnings.warn(
            f"the {kept} inside the guarded engine remembers raw answers, and later turns build on "
            "them: guard the chat engine itself with guard_chat_engine, which keeps checked ones",
            UserWarning,
            stacklevel=3,
        )


class GuardedQueryEngine(GuardedEngine[BaseQueryEngine], BaseQueryEngine):
    """A query engine and its guard; made by :func:`guard_query_engine`.

    Its prompts are the engine's, under the same names (``get_prompts``, ``update_prompts``). It can
    be deep-copied and pickled if the engine can. Event handlers and tracers observe the inner
    engine and do see the raw text.
    """

    _made_by = staticmethod(guard_query_engine)

    def __init__(self, engine: BaseQueryEngine, watch: Watch) -> None:
        GuardedEngine.__init__(self, engine, watch)
        BaseQueryEngine.__init__(self, getattr(engine, "callback_manager", None))

    def _get_prompts(self) -> PromptDictType:
        return self._engine._get_prompts()

    def _get_prompt_modules(self) -> PromptMixinType:
        return self._engine._get_prompt_modules()

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        self._engine._update_prompts(prompts_dict)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        call = self._watch.call(query_bundle.query_str)
        with observed(call.capture):
            response = self._engine.query(query_bundle)
        return guarded(call, response)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        call = self._watch.call(query_bundle.query_str)
        with observed(call.capture):
            response = await self._engine.aquery(query_bundle)
        return await aguarded(call, response)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """What the engine retrieves; nothing is checked."""
        return self._engine.retrieve(query_bundle)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """:meth:`retrieve`, async, for engines that support it."""
        engine: Any = self._engine
        nodes: list[NodeWithScore] = await engine.aretrieve(query_bundle)
        return nodes

    def synthesize(
        self,
        query_bundle: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """An answer from given nodes, checked."""
        query_bundle = _bundle(query_bundle)
        call = self._watch.call(query_bundle.query_str)
        with observed(call.capture):
            response = self._engine.synthesize(query_bundle, nodes, additional_source_nodes)
        return guarded(call, response)

    async def asynthesize(
        self,
        query_bundle: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """:meth:`synthesize`, async."""
        query_bundle = _bundle(query_bundle)
        call = self._watch.call(query_bundle.query_str)
        with observed(call.capture):
            response = await self._engine.asynthesize(query_bundle, nodes, additional_source_nodes)
        return await aguarded(call, response)


def _bundle(query: QueryType) -> QueryBundle:
    """A question as engines take it; their synthesizers take a string, too."""
    return QueryBundle(query) if isinstance(query, str) else query
