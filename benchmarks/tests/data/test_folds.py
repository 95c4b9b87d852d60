"""Folds by article, question and document: nothing crosses, in made-up and in real rows."""

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from franq_bench.data.files import files
from franq_bench.data.folds import SHARES, SHARES_OF_RESERVED, Folds, keys
from franq_guard.datasets.jsonl import json_rows

DATA = Path(__file__).parents[4] / "shared" / "data"


def passage(title, text, *, gold=True, src="annotated"):
    return {"title": title, "text": text, "is_gold": gold, "src": src}


def asked(number, question, *passages, dataset="nq-open"):
    return {"id": f"{dataset}-{number}", "dataset": dataset, "question": question, "answers": [],
            "passages": list(passages), "gold_kind": "annotated"}  # fmt: skip


def pair(number, premise, hypothesis="It is so.", dataset="mnli-dev"):
    return {"id": f"{dataset}-{number}", "dataset": dataset, "premise": premise,
            "hypothesis": hypothesis, "label": "neutral"}  # fmt: skip


MILL = "The Harrow mill was built in 1874 by Elin Marsh, who had sold her share of the quarry."
FERRY = "The ferry across the Tavel left every morning at six, except on the two days of the fair."


# -- what ties rows together ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pair(1, MILL), pair(2, MILL.upper() + " And so on.")),
        (asked(1, "Who built it?", passage("Mill", MILL)), pair(2, MILL)),
        (asked(1, "Who built it?"), asked(2, "who built it", dataset="clapnq-dev")),
        (asked(1, "Who?", passage("Harrow Mill", MILL)),
         asked(2, "When?", passage("Harrow mill", FERRY))),
        (pair(1, f"Harrow Mill: {MILL}", dataset="fm2"),
         {"id": "creak-1", "dataset": "creak", "claim": "A mill grinds.", "entity": "Harrow Mill",
          "label_kind": "factuality", "question": None, "reference": None, "passages": []}),
        ({"id": "w1", "title": "Harrow Mill", "text": FERRY},
         asked(2, "When?", passage("Harrow Mill", MILL))),
        (pair("1-0-os", MILL, "Who built it? Ann", dataset="nq-swap"), asked(2, "Who built it?")),
        (pair("1-os", MILL, "Who? Ann", dataset="nq-swap"),
         pair("1-so", FERRY, "What? B", dataset="nq-swap")),
        (pair(1, MILL, FERRY, dataset="med"), pair(2, FERRY, MILL, dataset="med")),
        (pair(1, MILL, "A long claim.", dataset="factcheck-gpt-stance"),
         {"id": "factcheck-gpt-1", "dataset": "factcheck-gpt", "claim": "A long claim",
          "passages": [], "label_kind": "factuality", "question": "Q?", "reference": ""}),
    ],
)  # fmt: skip
def test_rows_of_one_document_share_a_key(left, right):
    assert keys(left) & keys(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pair(1, MILL), pair(2, FERRY)),
        # shown beside the gold passage only
        (asked(1, "Who?", passage("Harrow Mill", MILL), passage("Ferry", FERRY, gold=False)),
         asked(2, "When?", passage("Ferry", FERRY))),
        # the one question of all summaries; the same short hypothesis in unrelated pairs
        (asked(1, "Summarise.", passage("", MILL), dataset="faithbench"),
         asked(2, "Summarise.", passage("", FERRY), dataset="faithbench")),
        (pair(1, f"Climate: {MILL}", "A.", dataset="climate-fever"),
         pair(2, f"Climate: {FERRY}", "B.", dataset="climate-fever")),
    ],
)  # fmt: skip
def test_other_rows_share_none(left, right):
    assert not keys(left) & keys(right)


def test_a_row_without_text_has_a_key_of_its_own():
    assert keys({"id": "x-1", "passages": [], "question": "", "reference": None}) == {"row:x-1"}


def test_ties_reach_through_other_rows():
    chain = [
        asked(1, "Who built it?", passage("Harrow Mill", MILL)),
        asked(2, "who built it?", passage("Tavel Ferry", FERRY)),
        pair(3, FERRY),
    ]
    folds = Folds(chain)
    assert len({folds.of(row) for row in chain}) == 1
    assert folds.of(passage("Harrow Mill", "Another piece of the article.")) == folds.of(chain[2])


def test_the_order_of_the_rows_decides_nothing():
    chance = random.Random(3)
    made = [
        asked(i, f"Question {chance.randint(0, 60)}?", passage(f"Title {n}", f"Text {i}"))
        for i in range(120)
        for n in [chance.randint(0, 60)]
    ]
    first = [Folds(made).of(row) for row in made]
    shuffled = Folds(chance.sample(made, len(made)))
    assert [shuffled.of(row) for row in made] == first


