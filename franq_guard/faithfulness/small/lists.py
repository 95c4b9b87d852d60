"""Writes the words before a list into its items, and "Pool: no" as a denial.

Under "Do not:" the item "- mix it with bleach" says the opposite of what is meant, so both are read
as one sentence. That the "no" of "Breakfast included: no" denies, the network did not learn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from franq_guard.basics.words import word_set
from franq_guard.faithfulness.small.replies import VERBS, denial
from franq_guard.faithfulness.small.rewritten import Change
from franq_guard.records import Span

__all__ = ["denied_entries", "led_items"]

_ITEM: Final = r"[^\S\n]*(?:[-*+•‣▪–]|\d{1,2}[.)])[^\S\n]+"
_LIST: Final = re.compile(
    rf"^(?![^\S\n]*[#|>])[^\S\n]*(?P<lead>[^\n|]{{0,300}}:)[*_]{{0,2}}[^\S\n]*\n(?:[^\S\n]*\n)?"
    rf"(?P<items>(?:{_ITEM}[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)
_HEADED: Final = re.compile(
    r"^(?:#{1,6}[^\S\n]+)?[*_]{0,2}(?:(?:(?:What|Things|Items|Services)(?:['’]s| is| are)? )?"
    r"(?P<said>not \w+(?: \w+){0,3})|(?P<order>do not|don['’]t|never))[*_]{0,2}[^\S\n]*\n"
    rf"(?:[^\S\n]*\n)?(?P<items>(?:{_ITEM}[^\n]+(?:\n|\Z))+)",
    re.MULTILINE | re.IGNORECASE,
)
"""A list under a heading that denies: "What is not covered", "Not included", "Do not"."""
_ENTRY: Final = re.compile(rf"^{_ITEM}(?P<item>[^\n]*\w[^\n]*)", re.MULTILINE)
_LEAD: Final = re.compile(r"(?:[^.!?:;]|\.(?=\w)){1,100}:\Z")
"""The last clause before the list."""
_MARKS: Final = re.compile(r"\A(?:[-*+•\s]|\d{1,2}[.)]\s)+|[*_`]")
_DENIED: Final = re.compile(
    rf"^(?:{_ITEM}|[^\S\n]*+)[*_]{{0,2}}(?P<key>[A-Za-z][^:\n.?!|]{{1,60}})(?<! ):[*_]{{0,2}}"
    r"[^\S\n]+[*_]{0,2}(?:no|none)[*_]{0,2}\.?[^\S\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
_REPLY: Final = word_set("answer reply response")
"""With these words a line replies to a question, and is no entry."""
_TOLD: Final = re.compile(r"(?:ed|able|ible|open|possible|free|valid|safe)\Z")
"""How the last word of an entry ends if the entry is said of its first words."""


def led_items(text: str) -> Iterator[Change]:
    """Find the items of each list of a text that a line ending with ":" or a denial leads in.

    Its words are read before each item, those that begin with "not" behind it: "Breakfast not
    included".
    """
    for found in _LIST.finditer(text):
        lead = _LEAD.search(_MARKS.sub("", found["lead"]))
        if lead:
            yield from _led(text, found.span("items"), lead.group().strip())
    for found in _HEADED.finditer(text):
        yield from _led(text, found.span("items"), f"{found['said'] or found['order']}:")


def _led(text: str, items: Span, lead: str) -> Iterator[Change]:
    if not lead[:1].isalpha():
        return
    for item in _ENTRY.finditer(text, *items):
        start, end = item.span("item")
        if lead.lower().startswith("not "):
            yield (end, end), f" {lead[:-1].lower()}"
        elif not item["item"].rstrip().endswith(":"):
            yield (start, start), f"{lead} "


def denied_entries(text: str) -> Iterator[Change]:
    """Find the lines of a text that are an entry with the value "no" or "none"."""
    for found in _DENIED.finditer(text):
        *first, last = words = found["key"].split()
        if last.lower() in _REPLY:
            continue
        if len(words) > 2 and words[0].lower() in VERBS:
            said = denial(words[0].lower(), words[1:])
        elif first and _TOLD.search(last.lower()):
            said = f"{' '.join(first)} not {last}."
        else:
            said = f"No {' '.join(words)}."
        yield found.span(), said
