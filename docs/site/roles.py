"""The docstrings' names of classes and methods as plain code, for the pages of the API.

The docstrings write ``:class:`~package.module.Name```, which Markdown does not know.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|meth|func|mod|attr|data):`~?\.?([^`]+)`")


def plain(text: str) -> str:
    """The text with each role replaced by the last part of its name, as code."""
    return ROLE.sub(lambda role: f"`{role[1].rpartition('.')[2]}`", text)


class Roles(Extension):
    """Changes docstrings as they are read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Make the docstring of ``obj`` plain Markdown."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)
