"""How a checked answer leaves: in which mode of streaming, with which remarks, under which key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from franq_guard.policy import MARKS, Policy, citation_mark, wrong_citations
from franq_guard.records import Label, Verdict
from franq_guard.streaming.release import OnClaim
from franq_guard.streaming.stream import ClaimStream, check_streamable

if TYPE_CHECKING:
    from franq_guard.guard import Guard

REPORT_KEY = "franq"
"""Where the report (schema ``franq.answer/1``) stands in a framework's response."""

StreamMode = Literal["buffer", "claims", "tail"]
"""``buffer``: the whole answer once it is checked; ``claims``: each sentence as soon as its claims
are; ``tail``: the raw text, then remarks on it."""

Labels = Collection[Label] | tuple[Label, ...]
"""What ``raise_on=`` takes; tuples are named because type checkers else read one of strings."""

STREAM_MODES: tuple[StreamMode, ...] = get_args(StreamMode)


def check_guard(name: str, guard: object) -> None:
    """Refuse what is no guard.

    Args:
        name: of the wrapper.
        guard: what it was given.

    Raises:
        TypeError: with what to pass.
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
    """Refuse options of a framework's wrapper that do not go together.

    Raises:
        ValueError: for an unknown mode, for ``on_claim`` in another mode than ``claims``, or see
            :func:`~franq_guard.streaming.stream.check_streamable`.
    """
    if stream not in STREAM_MODES:
        raise ValueError(f"stream must be one of {STREAM_MODES}, not {stream!r}")
    if stream == "claims":
        check_streamable(guard)
    elif on_claim is not None:
        raise ValueError(
            f"on_claim tells of claims as they leave: it needs stream='claims', not {stream!r}"
        )


def only_buffered(name: str, stream: str, *, instead: str) -> None:
    """Refuse what a step of an agent or graph cannot do: its result is one message or value.

    Args:
        name: of the wrapper.
        stream: the mode asked for.
        instead: what streams claims.

    Raises:
        ValueError: for another mode than ``buffer``.
    """
    if stream != "buffer":
        raise ValueError(
            f"{name} streams whole answers only (stream='buffer'), not {stream!r}: the state of an "
            f"agent or graph takes an answer as a whole; {instead}"
        )


def remarks(verdicts: Sequence[Verdict], labels: Collection[Label] = tuple(MARKS)) -> str:
    """What follows a text that was shown unchecked: a line for each weak or unverified claim.

    And one for each wrong citation.

    Args:
        verdicts: of the answer, all of them.
        labels: that a reader is told of; see :attr:`franq_guard.Policy.marked`.
    """
    told = [(MARKS[v.label], v.claim.text) for v in verdicts if v.label in labels]
    for found, claims in wrong_citations(verdicts, labels):
        told.append((citation_mark(found), " ".join(v.claim.text for v in claims)))
    return "".join(f"\n{mark} {text}" for mark, text in told)


def remaining(stream: ClaimStream) -> Iterator[str]:
    """What the checks still under way let out, once ``stream`` was ended."""
    while (text := stream.wait()) is not None:
        if text:
            yield text


async def aremaining(stream: ClaimStream) -> AsyncIterator[str]:
    """:func:`remaining`, waiting in a thread."""
    while (text := await stream.await_text()) is not None:
        if text:
            yield text
