"""Finds the passages that an answer was written from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
)

from franq_guard import Passage
from franq_guard.basics.words import word_set
from franq_guard.capture.evidence import is_notice, passages_of, usual_passages
from franq_guard.capture.marked import without_marked, without_written
from franq_guard.capture.outlet import REPORT_KEY
from langchain_franq._blocks import passages_in_blocks, read_by_model
from langchain_franq._model_run import plain, without_echoed
from langchain_franq._texts import argument_texts, as_messages, is_of_user, messages_inside

BY_A_MODEL_KEY = "written_by_a_model"
"""In the report of a tool's message: a model inside the tool wrote its text."""

FoundFor = Callable[[str], Sequence[Passage] | None]
"""Gives what a tool found for a text that a model in it wrote; None for any other text."""

_QUOTED = 80  # characters: a shorter text may be in a prompt by chance
_BETWEEN = 60  # characters beside each document in a joined text: its number, its title
_NAMING = word_set(
    "title source id url uri link file filename file_name path file_path page page_label "
    "page_number start_index chunk score"
)
"""Keys of the metadata that tell where a document is from."""
_LABELS = _NAMING | word_set(
    "a an and are as at below by for from here i in is it no of on or s that the these this to was "
    "were with archive article base best chunks content contents context data database doc docs "
    "document documents end excerpt excerpts following found hit hits index information item items "
    "knowledge match matches matching metadata most name number page_content pages passage "
    "passages query question rank relevance relevant result results retrieved search searched "
    "similarity snippet snippets sources text texts titles top type"
)
"""Words that a tool puts beside a document and that say nothing of it."""
_OWN_ANSWER = "Returning structured response:"  # create_agent's message with its model's answer


def passage_of(document: Document) -> Passage:
    """A Document as a Passage; ``title`` and ``id`` are taken from its metadata if present."""
    return (passages_of(document) or [Passage(document.page_content)])[0]


def document_of(passage: Passage) -> Document:
    """A Passage as a Document; its title is in the metadata."""
    about = {**passage.metadata, "title": passage.title}
    return Document(passage.text, id=passage.id, metadata=about)


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


def step_passages(output: Any) -> list[Passage]:
    """The documents that a step of a chain returned, as a function may search by itself."""
    if isinstance(output, Document) or (
        isinstance(output, (list, tuple)) and any(isinstance(item, Document) for item in output)
    ):
        return passages_of(output)
    return usual_passages(output) if isinstance(output, dict) else []


def document_texts(value: Any) -> Iterator[str]:
    """The texts of the documents in what a step returned, wherever they are in it."""
    if isinstance(value, Document):
        yield value.page_content
    elif isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from document_texts(inner)


def without_joined(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without texts that only join others of them.

    A step may join the documents of the step before for the prompt; they would count twice.
    """
    texts = {plain(passage.text) for passage in passages}
    return [passage for passage in passages if not _joins(passage.text, texts)]


def with_returned(
    found: Sequence[Passage], returned: Sequence[Passage], called: Iterable[str]
) -> list[Passage]:
    """What a tool found, and the texts it ``returned`` to the model, unless these only join that.

    What it found may be names of sources alone: then the text is what the answer rests on. So it is
    if it tells more beside the documents, such as a price. ``called``: with what tools were called,
    which is no more than a label.
    """
    texts = {plain(passage.text) for passage in found}
    labels = [*map(plain, called), *(name for passage in found for name in _names(passage))]
    joined = [
        p for p in returned if _joins(p.text, texts) and not _tells_more(p.text, texts, labels)
    ]
    return [*found, *(one for one in returned if one not in joined)] if texts else [*returned]


def _joins(text: str, texts: Iterable[str]) -> bool:
    """Whether a text is made of ``texts``, of which the words are given, and little beside."""
    whole = plain(text)
    parts, rest = _parts_and_rest(whole, texts)
    beside = len("".join(rest.split()))
    return bool(parts) and beside <= min(_BETWEEN * len(parts), len(whole) / 2)


def _parts_and_rest(whole: str, texts: Iterable[str]) -> tuple[list[str], str]:
    rest = whole
    parts = sorted((t for t in texts if t and t in whole and t != whole), key=len, reverse=True)
    for part in parts:
        rest = rest.replace(part, "")
    return parts, rest


def _tells_more(text: str, texts: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether there is more beside the ``texts`` than ``labels``, numbers of a list and the like.

    A metadata's value that a tool has chosen to print counts; the whole of it, printed, does not.
    """
    _, rest = _parts_and_rest(plain(text), texts)
    left = f" {rest} "
    for label in sorted(filter(None, labels), key=len, reverse=True):
        left = left.replace(f" {label} ", " ")
    return any(word not in _LABELS and len(word.lstrip("0123456789")) > 0 for word in left.split())


def _names(passage: Passage) -> list[str]:
    """The words by which a passage is named, and those of its metadata as Python prints it."""
    about = passage.metadata or {}
    held = [value for key, value in about.items() if plain(str(key)) in _NAMING]
    return [plain(str(name)) for name in (passage.title, passage.id, *held, dict(about)) if name]


def quoted(texts: Iterable[str], prompt: str) -> list[Passage]:
    """Those of the ``texts`` that are in the prompt, but are not all of it, as passages."""
    long = (text.strip() for text in texts if len(text) >= _QUOTED)
    return passages_of([t for t in long if t in prompt and t != prompt.strip()])


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
                told = without_echoed(_returned(message, written), called, given)
                found += with_returned(artifact, told, called)
            else:
                found += artifact or behind
    return passages_of(found)


def _arguments(message: BaseMessage) -> list[str]:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return [text for call in calls for text in argument_texts(call["args"])]


def text_of_tool(output: object) -> str | None:
    """The text that a tool returned; None for anything but a text or a message."""
    text = output.text if isinstance(output, ToolMessage) else output
    return str(text) if isinstance(text, str) else None


def is_error(output: object) -> bool:
    """Whether a tool failed: its message repeats the model's own arguments and found nothing."""
    return isinstance(output, ToolMessage) and output.status == "error"


def _found_something(message: ToolMessage) -> bool:
    return not is_error(message) and not str(message.text).startswith(_OWN_ANSWER)


def seen_in_tools(messages: Iterable[BaseMessage], known: FoundFor | None = None) -> str:
    """The passages that models inside tools wrote from; the agent's own prompt lacks them."""
    found: list[Sequence[Passage]] = [artifact_passages(m) for m in messages if _by_a_model(m)]
    if known is not None:
        texts = [read_by_model(m) for m in messages if isinstance(m, ToolMessage)]
        found += [known(text) or () for text in texts]
    return "\n".join(passage.text for passages in found for passage in passages)


def _by_a_model(message: BaseMessage) -> bool:
    return bool((message.response_metadata.get(REPORT_KEY) or {}).get(BY_A_MODEL_KEY))


def _returned(message: ToolMessage, written: Collection[str]) -> list[Passage]:
    """A tool's text as passages, without what a model inside it wrote or a guard marked."""
    if _by_a_model(message):
        return []
    text = without_written(without_marked(str(message.text)), written)
    return passages_of([text, passages_in_blocks(message, written)])
