"""Checks the parts of a streamed answer in a thread of its own and returns their verdicts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from threading import TIMEOUT_MAX, RLock
from time import perf_counter
from typing import TYPE_CHECKING

from franq_guard.basics.failures import log_failure
from franq_guard.claims.forms import end_of_reasoning, opens_reasoning
from franq_guard.claims.spans import shifted, whole
from franq_guard.records import Claim, Reason, Trace, Verdict
from franq_guard.signals.clock import DeadlineExceeded
from franq_guard.signals.flow import claims_of
from franq_guard.signals.verdict import unchecked
from franq_guard.streaming.growing import GrowingAnswer
from franq_guard.streaming.reading import Reading
from franq_guard.telemetry import hooks

if TYPE_CHECKING:
    from franq_guard.guard import Guard

Lookup = Callable[[str], "tuple[Guard, Trace]"]
"""Takes an answer so far; returns the guard for the model that writes it and what was captured of
the answer (a trace whose generation is that text). Called in a thread of the stream's own."""

_log = logging.getLogger(__name__)


class NotCheckable(Exception):
    """Raised by a lookup if the answer's claims cannot be checked; has the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True)
class Part:
    """The part ``text[start:end]`` to be checked; ``over``: the answer ends there.

    ``base``: a place at or before ``start`` from which the text can be split by itself.
    """

    text: str
    start: int
    end: int
    over: bool
    base: int = 0


@dataclass(frozen=True)
class Piece:
    """A sentence, heading, code block or row that ends at ``end``, with its verdicts."""

    end: int
    verdicts: tuple[Verdict, ...]


def thinks_first(trace: Trace) -> bool:
    """Whether an answer begins with the model's reasoning, as far as its prompt is known."""
    return opens_reasoning(trace.generation.prompt)


