"""LiteLLM's generic guardrail: the two questions, the three actions, the stream."""

import pytest

from franq_guard import Guard
from franq_guard.calibration import Calibrator
from franq_guard.policy import Policy
from franq_guard.serve.checker import Checker
from franq_guard.serve.litellm import Gateway
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeFaithfulness, FakeGuard, FakeLanguageModel

from .conftest import FailingGuard, HeldGuard, serving

PATH = "/beta/litellm_basic_guardrail_api"
MESSAGES = [
    {"role": "system", "content": "<context>Ann met Bob in Bonn.</context>"},
    {"role": "user", "content": "Whom did Ann meet?"},
]
TRUE, FALSE = "Ann met Bob in Bonn.", "Zeno bought seventeen zebras yesterday."
ASKED = {
    "input_type": "request",
    "litellm_call_id": "call-1",
    "texts": ["Whom did Ann meet?"],
    "structured_messages": MESSAGES,
    "request_data": {"user_api_key_hash": "h"},
}


def answered(*texts, **more):
    return {"input_type": "response", "litellm_call_id": "call-1", "texts": list(texts), **more}


def with_extension(**given):
    return {"additional_provider_specific_params": {"franq": given}}


def real(action="annotate", **policy):
    return Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        policy=Policy(action=action, **policy),
        franq=Calibrator.uncalibrated(),
    )


def conversation(run, guard, *rows, **settings):
    async def main():
        async with serving(guard, **settings) as (client, _):
            return [await client.post(PATH, json=row) for row in rows]

    replies = run(main())
    assert [reply.status_code for reply in replies] == [200] * len(rows)
    return [reply.json() for reply in replies]


def test_a_request_passes_and_its_passages_serve_the_response(run):
    guard = FakeGuard()
    first, second = conversation(run, guard, ASKED, answered(TRUE))
    assert first == {"action": "NONE"}
    assert second["action"] == "GUARDRAIL_INTERVENED"  # the fake marks every text
    trace = guard.traces[0]
    assert (trace.question, trace.generation.text) == ("Whom did Ann meet?", TRUE)
    assert [passage.text for passage in trace.passages] == ["Ann met Bob in Bonn."]


def test_what_holds_is_left_alone_and_what_does_not_is_rewritten(run):
    _, clean, weak = conversation(run, real(), ASKED, answered(TRUE), answered(f"{TRUE} {FALSE}"))
    assert clean["action"] == "NONE"
    assert "texts" not in clean
    assert weak["action"] == "GUARDRAIL_INTERVENED"
    assert weak["texts"][0].startswith(TRUE)
    assert weak["texts"][0] != f"{TRUE} {FALSE}"


def test_filter_takes_weak_claims_out(run):
    _, reply = conversation(run, real("filter"), ASKED, answered(f"{TRUE} {FALSE}"))
    assert reply["texts"] == [TRUE]


def test_block_blocks_and_gives_labels_but_no_text(run):
    _, good, bad = conversation(run, real("block"), ASKED, answered(TRUE), answered(FALSE))
    assert good["action"] == "NONE"
    assert bad == {"action": "BLOCKED", "blocked_reason": "franq: 1 of 1 claims: 1 false"}


def test_each_choice_has_its_text_and_its_holdback(run):
    _, reply = conversation(run, real(), ASKED, answered(TRUE, FALSE, ""))
    assert len(reply["texts"]) == len(reply["stream_holdback_chars"]) == 3
    assert reply["texts"][0] == TRUE
    assert reply["texts"][2] == ""


@pytest.mark.parametrize(
    "more",
    [
        {
            "additional_provider_specific_params": {
                "franq": {"passages": [TRUE], "question": "Who?"}
            }
        },
        {
            "additional_provider_specific_params": {"documents": [{"text": TRUE}]},
            "structured_messages": MESSAGES[1:],
        },
        {"request_data": {"franq": {"passages": [{"text": TRUE}], "question": "Who?"}}},
        {"request_data": {"documents": [TRUE]}, "structured_messages": MESSAGES[1:]},
        {"structured_messages": [*MESSAGES[1:], {"role": "tool", "content": TRUE}]},
    ],
)
def test_passages_of_the_response_itself_need_no_request(run, more):
    guard = FakeGuard()
    conversation(run, guard, answered(TRUE, **more))
    assert [passage.text for passage in guard.traces[0].passages] == [TRUE]
    assert guard.batches == [1]


