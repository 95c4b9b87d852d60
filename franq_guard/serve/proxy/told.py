"""What an upstream tells beside the text it wrote: tokens, the prompt its model saw, the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from franq_guard.capture.server_logprobs import server_generation
from franq_guard.language_model.server.tokens import ServerToken, from_logprobs
from franq_guard.records import Generation, Passage
from franq_guard.serve.settings import UpstreamKind

ADDED: Mapping[UpstreamKind, tuple[str, ...]] = {
    "openai": ("logprobs",),
    "vllm": ("logprobs", "return_token_ids", "return_prompt_text"),
}
"""What is asked of the upstream beside what the client asks. ``prompt_logprobs`` is not among them:
it would score the question and the passages, which no method reads, and vLLM's cache of prompts
serves no request that asks for it. It is asked for where an answer is scored a second time, without
its passages (:class:`~franq_guard.language_model.server.model.ServerModel`)."""
OF_PROMPT = {
    "return_token_ids": "prompt_token_ids",
    "return_prompt_text": "prompt_text",
    "prompt_logprobs": "prompt_logprobs",
}
"""Wishes of a client, and what vLLM then tells of the prompt: beside the choices."""


@dataclass
class Told:
    """What was told of one text so far.

    Attributes:
        tokens: those of the text, perhaps with others around it.
        prompt: the string that the model saw; None where it is not told.
        writer: fingerprint of the model, where it can be known.
    """

    tokens: list[ServerToken] = field(default_factory=list)
    prompt: str | None = None
    writer: str | None = None

    def generation(self, text: str, prompt: str | None, *, ids: bool) -> Generation:
        """``text`` as the model wrote it.

        Args:
            text: of which these are the tokens.
            prompt: what it is taken to have seen.
            ids: keep the tokens' ids: only the model that wrote the text can read them.
        """
        told = tuple(self.tokens)  # a stream adds to them meanwhile
        tokens = told if ids else [replace(token, id=-1) for token in told]
        return replace(server_generation(text, prompt, tokens), writer=self.writer)

    def holds(self, passages: Sequence[Passage]) -> bool:
        """Whether the told prompt has all of them: a template may leave ``documents`` out."""
        return self.prompt is not None and all(p.text in self.prompt for p in passages)


def told_by(kind: UpstreamKind, reply: Mapping[str, Any]) -> Told:
    """What a reply, or a chunk of one, tells of its prompt and its model."""
    prompt, model = reply.get("prompt_text"), reply.get("model")
    named = kind == "vllm" and isinstance(model, str) and model
    return Told(
        prompt=prompt if isinstance(prompt, str) else None,
        writer=f"server/{model}" if named else None,
    )


def tokens_of(choice: Mapping[str, Any]) -> list[ServerToken]:
    """The tokens of a choice, or of a piece of one; none where they cannot be read."""
    try:
        tokens = from_logprobs(choice.get("logprobs"))
    except (TypeError, ValueError):
        return []
    ids = choice.get("token_ids")
    if not isinstance(ids, list) or len(ids) != len(tokens):
        return tokens
    known = [i if isinstance(i, int) and not isinstance(i, bool) else -1 for i in ids]
    return [replace(token, id=i) for token, i in zip(tokens, known, strict=True)]
