"""``franq dataset annotate``: have a language model label the claims of a set."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import bar, emit, fail, say, tell, working
from franq_guard.cli.dataset.sets import SetArgument, opened, resumable
from franq_guard.cli.options import JsonFlag

if TYPE_CHECKING:
    from franq_guard.datasets.annotating import Annotated as Done
    from franq_guard.datasets.annotating.judge import Search
    from franq_guard.language_model.asking import Asked


def annotate(
    folder: SetArgument,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="URL#NAME|bundled|FILE.gguf|FOLDER",
            help="Who judges: a model of an OpenAI-compatible server (its key in FRANQ_API_KEY) or "
            "a local one.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="Of the judge in the labels; default: the model's.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            metavar="MODULE:FUNCTION",
            help="Your function from a claim to passages (texts or Passage) that may show whether "
            "it is true; asked where the answer's own passages do not decide.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Judge at most so many claims.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Have a language model label each claim: faithful to the passages? true?

    Every label needs a quote that a passage really contains; without one the claim is "not
    judged". Run the command again to continue, or to retry claims that were not judged. A judge
    makes mistakes: let people check a sample (`franq dataset review`) and compare (`franq dataset
    agree`).
    """
    from franq_guard.datasets.annotating import Judge
    from franq_guard.datasets.annotating import annotate as run

    claims = opened(folder)
    found = None if search is None else _search(search)
    asked = _judge(judge)
    voice = Judge(name or asked.name, asked.ask, parallel=asked.parallel, search=found)
    with resumable(), bar("claims judged") as show:
        done = run(claims, voice, limit=limit, progress=show)
    _tell(done, voice.source, folder, as_json)


def _search(where: str) -> Search:
    """The user's function ``module:function``; a module of the current folder is found, too."""
    from franq_guard.records import Passage

    module, _, name = where.partition(":")
    if not module or not name:
        fail(f"--search must be MODULE:FUNCTION, such as wiki:search, not {where!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        function = getattr(import_module(module), name)
    except Exception as error:  # importing the user's module may raise anything
        fail(f"--search {where}: {type(error).__name__}: {error}")
    finally:
        sys.path.pop(0)
    if not callable(function):
        fail(f"--search {where}: {name} is not a function")

    def search(claim: str) -> list[Passage]:
        return [p if isinstance(p, Passage) else Passage(str(p)) for p in function(claim)]

    return search


def _judge(where: str) -> Asked:
    from franq_guard.language_model.asking import ask_from

    try:
        with working(f"loading {where}"):
            return ask_from(where, api_key=os.environ.get("FRANQ_API_KEY"))
    except (ValueError, OSError, RuntimeError) as error:
        fail(str(error))


def _tell(done: Done, source: str, folder: Path, as_json: bool) -> None:
    if as_json:
        emit(
            {
                "source": source,
                "judged": done.judged,
                "not_judged": done.not_judged,
                "before": done.before,
            }
        )
    else:
        tell(f"{done.judged} claims judged by {source}, {done.before} were before")
    if done.not_judged:
        say(
            f"{done.not_judged} claims were not judged (`error` in {folder / 'labels.jsonl'} says "
            "why); run the command again to ask once more"
        )
        raise typer.Exit(1)
