import gzip
import json

import numpy as np
import pytest

from franq_bench.data.pairs import Example
from franq_bench.training import reader, reader_pairs
from franq_bench.training.reader_pairs import Read, drawn, likelihoods, numbers, texts_to_read
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PAIRS = [
    Example("fm2", "The bridge is red.", "The bridge is red.", 0),
    Example("fm2", "The bridge is red.", "The bridge is blue.", 3),
    Example("wice", "Owls eat voles.", "Owls eat mice.", 3),
]


class CountingReader(FakeLanguageModel):
    """Knows how often it was asked."""

    asked = 0

    def score(self, prompts, answers):
        self.asked += len(prompts)
        return super().score(prompts, answers)


def ignore(message):
    pass


def test_pairs_are_read_once_whatever_stops_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_pairs, "_AT_ONCE", 2)
    first = CountingReader()
    numbers(PAIRS[:2], FakeFaithfulness(), first, tmp_path, ignore)
    second = CountingReader()
    found = numbers(PAIRS, FakeFaithfulness(), second, tmp_path, ignore)
    assert second.asked == 1  # the third pair
    assert [one.supported for one in found] == [True, False, False]
    assert [one.small for one in found] == [1.0, 0.75, pytest.approx(2 / 3)]
    # without "The": "red." stands in the passage, "blue." does not
    likely, unlikely = np.log(0.9), np.log(0.1)
    assert [one.likelihood for one in found[:2]] == pytest.approx(
        [likely, (2 * likely + unlikely) / 3]
    )
    again = CountingReader()
    numbers(PAIRS, FakeFaithfulness(), again, tmp_path, ignore)
    assert again.asked == 0
    assert not any("bridge" in path.read_text() for path in tmp_path.rglob("*.jsonl"))


def test_the_two_chunks_that_entail_most_are_read_in_their_own_order(monkeypatch):
    monkeypatch.setattr(reader_pairs, "CHUNK_TOKENS", 5)  # each sentence is a chunk of its own
    texts = ["Red sea here. Or not so far. Green hill there.", "Red sea here.", " "]
    claims = ["green red", "red", "red"]
    found = texts_to_read(FakeFaithfulness(), texts, claims)
    assert found == ["Red sea here.\nGreen hill there.", "Red sea here.", ""]


def test_the_likelihood_of_a_single_token_is_its_own():
    assert likelihoods(FakeLanguageModel(), ["red", ""], ["red", "Red and red"]) == pytest.approx(
        [np.log(0.9), np.log(0.1)]
    )
    assert likelihoods(FakeLanguageModel(), [], []) == []


def test_a_smaller_draw_is_the_beginning_of_a_larger_one(tmp_path):
    rows = [
        {"id": f"{name}-{i}", "dataset": name, "premise": f"{name} tells of the number {i * 7}.",
         "hypothesis": f"Number {i} is told of.", "label": ("supported", "unsupported")[i % 2]}
        for name in ("wice", "summedits-news", "summedits-podcast", "unheard-of")
        for i in range(60)
    ]  # fmt: skip
    with gzip.open(tmp_path / "nli.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    small, large = (drawn(tmp_path, {"fitting": n, "test": n}) for n in (2, 4))
    # the domains of SummEdits count as one set, sets that are not in the figures as none
    assert [e.dataset.split("-")[0] for e in large["fitting"]] == ["summedits"] * 4 + ["wice"] * 4
    assert small["fitting"] == [*large["fitting"][:2], *large["fitting"][4:6]]
    assert not set(large["fitting"]) & set(large["test"])


def reads(sets, *, small, likelihood, n=40):
    """Pairs whose models tell the classes apart by so many standard deviations."""
    rng = np.random.default_rng(0)
    return [
        Read(name, name, bool(i % 2), 1 / (1 + np.exp(-(i % 2 - 0.5) * small - rng.normal())),
             (i % 2 - 0.5) * likelihood + rng.normal())
        for name in sets for i in range(n)
    ]  # fmt: skip


SETS = ("fm2", "wice", "begin-wow")
BOTH = ("odds", "likelihood")


def test_what_both_models_know_is_joined():
    known = reads(SETS, small=1.5, likelihood=1.5)
    alone = np.array([one.small for one in known])
    joined = reader.left_out(known, BOTH, 0.1)
    # each alone: P(difference of two normals above -1.5) = .856; both together .933
    assert reader.macro(known, alone) == pytest.approx(0.856, abs=0.05)
    assert reader.macro(known, joined) == pytest.approx(0.933, abs=0.04)
    found = reader.gain(known, joined, alone, resamples=200)
    assert 0 < found["low"] < found["gain"] < found["high"]
    useless = reader.gain(known, alone + 1, alone, resamples=20)
    assert useless == {"gain": 0, "low": 0, "high": 0}


def test_the_fit_undoes_the_penaltys_shrinking():
    known = reads(SETS, small=3.0, likelihood=3.0, n=200)
    slope, intercept = reader.fit(known, BOTH, 1e-4)
    p = 1 / (1 + np.exp(-(reader.inputs(known, BOTH) @ slope + intercept)))
    labels = reader.supported(known)
    assert p.mean() == pytest.approx(labels.mean(), abs=0.01)
    assert p[labels == 1].mean() > 0.85


def test_a_set_is_scored_by_weights_fitted_without_it():
    # In one set the language model is always wrong: fitted on it, the sign would be the other.
    known = reads(("fm2", "wice"), small=0, likelihood=3.0) + reads(
        ("begin-wow",), small=0, likelihood=-3.0
    )
    by_set = reader.by_set(known, reader.left_out(known, ("likelihood",), 1.0))
    assert by_set["begin-wow"] < 0.1


def test_sets_that_may_not_be_trained_on_are_measured_only():
    known = reads(("fm2", "wice"), small=0, likelihood=3.0)
    kept_out = reads(("healthver",), small=0, likelihood=-3.0)
    assert np.array_equal(
        reader.fit(known, BOTH, 1.0)[0], reader.fit([*known, *kept_out], BOTH, 1.0)[0]
    )
    assert set(reader.by_set([*known, *kept_out], np.zeros(120))) == {"fm2", "wice", "healthver"}


def test_figures_name_every_choice():
    known = reads(SETS, small=1.5, likelihood=1.5)
    found = reader.figures(known, known)
    assert set(found) == {*reader.CHOICES, "small model, as it is"}
    assert found["both"]["auroc"] > found["small model"]["auroc"]
    assert found["small model"]["left_out_gain"]["gain"] == pytest.approx(0)


@pytest.mark.parametrize("folder", ["none", "empty"])
def test_a_wrong_folder_ends_with_a_message(folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit):
        reader.main(["--data", str(tmp_path / folder), "--out", str(tmp_path)])
    assert "is not a folder with the data files" in capsys.readouterr().err