def test_parameters_alone_complete_the_kept_question(run):
    guard = FakeGuard()
    conversation(run, guard, ASKED, answered(TRUE, **with_extension(passages=["Other."])))
    assert guard.traces[0].question == "Whom did Ann meet?"
    assert [passage.text for passage in guard.traces[0].passages] == ["Other."]


def test_a_prompt_without_messages_is_read_too(run):
    guard = FakeGuard()
    prompt = "<context>Ann met Bob.</context> Whom?"
    request = {**ASKED, "texts": [prompt], "structured_messages": None}
    conversation(run, guard, request, answered(TRUE))
    assert guard.traces[0].question == "Whom?"
    assert guard.batches == [1]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (None, "no_evidence"),
        ({**ASKED, "litellm_call_id": "other"}, "no_evidence"),
        ({**ASKED, "structured_messages": MESSAGES[1:]}, "no_evidence"),
        ({**ASKED, "structured_messages": MESSAGES[:1]}, "no_prompt"),
    ],
)
def test_without_passages_or_question_nothing_is_passed_as_checked(run, asked, reason):
    seen = []

    class Seeing(FakeGuard):
        def unverified(self, trace, reason, *, detail=""):
            seen.append(reason)
            return super().unverified(trace, reason, detail=detail)

    rows = [row for row in (asked, answered(TRUE)) if row]
    *_, reply = conversation(run, Seeing(), *rows)
    assert reply["action"] == "GUARDRAIL_INTERVENED"
    assert reply["texts"] == [f"{TRUE} [unverified]"]
    assert seen == [reason]


def test_unverified_is_blocked_where_errors_are_closed(run):
    closed = with_extension(on_error="closed")
    guard = real("block")
    opened, shut = conversation(run, guard, answered(TRUE), answered(TRUE, **closed))
    assert opened["action"] == "GUARDRAIL_INTERVENED"
    assert "[unverified]" in opened["texts"][0]
    assert shut == {"action": "BLOCKED", "blocked_reason": "franq: 1 of 1 claims: 1 unverified"}
    (reply,) = conversation(run, guard, answered(TRUE), on_error="closed")
    assert reply["action"] == "BLOCKED"
    by_request = {"request_data": {"franq": {"on_error": "closed"}}}
    (reply,) = conversation(run, guard, answered(TRUE, **by_request))
    assert reply["action"] == "BLOCKED"


def test_a_check_that_raises_or_takes_too_long_is_marked(run):
    poisoned = conversation(run, FailingGuard(), ASKED, answered("poison"))[1]
    assert poisoned["texts"] == ["poison [unverified]"]

    async def main():
        guard = HeldGuard()
        async with serving(guard) as (client, _):
            await client.post(PATH, json=ASKED)
            hurried = answered(TRUE, **with_extension(deadline=0.01))
            reply = await client.post(PATH, json=hurried)
            guard.go.set()
            return reply.json()

    assert run(main())["texts"] == [f"{TRUE} [unverified]"]


def test_a_call_of_a_tool_has_nothing_to_check(run):
    guard = FakeGuard()
    for row in (answered(), answered("", " "), {**answered(), "texts": None}):
        (reply,) = conversation(run, guard, row)
        assert reply["action"] == "NONE"
    assert guard.traces == []


def streamed(run, guard, text, step=9):
    """What a client of the gateway gets, by what it got from round to round."""
    rows = [answered(text[:cut]) for cut in range(step, len(text), step)]
    _, *replies = conversation(run, guard, ASKED, *rows, answered(text))
    out, outs = "", []
    for i, reply in enumerate(replies):
        assert reply["action"] != "BLOCKED"
        so_far = reply.get("texts", [rows[i]["texts"][0] if i < len(rows) else text])[0]
        assert so_far.startswith(out)
        held = reply["stream_holdback_chars"][0]
        out = so_far[: max(len(out), len(so_far) - held)]
        outs.append(out)
    return [*outs, so_far]


STREAM = (
    f"{TRUE} Ann met Bob, the one in Bonn, again. {FALSE} Ann met Bob in Bonn and in Bonn again."
)


