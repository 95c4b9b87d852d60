"""A separate NLI model beside a faithfulness model."""

from pathlib import Path

import numpy as np
import pytest

from franq_guard.faithfulness import PassageScorer
from franq_guard.faithfulness.loading import WithNli, faithfulness_from
from franq_guard.faithfulness.sequence_nli import SequenceNli, label_order

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


def test_beside_alignscore_it_answers_nli_alone(folder):
    where = f"{TINY / 'tiny-align.ckpt'}#{TINY / 'tiny-roberta'}"
    alone, both = faithfulness_from(where), faithfulness_from(where, nli=str(folder))
    assert isinstance(both, WithNli)
    assert isinstance(both, PassageScorer)
    texts = (["Rome is in Italy."], ["Rome is in Italy."])
    assert both.score(*texts) == alone.score(*texts)
    assert both.score_passages([texts[0]], texts[1]) == alone.score_passages([texts[0]], texts[1])
    assert both.evidence(*texts) == alone.evidence(*texts)
    assert not np.allclose(both.nli(*texts), alone.nli(*texts))
    assert alone.fingerprint in both.fingerprint
    assert "nli:" in both.fingerprint


def test_what_cannot_be_loaded_says_what_can():
    with pytest.raises(ValueError, match="give small, alignscore-base"):
        faithfulness_from("absent")
    with pytest.raises(ValueError, match="NAME@COMMIT"):
        SequenceNli.from_pretrained("someone/model")
    assert label_order({0: "entailment", 1: "neutral", 2: "contradiction"}) == (0, 1, 2)
    with pytest.raises(ValueError, match="not LABEL_0, LABEL_1"):
        label_order({0: "LABEL_0", 1: "LABEL_1"})
