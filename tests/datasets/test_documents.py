"""Folders of text as passages."""

import pytest

from franq_guard.datasets.documents import read_folder


def test_passages_name_their_file_and_stay_short(tmp_path):
    (tmp_path / "deep").mkdir()
    sentence = "This sentence has exactly seven words here. "
    (tmp_path / "deep" / "a.md").write_text("# Title\n\n" + sentence * 40)
    (tmp_path / "b.txt").write_text("One line.")
    (tmp_path / "c.csv").write_text("not,text")
    passages = read_folder(tmp_path, words=50)
    assert {p.title for p in passages} == {"deep/a.md", "b.txt"}
    assert [p.id for p in passages if p.title == "b.txt"] == ["b.txt#1"]
    long = [p.text for p in passages if p.title == "deep/a.md"]
    assert all(len(text.split()) <= 50 for text in long)
    # nothing is lost: 40 sentences of 7 words, and the title with its mark
    assert sum(len(text.split()) for text in long) == 40 * 7 + 2


def test_bytes_that_are_no_utf8_become_replacement_characters(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 is open.")
    (passage,) = read_folder(tmp_path)
    assert passage.text == "caf\ufffd is open."


def test_a_sentence_longer_than_a_passage_is_kept_whole(tmp_path):
    (tmp_path / "a.txt").write_text("word " * 300)
    (passage,) = read_folder(tmp_path, words=50)
    assert len(passage.text.split()) == 300


def test_no_text_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text(" \n ")
    with pytest.raises(ValueError, match="no text found"):
        read_folder(tmp_path)
    with pytest.raises(ValueError, match="is not a folder"):
        read_folder(tmp_path / "missing")
