"""``franq ask``: answer a question from a folder of text files and check the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from franq_guard.cli.answers import Shown
from franq_guard.cli.configuration import Configuration, in_force
from franq_guard.cli.console import emit, fail, message_of, needing, say, working
from franq_guard.cli.options import (
    CalibratorOption,
    FalseBelowOption,
    JsonFlag,
    ModelOption,
    PolicyOption,
    ThreadsOption,
    ThresholdOption,
    WeakOption,
    guard_from,
    load_models,
    loading_models,
)
from franq_guard.cli.set_up import of_a_guard

if TYPE_CHECKING:
    from franq_guard.datasets.local_rag import Answered
    from franq_guard.guard import Guard


@of_a_guard
def ask(
    chosen: Configuration,
    question: Annotated[str, typer.Argument(help="What to ask.")],
    docs: Annotated[
        Path, typer.Option("--docs", help="Folder of .txt, .md, .html, .pdf and .jsonl documents.")
    ],
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    false_below: FalseBelowOption = None,
    weak: WeakOption = None,
    calibrator: CalibratorOption = None,
    language_model: ModelOption = None,
    threads: ThreadsOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Passages to retrieve.")] = 3,
) -> None:
    """Answer a question from a folder of documents, guarded by FRANQ.

    The bundled model writes the answer, or the one of --language-model. --config and the options
    of the set-up are those of franq check.
    """
    from franq_guard.datasets.documents import read_folder
    from franq_guard.datasets.local_rag import local_rag

    if not question.strip():
        fail("the question is empty")
    try:
        passages = read_folder(docs)
    except (ValueError, OSError) as error:
        fail(message_of(error))
    chosen = in_force(chosen, calibrator, language_model)
    guard = guard_from(policy, threshold, false_below=false_below, weak=weak, chosen=chosen)
    with loading_models(), needing("pip install 'franq-guard[cli]'"):
        answering = local_rag(passages, guard, k=k)
    load_models(guard, writes=True)
    if answer_all([question], answering, as_json, guard):
        say("the answer could not be checked")
        raise typer.Exit(1)


def answer_all(
    questions: Iterable[str],
    answering: Callable[[str], Answered],
    as_json: bool,
    guard: Guard,
) -> int:
    """Answer the questions in order and show each answer with its verdicts.

    Returns how many answers could not be checked.

    Args:
        questions: the questions to answer.
        answering: answers one question and checks the answer.
        as_json: print one JSON object per answer instead of a table.
        guard: the guard that checks the answers; its policy decides which claims are flagged.
    """
    from franq_guard.report.counts import check_failed

    show, failed = Shown(guard), 0
    for question in questions:
        with working(f"answering: {question}"):
            done = answering(question)
        failed += check_failed(done.answer)
        if as_json:
            emit({"question": question, **done.answer.to_dict()})
        else:
            show(question, done.answer, done.passages)
    if not as_json:
        show.legend()
    return failed
