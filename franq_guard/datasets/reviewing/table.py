"""Writes claims as a CSV table for review in a spreadsheet, and reads the votes from it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from franq_guard.datasets.claim_set import (
    ClaimJudgement,
    ClaimSet,
    Factuality,
    Faithfulness,
)
from franq_guard.datasets.reviewing.order import order
from franq_guard.datasets.reviewing.votes import Review
from franq_guard.rows.sheets import cells_of_any_length, delimiter_of

COLUMNS = ("answer", "claim", "question", "statement", "text", "passages")
VOTES = ("faithfulness", "factuality")


def write_table(claims: ClaimSet, file: Path) -> int:
    """Every claim as a row, in the order of the review, with two empty columns for the vote.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, and so does every
    answer's id: a spreadsheet reads 640000000000 as a number and stores 6.4E+11.

    Returns:
        The number of rows.

    Raises:
        FileExistsError: if there is such a file: votes may stand in it.
    """
    answers = {trace.id or "": trace for trace in claims.answers()}
    items = order(list(answers.values()), claims.judgements())
    with file.open("x", encoding="utf-8-sig", newline="") as stream:
        table = csv.writer(stream)
        table.writerow((*COLUMNS, *VOTES))
        for item in items:
            trace = answers[item.key[0]]
            claim = (trace.claims or ())[item.key[1]]
            shown = "\n\n".join(f"[{i}] {p.text}" for i, p in enumerate(trace.passages, start=1))
            texts = (trace.question, claim.in_full, trace.generation.text, shown)
            answer, number = item.key
            table.writerow((f"'{answer}", number, *map(_harmless, texts), "", ""))
    return len(items)


def read_table(claims: ClaimSet, file: Path, reviewer: str) -> int:
    """Store the votes of a table made by :func:`write_table`; rows without a vote are skipped.

    Spreadsheets store it with commas, semicolons or tabs, and not always as UTF-8; of the texts
    nothing is read. Nothing is stored unless every row can be read.

    Returns:
        The number of votes.

    Raises:
        ValueError: for an invalid row or missing columns, which the message names.
        OSError: the file cannot be read.
    """
    review = Review(claims)
    with (
        file.open(encoding="utf-8-sig", errors="replace", newline="") as stream,
        cells_of_any_length(),
    ):
        header = stream.readline()
        stream.seek(0)
        table = csv.DictReader(stream, delimiter=delimiter_of(header))
        missing = {"answer", "claim", *VOTES} - {*(table.fieldnames or ())}
        if missing:
            raise ValueError(f"{file} lacks the columns {', '.join(sorted(missing))}")
        votes = list(_votes(table, review, file, reviewer))
    for key, faithfulness, factuality in votes:
        review.vote(reviewer, key, faithfulness=faithfulness, factuality=factuality)
    return len(votes)


def _votes(
    table: csv.DictReader[str], review: Review, file: Path, reviewer: str
) -> Iterable[tuple[tuple[str, int], Faithfulness | None, Factuality | None]]:
    for row in table:
        faithfulness, factuality = ((row.get(c) or "").strip().lower() or None for c in VOTES)
        if faithfulness is None and factuality is None:
            continue
        try:
            key = (str(row["answer"]).removeprefix("'"), int(row["claim"]))
            review.card(reviewer, key)
            said: Any = (faithfulness, factuality)
            ClaimJudgement(*key, f"person:{reviewer}", *said)
        except ValueError as error:
            raise ValueError(f"{file}, line {table.line_num}: {error}") from None
        yield key, cast("Faithfulness | None", faithfulness), cast("Factuality | None", factuality)


def _harmless(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
