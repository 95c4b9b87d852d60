"""Everything the language model computes for a question: answer, samples, P(True), re-scorings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from franq_bench.short.prompts import answer_prompt, truth_prompt, without_passages
from franq_bench.store.cache import content_key
from franq_guard.datasets.questions import Question
from franq_guard.franq import FloatArray
from franq_guard.language_model.base import LanguageModel
from franq_guard.language_model.transformers.model import TransformersModel
from franq_guard.language_model.transformers.prompt_reading import first_line
from franq_guard.records import Generation, Token
from franq_guard.signals.likelihoods import logprobs_of
from franq_guard.signals.p_true import p_true_logprobs, p_true_options
from franq_guard.signals.request import TEMPERATURE

__all__ = ["Answered", "Settings", "answer", "answer_key"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How answers are made: samples and their longest length in tokens, temperature, seed."""

    samples: int = 10
    max_new_tokens: int = 32
    temperature: float = TEMPERATURE
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """One question answered.

    Args:
        answer: greedy, its first line, with log-probabilities, entropies and alternatives.
        samples: other answers to the same prompt, duplicates kept.
        parametric: (T,), log-probabilities of the answer's tokens after the question alone.
        unconditional: (T,), the same without any prompt.
        p_true: (2,), log-probabilities of "True" and "False" about the answer.
    """

    answer: Generation
    samples: tuple[Generation, ...]
    parametric: FloatArray
    unconditional: FloatArray
    p_true: FloatArray

    def to_json(self) -> dict[str, Any]:
        """For the cache; prompts are left out."""
        arrays = ("parametric", "unconditional", "p_true")
        return {name: getattr(self, name).tolist() for name in arrays} | {
            "answer": _row(self.answer),
            "samples": [_row(sample) for sample in self.samples],
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Answered:
        """What :meth:`to_json` wrote."""
        arrays = ("parametric", "unconditional", "p_true")
        return cls(
            answer=_generation(row["answer"]),
            samples=tuple(_generation(sample) for sample in row["samples"]),
            **{name: np.array(row[name], float) for name in arrays},
        )


def answer_key(model: LanguageModel, question: Question, settings: Settings) -> str:
    """The cache key of :func:`answer`: it depends on model, prompts and settings only."""
    prompts = [asdict(answer_prompt(question)), asdict(without_passages(question))]
    truth = asdict(truth_prompt(question, ""))
    return content_key(model.fingerprint, prompts, truth, asdict(settings))


def answer(model: LanguageModel, question: Question, settings: Settings) -> Answered:
    """Compute everything for one question.

    A transformers model reads the passages only once; other models are called through the
    language-model protocol.
    """
    prompt = model.render(answer_prompt(question))
    if isinstance(model, TransformersModel):
        reading = model.read(prompt, max_new_tokens=settings.max_new_tokens)
        greedy, *rest = reading.answers(
            n=settings.samples,
            max_new_tokens=settings.max_new_tokens,
            temperature=settings.temperature,
            seed=settings.seed,
        )
        truth = model.render(truth_prompt(question, greedy.text.strip()))
        p_true = reading.logprobs(truth, p_true_options(truth))
    else:
        greedy, rest = _by_protocol(model, prompt, settings)
        asked = truth_prompt(question, greedy.text.strip())
        [[p_true]] = p_true_logprobs(model, [[asked.user]])
    bare = model.render(without_passages(question))
    parametric, unconditional = model.score([bare, ""], [greedy, greedy])
    return Answered(
        answer=greedy,
        samples=tuple(rest),
        parametric=logprobs_of(parametric),
        unconditional=logprobs_of(unconditional),
        p_true=p_true,
    )


def _by_protocol(
    model: LanguageModel, prompt: str, settings: Settings
) -> tuple[Generation, list[Generation]]:
    [greedy] = model.generate([prompt], max_new_tokens=settings.max_new_tokens)
    [samples] = model.sample(
        [prompt],
        n=settings.samples,
        max_new_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    return first_line(greedy), [first_line(sample) for sample in samples]


def _row(generation: Generation) -> dict[str, Any]:
    return {
        "text": generation.text,
        "tokens": [list(asdict(t).values()) for t in generation.tokens],
    }


def _generation(row: dict[str, Any]) -> Generation:
    tokens = tuple(
        Token(i, start, end, logprob, entropy, tuple((int(k), float(p)) for k, p in top))
        for i, start, end, logprob, entropy, top in row["tokens"]
    )
    return Generation(row["text"], tokens, source="captured")
