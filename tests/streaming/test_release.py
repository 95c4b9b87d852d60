"""The last step: report and stop."""

import copy
import pickle
from functools import partial

import pytest

from franq_guard.records import Claim, GuardedAnswer, Verdict
from franq_guard.streaming.release import FactualityError, Release


def answer_with(*labels):
    verdicts = tuple(
        Verdict(Claim("c", ((0, 1),)), None, None, None, None, {}, label) for label in labels
    )
    return GuardedAnswer("t", "o", verdicts, "ok")


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_the_error_survives_copies_and_processes(again):
    answer = answer_with("false", "supported")
    found = again(FactualityError(answer, answer.verdicts[:1]))
    assert type(found) is FactualityError
    assert str(found) == "1 of 2 claims: false"
    assert (found.answer, found.verdicts) == (answer, answer.verdicts[:1])


def test_reports_then_stops():
    seen, answer = [], answer_with("false", "supported")
    with pytest.raises(FactualityError) as caught:
        Release(seen.append, ("false",))(answer)
    assert seen == [answer]
    assert caught.value.verdicts == answer.verdicts[:1]
    assert Release(raise_on=("doubtful",))(answer) is answer


async def later(told):
    """Nobody would await it."""


class Later:
    async def __call__(self, told):
        """Nor this."""


@pytest.mark.parametrize("option", ["on_report", "on_claim"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("print", "a function, not str"),
        (later, "a plain function"),
        (partial(later, told=1), "a plain function"),
        (Later(), "a plain function"),
    ],
)
def test_what_cannot_be_called_or_would_have_to_be_awaited_is_refused(option, wrong, message):
    with pytest.raises(TypeError, match=f"{option} must be {message}"):
        Release(**{option: wrong})


@pytest.mark.parametrize("wrong", ["false", ("wrong",)])
def test_labels_that_do_not_exist_are_refused(wrong):
    with pytest.raises(ValueError, match="raise_on takes labels"):
        Release(raise_on=wrong)


def test_unverified_also_stops_an_answer_of_which_nothing_was_checked():
    code = "```json\n{}\n```"
    verdicts = (
        Verdict(
            Claim("", ((0, len(code)),), not_a_claim="code"),
            None,
            None,
            None,
            None,
            {},
            "not-a-claim",
        ),
    )
    answer = GuardedAnswer(code, code, verdicts, "unverified")
    with pytest.raises(FactualityError, match="the answer is unverified: no_claims"):
        Release(raise_on=("unverified",))(answer)
    assert Release(raise_on=("false",))(answer) is answer
