"""Whether a sentence needs what stands in brackets, and so cites nothing: "It holds [9] l."."""

from __future__ import annotations

import re

from franq_guard.basics.text import CITATION_MARK
from franq_guard.basics.words import word_set
from franq_guard.claims.rules import verbs as v
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.lexer import lex
from franq_guard.records import Span

__all__ = ["NEEDS_MORE", "REPORTED", "is_needed", "needs_bracket"]

_NOTES = re.compile(
    r"(?:(?:important |editor['’]s |author['’]s |please )?note|nb|n\.b\.|warning|caution|important"
    r"|danger|update|correction|edit|reminder|tip|hint|info|disclaimer|remark|comment|fact)"
    r"\b[^:]{0,20}:\s",
    re.I,
)
"""How a note begins that a model adds in brackets."""
_CAPTION = re.compile(r"(?:figure|fig\.|table|image|photo|caption)(?: \d{1,3})?: ", re.I)
_POLICY_MARK = re.compile(CITATION_MARK)
_WORD_BEFORE = re.compile(r"([^\W\d_][\w'’-]*) $")
_WORD_AFTER = re.compile(r" ([a-z][\w'’-]*)")
REPORTED = re.compile(
    r"\b(?:according to|as (?:in|per)|per|(?:see|stated|said|described|reported|mentioned|noted"
    r"|shown|found|given|listed|discussed|explained|cited) (?:in|at|from)) $",
    re.IGNORECASE,
)
"""What leads to a source, which the bracket then names: "as stated in [2]"."""
_STRANDED = word_set("in on up off over out down for with by from to through about")
"""They may end a clause: "the town he came from [2]"."""
NEEDS_MORE = w.PREPOSITIONS | w.DETERMINERS | w.BE | w.NAMING
"""Words after which a clause is not complete: "It was made by", "It is a"."""
_BEGIN = w.DETERMINERS | w.SUBJECT_PRONOUNS  # a clause
_NO_NOUNS = (
    w.PREPOSITIONS | w.COORDINATORS | w.CONTRASTS | w.SUBORDINATORS | w.RELATIVES | w.AUXILIARIES
    | w.ADVERBS | w.DETERMINERS | w.SUBJECT_PRONOUNS
)  # fmt: skip


def is_needed(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence is incomplete without the bracket: "It was made by [Ann Lee]."."""
    if _POLICY_MARK.fullmatch(match.group()):
        return False
    source = match["source"] or match["noted"]
    if source:
        return _is_sentence(source)  # "(Source: It holds 9 litres.)"
    title = match["title"]
    if not (match["numbers"] or match["id"] or title) or text[match.start() + 1] == "^":
        return False
    if title and _is_no_title(title):
        return True
    return needs_bracket(text, match.span(), is_title=bool(title), is_number=bool(match["numbers"]))


def needs_bracket(text: str, span: Span, *, is_title: bool = False, is_number: bool = True) -> bool:
    """Whether the words around a bracket need it: "It holds [9] litres.", "for [9](https://...)"."""
    start, end = span
    before = _WORD_BEFORE.search(text, max(0, start - 40), start)
    if before is None or REPORTED.search(text, max(0, start - 40), start):
        return False
    low = before[1].lower()
    after = None if is_title else _WORD_AFTER.match(text, end)
    if after is not None:
        return _is_amount(low, after[1])
    return low in NEEDS_MORE and not (is_number and low in _STRANDED)


def _is_no_title(words: str) -> bool:
    """Whether they say something: "[Note: It is red.]", "[in 1990]", "[but 5 kg with water]"."""
    if words.split()[0] in w.PREPOSITIONS | w.COORDINATORS | w.RELATIVES or _NOTES.match(words):
        return True
    return _is_sentence(_CAPTION.sub("", words))


def _is_sentence(words: str) -> bool:
    """Whether they surely are a sentence, by a full stop or number and by how they begin."""
    ends = words.endswith((".", "!"))
    if not (ends or any(character.isdigit() for character in words)):
        return False
    read = lex(words)
    # "London Gazette, dated 21 June, published 1859." has none of these words.
    sure = read and (read[0].low in _BEGIN or (ends and any(x.low in w.AUXILIARIES for x in read)))
    return bool(sure) and find_verb(read, 0, len(read)) is not None


def _is_amount(before: str, after: str) -> bool:
    """Whether a number between these words counts the second: "holds [9] litres"."""
    if after in _NO_NOUNS or after.endswith("ly"):
        return False
    if before in v.PLURAL_NOUN_TOO and after in v.FINITE_FORMS:  # "The costs [9] rose"
        return False
    return before in NEEDS_MORE or before in v.FINITE_FORMS or before in w.AUXILIARIES
