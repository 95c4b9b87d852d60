"""A guarded answer in HTML, for notebooks and pages: colours, evidence on hover and focus.

It contains no script, loads nothing, and escapes all text. Each colour has a shape beside it, for
readers who cannot tell the colours apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from franq_guard.policy import ANY_MARK, Policy
from franq_guard.records import Evidence, GuardedAnswer, Label, Span, Verdict
from franq_guard.report.counts import summary
from franq_guard.report.parts import listed, parts
from franq_guard.report.stretches import is_clear, is_contradicted, is_stated, stretches
from franq_guard.report.text import safe, shown
from franq_guard.report.words import (
    LABEL_WORDS,
    NUMBER_WORDS,
    citation_words,
    difference_words,
    why,
)

__all__ = ["answer_body", "answer_html", "css", "legend"]

_MARK_OR_SPACE = re.compile(rf"{ANY_MARK.pattern}|\s")
_WORST_FIRST: tuple[Label, ...] = (
    *Policy().marked,
    "unclear",
    "unsupported-true",
    "supported",
    "not-a-claim",
)
"""If several claims share a part of the text, the first of these labels colours it."""
_BEARING: dict[Label, str] = {
    "false": "speaks against a claim",
    "supported": "supports a claim",
    "unclear": "may support a claim",
}
"""How evidence is coloured in a passage, and what that means; if it bears on several claims, the
first of these counts."""


def answer_html(answer: GuardedAnswer) -> str:
    """The answer as a self-contained HTML fragment that includes its style.

    The claims are coloured in the original answer. If the policy changed more than adding marks,
    the changed text is shown below.
    """
    body = f"{answer_body(answer)}{legend(v.label for v in answer.verdicts)}"
    return shown(f'<div class="franq"><style>{css()}</style>{body}</div>')


def css() -> str:
    """The style of everything in an element of class ``franq``."""
    return files("franq_guard.report").joinpath("answer.css").read_text("utf-8")


def answer_body(answer: GuardedAnswer) -> str:
    """Question, answer, claims and passages, without style and legend."""
    asked = safe(answer.question)
    question = f'<p class="question" dir="auto">{asked}</p>' if asked else ""
    written = "".join(_part(text, of, answer) for text, of in _written(answer))
    return (
        f'{question}<p class="answer" dir="auto">{written}</p>'
        f'<p class="summary">{safe(_line(answer))}</p>'
        f"{_returned(answer)}{_claims(answer)}{_passages(answer)}"
    )


def legend(labels: Iterator[Label] | Sequence[Label]) -> str:
    """Explains the colours and shapes of these labels, each once."""
    given = set(labels)
    items = "".join(
        f'<li class="{label}">{_name(label)} {safe(words.meaning)}</li>'
        for label, words in LABEL_WORDS.items()
        if label in given
    )
    return f'<ul class="legend">{items}</ul>' if items else ""


def _line(answer: GuardedAnswer) -> str:
    score = "" if answer.score is None else f"; lowest P(true) {answer.score:.2f}"
    return summary(answer) + score


def _written(answer: GuardedAnswer) -> Iterator[tuple[str, list[Verdict]]]:
    """The answer in parts, each with the verdicts of the claims it belongs to."""
    spans = [verdict.claim.spans for verdict in answer.verdicts]
    for text, owners in parts(answer.original, spans):
        yield text, [answer.verdicts[i] for i in owners]


def _part(text: str, verdicts: Sequence[Verdict], answer: GuardedAnswer) -> str:
    if not verdicts or not text.strip():
        return safe(text)
    label = min((verdict.label for verdict in verdicts), key=_WORST_FIRST.index)
    if label == "not-a-claim":
        return f'<span class="part not-a-claim">{safe(text)}</span>'
    tips = "".join(_claim(verdict, answer, "span") for verdict in verdicts)
    unseen = f'<span class="unseen"> ({LABEL_WORDS[label].name}) </span>'
    return (
        f'<span class="part {label}" tabindex="0">{safe(text)}&#8288;{_shape(label)}{unseen}'
        f'<span class="tip">{tips}</span></span>'
    )


def _claims(answer: GuardedAnswer) -> str:
    """All claims in a list: for readers without a pointer, and for print."""
    if not answer.claims:
        return ""
    items = "".join(_claim(v, answer, "li", times) for v, times in listed(answer.claims))
    return f"<details><summary>Claims, one by one</summary><ol>{items}</ol></details>"


def _claim(verdict: Verdict, answer: GuardedAnswer, tag: str, times: int = 1) -> str:
    """Label, numbers, and what the passages say for and against the claim."""
    words = LABEL_WORDS[verdict.label]
    reason = f" ({why(verdict.reason)})" if verdict.reason and words.shape else ""
    numbers = f'<span class="small">{_numbers(verdict)}</span>' if words.shape else ""
    repeated = f' <span class="small">stated {times} times</span>' if times > 1 else ""
    found = "".join(
        f'<span class="stretch">{safe(one.lead)}: “{safe(" ".join(one.text.split()))}”</span>'
        for one in stretches(verdict, answer.passages)
    )
    remarks = [difference_words(*one) for one in verdict.differs]
    remarks += map(citation_words, verdict.citations)
    found += "".join(f'<span class="stretch">{safe(one)}</span>' for one in remarks)
    return (
        f'<{tag} class="claim {verdict.label}"><span>{safe(verdict.claim.text)}{repeated}</span>'
        f'<span>{_name(verdict.label)} <span class="small">{safe(words.meaning + reason)}</span>'
        f"</span>{numbers}{found}</{tag}>"
    )


def _numbers(verdict: Verdict) -> str:
    values = {"p_true": verdict.p_true, "p_faithful": verdict.p_faithful}
    return " · ".join(
        f'<span title="{safe(NUMBER_WORDS[key][1])}">{NUMBER_WORDS[key][0]} '
        f"{'unknown' if value is None else f'{value:.2f}'}</span>"
        for key, value in values.items()
    )


def _name(label: Label) -> str:
    return f'{_shape(label)} <span class="name">{safe(LABEL_WORDS[label].name)}</span>'


def _shape(label: Label) -> str:
    shape = LABEL_WORDS[label].shape
    return f'<span class="shape" aria-hidden="true">{shape}</span>' if shape else ""


def _returned(answer: GuardedAnswer) -> str:
    """The text after the policy, if the policy changed more than adding marks."""
    # White space does not count: some marks have a blank after them. And the original may already
    # have marks of a guard inside.
    if _MARK_OR_SPACE.sub("", answer.text) == _MARK_OR_SPACE.sub("", answer.original):
        return ""
    text = f'<p class="answer" dir="auto">{safe(answer.text)}</p>'
    return f"<details><summary>What the reader gets</summary>{text}</details>"


def _passages(answer: GuardedAnswer) -> str:
    """The passages, with the text that speaks for or against a claim marked."""
    if not answer.passages:
        return ""
    items = "".join(f"<li>{_passage(answer, i)}</li>" for i in range(len(answer.passages)))
    count = len(answer.passages)
    said = f"{count} passage{'' if count == 1 else 's'}, evidence marked"
    return f"<details><summary>{said}</summary><ol>{items}</ol></details>"


def _passage(answer: GuardedAnswer, index: int) -> str:
    passage = answer.passages[index]
    title = f"<b>{safe(passage.title)}</b> " if passage.title else ""
    stated = [v for v in answer.claims if is_stated(v)]
    bearing: list[tuple[Evidence | None, Label]] = [
        *((v.against, "false") for v in answer.claims if is_contradicted(v)),
        *((v.evidence, "supported") for v in stated if is_clear(v)),
        *((v.evidence, "unclear") for v in stated if not is_clear(v)),
    ]
    marked = "".join(
        _marked(text, bearing[min(owners)][1]) if owners else safe(text)
        for text, owners in parts(passage.text, [_spans(found, index) for found, _ in bearing])
    )
    return title + marked


def _marked(text: str, label: Label) -> str:
    said = _BEARING[label]
    return f'<mark class="{label}" title="{said}">{_shape(label)} {safe(text)}</mark>'


def _spans(found: Evidence | None, passage: int) -> tuple[Span, ...]:
    return ((found.start, found.end),) if found and found.passage == passage else ()
