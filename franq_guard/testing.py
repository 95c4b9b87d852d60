"""Models and a guard without weights, for our tests and users' tests: deterministic and fast.

Use them to test how an application reacts to verdicts; their numbers have no meaning.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from franq_guard.language_model.base import Contrast, Progress, Prompt
from franq_guard.language_model.prompts import question_prompt
from franq_guard.policy import Policy, status_of
from franq_guard.records import (
    Claim,
    Evidence,
    Form,
    Generation,
    GuardedAnswer,
    Label,
    Passage,
    Reason,
    Token,
    Trace,
    Verdict,
)
from franq_guard.rows.traces import Given, as_trace, trace_of
from franq_guard.signals.verdict import unchecked

_WORDS = re.compile(r"\w+")
_PIECES = re.compile(r"\s*\S+\s*$|\s*\S+")


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.lower()))


class FakeFaithfulness:
    """A faithfulness model: P(faithful) is the share of a claim's words that are in the context.

    Args:
        fail: called before every score; raise in it to test a failure.
    """

    fingerprint = "fake-faithfulness"

    def __init__(self, *, fail: Callable[[], None] | None = None) -> None:
        self._fail = fail

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """Word overlap of each pair, in [0, 1]."""
        if self._fail is not None:
            self._fail()
        return [_overlap(c, claim) for c, claim in zip(contexts, claims, strict=True)]

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """(n, 3): P(entailment) is the word overlap, the rest is P(neutral)."""
        pairs = zip(premises, hypotheses, strict=True)
        entailed = np.array([_overlap(premise, text) for premise, text in pairs])
        return np.stack([entailed, 1 - entailed, 0 * entailed], axis=-1)

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """The whole of the passage with the largest overlap."""
        texts = [p if isinstance(p, str) else p.text for p in passages]
        return [_best(texts, claim) for claim in claims]


def _overlap(context: str, claim: str) -> float:
    words = _words(claim)
    return len(words & _words(context)) / len(words) if words else 0.0


def _best(texts: Sequence[str], claim: str) -> Evidence | None:
    scored = [(_overlap(text, claim), -i) for i, text in enumerate(texts) if text.strip()]
    if not scored:
        return None
    score, i = max(scored)
    return Evidence(passage=-i, start=0, end=len(texts[-i]), score=score)


class FakeLanguageModel:
    """A language model whose tokens are words, with p = ``known`` for words of the prompt.

    Args:
        answers: what :meth:`generate` answers to each prompt.
        known: probability of a word that occurs in the prompt.
        unknown: probability of any other word.
        fail: called before every score; raise in it to test a failure.
    """

    fingerprint = "fake-language-model"

    def __init__(
        self,
        *,
        answers: Callable[[str], str] = lambda prompt: "",
        known: float = 0.9,
        unknown: float = 0.1,
        fail: Callable[[], None] | None = None,
    ) -> None:
        self._answers, self._fail = answers, fail
        self._known, self._unknown = math.log(known), math.log(unknown)

    def render(self, prompt: Prompt) -> str:
        """System text and user text on lines of their own."""
        return f"{prompt.system}\n{prompt.user}"

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """The scripted answers, scored under their prompts."""
        texts = [Generation(self._answers(prompt), prompt=prompt) for prompt in prompts]
        scored = self.score(prompts, texts)
        return [replace(g, source="captured", writer=self.fingerprint) for g in scored]

    def sample(
        self,
        prompts: Sequence[str],
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[list[Generation]]:
        """The scripted answer ``n`` times."""
        return [[made] * n for made in self.generate(prompts)]

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Log-probabilities by the rule above; a prompt given as ids contains no word."""
        if self._fail is not None:
            self._fail()
        return [self._scored(p, answer) for p, answer in zip(prompts, answers, strict=True)]

    def without_evidence(self, trace: Trace) -> Contrast:
        """The question alone."""
        total = len(trace.passages)
        return Contrast(self.render(question_prompt(trace.question)), None, total, total, 0.0)

    def _scored(self, prompt: str | Sequence[int], answer: Generation) -> Generation:
        known = _words(prompt) if isinstance(prompt, str) else set()
        tokens = tuple(
            Token(
                id=-1,
                start=piece.start(),
                end=piece.end(),
                logprob=self._known if _words(piece.group()) <= known else self._unknown,
            )
            for piece in _PIECES.finditer(answer.text)
        )
        return replace(answer, tokens=tokens, source="teacher-forced", writer=None)


