"""Builds a claim set: first plans all answers, then writes them, a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from franq_guard.claims.rules.splitter import RuleSplitter
from franq_guard.claims.spans import whole
from franq_guard.datasets.building.edits import Edit, one_edit
from franq_guard.datasets.building.questions import MadeQuestion
from franq_guard.datasets.building.showing import Search, Show, Showing, showing_for, shown
from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
from franq_guard.datasets.entities import Pool
from franq_guard.datasets.grading import grade
from franq_guard.datasets.long_form.labels import LabelledClaim, is_faithful, label
from franq_guard.datasets.questions import Question, digest
from franq_guard.language_model.prompts import question_prompt, rag_prompt
from franq_guard.records import Claim, Generation, Passage, Trace

if TYPE_CHECKING:
    from franq_guard.language_model.base import LanguageModel

Change = Callable[[str], Edit | None]
"""From a sentence to one edit that makes it false; None if there is none."""
_ONE_LINE = "\nAnswer in a few words, on one line."
_GOLD_RULE, _EDIT_RULE = "gold.v1", "edit.v1"
_AT_ONCE = 8
"""Answers that are written together: it halves a local model's time, and a server's many times."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings for building a set; the same recipe, documents and model give the same set.

    Args:
        form: ``long``: full sentences, split into claims; ``short``: a few words, one claim.
        k: number of passages shown.
        show: ``mixed`` (good and bad retrieval) or ``retrieved`` (what the search finds).
        max_new_tokens: maximum length of an answer.
        samples: additional answers to each question, sampled at temperature 1 (signals of the short
            form).
        edits: share of the questions for which a sentence of the documents is added as an answer,
            once unchanged and once with one fact changed.
        edits_by: who changes the fact: ``rules`` or a language ``model``.
        seed: seed of everything that is drawn at random.
    """

    form: Literal["long", "short"] = "long"
    k: int = 3
    max_new_tokens: int = 120
    samples: int = 0
    edits: float = 0.25
    seed: int = 0
    show: Show = "mixed"
    edits_by: Literal["rules", "model"] = "rules"


@dataclass(frozen=True, slots=True)
class Planned:
    """One planned answer: to be written by the model, or ``given`` as text."""

    id: str
    question: MadeQuestion
    passages: tuple[int, ...]
    showing: Showing
    given: str | None = None
    edit: Edit | None = None


def plan(
    questions: Sequence[MadeQuestion],
    passages: Sequence[Passage],
    search: Search,
    recipe: Recipe,
    *,
    change: Change | None = None,
) -> list[Planned]:
    """Every answer that the set will contain, in order; nothing is written yet.

    ``change`` makes the edits; None: the rules of :func:`~.edits.one_edit`.
    """
    if change is None:
        pool = Pool(passage.text for passage in passages)
        change = partial(one_edit, pool=pool, seed=recipe.seed)
    return [row for q in questions for row in _planned(q, passages, search, recipe, change)]


def build(
    claims: ClaimSet,
    planned: Sequence[Planned],
    passages: Sequence[Passage],
    model: LanguageModel,
    recipe: Recipe,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Write the missing answers of ``planned`` into the set and return how many were written.

    Labels that need no judge are written, too: those from gold answers (source ``gold``) and from
    edits (source ``edit``). A few answers are written together, and are on disk before the next few
    are begun. The labels of each go first, so that an interruption cannot leave an answer without.

    Args:
        claims: the set.
        planned: by :func:`plan`.
        passages: those of the documents.
        model: writes the answers.
        recipe: the same as for :func:`plan`.
        progress: called with (done, to do).
    """
    there = {trace.id for trace in claims.answers()}
    # The same ones are together after a stop, so that it changes no answer.
    groups = [planned[at : at + _AT_ONCE] for at in range(0, len(planned), _AT_ONCE)]
    todo = [[row for row in group if row.id not in there] for group in groups]
    total, done = sum(map(len, todo)), 0
    for rows in todo:
        for row, trace in zip(rows, _answered(rows, passages, model, recipe), strict=True):
            for said in _labels(row, trace, recipe):
                claims.add(said)
            claims.add_answer(trace)
            done += 1
            if progress is not None:
                progress(done, total)
    return total


def settings(
    recipe: Recipe, passages: Sequence[Passage], model: LanguageModel
) -> dict[str, object]:
    """The settings that a set stores about how it was built."""
    documents = digest(0, *(f"{p.title}\0{p.text}" for p in passages))[:16]
    return {**asdict(recipe), "documents": documents, "language_model": model.fingerprint}


