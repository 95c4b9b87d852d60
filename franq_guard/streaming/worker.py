"""The checking side of a stream of claims: parts of an answer so far in, verdicts out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from franq_guard.claims.spans import shifted, whole
from franq_guard.records import Claim, Reason, Trace, Verdict
from franq_guard.signals.clock import DeadlineExceeded
from franq_guard.signals.verdict import unchecked
from franq_guard.streaming.growing import GrowingAnswer
from franq_guard.streaming.reading import Reading
from franq_guard.telemetry import hooks

if TYPE_CHECKING:
    from franq_guard.guard import Guard

Lookup = Callable[[str], "tuple[Guard, Trace]"]
"""From an answer so far to what was captured of it (a trace whose generation is that text) and the
guard that fits the model that writes it. Called in a thread of the stream's own."""

_log = logging.getLogger(__name__)


class NotCheckable(Exception):
    """Raised by a lookup: nothing can be told of this answer's claims, and why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True)
class Part:
    """``text[start:end]`` of an answer so far is to be checked; ``over``: the answer ends there.

    ``base``: a place up to ``start`` from where the text can be split without what stands before.
    """

    text: str
    start: int
    end: int
    over: bool
    base: int = 0


@dataclass(frozen=True)
class Piece:
    """A sentence, heading, code block or row up to character ``end``, and what was found."""

    end: int
    verdicts: tuple[Verdict, ...]


class ClaimWorker:
    """What runs in the stream's own thread; one check at a time.

    ``reads_anew``: whether the language model reads the whole answer so far at each check.
    """

    def __init__(self, guard: Guard, lookup: Lookup) -> None:
        self.growing = GrowingAnswer()
        self.known: tuple[Guard, Trace] | None = None
        self.closed = self.reads_anew = False
        self._guard, self._lookup = guard, lookup
        self._reading, self._read = Reading(guard.claims), 0
        self._deadline = guard.deadline
        self._spent = 0.0
        self._began: float | None = None

    def seconds_left(self) -> float | None:
        """Of the guard's deadline; None without one."""
        if self._deadline is None:
            return None
        spent = self._spent  # before the other: seconds may be missed, never counted twice
        began: float | None = self._began
        running = 0.0 if began is None else perf_counter() - began
        return max(0.0, self._deadline - spent - running)

    def check(self, part: Part) -> list[Piece]:
        """The pieces of a part with verdicts; raises nothing."""
        if self.closed:
            return unverified(self._reading, part, "timeout")
        try:
            return self._check(part)
        except NotCheckable as found:
            return unverified(self._reading, part, found.reason)
        except DeadlineExceeded:
            return unverified(self._reading, part, "timeout")
        except Exception as error:  # a live chain must not break on a failure of ours
            _log.warning("claims not verified: %s: %s", type(error).__name__, error)
            hooks.failed(error)
            _log.debug("check failed", exc_info=True)
            return unverified(self._reading, part, "error")
        finally:
            self._read = max(self._read, part.end)
            self._stop()

    def read(self, text: str) -> None:
        """Have the language model read what is written so far, so that less is left to read later.

        Only where that saves anything: tokens are known, and the model can go on from them.
        """
        if self.closed:
            return
        try:
            guard, trace = self._lookup(text)
            self._began = perf_counter()
            self.growing.read(guard, trace, since=self._read)
            self._read = len(text)
        except Exception:  # the check that follows will fail, too, and say so
            _log.debug("reading ahead failed", exc_info=True)
        finally:
            self._stop()

    def _check(self, part: Part) -> list[Piece]:
        self.known = guard, trace = self._lookup(part.text[: part.end])
        model = guard.choice.models(trace.generation).language_model  # loading is on nobody's clock
        self.reads_anew = model is not None and not hasattr(model, "session")
        self._began = perf_counter()
        given = trace.claims if part.over and part.start == 0 else None
        split = [(part.end, list(given))] if given else self._split(guard, part, trace.question)
        claims = [claim for _, of_piece in split for claim in of_piece]
        found = iter(self.growing.check(guard, trace, claims, deadline=self.seconds_left()))
        return [Piece(end, tuple(next(found) for _ in of_piece)) for end, of_piece in split]

    def _split(self, guard: Guard, part: Part, question: str) -> list[tuple[int, list[Claim]]]:
        """The part's claims by the splitter of the guard that fits, which may be another one."""
        if not self._reading.splits_with(guard.claims):
            self._reading = Reading(guard.claims)
        return _split(self._reading, part, question)

    def _stop(self) -> None:
        if self._began is not None:
            running, self._began = perf_counter() - self._began, None
            self._spent += running
        if self.closed:
            self.growing.close()


def _split(reading: Reading, part: Part, question: str) -> list[tuple[int, list[Claim]]]:
    """The sentences, headings and rows of a part: where each ends, and its claims.

    Where later text made the splitter see what lies before the part in another way, the part is
    split by itself: what has left stays as it was.
    """
    start, end = part.start, part.end
    units = reading.units(part.text, start, part.base, question)
    if all(unit.span[0] >= start for unit in units):
        return [(unit.span[1], list(unit.claims)) for unit in units if unit.span[1] <= end]
    return [
        (unit.span[1] + start, [shifted(claim, start) for claim in unit.claims])
        for unit in reading.alone(part.text[start:end], question)
    ]


def unverified(reading: Reading, part: Part, reason: Reason) -> list[Piece]:
    """The same, nothing known of any claim; all as one claim where not even splitting works."""
    try:
        split = _split(reading, part, "")
    except Exception as error:  # a guard that fails must still let the answer be dealt with
        _log.warning("splitting failed (%s); the rest is taken as one claim", error)
        own = whole(part.text[part.start : part.end])
        split = [(part.end, [shifted(claim, part.start) for claim in own])]
    return [Piece(end, tuple(unchecked(claim, reason) for claim in of)) for end, of in split]
