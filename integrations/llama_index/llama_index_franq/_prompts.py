"""The prompt an answer was written under, and the same prompt without evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from franq_guard.capture.matching import prompt_of_messages
from llama_index_franq._capture import Capture, ModelRun
from llama_index_franq._evidence import CONTEXT_KEYS

if TYPE_CHECKING:
    from franq_guard import Guard, Passage

# What LlamaIndex's synthesizers call the answer of an earlier pass over the evidence.
_EARLIER = "existing_answer"
_QUESTION = "query_str"
_TOOLS = (MessageRole.TOOL, MessageRole.FUNCTION)
# How a ReActAgent and a CodeActAgent begin the user message with a tool's result.
_RESULTS = ("Observation: ", "Result of executing the code given:")


def prompt_for(guard: Guard, run: ModelRun) -> str:
    """The prompt of ``run`` for the guard's language model.

    A completion's prompt is exact. A remote model's chat messages are put into the format of the
    guard's own model.
    """
    return run.prompt if run.prompt is not None else _rendered(guard, run.messages or ())


def contrast_prompt(
    guard: Guard, capture: Capture, run: ModelRun, prompt: str, passages: Sequence[Passage]
) -> str | None:
    """``prompt`` with an empty context, as the engine's own template would make it.

    For a refined answer it is the prompt of the first pass, which asks the question itself. None if
    the template is not known or its context cannot be separated from the rest: then the evidence
    has to be found in the text.
    """
    if any(_emptied(message) is not message for message in run.messages or ()):
        return _rendered(guard, [_emptied(message) for message in run.messages or ()])
    args = capture.template_args(run)
    first = run
    while _EARLIER in args:
        earlier = _written_before(capture, str(args[_EARLIER]), first)
        if earlier is None:
            return None
        first, args = earlier, capture.template_args(earlier)
    evidence = _evidence_in(args, passages)
    text = prompt if first is run else prompt_for(guard, first)
    for value in evidence:
        if text.count(value) != 1:
            return None
        text = text.replace(value, "")
    return text if evidence else None


def _evidence_in(args: Mapping[str, Any], passages: Sequence[Passage]) -> list[str]:
    """The values among a template's arguments that are evidence, by name or by content."""
    texts = [p.text.strip() for p in passages if p.text.strip()]
    values = {name: str(value) for name, value in args.items() if str(value).strip()}
    values.pop(_QUESTION, None)
    return [
        value
        for name, value in values.items()
        if name in CONTEXT_KEYS or any(text in value for text in texts)
    ]


def _written_before(capture: Capture, text: str, run: ModelRun) -> ModelRun | None:
    """The run that wrote ``text``, if it ended before ``run``."""
    runs = capture.runs
    place = next((i for i, other in enumerate(runs) if other is run), 0)
    wanted = text.strip()
    return next((r for r in reversed(runs[:place]) if r.text.strip() == wanted), None)


def _rendered(guard: Guard, messages: Sequence[ChatMessage]) -> str:
    system = [m.content or "" for m in messages if m.role == MessageRole.SYSTEM]
    others = [m.content or "" for m in messages if m.role != MessageRole.SYSTEM]
    return prompt_of_messages(guard, system, others)


def _emptied(message: ChatMessage) -> ChatMessage:
    """``message`` without what a tool returned; unchanged if it has no tool result."""
    if message.role in _TOOLS:
        rest = ""
    else:
        text = message.content or ""
        rest = next((head for head in _RESULTS if text.startswith(head)), text)
    if rest == (message.content or ""):
        return message
    return ChatMessage(role=message.role, content=rest, additional_kwargs=message.additional_kwargs)
