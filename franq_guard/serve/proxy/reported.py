"""What an upstream reports besides its text: tokens, the prompt its model saw, the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from franq_guard.capture.server_logprobs import GrowingServerText
from franq_guard.claims.forms import opens_reasoning
from franq_guard.language_model.server.tokens import ServerToken, from_logprobs
from franq_guard.records import Generation, Passage
from franq_guard.serve.settings import UpstreamKind

_TOKEN_FIELDS: Mapping[UpstreamKind, tuple[str, ...]] = {
    "openai": ("logprobs",),
    "vllm": ("logprobs", "return_token_ids"),
}
_PROMPT_TEXT_FIELDS: Mapping[UpstreamKind, tuple[str, ...]] = {
    "openai": (),
    "vllm": ("return_prompt_text",),
}
PROMPT_FIELDS = {
    "return_token_ids": "prompt_token_ids",
    "return_prompt_text": "prompt_text",
    "prompt_logprobs": "prompt_logprobs",
}
"""Request fields, and the field about the prompt that vLLM adds to its reply for each."""


def added_fields(kind: UpstreamKind, *, weighed: bool) -> tuple[str, ...]:
    """The fields that the proxy adds to a client's request.

    The prompt's text is always of use: it tells whether the answer begins with reasoning.
    ``prompt_logprobs`` is not among them: no method uses the scores of question and passages, and
    vLLM does not use its prompt cache for such requests. It is requested only when an answer is
    scored a second time, without its passages
    (:class:`~franq_guard.language_model.server.model.ServerModel`).

    Args:
        kind: which kind of server the upstream is.
        weighed: whether log-probabilities can decide on the answer.
    """
    return (*(_TOKEN_FIELDS[kind] if weighed else ()), *_PROMPT_TEXT_FIELDS[kind])


def writer_of(kind: UpstreamKind, model: object) -> str | None:
    """The fingerprint of the upstream's model of this name, if it can be known."""
    return f"server/{model}" if kind == "vllm" and isinstance(model, str) and model else None


@dataclass
class Reported:
    """What the upstream has reported about one text so far.

    Attributes:
        written: the tokens of the text, possibly with others around it.
        prompt: the string that the model saw; None if it is not reported.
        writer: fingerprint of the model, if it can be known.
        id: of the completion; telemetry reports it, as the span of the model's call does.
        separate_reasoning: whether it sends the model's reasoning in a field of its own.
    """

    written: GrowingServerText = field(default_factory=GrowingServerText)
    prompt: str | None = None
    writer: str | None = None
    id: str | None = None
    separate_reasoning: bool = False

    @property
    def thinks_first(self) -> bool:
        """Whether the text begins with reasoning, as far as the reported prompt tells."""
        return not self.separate_reasoning and opens_reasoning(self.prompt)

    def of_text(self, tokens: Iterable[ServerToken] = ()) -> Reported:
        """The same for one text of the reply, with its own tokens."""
        one = replace(self, written=GrowingServerText())
        one.written.add(tokens)
        return one

    def generation(self, text: str, *, ids: bool) -> Generation:
        """``text``, complete or still growing, with its tokens.

        Args:
            text: the text of these tokens.
            ids: keep the token ids; they are valid only for the model that wrote the text.
        """
        made = replace(self.written.generation(text, None), writer=self.writer)
        if ids or all(token.id == -1 for token in made.tokens):
            return made
        return replace(made, tokens=tuple(replace(token, id=-1) for token in made.tokens))

    def holds(self, passages: Sequence[Passage]) -> bool:
        """Whether the reported prompt contains all passages: a template may drop ``documents``."""
        return self.prompt is not None and all(p.text in self.prompt for p in passages)


def reported_by(kind: UpstreamKind, reply: Mapping[str, Any]) -> Reported:
    """What a reply, or a chunk of one, reports about its prompt and its model."""
    prompt, id = reply.get("prompt_text"), reply.get("id")
    return Reported(
        prompt=prompt if isinstance(prompt, str) else None,
        writer=writer_of(kind, reply.get("model")),
        id=id if isinstance(id, str) and id else None,
    )


def tokens_of(choice: Mapping[str, Any]) -> list[ServerToken]:
    """The tokens of a choice, or of a part of one; empty if they cannot be read."""
    try:
        tokens = from_logprobs(choice.get("logprobs"))
    except (TypeError, ValueError):
        return []
    ids = choice.get("token_ids")
    if not isinstance(ids, list) or len(ids) != len(tokens):
        return tokens
    known = [i if isinstance(i, int) and not isinstance(i, bool) else -1 for i in ids]
    return [replace(token, id=i) for token, i in zip(tokens, known, strict=True)]
