"""The rule of ``fields=``: which text fields of a structured answer are checked one by one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

ALL = "*"
"""Names every text."""


def check_fields(fields: Collection[str], stream: str) -> tuple[str, ...]:
    """``fields`` as given to a wrapper.

    Raises:
        ValueError: for one string in place of several, or a stream of single claims.
    """
    if isinstance(fields, str):
        raise ValueError(f"fields takes names, such as ({fields!r},), not one string")
    if fields and stream != "buffer":
        raise ValueError(f"fields of a structured answer are not streamed: not stream={stream!r}")
    return tuple(fields)


def is_named(path: Sequence[str], fields: Collection[str]) -> bool:
    """Whether ``fields`` name a path of keys: by ``*``, as a dotted path or as its beginning.

    The numbers of a list's items are no part of a path.
    """
    at = ".".join(path)
    return any(name == ALL or at == name or at.startswith(f"{name}.") for name in fields)
