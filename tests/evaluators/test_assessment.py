"""What every framework is told of an answer, and the evaluator that needs no framework."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from franq_guard import Policy
from franq_guard.evaluators.assessment import assess
from franq_guard.evaluators.langsmith import franq_evaluator
from franq_guard.evaluators.reading import trace_of_run

PASSAGE = "The bridge opened in 1937."
FAITHFUL, OTHER = "The bridge opened in 1937.", "Gustave Eiffel drew every pillar."


def test_an_answer_is_as_good_as_its_weakest_claim(fake_guard):
    answer = fake_guard.check("When?", [PASSAGE], f"{FAITHFUL} {OTHER}")
    found = assess(answer, fake_guard.policy)
    assert found.score == min(verdict.p_true for verdict in answer.verdicts)
    assert found.passed is False
    assert found.invalid is None
    assert [line.split("]")[1].strip()[:10] for line in found.comment.splitlines()] == [
        "The bridge",
        "Gustave Ei",
    ]


def test_a_supported_answer_passes(fake_guard):
    found = assess(fake_guard.check("When?", [PASSAGE], FAITHFUL), fake_guard.policy)
    assert found.passed is True
    assert found.score > 0.5


def test_the_policy_says_what_passes(fake_guard):
    answer = fake_guard.check("When?", [PASSAGE], f"{FAITHFUL} {OTHER}")
    assert assess(answer, Policy(weak=("false",))).passed is True


def test_nothing_verified_is_no_score(fake_guard):
    found = assess(fake_guard.check("When?", [], FAITHFUL), fake_guard.policy)
    assert (found.score, found.passed) == (None, None)
    assert found.invalid == "no claim could be verified: no_evidence"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no_answer"),
        (" \n", "no_answer"),
        ('{"architect": "Gustave Eiffel"}', "no_claims"),
        ("```\nprint(1937)\n```", "no_claims"),
        ("Yes.", "no_claims"),
    ],
)
def test_an_answer_of_which_nothing_was_checked_is_no_pass(fake_guard, answer, reason):
    found = assess(fake_guard.check("Who drew it?", [PASSAGE], answer), fake_guard.policy)
    assert (found.score, found.passed) == (None, None)
    assert found.invalid == f"no claim could be verified: {reason}"


def test_an_answer_that_states_nothing_is_no_error(fake_guard):
    found = assess(fake_guard.check("When?", [PASSAGE], "I do not know."), fake_guard.policy)
    assert (found.score, found.passed, found.invalid) == (1.0, True, None)


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"question": "When?"}, {"answer": FAITHFUL, "context": [PASSAGE]}),
        ({"query": "When?", "documents": [{"page_content": PASSAGE}]}, FAITHFUL),
        ("When?", {"output": FAITHFUL, "contexts": PASSAGE}),
        ({"topic": "When?"}, {"said": FAITHFUL, "passages": [{"text": PASSAGE}]}),
        ({"topic": "When?"}, {"said": FAITHFUL, "context": PASSAGE}),
    ],
)
def test_runs_are_read_however_they_name_things(inputs, outputs):
    trace = trace_of_run(inputs, outputs)
    read = (trace.question, [p.text for p in trace.passages], trace.generation.text)
    assert read == ("When?", [PASSAGE], FAITHFUL)


USER = {"role": "user", "content": "When?"}
EARLIER = {"role": "assistant", "content": "How can I help?"}
SAID = {"role": "assistant", "content": [{"type": "text", "text": FAITHFUL}]}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"messages": [EARLIER, USER]}, {"messages": [EARLIER, USER, SAID], "model": "small"}),
        ([USER], [USER, SAID, {"role": "tool", "content": "found 1"}]),
        ({"messages": [USER]}, {"choices": [{"index": 0, "message": SAID}]}),
        ({"input": [USER]}, {"output": [{"type": "reasoning"}, {"type": "message", **SAID}]}),
        ([SimpleNamespace(type="human", content="When?")], [SimpleNamespace(type="ai", **SAID)]),
        ({"question": "When?"}, SimpleNamespace(type="ai", content=FAITHFUL)),
        ({"question": SimpleNamespace(type="human", content="When?")}, {"answer": SAID}),
        ({"input": USER}, {"output": SimpleNamespace(type="ai", content=FAITHFUL)}),
    ],
)
def test_the_last_messages_of_a_chat_are_question_and_answer(inputs, outputs):
    trace = trace_of_run(inputs, outputs)
    assert (trace.question, trace.generation.text) == ("When?", FAITHFUL)


def test_a_chat_without_an_answer_is_an_error():
    for outputs in ([EARLIER, USER], {"messages": [USER], "model": "small"}, {"messages": []}):
        with pytest.raises(ValueError, match="no answer in the outputs"):
            trace_of_run([USER], outputs)


def test_passages_under_another_name():
    outputs = {"answer": FAITHFUL, "mine": {"hits": [PASSAGE]}}
    trace = trace_of_run("When?", outputs, "mine.hits")
    assert [passage.text for passage in trace.passages] == [PASSAGE]
    with pytest.raises(KeyError, match="leads nowhere"):
        trace_of_run("When?", outputs, "yours")
    with pytest.raises(ValueError, match="no answer in the outputs"):
        trace_of_run("When?", {"mine": PASSAGE}, "mine")


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({"a": "x", "b": "y"}, FAITHFUL, "no question in the inputs"),
        (" ", FAITHFUL, "no question in the inputs"),
        ("When?", {"a": 1}, "no answer in the outputs"),
        ("When?", None, "no answer in the outputs"),
        ("When?", {"answer": None, "context": PASSAGE}, "no answer in the outputs"),
        ("When?", {"answer": None, "model": "m"}, "no answer in the outputs"),
        ("When?", {"answer": USER}, "no answer in the outputs"),
        ("When?", {"context": PASSAGE}, "no answer in the outputs"),
        ("When?", {"error": "Too many requests."}, "no answer in the outputs"),
        ({"context": PASSAGE}, FAITHFUL, "no question in the inputs"),
    ],
)
def test_a_run_without_question_or_answer_says_what_is_wanted(inputs, outputs, message):
    with pytest.raises(ValueError, match=message):
        trace_of_run(inputs, outputs)


def test_the_evaluator_of_langsmith_and_openevals(fake_guard):
    evaluate = franq_evaluator(fake_guard, key="grounded")
    outputs = {"answer": f"{FAITHFUL} {OTHER}", "context": [PASSAGE]}
    result = evaluate(inputs={"question": "When?"}, outputs=outputs, reference_outputs={})
    assert sorted(result) == ["comment", "key", "score"]
    assert result["key"] == "grounded"
    assert result["score"] == min(
        v.p_true for v in fake_guard.check("When?", [PASSAGE], outputs["answer"]).verdicts
    )
    given = {"outputs": FAITHFUL, "context": {"documents": [PASSAGE]}}  # as openevals is called
    assert evaluate(inputs="When?", **given)["score"] > 0.5
    unverified = evaluate(inputs="When?", outputs=FAITHFUL)
    assert unverified["score"] is None
    assert unverified["comment"].startswith("no claim could be verified: no_evidence\n")


def test_the_evaluator_wants_a_guard_and_a_path(fake_guard):
    with pytest.raises(TypeError, match="wants the guard, not its policy"):
        franq_evaluator(Policy())
    with pytest.raises(TypeError, match="evidence="):
        franq_evaluator(fake_guard, evidence=3)


@pytest.mark.parametrize(
    ("name", "package"),
    [("DeepEval", "deepeval"), ("Haystack", "haystack"), ("MLflow", "mlflow"), ("RAGAS", "ragas")],
)
def test_a_missing_framework_is_named_with_its_extra(monkeypatch, name, package):
    class NotInstalled:
        def find_spec(self, module, path=None, target=None):
            if module == package:
                raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr(sys, "meta_path", [NotInstalled(), *sys.meta_path])
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, f"franq_guard.evaluators.{package}", raising=False)
    with pytest.raises(ImportError, match=rf"for {name} needs .*\[offline,{package}\]"):
        importlib.import_module(f"franq_guard.evaluators.{package}")
