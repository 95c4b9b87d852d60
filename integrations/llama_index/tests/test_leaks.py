"""Where an unchecked text could leave: every surface, every way to ask, everything one can look at.

The table in the README is what this test finds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from .leak_surfaces import PLACES, SURFACES
from .secret_parts import guard, kept, shows_raw

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]
CASES = [(name, mode) for name, surface in SURFACES.items() for mode in surface.modes]
RUN = 7


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # fakes have no calibrator, and say so each time
    yield
    logging.disable(logging.NOTSET)


def shown_in(value: Any) -> str:
    """All the text that one can read in ``value``, however deep; a report quotes the original."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(shown_in(v) for k, v in value.items() if not str(k).startswith("franq"))
    if isinstance(value, (list, tuple, set)):
        return " ".join(map(shown_in, value))
    if isinstance(value, BaseModel):
        private = getattr(value, "__pydantic_private__", None) or {}
        named = [getattr(value, name) for name in type(value).model_fields]
        return shown_in([*named, *private.values(), *(value.model_extra or {}).values()])
    if is_dataclass(value) and not isinstance(value, type):
        return shown_in([getattr(value, field.name) for field in fields(value)])
    return str(value)


def verdict(value: Any, run: int) -> str:
    """``raw``, ``checked`` or ``hidden``: what one sees of the model's words in ``value``."""
    text = shown_in(value)
    if shows_raw(text, run) or "unicorns" in text:
        return "raw"
    return "checked" if kept(run).rstrip(".") in text else "hidden"


async def cells(name: str, mode: str, run: int = RUN) -> dict[str, str]:
    try:
        found = await SURFACES[name].ask(mode, guard(), run)
    except ValueError as refusal:
        if "streams whole answers only" not in str(refusal):
            raise
        return dict.fromkeys(PLACES, "refused")
    return {place: verdict(found.get(place), run) for place in PLACES}


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_nothing_raw_leaves(name, mode):
    found = asyncio.run(cells(name, mode))
    assert "raw" not in found.values(), found
    assert found["answer"] in ("checked", "refused"), found
