"""Finds what the tools of a conversation found, in this turn and in earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from franq_guard import Passage
from franq_guard.capture.evidence import is_notice, passages_of, usual_passages
from franq_guard.capture.marked import without_marked, without_written
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._blocks import passages_in_blocks, read_by_model
from langchain_franq._joined import with_returned
from langchain_franq._model_run import without_echoed
from langchain_franq._texts import argument_texts, as_messages, is_of_user, messages_inside

BY_A_MODEL_KEY = "written_by_a_model"
"""In the report of a tool's message: a model inside the tool wrote its text."""

FoundFor = Callable[[str], Sequence[Passage] | None]
"""Gives what a tool found for a text that a model in it wrote; None for any other text."""

_OWN_ANSWER = "Returning structured response:"  # create_agent's message with its model's answer


def passages_of_turns(
    messages: Sequence[BaseMessage],
    *,
    written: Collection[str] = (),
    known: FoundFor | None = None,
) -> tuple[list[Passage], list[Passage]]:
    """What the tools of the current turn found, and what those of earlier turns did.

    A turn begins with a human message: with a checkpointer, earlier turns and their evidence are
    still among the messages, and a follow-up question is answered from them. What models wrote in
    tools of the current turn (``written``) is no evidence, nor what mostly repeats what tools were
    called with (a thought, a note). ``known`` gives the passages that stand for a text that a model
    in a tool of an earlier turn wrote.
    """
    begins = max((i for i, m in enumerate(messages) if is_of_user(m)), default=-1)
    before = _of_tools(messages[: begins + 1], known=known)
    called = [text for message in messages[: begins + 1] for text in _arguments(message)]
    now = _of_tools(messages[begins + 1 :], written, called=called, seen=before)
    return now, before


def with_earlier(found: list[Passage], earlier: Callable[[], list[Passage]]) -> list[Passage]:
    """What was found, and also what there is ``earlier`` if it is nothing or notices alone."""
    noticed = all(is_notice(passage.text) for passage in found)
    return passages_of([*found, *earlier()]) if noticed else found


def messages_in(*places: Any) -> list[BaseMessage]:
    """The messages of these inputs, states or outputs, in order.

    They are under ``messages``, else wherever they are. A node returns only what it adds; what
    tools found before is in the state it was given.
    """
    found: list[BaseMessage] = []
    for place in places:
        given = (
            place.get("messages") if isinstance(place, dict) else getattr(place, "messages", None)
        )
        found += as_messages(given) if isinstance(given, (list, tuple)) else messages_inside(place)
    return found


def artifact_passages(output: object) -> list[Passage]:
    """The documents in a tool message's ``artifact``."""
    artifact = getattr(output, "artifact", None)
    if isinstance(artifact, (list, tuple)):
        return passages_of([item for item in artifact if not isinstance(item, str)])
    return passages_of(artifact) if isinstance(artifact, Document) else usual_passages(artifact)


def text_of_tool(output: object) -> str | None:
    """The text that a tool returned; None for anything but a text or a message."""
    text = output.text if isinstance(output, ToolMessage) else output
    return str(text) if isinstance(text, str) else None


def is_error(output: object) -> bool:
    """Whether a tool failed: its message repeats the model's own arguments and found nothing."""
    return isinstance(output, ToolMessage) and output.status == "error"


def seen_in_tools(messages: Iterable[BaseMessage], known: FoundFor | None = None) -> str:
    """The passages that models inside tools wrote from; the agent's own prompt lacks them."""
    found: list[Sequence[Passage]] = [artifact_passages(m) for m in messages if _by_a_model(m)]
    if known is not None:
        texts = [read_by_model(m) for m in messages if isinstance(m, ToolMessage)]
        found += [known(text) or () for text in texts]
    return "\n".join(passage.text for passages in found for passage in passages)


def _of_tools(
    messages: Sequence[BaseMessage],
    written: Collection[str] = (),
    known: FoundFor | None = None,
    *,
    called: Sequence[str] = (),
    seen: Sequence[Passage] = (),
) -> list[Passage]:
    found: list[Passage] = []
    called = [*called]
    for message in messages:
        called += _arguments(message)
        if isinstance(message, ToolMessage) and _found_something(message):
            behind = None if known is None else known(read_by_model(message))
            artifact = artifact_passages(message)
            if behind is None:
                given = [passage.text for passage in (*seen, *found)]
                returned = without_echoed(_returned(message, written), called, given)
                found += with_returned(artifact, returned, called)
            else:
                found += artifact or behind
    return passages_of(found)


def _arguments(message: BaseMessage) -> list[str]:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return [text for call in calls for text in argument_texts(call["args"])]


def _found_something(message: ToolMessage) -> bool:
    return not is_error(message) and not str(message.text).startswith(_OWN_ANSWER)


def _by_a_model(message: BaseMessage) -> bool:
    return bool((message.response_metadata.get(REPORT_KEY) or {}).get(BY_A_MODEL_KEY))


def _returned(message: ToolMessage, written: Collection[str]) -> list[Passage]:
    """A tool's text as passages, without what a model inside it wrote or a guard marked."""
    if _by_a_model(message):
        return []
    text = without_written(without_marked(str(message.text)), written)
    return passages_of([text, passages_in_blocks(message, written)])
