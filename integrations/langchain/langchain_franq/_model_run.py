"""One run of a language model: what it was given, and what it wrote of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

from langchain_core.messages import BaseMessage

from franq_guard import Passage
from franq_guard.capture.echoes import tells_beside
from franq_guard.capture.marked import is_little, is_long, is_part_of, sentences_of, without_written
from franq_guard.capture.matching import unescaped
from franq_guard.capture.server_logprobs import GrowingServerText
from langchain_franq._blocks import read_by_model

_WORD = re.compile(r"\w+")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"' + r"|'[^'\"\n]*'")  # of JSON, or in code


@dataclass
class ModelRun:
    """One language model run: the ``prompt`` string or the ``messages`` it was given, its ``text``.

    ``model`` is the class name of the LangChain model; ``info`` is its generation info and
    response metadata, where servers put log-probabilities, once the run has ``ended`` (at
    ``ended_at``, by ``time.monotonic``). Until then ``text`` is what it has streamed so far.
    ``growing`` has the log-probabilities of a stream.
    ``arguments`` are the texts in its tool calls.
    """

    model: str
    prompt: str | None = None
    messages: Sequence[BaseMessage] | None = None
    text: str | None = None
    info: Mapping[str, Any] | None = None
    ended: bool = False
    ended_at: float = inf
    growing: GrowingServerText = field(default_factory=GrowingServerText)
    arguments: Sequence[str] = ()

    @property
    def seen(self) -> str:
        """Everything that the model was given, as one text."""
        if self.messages is None:
            return self.prompt or ""
        return "\n\n".join(map(read_by_model, self.messages))

    @property
    def new_text(self) -> str:
        """Its text; empty where it only repeats a stretch of what it was given, as documents."""
        text = (self.text or "").strip()
        return "" if text in self.seen else text

    @cached_property
    def words_seen(self) -> str:
        """The words of what the model was given."""
        return plain(self.seen)

    def is_in(self, other: ModelRun) -> bool:
        """Whether another model was given what this one wrote, or a string of its JSON."""
        texts = [text for text in (self.text or "", *self.arguments) if text]
        texts += [string for text in texts for string in _strings(text)]
        return any(is_long(text) and plain(text) in other.words_seen for text in texts)


def class_name(serialized: Mapping[str, Any] | None) -> str:
    """The class of a model, from what LangChain reports as its run starts."""
    path = (serialized or {}).get("id") or [(serialized or {}).get("name") or ""]
    return str(path[-1])


class Writer:
    """The words of someone whose word alone is no evidence: a model, or the user.

    Args:
        texts: what was written; a string in JSON or in code counts as a text, too.
        seen: what the writer had been given: what repeats it is not the writer's own.
        asked: what of that is no evidence either, since a user or a model said it.
    """

    def __init__(self, texts: Iterable[str], seen: str = "", asked: Iterable[str] = ()) -> None:
        whole = [text for text in texts if text.strip()]
        whole += [string for text in whole for string in _strings(text)]
        self._texts = {plain(text) for text in whole}
        self._sentences = [part for text in whole for part in sentences_of(text)]
        self._seen, self._asked = plain(seen), [plain(text) for text in asked]

    def written_in(self, text: str, parts: Sequence[str]) -> list[str]:
        """The stretches of a ``text``, whose sentences are ``parts``, that are the writer's own."""
        found = [part for part in parts if self._wrote(plain(part))]
        inside = [s for s in self._sentences if any(_states(part, s) for part in parts)]
        found += [s for s in inside if is_long(s) and self._wrote(plain(s))]
        repeats = any(self._was_given(words) for words in map(plain, parts) if words)
        return found if repeats or not self._wrote(plain(text)) else [*found, text]

    def _wrote(self, part: str) -> bool:
        long = is_long(part) and any(part in text for text in self._texts)
        return (long or part in self._texts) and not self._was_given(part)

    def _was_given(self, part: str) -> bool:
        seen = self._seen
        for question in self._asked:
            if part in question:
                seen = seen.replace(question, "|")
        return part in seen


