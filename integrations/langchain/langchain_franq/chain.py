"""guard_chain: a RAG chain whose answers are checked claim by claim before it returns them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun as AsyncChainRun
from langchain_core.callbacks import CallbackManagerForChainRun as ChainRun
from langchain_core.runnables import (
    ConfigurableFieldSpec,
    Runnable,
    RunnableConfig,
    RunnableSerializable,
)
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import Input, Output
from langchain_core.utils.pydantic import TypeBaseModel
from pydantic import ConfigDict, PrivateAttr

from franq_guard.capture.evidence import EvidenceOfTwo, check_evidence
from franq_guard.capture.local import LocalModel, check_recorded
from franq_guard.capture.outlet import Labels, StreamMode, check_guard, check_stream_mode
from franq_guard.streaming.release import OnClaim, OnReport, Release
from langchain_franq._call import Call, all_checked
from langchain_franq._construction import Notes, refuse_structured, warn_of_memory
from langchain_franq._find import is_compiled_graph, models_of
from langchain_franq._outlets import outlet_of
from langchain_franq._quiet import running_out_of_sight

if TYPE_CHECKING:
    from franq_guard import Guard

Configs = list[RunnableConfig]


def guard_chain(
    chain: Runnable[Input, Output],
    guard: Guard,
    *,
    output_key: str | None = None,
    input_key: str | None = None,
    evidence: EvidenceOfTwo | None = None,
    fields: Collection[str] = (),
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    on_claim: OnClaim | None = None,
    raise_on: Labels = (),
) -> GuardedChain[Input, Output]:
    """``chain`` with every answer checked by ``guard`` before it is returned.

    The result takes and returns what ``chain`` does; see :class:`GuardedChain`. The report (schema
    ``franq.answer/1``) is under ``"franq"`` of a dict, or of a message's ``response_metadata``.

    Args:
        chain: any Runnable that retrieves and answers.
        guard: shared by any number of chains and threads.
        output_key: the key (or dotted path) of the answer in a dict output; default: a usual one
            (``answer``, ``output``, ``result``, ``output_text`` ...), or else ``messages``.
        input_key: the key of the question in a dict input; default: ``question``, ``input``,
            ``query``, or the last human message.
        evidence: a key or dotted path of the output or input, or a function ``(input, output)``, to
            the passages; default: retrievers, tools, usual keys, documents that a step returned.
        fields: the text fields of a structured output, checked separately: dotted paths (which
            include all items of lists) or ``("*",)``.
        stream: ``buffer``, ``claims`` or ``tail``; see :class:`GuardedChain`.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`; its exceptions are raised.
        on_claim: called in a stream of claims with each :class:`~franq_guard.streaming.Released`.
        raise_on: labels, such as ``("false",)``: an answer with such a claim is not returned, but
            :class:`FactualityError` is raised, so that ``with_fallbacks`` can answer.

    Raises:
        TypeError, ValueError: for anything but a Runnable and a guard, for options that are unknown
            or cannot be combined, or for a chain that ends in an object parser without ``fields``.

    Warns:
        UserWarning: if a memory inside the chain would keep raw answers.
    """
    check_guard("guard_chain", guard)
    if not isinstance(chain, Runnable):
        raise TypeError(f"guard_chain guards a LangChain Runnable, not {type(chain).__name__}")
    check_stream_mode(guard, stream, on_claim)
    check_evidence(evidence)
    refuse_structured(chain, output_key, fields, stream)
    warn_of_memory("guard_chain", chain)
    made = GuardedChain(
        bound=chain,
        guard=guard,
        output_key=output_key,
        input_key=input_key,
        evidence=evidence,
        fields=tuple(fields),
        stream_mode=stream,
        release=Release(on_report, raise_on, on_claim),
    )
    return _streamable(made)


def _streamable(chain: GuardedChain[Input, Output]) -> GuardedChain[Input, Output]:
    """``chain``; raises if its claims would be checked by a model that is still writing."""
    if chain.stream_mode == "claims":
        check_recorded(chain.models, "stream='claims'", "use stream='buffer'")
    return chain


class GuardedChain(RunnableSerializable[Input, Output]):
    """A chain and its guard; made by :func:`guard_chain`.

    A local Hugging Face model in the chain is found, its token probabilities are captured as it
    writes, and the guard uses the same model for scoring. A model's texts besides the answer (AI
    messages, drafts, steps) are checked as well, and reasoning is removed; the report lists both.
    If no answer can be found in an output or stream, an exception is raised, so that nothing is
    returned unchecked. Outer streams (LangGraph's and ``astream_events``) do not show what runs
    inside; tracers observe the inner runs and do see the raw text.

    ``stream_mode`` is only for ``stream`` and ``astream``. ``buffer``: the answer is one last
    chunk, while documents and numbers in dict chunks are passed on at once. ``claims``: each
    sentence is released as soon as its claims are checked, the report with the last chunk
    (:class:`~franq_guard.streaming.ClaimStream`). What is not a string, a message, or a dict with
    one under ``answer`` or ``output_key`` is released at the end. Text before a claim that raises
    may have been released. ``tail``: advisory only; the raw text is streamed, and a last chunk says
    which claims are weak.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    bound: Runnable[Input, Output]
    guard: Any
    output_key: str | None = None
    input_key: str | None = None
    evidence: Any = None
    fields: tuple[str, ...] = ()
    stream_mode: StreamMode = "buffer"
    release: Release
    _models: list[LocalModel] = PrivateAttr(default_factory=list)
    _notes: Notes = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Find the chain's own models and start recording them."""
        self._models = models_of(self.bound, self.guard)
        self._notes = Notes(self.bound)

    def __getstate__(self) -> dict[Any, Any]:
        """For pickle: everything but the local models' recorders, which a copy attaches again."""
        state = super().__getstate__()
        private = {**(state["__pydantic_private__"] or {}), "_models": []}
        return {**state, "__pydantic_private__": private}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        self._models = models_of(self.bound, self.guard)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> GuardedChain[Input, Output]:
        """A guarded copy of the chain; it shares the guard, which keeps no state of a run."""
        other = self.model_copy(update={"bound": deepcopy(self.bound, memo)})
        other._models = models_of(other.bound, other.guard)
        return other

    @property
    def models(self) -> list[LocalModel]:
        """The local models found in the chain."""
        return self._models

    @property
    def notes(self) -> Notes:
        """The warnings that its runs log, each once."""
        return self._notes

    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Run the chain and check its answer."""

        def run(value: Any, run_manager: ChainRun, config: RunnableConfig) -> Any:
            call = Call(self, value, run_manager.run_id)
            try:
                with running_out_of_sight():
                    output = self.bound.invoke(value, call.observed(config), **kwargs)
            except Exception as error:
                call.check_handed_over(error)
                raise
            reading = call.read(output)
            return reading.deliver(reading.check())

        return self._call_with_config(run, input, config)

    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """:meth:`invoke`, with the check in a thread so that the event loop stays free."""

        async def run(value: Any, run_manager: AsyncChainRun, config: RunnableConfig) -> Any:
            call = Call(self, value, run_manager.run_id)
            try:
                with running_out_of_sight():
                    output = await self.bound.ainvoke(value, call.observed(config), **kwargs)
            except Exception as error:
                await call.acheck_handed_over(error)
                raise
            reading = call.read(output)
            return reading.deliver(await reading.acheck())

        return await self._acall_with_config(run, input, config)

    def batch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        """Run the chain's own ``batch`` on all inputs, and check all answers together."""

        def run(values: list[Any], run_manager: list[ChainRun], config: Configs) -> list[Any]:
            calls, configs = self._calls(values, run_manager, config)
            with running_out_of_sight():
                outputs = self.bound.batch(
                    values, configs, return_exceptions=return_exceptions, **kwargs
                )
            return all_checked(calls, outputs)

        return self._batch_with_config(run, inputs, config, return_exceptions=return_exceptions)

    async def abatch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        """:meth:`batch`, with the checks in a thread."""

        async def run(
            values: list[Any], run_manager: list[AsyncChainRun], config: Configs
        ) -> list[Any]:
            calls, configs = self._calls(values, run_manager, config)
            with running_out_of_sight():
                outputs = await self.bound.abatch(
                    values, configs, return_exceptions=return_exceptions, **kwargs
                )
            return await asyncio.to_thread(all_checked, calls, outputs)

        return await self._abatch_with_config(
            run, inputs, config, return_exceptions=return_exceptions
        )

    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Stream the answer as ``stream`` of :func:`guard_chain` allows."""
        self._refuse_graph()

        def run(
            values: Iterator[Any], run_manager: ChainRun, config: RunnableConfig
        ) -> Iterator[Any]:
            call = Call(self, next(values), run_manager.run_id)
            with closing(outlet_of(call)) as outlet:
                try:
                    for chunk in self.bound.stream(call.value, call.streaming(config), **kwargs):
                        yield from outlet.feed(chunk)
                except Exception as error:
                    call.check_handed_over(error)
                    raise
                yield from outlet.rest()

        yield from self._transform_stream_with_config(iter([input]), run, config)

    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """:meth:`stream`, with the check in a thread."""
        self._refuse_graph()

        async def run(
            values: AsyncIterator[Any], run_manager: AsyncChainRun, config: RunnableConfig
        ) -> AsyncIterator[Any]:
            call = Call(self, await anext(values), run_manager.run_id)
            with closing(outlet_of(call)) as outlet:
                chunks = self.bound.astream(call.value, call.streaming(config), **kwargs)
                try:
                    async for chunk in chunks:
                        for part in await outlet.afeed(chunk):
                            yield part
                except Exception as error:
                    await call.acheck_handed_over(error)
                    raise
                async for part in outlet.arest():
                    yield part

        async def once() -> AsyncIterator[Any]:
            yield input

        async for chunk in self._atransform_stream_with_config(once(), run, config):
            yield chunk

    def _calls(
        self, values: Sequence[Any], runs: Sequence[ChainRun | AsyncChainRun], configs: Configs
    ) -> tuple[list[Call], Configs]:
        calls = [Call(self, value, run.run_id) for value, run in zip(values, runs, strict=True)]
        return calls, [c.observed(config) for c, config in zip(calls, configs, strict=True)]

    def _refuse_graph(self) -> None:
        if is_compiled_graph(self.bound):
            raise TypeError(
                "a compiled graph streams its state, raw answers included: guard it with "
                "FranqMiddleware or guard_node, create_agent(..., middleware=[FranqMiddleware("
                "guard)]) or graph.add_node('write', guard_node(guard, write)), and stream that; "
                "or use invoke, ainvoke, batch, abatch here"
            )

    # Properties of the wrapped chain ------------------------------------------------------------

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """As for LangChain's classes; the guard itself is not serialisable."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Where LangChain finds the class."""
        return ["langchain_franq", "chain"]

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The chain's name."""
        return self.bound.get_name(suffix, name=name)

    @property
    def InputType(self) -> Any:
        """The chain's input type."""
        return self.bound.InputType

    @property
    def OutputType(self) -> Any:
        """The chain's output type."""
        return self.bound.OutputType

    def get_input_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        """The chain's input schema."""
        return self.bound.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> TypeBaseModel:
        """The chain's output schema."""
        return self.bound.get_output_schema(config)

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """The chain's configurable fields."""
        return self.bound.config_specs

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """The chain's graph."""
        return self.bound.get_graph(config)