class FakeGuard:
    """A guard that marks each answer with the titles of its passages and keeps its traces.

    With it a test can see which passages, prompt and tokens reached the guard. An answer is one
    claim, unless its trace has claims of its own. It cannot check a stream claim by claim: for
    ``stream="claims"`` use a :class:`~franq_guard.Guard` that is made of the fakes above.

    Args:
        label: of every claim.
        reason: of every claim, such as ``conflict``.
        against: the stretch that contradicts every claim.
        likelihoods: of every answer; see :class:`.GuardedAnswer`.
        policy: for callers that read it; it does not change the text.
        form: likewise; an answer is one claim in either.
    """

    language_model: object | None = None

    def __init__(
        self,
        *,
        label: Label = "supported",
        reason: Reason | None = None,
        against: Evidence | None = None,
        likelihoods: str = "none",
        policy: Policy | None = None,
        form: Form | Literal["auto"] = "long",
    ) -> None:
        self.form: Form | Literal["auto"] = form
        self.label, self.policy = label, policy or Policy()
        self.reason, self.against, self.likelihoods = reason, against, likelihoods
        self.traces: list[Trace] = []
        self.batches: list[int] = []
        self._lock = threading.Lock()

    @property
    def renderer(self) -> object | None:
        """What renders the prompt of a remote model's answer."""
        return self.language_model

    @property
    def components(self) -> NoReturn:
        """Asked for ``stream="claims"``, which needs a guard that checks.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            "a FakeGuard checks no stream claim by claim: for stream='claims' use "
            "Guard(faithfulness=FakeFaithfulness(), language_model=FakeLanguageModel())"
        )

    def using(self, *, language_model: object) -> FakeGuard:
        """A copy with this language model; both append to the same list of traces."""
        other = copy(self)
        other.language_model = language_model
        return other

    def check(self, question: str, passages: Sequence[str | Passage], answer: str) -> GuardedAnswer:
        """:meth:`check_trace` of an answer of which only the text is known."""
        return self.check_trace(trace_of(question, passages, answer))

    async def acheck(
        self, question: str, passages: Sequence[str | Passage], answer: str
    ) -> GuardedAnswer:
        """:meth:`check`."""
        return self.check(question, passages, answer)

    def check_trace(self, trace: Trace) -> GuardedAnswer:
        """The marked answer, every claim with P(true) 0.9, or none if the label is unverified."""
        titles = ",".join(passage.title for passage in trace.passages)
        found = tuple(self._verdict(claim) for claim in _claims(trace))
        answer = self._answer(trace, f"checked: {titles}", found)
        return replace(answer, likelihoods=self.likelihoods)

    async def acheck_trace(self, trace: Trace) -> GuardedAnswer:
        """:meth:`check_trace`."""
        return self.check_trace(trace)

    def check_many(
        self,
        traces: Iterable[Trace | Given],
        *,
        batch_size: int = 8,
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[GuardedAnswer]:
        """:meth:`check_trace` for each; their number is appended to ``batches``."""
        given = list(map(as_trace, traces))
        self.batches.append(len(given))
        return self._each(given, batch_size, progress)

    def _each(
        self, given: Sequence[Trace], size: int, progress: Callable[[int], None] | None
    ) -> Iterator[GuardedAnswer]:
        for done, trace in enumerate(given, start=1):
            yield self.check_trace(trace)
            if progress is not None and (done % size == 0 or done == len(given)):
                progress(done)

    def unverified(
        self,
        trace: Trace,
        reason: Reason,
        *,
        detail: str = "",
        claims: Sequence[Claim] | None = None,
    ) -> GuardedAnswer:
        """The answer marked as unverified."""
        claims = _claims(trace) if claims is None else claims
        found = tuple(unchecked(claim, reason) for claim in claims)
        return self._answer(trace, "unverified", found)

    def _verdict(self, claim: Claim) -> Verdict:
        p = None if self.label == "unverified" else 0.9
        return Verdict(claim, p, p, p, p, {}, self.label, self.reason, against=self.against)

    def _answer(self, trace: Trace, mark: str, found: tuple[Verdict, ...]) -> GuardedAnswer:
        """The trace's answer with a mark; the trace is kept."""
        self._keep(trace)
        answer = trace.generation.text
        return GuardedAnswer(
            text=f"{answer} [{mark}]",
            original=answer,
            verdicts=found,
            status=status_of(found, answer),
            id=trace.id,
            question=trace.question,
            passages=trace.passages,
            weak=self.policy.acts_against,
        )

    def _keep(self, trace: Trace) -> None:
        with self._lock:
            self.traces.append(trace)


def _claims(trace: Trace) -> Sequence[Claim]:
    answer = trace.generation.text
    return trace.claims or [Claim(answer, ((0, len(answer)),))]
