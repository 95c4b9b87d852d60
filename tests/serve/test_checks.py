"""``/v1/check`` and ``/v1/check/batch``: every status, and nobody gets another's answer."""

import asyncio
import json
import sys

import pytest

from franq_guard.policy import Policy
from franq_guard.records import Claim, GuardedAnswer, Verdict
from franq_guard.serve.checks import _numbered
from franq_guard.serve.documents import ANSWER_EXAMPLE, TRACE_EXAMPLE
from franq_guard.serve.security import GATEWAY_PATH
from franq_guard.testing import FakeGuard

from .conftest import TRACE, FailingGuard, HeldGuard, begun, serving


def error(reply):
    return reply.status_code, reply.json()["error"]["code"]


def test_a_trace_gives_an_answer(run, fake_guard):
    async def main():
        async with serving(fake_guard) as (client, _):
            return await client.post("/v1/check", json=TRACE_EXAMPLE)

    reply = run(main())
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    answer = reply.json()
    assert (answer["schema"], answer["id"], answer["status"]) == ("franq.answer/1", "1", "ok")
    assert [v["claim"]["text"] for v in answer["verdicts"]] == [
        v["claim"]["text"] for v in ANSWER_EXAMPLE["verdicts"]
    ]
    assert set(answer) == set(ANSWER_EXAMPLE)
    assert set(answer["verdicts"][0]) == set(ANSWER_EXAMPLE["verdicts"][0])


def test_headers_tell_labels_and_reasons_but_no_text(run):
    class Mixed(FakeGuard):
        def check_many(self, traces, *, batch_size=8):
            claim = Claim("Ann did.", ((0, 8),))
            labels = ["doubtful", "false", "supported", "not-a-claim"]
            found = [Verdict(claim, 0.1, 0.1, 0.1, 0.1, {}, label) for label in labels]
            lost = Verdict(claim, None, None, None, None, {}, "unverified", "no_logprobs")
            for trace in traces:
                text = trace.generation.text
                yield GuardedAnswer(text, text, (*found, lost), "partial")

    async def main():
        async with serving(Mixed()) as (client, _):
            return (await client.post("/v1/check", json=TRACE)).headers

    headers = run(main())
    assert headers["x-franq-status"] == "partial"
    assert headers["x-franq-warnings"] == "false,doubtful,unverified"
    assert headers["x-franq-unverified"] == "no_logprobs"
    assert "Ann" not in str(headers)


@pytest.mark.parametrize(
    ("policy", "warned"),
    [(Policy(), "unsupported"), (Policy(weak=("false", "doubtful")), "")],
)
def test_headers_warn_of_what_the_policy_flags(run, policy, warned):
    async def main():
        guard = FakeGuard(label="unsupported", reason="prior", policy=policy)
        async with serving(guard) as (client, _):
            return await client.post("/v1/check", json=TRACE)

    reply = run(main())
    assert reply.headers["x-franq-warnings"] == warned
    assert "x-franq-unverified" not in reply.headers  # a remark on P(true) is no failure
    assert reply.json()["verdicts"][0]["reason"] == "prior"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b'{"answer": NaN}', "not_json"),
        (b'{"answer": 1e999}', "not_json"),
        (b"\xff\xfe{}", "not_utf8"),
        (b"[" * 100_000, "too_deep"),
        (b'{"a":' * 100_000, "too_deep"),
        (b"[]", "bad_request"),
        (b"3", "bad_request"),
        (json.dumps({**TRACE, "question": " "}).encode(), "bad_request"),
        (json.dumps({**TRACE, "passages": "one"}).encode(), "bad_request"),
        (json.dumps({**TRACE, "deadline": 0}).encode(), "bad_request"),
        (json.dumps({**TRACE, "deadline": "soon"}).encode(), "bad_request"),
        (json.dumps({**TRACE, "deadline": True}).encode(), "bad_request"),
        (json.dumps({**TRACE, "on_error": "ignore"}).encode(), "bad_request"),
    ],
)
def test_what_cannot_be_read_is_422(run, body, code):
    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check", content=body)

    reply = run(main())
    assert error(reply) == (422, code)
    assert reply.json()["error"]["message"]


def test_a_body_of_very_many_values_is_413_before_it_is_parsed(run):
    """Parsing 16 MiB of empty lists would hold up all other requests for seconds."""
    row = json.dumps({**TRACE, "metadata": ["a, b"] * 100_000}).encode()  # 200,000 commas
    many = row.replace(b"a, b", b"," * 100)

    async def main():
        async with serving(max_body_bytes=20_000_000) as (client, _):
            return [await client.post("/v1/check", content=body) for body in (row, many)]

    taken, refused = run(main())
    assert taken.status_code == 200
    assert error(refused) == (413, "too_many_values")