@pytest.mark.parametrize("action", ["annotate", "filter"])
def test_a_stream_lets_out_what_is_settled_and_never_takes_it_back(run, action):
    outs = streamed(run, real(action), STREAM)
    assert outs[-1] == real(action).check("Whom?", [TRUE], STREAM).text
    assert TRUE in outs[-2]
    assert not any(out.endswith(FALSE[:20]) or FALSE in out for out in outs)


def test_a_stream_of_an_unknown_call_is_marked_as_it_goes(run):
    rows = [{**answered(STREAM[:cut]), "litellm_call_id": "x"} for cut in range(9, 120, 9)]
    for reply in conversation(run, real(), *rows):
        assert reply["action"] == "GUARDRAIL_INTERVENED"


def test_a_call_id_used_again_keeps_no_verdict_of_other_passages(run):
    """Clients may choose the id, such as one for a whole conversation."""
    other = {"role": "system", "content": f"<context>{FALSE}</context>"}
    asked_again = {**ASKED, "structured_messages": [other, MESSAGES[1]]}
    rows = [ASKED, answered(STREAM), asked_again, answered(STREAM)]
    _, good, _, again = conversation(run, real("filter"), *rows)
    assert TRUE in good["texts"][0]
    assert TRUE not in again["texts"][0]


def test_what_is_kept_is_bounded(run):
    async def main():
        gateway = Gateway(Checker(FakeGuard(), settings), settings)
        for i in range(50):
            await gateway.reply({**ASKED, "litellm_call_id": str(i)})
            await gateway.reply({**answered(TRUE), "litellm_call_id": str(i)})
        return gateway

    settings = ServeSettings(messages_kept=5, messages_chars=2000)
    gateway = run(main())
    assert len(gateway.contexts) == len(gateway.settled) == 5


@pytest.mark.parametrize("long", ["call", "passage"])
def test_ids_take_room_too(run, long):
    async def main():
        gateway = Gateway(Checker(FakeGuard(), settings), settings)
        for i in range(5):
            call = f"{i}{'c' * 400 * (long == 'call')}"
            passages = [{"text": TRUE, "id": "p" * 400 * (long == "passage")}]
            more = with_extension(question="Who?", passages=passages)
            await gateway.reply({**ASKED, **more, "litellm_call_id": call})
            await gateway.reply({**answered(TRUE), "litellm_call_id": call})
        return gateway

    settings = ServeSettings(messages_chars=1000)
    gateway = run(main())
    assert (len(gateway.contexts), len(gateway.settled)) == (2, 2)  # a third would be over 1000


def test_texts_of_a_refused_call_do_not_wait_on(run):
    async def main():
        async with serving(queue=2, window_ms=60_000) as (client, app):
            reply = await client.post(PATH, json={**ASKED, **answered(TRUE, TRUE, FALSE)})
            return reply.status_code, app.state.checker.waiting

    assert run(main()) == (503, 0)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({}, 422),
        ({"input_type": "other"}, 422),
        ({"input_type": "response", "texts": "a"}, 422),
        ({"input_type": "response", "texts": [1]}, 422),
        ({"input_type": "response", "litellm_call_id": 3}, 422),
        (
            {**answered(TRUE), "additional_provider_specific_params": {"franq": {"deadline": 0}}},
            422,
        ),
        (answered(TRUE, **with_extension(passages=TRUE)), 422),
        (answered(TRUE, request_data={"franq": {"passages": [{"txt": TRUE}]}}), 422),
        (answered("a" * 60_000), 413),
        ({**ASKED, **with_extension(question="q" * 500_001)}, 413),
        (answered(TRUE, **with_extension(question="q" * 500_001, passages=[TRUE])), 413),
        (answered(TRUE, **with_extension(passages=[{"text": TRUE, "id": "i" * 500_001}])), 413),
        ({**ASKED, "additional_provider_specific_params": {"documents": ["a"] * 101}}, 413),
    ],
)
def test_what_cannot_be_answered(run, row, status):
    async def main():
        async with serving() as (client, _):
            return await client.post(PATH, json=row)

    reply = run(main())
    assert reply.status_code == status
    assert reply.json()["error"]["code"]
