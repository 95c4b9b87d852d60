"""Which model wrote an answer, under which prompt, with which token probabilities.

The probabilities are those captured from a local model of the application, else those that a server
sent, else none (then the guard's own language model scores the answer if needed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from franq_guard.capture.local import LocalModel
from franq_guard.capture.matching import ModelCall, clipped
from franq_guard.capture.server_logprobs import GrowingServerText, server_generation
from franq_guard.language_model.server.tokens import ServerToken
from franq_guard.records import Claim, Generation, Passage, Trace

if TYPE_CHECKING:
    from franq_guard.guard import Guard


class ModelRun(ModelCall, Protocol):
    """A call of a language model that may still be writing."""

    @property
    def ended(self) -> bool:
        """Whether the model has finished, so that ``text`` is complete."""

    @property
    def ended_at(self) -> float:
        """When it has finished, by ``time.monotonic``; infinite before."""


@dataclass(frozen=True)
class Writers:
    """The models that may have written an answer: the local ``models``, or another one.

    ``only`` is the writer if it is known for certain; its guard then scores an answer of which no
    tokens were captured. ``guard`` is used for all other models.
    """

    guard: Guard
    models: Sequence[LocalModel] = ()
    only: LocalModel | None = None

    @property
    def reader(self) -> Guard:
        """The guard for an answer of which no tokens were captured."""
        return self.guard if self.only is None else self.only.guard


@dataclass(frozen=True)
class Prompts:
    """The prompt of one model run, in the forms it may have been recorded in.

    Attributes:
        of: the prompt as a given local model gets it; None if that model cannot have been called.
        rendered: the prompt in the format of a given guard's language model.
        echoed: whether the framework may repeat it before the answer.
        wrapped: whether the framework may add text of its own around it.
    """

    of: Callable[[LocalModel], str | None]
    rendered: Callable[[Guard], str | None]
    echoed: bool = False
    wrapped: bool = False


@dataclass(frozen=True)
class Written:
    """An answer as a Generation, the guard for its model, and (``lead``) an echoed prompt."""

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
        """The answer as a trace; see :class:`franq_guard.Trace`."""
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
    writers: Writers,
    run: ModelRun,
    prompts: Prompts,
    sent: Sequence[ServerToken] | GrowingServerText,
    answer: str,
) -> Written:
    """The record of ``answer``, written by ``run``; the framework may have changed its text since.

    Args:
        writers: the models that may have written it.
        run: the model's call, which may still be writing.
        prompts: the prompt of the call.
        sent: the log-probabilities that a server has sent so far; growing while it still writes.
        answer: the text that has reached the user so far.
    """
    captured = [one for model in writers.models if (one := _captured(model, run, prompts, answer))]
    if captured:
        several = len(captured) > 1
        one = max(captured, key=lambda one: one.order(run)) if several else captured[0]
        lead = _lead(prompts, one.generation.prompt, answer)
        return Written(one.model.guard, clipped(one.generation, answer.removeprefix(lead)), lead)
    prompt = prompts.rendered(writers.reader)
    lead = _lead(prompts, prompt, answer)
    text = answer.removeprefix(lead)
    if isinstance(sent, GrowingServerText):
        made = sent.generation(text, prompt)
    else:
        made = server_generation(text, prompt, sent)
    if writers.only is not None:
        made = replace(made, writer=writers.only.fingerprint)
    return Written(writers.reader, made, lead)


def unseen(writers: Writers, answer: str, parts: Sequence[str] = ()) -> Written:
    """The record of an ``answer`` whose call was not observed, such as one from a cache.

    A model that wrote this text recently, under a prompt that contains all ``parts``, is taken as
    the writer.
    """
    for model in writers.models:
        found = model.recalled(answer, parts)
        if found is not None:
            return Written(model.guard, clipped(found, answer))
    return Written(writers.reader, Generation(answer))


@dataclass(frozen=True)
class _Captured:
    """What a local model has written under a prompt; the prompt is None if it is not known."""

    model: LocalModel
    generation: Generation
    text: str
    prompt: str | None

    def order(self, run: ModelRun) -> tuple[bool, float]:
        """Of models that have written the same under the same prompt, the last is the run's.

        But not one that has written it again since, in another run.
        """
        ended_at = self.model.ended_at(self.text, self.prompt)
        return ended_at <= run.ended_at, ended_at


def _captured(model: LocalModel, run: ModelRun, prompts: Prompts, answer: str) -> _Captured | None:
    prompt = prompts.of(model)
    if prompt is None:
        return None
    text = _text_of(run, prompt, answer)
    found = model.generation(text, prompt)
    if found is not None:
        return _Captured(model, found, text, prompt)
    found = model.recalled(text, [prompt.strip()]) if prompts.wrapped else None
    return None if found is None else _Captured(model, found, text, None)


def _text_of(run: ModelRun, prompt: str, answer: str) -> str:
    """What the run wrote; while it is still writing, only up to the end of ``answer``.

    The tokens of later text may not be known yet.
    """
    text = (run.text or "").removeprefix(prompt)
    at = -1 if run.ended else text.find(answer)
    return text if at < 0 else text[: at + len(answer)]


def _lead(prompts: Prompts, prompt: str | None, answer: str) -> str:
    """The prompt if the answer begins with it, else an empty string."""
    return prompt if prompts.echoed and prompt and answer.startswith(prompt) else ""
