r"""Reads what PDFs, pages and editors leave in a text, so that its words are those that one sees.

Who compares words takes a ligature ("e\ufb03cient"), soft hyphens ("in\u00adfor\u00admation"), an
accent by itself ("cafe\u0301") and a word cut at the end of a line ("infor-\nmation") for others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from unicodedata import normalize

from franq_guard.faithfulness.small.html import without_markup
from franq_guard.faithfulness.small.rewritten import Rewritten, rewritten
from franq_guard.records import Span

__all__ = ["as_seen", "plain"]

_ODD: Final = re.compile(
    r"(?P<cut>(?<=[^\W\d_A-Z])-[^\S\n]*+\n[^\S\n]*+(?=[a-zß-ÿ])(?!(?:and|or|to)\b)"
    "|\u00ad[^\\S\n]*+\n[^\\S\n]*+(?=\\w))"
    "|(?P<unseen>[\u00ad\u200b\u200c\u2060\ufeff]+)"  # soft hyphen, zero width, byte order mark
    "|(?P<ligature>[\ufb00-\ufb06])"
    "|(?P<accent>\\w[\u0300-\u036f]{1,9})"
)


@lru_cache(maxsize=256)
def plain(text: str) -> Rewritten:
    """Return a text without characters that nobody sees, with whole words and whole letters.

    A text of nothing else stays as it is.
    """
    if not _ODD.search(text):
        return Rewritten(text)
    found = rewritten(text, _changes(text))
    return found if found.text.strip() else Rewritten(text)


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
        else:
            yield match.span(), ""
