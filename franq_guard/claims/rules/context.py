"""What is needed to understand a claim: who "she" is, the heading, the lead-in of a list."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from franq_guard.claims.blocks import Block
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.clause import Clause
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.rules.list_doubts import COUNTS
from franq_guard.claims.rules.mentions import Mentions
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.render import plain, render
from franq_guard.records import Claim

_STEPS = re.compile(
    r"\b(?:steps|instructions)(?: below)?$|\b(?:follow|do) (?:this|these|the following)\b"
    r"|^(?:how )?to\b[^,]*$|^steps\b",
    re.I,
)
"""A lead-in of steps, which are no part of its sentence: "To clean it, follow these steps"."""
_DENIES = re.compile(
    r"\b(?:following|these|those|below|statements?|claims?|beliefs?|answers?|options?)\b[^.]* "
    r"(?:is|are|was|were) (?:(?!not\b)\w+ ){0,2}(?:false|wrong|incorrect|untrue|inaccurate|myths?"
    r"|misconceptions?|not (?:\w+ )?(?:true|correct|accurate))$"
    r"|^(?:\d+\W+)?(?:(?!(?:no|not|without|real|true)\b)[\w-]+ ){0,4}(?:myths|misconceptions"
    r"|(?:false|wrong|incorrect|untrue|inaccurate) (?:statements|claims|beliefs|answers|options))"
    r"(?: (?:about|on|of|regarding|concerning|include|are)\b.*)?$"
    r"|^none of\b.* (?:is|are) (?:true|correct|accurate)$"
    r"|\b(?:it is|it's|it was) (?:not (?:true|correct)|false|wrong|incorrect|untrue) that$",
    re.I,
)
"""A lead-in or heading of a list of what is not so: "The following claims are false"."""
_SIGNS_OFF = re.compile(
    r"\W*(?:(?:best|kind|warm|with best|with kind) )?(?:regards|wishes|sincerely|yours"
    r"(?: sincerely| faithfully| truly)?|cheers),",
    re.I,
)
_SIGNATURE = re.compile(r"\W*[A-Z](?:[^\W\d_]|['’.-])*(?:[ &]+(?:[^\W\d_]|['’.-])+){0,4}\W*")
"""Who writes, or in which office: a line of few words without a number or mark."""
_CLOSERS = " \t\n.:;,*_"
DENIAL = "It is not true that "
"""How the claim of an item in such a list begins."""
_LONGEST = 1000
"""A longer lead-in or heading is no context of what follows: each item would be read with it."""

_Level = tuple[int, bool]
"""How far an item is indented, and whether it has a number."""


class _Lead(NamedTuple):
    """What introduces a list: the level of the item that it is, if any, and of the list's items."""

    text: str
    level: _Level | None
    items: _Level

    def holds_for(self, level: _Level) -> bool:
        """Whether an item of that level is in the list, or in one inside it."""
        if self.level is None or self.level == self.items:
            return True
        return level[0] > self.level[0] or (level[0] == self.level[0] and level != self.level)


