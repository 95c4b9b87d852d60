"""guard_node: the checking step of a LangGraph graph of one's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import merge_configs

from franq_guard import GuardedAnswer
from franq_guard.capture.job import Job, gathered
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import REPORT_KEY, StreamMode, only_buffered
from franq_guard.records import Label
from franq_guard.streaming.release import OnReport, Release
from langchain_franq._capture import Capture
from langchain_franq._evidence import documents_of_turn
from langchain_franq._job import job_of
from langchain_franq._models import models_of
from langchain_franq._quiet import NO_STREAM, unobserved
from langchain_franq._shapes import STREAM_A_CHAIN, documents_in, locate, question_of

if TYPE_CHECKING:
    from franq_guard import Guard

State = Mapping[str, Any]
Update = dict[str, Any]


def guard_node(
    guard: Guard,
    writer: Runnable[Any, Any] | Callable[..., Any] | None = None,
    *,
    question: str | None = None,
    context: str = "context",
    answer: str | None = None,
    model: Any = None,
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    raise_on: Collection[Label] = (),
) -> Runnable[State, Update]:
    """A node that checks the answer: around the ``writer`` node, or after it.

        graph.add_node("write", guard_node(guard, write))

    Around the writer nothing raw leaves, in any stream mode: its update is checked before the graph
    sees it, and tokens of the models inside are hidden. A node after the writer (``writer=None``)
    corrects the state, but the writer's own update has been streamed by then.

    The answer is replaced in place; the report is under ``"franq"`` (declare that key in the state
    to keep it).

    Args:
        guard: the guard.
        writer: the function (state, or state and config) or Runnable that writes the answer.
        question: state key of the question; default ``question``, ``input``, ``query``, or the
            last human message.
        context: state key of the documents; where it is empty, what the writer retrieved, or what
            tools of the current turn left in ``messages``.
        answer: state key of the answer, a string or a message; default the first of ``answer``,
            ``output``, ``result``, ``response``, ``text``, or the last of ``messages``.
        model: what writes the answer, where ``writer`` does not show it: the tokens of a local
            Hugging Face model in it are captured, and it is used for scoring.
        stream: ``buffer`` alone: an answer enters the graph's state as a whole.
        on_report: called with each checked answer.
        raise_on: labels that raise :class:`~langchain_franq.FactualityError`.

    Raises:
        ValueError: for another ``stream`` mode.

    Raises (in a run):
        TypeError, KeyError: when the state holds no answer.
    """
    only_buffered("guard_node", stream, instead=STREAM_A_CHAIN)
    inner = RunnableLambda(writer) if callable(writer) else writer
    node = _Node(
        guard=guard,
        writer=inner,
        models=models_of([inner, model], guard),
        keys=(question, context, answer),
        release=Release(on_report, raise_on),
    )
    return RunnableLambda(node.check, node.acheck, name="franq")


@dataclass(frozen=True)
class _Node:
    guard: Guard
    writer: Runnable[Any, Any] | None
    models: Sequence[LocalModel]
    keys: tuple[str | None, str, str | None]
    release: Release

    def check(self, state: State, config: RunnableConfig) -> Update:
        capture = Capture()
        written = self.writer.invoke(state, _inside(config, capture)) if self.writer else {}
        job = self._job(state, written, capture)
        return self._update(state, written, job, job.check())

    async def acheck(self, state: State, config: RunnableConfig) -> Update:
        capture = Capture()
        inside = _inside(config, capture)
        written = await self.writer.ainvoke(state, inside) if self.writer else {}
        job = self._job(state, written, capture)
        return self._update(state, written, job, await job.acheck())

    def _job(self, state: State, written: Update, capture: Capture) -> Job:
        text = locate({**state, **written}, self.keys[2]).text
        return gathered(
            lambda: self._gather(state, written, capture, text),
            self.guard,
            text,
            unobserved=unobserved,
        )

    def _gather(self, state: State, written: Update, capture: Capture, text: str) -> Job:
        question, context, _ = self.keys
        given = {"context": {**state, **written}.get(context)}
        messages = [m for m in state.get("messages") or () if isinstance(m, BaseMessage)]
        documents = documents_in(given) or capture.retrieved() or documents_of_turn(messages)
        return job_of(
            self.guard,
            self.models,
            capture,
            question=question_of(state, question),
            answer=text,
            documents=documents,
        )

    def _update(self, state: State, written: Update, job: Job, checked: GuardedAnswer) -> Update:
        passed = self.release(checked)
        before = {**state, **written}
        after = locate(before, self.keys[2]).put(job.lead + passed.text, passed.to_dict())
        changed = {key: _last(v) for key, v in after.items() if v is not before.get(key)}
        return {**written, **changed, REPORT_KEY: after[REPORT_KEY]}


def _inside(config: RunnableConfig, capture: Capture) -> RunnableConfig:
    # Its own run name: LangGraph takes a run that has the node's name for the node itself.
    own: RunnableConfig = {"callbacks": [capture], "tags": [NO_STREAM], "run_name": "franq_writer"}
    return merge_configs(config, own)


def _last(value: Any) -> Any:
    # Messages are added by a reducer, which replaces the one that has the same id.
    return value[-1:] if isinstance(value, list) else value
