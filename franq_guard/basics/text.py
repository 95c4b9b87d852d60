"""Text in the form that tokenisers and sentence splitters accept."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, as U+FFFD; of the same length."""
    return _SURROGATES.sub("\ufffd", text)


def filled(template: str, **values: str) -> str:
    """The template with its ``{name}`` fields filled in one pass; other braces (JSON) are kept."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda field: values[field.group(1)], template)
