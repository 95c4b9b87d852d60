"""A language model wrapper that reads only the new tokens while an answer grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from franq_guard.language_model.base import Contrast, LanguageModel, Progress, Prompt
from franq_guard.language_model.session import Session, session_of
from franq_guard.records import Generation, Passage, Trace

__all__ = ["ContinuedModel"]

_SESSIONS = 2
"""How many prompts one answer has: with and without the evidence."""
_LONG = 4000
"""Up to this length of an answer, the prompt without evidence is computed again for every part."""


class ContinuedModel:
    """A language model for one answer that is still being written; for one thread.

    The answer so far is scored in a session of its prompt, which reads only new tokens; all other
    calls are passed to the model itself. Only the tokens from the character given to
    :meth:`set_answer` are returned, because the earlier ones were returned before.

    Args:
        model: the model.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self._whole = Generation("")
        self._since = 0
        self._contrast: Contrast | None = None
        self._contrast_until = 0
        self._shown: tuple[str | None, tuple[Passage, ...]] = (None, ())
        self._sessions: dict[str | tuple[int, ...], Session] = {}

    @property
    def fingerprint(self) -> str:
        """The model's own."""
        return self.model.fingerprint

    @property
    def tokenizer(self) -> Any:
        """The model's own, None where it has none."""
        return getattr(self.model, "tokenizer", None)

    def render(self, prompt: Prompt) -> str:
        """The model's own."""
        return self.model.render(prompt)

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """The model's own."""
        return self.model.generate(prompts, max_new_tokens=max_new_tokens, progress=progress)

    def sample(
        self,
        prompts: Sequence[str],
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[list[Generation]]:
        """The model's own."""
        return self.model.sample(
            prompts, n=n, max_new_tokens=max_new_tokens, temperature=temperature, seed=seed
        )

    def set_answer(self, answer: Generation, *, since: int) -> None:
        """Set the answer so far; its tokens are wanted from character ``since`` on."""
        self._whole, self._since = answer, since

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Score the answer so far in its sessions; other texts, or one without prompt, anew."""
        pairs = list(zip(prompts, answers, strict=True))
        rest = [pair for pair in pairs if not self._is_current(pair[1])]
        scored = iter(self.model.score(*map(list, zip(*rest, strict=True))) if rest else ())
        return [
            self._recent(prompt) if self._is_current(answer) else next(scored)
            for prompt, answer in pairs
        ]

    def without_evidence(self, trace: Trace) -> Contrast:
        """The model's own; for a long answer, computed again once it has grown by a quarter."""
        size, shown = len(trace.generation.text), (trace.generation.prompt, trace.passages)
        known, until = self._contrast, self._contrast_until
        if known is None or size >= until or shown != self._shown:
            self._contrast = known = self.model.without_evidence(trace)
            self._contrast_until = size + (size // 4 if size > _LONG else 1)
            self._shown = shown
        return known

    def close(self) -> None:
        """Close all sessions."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def _is_current(self, answer: Generation) -> bool:
        return answer.text == self._whole.text

    def _recent(self, prompt: str | Sequence[int]) -> Generation:
        """The wanted tokens of the answer so far."""
        if not prompt:
            return self.model.score([prompt], [self._whole])[0].since(self._since)
        session: Any = self._session(prompt)
        if self._whole.tokens and hasattr(session, "recent"):
            made: Generation = session.recent(self._whole, self._since)
            return made
        scored: Generation = session.score(self._whole)
        if not self._whole.tokens:  # so that the other prompt is scored with the same ids
            self._whole = scored
        return scored.since(self._since)

    def _session(self, prompt: str | Sequence[int]) -> Session:
        key = prompt if isinstance(prompt, str) else tuple(prompt)
        if key not in self._sessions:
            while len(self._sessions) >= _SESSIONS:
                self._sessions.pop(next(iter(self._sessions))).close()
            self._sessions[key] = session_of(self.model, key)
        return self._sessions[key]
