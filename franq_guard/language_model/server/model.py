"""A model on an OpenAI-compatible completions server that can score given texts; probed first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from franq_guard.basics.deadline import between_batches
from franq_guard.language_model.base import (
    Contrast,
    LanguageModel,
    Progress,
    Prompt,
    check_sampling,
    plain_text,
)
from franq_guard.language_model.contrast import contrast
from franq_guard.language_model.server.completions import (
    Completions,
    Protocol,
    Reported,
    of_ids,
    written,
)
from franq_guard.language_model.server.probe import after, trusted
from franq_guard.records import Generation, Source, Token, Trace

Render = Callable[[Prompt], str]


class ServerModel(LanguageModel):
    """A served white-box model, by vLLM's ``prompt_logprobs`` or by ``echo`` with ``logprobs``.

    The constructor lets the server write two short texts and scores them again; a server whose
    numbers do not agree is rejected. The server splits texts into tokens, so token ids are -1 and a
    prompt must be a string. A text that is longer than the server's window raises the server's
    error.

    Args:
        base_url: up to and including the version, such as ``http://localhost:8000/v1``.
        model: the served model's name; None: the only one that the server lists.
        render: makes the model's prompt string (its chat template) from a :class:`Prompt`, for
            example ``Encoder(tokenizer, None).render``; default: plain text ending in ``Answer:``.
        protocol: the way to score; default: the first of the two whose numbers are correct.
        api_key: sent as a bearer token.
        timeout: seconds a request may take.
        retries: how often a failed connection is tried again; other errors are not retried.
        concurrency: how many requests may run at the same time.

    Raises:
        UntrustworthyServerError: if log-probabilities are missing or wrong; says what to do.
        ServerError: if the server cannot be reached or rejects a request.
        MissingModelError: if httpx is not installed.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        *,
        render: Render | None = None,
        protocol: Protocol | None = None,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 2,
        concurrency: int = 4,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self._server = Completions(
            base_url, model, api_key=api_key, timeout=timeout, retries=retries
        )
        self._render = render or plain_text
        self._concurrency = concurrency
        try:
            self.protocol, self._read = trusted(self._server, protocol)
        except Exception:
            self.close()
            raise

    def close(self) -> None:
        """Close the connections; also done when the object is deleted."""
        self._server.close()

    @property
    def fingerprint(self) -> str:
        """``server/name``; servers do not reveal their weights, so each needs a name of its own."""
        return f"server/{self._server.model}"

    def render(self, prompt: Prompt) -> str:
        """The prompt string, by the function given at construction."""
        return self._render(prompt)

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """One greedy answer per prompt, source ``server``, token ids -1.

        Raises:
            ServerError: see the class.
        """
        settings = {"max_tokens": max_new_tokens, "temperature": 0, "logprobs": 1, **self._neutral}
        made = []
        for one in self._each(lambda p: self._written(p, **settings), prompts):
            made.append(one)
            if progress is not None:
                progress(len(made), len(prompts))
        return made

    def sample(
        self,
        prompts: Sequence[str],
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[list[Generation]]:
        """``n`` samples per prompt, scored in a second request.

        The values that a server sends while sampling may depend on the sampling settings. The
        server is asked for its full distribution (no top-k, top-p or min-p).

        Raises:
            ValueError: for settings with which nothing can be sampled.
            ServerError: see the class.
        """
        check_sampling(n, max_new_tokens, temperature)
        drawing = {"max_tokens": max_new_tokens, "temperature": temperature, **self._neutral}

        def draw(task: tuple[str, int]) -> Generation:
            prompt, number = task
            return self._written(prompt, seed=seed * 1_000_003 + number, **drawing)

        tasks = [(prompt, i) for prompt in prompts for i in range(n)]
        drawn = self.score([p for p, _ in tasks], list(self._each(draw, tasks)))
        return [drawn[i : i + n] for i in range(0, len(drawn), n)]

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Score the answers under their prompts, in the server's own tokens (``teacher-forced``).

        An answer that this model wrote and whose token ids are known is scored with these tokens,
        if the server accepts ids (vLLM). Before any other answer a space is added if prose needs
        one. A value that the server does not send is NaN.

        Raises:
            ValueError: if the lengths differ, or for a prompt given as ids.
            ServerError: see the class.
        """
        if len(prompts) != len(answers):
            raise ValueError(f"{len(prompts)} prompts for {len(answers)} answers")
        if not all(isinstance(prompt, str) for prompt in prompts):
            raise ValueError("a server model takes prompts as strings: ids are another tokeniser's")
        return list(
            self._each(lambda pair: self._scored(*pair), list(zip(prompts, answers, strict=True)))
        )

    def without_evidence(self, trace: Trace) -> Contrast:
        """See :mod:`.contrast`; uses the captured string, not the ids."""
        return contrast(trace, trace.generation.prompt, self.render)

    @property
    def _neutral(self) -> dict[str, Any]:
        """Settings of vLLM and llama.cpp that turn off changes to the model's distribution."""
        top_k = -1 if self.protocol == "prompt_logprobs" else 0
        off = {"top_p": 1, "top_k": top_k, "min_p": 0}
        return {**off, "repetition_penalty": 1, "repeat_penalty": 1}

    def _each(
        self, work: Callable[[Any], Generation], tasks: Sequence[Any]
    ) -> Iterator[Generation]:
        with ThreadPoolExecutor(self._concurrency) as pool:
            for one in pool.map(work, tasks):
                between_batches()  # if it raises, the requests that are not sent yet are given up
                yield one

    def _written(self, prompt: str, **settings: Any) -> Generation:
        text, reported = written(self._server.complete(prompt, **settings))
        source: Source = "server" if reported.tokens else "none"
        tokens = _tokens(reported, 0, len(text))
        return Generation(text, tokens, prompt, None, source, self.fingerprint)

    def _scored(self, prompt: str, answer: Generation) -> Generation:
        text = answer.text
        source: Source = "teacher-forced"
        if not text:
            return Generation(text, (), prompt, None, source)
        if (exact := self._by_ids(prompt, answer)) is not None:
            return Generation(text, exact, prompt, None, source)
        gap = " " if prompt and not prompt[-1].isspace() and _prose(prompt, text) else ""
        reported = after(self._read(self._server, prompt + gap + text), len(prompt))
        return Generation(text, _tokens(reported, len(gap), len(text)), prompt, None, source)

    def _by_ids(self, prompt: str, answer: Generation) -> tuple[Token, ...] | None:
        """The answer's own tokens, scored under another prompt; None if ids cannot be used."""
        ids = [token.id for token in answer.tokens]
        own = answer.writer == self.fingerprint and bool(ids) and min(ids) >= 0
        if not own or self.protocol != "prompt_logprobs" or not prompt:
            return None
        before = self._server.token_ids(prompt)
        if before is None:
            return None
        values = of_ids(self._server, before, ids)
        pairs = zip(answer.tokens, values, strict=True)
        return tuple(Token(t.id, t.start, t.end, value) for t, value in pairs)


def _prose(prompt: str, text: str) -> bool:
    """Whether a space belongs between the two; not after a marker of a chat template."""
    return not text[0].isspace() and prompt[-1] not in ">]"


def _tokens(reported: Reported, lead: int, size: int) -> tuple[Token, ...]:
    """Tokens whose spans cover a text of ``size`` characters that starts at ``lead``."""
    ends = [min(max(end - lead, 0), size) for _, end in reported.spans]
    starts = [0, *ends]
    return tuple(
        Token(-1, a, b, token.logprob)
        for a, b, token in zip(starts, ends, reported.tokens, strict=False)
    )
