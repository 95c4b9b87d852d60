"""A separate NLI model beside a faithfulness model."""

from pathlib import Path

import numpy as np
import pytest

from franq_guard.basics import threads
from franq_guard.basics.deadline import DeadlineExceeded, until
from franq_guard.faithfulness.loading import WithNli, faithfulness_from
from franq_guard.faithfulness.sequence_nli import SequenceNli, label_order
from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.signals.faithfulness import support

TINY = Path(__file__).parents[1] / "fixtures" / "alignscore"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny RoBERTa classifier with random weights and MNLI's labels, as transformers saves it."""
    import torch
    from transformers import AutoConfig, AutoTokenizer, RobertaForSequenceClassification

    torch.manual_seed(0)
    labels = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    config = AutoConfig.from_pretrained(TINY / "tiny-roberta", num_labels=3, id2label=labels)
    config.initializer_range = 1.0
    made = tmp_path_factory.mktemp("nli")
    RobertaForSequenceClassification(config).save_pretrained(made)
    AutoTokenizer.from_pretrained(TINY / "tiny-roberta").save_pretrained(made)
    return made


PAIRS = [
    ("Rome is in Italy.", "Rome is in Italy."),
    ("A dog runs.", "It is " + "very " * 40 + "late."),
    ("Long " * 900, "Short."),
]


def test_classes_come_in_our_order_by_the_models_own_names(folder):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    found = SequenceNli.from_pretrained(str(folder)).nli(*zip(*PAIRS, strict=True))
    assert found.shape == (3, 3)
    assert found.sum(axis=1) == pytest.approx(1)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    for (premise, hypothesis), row in list(zip(PAIRS, found, strict=True))[:2]:
        with torch.inference_mode():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        contradiction, neutral, entailment = torch.softmax(logits.double(), 0).tolist()
        assert row == pytest.approx([entailment, neutral, contradiction], abs=1e-4)
    assert np.ptp(found, axis=0).max() > 1e-3


def test_odd_texts_are_read_and_leave_their_neighbours_alone(folder):
    """A claim longer than the window, half a character: neither may fail the whole answer."""
    model = SequenceNli.from_pretrained(str(folder))
    plain = ("Rome is in Italy.", "Rome is big.")
    odd = [("Rome.", "very " * 900), ("very " * 900, "many " * 900), ("Rome \ud800", "Rome \udfff")]
    found = model.nli(*zip(plain, *odd, strict=True))
    assert found.sum(axis=1) == pytest.approx(1)
    assert found[0] == pytest.approx(model.nli(*zip(plain, strict=True))[0], abs=1e-4)


def test_it_computes_on_as_many_threads_as_are_set(folder, monkeypatch):
    import torch

    seen, before = [], torch.get_num_threads()
    model = SequenceNli.from_pretrained(str(folder))
    model._model.register_forward_pre_hook(lambda *_: seen.append(torch.get_num_threads()))
    monkeypatch.setenv(threads.SETTING, "1")
    torch.set_num_threads(2)
    try:
        model.nli(["Rome is in Italy."], ["Rome is big."])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    if threads._openmp() is not None:
        assert seen == [1]


def test_it_stops_at_the_deadline(folder):
    model = SequenceNli.from_pretrained(str(folder))
    with until(0.0), pytest.raises(DeadlineExceeded):
        model.nli(["Rome is in Italy."], ["Rome is big."])


def test_beside_alignscore_it_answers_nli_alone(folder):
    where = f"{TINY / 'tiny-align.ckpt'}#{TINY / 'tiny-roberta'}"
    alone, both = faithfulness_from(where), faithfulness_from(where, nli=str(folder))
    assert isinstance(both, WithNli)
    texts = (["Rome is in Italy."], ["Rome is in Italy."])
    assert both.score(*texts) == alone.score(*texts)
    assert both.score_passages([texts[0]], texts[1]) == alone.score_passages([texts[0]], texts[1])
    assert both.evidence(*texts) == alone.evidence(*texts)
    assert not np.allclose(both.nli(*texts), alone.nli(*texts))
    assert alone.fingerprint in both.fingerprint
    assert "nli:" in both.fingerprint


class Scorer:
    """A faithfulness model that reads passages itself, for both of its answers."""

    fingerprint = "scorer"

    def __init__(self, asked):
        self.asked = asked

    def score_passages(self, passages, claims):
        self.asked.append("scorer's score_passages")
        return [0.5] * len(claims)

    def nli_passages(self, passages, claims):
        self.asked.append("scorer's nli_passages")
        return [np.array([[0.0, 0.0, 1.0]])] * len(claims)


class Judge:
    """An NLI model to which everything is stated."""

    fingerprint = "judge"

    def __init__(self, asked):
        self.asked = asked

    def nli(self, premises, hypotheses):
        self.asked.append("judge's nli")
        return np.array([[1.0, 0.0, 0.0]] * len(hypotheses))


def test_the_labels_are_of_the_nli_model_and_the_score_is_of_the_other():
    asked: list[str] = []
    both = WithNli(Scorer(asked), Judge(asked))
    text = "Rome is in Italy."
    trace = Trace("Where?", (Passage("Rome is an Italian city."),), Generation(text))
    claim = Claim(text, ((0, len(text)),))
    ((found,),) = support(both, [trace], [[claim]], "long", evidence=False)
    assert asked == ["scorer's score_passages", "judge's nli"]
    assert (found.p_faithful, found.stance.entailment) == (0.5, 1.0)


def test_what_cannot_be_loaded_says_what_can():
    with pytest.raises(ValueError, match="give small, larger, a folder with small"):
        faithfulness_from("absent")
    with pytest.raises(ValueError, match="NAME@COMMIT"):
        SequenceNli.from_pretrained("someone/model")
    assert label_order({0: "entailment", 1: "neutral", 2: "contradiction"}) == (0, 1, 2)
    with pytest.raises(ValueError, match="not LABEL_0, LABEL_1"):
        label_order({0: "LABEL_0", 1: "LABEL_1"})