def test_parts_of_several_folds_are_refused():
    made = [pair(i, f"premise number {i} about something else") for i in range(50)]
    folds = Folds(made)
    left = next(row for row in made if folds.of(row) == "training")
    right = next(row for row in made if folds.of(row) == "test")
    mixed = asked(1, "?", passage("", left["premise"]), passage("", right["premise"]))
    with pytest.raises(ValueError, match="several folds: test, training"):
        folds.of(mixed)


@pytest.mark.parametrize(
    "row", [{"question": "Who?", "passages": ["A text."], "answer": "He."}, {"text": "No title."}]
)
def test_a_row_of_another_kind_is_named(row, tmp_path):
    known = json.dumps(pair(1, MILL))
    (tmp_path / "a.jsonl").write_text(known, encoding="utf-8")
    (tmp_path / "mine.jsonl").write_text(f"{known}\n{json.dumps(row)}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.jsonl, row 2: fits no schema of the data"):
        Folds.read(tmp_path)


def test_a_folder_in_the_folder_is_no_data(tmp_path):
    (tmp_path / "old.jsonl").mkdir()
    (tmp_path / "a.jsonl").write_text(json.dumps(pair(1, MILL)), encoding="utf-8")
    assert files([tmp_path]) == [tmp_path / "a.jsonl"]


def test_shares_are_kept_by_components_that_are_drawn_by_chance():
    folds = Folds([])
    drawn = Counter(folds.of(passage(f"Article {i}", "")) for i in range(4000))
    for fold, share in SHARES.items():
        # three standard errors of a share over 4,000 are at most 2.4 points
        assert abs(drawn[fold] / 4000 - share / 100) < 0.024


def test_an_answer_of_clapnq_and_all_that_hangs_on_it_is_never_trained_on():
    made = [
        row
        for i in range(200)
        for row in (
            asked(i, f"Question {i}?", passage(f"Article {i}", f"Text {i}"), dataset="clapnq-dev"),
            asked(i, f"Another {i}?", passage(f"Article {i}", f"More text {i}")),
        )
    ]
    folds = Folds(made)
    drawn = Counter(folds.of(row) for row in made)
    assert "training" not in drawn
    for fold, share in SHARES_OF_RESERVED.items():
        # three standard errors of a share of one half over 200 are 10.6 points
        assert abs(drawn[fold] / 400 - share / 100) < 0.106
    assert "training" in {Folds(made[1::2]).of(row) for row in made[1::2]}


# -- the real data ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real():
    """The folds, and every row with its own."""
    if not DATA.is_dir():
        pytest.skip("needs ../shared/data")
    found = [row for path in files([DATA]) for row in json_rows(path)]
    folds = Folds(found)
    return folds, [(row, folds.of(row)) for row in found]


def parts(row):
    """What a reader would call the same thing in two rows: written out without `keys`."""
    dataset = row.get("dataset")
    if row.get("question") and dataset != "faithbench":
        yield "question", row["question"].strip(" ?").lower()
    for name in ("premise", "reference", "text"):
        if row.get(name):
            yield "document", row[name]
    for name in ("article", "entity", "subject", "title"):
        if row.get(name):
            yield "article", row[name]
    if dataset == "fm2":
        yield "article", row["premise"].split(": ")[0]
    if row.get("label_kind") == "factuality":
        yield "claim", row["claim"]
    if dataset == "factcheck-gpt-stance":
        yield "claim", row["hypothesis"]
    yield from (part for shown in row.get("passages") or () for part in gold_parts(shown))


def gold_parts(shown):
    if shown.get("is_gold", True):
        yield "document", shown["text"]
        yield "article", shown.get("title") or shown["text"]


@pytest.mark.slow
def test_real_folds_share_no_question_document_article_or_claim(real):
    seen = defaultdict(set)
    for row, fold in real[1]:
        for part in parts(row):
            seen[part].add(fold)
    assert len(seen) > 100_000
    assert [part for part, where in seen.items() if len(where) > 1] == []


@pytest.mark.slow
def test_real_shares_are_near(real):
    counts = defaultdict(Counter)
    for row, fold in real[1]:
        counts[row.get("dataset", "wiki_passages")][fold] += 1
    for dataset, of in sorted(counts.items()):  # pytest -s shows the table
        shares = " ".join(f"{fold} {of[fold] / of.total():.2f}" for fold in SHARES)
        print(f"{dataset:26}{of.total():6} {shares}")
    everything = sum(counts.values(), Counter())
    for fold, share in SHARES.items():
        assert abs(everything[fold] / everything.total() - share / 100) < 0.02
    for dataset in ("creak", "fm2", "nq-open", "popqa", "refchecker-nq"):
        of = counts[dataset]
        for fold, share in SHARES.items():
            assert abs(of[fold] / of.total() - share / 100) < 0.09
    assert counts["clapnq-dev"]["training"] == 0


@pytest.mark.slow
def test_real_passages_beside_the_gold_one_have_one_fold_each(real):
    folds, found = real
    for row, _ in found:
        for shown in row.get("passages") or ():
            assert folds.of(passage(shown.get("title", ""), shown["text"])) in SHARES
