"""Runs a judge over the claims of a set; each judgement is saved at once, so a rerun continues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import Protocol

from franq_guard.datasets.annotating.reply import (
    NotJudgedError,
    Reading,
    read_judgement,
    read_search,
)
from franq_guard.datasets.annotating.request import judging_request, search_request, version
from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet, claims_in
from franq_guard.records import Claim, Passage, Trace

Search = Callable[[str], Sequence[Passage]]
"""Function from a claim to further passages that may show whether the claim is true."""


_UNREACHABLE = "cannot be reached: "
"""What :mod:`franq_guard.language_model.asking` says once it has tried often enough."""


class Labeller(Protocol):
    """What :func:`annotate` needs of a judge."""

    @property
    def source(self) -> str:
        """The ``source`` of its judgements."""

    @property
    def version(self) -> str:
        """Of its prompts."""

    @property
    def parallel(self) -> int:
        """How many claims may be judged at the same time."""

    def judge(self, trace: Trace, claim: int) -> ClaimJudgement:
        """One claim's labels, or the error that prevented them; never raises."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A language model that labels claims with the labels of arXiv 2505.21072.

    Args:
        name: identifies this judge; its judgements have the source ``judge:NAME``.
        ask: from a request to a reply, such as :func:`~franq_guard.language_model.asking.ask_from`
            returns; if it raises any error, the claim is "not judged".
        parallel: how many requests run at the same time.
        search: used for the claims that the passages do not decide.
    """

    name: str
    ask: Callable[[str], str]
    parallel: int = 1
    search: Search | None = None

    @property
    def source(self) -> str:
        """The ``source`` of this judge's judgements."""
        return f"judge:{self.name}"

    @property
    def version(self) -> str:
        """Of its prompts; a judge that searches is another version, so it judges all claims."""
        return version() if self.search is None else f"{version()}-search"

    def judge(self, trace: Trace, claim: int) -> ClaimJudgement:
        """One claim's labels, or the error that prevented them; never raises."""
        stated = (trace.claims or ())[claim]
        found = ClaimJudgement(trace.id or "", claim, self.source, version=self.version)
        return judgement(found, lambda: self._read(trace, stated))

    def _read(self, trace: Trace, claim: Claim) -> Reading:
        request = judging_request(trace.question, trace.passages, claim.in_full)
        read = read_judgement(str(self.ask(request)), trace.passages)
        if read.faithfulness == "faithful" or self.search is None:
            return read
        found = list(self.search(claim.in_full))
        if not found:
            return replace(read, factuality="unverifiable")
        searched = read_search(str(self.ask(search_request(claim.in_full, found))), found)
        # The index refers to the answer's own passages, so a quote found by the search has none.
        own = read.quote is not None
        return replace(
            read,
            factuality=searched.factuality,
            quote=read.quote if own else searched.quote,
        )


def judgement(found: ClaimJudgement, read: Callable[[], Reading]) -> ClaimJudgement:
    """The judgement with the labels that ``read`` returns, or with the error it raises."""
    try:
        labels = read()
    except NotJudgedError as error:
        return replace(found, error=str(error))
    except Exception as error:  # a model may raise anything; a rerun will try the claim again
        return replace(found, error=f"{type(error).__name__}: {error}")
    return replace(
        found,
        faithfulness=labels.faithfulness,
        factuality=labels.factuality,
        quote=labels.quote,
        passage=labels.passage,
    )


@dataclass(frozen=True, slots=True)
class Annotated:
    """Counts of claims: ``judged`` now, ``not_judged`` (an error), judged ``before`` this run.

    ``stopped``: why the run ended before all were asked about; empty if it did not.
    """

    judged: int
    not_judged: int
    before: int
    stopped: str = ""


def annotate(
    claims: ClaimSet,
    judge: Labeller,
    *,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Annotated:
    """Judge every claim of the set that this judge, with its current prompt, has not judged yet.

    Claims whose judgement was an error are tried again. Each judgement is written to disk as soon
    as it is made. Where the judge's server cannot be reached, no more claims are begun: each would
    fail after a wait.

    Args:
        claims: the set.
        judge: the judge.
        limit: the most claims to judge in this run; None: all.
        progress: called with (done, to do).
    """
    done = {
        (said.answer, said.claim)
        for said in claims.judgements()
        if said.source == judge.source and said.version == judge.version and not said.error
    }
    todo = [(t, i) for t, i in claims_in(claims.answers()) if (t.id, i) not in done][:limit]
    judged, stopped = 0, ""
    for number, said in enumerate(_judged(judge, todo, claims.add), start=1):
        judged += not said.error
        if progress is not None:
            progress(number, len(todo))
        stopped = stopped or _unreachable(said)
    return Annotated(judged, len(todo) - judged, len(done), stopped)


def _judged(
    judge: Labeller, todo: Sequence[tuple[Trace, int]], keep: Callable[[ClaimJudgement], None]
) -> Iterator[ClaimJudgement]:
    """Judgements in the order they finish; at most ``parallel`` requests run at a time.

    Each is kept by the thread that made it: what is under way at a stop is waited for, and kept.
    """
    left, one_at_a_time = iter(todo), Lock()

    def judged(trace: Trace, claim: int) -> ClaimJudgement:
        said = judge.judge(trace, claim)
        with one_at_a_time:
            keep(said)
        return said

    with ThreadPoolExecutor(max_workers=judge.parallel) as pool:
        running: set[Future[ClaimJudgement]] = set()
        while True:
            for trace, claim in islice(left, judge.parallel - len(running)):
                running.add(pool.submit(judged, trace, claim))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for said in (future.result() for future in finished):
                if _unreachable(said):
                    left = iter(())
                yield said


def _unreachable(said: ClaimJudgement) -> str:
    """The error, if it is that the judge's server cannot be reached."""
    return said.error if said.error and _UNREACHABLE in said.error else ""
