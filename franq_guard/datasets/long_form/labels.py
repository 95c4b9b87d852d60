"""Truth and faithfulness labels for the claims of an answer to several questions, without a judge.

First, each claim is assigned to the question that it answers:

- If its sentence has a number ("2. ..."), it answers the question with this number, unless it
  shares clearly more words with another question.
- Without a number, it answers the question with which it shares the most words.

Words that occur in several of the questions count less.

Then the claims of each question are labelled:

- A claim that states a gold answer (by the rules of :mod:`~franq_guard.datasets.grading`) is true.
- If no claim does, the first one that tries to answer the question is false. Such an attempt is
  about the question (it shares a share ``ATTEMPT`` of its words, or is a fragment of at most four
  words: "In Harrow.") and gives a new value of the same kind as the gold answer: a name if that is
  a name, a number if that is a number or a date. A sentence about something else may well be true,
  so it is not labelled false.
- All other claims get no label and are counted in ``dropped``: claims that answer none of the
  questions (``unassigned``), refusals (``refused``), repeated sentences (``repeated``), and claims
  that do not try to answer their question (``beside``).

Last, each labelled claim is faithful or not. Only those of the shown passages count that are about
the question: a passage is if it is marked as gold for it, or if it contains at least half of the
question's content words (in its title or text).

- A true claim is faithful if such a passage contains a gold answer.
- A false claim is faithful if its value stands in one sentence of such a passage (the title
  counts as a part of every sentence). Its value is its names, numbers and dates that are not in
  the question; if it has none, its content words. The model then repeats what the passage says, or
  misreads it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from franq_guard.basics.words import word_set
from franq_guard.claims.rules.words import (
    AUXILIARIES,
    COORDINATORS,
    DETERMINERS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    THIRD_PERSON,
)
from franq_guard.claims.sentences import sentences
from franq_guard.datasets.comparable_words import holds, texts
from franq_guard.datasets.entities import entities
from franq_guard.datasets.grading import states, unbracketed
from franq_guard.datasets.questions import Question
from franq_guard.datasets.refusals import refuses
from franq_guard.records import Claim, Passage

ABOUT = 0.5
"""A passage with this share of a question's content words is about it."""
ATTEMPT = 0.3
"""A wrong claim with this share of a question's content words tries to answer it."""

