"""Text of unknown origin, made safe to show."""

from __future__ import annotations

import re
from html import escape

# C0 and C1 controls but tab, line feed and the carriage return before one; halves of UTF-16 pairs.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")


def shown(text: str) -> str:
    """``text`` safe to print: what could steer a terminal or not be encoded becomes U+FFFD."""
    return _UNSHOWABLE.sub("\ufffd", text)


def safe(text: str) -> str:
    """``text`` as text in HTML, without markup; fit for elements and quoted attributes."""
    return escape(text, quote=True)
