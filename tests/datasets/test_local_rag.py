"""Retrieval, answer and check without a framework."""

import pytest

from franq_guard import Guard, Passage
from franq_guard.calibration import Calibrator
from franq_guard.datasets.local_rag import local_rag
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = [
    Passage("Rome is in Italy.", "Rome", "rome"),
    Passage("Oslo is in Norway.", "Oslo", "oslo"),
]


@pytest.fixture
def prompts():
    return []


@pytest.fixture
def guard(prompts):
    def answer(prompt):
        prompts.append(prompt)
        return "Rome is in Italy."

    model = FakeLanguageModel(answers=answer)
    franq = Calibrator.uncalibrated()
    return Guard(language_model=model, faithfulness=FakeFaithfulness(), franq=franq)


def test_the_model_sees_what_was_found_and_the_guard_what_was_written(guard, prompts):
    done = local_rag(PASSAGES, guard, k=1)("Where is Rome?")
    assert [p.id for p in done.passages] == ["rome"]
    assert "[1] Rome\nRome is in Italy.\n\nQuestion: Where is Rome?" in prompts[0]
    assert "Oslo" not in prompts[0]
    (verdict,) = done.answer.verdicts
    assert done.answer.original == "Rome is in Italy."
    assert verdict.label == "supported"
    # four words of the prompt, each with the fake's 0.9: the captured ones, for it is asked once
    assert verdict.raw["uq_faith"] == pytest.approx(4 * -0.10536, abs=1e-4)
    assert len(prompts) == 1
    assert done.answer.likelihoods == "captured from fake-language-model"


def test_where_nothing_is_found_the_question_stands_alone(guard, prompts):
    done = local_rag(PASSAGES, guard)("xyz")
    assert done.passages == ()
    assert "Passages:" not in prompts[0]


def test_every_answer_has_an_id_of_its_own(guard):
    answering = local_rag(PASSAGES, guard)
    assert answering("Where is Rome?").answer.id != answering("Where is Rome?").answer.id


def test_what_cannot_work_is_said_at_once(guard):
    with pytest.raises(ValueError, match="at least one text"):
        local_rag([], guard)
    with pytest.raises(ValueError, match=r"Guard\.offline"):
        local_rag(PASSAGES, Guard(faithfulness=FakeFaithfulness()))
