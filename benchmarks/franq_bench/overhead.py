"""What a guard adds to a framework's chain or engine, as ratios to the unguarded one.

Shared by the ``benchmarks/overhead.py`` of both integrations.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from franq_guard import Guard
from franq_guard.datasets.demo import questions
from franq_guard.faithfulness.small.blended import BlendedFaithfulness
from franq_guard.language_model import TransformersModel

MODES = ("buffer", "claims")

Show = Callable[[str], Iterable[str]]
"""Answers a question and yields the texts that a reader of the stream is shown."""


class LastToken(Protocol):
    """The time at which the model wrote its last token, on :func:`time.perf_counter`'s clock."""

    at: float


@dataclass(frozen=True)
class Timed:
    """Seconds of one streamed answer: in total, after the last token, until the first text."""

    total: float
    after: float
    first: float


def timed(show: Show, last: LastToken, question: str) -> Timed:
    """Measure one streamed answer."""
    first, began = 0.0, perf_counter()
    for text in show(question):
        if text and not first:
            first = perf_counter()
    ended = perf_counter()
    return Timed(ended - began, ended - last.at, first - began)


def options_of(description: str | None) -> argparse.Namespace:
    """The command line of both benchmarks; sets the number of threads."""
    import torch

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--max-new-tokens", type=int, default=120)
    parser.add_argument("--min-new-tokens", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    return options


def guard_and_model(options: argparse.Namespace) -> tuple[Guard, TransformersModel]:
    """The offline guard, and its language model set to write a minimum number of tokens.

    Raises:
        TypeError: if it is not a transformers model.
    """
    guard = Guard.offline()
    model = guard.language_model
    if not isinstance(model, TransformersModel):
        raise TypeError(f"a model of transformers is wanted, not {type(model).__name__}")
    config: Any = model.model.generation_config
    config.min_new_tokens = options.min_new_tokens or None
    return guard, model


def forget(guard: Guard) -> None:
    """Empty the caches of its faithfulness model, which has read the same answer before."""
    if isinstance(guard.faithfulness, BlendedFaithfulness):
        guard.faithfulness.forget()


def report(
    plain: Show, guarded: Mapping[str, Show], last: LastToken, *, guard: Guard, n: int, name: str
) -> None:
    """Answer ``n`` questions without the guard and with it, and print the table.

    Args:
        plain: the unguarded chain.
        guarded: the guarded one by mode of streaming.
        last: records when the model of any of them is done.
        guard: that of all guarded ones.
        n: how many questions.
        name: name of the chain or engine, for the heading.
    """
    asked = [question.question for question in questions()][:n]
    for show in (plain, *guarded.values()):
        timed(show, last, asked[0])  # warm-up
    rows: dict[tuple[str, str], list[float]] = {}
    for question in asked:
        p = timed(plain, last, question)
        for mode, show in guarded.items():
            forget(guard)
            g = timed(show, last, question)
            rows.setdefault((mode, "total"), []).append((g.total - p.total) / p.total)
            rows.setdefault((mode, "after the last token"), []).append(
                (g.after - p.after) / p.total
            )
            rows.setdefault((mode, "first text"), []).append(g.first / p.total)
    print(f"{len(asked)} answers, shares of the unguarded {name}'s time; total: extra time")
    for (mode, row), ratios in rows.items():
        spread = f"({min(ratios):.2f}-{max(ratios):.2f})"
        print(f"  {mode:7} {row:22} {statistics.median(ratios):.2f}  {spread}")
