"""Many checked answers in one HTML page: filter by label, sort by P(true), evidence marked."""

from __future__ import annotations

import shutil
import tempfile
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from franq_guard.policy import Policy
from franq_guard.records import GuardedAnswer, Label
from franq_guard.report.answer import answer_body, css, legend
from franq_guard.report.counts import Counts
from franq_guard.report.text import safe, shown
from franq_guard.report.words import LABEL_WORDS

__all__ = ["AnswersPage"]

_CHOICES = (("file", "as in the file"), ("lowest", "lowest first"), ("highest", "highest first"))


class AnswersPage:
    """Writes the page at the end of a ``with`` block; until then answers are in a temporary file.

    The page can be read without JavaScript. Its only script filters and sorts; the page's content
    security policy blocks any other.

    Args:
        file: is created or overwritten.
        title: of the page.
        policy: says which claims count as flagged.

    Raises:
        OSError: if the file cannot be written.
    """

    def __init__(self, file: Path, *, title: str, policy: Policy) -> None:
        self._file, self._title = file, title
        self._counts, self._answers = Counts(policy), 0
        self._labels: Counter[Label] = Counter()
        self._waiting: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the page, with the answers added so far if the block ended early."""
        with self._waiting as waiting, self._file.open("w", encoding="utf-8") as out:
            out.write(self._head())
            waiting.seek(0)
            shutil.copyfileobj(waiting, out)
            out.write(f"</main><script>{_script()}</script></body></html>\n")

    def add(self, answer: GuardedAnswer) -> None:
        """Add an answer to the page."""
        self._answers += 1
        self._counts.add(answer)
        labels = {verdict.label for verdict in answer.verdicts}
        self._labels.update(labels)
        score = "" if answer.score is None else f"{answer.score:.4f}"
        name = f"{self._answers}. {answer.id}" if answer.id else f"{self._answers}."
        self._waiting.write(
            shown(
                f'<article class="franq" data-labels="{" ".join(sorted(labels))}" '
                f'data-score="{score}"><h2>{safe(name)}</h2>{answer_body(answer)}</article>\n'
            )
        )

    def add_error(self, error: str) -> None:
        """Add a row that could not be read or checked: which one, and why."""
        self._answers += 1
        self._waiting.write(
            shown(
                f'<article class="franq" data-labels="" data-score=""><h2>{self._answers}.</h2>'
                f"<p>{safe(error)}</p></article>\n"
            )
        )

    def _head(self) -> str:
        style = css() + _text("answers_page.css")
        policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_digest()}'"
        counted = (
            f"Answers: {self._answers}. Claims: {self._counts.labels.total()}, of which "
            f"{self._counts.flagged} are flagged."
        )
        return shown(
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{safe(self._title)}</title>\n<style>\n{style}</style></head>\n<body>"
            f"<h1>{safe(self._title)}</h1>\n"
            f'<header class="franq"><p>{counted}</p>'
            f'{legend(list(self._labels))}{self._controls()}</header>\n<main id="answers">'
        )

    def _controls(self) -> str:
        """The form for filtering and sorting, hidden until the script runs."""
        boxes = "".join(
            f'<label><input type="checkbox" value="{label}"><span class="{label}">'
            f'<span class="name">{words.shape} {safe(words.name)}</span></span> '
            f"{self._labels[label]}</label>"
            for label, words in LABEL_WORDS.items()
            if self._labels[label]
        )
        options = "".join(f'<option value="{key}">{said}</option>' for key, said in _CHOICES)
        return (
            f'<form id="controls" hidden><fieldset><legend>Answers with a claim that is</legend>'
            f'{boxes}</fieldset><label>Lowest P(true) of its claims: <select id="order">{options}'
            '</select></label> <span id="shown" class="small" role="status"></span></form>'
        )


def _text(name: str) -> str:
    return files("franq_guard.report").joinpath(name).read_text("utf-8")


def _script() -> str:
    return _text("answers_page.js")


def _digest() -> str:
    """Digest of the page's own script, the only one that its policy allows a browser to run."""
    return f"sha256-{b64encode(sha256(_script().encode()).digest()).decode()}"
