"""The policy: what happens to the text of an answer once its claims have verdicts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from numbers import Real
from typing import Literal

from franq_guard.basics.awaited import is_async
from franq_guard.basics.text import CITATION_MARK
from franq_guard.basics.unchecked import unchecked_because
from franq_guard.label_rule import RATHER, LabelRule
from franq_guard.records import WEAK as WEAK
from franq_guard.records import CitationFinding, Claim, Label, Span, Status, Verdict

Action = Literal["annotate", "filter", "block"]
CustomAction = Callable[[str, Sequence[Verdict]], str]

MARKS: dict[Label, str] = {
    "doubtful": "[doubtful]",
    "false": "[likely false]",
    "unsupported": "[not in the passages]",
    "unclear": "[may not be in the passages]",
    "unverified": "[unverified]",
}
ANY_MARK = re.compile("|".join([*map(re.escape, MARKS.values()), CITATION_MARK]))
"""Finds every mark that a policy may put into a text: of labels and of wrong citations."""
_ANNOUNCES = frozenset({"lead-in", "heading", "table header", "citation", "link", "greeting"})
"""Reasons why a stretch is no claim for which it says nothing without claims around it."""
_CLOSING = ".!?…,;:。！？ \n"
_OF_LINKS = ("[", "(")
_UNBROKEN = re.compile(
    r"(?:\[(?:[^\[\]\n]|!\[[^\[\]\n]*\]\([^()\n]*\))*\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))[*_~`\"”’)\]]*"
)
"""A link or code within a line in Markdown, with the marks that close what is around it."""
_OPENS_QUOTE = re.compile(r"(?<=\s)[\"“«]+\Z")
"""A quotation mark at the end of a stretch, which opens the next sentence."""
MAY_BE_WEAK: tuple[Label, ...] = (*WEAK, "unclear")
"""Labels that a policy may act against, worst first."""
_WORST_FIRST: tuple[Label, ...] = (*MAY_BE_WEAK, "unverified")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Turns verdicts into a text.

    Attributes:
        action: ``annotate`` keeps the text and puts a mark beside each weak claim; ``filter``
            removes weak claims and repairs the sentences around them; ``block`` replaces the whole
            answer if any claim is weak; a callable ``(answer, verdicts) -> text`` returns its own.
        threshold: a claim with P(true) below it does not pass; None: the calibrator's. With the
            shipped calibrators for any writer a higher one flags more claims, but a lower one does
            not flag fewer: claims below the shipped one have too low a P(faithful) to be
            ``supported``. To flag fewer, leave labels out of ``weak``. Below the calibrator's no
            claim is ``unsupported-true``, because nothing shows that such claims are true.
        false_below: a claim with P(true) below it is ``false`` even if no passage contradicts it;
            None: the calibrator's, which may have none.
        on_error: how unverified claims are treated: ``open`` keeps them with a mark, ``closed``
            treats them as weak. There are no claims to mark in an answer of nothing but code, JSON
            or reasoning, in a lone "Yes." that only its question explains, and where the splitter
            found nothing: ``closed`` replaces these whole, unless the action is ``annotate``.
        replacement: the text of a blocked answer, and of one that has no text after filtering, or
            only headings, sources, a greeting or a "Here is what I found:".
        weak: the labels to act against, out of ``false``, ``doubtful``, ``unsupported`` and, not by
            default, ``unclear``. Claims with another label get no mark, except ``unverified`` ones.

    Raises:
        ValueError: for a setting that is none of these, or thresholds that are not in order.
    """

    action: Action | CustomAction = "annotate"
    threshold: float | None = None
    false_below: float | None = None
    on_error: Literal["open", "closed"] = "open"
    replacement: str = "I cannot give an answer to this that I could verify."
    weak: Collection[Label] = WEAK

    def __post_init__(self) -> None:
        if not callable(self.action) and self.action not in ("annotate", "filter", "block"):
            raise ValueError(
                f"action must be 'annotate', 'filter', 'block' or a callable, not {self.action!r}"
            )
        if is_async(self.action):
            raise ValueError("action must be a plain function, not a coroutine function")
        for name, number in (("threshold", self.threshold), ("false_below", self.false_below)):
            if isinstance(number, bool) or not isinstance(number, Real | None):
                raise ValueError(f"{name} must be a number from 0 to 1, not {number!r}")
        below = 0.0 if self.false_below is None else self.false_below
        if not 0 <= below <= (1.0 if self.threshold is None else self.threshold) <= 1:
            raise ValueError(
                "thresholds must satisfy 0 <= false_below <= threshold <= 1, got "
                f"false_below={self.false_below}, threshold={self.threshold}"
            )
        if self.on_error not in ("open", "closed"):
            raise ValueError(f"on_error must be 'open' or 'closed', not {self.on_error!r}")
        if not isinstance(self.replacement, str):
            raise ValueError(f"replacement must be a text, not {self.replacement!r}")
        if isinstance(self.weak, str) or not set(self.weak) <= set(MAY_BE_WEAK):
            raise ValueError(f"weak must hold labels out of {MAY_BE_WEAK}, not {self.weak!r}")

    def rule(self, rule: LabelRule) -> LabelRule:
        """The calibrator's rule, with the thresholds that this policy sets itself."""
        threshold = rule.threshold if self.threshold is None else self.threshold
        below = rule.false_below if self.false_below is None else self.false_below
        if below is not None:
            below = min(below, threshold)
        # What the calibrator's rows show of unsupported claims, they show from its threshold on.
        shown = rule.unsupported_true and threshold >= rule.threshold
        return replace(rule, threshold=threshold, false_below=below, unsupported_true=shown)

    def label(
        self,
        p_true: float | None,
        p_faithful: float | None,
        *,
        contradiction: float | None = None,
        entailment: float | None = None,
        rule: LabelRule | None = None,
    ) -> Label:
        """The label of a claim.

        Decided in this order: ``unverified`` if P(true) is unknown; ``doubtful`` if the passages
        contradict each other. A claim that reaches the threshold is ``supported`` if P(faithful) is
        above the rule's ``supported_from`` and above one half. Between the two it is ``unclear``.
        If P(faithful) is lower, it is ``unsupported-true`` if the calibrator's rows show that such
        claims are mostly true, else ``unsupported``. A claim below the threshold is ``false`` if
        there is evidence against it and no passage states it; otherwise it is ``doubtful`` if
        P(faithful) is above ``supported_from``, else ``unsupported``.

        Args:
            p_true: P(true) of the claim.
            p_faithful: P(faithful) of the claim; None counts as 0.
            contradiction: the highest P(contradiction) of a passage; None: no evidence.
            entailment: the highest P(entailment) of a passage; None: no evidence.
            rule: the calibrator's; default: :class:`LabelRule`'s own numbers.
        """
        if p_true is None:
            return "unverified"
        rule = self.rule(rule or LabelRule())
        if rule.conflict(contradiction, entailment):
            return "doubtful"
        p_faithful = p_faithful or 0.0
        faithful = p_faithful > rule.supported_from
        if p_true >= rule.threshold:
            if faithful:
                return "supported" if p_faithful > RATHER else "unclear"
            return "unsupported-true" if rule.unsupported_true else "unsupported"
        improbable = rule.false_below is not None and p_true < rule.false_below
        if (improbable or rule.contradicts(contradiction)) and not rule.entails(entailment):
            return "false"
        return "doubtful" if faithful else "unsupported"

    @property
    def marked(self) -> tuple[Label, ...]:
        """The labels that get a mark, worst first: the weak ones and ``unverified``."""
        return tuple(one for one in _WORST_FIRST if one in self.weak or one == "unverified")

    @property
    def acts_against(self) -> tuple[Label, ...]:
        """The labels of claims to act against: the weak ones, ``unverified`` if that is closed."""
        return (*self.weak, *(("unverified",) if self.on_error == "closed" else ()))

    def is_weak(self, verdict: Verdict) -> bool:
        """Whether the policy acts against this claim."""
        return verdict.label in self.acts_against

    def apply(self, answer: str, verdicts: Sequence[Verdict]) -> str:
        """The text to return for ``answer``.

        Raises:
            TypeError: if the policy's own action returns anything but text.
            Exception: whatever that action raises.
        """
        if callable(self.action):
            text = self.action(answer, verdicts)
            if not isinstance(text, str):
                raise TypeError(f"the action returned {type(text).__name__}, not a string")
            return text
        if self.action == "annotate":
            return self._annotated(answer, verdicts)
        why = unchecked_because(answer, [verdict.claim.not_a_claim for verdict in verdicts])
        if why == "no_claims" and self.on_error == "closed":
            return self.replacement
        weak = [i for i, verdict in enumerate(verdicts) if self.is_weak(verdict)]
        if self.action == "block":
            return self.replacement if weak else self._annotated(answer, verdicts)
        left = self._filter(answer, verdicts, weak)
        if weak and _only_announces(left, answer, verdicts):
            return self.replacement
        return left

    def so_far(self, answer: str, verdicts: Sequence[Verdict]) -> str:
        """:meth:`apply` for an unfinished answer; never returns the replacement.

        Only at the end of an answer is it known whether a replacement is needed. For ``annotate``
        and ``filter``: with these a new claim does not change the text of earlier claims. What
        ``filter`` leaves of the answer has no heading or lead-in at its end, because what follows
        it may be removed.
        """
        if self.action == "annotate":
            return self._annotated(answer, verdicts)
        weak = [i for i, verdict in enumerate(verdicts) if self.is_weak(verdict)]
        return self._filter(answer, verdicts, weak, goes_on=True)

    def on_failure(self, answer: str, verdicts: Sequence[Verdict]) -> str:
        """The text to return if a custom action raised an exception."""
        if self.on_error == "closed":
            return self.replacement
        return self._annotated(answer, verdicts)

    def _annotated(self, answer: str, verdicts: Sequence[Verdict]) -> str:
        return _insert(answer, _all_marks(answer, verdicts, self.marked))

    def _filter(
        self, answer: str, verdicts: Sequence[Verdict], weak: list[int], *, goes_on: bool = False
    ) -> str:
        """The answer without its weak claims; empty if nothing is left."""
        from franq_guard.claims import remove_claims

        # Unverified claims are kept with their mark, so that they do not look like checked ones.
        flagged = set(weak)
        left = [verdict for i, verdict in enumerate(verdicts) if i not in flagged]
        marks = _all_marks(answer, left, ("unverified",))
        if not (weak or goes_on):
            return _insert(answer, marks)
        if not all(verdicts[i].claim.spans for i in weak):
            return ""  # it is not known which words to remove
        claims = _shifted(verdicts, marks)
        kept = remove_claims(_insert(answer, marks), claims, weak, goes_on=goes_on)
        return kept if kept.strip() else ""


