"""Checks an answer claim by claim while it is written, and releases each checked claim."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from franq_guard.basics.background import Steps
from franq_guard.basics.failures import log_failure
from franq_guard.claims.rules.splitter import RuleSplitter
from franq_guard.policy import Policy
from franq_guard.records import Generation, GuardedAnswer, Trace, Verdict
from franq_guard.streaming.reading import Reading, SettledText
from franq_guard.streaming.release import Release, Released
from franq_guard.streaming.released_text import ReleasedText
from franq_guard.streaming.worker import (
    ClaimWorker,
    Lookup,
    Part,
    Piece,
    thinks_first,
    unverified,
)
from franq_guard.telemetry.hooks import GrowingCheck
from franq_guard.uncertainty.methods import find

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")
_OF_THE_WHOLE = frozenset({"relevance"})
"""Statistics of a claim's tokens that depend on the whole answer, so change as it grows."""
_LOOK_EVERY, _SHARE, _LONG = 8, 16, 2000
"""When to look for settled sentences again: after ``_LOOK_EVERY`` new characters, or after one part
in ``_SHARE`` of the open text if that is more; also at line breaks while less than ``_LONG`` is
open."""
_ANEW = 8
"""If the language model has to read the whole answer for each check (on a server, llama.cpp), a
check of a long answer waits until one part in so many is new: else the work would be quadratic."""
_FIRST, _READ_EVERY, _LAG = 8, 100, 16
"""After how many characters the language model reads on, at first and later; the tokens of the last
``_LAG`` characters may not be known yet."""


def check_streamable(guard: Guard) -> None:
    """Reject a guard whose answers cannot be released claim by claim.

    Raises:
        ValueError: the message says what to use instead.
    """
    other = "; or use stream='buffer'"
    kind: Any = type(guard.policy)
    own = getattr(kind, "apply", None) is not Policy.apply
    if own and getattr(kind, "so_far", Policy.so_far) is Policy.so_far:
        raise ValueError(
            f"stream='claims' asks the policy which text of an unfinished answer to release, and "
            f"{kind.__name__} has an apply() of its own: give it a so_far() that fits{other}"
        )
    if guard.policy.action not in ("annotate", "filter"):
        raise ValueError(
            "stream='claims' releases checked claims before the answer is complete, but the action "
            f"{guard.policy.action!r} needs all of it: use action='annotate' or 'filter', "
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
                f"stream='claims' cannot measure {name!r} before the answer is complete: it needs "
                f"the whole answer for each token; choose another uq_faith or uq_unfaith{other}"
            )
    splits: Any = type(guard.claims)
    past = splits.split is not RuleSplitter.split and (
        getattr(splits, "units", RuleSplitter.units) is RuleSplitter.units
    )
    if past or not hasattr(splits, "settled"):
        raise ValueError(
            f"stream='claims' needs a splitter that can say which claims of an unfinished answer "
            f"are final: RuleSplitter can, {type(guard.claims).__name__} cannot{other}"
        )


