"""A guarded answer in a terminal: the text with its marks, then one row a claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from franq_guard.policy import ANY_MARK, MARKS, Policy
from franq_guard.records import CitedAs, GuardedAnswer, Label, Passage, Verdict
from franq_guard.report.counts import Counts, summary
from franq_guard.report.parts import listed
from franq_guard.report.stretches import stretches
from franq_guard.report.text import shown as shown
from franq_guard.report.words import (
    LABEL_WORDS,
    citation_words,
    difference_words,
    promise_words,
    why,
)

STYLES: dict[Label, str] = {
    "supported": "green",
    "unclear": "bright_cyan",
    "unsupported-true": "cyan",
    "unsupported": "bright_blue",
    "doubtful": "yellow",
    "false": "red",
    "unverified": "magenta",
    "not-a-claim": "dim",
}
_CITED_STYLES: dict[CitedAs, str] = {"right": "dim", "wrong passage": "yellow", "nowhere": "red"}
_EVIDENCE_WIDTH = 100
_WIDE = 100  # in terminals with at least so many columns, numbers get columns of their own


def print_answer(
    console: Console,
    question: str,
    answer: GuardedAnswer,
    passages: Sequence[Passage],
    *,
    policy: Policy | None = None,
) -> None:
    """Print one guarded answer; every text is shown as text, never as markup.

    Args:
        console: where to.
        question: that was asked.
        answer: as it was checked.
        passages: of the answer; quoted for and against its claims.
        policy: says which claims count as flagged; default: ``Policy()``.
    """
    console.print(Text(shown(f"Q  {question}"), style="bold"))
    console.print(Text("A  ").append_text(_marked(shown(answer.text))))
    if answer.verdicts:
        console.print(_table(answer.verdicts, passages, console.width))
    console.print(_indented(_note(answer, policy or Policy())))
    console.print()


def print_legend(
    console: Console, verdicts: Iterable[Verdict], promises: Iterable[Mapping[str, Any]] = ()
) -> None:
    """Print what the labels and reasons of these verdicts mean, each once.

    Args:
        console: where to.
        verdicts: that were shown.
        promises: what the calibrators behind them promise.
    """
    given = list(verdicts)
    labels = {verdict.label for verdict in given}
    reasons = sorted({v.reason for v in given if v.reason and v.label != "not-a-claim"})
    table = Table(box=None, padding=(0, 2, 0, 3), expand=False, show_header=False)
    for label, words in LABEL_WORDS.items():
        if label in labels:
            table.add_row(Text(label, style=STYLES[label]), Text(words.meaning, style="dim"))
    for reason in reasons:
        table.add_row(Text(shown(f"({reason})")), Text(shown(why(reason)), style="dim"))
    if table.row_count:
        console.print(table)
        for promise in promises:
            console.print(_indented(f"promise: {promise_words(promise)}"))


def _indented(text: str) -> Padding:
    """Grey text under a table; every line of it is indented, also in a narrow terminal."""
    return Padding(Text(shown(text), style="dim"), (0, 0, 0, 3), expand=False)


def _note(answer: GuardedAnswer, policy: Policy) -> str:
    """A summary: how much was checked, counts by label, and what it was checked with."""
    by_label = Counts(policy).add(answer).by_label
    parts = (
        summary(answer, policy) + (f": {by_label}" if by_label else ""),
        f"calibrator: {answer.calibrator or 'none'}",
        f"likelihoods: {answer.likelihoods}{_unweighed(answer)}",
        f"checked in {sum(answer.timings.values()):.2f} s",
    )
    return "; ".join(parts)


def _unweighed(answer: GuardedAnswer) -> str:
    """What to do with log-probabilities that came with the answer and are not weighed."""
    told = any("log_probability" in verdict.raw for verdict in answer.verdicts)
    return " (the writer's are known; `franq calibrate` makes use of them)" if told else ""


def _table(verdicts: Sequence[Verdict], passages: Sequence[Passage], width: int) -> Table:
    """One row per claim; in a narrow terminal the numbers are below the label."""
    table = Table(box=None, padding=(0, 2, 0, 0), expand=False)
    wide = width >= _WIDE
    if wide:
        table.add_column("   P(true)", justify="right", no_wrap=True)
        table.add_column("P(faithful)", justify="right", no_wrap=True)
    table.add_column("label" if wide else "   label", no_wrap=True)
    table.add_column("claim and evidence", overflow="fold")
    for verdict, times in listed(verdicts):
        claim = _claim(verdict, passages, times)
        if wide:
            numbers = _number(verdict.p_true), _number(verdict.p_faithful)
            table.add_row(*numbers, _label(verdict), claim)
        else:
            table.add_row(_narrow(verdict), claim)
    return table


def _claim(verdict: Verdict, passages: Sequence[Passage], times: int) -> Text:
    """The claim, and what the passages say for and against it."""
    claim = Text(shown(verdict.claim.text))
    if times > 1:
        claim.append(f" (stated {times} times)", style="dim")
    for found in stretches(verdict, passages):
        claim.append(shown(f"\n{found.line(_EVIDENCE_WIDTH)}"), style="dim")
    for pair in verdict.differs:
        claim.append(shown(f"\n{difference_words(*pair)}"), style="dim")
    for cited in verdict.citations:
        claim.append(shown(f"\n{citation_words(cited)}"), style=_CITED_STYLES[cited.finding])
    return claim


def _narrow(verdict: Verdict) -> Text:
    label = Text("   ").append_text(_label(verdict, indent="   "))
    for name, value in (("true", verdict.p_true), ("faithful", verdict.p_faithful)):
        if value is not None:
            label.append(f"\n   P({name}) {value:.2f}")
    return label


def _label(verdict: Verdict, *, indent: str = "") -> Text:
    label = Text(verdict.label, style=STYLES[verdict.label])
    if verdict.reason and verdict.label != "not-a-claim":
        label.append(f"\n{indent}({verdict.reason})", style="dim")
    return label


def _marked(text: str) -> Text:
    marked = Text(text)
    marked.highlight_regex(ANY_MARK, style="yellow")
    for label, mark in MARKS.items():
        marked.highlight_words([mark], style=STYLES[label])
    return marked


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