def _only_announces(left: str, answer: str, verdicts: Sequence[Verdict]) -> bool:
    """Whether filtering left nothing, or no more than "Here is what I found:" and the like."""
    for verdict in verdicts:
        if verdict.claim.not_a_claim in _ANNOUNCES:
            for span in verdict.claim.spans:
                left = left.replace(answer[slice(*span)], "", 1)
    return not any(map(str.isalnum, left))


def status_of(verdicts: Sequence[Verdict], answer: str) -> Status:
    """``ok`` when every claim has a P(true), ``unverified`` when none has, else ``partial``.

    An answer of which nothing was checked is ``unverified``: a blank one, one of nothing but code,
    JSON or reasoning, a lone "Yes." that only its question explains, or one in which the splitter
    found nothing (:func:`~franq_guard.basics.unchecked.unchecked_because`).
    """
    if unchecked_because(answer, [verdict.claim.not_a_claim for verdict in verdicts]):
        return "unverified"
    checked = [verdict.p_true is not None for verdict in verdicts if verdict.label != "not-a-claim"]
    if all(checked):
        return "ok"
    return "partial" if any(checked) else "unverified"


def annotate(answer: str, verdicts: Sequence[Verdict]) -> str:
    """``answer`` with a mark after each weak or unverified claim, before its closing punctuation.

    If several claims end at the same place, only the worst mark is used. Wrong citations have marks
    of their own, see :func:`wrong_citations`.
    """
    return _insert(answer, _all_marks(answer, verdicts, Policy().marked))


