"""Whatever is guarded, however it is looked at: checked, hidden or refused, never raw."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from .matrix import (
    ANSWER,
    CHAIN_WAYS,
    CHAINS,
    GRAPH_WAYS,
    GRAPHS,
    REASONING,
    Secretive,
    _graph,
    _spelled,
    _state,
    _write,
    cell,
    tables,
)

README = Path(__file__).parents[1] / "README.md"
CELLS = [(s, w) for s in CHAINS for w in CHAIN_WAYS] + [(s, w) for s in GRAPHS for w in GRAPH_WAYS]


@pytest.mark.parametrize(("surface", "way"), CELLS)
def test_no_cell_is_raw(surface, way):
    found = cell(surface, way)
    assert set(found.values()) <= {"checked", "hidden", "refused"}
    assert {found["reasoning"], found["log-probabilities"]} <= {"hidden", "refused"}


def test_the_readme_shows_the_matrix():
    assert tables() in README.read_text(encoding="utf-8")


def test_the_matrix_would_see_a_raw_cell():
    """An unguarded graph, and each secret alone."""
    for mode in ("values", "updates", "messages", "tasks"):
        shown = list(_graph("write", _write).stream({"question": "?"}, stream_mode=mode))
        assert _state(_spelled(shown), "has ninety steps") == "raw", mode
    assert _state(_spelled([AIMessage(ANSWER + " [checked: ]")]), "has ninety steps") == "checked"
    assert _state(_spelled([Secretive().invoke("?")]), REASONING) == "raw"
