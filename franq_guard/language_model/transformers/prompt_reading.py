"""Reads a prompt once for an answer, its samples and questions about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.threads import threads_for
from franq_guard.language_model.base import check_sampling
from franq_guard.language_model.transformers import sampling
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.language_model.transformers.white_box import WhiteBox
from franq_guard.records import Generation


class PromptReading:
    """What :meth:`TransformersModel.read` returns; it keeps the prompt's cache in memory."""

    def __init__(self, model: WhiteBox, prompt: str, ids: list[int]) -> None:
        self._model = model
        self._prompt = prompt
        self._ids = ids
        self._cache = PromptCache(model.network, ids)

    @threads_for()
    def answers(
        self,
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[Generation]:
        """The greedy answer, then ``n`` samples (no top-k or top-p); only the first line of each.

        They end where the model's window does. They are generated together, so that a step needs
        one pass over the weights for all. Raises ``ValueError`` for settings with which nothing can
        be sampled.
        """
        check_sampling(n, max_new_tokens, temperature)
        model = self._model
        rows = sampling.sample(
            self._cache,
            n=n,
            max_new_tokens=model.encoder.room(self._ids, max_new_tokens),
            temperature=temperature,
            seed=seed,
            eos=model.eos_ids | model.encoder.line_breaks,
            top_k=model.top_k,
            greedy=True,
        )
        made = [model.generation(self._prompt, self._ids, ids, kept) for ids, kept in rows]
        return [first_line(generation) for generation in made]

    @threads_for()
    def logprobs(self, prompt: str, continuations: Sequence[str]) -> NDArray[np.float64]:
        """Log-probability of each continuation (n,), nats, after another prompt.

        A beginning that it shares with this prompt is not read again. A prompt that leaves no room
        for the longest of them in the window is cut, as for an answer of that length.
        """
        encoder = self._model.encoder
        whole = encoder.prompt_ids(prompt)
        given = [encoder.answer(Generation(one), whole).tokens for one in continuations]
        _, context = encoder.leaving_room(prompt, max(map(len, given), default=0))
        ids = [[token.id for token in tokens] for tokens in given]
        return np.array([float(self._cache.score(context, i).logprob.sum()) for i in ids], float)


def first_line(generation: Generation) -> Generation:
    """The answer up to its first line break.

    The token with the line break is kept, like an end-of-sequence token; its span is empty if it
    has no text before the break.
    """
    end = generation.text.find("\n")
    if end < 0:
        return generation
    last = next(i for i, token in enumerate(generation.tokens) if token.end > end)
    tokens = [replace(t, end=min(t.end, end)) for t in generation.tokens[: last + 1]]
    return replace(generation, text=generation.text[:end], tokens=tuple(tokens))
