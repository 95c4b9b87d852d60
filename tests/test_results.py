"""What a checked answer tells whoever holds it: evidence, flags, a score, a table."""

import json
import subprocess
import sys

import pytest

from franq_guard import Guard, Passage, Policy, to_dataframe
from franq_guard.records import Claim, GuardedAnswer, Verdict
from franq_guard.rows import claim_table, trace_of
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = ["It rains.", Passage("Rome is in Italy.", title="Rome", metadata={"n": 1})]


def guard_of(**options):
    return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness(), **options)


def verdict(label, p_true, text="x" * 200):
    return Verdict(Claim(text, ((0, 1),)), p_true, None, None, None, {}, label)


def test_evidence_has_its_words_in_the_object_and_in_json():
    answer = guard_of().check("Where is Rome?", PASSAGES, "Rome is in Italy.")
    found = answer.verdicts[0].evidence
    assert (found.passage, found.text) == (1, "Rome is in Italy.")
    row = json.loads(json.dumps(answer.to_dict()))
    assert row["verdicts"][0]["evidence"] == {
        "passage": 1,
        "start": 0,
        "end": 17,
        "text": "Rome is in Italy.",
    }
    assert "passages" not in row


def test_question_and_passages_are_in_json_by_choice():
    answer = guard_of().check("Where is Rome?", PASSAGES, "Rome is in Italy.")
    row = answer.to_dict(passages=True)
    assert row["question"] == "Where is Rome?"
    rome = {"text": "Rome is in Italy.", "title": "Rome"}
    assert row["passages"] == [{"text": "It rains."}, rome]
    assert {k: v for k, v in row.items() if k not in ("question", "passages")} == answer.to_dict()


def test_flagged_claims_are_those_the_policy_acts_against():
    text, passages = "Rome is in Peru.", ["It rains."]
    strict = guard_of().check("Where is Rome?", passages, text)
    assert [v.claim.text for v in strict.flagged] == [text]
    lenient = guard_of(policy=Policy(weak=("false", "doubtful")))
    assert not lenient.check("Where is Rome?", passages, text).flagged


@pytest.mark.parametrize(
    ("policy", "flagged"),
    [
        (Policy(), [False, True, False, False]),
        (Policy(weak=("false",)), [False, False, False, False]),
        (Policy(on_error="closed"), [False, True, True, False]),
    ],
)
def test_json_says_what_the_policy_that_was_applied_flags(policy, flagged):
    labels = ("supported", "doubtful", "unverified", "not-a-claim")
    found = tuple(verdict(label, None) for label in labels)
    row = GuardedAnswer("t", "t", found, "partial", weak=policy.acts_against).to_dict()
    assert [v["flagged"] for v in row["verdicts"]] == [policy.is_weak(v) for v in found] == flagged
    assert row["flagged"] == sum(flagged)


def test_the_score_is_that_of_the_weakest_claim():
    lost = verdict("unverified", None)
    answer = GuardedAnswer("t", "t", (verdict("supported", 0.9), verdict("false", 0.1), lost), "ok")
    assert answer.score == 0.1
    assert GuardedAnswer("t", "t", (lost,), "unverified").score is None


def test_a_repr_is_one_short_line():
    long = "y" * 500
    answer = GuardedAnswer(long, long, (verdict("false", 0.25),) * 3, "ok")
    assert repr(answer).startswith("<GuardedAnswer ok: 3 claims, 3 flagged, score 0.25: 'yyy")
    one = GuardedAnswer(long, long, (verdict("supported", 0.9),), "ok")
    assert repr(one).startswith("<GuardedAnswer ok: 1 claim, 0 flagged, score 0.90: 'yyy")
    told = "<Verdict false, P(true) 0.25, P(faithful) unknown: 'xxx"
    assert repr(answer.verdicts[0]).startswith(told)
    assert max(map(len, map(repr, (answer, answer.verdicts[0])))) < 130


def test_check_many_takes_tuples_and_traces_alike():
    given = ("Where is Rome?", PASSAGES, "Rome is in Italy.")
    one, other = guard_of().check_many([given, trace_of(*given)])
    assert one.verdicts == other.verdicts
    with pytest.raises(TypeError, match="a Trace or a tuple"):
        list(guard_of().check_many(["Where is Rome?"]))


def test_without_evidence_no_stretch_is_looked_for_and_labels_stay():
    class Counting(FakeFaithfulness):
        asked = 0

        def evidence(self, passages, claims):
            self.asked += 1
            return super().evidence(passages, claims)

    given = ("Where is Rome?", PASSAGES, "Rome is in Italy. Rome is in Peru.")
    model = Counting()
    bare = Guard(faithfulness=model, evidence=False).check(*given)
    full = Guard(faithfulness=FakeFaithfulness()).check(*given)
    assert model.asked == 0
    assert [v.label for v in bare.verdicts] == [v.label for v in full.verdicts]
    assert {v.evidence for v in bare.verdicts} == {v.against for v in bare.verdicts} == {None}
    assert any(v.evidence for v in full.verdicts)


