"""The pairs of the project's own writing, and the names that pairs are changed by."""

import pytest

from franq_bench.data.pairs import SOURCES, Example
from franq_bench.data.written import FOLDER, written
from franq_bench.training import perturb
from franq_bench.training.balance import balanced
from franq_bench.training.items import draw
from franq_bench.training.recipe import FIRST, JOINT, LAST, SECOND

FOLDS = ("training", "fitting", "thresholds", "test")


def test_a_block_is_read_with_its_passages_and_labels(tmp_path):
    text = "# diary | rain\nP: It rained.\nP: Ada slept.\n+ Ada slept - at home.\n- It was dry.\n"
    (tmp_path / "diary-test.txt").write_text(text + "0 Ada dreamt.\n\n\n", encoding="utf-8")
    found = written("test", tmp_path)
    assert [(e.dataset, e.premise, e.hypothesis, e.label) for e in found] == [
        ("written-diary", "It rained.\nAda slept.", "Ada slept - at home.", 0),
        ("written-diary", "It rained.\nAda slept.", "It was dry.", 2),
        ("written-diary", "It rained.\nAda slept.", "Ada dreamt.", 1),
    ]


def test_shared_words_do_not_speak_against_a_claim():
    passage = "It rained all day long. Did Ada sleep? The roof of the Harrow mill leaked."
    claims = [Example("written-diary", passage, "The day was dry.", 2)]
    claims += [Example("written-diary", "Tom swam.", f"Tom swam {n} miles.", 1) for n in range(9)]
    claims.append(Example("fm2", "Left alone.", "Left alone.", 0))
    added = balanced(claims, seed=3)[len(claims) :]
    said = {e.hypothesis.lower().rstrip(".") for e in added if e.premise == passage and not e.label}
    assert said == {"it rained all day long", "the roof of the harrow mill leaked"}
    foreign = [e for e in added if e.premise == passage and e.label]
    assert len(foreign) == 3
    assert all(e.hypothesis.startswith("Tom swam") and e.label == 1 for e in foreign)
    assert all(e.premise != "Left alone." for e in added)


def test_claims_of_answers_are_data_sets_of_their_own_which_only_the_last_run_reads(tmp_path):
    text = "# a | b\nP: It rained.\n+ It rained.\n- It was dry.\n0 Ada slept.\n"
    (tmp_path / "answers-diary-test.txt").write_text(text, encoding="utf-8")
    assert {e.dataset for e in written("test", tmp_path)} == {"answers-diary"}
    reads = [[r.reads(d) for d in ("fm2", "written-talk", "answers-diary")] for r in
             (FIRST, SECOND, JOINT, LAST)]  # fmt: skip
    assert reads == [[True, False, False], [True, True, False], [True, True, False], [True] * 3]


@pytest.mark.parametrize(
    "block", ["P: No head.\n+ A claim.", "# a | b\n+ No passage.", "# a | b\nP: x\n* No sign."]
)
def test_a_block_that_cannot_be_read_is_named(tmp_path, block):
    (tmp_path / "diary.txt").write_text(block, encoding="utf-8")
    with pytest.raises(ValueError, match=r"diary.txt: a block must be"):
        written("training", tmp_path)


def test_no_passage_is_in_two_folds_and_all_files_are_among_the_sources():
    texts = [{e.premise for e in written(fold)} for fold in FOLDS]
    assert sum(map(len, texts)) == len(set().union(*texts))
    assert len(texts[0]) > 4 * len(texts[1]) > 0
    assert {e.dataset for fold in FOLDS for e in written(fold)} <= set(SOURCES)


def test_the_labels_of_every_file_are_balanced():
    examples = [e for f in FOLDS for e in written(f)]
    for path in FOLDER.glob("*.txt"):
        end = path.stem.removesuffix("-test")
        labels = [e.label for e in examples if e.dataset.endswith(end)]
        assert 0.35 < labels.count(0) / len(labels) < 0.65


def test_of_other_peoples_sets_only_a_share_is_drawn_again():
    rows = [e for f in FOLDS for e in written(f)][:40]
    others = [Example("fm2", f"P{i}", f"C{i}", 0) for i in range(40)]
    drawn = draw(rows + others, seed=1, repeated=0.2)
    assert sum(e.dataset == "fm2" for e in drawn) == 20  # 2.5 * 40 * 0.2
    assert sum(e.dataset != "fm2" for e in drawn) == len(rows)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Because Germany lost, Ada left.", ["Germany", "Ada"]),
        ("He said: The house is Ada's.", ["Ada"]),
        ("She left. While Otto Lind's mill burnt, No one came.", ["Otto Lind"]),
        ("In May the King of Spain came.\nThen he left on Monday.", ["King of Spain"]),
        ("Rain fell on the Bay of Fundy.", ["Bay of Fundy"]),
    ],
)
def test_names_are_no_words_that_merely_open_something(text, found):
    assert perturb.names(text) == found
