"""A guarded answer in a terminal: the text with its marks, then one row a claim."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from franq_guard.policy import MARKS
from franq_guard.records import GuardedAnswer, Label, Passage, Verdict
from franq_guard.report.text import shown as shown

STYLES: dict[Label, str] = {
    "supported": "green",
    "unsupported-true": "cyan",
    "doubtful": "yellow",
    "false": "red",
    "unverified": "magenta",
    "not-a-claim": "dim",
}
_EVIDENCE_WIDTH = 100


def print_answer(
    console: Console, question: str, answer: GuardedAnswer, passages: Sequence[Passage]
) -> None:
    """Print one guarded answer; every text is shown as text, never as markup."""
    console.print(Text(shown(f"Q  {question}"), style="bold"))
    console.print(Text("A  ").append_text(_marked(shown(answer.text))))
    if answer.verdicts:
        console.print(_table(answer.verdicts, passages))
    seconds = sum(answer.timings.values())
    note = f"   {answer.status}; calibrator: {answer.calibrator or 'none'}; guard {seconds:.2f} s"
    console.print(Text(shown(note), style="dim"))
    console.print()


def _table(verdicts: Sequence[Verdict], passages: Sequence[Passage]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 3), expand=False)
    table.add_column("P(true)", justify="right", no_wrap=True)
    table.add_column("P(faithful)", justify="right", no_wrap=True)
    table.add_column("label", no_wrap=True)
    table.add_column("claim and evidence", overflow="fold")
    for verdict in verdicts:
        claim = Text(shown(verdict.claim.text))
        if evidence := _evidence(verdict, passages):
            claim.append(shown(f"\n{evidence}"), style="dim")
        table.add_row(_number(verdict.p_true), _number(verdict.p_faithful), _label(verdict), claim)
    return table


def _label(verdict: Verdict) -> Text:
    label = Text(verdict.label, style=STYLES[verdict.label])
    if verdict.reason and verdict.label != "not-a-claim":
        label.append(f"\n({verdict.reason})", style="dim")
    return label


def _evidence(verdict: Verdict, passages: Sequence[Passage]) -> str:
    found = verdict.evidence
    if found is None or found.passage >= len(passages):
        return ""
    passage = passages[found.passage]
    stretch = " ".join(passage.text[found.start : found.end].split())
    if len(stretch) > _EVIDENCE_WIDTH:
        stretch = stretch[: _EVIDENCE_WIDTH - 1].rstrip() + "…"
    # An unfaithful claim's best stretch supports nothing; it shows what the passages do say.
    lead = "" if (verdict.p_faithful or 0.0) > 0.5 else "closest: "
    return f"{lead}[{passage.title or found.passage + 1}] {stretch}"


def _marked(text: str) -> Text:
    marked = Text(text)
    for label, mark in MARKS.items():
        marked.highlight_words([mark], style=STYLES[label])
    return marked


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
