"""Finds the nodes that are the evidence of an answer, and converts nodes to passages.

If there are no nodes with the answer, passages are searched where applications usually put them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import MetadataMode, NodeWithScore

from franq_guard import Passage
from franq_guard.capture.evidence import (
    EvidenceFrom,
    chosen_passages,
    passages_of,
    usual_passages,
)
from franq_guard.capture.matching import shown
from llama_index_franq._capture import Capture, ModelRun

# What LlamaIndex's synthesizers call the evidence in a template.
CONTEXT_KEYS = ("context_str", "context_msg", "context_messages")


def passage_of(node: NodeWithScore) -> Passage:
    """A node as a Passage: its text without metadata, its id, its title or file name."""
    about = node.node.metadata
    return Passage(
        node.node.get_content(metadata_mode=MetadataMode.NONE),
        title=str(about.get("title") or about.get("file_name") or ""),
        id=node.node.node_id,
        metadata=about,
    )


def evidence_of(
    nodes: Sequence[NodeWithScore], capture: Capture, run: ModelRun | None
) -> list[Passage]:
    """The response's own ``nodes`` (after post-processing), else what was retrieved and shown.

    Each node counts once, even if several sub-questions found it.

    Answers to sub-questions are passed as nodes too, but what a model wrote is no evidence.
    """
    given = list({p.id: p for p in map(passage_of, nodes)}.values())
    if given:
        retrieved = [passage_of(node) for node in capture.nodes]
        return [p for p in given if not _written(p, retrieved, capture, run)] or given
    # Retrieval events come before re-ranking and filtering; dropped nodes are no evidence.
    seen = None if run is None else run.seen
    return shown([passage_of(node) for node in capture.nodes], seen)


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


def usual_evidence(response: Any, capture: Capture, run: ModelRun | None) -> list[Passage]:
    """Passages under the usual names in the response's metadata, or in the prompt's template."""
    found = usual_passages(getattr(response, "metadata", None) or {})
    args = {} if run is None or found else capture.template_args(run)
    context = [args[key] for key in CONTEXT_KEYS if isinstance(args.get(key), str)]
    return found or usual_passages(args) or passages_of(context)


def _written(
    passage: Passage, retrieved: Sequence[Passage], capture: Capture, answer: ModelRun | None
) -> bool:
    """Whether a passage was not retrieved and holds what a model wrote earlier in this call."""
    if any(passage.id == other.id for other in retrieved):
        return False
    # Compared by prompt, because a streaming run is a new object with each chunk.
    seen = None if answer is None else answer.seen
    earlier = (run.text.strip() for run in capture.runs if run.seen != seen)
    held = [text for text in earlier if text and text in passage.text]
    return bool(held) and not any(text in other.text for text in held for other in retrieved)