class Reader:
    """Reads an answer from top to bottom and remembers what later claims may refer to.

    Attributes:
        before: the sentence that was read last in the same paragraph or list item, or "".
        above: the sentence that was read last, if no heading followed it, or "".
        question: that is answered, or "".
        stated: whether anything read so far may be true or false.
    """

    def __init__(self, question: str) -> None:
        self.question = question.strip()
        self._heading = ""
        self._leads: list[_Lead] = []
        self._level: _Level | None = None
        self._last = ""
        self._goes_on = False
        self._mentions = Mentions(self.question)
        self.before = self.above = ""
        self.stated = self._signs_off = False

    @property
    def lead(self) -> str:
        """What says what the items of the list are ("It is waterproof:"), or ""."""
        return self._leads[-1].text if self._leads else ""

    @property
    def open_question(self) -> str:
        """The question that the next sentence surely answers, or "".

        That is the one before it, or the user's if nothing came before.
        """
        if plain(self.before).rstrip().endswith("?"):
            return self.before
        return "" if self._last or self._heading or self.stated else self.question

    def heading(self, text: str) -> None:
        """Read a heading, which applies to what follows."""
        self._heading = plain(text).strip(_CLOSERS) if len(text) <= _LONGEST else ""
        self._leads, self.above, self._level = [], "", None
        self._signs_off = False
        self._last = self._last.rstrip(":")  # it led to the heading, not to the list below that

    def leads_on(self) -> None:
        """Read the sentence that was read last as if it ended with a colon."""
        self._last = f"{self._last.rstrip(_CLOSERS)}:"

    def block(self, block: Block, *, ends_text: bool) -> None:
        """Begin a block; list items keep the sentence that introduced their list.

        ``ends_text``: nothing, not even a line break, follows it. Then the next text begins within
        this block, and its first block is no new one.
        """
        goes_on, self._goes_on = self._goes_on, ends_text
        if goes_on:
            return
        self.before = ""
        if self._last:
            self._mentions.paragraph()
        level = (block.indent, block.numbered) if block.kind == "item" else None
        self._leads = [lead for lead in self._leads if level and lead.holds_for(level)]
        if level and self._last.endswith(":") and len(self._last) <= _LONGEST:
            lead = _Lead(self._last.strip(_CLOSERS), self._level, level)
            self._leads = [*(x for x in self._leads if x[1:] != lead[1:]), lead]
            self._last = ""
        self._level = level

    def passed(self, sentence: str) -> None:
        """Read a sentence; a later pronoun may refer to its subject."""
        self._last, self.before = plain(sentence).strip(), sentence
        self.above, self.stated = self._last, self.stated or reason(sentence) is None
        signs_off = _SIGNS_OFF.fullmatch(self._last) is not None
        self._signs_off = signs_off or self.is_signature(sentence)
        self._mentions.passed(sentence)

    def is_signature(self, sentence: str) -> bool:
        """Whether the sentence is who writes, below "Best regards,"."""
        text = plain(sentence).strip()
        signs = self._signs_off and _SIGNATURE.fullmatch(text) is not None
        return signs and _is_fragment(text)

    def meant(self, answer: str, start: int, clause: Clause) -> tuple[str | None, str | None]:
        """What a clause of the sentence at ``start`` says, with a name instead of its pronoun.

        None if there is nothing to replace, or if the pronoun could mean more than one thing. And a
        note, "she: Ada Lovelace", where nothing else can be meant by the pronoun that is the
        subject. A later one mostly refers to a word of the claim itself: "Most players are taller
        than their teammates".
        """
        named, note = self._mentions.resolved(answer, start, clause)
        return (None if named is None else render(answer, named)), note

    def one_of_several(self, sentence: str) -> bool:
        """Whether it is an item, no sentence, of a list that says how many: "two topics:"."""
        counted = any(x.low in COUNTS or x.is_number for x in lex(self.lead))
        return counted and _is_fragment(sentence)

    def place(self, claim: Claim, note: str | None = None) -> Claim:
        """The claim with its context; for a list item that is no sentence, the list's lead-in.

        ``note``: whom or what the claim's pronoun means.
        """
        if self.lead and _is_fragment(claim.text) and not _STEPS.search(self.lead):
            return replace(claim, text=f"{self.lead}: {claim.text}", context=self._above() or None)
        if self._denies:
            full = claim.full and _denied(claim.full)
            claim = replace(claim, text=_denied(claim.text), full=full)
        notes = [note] if note else []
        if self.lead:
            notes.append(f"list: {self.lead}")
        notes.extend(filter(None, [self._above()]))
        if self.question and not notes and _is_fragment(claim.text):
            notes.append(f"question: {self.question}")
        return replace(claim, context="; ".join(notes) or None)

    @property
    def _denies(self) -> bool:
        """Whether this is the first sentence of an item in a list of what is not so."""
        above = self.lead or self._heading
        return bool(self._level and not self.before and _DENIES.search(above))

    def _above(self) -> str:
        return f"heading: {self._heading}" if self._heading else ""


def _denied(statement: str) -> str:
    first, blank, rest = statement.partition(" ")
    small = first.lower() in w.DETERMINERS | w.SUBJECT_PRONOUNS
    return f"{DENIAL}{first.lower() if small else first}{blank}{rest}"


def _is_fragment(text: str) -> bool:
    words = lex(text[:200])
    return find_verb(words, 0, len(words)) is None
