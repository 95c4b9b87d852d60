"""Makes text of unknown origin safe to show."""

from __future__ import annotations

import re
from html import escape

# C0 and C1 controls except tab, line feed and CR before LF; lone UTF-16 surrogates.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\r(?!\n)")


def shown(text: str) -> str:
    """``text`` safe to print: control codes and unencodable characters become U+FFFD."""
    return _UNSHOWABLE.sub("\ufffd", text)


def safe(text: str) -> str:
    """``text`` as text in HTML, without markup; fit for elements and quoted attributes."""
    return escape(text, quote=True)
