"""Extracts question, passages and answer from the free-form inputs and outputs of a traced run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from franq_guard.capture.evidence import EvidenceFrom, chosen_passages, usual_passages
from franq_guard.records import Generation, Trace
from franq_guard.rows.fields import KNOWN


def _keys(ours: str) -> tuple[str, ...]:
    """The usual keys of a field; dotted paths are left out because the values are not nested."""
    return (ours, *(name for name in KNOWN[ours] if "." not in name))


QUESTION_KEYS, ANSWER_KEYS = _keys("question"), (*_keys("answer"), "text", "content")


def trace_of_run(inputs: Any, outputs: Any, evidence: EvidenceFrom | None = None) -> Trace:
    """The question, passages and answer of one run, ready to be checked.

    Args:
        inputs: the question, or a mapping that contains it.
        outputs: the answer, or a mapping that contains it.
        evidence: where to find the passages if neither has them under a usual key: a key, a dotted
            path, or a function of inputs and outputs.

    Raises:
        ValueError: if there is no question or no answer; names the keys that were tried.
        KeyError: if there is nothing at the key or path ``evidence``.
    """
    question = _text(inputs, QUESTION_KEYS, "question", "inputs")
    answer = _text(outputs, ANSWER_KEYS, "answer", "outputs")
    found = (
        usual_passages(outputs, inputs)
        if evidence is None
        else chosen_passages(evidence, inputs, outputs)
    )
    return Trace(question, tuple(found), Generation(answer))


def _text(value: Any, keys: tuple[str, ...], what: str, where: str) -> str:
    if isinstance(value, Mapping):
        named = [value[key] for key in keys if isinstance(value.get(key), str)]
        others = [text for text in value.values() if isinstance(text, str)]
        # If a mapping has only one text, that must be the value, whatever its key.
        found = named[0] if named else others[0] if len(others) == 1 else None
    else:
        found = value if isinstance(value, str) else None
    if found is None or (what == "question" and not found.strip()):
        raise ValueError(
            f"no {what} in the {where}: give a string, or a mapping with one of {', '.join(keys)}"
        )
    return found
