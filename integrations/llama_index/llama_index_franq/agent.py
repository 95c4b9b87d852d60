"""guard_agent: agents whose answers are checked claim by claim before they are shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentSetup,
    AgentWorkflow,
    CodeActAgent,
    FunctionAgent,
    ReActAgent,
    ToolCall,
    ToolCallResult,
)
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import AsyncBaseTool
from llama_index.core.workflow import Context, StopEvent, Workflow, step

from franq_guard.capture.evidence import EvidenceOfTwo
from franq_guard.capture.outlet import REPORT_KEY, StreamMode, check_guard, only_buffered
from franq_guard.records import Label
from franq_guard.streaming.release import OnReport
from llama_index_franq._afterwards import (
    Structure,
    question_in,
    stopped,
    stream_event,
    with_answer,
)
from llama_index_franq._beside import wrote_in_tool
from llama_index_franq._call import Call, Watch, watch_on
from llama_index_franq._engine import again
from llama_index_franq._events import announce, observed
from llama_index_franq._notes import (
    answer_in,
    forget_answer,
    forget_words,
    note_answer,
    note_returned,
)
from llama_index_franq._quiet import (
    HeldContext,
    QuietContext,
    settle_result,
    shown_result,
    without_words,
)
from llama_index_franq._tools import (
    FAILED,
    calls_in,
    errors_in,
    evidence_in,
    find_named,
    is_handoff,
    keep_found,
    report_in,
)

if TYPE_CHECKING:
    from llama_index.core.agent.workflow.agent_context import AgentContext

    from franq_guard import Guard

AgentT = TypeVar("AgentT", bound=BaseWorkflowAgent | AgentWorkflow)
_KINDS = (FunctionAgent, ReActAgent, CodeActAgent)


def guard_agent(
    agent: AgentT,
    guard: Guard,
    *,
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    raise_on: Collection[Label] = (),
    evidence: EvidenceOfTwo | None = None,
    fields: Collection[str] = (),
) -> AgentT:
    """``agent`` with every final answer checked before it is returned or remembered.

    The result is a copy that runs as ``agent`` does; ``agent`` itself is not changed. Evidence is
    what the tools of the run returned: the source nodes of query engine tools, the nodes of
    retriever tools, documents, what was retrieved inside, else the text. Streamed text is held; the
    checked answer comes as one ``AgentStream`` event. The report (schema ``franq.answer/1``) is in
    ``result.response.additional_kwargs["franq"]``; the memory has the guarded answer without it.

    Structured output is made from the checked answer and checked field by field: it stays, or is
    left out where the policy takes something out; its report is under ``franq_structured`` beside
    the answer's. An answer generated at the iteration limit is checked like any other.

    What a model writes besides a tool call (thoughts, plans, text that does not parse) is neither
    shown nor remembered. An answer that a tool's own engine wrote is checked before the agent gets
    it and before its event is shown, as if that engine were guarded.

    Args:
        agent: a FunctionAgent, a ReActAgent, a CodeActAgent, or an AgentWorkflow of them.
        guard: any number of agents and threads may share it.
        stream: only ``buffer``: no text of an answer is shown unchecked.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`; its exceptions are raised.
        raise_on: labels, such as ``("false",)``; an answer with such a claim is neither returned
            nor remembered: the run fails with :class:`FactualityError`.
        evidence: where the passages are: a key or dotted path in what the tools returned or in the
            agent's state, or a function of the question and the list of ``ToolCallResult``.
            Default, also if nothing is there (the log says once that a path leads nowhere): what
            the tools of this run returned. If that is nothing, or they only told that something was
            done ("Ticket 4711 created"), also what those of earlier runs did.
        fields: of structured output: the text fields to check one by one, as in
            :func:`guard_query_engine`.

    Raises:
        TypeError: for another kind of agent, or if ``guard`` is not a guard.
        ValueError: for an unknown ``stream`` mode or label.
    """
    only_buffered("guard_agent", stream, instead="query and chat engines stream claims")
    check_guard("guard_agent", guard)
    options: dict[str, Any] = {
        "stream": stream,
        "on_report": on_report,
        "raise_on": raise_on,
        "evidence": evidence,
        "fields": fields,
    }
    make = _team if isinstance(agent, AgentWorkflow) else _one
    guarded: AgentT = make(agent, guard, options)
    object.__setattr__(guarded, "_franq_made_of", (agent, guard, options))
    return guarded


def _one(agent: Any, guard: Guard, options: dict[str, Any]) -> Any:
    """A single agent with guarded steps."""
    if not isinstance(agent, _KINDS):
        raise TypeError(
            "guard_agent guards a FunctionAgent, a ReActAgent, a CodeActAgent or an AgentWorkflow "
            f"of them, not {type(agent).__name__}"
        )
    watch = watch_on(agent, guard, **options)
    return _guarded(agent, _GuardedSteps, _franq=watch, _structure=Structure.of(agent))


def _team(workflow: Any, guard: Guard, options: dict[str, Any]) -> Any:
    """The workflow with guarded members, which also make its structured output."""
    members = {name: guard_agent(m, guard, **options) for name, m in workflow.agents.items()}
    structure = Structure.of(workflow)
    if structure is not None:  # the workflow's setting overrides its members'
        for member in members.values():
            object.__setattr__(member, "_structure", structure)
    return _guarded(workflow, _GuardedTeam, agents=members)


def _guarded(agent: Any, steps: type, **attributes: Any) -> Any:
    """A copy of ``agent`` whose class has ``steps`` before its own."""
    guarded = copy(agent)
    kind = type(agent)
    guarded.__class__ = type(f"Guarded{kind.__name__}", (steps, kind), {})
    # The guarded steps make the structured output themselves, because it has to be checked.
    unset = {"output_cls": None, "structured_output_fn": None}
    for name, value in {**unset, **attributes}.items():
        object.__setattr__(guarded, name, value)
    return guarded


class _QuietSteps(Workflow):
    """Steps that stream only checked text of a model; a mixin for agents and workflows."""

    async def _watch_in(self, ctx: Any) -> Watch:
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        made: Any = self
        return again, (guard_agent, *made._franq_made_of)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        """A copy with its own agent; it shares the guard and what LlamaIndex has once a process."""
        made: Any = self
        agent, guard, options = made._franq_made_of
        memo = {} if memo is None else memo
        # A copied runtime or dispatcher would serve nobody, and other agents change it meanwhile.
        for one in (agent, *getattr(agent, "agents", {}).values()):
            for shared in (getattr(one, "_runtime", None), getattr(one, "_dispatcher", None)):
                memo[id(shared)] = shared
        return again(guard_agent, deepcopy(agent, memo), guard, options)

    @step
    async def run_agent_step(self, ctx: Context, ev: AgentSetup) -> AgentOutput:
        quiet = QuietContext(ctx, AgentOutput)
        inner: Any = super()
        output: AgentOutput = await inner.run_agent_step(quiet, ev)
        for event in quiet.release():
            # Text that did not parse is returned to the model, but not shown.
            ctx.write_event_to_stream(without_words(event) if event.retry_messages else event)
        return output

    @step
    async def call_tool(self, ctx: Context, ev: ToolCall) -> ToolCallResult:
        call = (await self._watch_in(ctx)).call(await question_in(ctx))
        quiet = QuietContext(ctx, ToolCallResult)
        inner: Any = super()
        with observed(call.capture):
            result: ToolCallResult = await inner.call_tool(quiet, ev)
        by_a_model = wrote_in_tool(call, result.tool_output)
        await keep_found(ctx, result, call.capture, by_a_model=by_a_model)
        await settle_result(call, result)
        if quiet.release():
            ctx.write_event_to_stream(shown_result(result))
        return result


class _GuardedTeam(_QuietSteps, AgentWorkflow):
    """A workflow whose answer at the iteration limit is checked."""

    async def _watch_in(self, ctx: Any) -> Watch:
        agent: Any = self.agents[await ctx.store.get("current_agent_name")]
        watch: Watch = agent._franq
        return watch

    async def _generate_early_stopping_response(
        self, ctx: Any, ev: AgentOutput, max_iterations: int
    ) -> StopEvent:
        inner: Any = super()
        agent: Any = self.agents[ev.current_agent_name]
        return await stopped(
            agent._franq,
            ctx,
            lambda held: inner._generate_early_stopping_response(held, ev, max_iterations),
        )


class _GuardedSteps(_QuietSteps, BaseWorkflowAgent):
    """The steps of an agent, with its answer checked; a mixin for the agent's class."""

    _franq: Watch = PrivateAttr()
    _structure: Structure | None = PrivateAttr()
    _franq_made_of: tuple[Any, ...] = PrivateAttr()

    async def _watch_in(self, ctx: Any) -> Watch:
        return self._franq

    async def take_step(
        self,
        ctx: AgentContext,
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: BaseMemory,
    ) -> AgentOutput:
        call = self._franq.call(await question_in(ctx))
        held = HeldContext(ctx, {m.content or "" for m in await memory.aget_all()})
        with observed(call.capture):
            inner: Any = super()
            output: AgentOutput = await inner.take_step(held, llm_input, tools, memory)
        if output.retry_messages:
            return output
        if output.tool_calls:
            held.show_calls()
            return without_words(output)
        before, text = answer_in(self, output.response.content or "")
        nodes = await evidence_in(ctx, llm_input)
        return await self._checked(ctx, call, output, text, nodes, before, streamed=held.streamed)

    async def finalize(self, ctx: Any, output: AgentOutput, memory: BaseMemory) -> AgentOutput:
        written = REPORT_KEY in output.response.additional_kwargs
        if not written:
            output = await self._returned(ctx, output)
        for error in errors_in(await calls_in(ctx)):
            await note_returned(self, ctx, error, f"{FAILED}{error}")
        await forget_words(self, ctx)
        inner: Any = super()
        final: AgentOutput = await inner.finalize(ctx, output, memory)
        # LlamaIndex makes no structured output from the result of a tool that returns directly.
        if written and self._structure is not None:
            await self._structure.add(self, self._franq, ctx, final, memory)
        return final

    async def _generate_early_stopping_response(self, ctx: Any, max_iterations: int) -> StopEvent:
        inner: Any = super()
        return await stopped(
            self._franq,
            ctx,
            lambda held: inner._generate_early_stopping_response(held, max_iterations),
        )

    async def _returned(self, ctx: Any, output: AgentOutput) -> AgentOutput:
        """The result of a tool that returns directly, which is the answer."""
        calls = await calls_in(ctx)
        text = output.response.content or ""
        if is_handoff(text, calls):
            return output
        report = report_in(output.raw)
        if report is not None:
            return with_answer(output, text, report)
        call = self._franq.call(await question_in(ctx))
        left = ""
        try:
            nodes = await evidence_in(ctx)
            done = await self._checked(ctx, call, output, text, nodes, "", streamed=False)
            left = done.response.content or ""
        finally:  # raise_on may stop it
            await note_returned(self, ctx, text, left)
        return done

    async def _checked(
        self,
        ctx: Any,
        call: Call,
        output: AgentOutput,
        text: str,
        nodes: list[NodeWithScore],
        before: str,
        *,
        streamed: bool,
    ) -> AgentOutput:
        try:
            await find_named(call, ctx)
            checked = await call.acheck(text, nodes)
        except BaseException:  # raise_on stops it, or the run is cancelled
            await forget_answer(self, ctx)
            raise
        announce(checked.text, nodes)
        await note_answer(self, ctx, checked.text)
        if streamed:
            ctx.write_event_to_stream(stream_event(checked.text, self.name))
        return with_answer(output, before + checked.text, checked.report)
