"""Sentences inside quotation marks, brackets or inline code, where `sentencex` never cuts.

'The manual says: "It is red. It boils in 4 minutes."' is one sentence of the answer, but it states
two things. The first enclosed sentence stays with the words outside and with both marks; each later
one is a sentence of its own, so what is left after it was removed has its marks in pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.rules.citations import TAKEN_OUT
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.claims.sentences import sentences
from franq_guard.claims.spans import merged, subtract
from franq_guard.records import Span

_STRETCH = re.compile(
    r"(?<!\w)\"(?P<straight>[^\"]+)\""
    r"|“(?P<curly>[^“”]+)”|„(?P<low>[^„“”]+)[“”]|«(?P<angle>[^«»]+)»"
    r"|(?<!\w)‘(?P<high>[^‘]+?)’(?!\w)"
    r"|(?<!\w)'(?P<single>[^\n]{1,2000}?[.!?…])'(?!\w)"
    r"|\((?P<round>(?:[^()]|\([^()]*\))+)\)|\[(?P<square>[^\[\]]+)\](?!\()"
    r"|(?P<fence>`{1,8}+)(?P<code>[^`]+)(?P=fence)"
)
_ENDED = re.compile(r"[.!?…。！？][^\w.!?…。！？]*$")
_FEWEST_WORDS = 3


def enclosed(text: str, start: int, end: int, *, language: str = "en") -> list[Span]:
    """The sentences inside the sentence ``text[start:end]`` that are cut from it, in order.

    Marks within marks are read too: a span may hold later ones. Blanks before a span are in none.
    """
    found: list[Span] = []
    for stretch in _STRETCH.finditer(text, start, end):
        name = stretch.lastgroup
        if name is None:
            continue
        parts = statements(text, *stretch.span(name), language=language)
        first = (stretch.start(name), parts[0][1]) if parts else stretch.span(name)
        if first[0] > start or first[1] < end:
            found += enclosed(text, *first, language=language)
        for part in parts[1:]:
            found += [part, *enclosed(text, *part, language=language)]
    return found


def statements(text: str, start: int, end: int, *, language: str = "en") -> list[Span]:
    """The sentences of ``text[start:end]``; one that may be no sentence goes with the one before.

    A title with a full stop in it ("Dr. No. Part Two") stays in one piece.
    """
    found: list[Span] = []
    for span in sentences(text, start, end, language=language):
        if found and not (_ENDED.search(text[slice(*found[-1])]) and _may_state(text, span)):
            found[-1] = (found[-1][0], span[1])
        else:
            found.append(span)
    return found


def _may_state(text: str, span: Span) -> bool:
    """Whether there is a verb, or most words are written small, which in a title they are not."""
    if text[span[0]] in "=<>":
        return False  # "4! = 24"
    words = [x for x in lex(text, *span) if x.is_word]
    spelled = [x for x in words if not x.is_number]
    small = sum(not x.is_name and x.low.isascii() for x in spelled)  # phonetic script is no prose
    if len(words) >= _FEWEST_WORDS and 2 * small > len(spelled):
        return True
    return find_verb(words, 0, len(words), loose=True) is not None


def around(text: str, part: Span, parts: Sequence[Span]) -> list[Span]:
    """Those of ``parts`` inside ``part``, each with the blanks before it, ordered and apart."""
    inside = (x for x in parts if part[0] <= x[0] and x[1] <= part[1] and x != part)
    return merged((part[0] + len(text[part[0] : a].rstrip()), b) for a, b in inside)


def hide(text: str, hidden: Sequence[Span]) -> str:
    """``text`` with the characters of ``hidden`` (ordered) replaced by what counts as a blank."""
    parts, at = [], 0
    for start, end in hidden:
        parts += [text[at:start], TAKEN_OUT * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def shown(text: str, part: Span, hidden: Sequence[Span]) -> str:
    """``text[slice(*part)]`` without what is ``hidden``."""
    return "".join(text[a:b] for a, b in subtract((part,), hidden))
