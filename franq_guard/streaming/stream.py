"""An answer that is checked claim by claim while it is written, and let out as it is checked."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from franq_guard.claims.rules.splitter import RuleSplitter
from franq_guard.policy import Policy
from franq_guard.records import Generation, GuardedAnswer, Trace
from franq_guard.streaming.leaving import Leaving
from franq_guard.streaming.reading import Reading, Settling
from franq_guard.streaming.release import Release, Released
from franq_guard.streaming.worker import ClaimWorker, Lookup, Part, Piece, unverified
from franq_guard.telemetry.hooks import GrowingCheck
from franq_guard.uncertainty.methods import find

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")
_OF_THE_WHOLE = frozenset({"relevance"})
"""Statistics of a claim's tokens that change as the answer goes on."""
_LOOK_EVERY, _SHARE, _LONG = 8, 16, 2000
"""Characters after which the text is looked at again for a settled sentence; this part of what is
still open where that is more; and at every line break while less than so much is open."""
_ANEW = 8
"""This part of a long answer is waited for where the language model reads all of it anew for each
check (one behind a server, llama.cpp), so that what it reads grows with the answer."""
_FIRST, _READ_EVERY, _LAG = 8, 100, 16
"""Characters after which the language model reads on, at first and then; the tokens of the last
``_LAG`` may not be known yet."""


def check_streamable(guard: Guard) -> None:
    """Refuse a guard whose answers cannot leave claim by claim.

    Raises:
        ValueError: saying what to use instead.
    """
    other = "; or use stream='buffer'"
    kind: Any = type(guard.policy)
    own = getattr(kind, "apply", None) is not Policy.apply
    if own and getattr(kind, "so_far", Policy.so_far) is Policy.so_far:
        raise ValueError(
            f"stream='claims' asks the policy what may leave of an unfinished answer, and "
            f"{kind.__name__} has an apply() of its own: give it a so_far() that fits{other}"
        )
    if guard.policy.action not in ("annotate", "filter"):
        raise ValueError(
            "stream='claims' lets checked claims out before the answer is over, and the action "
            f"{guard.policy.action!r} decides on all of it: use action='annotate' or 'filter', "
            f"or raise_on=('false',) to stop at the first such claim{other}"
        )
    if guard.form != "long":
        raise ValueError(
            f"stream='claims' needs a guard of form='long': form={guard.form!r} judges the whole "
            f"answer by samples{other}"
        )
    for name in guard.components.names:
        if find(name).need in _OF_THE_WHOLE:
            raise ValueError(
                f"stream='claims' cannot measure {name!r} before the answer is over: it weighs "
                f"a token against all of the answer; choose another uq_faith or uq_unfaith{other}"
            )
    splits: Any = type(guard.claims)
    past = splits.split is not RuleSplitter.split and (
        getattr(splits, "units", RuleSplitter.units) is RuleSplitter.units
    )
    if past or not hasattr(splits, "settled"):
        raise ValueError(
            f"stream='claims' needs a splitter that tells which claims of an unfinished answer "
            f"are final: RuleSplitter can, {type(guard.claims).__name__} cannot{other}"
        )


