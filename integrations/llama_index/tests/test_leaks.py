"""Where an unchecked text could leave: every surface, every way to ask, everything one can look at.

The table in the README is what this test finds; ``python -m tests.test_leaks`` in the folder of the
package prints it again.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from pydantic import BaseModel

from .leak_surfaces import PLACES, SURFACES
from .secret_parts import SecretChat, guard, kept, shows_raw, token

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]
TOKENS = "log-probabilities"  # in all of the places
COLUMNS = (*PLACES, TOKENS)
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


async def cells(name: str, mode: str) -> dict[str, str]:
    try:
        found = await SURFACES[name].ask(mode, guard(), RUN)
    except ValueError as refusal:
        if "streams whole answers only" not in str(refusal):
            raise
        return dict.fromkeys(COLUMNS, "refused")
    return read(found, RUN)


def read(found: Mapping[str, Any], run: int) -> dict[str, str]:
    """What one sees in each place, and whether tokens of the log-probabilities are in any."""
    tokens = "raw" if token(run) in shown_in(list(found.values())) else "hidden"
    return {**{place: verdict(found.get(place), run) for place in PLACES}, TOKENS: tokens}


@cache
def found_in(name: str, mode: str) -> dict[str, str]:
    return asyncio.run(cells(name, mode))


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_nothing_raw_leaves(name, mode):
    found = found_in(name, mode)
    assert set(found.values()) <= {"checked", "hidden", "refused"}, found
    assert found["answer"] in ("checked", "refused"), found


def table() -> str:
    """What was found, a row for each surface and the ways to ask it that show the same."""
    lines = [f"| surface | asked by | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 2) + "|"]
    for name, surface in SURFACES.items():
        rows: dict[tuple[str, ...], list[str]] = {}
        for mode in surface.modes:
            found = found_in(name, mode)
            rows.setdefault(tuple(found[place] for place in COLUMNS), []).append(mode)
        lines += [f"| {name} | {', '.join(m)} | {' | '.join(row)} |" for row, m in rows.items()]
    return "\n".join(lines)


def test_the_readme_has_the_table_that_was_found():
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert table() in readme, f"put this into README.md:\n{table()}"


def test_a_model_without_a_guard_shows_all_of_it():
    """The matrix would see a raw cell: the model's text, and its tokens in each of their places."""
    said = SecretChat().chat([ChatMessage(role="user", content=f"run {RUN}")])
    for value in (said.raw, said.logprobs, said.message.additional_kwargs):
        assert read({"beside it": value}, RUN)[TOKENS] == "raw"
    assert read({"answer": said.message.content}, RUN)["answer"] == "raw"


# Many at once -----------------------------------------------------------------------------------


def foreign(value: Any, run: int) -> set[str]:
    """The runs other than ``run`` of which anything shows."""
    return set(re.findall(r"zebra-(\d+)-x|of run (\d+)", shown_in(value))) - {
        (str(run), ""),
        ("", str(run)),
    }


async def mixed(runs: range) -> None:
    async def one(run: int) -> None:
        name, mode = ASKABLE[run % len(ASKABLE)]
        found = await SURFACES[name].ask(mode, SHARED, run)
        for place, value in found.items():
            assert verdict(value, run) != "raw", (name, mode, place)
            assert not foreign(value, run), (name, mode, place)
        assert token(run) not in shown_in(list(found.values())), (name, mode)

    await asyncio.gather(*map(one, runs))


ASKABLE = [(name, mode) for name, mode in CASES if "claims" not in mode or "Agent" not in name]
SHARED = guard()


@pytest.mark.parametrize("runs", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_of_many_mixed_runs_none_is_mixed_and_none_is_early(runs):
    """Each run has a secret of its own, which no text may show before its check."""
    shares = [range(1000 + i, 1000 + runs, 4) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(asyncio.run, mixed(share)) for share in shares]:
            done.result()


if __name__ == "__main__":
    print(table())