def wrong_citations(
    verdicts: Sequence[Verdict], labels: Collection[Label]
) -> Iterator[tuple[CitationFinding, Sequence[Verdict]]]:
    """The wrong citations to mark: one finding each, and the claims it is cited for.

    A citation is wrong if there is no such passage, or if the passage states none of the claims it
    is cited for. A passage that states one of several claims of a sentence is cited correctly. If
    all its claims are marked as not in the passages, a second mark would add nothing.

    Args:
        verdicts: of one answer.
        labels: the labels that get a mark.
    """
    by_place: dict[tuple[Span, str], list[tuple[CitationFinding, Verdict]]] = {}
    for verdict in verdicts:
        for found in verdict.citations:
            by_place.setdefault((found.span, found.name), []).append((found, verdict))
    for pairs in by_place.values():
        found, claims = pairs[0][0], [verdict for _, verdict in pairs]
        told = "unsupported" in labels and all(v.label == "unsupported" for v in claims)
        says_none = all(one.finding != "right" for one, _ in pairs)
        if says_none and (found.passage is None or not told):
            yield found, claims


def citation_mark(found: CitationFinding) -> str:
    """The mark after a wrong citation, with the passage's name as the answer writes it."""
    if found.passage is None:
        return f"[there is no passage {found.name}]"
    which = f"passage {found.name}" if found.name.isdigit() else found.name
    return f"[{which} does not say this]"


