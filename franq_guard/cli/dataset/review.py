"""``franq dataset review``: people check claims on a local page or in a spreadsheet."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import fail, message_of, needing, say, tell, working
from franq_guard.cli.dataset.sets import SetArgument, opened

if TYPE_CHECKING:
    from franq_guard.datasets.claim_set import ClaimSet
    from franq_guard.datasets.reviewing.votes import FindEvidence
    from franq_guard.records import Passage


def review(
    folder: SetArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 0,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind/--show-judge", help="A judge's labels are hidden until you have voted."
        ),
    ] = True,
    evidence: Annotated[
        bool, typer.Option("--evidence/--no-evidence", help="Mark what bears on the claim.")
    ] = True,
    csv_out: Annotated[
        Path | None, typer.Option("--csv-out", help="Write a table to be filled in; no page.")
    ] = None,
    csv_in: Annotated[
        Path | None, typer.Option("--csv-in", help="Read the votes of such a table; no page.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Whose votes the table of --csv-in holds.")
    ] = None,
) -> None:
    """Check claims one by one: do the passages state it, is it true?

    Serves a page on this machine; its address contains a secret, so that nobody else can vote.
    Every vote is saved at once: you can close the page and continue later. Half of the claims are
    drawn at random, so that `franq dataset agree` can estimate unbiased rates; the other half
    starts with the claims whose votes matter most.
    """
    if csv_out is not None and csv_in is not None:
        fail("--csv-out writes an empty table, --csv-in reads a filled one: give one of them")
    if reviewer is not None and csv_in is None:
        fail("--reviewer says whose votes --csv-in reads; the page asks for the name itself")
    claims = opened(folder)
    if csv_out is not None:
        _write(claims, csv_out)
    elif csv_in is not None:
        _read(claims, csv_in, reviewer)
    else:
        _serve(claims, port, blind, _evidence() if evidence else None)


def _write(claims: ClaimSet, file: Path) -> None:
    from franq_guard.datasets.reviewing.table import write_table

    try:
        count = write_table(claims, file)
    except FileExistsError:
        fail(
            f"{file} is there already, and votes may stand in it: name another file (--csv-in "
            "reads votes)"
        )
    except OSError as error:
        fail(f"cannot write {file}: {error.strerror}")
    tell(
        f"{count} claims in {file}; fill in faithfulness (faithful, unfaithful-contra, "
        "unfaithful-neutral) and factuality (true, false, unverifiable), then use --csv-in"
    )


def _read(claims: ClaimSet, file: Path, reviewer: str | None) -> None:
    from franq_guard.datasets.reviewing.table import read_table

    if not reviewer:
        fail("whose votes are these? Add --reviewer NAME")
    try:
        count = read_table(claims, file, reviewer)
    except (ValueError, OSError) as error:
        fail(message_of(error))
    tell(f"{count} votes of {reviewer} kept")


def _evidence() -> FindEvidence:
    """A function that finds the evidence for a claim with the small faithfulness model."""
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    install = "pip install 'franq-guard[offline]', or use --no-evidence"
    with needing(install), working("loading the small faithfulness model"):
        model = SmallFaithfulness.bundled()

    def find(passages: Sequence[Passage], claim: str) -> Sequence[tuple[int, int, int]]:
        found = model.evidence(passages, [claim]) if passages else []
        return [(e.passage, e.start, e.end) for e in found if e is not None]

    return find


def _serve(claims: ClaimSet, port: int, blind: bool, evidence: FindEvidence | None) -> None:
    with needing("pip install 'franq-guard[serve]'"):
        from franq_guard.serve.review import review_app
        from franq_guard.serve.running import Server
    from franq_guard.datasets.reviewing import Review

    token = secrets.token_urlsafe(16)
    app = review_app(Review(claims, blind=blind, evidence=evidence), token)

    def listening(address: str) -> None:
        tell(f"{address}/?token={token}")
        say("open this address in a browser; Ctrl-C ends the review, every vote is kept")

    Server(app, host="127.0.0.1", port=port, listening=listening).run()
