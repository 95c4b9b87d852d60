"""Long answers to several questions at once, with passages for some of them only.

As in the long-form set of arXiv 2505.21072, the prompt asks for claims both from the context and
from the model's own knowledge. Here no judge is needed: every question has gold answers, so each
sentence of the answer can be checked (:mod:`~franq_guard.datasets.long_form.labels`). This works
with any model and any ``rag_qa`` rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from franq_guard.claims.base import ClaimSplitter
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.long_form.labels import Labelled, label
from franq_guard.datasets.long_form.prompts import LongPrompt, numbered
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Claim, Generation

__all__ = [
    "MAX_NEW_TOKENS",
    "LongAnswer",
    "label_claims",
    "label_rows",
    "long_form_answers",
    "summary",
]

MAX_NEW_TOKENS = 160


@dataclass(frozen=True, slots=True)
class LongAnswer:
    """A model's answer to a :class:`LongPrompt`, with its labelled claims.

    ``prompt`` and ``contrast`` are as the model's template renders them.
    """

    asked: LongPrompt
    prompt: str
    contrast: str
    generation: Generation
    labelled: Labelled

    def to_row(self) -> dict[str, Any]:
        """A ``franq.trace/1`` row whose claims are the labelled ones.

        Beside the documented keys: ``dataset``, ``contrast`` (the rendered prompt without passages)
        and in each claim ``question_id``.
        """
        return {
            "id": self.asked.id,
            "dataset": self.asked.dataset,
            "question": numbered(self.asked.questions),
            "passages": [{"title": p.title, "text": p.text} for p in self.asked.passages],
            "answer": self.generation.text,
            "prompt": self.prompt,
            "contrast": self.contrast,
            "claims": label_rows(self.asked, self.labelled),
        }


def label_claims(asked: LongPrompt, answer: str, claims: Sequence[Claim]) -> Labelled:
    """:func:`~franq_guard.datasets.long_form.labels.label` for the answer to ``asked``."""
    return label(asked.questions, asked.passages, answer, claims)


def label_rows(asked: LongPrompt, labelled: Labelled) -> list[dict[str, Any]]:
    """The labelled claims as the ``claims`` of a ``franq.trace/1`` row."""
    return [
        {
            "text": found.claim.text,
            "spans": [list(span) for span in found.claim.spans],
            "is_true": found.is_true,
            "is_faithful": found.is_faithful,
            "question_id": asked.questions[found.question].id,
        }
        for found in labelled.claims
    ]


def long_form_answers(
    model: LanguageModel,
    prompts: Sequence[LongPrompt],
    *,
    store: GenerationStore,
    splitter: ClaimSplitter,
    max_new_tokens: int = MAX_NEW_TOKENS,
    batch_size: int = 4,
    progress: Callable[[int], None] | None = None,
) -> list[LongAnswer]:
    """Greedy answers (from the store if it has them), split into claims and labelled."""
    rendered = [model.render(p.prompt) for p in prompts]
    made = store.generate(
        model, rendered, max_new_tokens=max_new_tokens, batch_size=batch_size, progress=progress
    )
    return [
        LongAnswer(
            asked=asked,
            prompt=prompt,
            contrast=model.render(asked.contrast),
            generation=generation,
            labelled=label_claims(asked, generation.text, splitter.split(generation.text)),
        )
        for asked, prompt, generation in zip(prompts, rendered, made, strict=True)
    ]


def summary(answers: Iterable[LongAnswer]) -> dict[str, int]:
    """Counts over ``answers``: questions, those with a labelled claim, labels, claims left out."""
    counts: Counter[str] = Counter()
    for answer in answers:
        claims = answer.labelled.claims
        counts["questions"] += len(answer.asked.questions)
        counts["answered"] += len({c.question for c in claims})
        counts["claims"] += len(claims)
        counts["true"] += sum(c.is_true for c in claims)
        counts["faithful"] += sum(c.is_faithful for c in claims)
        for reason, count in answer.labelled.dropped.items():
            counts[f"dropped: {reason}"] += count
    return dict(counts)
