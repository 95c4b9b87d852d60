"""Converts traces to ``franq.trace/1`` rows.

:func:`~franq_guard.rows.traces.trace_from_dict` does the reverse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from franq_guard.records import Claim, ClaimLabel, Generation, Token, Trace


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """JSON-ready values, schema ``franq.trace/1``; unknown values are left out.

    Token ids and alternatives are not written because they are valid for one tokenizer only;
    ``metadata`` is not written because it belongs to the application, nor who gave a label: a claim
    set knows that.
    """
    labels = trace.labels or (ClaimLabel(),) * len(trace.claims or ())
    row: dict[str, Any] = {
        "schema": "franq.trace/1",
        "id": trace.id,
        "question": trace.question,
        "passages": [passage.to_dict() for passage in trace.passages],
        "answer": trace.generation.text,
        "prompt": trace.generation.prompt,
        "contrast": trace.contrast_prompt,
        "prompt_seen": None if trace.prompt_seen else False,
        **_tokens(trace.generation),
        "samples": [_sample(sample) for sample in trace.samples] or None,
    }
    if trace.claims is not None:
        row["claims"] = [_claim(*pair) for pair in zip(trace.claims, labels, strict=True)]
    return _known(row)


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _tokens(generation: Generation) -> dict[str, Any]:
    if not generation.tokens:
        return {"writer": generation.writer}
    return {
        "source": generation.source,
        "writer": generation.writer,
        "tokens": [_token(token) for token in generation.tokens],
    }


def _token(token: Token) -> dict[str, Any]:
    return {
        "start": token.start,
        "end": token.end,
        "logprob": _finite(token.logprob),
        **_known({"entropy": _finite(token.entropy)}),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _sample(sample: Generation) -> dict[str, Any]:
    return _known({"text": sample.text, **_tokens(sample)})


def _claim(claim: Claim, label: ClaimLabel) -> dict[str, Any]:
    return _known(
        {
            "text": claim.text,
            "spans": [list(span) for span in claim.spans],
            "aligned": None if claim.aligned == 1 else claim.aligned,
            "context": claim.context,
            "full": claim.full,
            "not_a_claim": claim.not_a_claim,
            "is_true": label.is_true,
            "is_faithful": label.is_faithful,
        }
    )
