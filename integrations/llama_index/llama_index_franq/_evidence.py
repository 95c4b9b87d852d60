"""Which nodes are the evidence of an answer, and a node as a passage."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.schema import MetadataMode, NodeWithScore

from franq_guard import Passage
from franq_guard.capture.matching import shown
from llama_index_franq._capture import Capture, ModelRun


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

    Each node counts once, also where several sub-questions found it.

    Answers to sub-questions travel as nodes too; what a model wrote is no evidence.
    """
    given = list({p.id: p for p in map(passage_of, nodes)}.values())
    if given:
        retrieved = [passage_of(node) for node in capture.nodes]
        return [p for p in given if not _written(p, retrieved, capture, run)] or given
    # Retrieval is told before re-ranking and filtering: what was dropped supports nothing.
    seen = None if run is None else run.seen
    return shown([passage_of(node) for node in capture.nodes], seen)


def _written(
    passage: Passage, retrieved: Sequence[Passage], capture: Capture, answer: ModelRun | None
) -> bool:
    """Whether a passage was not retrieved and holds what a model wrote earlier in this call."""
    if any(passage.id == other.id for other in retrieved):
        return False
    # Told by its prompt: while it streams, a run is another object with each chunk.
    seen = None if answer is None else answer.seen
    earlier = (run.text.strip() for run in capture.runs if run.seen != seen)
    held = [text for text in earlier if text and text in passage.text]
    return bool(held) and not any(text in other.text for text in held for other in retrieved)
