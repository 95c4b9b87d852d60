"""guard_node: a node that checks the answer in a user's own LangGraph graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from franq_guard import GuardedAnswer, Passage
from franq_guard.capture.evidence import (
    EvidenceOfOne,
    check_evidence,
    chosen_passages,
)
from franq_guard.capture.job import Job, acheck_together, check_together, gathered
from franq_guard.capture.local import LocalModel
from franq_guard.capture.outlet import REPORT_KEY, Labels, StreamMode, check_guard, only_buffered
from franq_guard.streaming.release import OnReport, Release
from langchain_franq._beside import ALSO_CHECKED_KEY, texts_to_check, tool_texts, with_checked
from langchain_franq._capture import Capture
from langchain_franq._construction import Notes, warn_of_memory
from langchain_franq._find import models_of
from langchain_franq._job import job_of
from langchain_franq._node import inside, runnable_of
from langchain_franq._quiet import running_out_of_sight, unobserved
from langchain_franq._shapes import (
    ANSWER_KEYS,
    NO_ANSWER,
    STREAM_A_CHAIN,
    Located,
    locate,
    place_of_last,
    question_of,
)
from langchain_franq._state import Values, handed_over, update_in, values_of, with_values
from langchain_franq._texts import Path, given_texts, is_passage, is_prose, texts_in

if TYPE_CHECKING:
    from franq_guard import Guard


def guard_node(
    guard: Guard,
    writer: Runnable[Any, Any] | Callable[..., Any] | None = None,
    *,
    question: str | None = None,
    context: str | None = None,
    answer: str | None = None,
    evidence: EvidenceOfOne | None = None,
    fields: Collection[str] = (),
    model: Any = None,
    stream: StreamMode = "buffer",
    on_report: OnReport | None = None,
    raise_on: Labels = (),
) -> Runnable[Any, Any]:
    """A node that checks the answer: around the ``writer`` node, or after it.

        graph.add_node("write", guard_node(guard, write))

    Around the writer no stream shows raw text: every text of a model in its update is checked
    before the graph gets it, and what runs inside is hidden (but not what it sends to LangGraph's
    stream writer). After it (``writer=None``) the state is corrected, but streams had its update.
    The report is under ``"franq"`` in the state (declare that key) and in ``response_metadata``.

    Args:
        guard: the guard.
        writer: the node that writes the answer: a function of the state, sync or async, with
            ``config``, ``runtime``, ``writer``, ``store`` or ``previous`` injected as LangGraph
            does, or a Runnable, also a compiled graph. It returns an update or a ``Command``. A
            schema of its own has to be named: ``add_node(..., input_schema=Found)``.
        question: state key of the question; default: as ``guard_chain`` finds it in its input.
        context: state key of the documents; the same as ``evidence``.
        answer: state key of the answer; default: as ``guard_chain`` finds it in an output.
        evidence: a key or dotted path of the state, or a function of it, to the passages; default:
            a usual key, then what the writer retrieved, then what tools left in ``messages``.
        fields: the text fields of a structured update to check; see ``guard_chain``.
        model: a local model that writes the answer, if it cannot be found in ``writer``.
        stream: only ``buffer``, because an answer enters the graph's state as a whole.
        on_report: called with each checked answer.
        raise_on: labels that raise :class:`~langchain_franq.FactualityError`.

    Raises:
        TypeError, ValueError: for arguments that cannot work; KeyError: if a text has no known key.
    """
    check_guard("guard_node", guard)
    check_evidence(evidence)
    only_buffered("guard_node", stream, instead=STREAM_A_CHAIN)
    inner = runnable_of(writer)
    warn_of_memory("guard_node", inner)
    node = _Node(
        guard=guard,
        writer=inner,
        models=models_of([inner, model], guard),
        question=question,
        answer=answer,
        evidence=evidence if evidence is not None else context,
        fields=tuple(fields),
        release=Release(on_report, raise_on),
        notes=Notes(inner),
    )
    return RunnableLambda(node.check, node.acheck, name="franq")


_ANSWERS = (*ANSWER_KEYS, "messages")


@dataclass(frozen=True)
class _Node:
    guard: Guard
    writer: Runnable[Any, Any] | None
    models: Sequence[LocalModel]
    question: str | None
    answer: str | None
    evidence: EvidenceOfOne | None
    fields: tuple[str, ...]
    release: Release
    notes: Notes

    def check(self, state: Any, config: RunnableConfig) -> Any:
        capture = Capture()
        self.notes.saved_state(config)
        try:
            with running_out_of_sight():
                written = self.writer.invoke(state, inside(config, capture)) if self.writer else {}
        except Exception as error:
            made = _Written(self, state, handed_over(error), capture, answered=False)
            error.args = (made.update(check_together(made.jobs)),)
            raise
        made = _Written(self, state, written, capture)
        return made.update(check_together(made.jobs))

    async def acheck(self, state: Any, config: RunnableConfig) -> Any:
        capture = Capture()
        self.notes.saved_state(config)
        hidden = inside(config, capture)
        try:
            with running_out_of_sight():
                written = await self.writer.ainvoke(state, hidden) if self.writer else {}
        except Exception as error:
            made = _Written(self, state, handed_over(error), capture, answered=False)
            error.args = (made.update(await acheck_together(made.jobs)),)
            raise
        made = _Written(self, state, written, capture)
        return made.update(await acheck_together(made.jobs))


class _Written:
    """What a writer returned, a model's texts in it, and the update with the checked texts.

    ``answered``: whether the answer may be in it; a graph that hands over has not answered.
    """

    def __init__(
        self, node: _Node, state: Any, written: Any, capture: Capture, *, answered: bool = True
    ) -> None:
        self._node, self._raw, self._capture = node, written, capture
        self._given, self._new = values_of(state), update_in(written)
        self._state = {**self._given, **self._new}
        before = self._given if node.writer else {}
        self._known = given_texts(before)
        self._located = self._locate() if answered else None
        found = texts_to_check(self._new, self._located or NO_ANSWER, before, capture)
        if self._located is None and node.answer is None and not capture.texts:
            found = {text: path for text, path in self._unnamed().items() if is_prose(text)}
        if self._by_fields and not found:
            node.notes.no_fields(node.fields)
        of_tools = [] if self._by_fields else tool_texts(self._new, capture)
        answer = [self._located.text] if self._located and not self._by_fields else []
        texts = [*answer, *(text for text in [*found, *of_tools] if text not in answer)]
        self._beside = sorted(
            {path[0] for path in found.values() if path} | {"messages" for _ in of_tools}
        )
        self.jobs = [self._job(text) for text in texts]

    @property
    def _by_fields(self) -> bool:
        return self._located is not None and bool(self._located.fields)

    def _locate(self) -> Located | None:
        """The answer; None if there is none this time, since a writer may only search or ask."""
        node, held = self._node, self._new if self._node.writer else self._state
        if node.fields:
            has_text = node.writer is None or any(text.strip() for _, text in texts_in(held))
            return locate(held, None, node.fields) if has_text else None
        key = node.answer or next((key for key in _ANSWERS if key in held), None)
        if node.writer and not _has(held, key) and not self._misses(key):
            return None
        located = locate(self._state, key)
        return located if self._is_answer(located) else None

    def _misses(self, key: str | None) -> bool:
        """Whether a text in the update may be the answer, and no key says which it is."""
        if _has(self._given, key) or (key is None and any(k in self._given for k in _ANSWERS)):
            return False
        return bool(self._unnamed())

    def _unnamed(self) -> dict[str, Path]:
        """New texts of the update that may be a model's, which LangChain need not have called."""
        texts = ((path, text) for path, text in texts_in(self._new) if not is_passage(path))
        return {text: path for path, text in texts if text.strip() and text not in self._known}

    def _is_answer(self, located: Located) -> bool:
        """Whether it is an answer of this turn: not the user's, nor in the state before."""
        key, text = located.path[0], located.text.strip()
        value = self._state[key]
        last = value[place_of_last(value)] if isinstance(value, list) and value else value
        if isinstance(last, RemoveMessage):  # it only forgets earlier turns
            return False
        if not text and isinstance(last, AIMessage) and last.tool_calls:  # it only calls tools
            return False
        wrote = text in [written.strip() for written in self._capture.texts]
        if self._node.writer and _is_among(last, self._given.get(key)):
            return wrote and not isinstance(last, HumanMessage)
        return not isinstance(last, HumanMessage) or wrote or self._capture.wrote(text)

    def _job(self, text: str) -> Job:
        return gathered(lambda: self._gather(text), self._node.guard, text, unobserved=unobserved)

    def _gather(self, text: str) -> Job:
        return job_of(
            self._node.guard,
            self._node.models,
            self._capture,
            question=question_of(self._given, self._node.question),
            answer=text,
            passages=self._passages(text),
            note=self._node.notes.no_passages,
        )

    def _passages(self, text: str) -> list[Passage]:
        evidence = self._node.evidence
        if evidence is not None:
            return chosen_passages(evidence, self._state)
        usual = self._capture.usual(self._new, self._given)
        return usual or self._capture.evidence(self._new, self._given, text)

    def update(self, answers: Sequence[GuardedAnswer]) -> Any:
        """The writer's update with the checked texts and the report."""
        passed = [self._node.release(answer) for answer in answers]
        report = self._report(passed)
        put = self._put(passed, report)
        after = with_checked(put, self.jobs, passed, self._capture, self._known)
        changed = {
            key: _last(value, self._new.get(key))
            for key, value in after.items()
            if value is not self._state.get(key)
        }
        if self.jobs or self._located:
            changed[REPORT_KEY] = report
        return with_values(self._raw, changed) if changed else self._raw

    def _put(self, passed: Sequence[GuardedAnswer], report: Mapping[str, Any]) -> Values:
        if self._located is None:
            return dict(self._new)
        if self._by_fields:
            return dict(self._new or self._state)
        text = self.jobs[0].lead + passed[0].text
        return dict(self._located.put(text, report))

    def _report(self, passed: Sequence[GuardedAnswer]) -> dict[str, Any]:
        if self._located is None or self._by_fields:
            return {"fields": {answer.original: answer.to_dict() for answer in passed}}
        beside = {ALSO_CHECKED_KEY: self._beside} if self._beside else {}
        return {**passed[0].to_dict(), **beside}


def _has(values: Values, key: str | None) -> bool:
    """Whether there is a value at a key or a dotted path that begins with one."""
    return key is not None and (key in values or key.partition(".")[0] in values)


def _is_among(value: Any, before: Any) -> bool:
    """Whether a value is what a state had, or a message among those that it had."""
    held = before if isinstance(before, list) else [before]
    plain = isinstance(value, (str, BaseMessage))  # others may compare in ways of their own
    return any(value is one or (plain and value == one) for one in held)


def _last(value: Any, written: Any) -> Any:
    # A reducer adds messages and replaces one with the same id. Messages that the writer did not
    # return itself must not be added again.
    return value[-1:] if isinstance(value, list) and not isinstance(written, list) else value
