"""What a guard marked is no evidence."""

from __future__ import annotations

import pytest

from franq_guard.capture.marked import without_marked, without_written
from franq_guard.policy import MARKS


@pytest.mark.parametrize(
    "mark",
    [*MARKS.values(), "[2] [passage 2 does not say this]", "[7] [there is no passage 7]"],
)
def test_a_marked_sentence_is_blank_and_all_else_stays_where_it_was(mark):
    text = f"The tower is tall. Zebras sing there {mark}. The cellar is old."
    left = without_marked(text)
    assert "Zebras" not in left
    assert mark not in left
    assert len(left) == len(text)
    for kept in ("The tower is tall.", "The cellar is old."):
        assert left.index(kept) == text.index(kept)


def test_items_of_a_list_and_cells_of_a_table_go_without_their_neighbors():
    table = "| a | b |\n|---|---|\n| old [doubtful] | x |"
    text = f"- The tower is tall.\n- Zebras sing [unverified].\n\n{table}"
    left = without_marked(text)
    assert "The tower is tall." in left
    assert "Zebras" not in left
    assert "old" not in left


def test_without_a_mark_it_is_the_same_text():
    text = "Built in 1990 [1]. Nobody knows why [citation needed]."
    assert without_marked(text) is text


def test_a_mark_alone_leaves_nothing():
    assert not without_marked("[unverified]").strip()


def test_a_text_is_taken_out_whole_though_another_is_a_part_of_it():
    whole = "Zebras sing in the tower; nobody knows why they do"
    left = without_written(f"The note says that {whole} at night.", [whole[:26], whole])
    assert left.split() == ["The", "note", "says", "that", "at", "night."]
