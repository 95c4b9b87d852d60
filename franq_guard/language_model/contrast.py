"""The prompt for Parametric Knowledge of a trace: the captured prompt without its passages.

arXiv 2505.21072, section 3: the same answer tokens are scored again with the retrieved passages
left out. For a prompt that a framework built, this module decides what that means:

- no captured prompt: the question-only prompt of :mod:`.prompts`;
- no passages: the captured prompt unchanged, since it contains no evidence;
- our own prompt of :func:`rag_prompt`: exactly the question-only prompt;
- a prompt with the passages in it: that prompt after :func:`remove_evidence`, in which up to
  ``MAX_RESIDUE`` of the passages may remain; if more does, there is none (``no_contrast``);
- a prompt with none of the passages, or with the answer itself (a later pass of a summarising or
  refining engine, a chat history with repetitions): the question-only prompt, because such a prompt
  contains the passages in other words.
"""

from __future__ import annotations

from collections.abc import Callable

from franq_guard.language_model.base import Contrast, LanguageModel, Prompt, is_foreign
from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.evidence_removal import remove_evidence, shared
from franq_guard.language_model.prompts import question_prompt, rag_prompt
from franq_guard.records import Generation, Trace

MAX_RESIDUE = 0.05
"""If a larger share of the passages' four-word sequences remains, the prompt still has evidence."""
MAX_ANSWER = 0.5
"""If a larger share of the answer's four-word sequences is in a prompt, it contains the answer."""


def contrast(trace: Trace, captured: str | None, render: Callable[[Prompt], str]) -> Contrast:
    """The trace's prompt without evidence; ``captured`` is the string the model saw, if known."""
    total = len(trace.passages)
    if captured is not None and not total:
        return Contrast(captured, None, 0, 0, 0.0)
    bare = render(question_prompt(trace.question))
    if captured is None:
        return Contrast(bare, None, 0, total, 0.0)
    if captured.strip() == render(rag_prompt(trace.question, trace.passages)).strip():
        return Contrast(bare, None, total, total, 0.0)
    removal = remove_evidence(captured, trace.passages, trace.question)
    if removal.residue > MAX_RESIDUE:
        return Contrast(None, "no_contrast", removal.found, total, removal.residue)
    told = shared(trace.generation.text, removal.text, trace.question) > MAX_ANSWER
    prompt = bare if told or not removal.found else removal.text
    return Contrast(prompt, None, removal.found, total, removal.residue)


def captured_prompt(written: Generation, model: LanguageModel, encoder: Encoder) -> str | None:
    """The prompt of a captured answer, from its ids if they are of this model's vocabulary."""
    ids = None if is_foreign(written, model) else written.prompt_token_ids
    return encoder.prompt_text(ids) if ids else written.prompt
