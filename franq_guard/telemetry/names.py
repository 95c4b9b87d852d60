"""All names of spans, events and attributes; in one place, as the conventions still change.

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
"""The prefix of the names of stage spans, which are children of the answer's span."""

EVENT = "gen_ai.evaluation.result"
EVALUATION_NAME = "gen_ai.evaluation.name"
SCORE_VALUE = "gen_ai.evaluation.score.value"
SCORE_LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
RESPONSE_ID = "gen_ai.response.id"
ERROR_TYPE = "error.type"

EVALUATION = "franq"
"""The value of ``gen_ai.evaluation.name``, for both answers and claims."""

BATCH_SIZE = "franq.batch_size"
"""How many answers were checked together; the seconds of a stage are for all of them."""
STATUS = "franq.status"
CALIBRATOR = "franq.calibrator"
LIKELIHOODS = "franq.likelihoods"
"""Whose log-probabilities were used; see :class:`~franq_guard.records.GuardedAnswer`."""
CLAIMS = "franq.claims.count"
LABELS = "franq.labels."
"""The prefix before a label (with ``_`` for ``-``): the number of claims with that label."""
ABANDONED = "franq.abandoned"
"""True if a stream was closed before the answer was complete."""
CLAIM_INDEX = "franq.claim.index"
"""The index, from 0, of the verdict that an event is about; not in an answer's own event."""
CLAIM_REASON = "franq.claim.reason"
"""Why a claim has no P(true), or the remark on it; absent if there is neither."""
CLAIM_TEXT = "franq.claim.text"
CLAIM_TEXTS = "franq.claim.texts"

TEXT_VARIABLE = "FRANQ_TELEMETRY_TEXT"
"""The environment variable: if it is 1, the texts of claims are sent, too."""
