"""One server of the OpenAI completions protocol, and the two ways to have it score a given text."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from franq_guard.language_model.base import MissingModelError
from franq_guard.language_model.server.pieces import spans_of
from franq_guard.language_model.server.tokens import (
    ServerToken,
    encoded,
    from_logprobs,
    logprob_of,
)
from franq_guard.records import Span

if TYPE_CHECKING:
    import httpx

Protocol = Literal["prompt_logprobs", "echo"]

_BASE_URL = "does the base URL end with its version, as in http://localhost:8000/v1?"


class ServerError(RuntimeError):
    """A server could not be reached, rejected a request, or returned something unreadable."""


class UntrustworthyServerError(ServerError):
    """A server's log-probabilities are missing or wrong, so scores from them would be wrong."""


@dataclass(frozen=True, slots=True)
class Reported:
    """Log-probabilities as sent by a server: for each token its span and its value."""

    spans: tuple[Span, ...]
    tokens: tuple[ServerToken, ...]


Reader = Callable[["Completions", str], Reported]
"""Returns the log-probabilities of a given text; the spans cover that text up to its end."""


class Completions:
    """A client for ``POST {base_url}/completions``; only failed connections are tried again.

    Args:
        base_url: up to and including the version, such as ``http://localhost:8000/v1``.
        model: the served model's name; None: the only one that the server lists.
        api_key: sent as a bearer token.
        timeout: seconds a request may take, of which at most 5 to connect.
        retries: how often a failed connection is tried again.

    Raises:
        MissingModelError: if httpx is not installed.
        ServerError: if ``model`` is None and the server does not list exactly one.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None,
        *,
        api_key: str | None,
        timeout: float,
        retries: int,
    ) -> None:
        http = import_httpx()
        self.base_url = base_url.rstrip("/")
        self._http: httpx.Client = http.Client(
            transport=http.HTTPTransport(retries=retries),
            timeout=http.Timeout(timeout, connect=min(5.0, timeout)),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )
        self.close = weakref.finalize(self, self._http.close)
        self._errors: tuple[type[Exception], ...] = (http.HTTPError, http.InvalidURL)
        self.model = model or self._only_model()

    def complete(self, prompt: str | Sequence[int], **settings: Any) -> Mapping[str, Any]:
        """The first choice for ``prompt``, a text or token ids.

        Raises:
            ServerError: for anything but a readable answer.
        """
        body = {"model": self.model, "prompt": prompt, **settings}
        choices = self._ask("POST", "completions", body).get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            raise ServerError(f"{self.base_url} answered without any choice")
        return choices[0]

    def token_ids(self, text: str) -> list[int] | None:
        """The ids of a prompt's tokens by vLLM's ``/tokenize``; None from other servers.

        If the text itself begins with the start token, no second one is added.
        """
        ids = self._tokenized(text, special=True)
        if ids is None or ids[:1] != ids[1:2]:
            return ids
        own = self._tokenized(text, special=False)  # "11 years" may begin with two equal ids, too
        return own if own == ids[1:] else ids

    def _tokenized(self, text: str, *, special: bool) -> list[int] | None:
        body = {"model": self.model, "prompt": text, "add_special_tokens": special}
        try:
            ids = self._ask("POST", "../tokenize", body).get("tokens")
        except ServerError:
            return None
        known = isinstance(ids, list) and ids and all(isinstance(i, int) for i in ids)
        return ids if known else None

    def _only_model(self) -> str:
        listed = self._ask("GET", "models").get("data")
        names = [str(m["id"]) for m in listed or () if isinstance(m, Mapping) and "id" in m]
        if len(names) != 1:
            raise ServerError(f"name one of the models at {self.base_url}: {', '.join(names)}")
        return names[0]

    def _ask(self, method: str, path: str, body: Any = None) -> Mapping[str, Any]:
        base = self.base_url
        if path.startswith("../"):  # an address outside the version's folder
            base, path = base.rpartition("/")[0], path.removeprefix("../")
        url = f"{base}/{path}"
        try:
            response = self._http.request(method, url, json=body)
        except self._errors as error:
            raise ServerError(
                f"no answer from {url} ({type(error).__name__}: {error}): is the server running, "
                f"and {_BASE_URL}"
            ) from error
        if response.status_code != 200:
            doubt = f": {_BASE_URL}" if response.status_code == 404 else ""
            raise ServerError(
                f"{url} answered {response.status_code}: {response.text[:300]}{doubt}"
            )
        try:
            found = response.json()
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ServerError(f"{url} answered no JSON: {response.text[:100]!r}") from error
        if not isinstance(found, Mapping):
            raise ServerError(f"{url} answered no JSON object: {response.text[:100]!r}")
        return found


def import_httpx() -> Any:
    """The library through which servers are asked; :class:`.MissingModelError` without it."""
    try:
        return import_module("httpx")
    except ModuleNotFoundError as error:
        raise MissingModelError(
            "servers are asked through httpx; run: pip install 'franq-guard[server]'"
        ) from error


def by_prompt_logprobs(server: Completions, text: str) -> Reported:
    """Score a text by vLLM's ``prompt_logprobs``; with 0 alternatives, so one token per place."""
    choice = server.complete(text, max_tokens=1, temperature=0, prompt_logprobs=0)
    places = choice.get("prompt_logprobs")
    if not isinstance(places, list):
        raise UntrustworthyServerError("the answer holds no prompt_logprobs")
    tokens = [_of_place(place) for place in places[1:]]  # nothing precedes the first token
    spans = spans_of([t.text.decode(errors="replace") for t in tokens], text, without_first=True)
    return _reported(spans, tokens)


