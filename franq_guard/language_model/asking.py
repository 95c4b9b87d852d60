"""A language model as a function from a request to a reply, chosen by one argument."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from franq_guard.basics.template_marks import after_thoughts, as_tags
from franq_guard.language_model.base import LanguageModel, Prompt
from franq_guard.language_model.loading import language_model_from
from franq_guard.language_model.server.completions import import_httpx

_BUSY = (429, 503)
_TIMEOUT = 120.0
"""Seconds that a request may take."""
_CONNECT = 5.0
"""Of these to connect: a host that drops packets would else cost all of them at each claim."""


class NoAnswerError(RuntimeError):
    """The model could not be reached, rejected the request, or returned something unreadable."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A model that can be asked. ``name`` identifies it; ``parallel`` requests may run at once."""

    name: str
    ask: Callable[[str], str]
    parallel: int = 1


def ask_from(
    where: str,
    *,
    api_key: str | None = None,
    max_new_tokens: int = 300,
    tries: int = 4,
    sleep: Callable[[float], None] = time.sleep,
) -> Asked:
    """The model at ``where`` as a function from a request to its greedy reply.

    Args:
        where: the base URL of an OpenAI-compatible server with the model's name after ``#``
            (``https://host/v1#name``), or anything else that
            :func:`~franq_guard.language_model.loading.language_model_from` takes: ``bundled``, a
            ``.gguf`` file, a folder.
        api_key: for a server.
        max_new_tokens: the longest reply, in tokens.
        tries: how often a request is sent if the server is busy (429, 503) or not connected.
        sleep: waits between tries, as long as the server's Retry-After says, up to 30 seconds.

    Raises:
        ValueError: for anything else, or a URL without the model's name.
        MissingModelError: if the package that runs the model is not installed.
    """
    if where.startswith(("http://", "https://")):
        url, _, name = where.partition("#")
        if not name:
            raise ValueError(f"which model at {url}? Write {url}#NAME")
        chat = _Chat(url.rstrip("/"), name, api_key, max_new_tokens, tries, sleep)
        return Asked(name, chat, parallel=4)
    return asked(language_model_from(where), max_new_tokens=max_new_tokens)


def asked(model: LanguageModel, *, max_new_tokens: int = 300) -> Asked:
    """A loaded model as a function from a request to its greedy reply."""

    def ask(request: str) -> str:
        (made,) = model.generate([model.render(Prompt("", request))], max_new_tokens=max_new_tokens)
        return _without_thoughts(made.text)

    return Asked(model.fingerprint, ask)


@dataclass(frozen=True, slots=True)
class _Chat:
    url: str
    model: str
    api_key: str | None
    max_new_tokens: int
    tries: int
    sleep: Callable[[float], None]

    def __call__(self, request: str) -> str:
        for left in range(self.tries - 1, -1, -1):
            try:
                return self._once(request)
            except _Busy as busy:
                if not left:
                    raise NoAnswerError(f"{self.url} {busy}") from None
                self.sleep(busy.wait)
        raise NoAnswerError("a request needs at least one try")

    def _once(self, request: str) -> str:
        http = import_httpx()
        try:
            answer = http.post(
                f"{self.url}/chat/completions",
                json={
                    "model": self.model,
                    "messages": [{"role": "user", "content": request}],
                    "temperature": 0,
                    "max_tokens": self.max_new_tokens,
                },
                headers={"Authorization": f"Bearer {self.api_key}"} if self.api_key else {},
                timeout=http.Timeout(_TIMEOUT, connect=_CONNECT),
            )
        except (http.ConnectError, http.ConnectTimeout) as error:
            raise _Busy(f"cannot be reached: {error}", 1.0) from None
        except http.HTTPError as error:
            raise NoAnswerError(f"{type(error).__name__}: {error}") from None
        if answer.status_code in _BUSY:
            raise _Busy(f"is busy: status {answer.status_code}", _wait(answer.headers))
        if answer.status_code != 200:
            raise NoAnswerError(f"{self.url} answered with status {answer.status_code}")
        return _content(answer)


class _Busy(Exception):
    """Worth another try after ``wait`` seconds; ``why`` goes on from the server's address."""

    def __init__(self, why: str, wait: float) -> None:
        super().__init__(why)
        self.wait = wait


def _wait(headers: Mapping[str, str]) -> float:
    try:
        return min(30.0, max(0.0, float(headers.get("retry-after", 2.0))))
    except ValueError:  # Retry-After may also be a date
        return 2.0


def _content(answer: Any) -> str:
    try:
        content = answer.json()["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        raise NoAnswerError("the server's reply is no chat completion") from None
    return _without_thoughts(str(content or ""))


def _without_thoughts(reply: str) -> str:
    """The reply without what the model thought before it, in which a draft may differ from it.

    Empty if it ends while the model still thinks: then the reply itself is missing.
    """
    text = after_thoughts(reply).strip()
    return "" if as_tags(text).startswith(("<think", "\n<think")) else text
