"""``franq dataset annotate``: have a language model label the claims of a set."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.console import bar, emit, fail, needing, say, tell, working
from franq_guard.cli.dataset.sets import SetArgument, opened, resumable
from franq_guard.cli.options import JsonFlag

if TYPE_CHECKING:
    from franq_guard.datasets.annotating import Annotated as Done
    from franq_guard.datasets.annotating.judge import Labeller, Search


def annotate(
    folder: SetArgument,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Who judges: URL#NAME, a model of an OpenAI-compatible server (its key in "
            "FRANQ_API_KEY), or a local one: bundled, a .gguf file or a folder.",
        ),
    ],
    labels_by: Annotated[
        str | None,
        typer.Option(
            "--labels-by",
            help="reply (the judge writes its labels and a quote) or probability (of a local model "
            "the likeliest labels, without a quote; for models too small to write a reply). "
            "Default: probability for bundled, else reply.",
        ),
    ] = None,
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

    A judge that writes a reply must quote the passage that decides; without such a quote the
    claim is "not judged". Run the command again to continue, or to retry claims that were not
    judged. A judge makes mistakes: let people check a sample (`franq dataset review`) and compare
    (`franq dataset agree`).
    """
    from franq_guard.datasets.annotating import annotate as run

    claims = opened(folder)
    by = labels_by or ("probability" if judge == "bundled" else "reply")
    if by not in ("reply", "probability"):
        fail(f"--labels-by must be reply or probability, not {by!r}")
    if by == "probability" and search is not None:
        fail("--search needs a judge that writes replies: --labels-by reply")
    found = None if search is None else _search(search)
    voice = _choosing(judge, name) if by == "probability" else _writing(judge, name, found)
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


def _writing(where: str, name: str | None, search: Search | None) -> Labeller:
    """A judge whose replies are read."""
    from franq_guard.datasets.annotating import Judge
    from franq_guard.language_model.asking import ask_from

    with _loading(where):
        asked = ask_from(where, api_key=os.environ.get("FRANQ_API_KEY"))
    return Judge(name or asked.name, asked.ask, parallel=asked.parallel, search=search)


def _choosing(where: str, name: str | None) -> Labeller:
    """A judge whose labels are chosen by their probabilities."""
    from franq_guard.datasets.annotating import ChoosingJudge
    from franq_guard.language_model.loading import language_model_from

    with _loading(where):
        model = language_model_from(where, api_key=os.environ.get("FRANQ_API_KEY"))
    return ChoosingJudge(name or model.fingerprint, model)


@contextmanager
def _loading(where: str) -> Iterator[None]:
    """End the program with the message if the model cannot be loaded."""
    with needing("pip install 'franq-guard[offline]'"), working(f"loading {where}"):
        try:
            yield
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
    if done.stopped:
        say(f"stopped: {done.stopped}")
    if done.not_judged:
        say(
            f"{done.not_judged} claims were not judged (`error` in {folder / 'labels.jsonl'} says "
            "why); run the command again to ask once more"
        )
        raise typer.Exit(1)
