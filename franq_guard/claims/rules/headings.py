"""Which headings and header rows state something: "## Answer: 9 minutes"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.basics.words import word_set
from franq_guard.claims.blocks import SIGNED, Block, title_words
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.bare_answers import is_value, lone
from franq_guard.claims.rules.context import Reader
from franq_guard.claims.rules.finite_verb import find_verb, subject_start
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.nonclaims import has_verb, reason
from franq_guard.claims.rules.render import plain
from franq_guard.claims.rules.verbs import BASE_FORMS, PLAIN_BASE_FORMS, is_participle
from franq_guard.records import Span

_ANSWER = re.compile(r"(?:(?:the|short|final|direct|quick|my) )*answer\s*:\s*\w", re.I)
_AWAITS = re.compile(r"\b(?:is|was|by|in|on|at|called|named|to|of|from)\s*:$")
"""A lead-in that is no clause without what follows: "The designer is:"."""
_NO_START = w.RELATIVES | w.SUBORDINATORS | w.COORDINATORS | w.AUXILIARIES | word_set("how why")
_PRONOUNS = word_set("i you we they he she it")
_TITLE_VERB = re.compile(r"(?<=\w )(?:Is|Are|Was|Were|Has)\b")
_APART = frozenset(";&/–—")
_MARKS = " \t*_#:\"'“”"
_FEWEST_WORDS = 4
_VALUE = (
    r"[~≈<>±]?\s*(?:[$€£¥]\s?\d[\d.,]*(?: (?:thousand|million|billion))?"
    r"|(?!(?:1[5-9]|20)\d\d\b)\d[\d.,]*\s?(?:%|°?[^\W\d_]{1,12}\d?)(?:/\w{1,5})?"
    r"|\d{1,2} [A-Z][a-z]{2,8} \d{4})"
)
"""An amount with its unit, or a whole date; a year or a number alone may name a column."""
_HEADER_VALUE = re.compile(rf"{_VALUE}$")
_STATED_VALUE = re.compile(
    r"(?:(?:about|approximately|around|up to|over|under|at least|from|only) )?"
    rf"(?:\d[\d.,]*\s?(?:[–-]|to)\s?)?(?:{_VALUE}(?: {_VALUE})?(?:(?: (?:per|an?|each) |/)\w+)?"
    r"|(?!(?:1[5-9]|20)\d\d\b)\d[\d.,]*)[.!]?$",
    re.I,
)
_NUMBERING = re.compile(r"\d{1,2}[.)]\s+")
_STEP = re.compile(
    r"(?:(?P<named>step )\d{1,2}(?: ?[:)–—]| -)|\d{1,2}(?: ?[:)–—]| -|\.))[*_]*\s+", re.I
)
"""What is before the title of a step: "Step 1: Heat the water", "2) Heat the water"."""
IN_UNITS = re.compile(
    r"\d(?:\s?(?:°\s?[CFK]?|%|[kmc]?[gml]|min|sec|hours?|minutes?|seconds?|days?|weeks?|bar|psi"
    r"|k?[WVA]|[kMG]?Hz|lit(?:re|er)s?|(?:kilo|milli|centi)?(?:met(?:re|er)|gram)s?|inch(?:es)?"
    r"|degrees?|cups?|tbsp|tsp|oz|lbs?)(?![^\W_])|°)"
    r"|[$€£¥]\s?\d"
)
"""An amount that surely is one; "1. Visit the 12 Apostles" has none."""
_KEY = re.compile(r"(?P<key>[^\W\d_][^:]{0,40}):\s+(?P<value>\S.*)")
_MEASURED = (
    "(?i:capacity|weight|mass|length|height|width|depth|diameter|thickness|distance|area|volume"
    "|speed|power|voltage|pressure|temperature|range|price|cost|fee|rent|salary|budget|duration"
    "|battery life|warranty|storage|memory)"
)
_AMOUNT = rf"{_VALUE}(?: {_VALUE})?(?:(?: (?:per|an?|each) |/)\w+)?"
_AMOUNT_AT_END = re.compile(
    rf"[^\W\d_][^:()–—]{{0,40}}(?: [–—-] (?P<after_dash>{_AMOUNT})| \((?P<in_brackets>{_AMOUNT})\))"
    rf"|(?:[^\W\d_][^:()–—]{{0,40}} )?{_MEASURED} (?P<measured>{_AMOUNT})"
)
"""A heading with an amount of what it names: "Pro – $9/month", "Pro ($9)", "Weight 9 kg"."""
_NO_TITLE = (
    (w.DETERMINERS - w.POSSESSIVES - word_set("a an the"))
    | (w.PREPOSITIONS - {"about"})
    | word_set("free not only open closed there")
)
"""What begins a line that says something without a verb: "No pets", "Near the beach"."""
_ANNOUNCES = re.compile(r"\W*(?:here|below)\b", re.I)
_COUNTED = word_set(
    "question exercise problem example step part chapter section day level phase case figure table"
    " lesson unit module week year season episode scene act round stage option answer task test"
    " article item rule tip fact reason point method lecture volume book"
)
"""With a number behind it, each is the name of a part: "Step: 3"."""


def title(text: str, found: Sequence[Block], k: int, reader: Reader) -> Span | None:
    """The words of block ``k`` if it is a title by what is around it; else None.

    It is a line of its own behind an emoji ("📌 Key facts"), or a bold item above items of its own,
    without a verb, number or mark. Lines below each other that begin with an emoji are a list,
    whose entries say something ("🚗 Free parking"); so is the item of a list that a sentence leads
    to ("The causes are:").
    """
    span = title_words(text, found[k])
    if span is None or k + 1 == len(found):
        return None
    if SIGNED.match(text, _begin(found[k])):
        is_title = _is_alone(text, found, k)
    else:
        is_title = _holds(found[k], found[k + 1]) and not _is_led_to(reader)
    return span if is_title and not _says_something(text[slice(*span)]) else None


def names_its_items(text: str, found: Sequence[Block], k: int) -> bool:
    """Whether block ``k`` is a bold item with a list of its own: "- **Plan B**"."""
    if k + 1 == len(found) or title_words(text, found[k]) != (found[k].start, found[k].end):
        return False
    return found[k + 1].kind == "item" and _holds(found[k], found[k + 1])


def _is_alone(text: str, found: Sequence[Block], k: int) -> bool:
    """Whether the line has its like neither above nor below, and something below it."""
    block, below = found[k], found[k + 1]
    if k and (title_words(text, found[k - 1]) or not _begins_part(found[k - 1], block)):
        return False
    sign, sign_below = _begin(block), _begin(below)
    is_like = SIGNED.match(text, sign_below) and (
        below.kind != "item" or text[sign_below] == text[sign]
    )
    return not is_like and below.kind != "heading"


def _begins_part(above: Block, block: Block) -> bool:
    return block.after_blank or above.kind == "heading"


def _holds(item: Block, below: Block) -> bool:
    """Whether what is below an item is a part of it: a deeper list, or its own paragraph."""
    if below.kind != "item":
        return below.kind == "paragraph" and not below.after_blank
    is_deeper = below.indent > item.indent
    return is_deeper or (below.indent == item.indent and item.numbered and not below.numbered)


def _is_led_to(reader: Reader) -> bool:
    """Whether the items go on what a sentence above says: "The causes are:"."""
    lead = reader.above if reader.above.endswith(":") else reader.lead
    return bool(lead) and not _ANNOUNCES.match(lead)


def _begin(block: Block) -> int:
    return block.marker[0] if block.kind == "item" else block.start


def _says_something(title: str) -> bool:
    words = lex(plain(title))
    first = words[0].low
    if first in _NO_TITLE or (first in PLAIN_BASE_FORMS and len(words) > 1):
        return True
    return has_verb(plain(title)) or any(is_participle(x.low) for x in words)


def heading_states(text: str, before: str, *, is_last: bool, is_first: bool) -> bool:
    """Whether a heading or bold line surely states something.

    Args:
        text: the heading.
        before: the sentence before it, or empty.
        is_last: whether nothing follows it.
        is_first: whether nothing before it states anything.
    """
    text = plain(text).strip(_MARKS)
    if reason(text) is not None:
        return False
    if lone(text) and not is_value(text):
        return True
    if _ANSWER.match(text) or has_value(text) or _is_sentence(text) or states_step(text):
        return True
    if before.endswith(":"):
        return is_last or _AWAITS.search(before) is not None
    return is_last and is_first


def has_value(heading: str) -> bool:
    """Whether a heading or bold line states an amount or a date: "Price: €9"."""
    text = _NUMBERING.sub("", plain(heading).strip(_MARKS))
    named = _KEY.fullmatch(text)
    if named is not None:
        is_part = named["key"].split()[-1].lower() in _COUNTED
        return not is_part and _STATED_VALUE.match(named["value"]) is not None
    measured = _AMOUNT_AT_END.fullmatch(text)
    if measured is None or _begins_title(lex(text)[0]):
        return False
    return IN_UNITS.search(measured[measured.lastgroup or 0]) is not None


def states_step(heading: str) -> bool:
    """Whether a heading says what to do, how much or how long: "Step 1: Heat it to 90 °C".

    Without an amount it only names what the text below describes: "Step 1: Heat the water".
    """
    text = plain(heading).strip(_MARKS)
    step = _STEP.match(text)
    if step is None:
        return False
    title = text[step.end() :]
    amount = re.search(_VALUE, title) if step["named"] else IN_UNITS.search(title)
    return amount is not None and (_orders(title) or has_clause(title))


def _orders(title: str) -> bool:
    """Whether it begins with an imperative: "Add 3 eggs", not "Heat pumps"."""
    first, *rest = lex(title)[:3]
    low = first.low
    if low in PLAIN_BASE_FORMS:
        return bool(rest)
    if low not in BASE_FORMS or not rest:
        return False
    return rest[0].low in w.DETERMINERS | {"it", "them"} or rest[0].is_number


def _is_sentence(text: str) -> bool:
    """Whether it has a subject and a verb, not only a noun with a relative clause."""
    text = text.rpartition(":")[2]
    text = _TITLE_VERB.sub(lambda verb: verb.group().lower(), text)
    return has_clause(text, or_is_long=text.endswith("."))


def has_clause(text: str, *, or_is_long: bool = False) -> bool:
    """Whether it surely is a clause: a subject and a finite verb.

    ``or_is_long``: or several words without a verb that is found.
    """
    words = lex(text)
    if not words or _begins_title(words[0]):
        return False
    start = subject_start(words)
    verb = find_verb(words, start, len(words))
    if verb is None or (verb == start and words[verb].low not in w.PRONOUN_VERBS):
        return or_is_long and sum(x.is_word for x in words) >= _FEWEST_WORDS
    subject = words[start:verb]
    apart = any(x.text in _APART for x in subject) or sum(x.is_comma for x in subject) % 2
    # "Red & refined colours", "Things you should know"
    return not apart and not any(x.low in _PRONOUNS for x in subject[1:])


def _begins_title(word: Word) -> bool:
    return word.low in _NO_START or word.low.endswith(("ing", "'s"))


def header_states(cells: list[str]) -> bool:
    """Whether the header row of a table is a fact: "Boiling time | 9 minutes", or a sentence."""
    if any(cell.endswith(".") and has_clause(cell[:-1]) for cell in cells):
        return True
    return len(cells) == 2 and cells[0][:1].isalpha() and _HEADER_VALUE.match(cells[1]) is not None