def test_a_complaint_names_the_key(run):
    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check", json={"question": "q", "passages": []})

    assert "'answer' is missing" in run(main()).json()["error"]["message"]


def test_a_complaint_calls_values_as_json_does(run):
    async def main():
        async with serving() as (client, _):
            return [await client.post("/v1/check", content=body) for body in (b"null", b"[]")]

    told = [reply.json()["error"]["message"] for reply in run(main())]
    assert told == [f"the body must be a JSON object, not {kind}" for kind in ("null", "a list")]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"passages": ["p"] * 3}, "too_many_passages"),
        ({"passages": ["p" * 31]}, "passages_too_long"),
        ({"passages": [{"text": "p" * 16}, "p" * 15]}, "passages_too_long"),
        # 31 = 16 + 15, whatever the text is called, and with the title
        ({"passages": [{"page_content": "p" * 16}, "p" * 15]}, "passages_too_long"),
        ({"passages": [{"content": "p" * 31}]}, "passages_too_long"),
        ({"passages": [{"text": "p" * 16, "title": "t" * 15}]}, "passages_too_long"),
        (
            {"passages": [{"text": "p" * 16, "metadata": {"title": "t" * 15}}]},
            "passages_too_long",
        ),
        # those of one query of a vector store, and one that a framework has wrapped
        ({"passages": [["p"] * 3]}, "too_many_passages"),
        ({"passages": [{"node": {"text": "p" * 31}}]}, "passages_too_long"),
        ({"passages": [{"text": "p" * 16, "id": "i" * 15}]}, "passages_too_long"),
        ({"answer": "a" * 21}, "answer_too_long"),
        ({"samples": ["a" * 21]}, "answer_too_long"),
        ({"samples": [{"text": "a" * 21}]}, "answer_too_long"),
        ({"claims": [{"text": "a"}] * 3}, "too_many_claims"),
        # 21 = 10 + 11
        ({"claims": [{"text": "a" * 10}, "a" * 11]}, "claims_too_long"),
        ({"samples": ["a"] * 3}, "too_many_samples"),
        ({"prompt": "p" * 31}, "prompt_too_long"),
        ({"contrast": "p" * 31}, "contrast_too_long"),
        ({"question": "q" * 31}, "question_too_long"),
    ],
)
def test_what_is_too_much_is_413(run, row, code):
    limits = {
        "max_passages": 2,
        "max_passage_chars": 30,
        "max_answer_chars": 20,
        "max_claims": 2,
        "max_samples": 2,
    }

    async def main():
        async with serving(**limits) as (client, _):
            assert (await client.post("/v1/check", json=TRACE)).status_code == 200
            return await client.post("/v1/check", json={**TRACE, **row})

    assert error(run(main())) == (413, code)


def test_a_batch_of_blank_lines_holds_nobody_up():
    steps = 0

    def count(frame, event, arg):
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        found = list(_numbered(b"\n" * 10_000 + b" \t a \r\n\n b" + b"\r\n " * 10_000))
    finally:
        sys.settrace(before)
    assert found == [(10_001, b"a"), (10_003, b"b")]
    assert steps < 100  # not one for each line, which would be done on the event loop


async def left(app, path, row, gone):
    """The status of a request whose client disconnects at ``gone``."""
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST"}
    scope |= {"path": path, "raw_path": path.encode(), "query_string": b"", "headers": []}
    body = [{"type": "http.request", "body": json.dumps(row).encode(), "more_body": False}]
    sent = []

    async def receive():
        if body:
            return body.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"]


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("/v1/check", TRACE),
        (
            GATEWAY_PATH,
            {"input_type": "response", "texts": ["Ann did."]}
            | {"request_data": {"franq": {"passages": ["Ann did."], "question": "Who?"}}},
        ),
    ],
)
def test_an_answer_whose_client_has_left_gives_its_place_back(run, path, row):
    async def main():
        guard, gone = HeldGuard(), asyncio.Event()
        async with serving(guard, queue=1, window_ms=0) as (client, app):
            first = asyncio.create_task(client.post("/v1/check", json=TRACE))
            await begun(guard)
            second = asyncio.create_task(left(app, path, row, gone))
            while not app.state.checker.waiting:
                await asyncio.sleep(0.001)
            gone.set()
            async with asyncio.timeout(60):
                status = await second
            waiting = app.state.checker.waiting
            guard.go.set()
            await first
            return status, waiting, len(guard.traces)

    assert run(main()) == (499, 0, 1)


