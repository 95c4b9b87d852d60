"""``franq demo``: answers the built-in questions by a guarded chain with the bundled model."""

from __future__ import annotations

from typing import Annotated

import typer

from franq_guard.cli.ask import answer_all
from franq_guard.cli.console import needing, working
from franq_guard.cli.options import JsonFlag, PolicyOption, ThresholdOption, guard_from

_INSTALL = "pip install 'langchain-franq[local]'"


def demo(
    as_json: JsonFlag = False,
    policy: PolicyOption = "annotate",
    threshold: ThresholdOption = None,
    count: Annotated[int, typer.Option("--questions", min=1, help="How many questions.")] = 6,
) -> None:
    """Answer questions over the built-in corpus with the bundled model, guarded by FRANQ."""
    from franq_guard.datasets.demo import corpus, questions

    with needing(_INSTALL):
        from langchain_franq.local import guarded_local_rag
    guard = guard_from(policy, threshold)
    with needing(_INSTALL), working("loading the bundled model"):
        answering = guarded_local_rag(corpus(), guard)
    asked = [question.question for question in questions()[:count]]
    answer_all(asked, answering, as_json, guard)