_NUMBERED = re.compile(
    r"(?:^[^\w\n]{0,4}|(?<=[.!?]) +)(?:(?:question|answer|q|a) ?)?(\d{1,2})[.):](?=\s|\*)"
    r"|\n[ \t]*\n",
    re.MULTILINE | re.IGNORECASE,
)
# Overlap of a claim with a question: the weights of the question's words that are in the claim.
_CLEAR = 0.4  # another question is chosen in spite of the number if its overlap is larger by this
_ENOUGH = 0.4  # without a number: the smallest overlap with which a question is chosen
_LEAD = 0.15  # without a number: by how much it must exceed the overlap with any other question
_FRAGMENT = 4  # an answer of at most this many words need not repeat words of its question
_STEM = 5  # letters by which two words are compared
_FUNCTION_WORDS = (
    AUXILIARIES
    | COORDINATORS
    | DETERMINERS
    | PREPOSITIONS
    | RELATIVES
    | SUBJECT_PRONOUNS
    | THIRD_PERSON
    | word_set("how why when whose whom did not as also called name named known first answer")
)


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, which of the prompt's questions it answers (an index), and its labels."""

    claim: Claim
    question: int
    is_true: bool
    is_faithful: bool


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labelled claims of one answer in order, and how many were dropped, by reason."""

    claims: tuple[LabelledClaim, ...]
    dropped: Mapping[str, int]


def label(
    questions: Sequence[Question],
    passages: Sequence[Passage],
    answer: str,
    claims: Sequence[Claim],
) -> Labelled:
    """Labels by the rules above.

    Args:
        questions: as asked, in order.
        passages: as shown.
        answer: the model's text.
        claims: of ``answer``; those marked ``not_a_claim`` are skipped.
    """
    real = [claim for claim in claims if claim.not_a_claim is None]
    assigned = assign(questions, answer, real)
    dropped = Counter({"refused": sum(c.not_a_claim == "refusal" for c in claims)})
    found: dict[int, LabelledClaim] = {}
    seen: set[tuple[str, ...]] = set()
    for k, question in enumerate(questions):
        mine = [i for i, n in enumerate(assigned) if n == k]
        truth = _truth(question, [real[i] for i in mine], seen, dropped)
        for i, is_true in zip(mine, truth, strict=True):
            if is_true is not None:
                faithful = is_faithful(question, passages, real[i].text, is_true=is_true)
                found[i] = LabelledClaim(real[i], k, is_true, faithful)
    dropped["unassigned"] = assigned.count(None)
    return Labelled(tuple(found[i] for i in sorted(found)), {k: n for k, n in dropped.items() if n})


def assign(questions: Sequence[Question], answer: str, claims: Sequence[Claim]) -> list[int | None]:
    """The index of the question that each claim answers, or None."""
    weighted = _weights([content(q.question) for q in questions])

    def choose(number: int | None, text: str) -> int | None:
        said = set(content(text))
        return _choose(number, [sum(w for s, w in q.items() if s in said) for q in weighted])

    # A repeated question is better evidence than its number.
    marks = [(at, choose(n, said) if said else n) for at, n, said in _marks(answer, len(questions))]
    out: list[int | None] = []
    for claim in claims:
        start = claim.spans[0][0] if claim.spans else 0
        number = next((n for at, n in reversed(marks) if at <= start), None)
        out.append(choose(number, f"{claim.context or ''} {claim.text}"))
    return out


def content(text: str) -> list[str]:
    """The stems (first five letters) of the content words of ``text``; numbers whole."""
    return [w if w[0].isdigit() else w[:_STEM] for w in texts(text) if w not in _FUNCTION_WORDS]


def is_faithful(
    question: Question, passages: Sequence[Passage], claim: str, *, is_true: bool
) -> bool:
    """Whether the value that ``claim`` gives for ``question`` is stated in ``passages``."""
    near = [p for p in passages if _about(question, p)]
    if is_true:
        golds = [texts(a) for a in unbracketed(question.answers)]
        return any(holds(f"{p.title}\n{p.text}", golds) for p in near)
    wanted = set(value(question, claim))
    return bool(wanted) and any(wanted <= set(s) for p in near for s in _sentence_stems(p))


def value(question: Question, claim: str) -> list[str]:
    """The stems of what ``claim`` says beyond its question: names and numbers, else any words."""
    asked = set(content(question.question))
    named = [s for e in entities(claim) for s in content(e.text) if s not in asked]
    return named or [s for s in content(claim) if s not in asked]


def _truth(
    question: Question,
    claims: Sequence[Claim],
    seen: set[tuple[str, ...]],
    dropped: Counter[str],
) -> list[bool | None]:
    """Labels of the claims of one question; ``seen`` collects all claims, to find repeated ones."""
    out: list[bool | None] = [None] * len(claims)
    attempts: list[int] = []
    for i, claim in enumerate(claims):
        said = texts(claim.text)
        if refuses(claim.text):
            dropped["refused"] += 1
        elif said in seen:
            dropped["repeated"] += 1
        elif states(claim.text, question.answers, question=question.question):
            out[i] = True
        elif _attempts(question, claim.text):
            attempts.append(i)
        else:
            dropped["beside"] += 1
        seen.add(said)
    if attempts and True not in out:
        out[attempts.pop(0)] = False
    dropped["beside"] += len(attempts)
    return out


def _attempts(question: Question, claim: str) -> bool:
    asked, said = set(content(question.question)), set(content(claim))
    words = texts(claim)
    fragment = len(words) <= _FRAGMENT and (len(said) <= 2 or not AUXILIARIES & set(words))
    near = fragment or len(asked & said) >= ATTEMPT * len(asked)
    shapes = {_shape(e.kind) for e in entities(claim) if not set(content(e.text)) <= asked}
    wanted = {_shape(e.kind) for e in entities(question.answers[0])}
    new = bool(said - asked) and bool(value(question, claim))  # the first: "1980" in "the 1980s"
    return near and new and (not wanted or bool(wanted & shapes))


def _shape(kind: str) -> str:
    return "name" if kind.startswith("name") else "number"


def _marks(answer: str, count: int) -> Iterator[tuple[int, int | None, str]]:
    """Where the answer to each question begins, in order of the text.

    Gives the position, the question's index and, if the answer repeats the question there, that
    line. The index is None where an answer ends: at a blank line (but not at one between a repeated
    question and its answer), and where the numbers start again.
    """
    last, begun = 0, 0
    for mark in _NUMBERED.finditer(answer):
        if not mark[1]:
            if not answer[begun : mark.start()].rstrip().endswith("?"):
                yield mark.start(), None, ""
            continue
        number, begun = int(mark[1]), mark.end()
        line = answer[begun:].partition("\n")[0].strip()
        if max(last, 1) <= number <= count:
            last = number
            yield mark.start(), number - 1, line if line.endswith("?") else ""
        elif number < last:
            yield mark.start(), None, ""


def _weights(stems: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """For each question the weights of its stems, which sum to 1; common stems weigh less."""
    count = Counter(s for one in stems for s in set(one))
    raw = [{s: 1 / count[s] ** 2 for s in one} for one in stems]
    return [{s: w / (sum(one.values()) or 1.0) for s, w in one.items()} for one in raw]


def _choose(number: int | None, scores: Sequence[float]) -> int | None:
    best = max(range(len(scores)), key=lambda i: scores[i])
    if number is not None:
        return best if scores[best] - scores[number] >= _CLEAR else number
    second = max((s for i, s in enumerate(scores) if i != best), default=0.0)
    return best if scores[best] >= _ENOUGH and scores[best] - second >= _LEAD else None


def _about(question: Question, passage: Passage) -> bool:
    own = any(
        gold and p.text == passage.text
        for p, gold in zip(question.passages, question.gold, strict=True)
    )
    asked = set(content(question.question))
    said = set(content(f"{passage.title} {passage.text}"))
    return own or (bool(asked) and len(asked & said) >= ABOUT * len(asked))


def _sentence_stems(passage: Passage) -> Iterator[list[str]]:
    title = content(passage.title)
    for start, end in sentences(passage.text, 0, len(passage.text)):
        yield [*title, *content(passage.text[start:end])]
