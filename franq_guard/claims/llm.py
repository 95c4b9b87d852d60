"""Claims by a language model, as in the FRANQ paper, with the rule-based splitter as fallback."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from franq_guard.basics.text import filled
from franq_guard.claims.alignment import ALIGNED, Index
from franq_guard.claims.llm_reply import NoReplyError, as_ask, entries
from franq_guard.claims.rules.splitter import DENIAL, RuleSplitter, Unit
from franq_guard.claims.spans import merged, overlap
from franq_guard.claims.word_keys import keys
from franq_guard.records import Claim, Span

_EXTRACT, _LOCATE = "extract.v1", "locate.v1"
_INVENTED = 0.35
"""A claim with a lower alignment score to the whole answer is regarded as invented."""
_SENTENCES_PER_CALL = 40


@dataclass(frozen=True, slots=True)
class FallbackReport:
    """What happened in one :meth:`LLMSplitter.split_with_report`.

    ``calls``: requests to the model. ``sentences``: sentences sent to it. ``by_rules``: sentences
    whose claims come from the rules instead. ``causes``: how often each cause occurred: "error"
    (exception or timeout of the model), "refusal", "broken_json", "missing" (no claim for a
    sentence), "invented" (a claim whose words or numbers the answer does not have), "uncovered" (a
    rule-based claim was added because the model's claims left it out). ``low_aligned``: claims that
    have the span of their whole sentence because their words were not found. ``error``: the text of
    the model's first exception.
    """

    calls: int = 0
    sentences: int = 0
    by_rules: int = 0
    causes: Mapping[str, int] | None = None
    low_aligned: int = 0
    error: str = ""


class LLMSplitter:
    """Splits an answer by a language model into atomic claims that can be understood alone.

    ``llm``: any callable ``str -> str``, a LangChain chat model or a LlamaIndex LLM. One request
    per 40 sentences of the answer, a second one only for claims whose words could not be matched.
    Sentences that state nothing (questions, headings, ...) are recognised by rules and not sent,
    nor are the items of a list of what is not so.
    Spans of different claims may share words (a subject). ``aligned`` is the alignment score; below
    ``threshold`` the span is the whole sentence. ``name`` is the model's name in the fingerprint.

    Raises:
        TypeError: ``llm`` is not a language model.
    """

    def __init__(
        self,
        llm: Any,
        *,
        name: str | None = None,
        rules: RuleSplitter | None = None,
        threshold: float = ALIGNED,
    ) -> None:
        self._ask = as_ask(llm)
        self._rules = rules or RuleSplitter()
        self._threshold = threshold
        self._extract, self._locate = _prompt(_EXTRACT), _prompt(_LOCATE)
        digest = hashlib.sha256((self._extract + self._locate).encode()).hexdigest()[:8]
        model = name or getattr(llm, "model_name", None) or type(llm).__name__
        self.fingerprint = f"llm/{_EXTRACT}+{_LOCATE}-{digest}:{model}:{self._rules.fingerprint}"

    def split(self, answer: str, *, question: str = "") -> list[Claim]:
        """Claims of ``answer`` in order; see :class:`franq_guard.claims.ClaimSplitter`."""
        return self.split_with_report(answer, question=question)[0]

    def split_with_report(
        self, answer: str, *, question: str = ""
    ) -> tuple[list[Claim], FallbackReport]:
        """The claims, and a report of how often the rules were used instead."""
        units = list(self._rules.units(answer, question=question))
        asked = [unit for unit in units if unit.is_sentence and _states(unit)]
        out = [c for unit in units if not (unit.is_sentence and _states(unit)) for c in unit.claims]
        run = _Run(self._ask, answer, question, self._threshold, (self._extract, self._locate))
        for k in range(0, len(asked), _SENTENCES_PER_CALL):
            out.extend(run.claims(asked[k : k + _SENTENCES_PER_CALL]))
        return sorted(out, key=lambda claim: claim.spans), run.report(len(asked))


class _Run:
    """The state of splitting one answer."""

    def __init__(
        self, ask: Any, answer: str, question: str, threshold: float, prompts: tuple[str, str]
    ) -> None:
        self._ask, self._answer, self._question = ask, answer, question
        self._threshold, self._prompts = threshold, prompts
        self._index = Index(answer)
        self._known_words = {word.key for word in keys(f"{answer} {question}")}
        self._calls = self._low = self._by_rules = 0
        self._causes: Counter[str] = Counter()
        self._error = ""

    def report(self, sentences: int) -> FallbackReport:
        """The counts so far."""
        causes = dict(self._causes)
        return FallbackReport(
            self._calls, sentences, self._by_rules, causes, self._low, self._error
        )

    def claims(self, group: Sequence[Unit]) -> list[Claim]:
        """The claims of some sentences: from the model, or from the rules if it fails."""
        try:
            found = self._request(self._extract_prompt(group))
        except NoReplyError as failure:
            self._causes[failure.cause] += 1
            self._by_rules += len(group)
            return [claim for sentence in group for claim in sentence.claims]
        placed, open_ = self._place(group, found)
        self._locate(group, placed, open_)
        return [
            claim for k, sentence in enumerate(group) for claim in self._finish(sentence, placed[k])
        ]

    def _request(self, prompt: str) -> list[Mapping[str, Any]]:
        self._calls += 1
        try:
            reply = self._ask(prompt)
        except Exception as error:  # a live chain must not break, whatever a backend raises
            self._error = self._error or str(error) or type(error).__name__
            raise NoReplyError("error", repr(error)) from error
        if isinstance(reply, str) and "{" not in reply and _refuses(reply):
            raise NoReplyError("refusal", reply[:80])
        return entries(reply)

    def _extract_prompt(self, group: Sequence[Unit]) -> str:
        numbered = "\n".join(f"{k}. {self._line(unit)}" for k, unit in enumerate(group, 1))
        return filled(
            self._prompts[0],
            question=self._question or "(not given)",
            answer=self._answer,
            sentences=numbered,
        )

    def _line(self, unit: Unit) -> str:
        """The sentence without line breaks."""
        return " ".join(self._answer[slice(*unit.span)].split())

    def _place(
        self, group: Sequence[Unit], found: Sequence[Mapping[str, Any]]
    ) -> tuple[list[list[Claim]], list[tuple[int, str]]]:
        """Claims with spans by sentence, and (sentence, text) of those whose words are missing."""
        placed: list[list[Claim]] = [[] for _ in group]
        open_: list[tuple[int, str]] = []
        for item in found:
            text, number = _text(item, "claim").strip(), _number(item.get("sentence"))
            number = 1 if number is None and len(group) == 1 else number
            if number is None or not 1 <= number <= len(group) or self._is_invented(text):
                self._causes["invented"] += 1
            else:
                span = group[number - 1].span
                claim = self._aligned(text, _text(item, "words"), span)
                if claim is None:
                    open_.append((number - 1, text))
                else:
                    placed[number - 1].append(claim)
        return placed, open_

    def _is_invented(self, text: str) -> bool:
        """Whether the answer does not have the claim's words, or one of its numbers."""
        numbers = {word.key for word in keys(text) if word.key[0].isdigit()}
        return self._index.align(text).score < _INVENTED or not numbers <= self._known_words

    def _aligned(self, text: str, words: str, span: Span) -> Claim | None:
        """The claim, found by the words the model names or by its text; None if not found."""
        for wanted in filter(str.strip, (words, text)):
            found = self._index.align(wanted, within=span)
            if found.spans and found.score >= self._threshold:
                return Claim(text, found.spans, aligned=found.score)
        return None

    def _locate(
        self,
        group: Sequence[Unit],
        placed: Sequence[list[Claim]],
        open_: Sequence[tuple[int, str]],
    ) -> None:
        """The second request: ask for the words of the claims in ``open_``, or use the sentence."""
        if not open_:
            return
        pairs = "\n".join(
            f"{k}. Sentence: {self._line(group[s])}\n   Statement: {text}"
            for k, (s, text) in enumerate(open_, 1)
        )
        try:
            found = self._request(filled(self._prompts[1], pairs=pairs))
        except NoReplyError as failure:
            self._causes[failure.cause] += 1
            found = []
        words = {_number(x.get("number")): _text(x, "words") for x in found}
        for k, (s, text) in enumerate(open_, 1):
            claim = self._aligned(text, words.get(k, ""), group[s].span)
            if claim is None:
                self._low += 1
                score = self._index.align(text, within=group[s].span).score
                claim = Claim(text, (group[s].span,), aligned=min(score, self._threshold))
            placed[s].append(claim)

    def _finish(self, sentence: Unit, claims: Sequence[Claim]) -> list[Claim]:
        """The model's claims, and the rule-based claims that they leave out."""
        if not claims:
            self._causes["missing"] += 1
            self._by_rules += 1
            return list(sentence.claims)
        covered = merged(span for claim in claims for span in claim.spans)
        stated = Index(" ".join(claim.text for claim in claims))
        left_out = [
            claim
            for claim in sentence.claims
            if 2 * overlap(claim.spans, covered) < _length(claim.spans)
            and stated.align(claim.text).score < self._threshold
        ]
        if left_out:
            self._causes["uncovered"] += len(left_out)
        context = sentence.claims[0].context
        return [*(replace(c, context=context) for c in claims), *left_out]


def _refuses(reply: str) -> bool:
    return RuleSplitter.not_a_claim(reply.strip()[:300]) in {"refusal", "hedge"}


def _states(unit: Unit) -> bool:
    """Whether it states something that the model can tell from the sentence alone."""
    denied = any(claim.text.startswith(DENIAL) for claim in unit.claims)
    return not denied and any(claim.not_a_claim is None for claim in unit.claims)


def _length(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def _text(item: Mapping[str, Any], name: str) -> str:
    """The text of that name; empty if it is missing or of another type, as null is."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):  # the last one for an infinite number
        return None


def _prompt(name: str) -> str:
    return (files("franq_guard.claims") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
