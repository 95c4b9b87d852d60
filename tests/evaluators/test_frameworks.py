"""The evaluators inside the real frameworks; `make test-evaluators` installs them."""

import math
import os

import pytest

pytestmark = pytest.mark.evaluators

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

QUESTION = "When did the bridge open?"
PASSAGE = "The Kolmar bridge opened on 4 May 1937 after six years of work."
TRUE = "The Kolmar bridge opened on 4 May 1937."
WRONG = "The Kolmar bridge opened on 4 May 1964."
REFUSAL = "I do not know."


@pytest.fixture(scope="session")
def guard():
    """The offline guard with its real model of faithfulness."""
    from franq_guard import Guard

    return Guard.offline().warm()


@pytest.fixture(scope="session")
def score(guard):
    """The score of an answer, worked out from the guard's own verdicts."""

    def least(answer):
        return min(v.p_true for v in guard.check(QUESTION, [PASSAGE], answer).verdicts)

    return least


class Broken:
    """A guard whose check fails."""

    from franq_guard import Policy

    policy = Policy()

    def check_trace(self, trace):
        raise RuntimeError("the model is gone")


def test_langsmith_runs_the_evaluator_over_examples(guard, score):
    from langsmith import evaluate

    from franq_guard.evaluators.langsmith import franq_evaluator

    examples = list(_langsmith_examples())
    results = evaluate(
        lambda inputs: {"answer": inputs["say"], "context": [PASSAGE]},
        data=examples,
        evaluators=[franq_evaluator(guard)],
        upload_results=False,
    )
    found = {
        row["run"].outputs["answer"]: row["evaluation_results"]["results"][0] for row in results
    }
    assert {answer: result.score for answer, result in found.items()} == {
        TRUE: pytest.approx(score(TRUE)),
        WRONG: pytest.approx(score(WRONG)),
    }
    assert {result.key for result in found.values()} == {"franq"}
    assert score(WRONG) < score(TRUE)


def _langsmith_examples():
    from uuid import uuid4

    from langsmith.schemas import Example

    data = uuid4()
    for answer in (TRUE, WRONG):
        inputs = {"question": QUESTION, "say": answer}
        yield Example(id=uuid4(), inputs=inputs, outputs={}, dataset_id=data)


def test_openevals_takes_the_evaluator_for_one_of_its_own(guard):
    from openevals.types import EvaluatorResult

    from franq_guard.evaluators.langsmith import franq_evaluator

    outputs = {"answer": TRUE, "context": [PASSAGE]}
    result = franq_evaluator(guard)(inputs=QUESTION, outputs=outputs)
    assert set(result) <= set(EvaluatorResult.__annotations__)


@pytest.fixture
def tracking(tmp_path, monkeypatch):
    import mlflow

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    mlflow.set_experiment("franq")
    return mlflow


def test_mlflow_evaluates_with_the_scorer(tracking, guard, score):
    from franq_guard.evaluators.mlflow import franq_scorer

    rows = [
        {"inputs": {"question": QUESTION}, "outputs": {"answer": TRUE, "context": [PASSAGE]}},
        {"inputs": {"question": QUESTION}, "outputs": {"answer": TRUE}},
    ]
    result = tracking.genai.evaluate(data=rows, scorers=[franq_scorer(guard)])
    assert result.metrics["franq/mean"] == pytest.approx(score(TRUE))
    errors = result.result_df["franq/error_message"].dropna().tolist()
    assert errors == ["no claim could be verified: no_evidence"]
    # Before MLflow 3.8 an error that is a string ended the evaluation of all rows.
    assert franq_scorer(guard)(**rows[1]).error.error_code == "NOT_VERIFIED"


def test_mlflow_finds_what_a_traced_retriever_returned(tracking, guard, score):
    from mlflow.entities import Document

    from franq_guard.evaluators.mlflow import franq_scorer

    @tracking.trace(span_type="RETRIEVER")
    def search(question):
        return [Document(page_content=PASSAGE)]

    def answer(question):
        search(question)
        return WRONG

    rows = [{"inputs": {"question": QUESTION}}]
    result = tracking.genai.evaluate(data=rows, predict_fn=answer, scorers=[franq_scorer(guard)])
    assert result.metrics["franq/mean"] == pytest.approx(score(WRONG))


def case(answer, passages=(PASSAGE,)):
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(
        input=QUESTION,
        actual_output=answer,
        retrieval_context=None if passages is None else list(passages),
    )


