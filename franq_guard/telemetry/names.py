"""Every name that leaves, in one place: the conventions for generative AI still move.

The ``gen_ai.*`` names and ``error.type`` are those of the event ``gen_ai.evaluation.result`` in
https://github.com/open-telemetry/semantic-conventions-genai (``model/gen-ai/events.yaml``, looked
up in autumn 2026, stability Development). All else is ours, under ``franq.``.
"""

from __future__ import annotations

SCOPE = "franq_guard"
"""The instrumentation scope of all spans and events."""

CHECK = "franq.check"
"""The span of one checked answer."""

STAGE = "franq.stage."
"""Before a stage's name: the spans below that of the answer."""

EVENT = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE_VALUE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
RESPONSE_ID = "gen_ai.response.id"
ERROR_TYPE = "error.type"

EVALUATION = "franq"
"""The value of ``gen_ai.evaluation.name``, of answers and claims alike."""

NO_ANSWER = "no_answer"
"""The ``error.type`` of an answer in which there is nothing to check."""

BATCH_SIZE = "franq.batch_size"
"""How many answers were checked together: they share the seconds of their stages."""
STATUS = "franq.status"
CALIBRATOR = "franq.calibrator"
LIKELIHOODS = "franq.likelihoods"
"""Whose probabilities entered P(true); see :class:`~franq_guard.records.GuardedAnswer`."""
CLAIMS = "franq.claims.count"
LABELS = "franq.labels."
"""Before a label, ``-`` written as ``_``: the number of claims that have it."""
ABANDONED = "franq.abandoned"
"""True where a stream was closed before its answer was over."""
CLAIM_INDEX = "franq.claim.index"
"""Which verdict of the answer an event is of, from 0; an answer's own event has none."""
CLAIM_REASON = "franq.claim.reason"
"""Why a claim has no P(true), or the remark on it; absent where there is none."""
CLAIM_TEXT = "franq.claim.text"
CLAIM_TEXTS = "franq.claim.texts"

TEXT_VARIABLE = "FRANQ_TELEMETRY_TEXT"
"""The environment variable that has claims told as text, where it is 1."""