def test_a_full_queue_is_503_at_once_with_retry_after(run):
    async def main():
        guard = HeldGuard()
        async with serving(guard, queue=1, window_ms=0) as (client, app):
            first = asyncio.create_task(client.post("/v1/check", json=TRACE))
            await begun(guard)
            second = asyncio.create_task(client.post("/v1/check", json=TRACE))
            while not app.state.checker.waiting:
                await asyncio.sleep(0.001)
            refused = await client.post("/v1/check", json=TRACE)
            guard.go.set()
            return refused, await first, await second

    refused, *others = run(main())
    assert error(refused) == (503, "queue_full")
    assert int(refused.headers["retry-after"]) >= 1
    assert [reply.status_code for reply in others] == [200, 200]


@pytest.mark.parametrize("header", [True, False])
def test_a_deadline_of_header_or_field_makes_the_answer_unverified(run, header):
    asked = {"x-franq-deadline": "0.01"} if header else {}
    row = TRACE if header else {**TRACE, "deadline": 0.01}

    async def main():
        guard = HeldGuard()
        async with serving(guard) as (client, _):
            reply = await client.post("/v1/check", json=row, headers=asked)
            guard.go.set()
            return reply

    reply = run(main())
    assert reply.status_code == 200
    assert reply.headers["x-franq-status"] == "unverified"
    assert reply.headers["x-franq-unverified"] == "timeout"
    assert reply.json()["verdicts"][0]["reason"] == "timeout"


@pytest.mark.parametrize("value", ["-1", "0", "nan", "inf", "soon", "1e999"])
def test_a_deadline_that_is_none_is_422(run, value):
    async def main():
        async with serving() as (client, _):
            asked = {"x-franq-deadline": value}
            one = await client.post("/v1/check", json=TRACE, headers=asked)
            many = await client.post("/v1/check/batch", json=TRACE, headers=asked)
            return one, many

    for reply in run(main()):
        assert error(reply) == (422, "bad_request")


def test_a_check_that_raises_is_unverified_and_counted(run, caplog):
    async def main():
        async with serving(FailingGuard()) as (client, _):
            reply = await client.post("/v1/check", json={**TRACE, "answer": "poison"})
            return reply, (await client.get("/metrics")).text

    reply, metrics = run(main())
    assert reply.status_code == 200
    assert reply.headers["x-franq-status"] == "unverified"
    assert reply.headers["x-franq-unverified"] == "error"
    assert "[unverified]" in reply.json()["text"]
    assert 'franq_unverified_claims_total{reason="error"} 1.0' in metrics
    assert "poison" not in caplog.text
    assert "secret" not in caplog.text


def test_a_request_may_be_stricter_but_not_less(run):
    guard = FailingGuard(policy=Policy(action="block"))
    row = {**TRACE, "answer": "poison"}

    async def main():
        async with serving(guard) as (client, _):
            closed = {"x-franq-on-error": "closed"}
            answer = (await client.post("/v1/check", json=row)).json()
            assert ("poison" in answer["text"], answer["flagged"]) == (True, 0)
            for asked, header in (({"on_error": "closed"}, {}), ({}, closed)):
                reply = await client.post("/v1/check", json={**row, **asked}, headers=header)
                assert reply.json()["text"] == guard.policy.replacement
                assert (
                    reply.json()["flagged"]
                    == sum(v["flagged"] for v in reply.json()["verdicts"])
                    == 1
                )
        async with serving(guard, on_error="closed") as (client, _):
            reply = await client.post("/v1/check", json=row)
            assert reply.json()["text"] == guard.policy.replacement
            refused = await client.post("/v1/check", json={**row, "on_error": "open"})
            assert error(refused) == (422, "bad_request")

    run(main())


def test_two_hundred_at_once_get_each_their_own(run):
    async def main():
        guard = FakeGuard()
        async with serving(guard) as (client, _):

            async def one(i):
                row = {
                    "id": str(i),
                    "question": f"q{i}?",
                    "passages": [{"title": f"title-{i}-", "text": f"secret-{i}-"}],
                    "answer": f"answer-{i}-",
                }
                return (await client.post("/v1/check", json=row)).json()

            answers = await asyncio.gather(*map(one, range(200)))
        return guard, answers

    guard, answers = run(main())
    for i, answer in enumerate(answers):
        assert answer["id"] == str(i)
        assert answer["text"] == f"answer-{i}- [checked: title-{i}-]"
    assert max(guard.batches) == 16
    assert sum(guard.batches) == 200


