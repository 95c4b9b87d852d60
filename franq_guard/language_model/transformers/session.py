"""Scores an answer while it grows; the prompt and each token of the answer are read once.

So computing Parametric Knowledge of a claim (arXiv 2505.21072, section 3) needs only the claim's
own tokens, not the prompt and the answer before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from franq_guard.basics.text import common_start
from franq_guard.basics.threads import threads_for
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.language_model.transformers.token_scores import TokenScores, cat
from franq_guard.language_model.transformers.white_box import WhiteBox
from franq_guard.records import Generation


class CachedSession:
    """A session of a :class:`~franq_guard.language_model.TransformersModel`; not thread-safe.

    The numbers are those of ``model.score`` on the answer so far (within 1e-4). An answer that does
    not continue the last one (because its last token changed) is read from where they differ. If
    prompt and answer exceed the model's window, or its cache cannot be continued, everything is
    read again.

    Args:
        model: the model.
        prompt: the prompt's string or ids.
    """

    def __init__(self, model: WhiteBox, prompt: str | Sequence[int]) -> None:
        self._model, self._prompt = model, prompt
        self._encoded: list[int] = model.encoder.prompt_ids(prompt)
        text = prompt if isinstance(prompt, str) else model.encoder.prompt_text(self._encoded)
        self._text = text
        self._cache: PromptCache | None = None
        self._ids: list[int] = []
        self._kept: TokenScores | None = None

    def score(self, answer: Generation) -> Generation:
        """The answer so far with the log-probability (nats) of every token."""
        return self.recent(answer, 0)

    @threads_for()
    def recent(self, answer: Generation, since: int) -> Generation:
        """:meth:`score` with only the tokens from character ``since`` on."""
        ready = self._model.encoder.answer(answer, self._encoded)
        wanted = ready.since(since).tokens
        first = len(ready.tokens) - len(wanted)
        ids = [token.id for token in ready.tokens]
        window = self._model.network.window
        if not ids or (window is not None and len(self._encoded) + len(ids) > window):
            self.close()
            whole = self._model.score([self._prompt], [ready])[0]
            return replace(whole, tokens=whole.tokens[first:])
        kept = self._read(ids).rows(slice(first, None))
        spans = [(token.start, token.end) for token in wanted]
        tokens = kept.tokens(ids[first:], spans)
        return Generation(ready.text, tokens, self._text, tuple(self._encoded), "teacher-forced")

    def close(self) -> None:
        """Free the cache."""
        self._cache, self._ids, self._kept = None, [], None

    def _read(self, ids: list[int]) -> TokenScores:
        if self._cache is None:
            self._cache = PromptCache(self._model.network, self._encoded)
        known = common_start(self._ids, ids)
        parts = [] if self._kept is None else [self._kept.rows(slice(known))]
        if known < len(ids):
            context = [*self._encoded, *ids[:known]]
            parts.append(self._cache.score(context, ids[known:], top_k=self._model.top_k))
        self._ids, self._kept = ids, cat(parts)
        return self._kept
