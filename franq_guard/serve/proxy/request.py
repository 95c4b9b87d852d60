"""A chat request: the part that is forwarded, and what its answer is checked against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from franq_guard.capture.matching import prompt_of_messages
from franq_guard.records import Passage
from franq_guard.serve.passages import (
    EXTENSION,
    extension_in,
    messages_in,
    passages_in,
    question_of,
    text_of,
)
from franq_guard.serve.proxy.wire import MalformedError, to_json
from franq_guard.serve.reading import (
    bad_request,
    check_extension,
    check_length,
    check_size,
    closed_of,
    deadline_of,
    object_of,
)
from franq_guard.serve.settings import ServeSettings

if TYPE_CHECKING:
    from franq_guard.guard import Guard

_SYSTEM = ("system", "developer")


@dataclass(frozen=True)
class ChatRequest:
    """One request of ``/v1/chat/completions``.

    Attributes:
        body: the body that is forwarded: without our extension object.
        question: the user's question.
        passages: the passages that the answer is checked against.
        deadline: seconds that checking may take; None if the request sets no deadline.
        closed: claims that could not be checked count as weak.
    """

    body: Mapping[str, Any]
    question: str
    passages: tuple[Passage, ...]
    deadline: float | None
    closed: bool

    @property
    def model(self) -> str:
        """The model's name; "" if there is none."""
        name = self.body.get("model")
        return name if isinstance(name, str) else ""

    @property
    def stream(self) -> bool:
        """Whether the client asks for a stream of events."""
        return self.body.get("stream") is True

    @property
    def choices(self) -> int:
        """How many choices the client asks for."""
        n = self.body.get("n")
        return n if isinstance(n, int) else 1

    @property
    def wants_usage(self) -> bool:
        """Whether the client asks for a last chunk with the token usage."""
        options = self.body.get("stream_options")
        return isinstance(options, Mapping) and options.get("include_usage") is True

    @property
    def wants_logprobs(self) -> bool:
        """Whether the client itself asked for log-probabilities."""
        return bool(self.body.get("logprobs"))

    def wants(self, name: str) -> bool:
        """Whether the client itself asked for field ``name``; ``prompt_logprobs: 0`` counts."""
        value = self.body.get(name)
        return value is not None and value is not False

    def payload(self, added: Iterable[str] = ()) -> bytes:
        """The body to send to the upstream.

        Args:
            added: fields to set to true in addition.

        Raises:
            ServeError: if the body is nested too deeply or has a number that is not finite.
        """
        try:
            return to_json({**self.body, **dict.fromkeys(added, True)})
        except MalformedError as error:
            raise bad_request(str(error)) from None

    def prompt(self, guard: Guard) -> str | None:
        """The messages in the chat template of the guard's own model.

        None if they do not contain the passages (which came in ``documents`` or our extension): the
        guard's own prompt contains them and is closer to what the model saw.
        """
        texts = "\n".join(text for _, text in self._texts)
        if not all(passage.text in texts for passage in self.passages):
            return None
        system = [text for role, text in self._texts if role in _SYSTEM]
        others = [text for role, text in self._texts if role not in _SYSTEM]
        return prompt_of_messages(guard, system, others)

    @cached_property
    def _texts(self) -> list[tuple[object, str]]:
        messages = messages_in(self.body)
        return [(message.get("role"), text_of(message.get("content"))) for message in messages]


def chat_request(raw: bytes, headers: Mapping[str, str], settings: ServeSettings) -> ChatRequest:
    """Reads the body of a chat request.

    ``{"franq": {"deadline": 2.5, "on_error": "closed"}}`` or the headers ``x-franq-deadline`` and
    ``x-franq-on-error`` set how long checking may take, and whether unchecked claims count as weak.

    Raises:
        ServeError: 422 where it is no JSON object, a value of ours is wrong, or it asks for more
            choices than may be streamed at once; 413 where it brings more passages, or a longer
            question, than are checked.
    """
    body = object_of(raw)
    if not isinstance(body.get("stream"), (bool, type(None))):
        raise bad_request("'stream' must be true or false")
    _check_choices(body, settings)
    check_extension(body.get(EXTENSION))
    extension = extension_in(body)
    passages, question = passages_in(body), question_of(body)
    check_size(settings, passages, None)
    check_length(settings, "question", question)
    return ChatRequest(
        body={key: value for key, value in body.items() if key != EXTENSION},
        question=question,
        passages=passages,
        deadline=deadline_of(headers.get("x-franq-deadline"), extension.get("deadline")),
        closed=closed_of(
            settings, "chat", headers.get("x-franq-on-error"), extension.get("on_error")
        ),
    )


def _check_choices(body: Mapping[str, Any], settings: ServeSettings) -> None:
    """Refuse a stream whose number of choices is not known, or more than are checked at once."""
    n = body.get("n")
    if n is None or not body.get("stream"):
        return
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise bad_request("'n' must be a whole number of at least 1")
    if settings.stream == "claims" and n > settings.streams:
        raise bad_request(
            f"'n' is {n}: this service streams at most {settings.streams} choices",
            "too_many_choices",
        )