def test_a_stretch_of_a_passage_that_is_not_there_harms_nothing():
    class Wrong(FakeFaithfulness):
        def evidence(self, passages, claims):
            from franq_guard import Evidence

            return [Evidence(7, 0, 4, 0.9)] * len(claims)

    answer = Guard(faithfulness=Wrong()).check("Where?", PASSAGES, "Rome is in Italy.")
    assert answer.status == "ok"
    assert "Rome" in answer.to_html()


def test_the_offline_guard_takes_another_language_model():
    model = FakeLanguageModel()
    guard = Guard.offline(language_model=model, form="short", deadline=3)
    assert guard.language_model is model
    assert (guard.form, guard.deadline) == ("short", 3)


def test_a_batch_is_a_table_with_a_row_for_each_claim():
    rows = [("Where?", PASSAGES, "Rome is in Italy. Rome is in Peru."), ("Where?", PASSAGES, "")]
    first, second = claim_table(guard_of().check_many(rows))
    assert (first["answer"], second["answer"]) == (0, 0)
    assert first["question"] == "Where?"
    assert first["evidence"] == "Rome is in Italy."
    assert first["score"] == second["score"] <= min(first["p_true"], second["p_true"])
    assert isinstance(first["flagged"], bool)


def test_a_table_without_pandas_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        to_dataframe([])


def test_the_table_has_its_columns_even_where_it_is_empty(monkeypatch):
    from types import SimpleNamespace

    fake = SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", fake)
    rows, columns = to_dataframe(guard_of().check_many([("Where?", PASSAGES, "Rome is old.")]))
    assert list(rows[0]) == columns == to_dataframe([])[1]


def test_the_html_is_loaded_only_when_it_is_asked_for():
    program = (
        "import sys; from franq_guard import GuardedAnswer; a = GuardedAnswer('t', 't', (), 'ok');"
        "print('franq_guard.report' in sys.modules); a.to_html()"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (said.stdout, said.stderr) == ("False\n", "")


@pytest.mark.parametrize("path", ["/nope", "./nope", "a/b/c"])
def test_a_model_folder_that_is_not_there_is_said(path):
    from franq_guard.language_model import MissingModelError, TransformersModel

    with pytest.raises(MissingModelError, match=f"^there is no folder {path}$"):
        TransformersModel.from_pretrained(path)


def test_parts_of_an_answer_put_together_keep_passages_that_they_share():
    from franq_guard.capture.job import joined

    check = guard_of().check
    one, other = (check("Where?", PASSAGES, text) for text in ("Rome is old.", "Rome is big."))
    assert joined(("", " "), [one, other]).passages == one.passages
    elsewhere = check("Where?", ["It rains."], "Rome is big.")
    assert joined(("", " "), [one, elsewhere]).passages == ()


def test_a_failed_check_still_has_what_was_checked():
    def broken():
        raise OSError("out of order")

    trace = trace_of("Where?", ["It rains."], "Rome is old.")
    answer = Guard(faithfulness=FakeFaithfulness(fail=broken)).check_trace(trace)
    assert answer.status == "unverified"
    assert (answer.question, answer.passages) == (trace.question, trace.passages)


def test_a_blank_answer_says_why_it_is_unverified():
    answer = guard_of().check("Where?", PASSAGES, " \n")
    assert (answer.status, answer.reason) == ("unverified", "no_answer")
    assert answer.to_dict()["reason"] == "no_answer"
    assert "reason" not in guard_of().check("Where?", PASSAGES, "Rome.").to_dict()


JSON = '{"answer": "Rome is old.", "sources": [1]}'


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (f"```json\n{JSON}\n```", "no_claims"),
        (f"Sure! Here is the answer:\n```json\n{JSON}\n```", "no_claims"),
        ("```\nRome is old.\n```", "no_claims"),
        ("<think>Rome is old.", "no_claims"),
        ("<!-- Rome is old. -->", "no_claims"),
        ("Empty Response", "no_answer"),
        ("\U0001f44d", "no_answer"),
    ],
)
def test_an_answer_of_which_nothing_could_be_read_is_no_pass(answer, reason):
    checked = guard_of().check("Where?", PASSAGES, answer)
    assert (checked.status, checked.reason, checked.text) == ("unverified", reason, answer)
    assert checked.to_dict()["reason"] == reason


@pytest.mark.parametrize("answer", ["I don't know.", "<think>Is it?</think>\nI don't know.", "Hi!"])
def test_an_answer_that_states_nothing_is_no_fault(answer):
    checked = guard_of().check("Where?", PASSAGES, answer)
    assert (checked.status, checked.reason) == ("ok", None)


@pytest.mark.parametrize("action", ["filter", "block"])
def test_a_closed_policy_replaces_an_answer_of_nothing_but_code(action):
    code = f"```json\n{JSON}\n```"
    closed = Policy(action=action, on_error="closed")
    assert guard_of(policy=closed).check("Where?", PASSAGES, code).text == closed.replacement
    assert guard_of(policy=Policy(action=action)).check("Where?", PASSAGES, code).text == code
    both = f"Rome is in Italy.\n{code}"
    assert guard_of(policy=closed).check("Where?", PASSAGES, both).text == both
