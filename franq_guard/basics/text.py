"""Text in the form that tokenisers and sentence splitters accept."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with every lone surrogate, which UTF-8 cannot hold, as U+FFFD; the length stays."""
    return _SURROGATES.sub("\ufffd", text)


def filled(template: str, **values: str) -> str:
    """The template with its ``{name}`` fields filled, in one pass (JSON braces in it stay)."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda field: values[field.group(1)], template)