class ClaimWorker:
    """The checks that run in the stream's own thread, one at a time.

    Reasoning at the beginning of an answer (``thinks``) is held back until its end is known: it is
    then no claim, and is part of the next check.

    ``reads_anew``: whether the language model reads the whole answer so far at each check.
    """

    def __init__(
        self, guard: Guard, lookup: Lookup, thinks: Callable[[Trace], bool] = thinks_first
    ) -> None:
        self.growing = GrowingAnswer()
        self.known: tuple[Guard, Trace] | None = None
        self.closed = self.reads_anew = False
        self._guard, self._lookup, self._thinks = guard, lookup, thinks
        self._held = 0, 0
        self._reading, self._read = Reading(guard.claims), 0
        self._deadline = guard.deadline
        self._spent = 0.0
        self._began: float | None = None
        self._lock = RLock()  # the garbage collector may close a stream in any thread, anywhere
        self._works = False

    def close(self) -> None:
        """Begin no more steps and free what the language model has cached.

        If a step still runs, it does that at its end: this does not wait. Thread-safe.
        """
        with self._lock:
            self.closed = True
            if not self._works:
                self.growing.close()

    def seconds_left(self) -> float | None:
        """The seconds until the guard's deadline; None without one."""
        if self._deadline is None:
            return None
        spent = self._spent  # read first, so that no seconds are counted twice
        began: float | None = self._began
        running = 0.0 if began is None else perf_counter() - began
        return max(0.0, min(self._deadline - spent - running, TIMEOUT_MAX))

    def with_held(self, part: Part) -> Part:
        """The part with what was held back before it, not split within what was held back."""
        start, end = self._held
        if part.start == end:
            return replace(part, start=start, base=0)
        return part if part.base > end else replace(part, base=0)

    def check(self, part: Part) -> list[Piece]:
        """The pieces of a part with verdicts, none if it is held back. Never raises.

        After a failure the verdicts are unverified.
        """
        part = self.with_held(part)
        if part.start and not part.text[part.start : part.end].strip():
            return []  # only the end of an answer that is checked already
        if not self._begin():
            return unverified(self._reading, part, "timeout")
        try:
            self._guard._streams.admit()
            return self._check(part)
        except NotCheckable as found:
            return unverified(self._reading, part, found.reason)
        except DeadlineExceeded as error:
            _log.warning("claims not verified: %s", error)
            return unverified(self._reading, part, "timeout")
        except Exception as error:  # a live chain must not break on a failure of ours
            log_failure(_log, "claims not verified", error)
            hooks.failed(error)
            return unverified(self._reading, part, "error")
        finally:
            self._read = max(self._read, part.end)
            self._stop()

    def read(self, text: str) -> None:
        """Let the language model read what is written so far, so that later checks take less time.

        Only if that saves time: the tokens are known, and the model can continue from them.
        """
        if not self._begin():
            return
        try:
            self._guard._streams.admit()
            guard, trace = self._lookup(text)
            self._began = perf_counter()
            self.growing.read(guard, trace, since=self._read)
            self._read = len(text)
        except Exception:  # the next check will fail too, and log a warning
            _log.debug("reading ahead failed", exc_info=True)
        finally:
            self._stop()

    def _check(self, part: Part) -> list[Piece]:
        self.known = guard, trace = self._lookup(part.text[: part.end])
        if not part.over and self._still_thinks(trace, part):
            self._held = part.start, part.end
            return []
        model = guard.choice.models(trace.generation).language_model  # before the clock starts
        self.reads_anew = model is not None and not hasattr(model, "session")
        self._began = perf_counter()
        if trace.claims and part.over and part.start == 0:
            split = [(part.end, claims_of(trace, guard.claims, "long")[1])]
        else:
            split = self._split(guard, part, trace.question)
        claims = [claim for _, of_piece in split for claim in of_piece]
        found = iter(self.growing.check(guard, trace, claims, deadline=self.seconds_left()))
        return [Piece(end, tuple(next(found) for _ in of_piece)) for end, of_piece in split]

    def _still_thinks(self, trace: Trace, part: Part) -> bool:
        """Whether all of the part is reasoning that the answer begins with."""
        if not self._thinks(trace):
            return False
        end = end_of_reasoning(part.text)
        return end is None or end >= part.end

    def _split(self, guard: Guard, part: Part, question: str) -> list[tuple[int, list[Claim]]]:
        """The part's claims by the splitter of ``guard``, which may differ from the one before."""
        if not self._reading.splits_with(guard.claims):
            self._reading = Reading(guard.claims)
        return _split(self._reading, part, question)

    def _begin(self) -> bool:
        """Whether a step may begin."""
        with self._lock:
            self._works = not self.closed
            return self._works

    def _stop(self) -> None:
        if self._began is not None:
            running, self._began = perf_counter() - self._began, None
            self._spent += running
        with self._lock:
            self._works = False
            if self.closed:
                self.growing.close()


def _split(reading: Reading, part: Part, question: str) -> list[tuple[int, list[Claim]]]:
    """The sentences, headings and rows of a part: where each ends, and its claims.

    If later text makes the splitter split the text before the part differently, the part is split
    by itself, because earlier text is already released.
    """
    start, end = part.start, part.end
    units = reading.units(part.text, start, part.base, question)
    if all(unit.span[0] >= start for unit in units):
        return _joined((u.span[1], list(u.claims)) for u in units if u.span[1] <= end)
    return _joined(
        (unit.span[1] + start, [shifted(claim, start) for claim in unit.claims])
        for unit in reading.alone(part.text[start:end], question)
    )


def _joined(units: Iterable[tuple[int, list[Claim]]]) -> list[tuple[int, list[Claim]]]:
    """The same, with "Yes." and what follows as one: they are removed together."""
    found: list[tuple[int, list[Claim]]] = []
    for end, claims in units:
        if found and found[-1][1] and found[-1][1][-1].not_a_claim == "yes or no":
            claims = found.pop()[1] + claims
        found.append((end, claims))
    return found


def unverified(reading: Reading, part: Part, reason: Reason) -> list[Piece]:
    """The pieces of a part with all claims unverified; one single claim if splitting fails."""
    try:
        split = _split(reading, part, "")
    except Exception as error:  # a failed check must still return the text
        _log.warning("splitting failed (%s): the rest is one claim", type(error).__name__)
        own = whole(part.text[part.start : part.end])
        split = [(part.end, [shifted(claim, part.start) for claim in own])]
    return [Piece(end, tuple(unchecked(claim, reason) for claim in of)) for end, of in split]
