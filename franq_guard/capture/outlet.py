"""How a checked answer is returned: the streaming modes, the remarks, the key of the report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from franq_guard.policy import MARKS, Policy, citation_mark, wrong_citations
from franq_guard.records import Label, Verdict
from franq_guard.streaming.release import OnClaim
from franq_guard.streaming.stream import check_streamable

if TYPE_CHECKING:
    from franq_guard.guard import Guard

REPORT_KEY = "franq"
"""The key of the report (schema ``franq.answer/1``) in a framework's response."""

StreamMode = Literal["buffer", "claims", "tail"]
"""``buffer``: the whole answer once it is checked; ``claims``: each sentence as soon as its claims
are checked; ``tail``: the unchecked text as it is written, then remarks on it."""

Labels = Collection[Label] | tuple[Label, ...]
"""The type of ``raise_on=``; tuples are listed so that type checkers infer labels, not ``str``."""

STREAM_MODES: tuple[StreamMode, ...] = get_args(StreamMode)


def check_guard(name: str, guard: object) -> None:
    """Reject an argument that is not a guard.

    Args:
        name: of the wrapper.
        guard: what it was given.

    Raises:
        TypeError: the message says what to pass.
    """
    if isinstance(guard, Policy):
        raise TypeError(
            f"{name} wants the guard, not its policy: Guard.offline(policy=Policy(...))"
        )
    if isinstance(guard, type) or not callable(getattr(guard, "check_trace", None)):
        given = guard.__name__ if isinstance(guard, type) else type(guard).__name__
        kind = "the class " if isinstance(guard, type) else ""
        raise TypeError(
            f"{name} wants a guard, not {kind}{given}: pass Guard.offline(), or "
            "Guard(faithfulness=..., language_model=...)"
        )


def check_stream_mode(guard: Guard, stream: str, on_claim: OnClaim | None) -> None:
    """Reject options of a framework's wrapper that cannot be combined.

    Raises:
        ValueError: for an unknown mode, for ``on_claim`` in another mode than ``claims``, or by
            :func:`~franq_guard.streaming.stream.check_streamable`.
    """
    if stream not in STREAM_MODES:
        raise ValueError(f"stream must be one of {STREAM_MODES}, not {stream!r}")
    if stream == "claims":
        check_streamable(guard)
    elif on_claim is not None:
        raise ValueError(
            f"on_claim is called as claims are released: it needs stream='claims', not {stream!r}"
        )


def only_buffered(name: str, stream: str, *, instead: str) -> None:
    """Reject streaming for a step of an agent or graph, whose result is one message or value.

    Args:
        name: of the wrapper.
        stream: the mode asked for.
        instead: how to stream claims; for the message.

    Raises:
        ValueError: for any mode but ``buffer``.
    """
    if stream != "buffer":
        raise ValueError(
            f"{name} streams whole answers only (stream='buffer'), not {stream!r}: the state of an "
            f"agent or graph takes an answer as a whole; {instead}"
        )


def remarks(verdicts: Sequence[Verdict], labels: Collection[Label] = tuple(MARKS)) -> str:
    """The remarks after a text that was streamed unchecked, one line each.

    There is one for each weak or unverified claim, and one for each wrong citation.

    Args:
        verdicts: of the answer, all of them.
        labels: the labels to remark on; see :attr:`franq_guard.Policy.marked`.
    """
    remarks = [(MARKS[v.label], v.claim.text) for v in verdicts if v.label in labels]
    for found, claims in wrong_citations(verdicts, labels):
        remarks.append((citation_mark(found), " ".join(v.claim.text for v in claims)))
    return "".join(f"\n{mark} {text}" for mark, text in remarks)
