"""Models that tell a secret in every text they write, and a guard that marks it.

The passages say nothing of the secret, so its sentence leaves marked as false, or as unverified.
Where the secret shows without a mark, nobody checked the text.
"""

from __future__ import annotations

import json
import re
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    LogProb,
    TextBlock,
    ThinkingBlock,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback

from franq_guard import Guard, Policy
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

from .agent_fakes import ScriptedCaller
from .fakes import ScriptedChat, ScriptedLLM


def number(prompt: str) -> str:
    found = re.search(r"run (\d+)", prompt)
    return found.group(1) if found else "none"


def secret(run: int | str) -> str:
    return f"zebra-{run}-x"


def made_up(run: int | str) -> str:
    return f"Purple {secret(run)} sings loud tunes there at midnight."


def shows_raw(text: str, run: int | str) -> bool:
    """Whether the secret of a run is in ``text`` without a mark."""
    unmarked = re.escape(secret(run)) + r"(?! sings loud tunes there at midnight \[)"
    return re.search(unmarked, " ".join(text.split())) is not None


def token(run: int | str) -> str:
    """It stands in the log-probabilities alone."""
    return f"token-{run}-y"


def sent(run: int | str, text: str, words: list[str]) -> dict[str, Any]:
    """What comes with ``text``: log-probabilities of its ``words``, raw and as LlamaIndex's own."""
    content = [{"token": word, "logprob": -1.0} for word in words]
    raw = {"said": text, "choices": [{"logprobs": {"content": content}}]}
    return {"raw": raw, "logprobs": [[LogProb(token=word, logprob=-1.0) for word in words]]}


def told(prompt: str) -> str:
    """An answer to the run that the prompt names; its third sentence is the secret one."""
    n = number(prompt)
    return f"The archive says that the tower of run {n} is tall. {kept(n)} {made_up(n)}"


def kept(run: int | str) -> str:
    """It distinguishes a checked answer from a document, which never has these words."""
    return f"The cellar of run {run} is surely old."


def guard() -> Guard:
    return Guard(
        language_model=FakeLanguageModel(known=0.1),
        faithfulness=FakeFaithfulness(),
        policy=Policy(action="annotate"),
    )


def _pieces(run: int | str, text: str):
    """The text so far, the next word, and what comes with it."""
    so_far = ""
    for word in re.findall(r"\s*\S+", text):
        words = [word] if so_far else [token(run), word]
        so_far += word
        yield so_far, word, sent(run, so_far, words)


def _thinking(text: str) -> list[Any]:
    """The blocks of a message of a model that thinks aloud."""
    return [ThinkingBlock(content=text), TextBlock(text=text)]


class SecretLLM(ScriptedLLM):
    """A completion model."""

    def answer(self, prompt):
        return told(prompt)

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        run, text = number(prompt), told(prompt)
        return CompletionResponse(text=text, **sent(run, text, [token(run), text]))

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        pieces = _pieces(number(prompt), told(prompt))
        return (CompletionResponse(text=t, delta=d, **more) for t, d, more in pieces)


class SecretChat(ScriptedChat):
    """A chat model that thinks aloud and sends its tokens along."""

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        return self._said("\n".join(m.content or "" for m in messages))

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        prompt = "\n".join(m.content or "" for m in messages)
        return (
            ChatResponse(message=ChatMessage(role="assistant", content=t), delta=d, **more)
            for t, d, more in _pieces(number(prompt), told(prompt))
        )

    def answer(self, prompt):
        return told(prompt)

    def _said(self, prompt: str) -> ChatResponse:
        text, run = told(prompt), number(prompt)
        more = sent(run, text, [token(run), *re.findall(r"\s*\S+", text)])
        message = ChatMessage(
            role="assistant",
            blocks=_thinking(text),
            additional_kwargs={"reasoning_content": text, "logprobs": more["raw"]["choices"]},
        )
        return ChatResponse(message=message, **more)


class SecretCaller(ScriptedCaller):
    """Calls ``tool`` with the user's words once, thinking aloud beside it; then answers."""

    def _next(self, messages):
        asked = "\n".join(m.content or "" for m in messages if m.role.value == "user")
        since = [m for m in messages if m.role.value == "tool"]
        if self.tool and not since:
            return self._calling(asked)
        return ChatMessage(
            role="assistant",
            blocks=_thinking(told(asked)),
            additional_kwargs={"reasoning_content": told(asked)},
        )

    def _chunks(self, messages):
        message = self._next(messages)
        asked = "\n".join(m.content or "" for m in messages)
        for text, word, more in _pieces(number(asked), message.content or ""):
            whole = text == message.content
            so_far = message if whole else ChatMessage(role="assistant", content=text)
            so_far.additional_kwargs["logprobs"] = more["raw"]["choices"]
            yield ChatResponse(message=so_far, delta=word, **more)
        if not message.content:
            yield ChatResponse(message=message, delta="")

    def _calling(self, asked: str) -> ChatMessage:
        call = {"tool_id": "call-1", "tool_name": self.tool, "tool_kwargs": {"input": asked}}
        return ChatMessage(
            role="assistant",
            content=made_up(number(asked)),
            additional_kwargs={
                "call": json.dumps(call),
                "reasoning_content": made_up(number(asked)),
            },
        )


class SecretReasoner(SecretChat):
    """Writes as a ReActAgent expects: a thought and a call, then a thought and the answer.

    Its first text does not parse; it is asked again.
    """

    @llm_chat_callback()
    def chat(self, messages, **kwargs):
        prompt = "\n".join(m.content or "" for m in messages)
        text, run = self.answer(prompt), number(prompt)
        message = ChatMessage(role="assistant", content=text)
        return ChatResponse(message=message, **sent(run, text, [token(run), text]))

    @llm_chat_callback()
    def stream_chat(self, messages, **kwargs):
        prompt = "\n".join(m.content or "" for m in messages)
        return (
            ChatResponse(message=ChatMessage(role="assistant", content=t), delta=d, **more)
            for t, d, more in _pieces(number(prompt), self.answer(prompt))
        )

    def answer(self, prompt):
        n = number(prompt)
        if "Observation: The archive" in prompt:
            return f"Thought: {made_up(n)} I can answer.\nAnswer: {told(f'run {n}')}"
        if "Error while parsing" not in prompt:
            return f"Thought: {made_up(n)}\nAction: towers\nAction Input: none of it"
        arguments = json.dumps({"input": f"run {n}"})
        return f"Thought: {made_up(n)}\nAction: towers\nAction Input: {arguments}"


class SecretCoder(SecretChat):
    """Writes as a CodeActAgent expects: code with words around it, then the answer."""

    def answer(self, prompt):
        n = number(prompt)
        if "Result of executing the code given" in prompt:
            return told(f"run {n}")
        return f"{made_up(n)}\n<execute>\nprint(towers('run {n}'))\n</execute>"

    chat = SecretReasoner.chat
    stream_chat = SecretReasoner.stream_chat