class ClaimStream:
    """Checks one answer while it is written and releases it claim by claim.

        stream = ClaimStream(guard, lookup)
        try:
            for piece in pieces:
                show(stream.feed(piece))      # "" mostly; does not block
            stream.end()
            for text in stream.remaining():
                show(text)
            answer = stream.answer()          # .text is all that was shown, and stream.rest
        finally:
            stream.close()

    A sentence is scored, in a thread of the stream's own, once no later text can change its claims
    (:mod:`franq_guard.claims.settling`). It is released with the next piece of text after its
    verdicts are known. The released text is what the policy makes of the text and claims so far;
    in the end it is what the policy makes of the whole answer, with two exceptions: ``filter`` may
    treat a blank or a single mark after a removed sentence differently, and where the whole answer
    would be replaced, the replacement follows what was released before its end. After a failure, or
    when the guard's deadline (for the time spent on checking) has passed, or while the models of
    too many streams that were closed, or are past their deadline, still hang, claims are
    ``unverified``, and the policy decides. Feed it from one thread at a time.

    Args:
        guard: used if ``lookup`` fails; otherwise the guard that ``lookup`` returns is used.
        lookup: returns what was captured of the answer so far.
        release: is called with each release, and with the whole answer at the end.
        id: of the answer, if no lookup returned one.
        thinks: whether an answer begins with reasoning whose opening tag is in its prompt, as the
            trace's prompt tells by default; it is held back until its end is known.

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
        thinks: Callable[[Trace], bool] = thinks_first,
    ) -> None:
        check_streamable(guard)
        self._guard, self._id = guard, id
        self.release = release or Release()
        self._text, self._looked, self._asked, self._ended = "", 0, 0, False
        self._read = _FIRST - _READ_EVERY
        self._reading: Future[None] = Future()
        self._reading.set_result(None)
        self._steps = Steps("claims")
        self._waiting: deque[tuple[Part, Future[list[Piece]]]] = deque()
        self._worker = ClaimWorker(guard, lookup, thinks)
        self._watched = GrowingCheck()
        self._settled_text, self._spare = SettledText(guard.claims), Reading(guard.claims)
        self._released, self._closed = ReleasedText(guard.policy), False
        self._whole: GuardedAnswer | None = None
        self._replaced = False
        self.rest = ""

    def feed(self, piece: str) -> str:
        """Add the next text of the answer; returns the text that can be released now.

        Raises:
            FactualityError: at a claim with a label of ``raise_on``; the stream ends there.
            RuntimeError: if it is text after :meth:`end`, of which nothing would be checked. After
                :meth:`close` text is discarded.
        """
        if piece and self._ended and not self._closed:
            raise RuntimeError("feed() after end(): another answer needs a ClaimStream of its own")
        self._text += piece
        if self._is_time_to_look(piece):
            self._looked = len(self._text)
            end = self._settled()
            self._ask(end, over=False)
            self._settled_text.move_base(self._text, end)
            self._read_ahead()
        return self._collect()

    def _is_time_to_look(self, piece: str) -> bool:
        """Whether to look for settled text; less often for more open text, all of which is read."""
        size = len(self._text)
        open_text, new = size - self._settled_text.base, size - self._looked
        if self._worker.reads_anew and size > _LONG and size - self._asked < size // _ANEW:
            return False
        return new >= max(_LOOK_EVERY, open_text // _SHARE) or (open_text < _LONG and "\n" in piece)

    def takes_long(self, piece: str) -> bool:
        """Whether :meth:`feed` will read much text, for which an event loop should not wait."""
        if self.has_news and (self._released.open_text >= _LONG or self._ended):
            return self.is_long
        open_text = len(self._text) - self._settled_text.base
        return open_text >= _LONG and self._is_time_to_look(piece)

    @property
    def is_long(self) -> bool:
        """Whether what reads the whole text takes long."""
        return len(self._text) >= _LONG

    def end(self) -> None:
        """End the answer: the rest of it is now final."""
        if not self._ended:
            self._ended = True
            self._ask(len(self._text), over=True)

    def wait(self) -> str | None:
        """Wait for the next check; the text that it releases.

        None if no check is under way, or after :meth:`close`.

        Raises:
            FactualityError: as :meth:`feed`.
        """
        if self._closed or not self._waiting:
            return None
        self._until_checked()
        return self._collect()

    def remaining(self) -> Iterator[str]:
        """The text that the checks under way release, each as soon as it is done."""
        while (text := self.wait()) is not None:
            if text:
                yield text

    @property
    def has_news(self) -> bool:
        """Whether a check has ended, or its time is over, and its text was not released yet."""
        return bool(self._waiting) and (
            self._waiting[0][1].done() or self._worker.seconds_left() == 0
        )

    async def until_news(self) -> bool:
        """Wait until :attr:`has_news`; False if no check is under way, or after :meth:`close`."""
        if self._closed or not self._waiting:
            return False
        loop, checked = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with suppress(RuntimeError):  # the loop was closed, so nothing is waiting
                loop.call_soon_threadsafe(checked.set)

        self._waiting[0][1].add_done_callback(tell)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._worker.seconds_left()):
                await checked.wait()
        return True

    def _until_checked(self) -> None:
        with suppress(NotYet, CancelledError):  # _collect() handles each of these cases
            self._waiting[0][1].result(self._worker.seconds_left())

    def answer(self) -> GuardedAnswer:
        """Release the rest and return the whole answer; call it after :meth:`wait` returned None.

        The release is called with it, too. ``text`` is all released text, :attr:`rest` its end.

        Raises:
            RuntimeError: if some of it is not checked yet, or was not when the stream was closed.
            FactualityError: as :meth:`feed`.
        """
        if not self._ended or self._waiting:  # the rest would be returned as if it was checked
            raise RuntimeError("call end(), then wait() until it returns None, before answer()")
        released = self._released
        before = len(released.text)
        if released.end < released.checked and not self._replaced:
            self._judge()
        checked = self._whole or self._finished(self._text, released.verdicts)
        self._watched.finish(checked)
        self._emit(self._to_the_end(checked), len(self._text))
        self.rest = released.text[before:]
        return self.release(replace(checked, text=released.text))

    def _to_the_end(self, checked: GuardedAnswer) -> str:
        """All of the text, as close to that of the whole answer as what was released allows."""
        released = self._released
        if released.whole and checked.text.startswith(released.text):
            return checked.text
        if self._replaced:
            return f"{released.text}\n\n{checked.text}"
        # The rest, which is in no claim, is only markup and blanks.
        return released.text + self._text[released.end :]

    @property
    def trace(self) -> Trace:
        """What was captured of the answer when it was last looked up."""
        return self._known()[1]

    def close(self) -> None:
        """Cancel all checks and free their memory; text that was not released is discarded.

        It does not wait: a check that still runs frees its memory when it returns.
        """
        self._closed = True
        self._leave()
        self._steps.cancel()
        self._watched.close()

    def _leave(self) -> None:
        """Check nothing more; a step that still runs counts as abandoned until it returns."""
        if not self._worker.closed:
            self._worker.close()
            steps: list[Future[Any]] = [self._reading, *(made for _, made in self._waiting)]
            for step in steps:
                if step.running():
                    self._guard._streams.leave(step)

    def _settled(self) -> int:
        try:
            return self._settled_text.find_end(self._text, self._asked)
        except Exception as error:  # everything is checked at the end of the answer then
            log_failure(_log, "looking for settled claims failed", error)
            return 0

    def _ask(self, end: int, *, over: bool) -> None:
        """Start a check of the text up to ``end``."""
        if not (over or self._text[self._asked : end].strip()):
            return
        part = Part(self._text, self._asked, end, over, self._settled_text.base)
        self._asked = end
        self._read = max(self._read, end)
        self._waiting.append((part, self._submit(self._worker.check, part)))

    def _submit(self, step: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        return self._steps.submit(self._watched.run, step, *args, **kwargs)

    def _read_ahead(self) -> None:
        """Let the model read a long sentence while it is written, and the prompt at the start."""
        known = len(self._text) - _LAG
        if known - self._read < _READ_EVERY or not self._reading.done() or self._waiting:
            return
        self._read = known
        self._reading = self._submit(self._worker.read, self._text[:known])

    def _collect(self) -> str:
        """Collect the finished checks; the text that they release."""
        before = len(self._released.text)
        while self._waiting and not self._closed:
            part, future = self._waiting[0]
            if future.done() and not future.cancelled():
                pieces = future.result()
            elif self._worker.seconds_left() == 0:
                self._leave()
                pieces = unverified(self._spare, self._worker.with_held(part), "timeout")
            else:
                break
            self._waiting.popleft()
            if part.over:  # only the whole answer tells whether the policy replaces it
                last = [verdict for piece in pieces for verdict in piece.verdicts]
                self._whole = self._finished(self._text, [*self._released.verdicts, *last])
                self._replaced = self._whole.text == self._guard.policy.replacement
            for piece in pieces:
                self._add(piece)
        return self._released.text[before:]

    def _add(self, piece: Piece) -> None:
        released = self._released
        released.add(piece.verdicts, piece.end)
        if any(verdict.label in self.release.raise_on for verdict in piece.verdicts):
            checked = self._finished(self._text[: piece.end], released.verdicts)
            self._watched.finish(checked)
            self.release(replace(checked, text=released.text))
        if not (self._replaced or released.holds_back()):
            self._judge()

    def _judge(self) -> None:
        """Release what the policy makes of all pieces so far."""
        released, end = self._released, self._released.checked
        try:
            text = released.so_far(self._text)
        except Exception as error:  # the text is released at the end of the answer instead
            log_failure(_log, "the policy failed on an unfinished answer", error)
            text = released.text
        self._emit(text, end)
        released.move_base(self._text, self._settled_text)

    def _emit(self, text: str, end: int) -> None:
        """Release what ``text`` adds to the released text; it is for the answer up to ``end``."""
        released = self._released
        verdicts, start = tuple(released.verdicts[released.released_verdicts :]), released.end
        if len(text) > len(released.text) or verdicts:
            new = released.release(text, end)
            self.release.claim(Released(new, verdicts, start, end))

    def _known(self) -> tuple[Guard, Trace]:
        return self._worker.known or (self._guard, Trace("", (), Generation(""), id=self._id))

    def _finished(self, text: str, verdicts: Sequence[Verdict]) -> GuardedAnswer:
        guard, trace = self._known()
        trace = replace(trace, generation=replace(trace.generation, text=text))
        return guard.finished(trace, verdicts, dict(self._worker.growing.timings))
