"""What an agent writes at its end: structured output, or an answer at the iteration limit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.utils import generate_structured_response
from llama_index.core.agent.workflow import AgentOutput, AgentStream
from llama_index.core.agent.workflow.workflow_events import AgentStreamStructuredOutput
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.memory import BaseMemory
from llama_index.core.workflow import StopEvent
from pydantic_core import to_jsonable_python

from franq_guard.capture.outlet import REPORT_KEY
from llama_index_franq._call import Watch
from llama_index_franq._events import announce, observed
from llama_index_franq._messages import with_text
from llama_index_franq._quiet import HeldContext
from llama_index_franq._tools import evidence_in

STRUCTURED_KEY = "franq_structured"


async def question_in(ctx: Any) -> str:
    """What the user asked in this run."""
    return str(await ctx.store.get("user_msg_str", default=""))


@dataclass(frozen=True)
class Structure:
    """Makes structured output from the answer of ``agent`` as LlamaIndex does, and checks it."""

    output_cls: type[BaseModel] | None
    function: Callable[[list[ChatMessage]], Any] | None

    @classmethod
    def of(cls, agent: Any) -> Structure | None:
        """The structured output that ``agent`` (or a workflow) has to make; None if none."""
        if agent.output_cls is None and agent.structured_output_fn is None:
            return None
        return cls(agent.output_cls, agent.structured_output_fn)

    async def add(
        self, agent: Any, watch: Watch, ctx: Any, final: AgentOutput, memory: BaseMemory
    ) -> None:
        """Make it from the checked answer, check its fields, and put it into ``final``.

        If the policy removes something from the fields, the whole object is left out, because typed
        fields cannot have marks. Its report is next to the answer's, under ``franq_structured``.
        """
        call = watch.call(await question_in(ctx))
        with observed(call.capture):
            made = await self._made(agent, await memory.aget())
        if made is None:
            return
        found = to_jsonable_python(made, fallback=str)
        checked, left = await call.acheck_object(found, await evidence_in(ctx))
        final.response.additional_kwargs[STRUCTURED_KEY] = checked.report
        if left is not None:
            final.structured_response = left
            ctx.write_event_to_stream(AgentStreamStructuredOutput(output=left))

    async def _made(self, agent: Any, messages: list[ChatMessage]) -> Any:
        try:
            if self.output_cls is None:
                made: Any = self.function(messages) if self.function is not None else None
                return await made if inspect.isawaitable(made) else made
            if agent.system_prompt:
                messages = [ChatMessage(role="system", content=agent.system_prompt), *messages]
            return await generate_structured_response(
                messages=messages, llm=agent.llm, output_cls=self.output_cls
            )
        except Exception as error:  # as in LlamaIndex, the answer is returned without it
            warnings.warn(f"the structured output could not be made: {error}", stacklevel=2)
            return None


async def stopped(
    watch: Watch, ctx: Any, generate: Callable[[Any], Awaitable[StopEvent]]
) -> StopEvent:
    """The checked answer that ``generate`` (called with a context) writes at the limit."""
    call = watch.call(await question_in(ctx))
    nodes = await evidence_in(ctx)
    held = HeldContext(ctx)
    with observed(call.capture):
        event = await generate(held)
    output: AgentOutput = event.result
    checked = await call.acheck(output.response.content or "", nodes)
    announce(checked.text, nodes)
    await held.store.asettle(checked.text)
    done = with_answer(output, checked.text, checked.report)
    if held.streamed:
        ctx.write_event_to_stream(stream_event(checked.text, done.current_agent_name))
    ctx.write_event_to_stream(done)
    return StopEvent(result=done)


def stream_event(text: str, name: str) -> AgentStream:
    """``text`` as one event of a stream."""
    return AgentStream(delta=text, response=text, current_agent_name=name)


def with_answer(output: AgentOutput, text: str, report: Any) -> AgentOutput:
    """``output`` with the checked text and without ``raw``, which has what the model wrote."""
    message = with_text(output.response, text, **{REPORT_KEY: report})
    done = AgentOutput(response=message, current_agent_name=output.current_agent_name)
    done.tool_calls.extend(output.tool_calls)  # LlamaIndex adds results to this list
    return done