def _planned(
    question: MadeQuestion,
    passages: Sequence[Passage],
    search: Search,
    recipe: Recipe,
    change: Change,
) -> Iterator[Planned]:
    showing = showing_for(question, recipe.seed, recipe.show)
    seen = shown(question, passages, search, showing, k=recipe.k)
    yield Planned(question.id, question, seen, showing)
    drawn = int(digest(recipe.seed, "edits", question.id)[:8], 16) / 16**8
    wanted = bool(question.sentence) and drawn < recipe.edits
    if wanted and (edit := change(question.sentence)):
        beside = shown(question, passages, search, "gold", k=recipe.k)
        stated, changed = f"{question.id}-stated", f"{question.id}-changed"
        yield Planned(stated, question, beside, "gold", given=edit.original)
        yield Planned(changed, question, beside, "gold", given=edit.text, edit=edit)


def _answered(
    rows: Sequence[Planned], passages: Sequence[Passage], model: LanguageModel, recipe: Recipe
) -> Iterator[Trace]:
    """The answers in order: those that are planned as text, and what the model writes."""
    pairs = [(row, tuple(passages[i] for i in row.passages)) for row in rows]
    asked = [rag_prompt(_request(row, recipe), of) for row, of in pairs if row.given is None]
    made = iter(_written(list(map(model.render, asked)), model, recipe))
    for row, of_row in pairs:
        contrast, samples = None, tuple[Generation, ...]()
        generation = Generation(row.given or "")
        if row.given is None:
            contrast = model.render(question_prompt(_request(row, recipe)))
            generation, samples = next(made)
        yield Trace(
            row.question.question,
            of_row,
            generation,
            samples=samples,
            claims=tuple(_claims(generation.text, row.question.question, recipe)),
            contrast_prompt=contrast,
            id=row.id,
        )


def _request(row: Planned, recipe: Recipe) -> str:
    return row.question.question + (_ONE_LINE if recipe.form == "short" else "")


def _written(
    prompts: Sequence[str], model: LanguageModel, recipe: Recipe
) -> list[tuple[Generation, tuple[Generation, ...]]]:
    """What the model writes to each prompt, and its samples."""
    if not prompts:
        return []
    length = recipe.max_new_tokens
    answers = model.generate(prompts, max_new_tokens=length)
    if not recipe.samples:
        return [(answer, ()) for answer in answers]
    drawn = model.sample(prompts, n=recipe.samples, max_new_tokens=length, seed=recipe.seed)
    return list(zip(answers, map(tuple, drawn), strict=True))


def _claims(answer: str, question: str, recipe: Recipe) -> list[Claim]:
    if recipe.form == "long":
        return RuleSplitter().split(answer, question=question)
    return whole(answer)


def _labels(row: Planned, trace: Trace, recipe: Recipe) -> Iterator[ClaimJudgement]:
    if row.given is not None:
        yield from _of_edit(row, trace)
    elif row.question.answers:
        yield from _of_gold(row, trace, recipe)


def _of_edit(row: Planned, trace: Trace) -> Iterator[ClaimJudgement]:
    """Labels every claim of an unchanged sentence, and those of a changed one with the change."""
    for index, claim in enumerate(trace.claims or ()):
        if row.edit is None:
            yield ClaimJudgement(row.id, index, "edit", "faithful", "true", version=_EDIT_RULE)
        elif any(
            a < row.edit.start + len(row.edit.new) and row.edit.start < b for a, b in claim.spans
        ):
            against = "unfaithful-neutral" if row.edit.adds else "unfaithful-contra"
            yield ClaimJudgement(
                row.id,
                index,
                "edit",
                against,  # type: ignore[arg-type]
                "false",
                version=f"{_EDIT_RULE}-{row.edit.kind}",
            )


def _of_gold(row: Planned, trace: Trace, recipe: Recipe) -> Iterator[ClaimJudgement]:
    gold = tuple(i == row.question.passage for i in row.passages)
    question = Question(
        row.id, "documents", trace.question, row.question.answers, trace.passages, gold
    )
    claims = trace.claims or ()
    if recipe.form == "short":
        labelled = tuple(_graded(question, trace))
    else:
        labelled = label([question], trace.passages, trace.generation.text, claims).claims
    for found in labelled:
        neither = "unfaithful-contra" if any(gold) and not found.is_true else "unfaithful-neutral"
        yield ClaimJudgement(
            row.id,
            claims.index(found.claim),
            "gold",
            "faithful" if found.is_faithful else neither,  # type: ignore[arg-type]
            "true" if found.is_true else "false",
            version=_GOLD_RULE,
        )


def _graded(question: Question, trace: Trace) -> Iterator[LabelledClaim]:
    """The label of a short answer, its only claim, which need not repeat words of its question.

    One that does not try to answer gets none.
    """
    for claim in trace.claims or ():
        found = grade(claim.text, question.answers, question=question.question)
        if found != "not_attempted":
            true = found == "correct"
            faithful = is_faithful(question, trace.passages, claim.text, is_true=true)
            yield LabelledClaim(claim, 0, true, faithful)