def test_deepeval_evaluates_with_the_metric(guard, score):
    from deepeval import evaluate
    from deepeval.evaluate.configs import DisplayConfig

    from franq_guard.evaluators.deepeval import FranqMetric

    quiet = DisplayConfig(print_results=False, show_indicator=False)
    cases = [case(TRUE), case(WRONG), case(TRUE, passages=[]), case(REFUSAL)]
    done = evaluate(test_cases=cases, metrics=[FranqMetric(guard)], display_config=quiet)
    by_case = {one.index: one.metrics_data[0] for one in done.test_results}
    found = [by_case[i] for i in range(len(cases))]
    assert [one.success for one in found] == [True, False, False, True]
    assert [one.score for one in found] == [
        pytest.approx(score(TRUE)),
        pytest.approx(score(WRONG)),
        None,
        1.0,
    ]
    assert found[2].error == "no claim could be verified: no_evidence"
    assert f"] {WRONG}" in found[1].reason


def test_a_deepeval_metric_may_ask_for_more_than_the_policy(guard, score):
    from franq_guard.evaluators.deepeval import FranqMetric

    strict = FranqMetric(guard, threshold=1.0)
    assert strict.measure(case(TRUE)) == pytest.approx(score(TRUE))
    assert strict.is_successful() is False
    with pytest.raises(ValueError, match="got 70"):
        FranqMetric(guard, threshold=70)  # nothing would ever pass


async def _awaited(metric, test_case):
    return await metric.a_measure(test_case)


def test_a_failure_sets_deepevals_error():
    import asyncio

    from deepeval.errors import MissingTestCaseParamsError

    from franq_guard.evaluators.deepeval import FranqMetric

    metric = FranqMetric(Broken())
    with pytest.raises(RuntimeError, match="the model is gone"):
        asyncio.run(_awaited(metric, case(TRUE)))
    assert (metric.error, metric.score) == ("the model is gone", None)
    assert metric.is_successful() is False
    with pytest.raises(MissingTestCaseParamsError, match="retrieval_context"):
        metric.measure(case(TRUE, passages=None))


def test_ragas_scores_one_and_a_batch(guard, score):
    from franq_guard.evaluators.ragas import FranqMetric

    metric = FranqMetric(guard)
    rows = [
        {"user_input": QUESTION, "response": answer, "retrieved_contexts": passages}
        for answer, passages in [(TRUE, [PASSAGE]), (WRONG, [PASSAGE]), (TRUE, [])]
    ]
    assert metric.score(**rows[0]).value == pytest.approx(score(TRUE))
    values = [result.value for result in metric.batch_score(rows)]
    assert values[:2] == [pytest.approx(score(TRUE)), pytest.approx(score(WRONG))]
    assert math.isnan(values[2])
    assert metric.batch_score(rows)[2].reason.startswith("no claim could be verified")


def test_haystack_runs_saves_and_loads_the_component(guard, score):
    from haystack import Pipeline
    from haystack.core.errors import SerializationError

    from franq_guard.evaluators.haystack import FranqEvaluator

    pipeline = Pipeline()
    pipeline.add_component("franq", FranqEvaluator(guard))
    rows = {
        "questions": [QUESTION] * 3,
        "contexts": [[PASSAGE], [PASSAGE], []],
        "predicted_answers": [TRUE, WRONG, TRUE],
    }
    found = pipeline.run({"franq": rows})["franq"]
    assert found["individual_scores"][:2] == [
        pytest.approx(score(TRUE)),
        pytest.approx(score(WRONG)),
    ]
    assert math.isnan(found["individual_scores"][2])
    assert found["score"] == pytest.approx((score(TRUE) + score(WRONG)) / 2)
    assert [one["status"] for one in found["results"]] == ["evaluated", "evaluated", "error"]
    with pytest.raises(SerializationError, match="a function that makes it"):
        pipeline.dumps()


@pytest.mark.parametrize("named", [False, True])
def test_a_saved_haystack_pipeline_makes_its_guard_again(named, score):
    from haystack import Pipeline

    from franq_guard import Guard
    from franq_guard.evaluators.haystack import FranqEvaluator

    pipeline = Pipeline()
    pipeline.add_component("franq", FranqEvaluator(Guard.offline if named else None))
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["franq_guard.*"])
    rows = {"questions": [QUESTION], "contexts": [[PASSAGE]], "predicted_answers": [TRUE]}
    assert loaded.run({"franq": rows})["franq"]["score"] == pytest.approx(score(TRUE))
