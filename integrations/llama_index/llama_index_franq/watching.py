"""FranqHandler: checks answers in the background, for applications without guarded engines."""

from __future__ import annotations

from inspect import BoundArguments
from typing import TYPE_CHECKING, Any, ClassVar, Self

from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.chat_engine import StreamChatDeltaReceivedEvent
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

from franq_guard.capture.evidence import EvidenceOfTwo
from franq_guard.capture.watching import Watching
from franq_guard.streaming.release import OnReport
from llama_index_franq._events import hear_langchain, tell
from llama_index_franq._legacy import LegacyHandler
from llama_index_franq._runs import Runs, suppressed

if TYPE_CHECKING:
    from franq_guard import Guard


class FranqHandler(Watching):
    """Watches every engine, chat engine, agent and workflow of the process; changes none.

        with FranqHandler(guard, on_report=print).attach() as watch:
            ...                      # the application as it is
            watch.flush()

    It sees the retrieved nodes, the prompts and the final answer of each root run, checks the
    answer in a thread of its own and reports it. Answers are never changed or held back, and its
    exceptions do not reach the application; if too many answers wait, further ones are dropped and
    counted. For nested engines the outermost answer is reported; if that is not text (a workflow
    that returns a dict or an event of its own), each answer of an engine inside is reported, and
    each text in it that a model of the workflow wrote. If none is found although a model ran, that
    counts as failed. A stream is reported once it is read to
    its end; failed or cancelled runs and streams that are not read to the end are not reported.
    Answers of guarded engines are checked already and skipped.

    The log-probabilities are those that a server sent, or those of a ``HuggingFaceLLM`` in the
    engine, chat engine or agent. For models that only a Workflow's steps use, and with
    :meth:`callback_handler`, there are none: the passages alone decide, or, with a calibrator of
    yours or methods by name, the guard's own language model reads the answer.

    Args:
        guard: checks the answers; may be used elsewhere at the same time.
        on_report: called with each :class:`~franq_guard.GuardedAnswer`, in the checking thread and
            in the context in which the run ended. Its exceptions are logged.
        sample: the share of root runs to watch, in [0, 1].
        evidence: as for :func:`guard_query_engine`.
        queue_size: how many answers may wait to be checked.

    Raises:
        TypeError, ValueError: for arguments that cannot work.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        on_report: OnReport | None = None,
        sample: float = 1.0,
        evidence: EvidenceOfTwo | None = None,
        queue_size: int = 1000,
    ) -> None:
        super().__init__(guard, on_report, sample=sample, queue_size=queue_size, evidence=evidence)
        self._runs = Runs(guard, self, evidence)
        self._spans, self._events = _Spans(self._runs), _Events(self._runs)

    def attach(self) -> Self:
        """Start listening to LlamaIndex's instrumentation; a second call does nothing."""
        hear_langchain()
        root = get_dispatcher()
        if not any(handler is self._spans for handler in root.span_handlers):
            root.add_span_handler(self._spans)
            root.add_event_handler(self._events)
        return self

    def detach(self) -> None:
        """Stop listening; runs that have not ended are not reported."""
        root = get_dispatcher()
        root.span_handlers = [h for h in root.span_handlers if h is not self._spans]
        root.event_handlers = [h for h in root.event_handlers if h is not self._events]

    def callback_handler(self) -> BaseCallbackHandler:
        """A handler for applications that use ``CallbackManager([...])``, instead of attaching.

        It watches only the engines of that manager. LlamaIndex does not report the answers of
        agents and of a ``SimpleChatEngine`` there.
        """
        return LegacyHandler(self._runs)

    def close(self, timeout: float | None = 2.0) -> bool:
        """Detach, accept nothing more, and :meth:`flush`."""
        self.detach()
        return super().close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Spans(BaseSpanHandler[Any]):
    """Assigns spans to runs; logs exceptions, because the dispatcher would hide them."""

    _runs: Runs = PrivateAttr()

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs

    @classmethod
    def class_name(cls) -> str:
        return "FranqSpans"

    def span_enter(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        with suppressed():
            self._runs.enter(id_, bound_args, instance, parent_id)

    def span_exit(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        result: Any = None,
        **_: Any,
    ) -> None:
        with suppressed():
            self._runs.exit(id_, instance, result)

    def span_drop(
        self,
        id_: str,
        bound_args: BoundArguments,
        instance: Any = None,
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        with suppressed():
            self._runs.drop(id_)

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""


class _Events(BaseEventHandler):
    """Passes events to the run of their span."""

    hears_langchain: ClassVar[bool] = True

    _runs: Runs = PrivateAttr()

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs

    @classmethod
    def class_name(cls) -> str:
        return "FranqEvents"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        with suppressed():
            if isinstance(event, StreamChatDeltaReceivedEvent):
                self._runs.hear(event.span_id, event.delta)
            for capture in self._runs.captures(event.span_id):
                tell(capture, event)
