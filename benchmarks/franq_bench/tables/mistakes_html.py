"""The worst mistakes as HTML for a benchmark's page; all text of the data is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from franq_bench.tables.method_names import title
from franq_bench.tables.mistakes import Mistake, Mistakes
from franq_guard.report.tables import number
from franq_guard.report.text import safe

__all__ = ["WorstMistakes", "style"]


def style() -> str:
    """The CSS of :class:`WorstMistakes`."""
    return files("franq_bench.tables").joinpath("mistakes.css").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class WorstMistakes:
    """A method's worst mistakes as a block of a page."""

    found: Mistakes

    def html(self) -> str:
        """What it was sure of and is false, what it doubted and is true, on demand."""
        method = self.found.method
        return (
            f"<details><summary>{safe(title(method))}</summary>"
            f"<h3>Sure, but false</h3>{_all(self.found.sure, method)}"
            f"<h3>Doubted, but true</h3>{_all(self.found.doubted, method)}</details>"
        )

    def markdown(self) -> str:
        """Empty: text of the data is shown on the HTML page only."""
        return ""


def _all(mistakes: Sequence[Mistake], method: str) -> str:
    return "".join(_mistake(mistake, method) for mistake in mistakes) or "<p>None.</p>"


def _mistake(mistake: Mistake, method: str) -> str:
    row, said = mistake.score, mistake.answer
    passages = "".join(
        f"<li>{f'<b>{safe(heading)}</b> ' if heading else ''}{safe(text)}</li>"
        for heading, text in said.passages
    )
    claim = mistake.claim
    judged = said.answer if claim is None else said.claims[claim][0]
    gold = f"<dt>Gold</dt><dd>{safe(' | '.join(said.gold))}</dd>" if said.gold else ""
    return (
        '<article dir="auto">'
        f'<p class="head"><b>{number(row.scores[method])}</b> '
        f'<span class="{"true" if row.is_true else "false"}">{"true" if row.is_true else "false"}'
        f"</span> <small>{safe(row.dataset)} · {safe(row.id)}</small></p>"
        f"<dl><dt>Question</dt><dd>{safe(said.question)}</dd>"
        f"<dt>{'Answer' if claim is None else 'Claim'}</dt><dd><q>{safe(judged)}</q></dd>"
        f"{gold}</dl>"
        f"<details><summary>{len(said.passages)} passages, scores</summary>"
        f"{_claims(mistake)}<ol>{passages}</ol>{_scores(row.scores)}</details></article>"
    )


def _claims(mistake: Mistake) -> str:
    """The whole answer with all its claims, where it has some."""
    if not mistake.answer.claims:
        return ""
    rows = "".join(
        f"<li{' class=judged' if at == mistake.claim else ''}>{safe(text)} "
        f"<small>true: {safe(true)}, faithful: {safe(faithful)}</small></li>"
        for at, (text, true, faithful) in enumerate(mistake.answer.claims)
    )
    return f'<p class="said">{safe(mistake.answer.answer)}</p><ul>{rows}</ul>'


def _scores(scores: Mapping[str, float | None]) -> str:
    said = (f"{safe(title(name))} <b>{number(value)}</b>" for name, value in scores.items())
    return f'<p class="note">{" · ".join(said)}</p>'