def of_ids(server: Completions, prompt: Sequence[int], ids: Sequence[int]) -> list[float]:
    """The log-probabilities of exactly these tokens after a prompt, by ``prompt_logprobs``."""
    choice = server.complete([*prompt, *ids], max_tokens=1, temperature=0, prompt_logprobs=0)
    places = choice.get("prompt_logprobs")
    if not isinstance(places, list) or len(places) != len(prompt) + len(ids):
        raise UntrustworthyServerError("prompt_logprobs are not of the tokens that were given")
    entries = [
        place.get(str(id)) if isinstance(place, Mapping) else None
        for place, id in zip(places[len(prompt) :], ids, strict=True)
    ]
    if not all(isinstance(entry, Mapping) for entry in entries):
        raise UntrustworthyServerError("prompt_logprobs are not of the tokens that were given")
    return [logprob_of(entry.get("logprob")) for entry in entries if entry is not None]


def by_echo(server: Completions, text: str) -> Reported:
    """Score a text by ``echo`` with ``logprobs``; the one new token after it is cut off."""
    choice = server.complete(text, max_tokens=1, temperature=0, echo=True, logprobs=1)
    tokens = from_logprobs(choice.get("logprobs"))
    echoed = str(choice.get("text") or "")
    if not tokens or not echoed.startswith(text):
        raise UntrustworthyServerError("the prompt and its logprobs do not come back with echo")
    pieces = [token.text.decode(errors="replace") for token in tokens]
    spans = spans_of(pieces, echoed) or spans_of(pieces, text)  # some leave out the new token
    if spans is not None:
        size = sum(start < len(text) for start, _ in spans)
        spans = [(a, min(b, len(text))) for a, b in spans[:size]]
        tokens = tokens[:size]
    return _reported(spans, tokens)


READERS: Mapping[Protocol, Reader] = {"prompt_logprobs": by_prompt_logprobs, "echo": by_echo}


def written(choice: Mapping[str, Any]) -> tuple[str, Reported]:
    """A completion's text and its tokens; no tokens if the server sends none, or others."""
    text = str(choice.get("text") or "")
    tokens = from_logprobs(choice.get("logprobs"))
    spans = spans_of([token.text.decode(errors="replace") for token in tokens], text)
    return text, Reported((), ()) if spans is None else Reported(tuple(spans), tuple(tokens))


def _of_place(place: Any) -> ServerToken:
    if not isinstance(place, Mapping) or len(place) != 1:
        raise UntrustworthyServerError(f"a place of prompt_logprobs holds {place!r}, not one token")
    (entry,) = place.values()
    text = entry.get("decoded_token") if isinstance(entry, Mapping) else None
    if not isinstance(text, str):
        raise UntrustworthyServerError(f"prompt_logprobs has no text for the token {entry!r}")
    return ServerToken(encoded(text), logprob_of(entry.get("logprob")))


def _reported(spans: list[Span] | None, tokens: list[ServerToken]) -> Reported:
    if spans is None:
        raise UntrustworthyServerError("the server's tokens do not spell the text it was given")
    return Reported(tuple(spans), tuple(tokens))
