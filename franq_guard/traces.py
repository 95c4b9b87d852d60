"""Plain values as a trace, and a whole answer as one claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.rows.lines import passages_from


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


def whole(answer: str) -> list[Claim]:
    """The answer as one claim; none where it is blank."""
    start, end = len(answer) - len(answer.lstrip()), len(answer.rstrip())
    return [Claim(answer.strip(), ((start, end),))] if end > start else []
