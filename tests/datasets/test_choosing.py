"""A judge whose labels are chosen by the probabilities of a few words."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from franq_guard.datasets.annotating import ChoosingJudge, Judge, annotate
from franq_guard.datasets.annotating.request import choosing_request, version
from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.language_model import TransformersModel
from franq_guard.language_model.base import Prompt
from franq_guard.records import Claim, Generation, Passage, Token, Trace
from franq_guard.testing import FakeLanguageModel

CLAIM = "The Arden bridge is blue."
TRACE = Trace(
    "Which colour has the bridge?",
    (Passage("The Arden bridge is painted blue.", title="Arden"),),
    Generation("It is blue."),
    claims=(Claim("It is blue.", ((0, 11),), full=CLAIM),),
    id="a1",
)
NOTHING = {
    "Passages: stated": -4.0,
    "Passages: contradicted": -3.0,
    "Passages: missing": -1.0,
    "Passages: stated\nClaim: true": -2.0,
    "Passages: stated\nClaim: false": -0.5,
    "Passages: stated\nClaim: unknown": -4.0,
    "Passages: contradicted\nClaim: true": -9.0,
    "Passages: contradicted\nClaim: false": -9.0,
    "Passages: contradicted\nClaim: unknown": -9.0,
    "Passages: missing\nClaim: true": -9.0,
    "Passages: missing\nClaim: false": -9.0,
    "Passages: missing\nClaim: unknown": -9.0,
}
"""Log-probability of each reply when there is nothing to read: "missing" is the likeliest word."""


class Scripted(FakeLanguageModel):
    """Log-probabilities of replies by a table, other ones where the claim is in the prompt."""

    def __init__(self, seen: dict[str, float]) -> None:
        super().__init__()
        self.seen, self.prompts = seen, set()

    def score(self, prompts, answers):
        self.prompts.update(prompts)
        return [self._by_table(p, a.text) for p, a in zip(prompts, answers, strict=True)]

    def _by_table(self, prompt: str, reply: str) -> Generation:
        table = NOTHING | (self.seen if f"Claim: {CLAIM}" in prompt else {})
        half = len(reply) // 2  # two tokens: a reply's log-probability is the sum of its tokens'
        spans = ((0, half), (half, len(reply)))
        return Generation(reply, tuple(Token(-1, a, b, table[reply] / 2) for a, b in spans))


def made(folder: Path) -> ClaimSet:
    found = ClaimSet.create(folder, {})
    found.add_answer(TRACE)
    return found


def test_a_preference_that_has_nothing_to_do_with_the_claim_does_not_count(tmp_path: Path) -> None:
    # Against reading nothing "stated" gains 2 and "missing" 0.2, although it stays the likeliest;
    # after "stated", "true" gains 0.5 and "false" 0.1, although it stays the likeliest.
    model = Scripted(
        {
            "Passages: stated": -2.0,
            "Passages: missing": -0.8,
            "Passages: stated\nClaim: true": -1.5,
            "Passages: stated\nClaim: false": -0.4,
        }
    )
    claims = made(tmp_path)
    done = annotate(claims, ChoosingJudge("small", model))
    (said,) = claims.judgements()
    assert (done.judged, done.not_judged) == (1, 0)
    assert (said.faithfulness, said.factuality, said.quote) == ("faithful", "true", None)
    assert (said.source, said.version) == ("judge:small", version("choose.v1"))
    read = "\n".join(model.prompts)
    assert "Arden\nThe Arden bridge is painted blue." in read
    assert "Which colour has the bridge?" in read
    assert len(model.prompts) == 2  # the claim's, and the one with nothing to read
    # Nothing is asked twice; a judge that writes replies is another one, with its own prompt.
    assert annotate(ClaimSet(tmp_path), ChoosingJudge("small", model)).before == 1
    assert annotate(claims, Judge("small", lambda request: "")).before == 0


def test_the_second_label_is_compared_after_the_first(tmp_path: Path) -> None:
    # "contradicted" gains 1; after it "unknown" gains 3 and "false" 2. After "stated" it would be
    # "true" that gains.
    model = Scripted(
        {
            "Passages: contradicted": -2.0,
            "Passages: contradicted\nClaim: false": -7.0,
            "Passages: contradicted\nClaim: unknown": -6.0,
            "Passages: stated\nClaim: true": -0.1,
        }
    )
    said = ChoosingJudge("small", model).judge(TRACE, 0)
    assert (said.faithfulness, said.factuality) == ("unfaithful-contra", "unverifiable")


def raising(error: Exception) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_without_probabilities_a_claim_is_not_judged_and_is_tried_again(tmp_path: Path) -> None:
    claims = made(tmp_path)
    broken = FakeLanguageModel(fail=raising(MemoryError("full")))
    assert annotate(claims, ChoosingJudge("small", broken)).not_judged == 1
    assert annotate(claims, ChoosingJudge("small", Scripted({"Passages: stated": math.nan})))
    (said,) = claims.judgements()
    assert said.error == "the model gives no probabilities of the labels"
    again = annotate(claims, ChoosingJudge("small", Scripted({"Passages: stated": -2.0})))
    assert (again.judged, again.before) == (1, 0)


def _alone(model: TransformersModel, prompt: str, reply: str) -> float:
    """The log-probability of a reply by one plain pass of the network, without our scoring."""
    before = model.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    after = model.tokenizer(reply, add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        logits = model.model(torch.tensor([before + after])).logits[0, len(before) - 1 : -1]
    rows = logits.double().log_softmax(-1)
    return sum(float(row[token]) for row, token in zip(rows, after, strict=True))


# Twelve passes over whole prompts for each claim: half a minute.
@pytest.mark.parametrize(
    "claim", ["The Arden bridge is in Peru.", pytest.param(CLAIM, marks=pytest.mark.slow)]
)
def test_the_bundled_models_choice_is_that_of_plain_forward_passes(smollm, claim: str) -> None:
    def chosen(lead: str, words: tuple[str, ...]) -> str:
        material = (TRACE.question, TRACE.passages, claim)
        prompts = [
            smollm.render(Prompt("", choosing_request(*read)))
            for read in (material, ("N/A", [Passage("N/A")], "N/A"))
        ]
        full, nothing = ({w: _alone(smollm, p, f"{lead} {w}") for w in words} for p in prompts)
        return max(words, key=lambda word: full[word] - nothing[word])

    stated = chosen("Passages:", ("stated", "contradicted", "missing"))
    true = chosen(f"Passages: {stated}\nClaim:", ("true", "false", "unknown"))
    trace = replace(TRACE, claims=(Claim(claim, ((0, 11),)),))
    said = ChoosingJudge("small", smollm).judge(trace, 0)
    names = {
        "stated": "faithful",
        "contradicted": "unfaithful-contra",
        "missing": "unfaithful-neutral",
        "unknown": "unverifiable",
    }
    assert said.faithfulness == names[stated]
    assert said.factuality == names.get(true, true)