def test_a_batch_gives_a_line_for_each_in_order(run):
    lines = [
        json.dumps({**TRACE, "id": "a"}).encode(),
        b"",
        b'{"id": "b", "question": 3}',
        b"\xff",
        b"[" * 100_000,
        json.dumps({**TRACE, "id": "c", "answer": "a" * 101}).encode(),
        json.dumps({**TRACE, "id": "d", "answer": "poison"}).encode(),
        json.dumps({**TRACE, "id": "e", "padding": "x" * 200_000}).encode(),
        json.dumps({**TRACE, "id": 7}).encode(),
    ]

    async def main():
        settings = {"max_answer_chars": 100, "max_body_bytes": 150_000}
        async with serving(FailingGuard(), **settings) as (client, _):
            return await client.post("/v1/check/batch", content=b"\n".join(lines))

    reply = run(main())
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    rows = [json.loads(line) for line in reply.text.splitlines()]
    assert [row.get("line") for row in rows] == [None, 3, 4, 5, 6, None, 8, None]
    assert [row.get("id") for row in rows] == ["a", "b", None, None, "c", "d", "e", "7"]
    assert [row["schema"] for row in rows if "line" in row] == ["franq.error/1"] * 5
    assert rows[5]["status"] == "unverified"


def test_a_batch_is_checked_together_and_waits_where_the_queue_is_short(run):
    async def main():
        guard = FakeGuard()
        body = "\n".join(json.dumps({**TRACE, "id": i}) for i in range(300))
        async with serving(guard, queue=3, batch_size=8) as (client, _):
            reply = await client.post("/v1/check/batch", content=body)
        return guard, [json.loads(line)["id"] for line in reply.text.splitlines()]

    guard, ids = run(main())
    assert ids == [str(i) for i in range(300)]
    assert max(guard.batches) > 1


def test_one_batch_more_than_may_be_in_work_is_503_with_retry_after(run):
    lines = "\n".join(json.dumps({**TRACE, "id": i}) for i in range(3))

    async def main():
        guard = HeldGuard()
        async with serving(guard, batches=1, window_ms=0) as (client, _):
            first = asyncio.create_task(client.post("/v1/check/batch", content=lines))
            await begun(guard)
            refused = await client.post("/v1/check/batch", content=lines)
            guard.go.set()
            last = [await first, await client.post("/v1/check/batch", content=lines)]
            metrics = (await client.get("/metrics")).text
        return refused, last, metrics

    refused, others, metrics = run(main())
    assert error(refused) == (503, "batches_full")
    assert int(refused.headers["retry-after"]) >= 1
    assert [len(reply.text.splitlines()) for reply in others] == [3, 3]
    assert 'franq_errors_total{code="batches_full"} 1.0' in metrics


def test_batches_leave_room_in_the_queue_for_single_answers(run):
    """All batches fill the next round; else some of them would fill the queue for hours."""
    lines = "\n".join(json.dumps({**TRACE, "id": i}) for i in range(300))

    async def main():
        guard = HeldGuard()
        async with serving(guard, queue=20, batch_size=4, window_ms=0) as (client, app):
            batches = [
                asyncio.create_task(client.post("/v1/check/batch", content=lines)) for _ in "1234"
            ]
            await begun(guard)
            while app.state.checker.waiting < 4:
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.05)  # for those that would be too many
            waiting = app.state.checker.waiting
            one = asyncio.create_task(client.post("/v1/check", json=TRACE))
            guard.go.set()
            return waiting, (await one).status_code, [(await b).text.count("\n") for b in batches]

    assert run(main()) == (4, 200, [300] * 4)


def test_an_empty_batch_is_empty(run):
    async def main():
        async with serving() as (client, _):
            return await client.post("/v1/check/batch", content=b"\n\n")

    reply = run(main())
    assert (reply.status_code, reply.text) == (200, "")


def test_text_that_utf8_cannot_hold_comes_back(run, fake_guard):
    async def main():
        async with serving(fake_guard) as (client, _):
            body = b'{"question": "q", "passages": ["\\ud800"], "answer": "An \\udfff end."}'
            return await client.post("/v1/check", content=body)

    reply = run(main())
    assert reply.status_code == 200
    assert "\\udfff" in reply.text
