"""Plain values as a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from franq_guard.records import Generation, Passage, Trace
from franq_guard.rows.traces import passages_from


def trace_of(question: str, passages: Iterable[str | Passage], answer: str) -> Trace:
    """Plain values as a trace.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if the question is empty, or a passage is none.
    """
    if not isinstance(question, str) or not isinstance(answer, str):
        raise TypeError("question and answer must be strings")
    if isinstance(passages, (str, Mapping)) or not isinstance(passages, Iterable):
        raise TypeError(
            f"passages must be a list of strings or Passages, not {type(passages).__name__}"
        )
    if not question.strip():
        raise ValueError("the question is empty: FRANQ conditions on it")
    return Trace(question, passages_from(passages), Generation(answer))
