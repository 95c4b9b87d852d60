"""Makes questions about documents whose correct answers are words of the document.

There are three ways. Rules turn a sentence that stands alone into "Who ...?" (for a name at its
beginning), "When ...?" or "How many ...?" (if the verb is an auxiliary), or else into a sentence
with a gap. A language model writes questions whose answer must be in the passage. Questions for
long answers ask for "everything about" a document and have no single correct answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from franq_guard.claims.llm_reply import objects
from franq_guard.claims.rules.words import FINITE_AUXILIARIES
from franq_guard.datasets.building.sentences import Sentence, standing_alone
from franq_guard.datasets.comparable_words import holds, texts
from franq_guard.datasets.entities import Entity, entities
from franq_guard.datasets.questions import digest
from franq_guard.records import Passage

Kind = Literal["fact", "gap", "about", "given"]
"""``fact``: who, what, when, how many; ``gap``: a sentence with a gap; ``about``: everything about
a document; ``given``: from a file."""

GAP = "____"
_REQUEST = """Write one question that a reader of the passage could be asked, and its short answer.
The answer must be copied from the passage, word for word, and have at most five words. The question
must be understood without the passage: name what it is about.

Passage:
{passage}

Reply with JSON only: {{"question": "...", "answer": "..."}}
"""
_MOST_ANSWER_WORDS = 8


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question about ``passages[passage]`` of the documents.

    ``answers`` is empty if no correct answer is known; ``sentence`` is what the question was made
    from; ``own`` are the passages to show if they were given with the question.
    """

    id: str
    question: str
    kind: Kind
    passage: int | None
    answers: tuple[str, ...] = ()
    sentence: str = ""
    own: tuple[int, ...] | None = None


def by_rules(
    passages: Sequence[Passage], *, common: frozenset[str] = frozenset()
) -> list[MadeQuestion]:
    """One question for each sentence of the passages that stands alone and states a fact.

    Args:
        passages: of the documents.
        common: words that occur in lower case somewhere (``Pool.common``), so they are not names.
    """
    found: dict[str, MadeQuestion] = {}
    for sentence in standing_alone(list(passages)):
        if made := _made(sentence, common):
            found.setdefault(made.question, made)
    return list(found.values())


def by_model(
    ask: Callable[[str], str], passages: Sequence[Passage], indices: Iterable[int]
) -> Iterator[MadeQuestion]:
    """One question by a language model for each passage, if the reply passes the checks.

    The question must end with a question mark and must not contain the answer, and the answer must
    be in the passage; other replies are discarded.
    """
    for index in indices:
        passage = passages[index].text
        for row in objects(ask(_REQUEST.format(passage=passage)), ["question"]):
            question = " ".join(str(row.get("question", "")).split())
            answer = " ".join(str(row.get("answer", "")).split())
            wanted = texts(answer)
            known = 0 < len(wanted) <= _MOST_ANSWER_WORDS and holds(passage, [wanted])
            if question.endswith("?") and known and not holds(question, [wanted]):
                yield _question("fact", question, index, (answer,), passage)
            break


def about(passages: Sequence[Passage]) -> list[MadeQuestion]:
    """For each document, a request for everything about the subject of its first sentence."""
    found: dict[str, MadeQuestion] = {}
    for sentence in standing_alone(list(passages)):
        document = _document(passages[sentence.passage])
        named = (e for e in entities(sentence.text) if e.kind.startswith("name"))
        subject = next((e.text for e in named if " " in e.text or e.start > 0), None)
        if subject and document not in found:
            asked = f"What is known about {subject}? Answer in several sentences."
            found[document] = _question("about", asked, sentence.passage, (), sentence.text)
    return list({question.question: question for question in found.values()}.values())


def _document(passage: Passage) -> str:
    """What names the passage's document: the path in its id, for a file; else its title or id."""
    name = passage.id or ""
    return name.rpartition("#")[0] or passage.title or name


def _made(sentence: Sentence, common: frozenset[str]) -> MadeQuestion | None:
    text = sentence.text
    facts = [e for e in entities(text, common=common) if e.kind != "name-adjective"]
    if not facts:
        return None
    # A number or date is the most reliable answer, next a name at the beginning of a sentence.
    fact = min(facts, key=lambda e: (e.kind.startswith("name"), e.start))
    asked = _when(text, fact) or _how_many(text, fact) or _who(text, fact)
    kind: Kind = "fact" if asked else "gap"
    gap = f"{text[: fact.start]}{GAP}{text[fact.end :]}"
    asked = asked or f"Fill in what is missing and repeat the sentence: {gap}"
    if holds(asked, [texts(fact.text)]):
        return None  # the question contains its own answer
    return _question(kind, asked, sentence.passage, (fact.text,), text)


def _when(text: str, fact: Entity) -> str | None:
    """From ``The bridge was opened in 1912.`` to ``When was the bridge opened?``."""
    if not fact.kind.startswith(("date", "year")) or text[fact.end :].strip(" .,"):
        return None
    before = re.fullmatch(r"([^,]+) (?:in|on)(?: the year)? ?", text[: fact.start])
    return _inverted("When", before[1]) if before else None


def _how_many(text: str, fact: Entity) -> str | None:
    """From ``12 monks lived there.`` to ``How many monks lived there?``."""
    rest = text[fact.end :].strip().rstrip(".")
    counted = fact.start == 0 and fact.kind.startswith(("number", "count"))
    plural = re.match(r"[a-z]+s\b", rest)
    return f"How many {rest}?" if counted and plural else None


def _who(text: str, fact: Entity) -> str | None:
    """From ``Edmund Hillary climbed it.`` to ``Who or what climbed it?``."""
    rest = text[fact.end :].strip().rstrip(".")
    verb = rest.partition(" ")[0]
    opens = fact.start == 0 and fact.kind.startswith("name")
    # A single word may be an adjective ("Sedimentary rocks"); before an auxiliary it is a name.
    joins = not verb.islower() or verb in ("and", "or", "of", "are", "were", "have")
    named = len(fact.text.split()) > 1 or verb in FINITE_AUXILIARIES
    return f"Who or what {rest}?" if opens and named and not joins else None


def _inverted(word: str, statement: str) -> str | None:
    """Swap subject and first auxiliary; None if the verb is not an auxiliary."""
    parts = statement.split()
    for at, part in enumerate(parts[1:], start=1):
        if part in FINITE_AUXILIARIES:
            subject = " ".join(parts[:at])
            if subject.split()[0] in ("The", "A", "An", "Its", "Their", "Both", "All"):
                subject = subject[0].lower() + subject[1:]
            return " ".join([word, part, subject, *parts[at + 1 :]]) + "?"
    return None


def _question(
    kind: Kind, asked: str, passage: int | None, answers: tuple[str, ...], sentence: str
) -> MadeQuestion:
    return MadeQuestion(digest(0, kind, asked)[:12], asked, kind, passage, answers, sentence)