def writer_of(run: ModelRun, asked: Iterable[str]) -> Writer:
    """The model of a run; for ``asked`` see :class:`Writer`."""
    return Writer([run.text or "", *run.arguments], run.seen, asked)


def written_parts(text: str, writers: Iterable[Writer]) -> list[str]:
    """The stretches of ``text`` that ``writers`` wrote and did not repeat from what they saw."""
    parts = sentences_of(text)
    return [part for writer in writers for part in writer.written_in(text.strip(), parts)]


def without_written_by(passages: Iterable[Passage], writers: Sequence[Writer]) -> list[Passage]:
    """The passages with blanks for what ``writers`` wrote; without those of which nothing is left.

    A few words that a step put beside such a text are no passage either.
    """
    left: list[Passage] = []
    for passage in passages:
        text = without_written(passage.text, written_parts(passage.text, writers))
        if text == passage.text:
            left.append(passage)
        elif not is_little(text):
            left.append(replace(passage, text=text))
    return left


def without_rewritten(
    passages: list[Passage],
    originals: Sequence[Passage],
    runs: Iterable[ModelRun],
    asked: Sequence[str],
) -> list[Passage]:
    """The passages that a retriever returned, without what models in it wrote of their own.

    What they wrote it from, the ``originals``, is added then. A passage that no model wrote as a
    whole stays as it is, even if it has the words of a guess at the answer that was searched with.
    """
    known = {passage.text for passage in originals}
    wrote = [run for run in runs if (run.text or "").strip()]
    writers = [writer_of(run, asked) for run in wrote]
    texts = [plain(run.text or "") for run in wrote]
    left: list[Passage] = []
    for passage in passages:
        words = plain(passage.text)
        is_written = passage.text not in known and any(is_part_of(words, text) for text in texts)
        left += without_written_by([passage], writers) if is_written else [passage]
    return passages if left == passages else [*left, *originals]


def without_echoed(
    returned: Iterable[Passage], called_with: Sequence[str], seen: Iterable[str]
) -> list[Passage]:
    """What a tool returned, without what tools had been called with before, if it is mostly that.

    A tool that records a thought or keeps notes returns them, at once or later. A text that was
    ``seen`` before is a quote, and a document may have a sentence that was searched with. A tool
    may also repeat for which name or question it has found the few words behind it.
    """
    writers = [Writer(called_with, "\n".join(seen))]
    left: list[Passage] = []
    for passage in returned:
        echoed = written_parts(passage.text, writers)
        text = without_written(passage.text, echoed)
        size, whole = (len("".join(t.split())) for t in (text, passage.text))
        if 2 * size > whole or tells_beside(passage.text, echoed):
            left.append(passage)
        elif not is_little(text):
            left.append(replace(passage, text=text))
    return left


def seen_behind(
    first: ModelRun | None, others: Iterable[ModelRun], runs: Iterable[ModelRun]
) -> str:
    """What ``others`` were given, and those of ``runs`` whose text is in the prompt of ``first``.

    Or in the prompt of one of these: a text may itself rest on others. Without the prompt of
    ``first``.
    """
    behind = [*([] if first is None else [first]), *others]
    behind = list({id(run): run for run in behind}.values())
    left = {id(run): run for run in runs}
    for run in behind:
        left.pop(id(run), None)
    for run in behind:  # grows while it is read
        reached = [other for other in left.values() if other.is_in(run)]
        behind += [left.pop(id(other)) for other in reached]
    return "\n".join(run.seen for run in behind if run is not first)


def plain(text: str) -> str:
    """The words of a text alone, so that layout, marks and the escapes of JSON do not matter."""
    return " ".join(_WORD.findall(unescaped(text).lower()))


def _states(part: str, sentence: str) -> bool:
    """Whether a ``part`` of a text has the sentence as a statement, and not as a phrase in it."""
    whole = sentence.endswith((".", "!", "?")) or 2 * len(sentence) >= len(part)
    return whole and sentence in part


def _strings(text: str) -> Iterator[str]:
    """The strings in JSON, or in code."""
    for found in _STRING.finditer(text):
        try:
            yield found.group()[1:-1] if found[1] is None else str(json.loads(found.group()))
        except ValueError:
            yield found[1]
