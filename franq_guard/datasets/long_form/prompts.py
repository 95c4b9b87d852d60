"""Prompts that ask several questions at once and show passages for some of them only.

As in the long-form set of arXiv 2505.21072, answers contain claims both from the context and from
the model's own knowledge. The wording is ours and contains an example, because small models follow
an example better than an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.questions import Question, digest
from franq_guard.language_model.base import Prompt
from franq_guard.language_model.prompts import passages_block
from franq_guard.records import Passage

MAX_ANSWER_WORDS = 4
SYSTEM = (
    "You answer lists of questions. Each answer is one full sentence with the same number as its "
    "question. Use the passages where they help and your own knowledge where they do not."
)
_EXAMPLE = """Questions:
1. What colour is ripe wheat?
2. Who wrote the play Hamlet?

Answers:
1. Ripe wheat is golden.
2. The play Hamlet was written by William Shakespeare.

"""


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """One prompt of several questions.

    Attributes:
        id: made from the questions and the seed.
        dataset: the data set of the questions; several are joined by "+".
        questions: in the order of the prompt.
        shown: for each question, whether a passage was chosen for it.
        passages: all passages that are shown.
        prompt: the prompt with the passages.
        contrast: the same prompt without the passages and their titles.
    """

    id: str
    dataset: str
    questions: tuple[Question, ...]
    shown: tuple[bool, ...]
    passages: tuple[Passage, ...]
    prompt: Prompt
    contrast: Prompt


def usable(question: Question) -> bool:
    """Whether string matching can distinguish a correct claim from a wrong one.

    For this the first gold answer must be short (at most four words) and not a list. And no gold
    answer may be found by chance: none may be a single letter, "yes" or "no", or a part of the
    question.
    """
    aliases = [texts(a) for a in question.answers]
    asked = f" {' '.join(texts(question.question))} "
    short = 0 < len(aliases[0]) <= MAX_ANSWER_WORDS and not {"and", "or"} & set(aliases[0])
    return short and not any(
        (len(a) == 1 and _by_chance(a[0])) or f" {' '.join(a)} " in asked for a in aliases
    )


def _by_chance(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word in ("yes", "no")


def build_prompts(
    questions: Iterable[Question],
    *,
    seed: int = 0,
    per_prompt: int = 4,
    with_passages: int = 2,
    k: int = 3,
) -> list[LongPrompt]:
    """Prompts of ``per_prompt`` usable questions each; questions left over are not used.

    In some data sets many questions are about the same article (SQuAD). If there are on average at
    least ``per_prompt`` questions to the title of a gold passage, the questions of a prompt are
    about one title. Questions of all other data sets are mixed.

    Args:
        questions: those that are not :func:`usable` are left out.
        seed: of everything that is drawn at random.
        per_prompt: questions in a prompt.
        with_passages: how many of them, chosen at random, get a passage: a gold one if they have
            one.
        k: passages in a prompt. If ``with_passages`` are fewer, further passages of the same
            questions are added. Their order is random.

    Raises:
        ValueError: if ``with_passages`` is larger than ``per_prompt`` or ``k``, or a number is
            negative.
    """
    if not (0 <= with_passages <= per_prompt and per_prompt >= 1 and k >= with_passages):
        raise ValueError(
            f"{k} passages cannot be shown for {with_passages} of {per_prompt} questions: each of "
            "those needs one at least"
        )
    ranked = sorted(filter(usable, questions), key=lambda q: digest(seed, q.id))
    groups = _groups(ranked, per_prompt)
    return [
        _prompt(name, group, seed=seed, with_passages=with_passages, k=k) for name, group in groups
    ]


def _groups(ranked: Sequence[Question], size: int) -> list[tuple[str, list[Question]]]:
    """Groups of ``size`` questions, each with the name of its data set (:func:`build_prompts`)."""
    groups: list[tuple[str, list[Question]]] = []
    mixed: list[Question] = []
    for name in sorted({q.dataset for q in ranked}):
        by_title: dict[str, list[Question]] = {}
        for question in ranked:
            if question.dataset == name:
                by_title.setdefault(_gold_title(question), []).append(question)
        untitled = by_title.pop("", [])
        if sum(map(len, by_title.values())) >= size * len(by_title) > 0:
            groups += [(name, cut) for _, g in sorted(by_title.items()) for cut in _cut(g, size)]
            mixed += untitled
        else:
            mixed += [q for q in ranked if q.dataset == name]
    order = {q.id: i for i, q in enumerate(ranked)}
    sources = "+".join(sorted({q.dataset for q in mixed}))
    groups += [(sources, cut) for cut in _cut(sorted(mixed, key=lambda q: order[q.id]), size)]
    return sorted(groups, key=lambda group: order[group[1][0].id])


def _cut(items: Sequence[Question], size: int) -> list[list[Question]]:
    return [list(items[i : i + size]) for i in range(0, len(items) - size + 1, size)]


def _gold_title(question: Question) -> str:
    gold = (p.title for p, g in zip(question.passages, question.gold, strict=True) if g)
    return next(gold, "")


def _prompt(
    dataset: str, group: Sequence[Question], *, seed: int, with_passages: int, k: int
) -> LongPrompt:
    identifier = f"long-{digest(seed, *(q.id for q in group))[:12]}"
    order = sorted(group, key=lambda q: digest(seed, "shown", identifier, q.id))
    chosen = order[:with_passages]
    passages = _passages(chosen, k)
    passages.sort(key=lambda p: digest(seed, "order", identifier, p.text))
    return LongPrompt(
        id=identifier,
        dataset=dataset,
        questions=tuple(group),
        shown=tuple(q in chosen for q in group),
        passages=tuple(passages),
        prompt=_render(group, passages),
        contrast=_render(group, ()),
    )


def _passages(chosen: Sequence[Question], k: int) -> list[Passage]:
    """The best passage of each question, then the second of each and so on; no text twice."""
    ranked = [
        sorted(zip(q.gold, q.passages, strict=True), key=lambda pair: not pair[0]) for q in chosen
    ]
    found: dict[str, Passage] = {}
    for depth in range(max(map(len, ranked), default=0)):
        for pairs in ranked:
            if depth < len(pairs) and len(found) < k:
                found.setdefault(pairs[depth][1].text, pairs[depth][1])
    return list(found.values())


def _render(questions: Sequence[Question], passages: Sequence[Passage]) -> Prompt:
    shown = passages_block(passages)
    return Prompt(SYSTEM, f"{_EXAMPLE}{shown}Questions:\n{numbered(questions)}\n\nAnswers:")


def numbered(questions: Sequence[Question]) -> str:
    """The questions as a numbered list, a line each."""
    return "\n".join(
        f"{i}. {q.question.strip().rstrip('?')}?" for i, q in enumerate(questions, start=1)
    )
