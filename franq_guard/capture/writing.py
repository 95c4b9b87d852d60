"""Who wrote an answer, under which prompt, with which token probabilities.

In this order: captured from a local model of the application, sent by the server, none (then the
guard's own language model reads the answer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import ModelCall, clipped
from franq_guard.capture.server_logprobs import server_generation
from franq_guard.language_model.server.tokens import ServerToken
from franq_guard.records import Claim, Generation, Passage, Trace

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class ModelRun(ModelCall, Protocol):
    """A call of a language model, perhaps still writing."""

    @property
    def ended(self) -> bool:
        """Whether ``text`` is all that the model wrote."""


@dataclass(frozen=True)
class Writers:
    """Who may have written an answer: the local ``models``, or another one.

    ``only`` is the one that must have, where that is sure: its guard then reads what it has not
    captured. ``guard`` is for all others.
    """

    guard: Guard
    models: Sequence[LocalModel] = ()
    only: LocalModel | None = None

    @property
    def reader(self) -> Guard:
        """The guard that reads an answer of which no tokens were captured."""
        return self.guard if self.only is None else self.only.guard


@dataclass(frozen=True)
class Prompts:
    """The prompt of one model run, in the forms it may have been recorded in.

    Attributes:
        of: as that local model would have been given it; None where it cannot have been.
        rendered: as the language model of that guard is to read it.
        echoed: the framework may repeat it before the answer.
        wrapped: the framework may put text of its own around it.
    """

    of: Callable[[LocalModel], str | None]
    rendered: Callable[[Guard], str | None]
    echoed: bool = False
    wrapped: bool = False


@dataclass(frozen=True)
class Written:
    """An answer as a Generation, the guard that fits its model, and an echoed prompt before it."""

    guard: Guard
    generation: Generation
    lead: str = ""

    def trace(
        self,
        question: str,
        passages: Iterable[Passage],
        *,
        claims: Iterable[Claim] | None = None,
        contrast_prompt: str | None = None,
        id: str | None = None,
    ) -> Trace:
        """All that is known of the answer; see :class:`franq_guard.Trace`."""
        return Trace(
            question,
            tuple(passages),
            self.generation,
            claims=None if claims is None else tuple(claims),
            contrast_prompt=contrast_prompt,
            prompt_seen=self.generation.prompt is not None,
            id=id,
        )


def written(
    writers: Writers, run: ModelRun, prompts: Prompts, told: Sequence[ServerToken], answer: str
) -> Written:
    """``answer``, which ``run`` wrote; the framework may have cut or changed its text since.

    Args:
        writers: who may have written it.
        run: the model's call, perhaps still writing.
        prompts: what it was given.
        told: the log-probabilities that a server sent along, so far.
        answer: what reached the user, so far.
    """
    for model in writers.models:
        prompt = prompts.of(model)
        found = None if prompt is None else _captured(model, run, prompt, answer, prompts.wrapped)
        if found is not None:
            lead = _lead(prompts, found.prompt, answer)
            return Written(model.guard, clipped(found, answer.removeprefix(lead)), lead)
    prompt = prompts.rendered(writers.reader)
    lead = _lead(prompts, prompt, answer)
    made = server_generation(answer.removeprefix(lead), prompt, told)
    if writers.only is not None:
        made = replace(made, writer=writers.only.fingerprint)
    return Written(writers.reader, made, lead)


def unseen(writers: Writers, answer: str, parts: Sequence[str] = ()) -> Written:
    """``answer`` from a call that nobody observed, such as one that came out of a cache.

    A model that wrote it lately under a prompt that holds all ``parts`` is taken for its writer.
    """
    for model in writers.models:
        found = model.recalled(answer, parts)
        if found is not None:
            return Written(model.guard, clipped(found, answer))
    return Written(writers.reader, Generation(answer))


def _captured(
    model: LocalModel, run: ModelRun, prompt: str, answer: str, wrapped: bool
) -> Generation | None:
    text = _said(run, prompt, answer)
    found = model.generation(text, prompt)
    return model.recalled(text, [prompt.strip()]) if found is None and wrapped else found


def _said(run: ModelRun, prompt: str, answer: str) -> str:
    """What the run wrote; while it writes, up to the end of ``answer``.

    The tokens of what follows may not be known yet.
    """
    text = (run.text or "").removeprefix(prompt)
    at = -1 if run.ended else text.find(answer)
    return text if at < 0 else text[: at + len(answer)]


def _lead(prompts: Prompts, prompt: str | None, answer: str) -> str:
    """The prompt where the answer begins with it."""
    return prompt if prompts.echoed and prompt and answer.startswith(prompt) else ""
