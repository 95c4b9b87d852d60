import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.datasets.questions import (
    Question,
    draw,
    gold_lost,
    read_questions,
    top,
)
from franq_guard.records import Passage

ROW = {
    "id": "a-1",
    "dataset": "made-up",
    "question": "Who keeps the lighthouse?",
    "answers": ["Odran Vell"],
    "passages": [
        {"title": "Lighthouse", "text": "Odran Vell keeps it.", "is_gold": True, "src": "bm25"},
        {"text": "A ship."},
    ],
    "gold_kind": "annotated",
}


def make(identifier, dataset="d", gold=(True,)):
    passages = tuple(Passage(f"text {i}") for i in range(len(gold)))
    return Question(identifier, dataset, "q?", ("a",), passages, gold)


def write(path, *rows):
    text = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows)
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_plain_and_compressed(tmp_path):
    plain = write(tmp_path / "a.jsonl", ROW)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(ROW | {"id": "a-2"}).encode()))
    first, second = read_questions([plain, str(packed)])
    assert (first.id, second.id) == ("a-1", "a-2")
    assert first.passages[0] == Passage(
        "Odran Vell keeps it.", title="Lighthouse", metadata={"src": "bm25"}
    )
    assert first.gold == (True, False)
    assert first.answers == ("Odran Vell",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "line 3"),
        ("[]", "JSON object"),
        ({k: v for k, v in ROW.items() if k != "dataset"}, "no 'dataset'"),
        (ROW | {"answers": []}, "'answers'"),
        (ROW | {"answers": [" "]}, "'answers'"),
        (ROW | {"passages": None}, "'passages' must be a list"),
        (ROW | {"passages": ["text"]}, "string 'text'"),
        (ROW | {"question": ""}, "'question'"),
        (ROW, "twice"),
    ],
)
def test_a_broken_row_is_named_by_file_and_line(tmp_path, row, said):
    path = write(tmp_path / "x.jsonl", ROW, "", row)
    with pytest.raises(ValueError, match=said) as caught:
        read_questions([path])
    assert "x.jsonl, line 3: " in str(caught.value)


def test_gold_marks_must_fit_the_passages():
    with pytest.raises(ValueError, match="one mark per passage"):
        Question("i", "d", "q", ("a",), (Passage("t"),), ())


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5))
def test_draw_is_disjoint_and_repeats_itself(train, test, seed):
    rows = [make(f"{d}{i}", dataset=d) for d in ("b", "a") for i in range(16)]
    first = draw(rows, train=train, test=test, seed=seed)
    assert first == draw(rows[::-1], train=train, test=test, seed=seed)
    ids = [q.id for part in first for q in part]
    assert len(set(ids)) == len(ids) == 2 * (train + test)
    assert [q.dataset for q in first[0]] == ["a"] * train + ["b"] * train


@given(st.integers(0, 3), st.integers(1, 5))
def test_more_rows_move_few_and_none_to_the_other_side(seed, added):
    rows = [make(str(i)) for i in range(40)]
    before = draw(rows, train=10, test=20, seed=seed)
    after = draw(rows + [make(f"new{i}") for i in range(added)], train=10, test=20, seed=seed)
    train, test = ({q.id for q in part} for part in before)
    new_train, new_test = ({q.id for q in part} for part in after)
    assert len(train - new_train) <= added
    assert len(test - new_test) <= added
    assert not train & new_test
    assert not test & new_train


def test_a_larger_training_part_holds_the_smaller_one():
    rows = [make(str(i)) for i in range(30)]
    small, large = (draw(rows, train=n, test=10, seed=1) for n in (5, 12))
    assert small[0] == large[0][:5]
    assert small[1] == large[1]


def test_too_few_questions_say_which_set():
    with pytest.raises(ValueError, match=r"d has 1 questions, 1 \+ 1 are asked for"):
        draw([make("1")], train=1, test=1)
    with pytest.raises(ValueError, match="negative"):
        draw([], train=-1, test=1)


def test_top_cuts_both_and_lost_gold_is_counted():
    kept, lost = make("k", gold=(True, False)), make("l", gold=(False, True))
    none = make("n", gold=(False, False))
    assert top(lost, 1).gold == (False,)
    assert len(top(lost, 1).passages) == 1
    assert top(lost, 9) == lost
    assert gold_lost([kept, lost, none], 1) == 1  # only `lost`: `none` had no gold to lose
    with pytest.raises(ValueError, match="negative"):
        top(kept, -1)
