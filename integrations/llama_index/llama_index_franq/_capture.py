"""Records one guarded call: its retrievals, prompt templates, model calls and inner answers."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from time import monotonic
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.schema import IndexNode, MetadataMode, NodeWithScore

from franq_guard.capture.marked import FEWEST_WORDS, is_part_of, sentences_of
from franq_guard.capture.matching import call_that_wrote
from franq_guard.capture.server_logprobs import GrowingServerText
from franq_guard.language_model.server.tokens import ServerToken, from_response

# How a RecursiveRetriever writes the answer of a query engine into a node.
_ASKED = re.compile(r"Query: .*?\nResponse: ", re.S)


@dataclass
class ModelRun:
    """One language model call: the ``prompt`` or the ``messages`` it was given, its ``text``.

    ``text`` is what it has streamed so far, until the call has ``ended`` (at ``ended_at``, by
    ``time.monotonic``). ``server`` has the log-probabilities that a server sent, if any. They are
    taken from the raw answer, because LlamaIndex's own ``logprobs`` lists the alternatives of each
    position without the chosen one, and is missing in streams. ``growing`` has those of a stream.
    """

    text: str
    prompt: str | None = None
    messages: Sequence[ChatMessage] | None = None
    server: Sequence[ServerToken] = ()
    ended: bool = True
    ended_at: float = inf
    growing: GrowingServerText = field(default_factory=GrowingServerText)

    @property
    def seen(self) -> str:
        """Everything that the model was given, as one text."""
        if self.prompt is not None:
            return self.prompt
        return "\n".join(m.content or "" for m in self.messages or ())

    def was_given(self, text: str) -> bool:
        """Whether it was given ``text``; then that is a document or a question, not its own."""
        return " ".join(text.split()) in " ".join(self.seen.split())

    @cached_property
    def own_sentences(self) -> list[str]:
        """The sentences of its text that it was not given."""
        return [one for one in sentences_of(self.text) if not self.was_given(one)]

    def wrote(self, text: str) -> bool:
        """Whether ``text`` is what it wrote or a part of it, but for a few words beside it."""
        long = [
            sentence for sentence in self.own_sentences if len(sentence.split()) >= FEWEST_WORDS
        ]
        stripped = text.strip()
        return is_part_of(stripped, self.text.strip()) and any(
            one in stripped or stripped in one for one in long
        )


class Capture:
    """Records the runs of one call; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[tuple[str, str], ModelRun] = {}
        self._streams: dict[str, tuple[Any, ModelRun]] = {}
        self._templates: list[dict[str, Any]] = []
        self._nodes: dict[tuple[str, str], NodeWithScore] = {}
        self._behind: set[tuple[str, str]] = set()
        self.rewritten: set[tuple[str, str]] = set()  # nodes that a model inside a retriever wrote
        self._retrieving: dict[str, int] = {}  # by span, how many runs had ended at its start
        self._released: dict[str, list[ModelRun]] = {}  # with the runs before it
        self._answers: list[Any] = []

    # Events -----------------------------------------------------------------------------------

    def on_retrieving(self, span: str | None) -> None:
        """A retriever begins; what models write until its end, they write inside it."""
        with self._lock:
            self._retrieving[span or ""] = len(self._runs)

    def on_nodes(self, nodes: Sequence[NodeWithScore], span: str | None = None) -> None:
        """Keep retrieved nodes, each once; what came before an answer among them is behind it.

        ``span``: of the retriever that ends.
        """
        texts = [node_key(node)[1] for node in nodes]
        with self._lock:
            begun = self._retrieving.pop(span or "", len(self._runs))
            inside = list(self._runs.values())[begun:]
        rewritten = [
            node_key(node) for node in nodes if any(r.wrote(node_key(node)[1]) for r in inside)
        ]
        answered = rewritten or len(self._documents(texts)) < len(texts)
        with self._lock:
            self.rewritten.update(rewritten)
            if answered:
                self._behind.update(self._nodes)
            for node in nodes:
                self._nodes.setdefault(node_key(node), node)

    def on_template(self, args: dict[str, Any]) -> None:
        """Keep the values that filled a prompt template."""
        with self._lock:
            self._templates.append(args)

    def on_chunk(self, given: str | Sequence[ChatMessage], response: Any) -> None:
        """Keep what a stream has written so far, and the log-probabilities of a chunk.

        Nested calls report a chunk twice; it is then the same object. ``given``: the prompt of a
        completion, or the messages of a chat.
        """
        asked, run = _run_of(given, response)
        with self._lock:
            last, before = self._streams.get(asked, (None, None))
            if response is not last:
                run.growing = run.growing if before is None else before.growing
                run.growing.add(from_response(response.raw))
                run.server, run.ended = run.growing.sent, False
                self._streams[asked] = response, run

    def on_end(self, given: str | Sequence[ChatMessage], response: Any) -> None:
        """Keep a finished call; one with equal prompt and text is the same call, reported twice."""
        asked, run = _run_of(given, response)
        with self._lock:
            _, streamed = self._streams.pop(asked, (None, None))
            if streamed is not None:
                run.growing = streamed.growing
            run.server = run.growing.sent or from_response(response.raw)
            self._runs.setdefault((asked, run.text), run).ended_at = monotonic()

    def on_released(self, text: str) -> None:
        """Keep the text that a guard inside this call has released: it is checked already."""
        runs = self.runs
        with self._lock:
            self._released.setdefault(text, runs)

    def on_answer(self, response: Any) -> None:
        """Keep the response of an engine or synthesizer inside."""
        with self._lock:
            self._answers.append(response)

    # What happened ----------------------------------------------------------------------------

    @property
    def runs(self) -> list[ModelRun]:
        """The model's calls in the order they ended, then those that still stream.

        A chat call that only forwarded a completion with the same text is left out, because the
        completion has the exact prompt.
        """
        with self._lock:
            runs = [*self._runs.values(), *(run for _, run in self._streams.values())]
        completed = [run for run in runs if run.prompt is not None]
        return [r for r in runs if r.prompt is not None or not any(_same(r, c) for c in completed)]

    @property
    def models_ran(self) -> bool:
        """Whether a model wrote in the call, or an engine answered."""
        with self._lock:
            return bool(self._runs or self._streams or self._released or self._answers)

    @property
    def nodes(self) -> list[NodeWithScore]:
        """Every document retrieved, before any post-processing.

        A retriever may ask a query engine or a model and return its answer as a node; that is no
        document.
        """
        with self._lock:
            nodes = [node for key, node in self._nodes.items() if key not in self.rewritten]
        documents = set(self._documents(node_key(node)[1] for node in nodes))
        return [node for node in nodes if node_key(node)[1] in documents]

    @property
    def answers(self) -> list[Any]:
        """The responses of engines and synthesizers inside, in the order they ended."""
        with self._lock:
            return list(self._answers)

    @property
    def behind(self) -> list[NodeWithScore]:
        """The documents that were retrieved for answers which a retriever returned as nodes.

        An IndexNode only describes the engine that it stands for.
        """
        behind = [node for node in self.nodes if node_key(node) in self._behind]
        return [node for node in behind if not isinstance(node.node, IndexNode)]

    @property
    def released(self) -> set[str]:
        """The answers that guards inside this call have released."""
        with self._lock:
            return {text for text in self._released if text.strip()}

    def wrote(self, text: str) -> bool:
        """Whether ``text`` is no document, but an answer given in the call.

        A model wrote all of it, or a guard inside released it, without having been shown it. A
        question before it, as a RecursiveRetriever puts it there, does not count.
        """
        return self._documents([text]) == []

    def _documents(self, texts: Iterable[str]) -> list[str]:
        """Those of ``texts`` that are not :meth:`wrote`."""
        answers: dict[str, list[Sequence[ModelRun]]] = {}
        for run in self.runs:
            answers.setdefault(run.text.strip(), []).append((run,))
        with self._lock:
            for released, before in self._released.items():
                answers.setdefault(released.strip(), []).append(before)

        def answered(text: str) -> bool:
            asked = _ASKED.match(text)
            bodies = {text.strip(), text[asked.end() :].strip() if asked else ""} - {""}
            by = [runs for body in bodies for runs in answers.get(body, ())]
            return any(not any(run.was_given(text) for run in runs) for runs in by)

        return [text for text in texts if not answered(text)]

    def answer_run(self, answer: str, *, about: str = "") -> ModelRun | None:
        """The run that wrote ``answer``: with equal text, else one in the other, else the last.

        Of several with the same text, the newest one with ``about`` in its prompt.
        """
        runs = self.runs
        wrote = [run for run in runs if run.text.strip() == answer.strip() and about in run.seen]
        return wrote[-1] if about and wrote else call_that_wrote(answer, runs)

    def template_args(self, run: ModelRun) -> dict[str, Any]:
        """The values that filled the template of ``run``'s prompt; empty if there is none.

        They are recognised by content, not by order: the values are in the prompt. If that is so
        for several templates, it is the one whose values cover most of the prompt, else the newest.
        """
        with self._lock:
            templates = [args for args in reversed(self._templates) if _filled(args, run.seen)]
        return max(templates, key=lambda args: len("".join(map(str, args.values()))), default={})


def node_key(node: NodeWithScore) -> tuple[str, str]:
    """What tells nodes apart: the id and the text, because chunks may have their document's id."""
    return node.node.node_id, node.node.get_content(metadata_mode=MetadataMode.NONE)


def _same(chat: ModelRun, completion: ModelRun) -> bool:
    """Whether the chat call forwarded the completion; in a stream, one may be a chunk ahead."""
    if chat.ended and completion.ended:
        return chat.text == completion.text
    return chat.text.startswith(completion.text) or completion.text.startswith(chat.text)


def _filled(args: dict[str, Any], prompt: str) -> bool:
    texts = [str(value) for value in args.values() if str(value).strip()]
    return bool(texts) and all(text in prompt for text in texts)


def _run_of(given: str | Sequence[ChatMessage], response: Any) -> tuple[str, ModelRun]:
    """What tells a call of a model apart, and the call."""
    if isinstance(given, str):
        return given, ModelRun(response.text, given)
    text = response.message.content or ""
    return "\n".join(map(str, given)), ModelRun(text, messages=tuple(given))
