r"""Reads what PDFs, pages and editors leave in a text, so that its words are those that one sees.

Who compares words takes a ligature ("e\ufb03cient"), soft hyphens ("in\u00adfor\u00admation"), an
accent by itself ("cafe\u0301"), a sign that HTML spells ("&#36;40") and a word cut at the end of a
line ("infor-\nmation") for others.
And who takes a line for a sentence reads halves of one where lines are broken to fit a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import Final
from unicodedata import normalize

from franq_guard.faithfulness.small.html import without_markup
from franq_guard.faithfulness.small.rewritten import Rewritten, rewritten
from franq_guard.faithfulness.small.signs import in_words
from franq_guard.records import Span

__all__ = ["as_seen", "plain"]

_UNSEEN: Final = "\u00ad\u200b\u200c\u2060\ufeff"  # soft hyphen, zero width, byte order mark
_ODD: Final = re.compile(
    r"(?P<cut>(?<=[^\W\d_A-Z])-[^\S\n]*+\n[^\S\n]*+(?=[a-zß-ÿ])(?!(?:and|or|to)\b)"
    "|\u00ad[^\\S\n]*+\n[^\\S\n]*+(?=\\w))"
    f"|(?P<unseen>[{_UNSEEN}]+)"
    r"|(?P<entity>&(?!(?i:lt|gt|#60|#62|#x3c|#x3e);)"  # "&lt;b&gt;" is a tag that is shown
    r"(?:#\d{1,6}|#[xX][\da-fA-F]{1,5}|[A-Za-z][A-Za-z\d]{1,30});|(?<=[\s\d])&[lg]t;(?=[\s\d=]))"
    "|(?P<ligature>[\ufb00-\ufb06])"
    "|(?P<accent>\\w[\u0300-\u036f]{1,9})"
    r"|(?P<break>(?<=[\w,;)\]%\"'’]) ?\r?\n *+(?=[^\W_]|\([a-z]))"
)
_FULL: Final = 40
"""A shorter line was not broken to fit a page: it is an item, a heading or an entry."""
_HANGING: Final = 8
"""A line that is set in by so many blanks more goes on: "--force    overwrite" has one below it."""
_OPEN: Final = (
    "a an and are as at by for from in is its of on or that the their to was were which with"
)
_GOES_ON: Final = re.compile(rf"(?:,|\b(?:{'|'.join(_OPEN.split())}))$")
"""The end of a line that no sentence ends with."""
_CELLS: Final = re.compile(r"[\t|]")
_ENTRY: Final = re.compile(r"[\w -]{1,40}:\s|[\w.]{1,3}[.)]\s|o\s")
"""How an entry or item of a list begins: "price: 4 euros", "b) bread"."""


@lru_cache(maxsize=256)
def plain(text: str) -> Rewritten:
    """Return a text without characters that nobody sees, with whole words and whole letters.

    A text of nothing else stays as it is. Signs of a value are in words and digits
    (:func:`.signs.in_words`).
    """
    if not _ODD.search(text):
        return in_words(Rewritten(text))
    found = rewritten(text, _changes(text))
    return in_words(found if found.text.strip() else Rewritten(text))


def as_seen(text: str) -> str:
    """Return what a reader sees of a passage: plain text, and nothing of a page's markup."""
    return without_markup(plain(text).text)


def _changes(text: str) -> Iterator[tuple[Span, str]]:
    for match in _ODD.finditer(text):
        odd = match.group()
        if match["ligature"]:
            yield match.span(), normalize("NFKC", odd)
        elif match["accent"]:
            if (whole := normalize("NFC", odd)) != odd:
                yield match.span(), whole
        elif match["entity"]:
            if (sign := unescape(odd)) != odd:
                yield match.span(), " " if sign.isspace() else sign.strip(_UNSEEN)
        elif match["break"]:
            if _broken(text, *match.span()):
                yield match.span(), " "
        else:
            yield match.span(), ""


def _broken(text: str, start: int, end: int) -> bool:
    """Whether a sentence goes on behind the line break there: the line is full and has no end."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    next_break = text.find("\n", end)
    following = text[end : next_break if next_break >= 0 else len(text)]
    deeper = end - text.index("\n", start) - 1 - (len(line) - len(line.lstrip(" ")))
    goes_on = text[end].islower() or text[end] == "(" or bool(_GOES_ON.search(line))
    return (
        len(line) >= _FULL
        and goes_on
        and (deeper <= 0 or deeper >= _HANGING)
        and not _CELLS.search(line.strip() + following)
        and not _ENTRY.match(following)
    )
