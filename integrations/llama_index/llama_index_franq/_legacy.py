"""The handler for LlamaIndex's older ``CallbackManager``; it watches as FranqHandler does."""

from __future__ import annotations

import logging
from typing import Any

from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.callbacks.schema import CBEventType, EventPayload

from franq_guard.basics.failures import log_failure
from llama_index_franq._runs import Runs

_log = logging.getLogger(__name__)
_ANSWERING = (CBEventType.QUERY, CBEventType.SYNTHESIZE)


class LegacyHandler(BaseCallbackHandler):
    """Assigns events to runs by their parents; its exceptions never reach the application."""

    def __init__(self, runs: Runs) -> None:
        super().__init__([], [])
        self._runs = runs

    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **_: Any,
    ) -> str:
        """An event begins."""
        try:
            if event_type in _ANSWERING:
                question = str((payload or {}).get(EventPayload.QUERY_STR, ""))
                self._runs.open_event(event_id, question, parent_id)
            else:
                self._runs.belongs(event_id, parent_id)
                self._template(event_type, event_id, payload or {})
        except Exception as error:  # the manager passes it on to the application
            log_failure(_log, "a run was not watched", error)
        return event_id

    def on_event_end(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        **_: Any,
    ) -> None:
        """An event ends."""
        try:
            self._tell(event_type, payload or {}, event_id)
            self._end(event_type, payload or {}, event_id)
        except Exception as error:  # the manager passes it on to the application
            log_failure(_log, "a run was not watched", error)

    def start_trace(self, trace_id: str | None = None) -> None:
        """Do nothing: runs are distinguished by their events."""

    def end_trace(
        self, trace_id: str | None = None, trace_map: dict[str, list[str]] | None = None
    ) -> None:
        """Do nothing: see :meth:`start_trace`."""

    def _end(self, event_type: CBEventType, payload: dict[str, Any], event_id: str) -> None:
        response = payload.get(EventPayload.RESPONSE)
        if event_type in _ANSWERING and response is not None:
            self._runs.exit(event_id, None, response)
        else:  # a leaf, or a call that failed
            self._runs.drop(event_id)

    def _template(self, event_type: CBEventType, event_id: str, payload: dict[str, Any]) -> None:
        if event_type == CBEventType.TEMPLATING:
            for capture in self._runs.captures(event_id):
                capture.on_template(dict(payload.get(EventPayload.TEMPLATE_VARS) or {}))

    def _tell(self, event_type: CBEventType, payload: dict[str, Any], event_id: str) -> None:
        for capture in self._runs.captures(event_id):
            if event_type == CBEventType.RETRIEVE:
                capture.on_nodes(payload.get(EventPayload.NODES) or [])
            elif event_type == CBEventType.LLM and EventPayload.COMPLETION in payload:
                capture.on_end(str(payload[EventPayload.PROMPT]), payload[EventPayload.COMPLETION])
            elif event_type == CBEventType.LLM and EventPayload.RESPONSE in payload:
                capture.on_end(payload[EventPayload.MESSAGES], payload[EventPayload.RESPONSE])