def _all_marks(answer: str, verdicts: Sequence[Verdict], labels: Sequence[Label]) -> dict[int, str]:
    """The marks to insert by position, with a blank before what would make them links.

    None where a guard inside has put the same mark already.
    """
    marks = {at: MARKS[label] for at, label in _labels_at(answer, verdicts, labels).items()}
    for found, _ in wrong_citations(verdicts, labels):
        at, mark = found.span[1], citation_mark(found)
        if at <= len(answer):
            marks[at] = f"{marks[at]} {mark}" if at in marks else mark
    # In Markdown "[doubtful](see below)" is a link, and so may "[doubtful][1]" be.
    return {
        at: f"{mark} " if answer[at : at + 1] in _OF_LINKS else mark
        for at, mark in marks.items()
        if not answer.startswith(f"{_gap(answer, at)}{mark}", at)
    }


def _labels_at(
    answer: str, verdicts: Sequence[Verdict], labels: Sequence[Label]
) -> dict[int, Label]:
    """The worst label of the claims that end at each position."""
    marks: dict[int, Label] = {}
    unbroken = [found.span() for found in _UNBROKEN.finditer(answer)]
    for verdict in verdicts:
        if verdict.label in labels:
            # A claim that was not found in the answer gets its mark at the end of the answer.
            at = _end_of_words(answer, _last_words(answer, verdict.claim))
            k = bisect_left(unbroken, (at,)) - 1
            if k >= 0 and at < unbroken[k][1]:  # a mark within would break it, or be part of it
                at = unbroken[k][1]
            marks[at] = min(marks.get(at, verdict.label), verdict.label, key=_WORST_FIRST.index)
    return marks


def _last_words(answer: str, claim: Claim) -> Span:
    """The last span with a word in it; the last one of all may be just the closing full stop."""
    if not claim.spans:
        return 0, len(answer)
    spans = (span for span in reversed(claim.spans) if any(map(str.isalnum, answer[slice(*span)])))
    return next(spans, claim.spans[-1])


def _end_of_words(answer: str, span: Span) -> int:
    """The end of the span without its closing punctuation."""
    start, end = span
    words = _OPENS_QUOTE.sub("", answer[start:end].rstrip(_CLOSING)).rstrip(_CLOSING)
    return start + len(words) if words else end


def _insert(answer: str, marks: dict[int, str]) -> str:
    parts, last = [], 0
    for at in sorted(marks):
        parts += [answer[last:at], f"{_gap(answer, at)}{marks[at]}"]
        last = at
    return "".join([*parts, answer[last:]])


def _gap(answer: str, at: int) -> str:
    """What stands before a mark: a line "$$" that closes a formula must hold nothing else."""
    line = answer[answer.rfind("\n", 0, at) + 1 : at].strip()
    return "\n" if line in ("$$", "\\]") else " "


def _shifted(verdicts: Sequence[Verdict], marks: dict[int, str]) -> list[Claim]:
    """The claims' places in the text with marks; a claim's own mark is part of its text."""
    places = sorted(marks)
    added = [0, *accumulate(len(marks[at]) + 1 for at in places)]

    def moved(position: int) -> int:
        return position + added[bisect_right(places, position)]

    claims = []
    for verdict in verdicts:
        claim, text = verdict.claim, verdict.claim.text
        if verdict.label == "unverified":
            at = _end_of_words(text, (0, len(text)))
            text = f"{text[:at]} {MARKS['unverified']}{text[at:]}"
        spans = tuple((moved(start), moved(end)) for start, end in claim.spans)
        claims.append(replace(claim, text=text, spans=spans))
    return claims
