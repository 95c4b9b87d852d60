import gzip
import json

import pytest

from franq_guard.datasets.passage_pool import read_passages, with_retrieved
from franq_guard.datasets.questions import Question
from franq_guard.records import Passage

POOL = [
    Passage("The lighthouse of Orve was built in 1871 by Ida Quill.", title="Orve"),
    Passage("Herring and cod are landed at Tamsund.", title="Tamsund"),
    Passage("Orve lies on the north coast.", title="Coast"),
]


def _question(text, *answers, passages=()):
    return Question("q", "d", text, answers, passages, (False,) * len(passages))


def test_the_best_passages_and_which_state_the_answer():
    [found] = with_retrieved(
        [_question("Who built the lighthouse of Orve?", "Ida Quill")], POOL, k=2
    )
    assert found.passages == (POOL[0], POOL[2])
    assert found.gold == (True, False)


def test_given_passages_stay():
    given = _question("Who built the lighthouse of Orve?", "x", passages=(POOL[1],))
    assert with_retrieved([given], POOL, k=2) == [given]


def test_no_word_in_common_and_none_wanted():
    [found] = with_retrieved([_question("Why?", "x")], POOL, k=2)
    assert found.passages == ()
    [found] = with_retrieved([_question("Who built Orve?", "x")], POOL, k=0)
    assert found.passages == ()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reading(tmp_path, suffix):
    file = tmp_path / f"pool.jsonl{suffix}"
    text = json.dumps({"text": "Ä.", "title": "T", "id": 3}) + "\n\n" + json.dumps({"text": "B."})
    file.write_bytes(gzip.compress(text.encode()) if suffix else text.encode())
    assert read_passages(file) == [Passage("Ä.", title="T"), Passage("B.")]


@pytest.mark.parametrize("bad", ["{", "[]", '{"title": "T"}', "3"])
def test_a_row_that_is_none(tmp_path, bad):
    file = tmp_path / "pool.jsonl"
    file.write_text(f'{{"text": "B."}}\n{bad}\n')
    with pytest.raises(ValueError, match=r"pool\.jsonl, line 2: not a passage"):
        read_passages(file)


def test_an_empty_pool(tmp_path):
    (tmp_path / "pool.jsonl").write_text("\n")
    with pytest.raises(ValueError, match="holds no passage"):
        read_passages(tmp_path / "pool.jsonl")
