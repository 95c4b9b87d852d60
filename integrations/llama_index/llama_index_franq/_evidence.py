"""Finds the nodes that are the evidence of an answer, and converts nodes to passages.

If there are no nodes with the answer, passages are searched where applications usually put them.
What the user asked and what a model wrote on the way to the answer is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from franq_guard import Passage
from franq_guard.basics.names import name_of
from franq_guard.capture.evidence import (
    PASSAGE_KEYS,
    EvidenceFrom,
    are_names,
    chosen_passages,
    passages_of,
)
from franq_guard.capture.marked import is_little, without_marked, without_written
from franq_guard.capture.matching import shown
from llama_index_franq._capture import Capture, ModelRun, node_key

# What LlamaIndex's synthesizers call the evidence in a template.
CONTEXT_KEYS = ("context_str", "context_msg", "context_messages")
EMPTY = "Empty Response"
"""What synthesizers return without nodes or without an answer."""
SUB_ANSWER = re.compile(r"\A(?:Sub question|\nQuestion): (.*?)\n(?:Response|Answer): ", re.S)
"""How SubQuestionQueryEngine and MultiStepQueryEngine write a sub-answer into a node."""
# How LlamaIndex writes a chat history into a prompt.
_CONVERSATION = re.compile(r"\s*(?:user|assistant): ")


def passage_of(node: NodeWithScore) -> Passage:
    """A node as a Passage: its text without metadata, its id, its title or file name."""
    about = node.node.metadata
    return Passage(
        node.node.get_content(metadata_mode=MetadataMode.NONE),
        title=name_of(about.get("title"), about.get("file_name")),
        id=node.node.node_id,
        metadata=about,
    )


def evidence_of(
    nodes: Sequence[NodeWithScore], capture: Capture, run: ModelRun | None
) -> list[Passage]:
    """The response's own ``nodes`` (after post-processing), else what was retrieved and shown.

    To these come the nodes of engines inside whose answers the model was given.
    Each node counts once, even if several sub-questions found it. Answers to sub-questions are
    passed as nodes too, and models rewrite nodes, but what a model wrote is no evidence.

    Args:
        nodes: of the response.
        capture: of the call.
        run: that wrote the answer.
    """
    given = unwritten({node_key(node): node for node in nodes}.values(), capture, run)
    distinct = {node_key(node): node for node in (*given, *capture.behind)}
    found = [passage_of(node) for node in distinct.values()]
    if not found:
        # Retrieval events come before re-ranking and filtering; dropped nodes are no evidence.
        seen = None if run is None else run.seen
        found = shown([passage_of(node) for node in nodes_found(capture)], seen)
    known = {passage.text for passage in found}
    asked = (passage_of(node) for node in nodes_asked(capture, run))
    return [*found, *(passage for passage in asked if passage.text not in known)]


def nodes_found(capture: Capture) -> list[NodeWithScore]:
    """Every document of the call: as an engine inside answered from it, else as it was retrieved.

    An engine may replace a node's text by more of its document, and have rows of a database that no
    retriever reports.
    """
    answered = unwritten(_nodes_of(capture.answers), capture)
    known = {node.node.node_id for node in answered}
    return [*answered, *(node for node in capture.nodes if node.node.node_id not in known)]


def nodes_asked(capture: Capture, run: ModelRun | None) -> list[NodeWithScore]:
    """The nodes behind the answers of engines inside that ``run`` was given."""
    asked = [] if run is None else [r for r in capture.answers if _was_given(run, r)]
    return unwritten(_nodes_of(asked), capture, run)


def _nodes_of(responses: Iterable[Any]) -> Iterable[NodeWithScore]:
    nodes = (node for response in responses for node in response.source_nodes or ())
    return {node_key(node): node for node in nodes}.values()


def _was_given(run: ModelRun, response: Any) -> bool:
    text = getattr(response, "response", None) or getattr(response, "response_txt", None)
    return isinstance(text, str) and bool(text.strip()) and run.was_given(text)


def unwritten(
    nodes: Iterable[NodeWithScore], capture: Capture, run: ModelRun | None = None
) -> list[NodeWithScore]:
    """``nodes`` as they were retrieved in the call; others without what models wrote in it.

    ``run`` is the one that wrote the answer, if it is known.
    """
    retrieved = {node_key(node) for node in capture.nodes}

    def left_of(node: NodeWithScore) -> str:
        text = node_key(node)[1]
        if node_key(node) in retrieved:
            return text
        left = "" if capture.wrote(text) else _left(text, capture, run)
        few = node_key(node) in capture.rewritten and is_little(left)
        return "" if few and left != text else left

    return with_left(nodes, left_of)


def unmarked(nodes: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """``nodes`` without the sentences that a guard marked."""
    return with_left(nodes, lambda node: without_marked(node_key(node)[1]))


def with_left(
    nodes: Iterable[NodeWithScore], left_of: Callable[[NodeWithScore], str]
) -> list[NodeWithScore]:
    """``nodes`` with the texts that ``left_of`` leaves of them; without those left empty by it."""
    kept: list[NodeWithScore] = []
    for node in nodes:
        text, left = node_key(node)[1], left_of(node)
        if left == text:
            kept.append(node)
        elif left.strip():
            bare = TextNode(text=left, id_=node.node.node_id, metadata=node.node.metadata)
            kept.append(NodeWithScore(node=bare, score=node.score))
    return kept


def named_by_user(evidence: EvidenceFrom, question: str, response: Any) -> list[Passage]:
    """The passages that ``evidence=`` names.

    Args:
        evidence: a function of the question and the response; or a key or dotted path in the
            response or its metadata.
        question: as the user asked it.
        response: of the inner engine.

    Raises:
        KeyError: if there is nothing at the path.
        Exception: whatever the function raises.
    """
    if not isinstance(evidence, str):
        return passages_of(evidence(question, response))
    return chosen_passages(evidence, response, getattr(response, "metadata", None) or {})


def usual_evidence(
    response: Any, capture: Capture, run: ModelRun | None, question: str, *, template: bool
) -> list[Passage]:
    """Passages under the usual names in the response's metadata, or in the prompt's template.

    A workflow may return a dict, which has them beside the answer.
    Not the ``question``, a conversation, or what a model wrote: an engine may put these there.

    Args:
        response: of the inner engine.
        capture: of the call.
        run: that wrote the answer.
        question: that was asked.
        template: whether to search the template.
    """
    answer = run if run is not None and _is_all_of(response, run) else None

    def under(keys: Iterable[str], place: Any) -> list[Passage]:
        for key in keys:
            held = place.get(key) if isinstance(place, Mapping) else getattr(place, key, None)
            found = passages_of(held)
            not_asked = [p for p in found if not _asked(p.text, question)]
            left = [replace(p, text=_left(p.text, capture, answer)) for p in not_asked]
            kept = [p for p in left if p.text.strip()]
            if kept and not are_names(key, kept):
                return kept
        return []

    is_dict = isinstance(response, Mapping)
    under_usual_keys = under(
        PASSAGE_KEYS, response if is_dict else getattr(response, "metadata", None)
    )
    args = (
        capture.template_args(run) if template and run is not None and not under_usual_keys else {}
    )
    return under_usual_keys or under((*PASSAGE_KEYS, *CONTEXT_KEYS), args)


def _is_all_of(response: Any, run: ModelRun) -> bool:
    """Whether the answer is all that ``run`` wrote; not if it was parsed from an object."""
    answer = getattr(response, "response", None)
    return answer is None or (isinstance(answer, str) and answer.strip() == run.text.strip())


def _asked(text: str, question: str) -> bool:
    """Whether ``text`` is the question, a part of it or a conversation."""
    return _CONVERSATION.match(text) is not None or not without_written(text, [question]).strip()


def _left(text: str, capture: Capture, run: ModelRun | None = None) -> str:
    """``text`` with blanks for what models wrote in the call; positions stay.

    That is: an answer to a sub-question, sentences that a model wrote without having read them, and
    what a guard inside has released or marked. Of ``run``, the answer may quote a document that its
    prompt has in other words; only a ``text`` that is the whole answer is its own.
    """
    if SUB_ANSWER.match(text):
        return ""
    # Compared by prompt, because a streaming run is a new object with each chunk.
    seen = None if run is None else run.seen
    counts = (r for r in capture.runs if r.seen != seen or r.text.strip() == text.strip())
    wrote = [sentence for r in counts if not r.was_given(text) for sentence in r.own_sentences]
    return without_marked(without_written(text, [*wrote, *_released_in(text, capture)]))


def _released_in(text: str, capture: Capture) -> list[str]:
    """The answers in ``text`` that a guard inside has changed, unless they are in a document."""
    known = {run.text.strip() for run in capture.runs}
    changed = [one for one in capture.released if one.strip() not in known and one in text]
    documents = [document for _, document in map(node_key, capture.nodes)]
    return [one for one in changed if not any(one.strip() in text for text in documents)]