class ClaimStream:
    """One answer on its way out.

        stream = ClaimStream(guard, lookup)
        try:
            for piece in pieces:
                show(stream.feed(piece))      # "" mostly; does not block
            stream.end()
            while (text := stream.wait()) is not None:
                show(text)
            answer = stream.answer()          # .text is all that was shown, and stream.rest
        finally:
            stream.close()

    A sentence is scored, in a thread of the stream's own, once nothing that follows can change its
    claims (:mod:`franq_guard.claims.settling`), and leaves with the next piece of text that comes
    after its verdicts. What leaves is exactly what the policy makes of the text and claims so far;
    all of it together is what it makes of the whole answer, save that ``filter`` may mend a blank
    or a stray mark between a removed sentence and a later one in another way. A failure, or the
    guard's deadline (of the seconds spent on checking), makes claims ``unverified``, and the policy
    decides. Feed it from one thread at a time.

    Args:
        guard: checks answers for which ``lookup`` fails; the others by the guard it returns.
        lookup: what was captured of the answer so far.
        release: is told of each release, and of the answer at its end.
        id: of the answer, where no lookup could tell it.

    Raises:
        ValueError: see :func:`check_streamable`.
    """

    def __init__(
        self,
        guard: Guard,
        lookup: Lookup,
        *,
        release: Release | None = None,
        id: str | None = None,
    ) -> None:
        check_streamable(guard)
        self._guard, self._id = guard, id
        self._release = release or Release()
        self._text, self._looked, self._asked, self._ended = "", 0, 0, False
        self._read = _FIRST - _READ_EVERY
        self._reading: Future[None] = Future()
        self._reading.set_result(None)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="franq-claims")
        self._waiting: deque[tuple[Part, Future[list[Piece]]]] = deque()
        self._worker = ClaimWorker(guard, lookup)
        self._watched = GrowingCheck()
        self._settling, self._spare = Settling(guard.claims), Reading(guard.claims)
        self._leaving, self._closed = Leaving(guard.policy), False
        self.rest = ""

    def feed(self, piece: str) -> str:
        """The next text of the answer in, what may leave now out.

        Raises:
            FactualityError: at a claim with one of the release's labels; nothing may follow.
        """
        self._text += piece
        if self._is_time_to_look(piece):
            self._looked = len(self._text)
            end = self._settled()
            self._ask(end, over=False)
            self._settling.go_on(self._text, end)
            self._read_ahead()
        return self._collect()

    def _is_time_to_look(self, piece: str) -> bool:
        """Less and less often where nothing settles: all that is open is looked at each time."""
        size = len(self._text)
        open_text, new = size - self._settling.base, size - self._looked
        if self._worker.reads_anew and size > _LONG and size - self._asked < size // _ANEW:
            return False
        return new >= max(_LOOK_EVERY, open_text // _SHARE) or (open_text < _LONG and "\n" in piece)

    def end(self) -> None:
        """The answer is over: what is left of it is final."""
        if not self._ended:
            self._ended = True
            self._ask(len(self._text), over=True)

    def wait(self) -> str | None:
        """What the next check lets out, when it is done; None when there is none to wait for.

        Raises:
            FactualityError: as :meth:`feed`.
        """
        if not self._waiting:
            return None
        self._until_checked()
        return self._collect()

    async def await_text(self) -> str | None:
        """:meth:`wait` that leaves the event loop free, and takes no thread to wait in."""
        if not self._waiting:
            return None
        loop, checked = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # nobody waits any more: the loop is closed
                loop.call_soon_threadsafe(checked.set)

        self._waiting[0][1].add_done_callback(tell)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._worker.seconds_left()):
                await checked.wait()
        return self._collect()

    def _until_checked(self) -> None:
        with suppress(NotYet, CancelledError):  # told apart as they are collected
            self._waiting[0][1].result(self._worker.seconds_left())

    def answer(self) -> GuardedAnswer:
        """The whole answer with its report, once :meth:`wait` gave None; also told to the release.

        ``text`` is what has left, :attr:`rest` being the last of it.

        Raises:
            FactualityError: as :meth:`feed`.
        """
        leaving = self._leaving
        before = len(leaving.out)
        if leaving.end < leaving.checked:
            self._judge()
        checked = self._checked(self._text)
        kept = leaving.whole and checked.text.startswith(leaving.out)
        # What no claim covers is markup and blanks.
        text = checked.text if kept else leaving.out + self._text[leaving.end :]
        self._emit(text, len(self._text))
        self.rest = leaving.out[before:]
        return self._release(replace(checked, text=leaving.out))

    @property
    def trace(self) -> Trace:
        """What was captured of the answer when it was last looked up."""
        return self._known()[1]

    def close(self) -> None:
        """Stop checking; what has not left never will. Does not wait."""
        self._closed = self._worker.closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._watched.close()

    def _settled(self) -> int:
        try:
            return self._settling.look(self._text, self._asked)
        except Exception:  # then the end of the answer settles it
            _log.warning("looking for settled claims failed", exc_info=True)
            return 0

    def _ask(self, end: int, *, over: bool) -> None:
        """Have the text up to ``end`` checked."""
        first = over and not self._asked  # an answer of no words is looked up, too
        if not self._text[self._asked : end].strip() and not first:
            return
        part = Part(self._text, self._asked, end, over, self._settling.base)
        self._asked = end
        self._read = max(self._read, end)
        self._waiting.append((part, self._submit(self._worker.check, part)))

    def _submit(self, step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        return self._pool.submit(self._watched.run, step, *args, **kwargs)

    def _read_ahead(self) -> None:
        """Have a long sentence read while it is written, the prompt with the first words."""
        known = len(self._text) - _LAG
        if known - self._read < _READ_EVERY or not self._reading.done() or self._waiting:
            return
        self._read = known
        self._reading = self._submit(self._worker.read, self._text[:known])

    def _collect(self) -> str:
        """What the finished checks let out."""
        before = len(self._leaving.out)
        while self._waiting and not self._closed:
            part, future = self._waiting[0]
            if future.done() and not future.cancelled():
                pieces = future.result()
            elif self._worker.seconds_left() == 0:
                self._worker.closed = True
                pieces = unverified(self._spare, part, "timeout")
            else:
                break
            self._waiting.popleft()
            for piece in pieces:
                self._let_out(piece)
        return self._leaving.out[before:]

    def _let_out(self, piece: Piece) -> None:
        leaving = self._leaving
        leaving.add(piece.verdicts, piece.end)
        if any(verdict.label in self._release.raise_on for verdict in piece.verdicts):
            self._release(replace(self._checked(self._text[: piece.end]), text=leaving.out))
        if not leaving.waits():
            self._judge()

    def _judge(self) -> None:
        """Let out what the policy makes of all pieces so far."""
        leaving, end = self._leaving, self._leaving.checked
        try:
            text = leaving.so_far(self._text)
        except Exception:  # the end of the answer lets out what could not leave now
            _log.warning("the policy failed on an unfinished answer", exc_info=True)
            text = leaving.out
        self._emit(text, end)
        leaving.go_on(self._text, self._settling)

    def _emit(self, text: str, end: int) -> None:
        """Let out what ``text`` adds to what has left; ``end``: up to where that was decided."""
        leaving = self._leaving
        verdicts, start = tuple(leaving.verdicts[leaving.told :]), leaving.end
        if len(text) > len(leaving.out) or verdicts:
            new = leaving.let_out(text, end)
            self._release.claim(Released(new, verdicts, start, end))

    def _known(self) -> tuple[Guard, Trace]:
        return self._worker.known or (self._guard, Trace("", (), Generation(""), id=self._id))

    def _checked(self, text: str) -> GuardedAnswer:
        guard, trace = self._known()
        trace = replace(trace, generation=replace(trace.generation, text=text))
        checked = guard.finished(trace, self._leaving.verdicts, dict(self._worker.growing.timings))
        self._watched.finish(checked)
        return checked
