"""A deadline begins when the body of its request has arrived, so that reading it counts, too."""

import json
import time

import httpx
import pytest

from franq_guard.claims.alignment import Index
from franq_guard.rows.traces import trace_of
from franq_guard.serve.checker import Checker
from franq_guard.serve.litellm import Gateway
from franq_guard.serve.settings import ServeSettings
from franq_guard.testing import FakeGuard

from .conftest import TRACE, serving
from .test_running import listening

CLAIMS = ["Ann did.", "It was Ann.", "Ann did it."]
SECONDS = 0.05


@pytest.fixture
def located(monkeypatch):
    """The claims that were looked for in an answer; to look for one takes all of a deadline."""
    claims, align = [], Index.align

    def slow(self, claim, *, within=None):
        claims.append(claim)
        time.sleep(SECONDS)
        return align(self, claim, within=within)

    monkeypatch.setattr(Index, "align", slow)
    return claims


def reasons(answer):
    return {verdict["reason"] for verdict in answer["verdicts"]}


@pytest.mark.parametrize("place", ["header", "field", "settings"])
def test_locating_given_claims_counts_and_ends_at_the_deadline(fake_guard, located, place):
    headers = {"x-franq-deadline": str(SECONDS)} if place == "header" else {}
    fields = {"deadline": SECONDS} if place == "field" else {}
    settings = {"deadline": SECONDS} if place == "settings" else {}
    row = {**TRACE, **fields, "answer": "Ann did. Bob slept.", "claims": CLAIMS}
    with listening(fake_guard, **settings) as (_, address, _thread):
        reply = httpx.post(f"{address}/v1/check", json=row, headers=headers, timeout=60)
    assert reply.status_code == 200
    assert reply.headers["x-franq-status"] == "unverified"
    answer = reply.json()
    assert reasons(answer) == {"timeout"}
    # No claim is missing, given or not, and the text is marked.
    assert [v["claim"]["text"] for v in answer["verdicts"]] == [*CLAIMS, "Bob slept."]
    assert "[unverified]" in answer["text"]
    assert len(located) <= 1  # none after the deadline, for its reply either


def test_without_a_deadline_all_given_claims_are_located(fake_guard, located):
    row = {**TRACE, "claims": CLAIMS}
    with listening(fake_guard) as (_, address, _thread):
        answer = httpx.post(f"{address}/v1/check", json=row, timeout=60).json()
    assert answer["status"] == "ok"
    assert set(located) == set(CLAIMS)


def test_a_line_of_a_batch_has_a_deadline_of_its_own_for_its_reading(run, fake_guard, located):
    rows = [{**TRACE, "claims": CLAIMS, "deadline": SECONDS}, TRACE]

    async def main():
        async with serving(fake_guard) as (client, _):
            body = "\n".join(map(json.dumps, rows))
            return (await client.post("/v1/check/batch", content=body)).text

    late, other = map(json.loads, run(main()).splitlines())
    assert reasons(late) == {"timeout"}
    assert len(located) <= 1
    assert other["status"] == "ok"


def test_what_was_spent_on_reading_leaves_nothing_for_the_check(run):
    async def main():
        guard = FakeGuard()
        checker = Checker(guard, ServeSettings())
        trace, now = trace_of("Who?", ["Ann did."], "Ann did."), time.perf_counter()
        late = await checker.check(trace, deadline=30, began=now - 60)
        assert guard.batches == []
        in_time = await checker.check(trace, deadline=120, began=now - 60)
        return late, in_time

    late, in_time = run(main())
    assert [verdict.reason for verdict in late.verdicts] == ["timeout"]
    assert in_time.status == "ok"


def test_that_a_line_waits_for_the_others_of_its_batch_is_not_counted(run, monkeypatch):
    clock, minutes = time.perf_counter, [0]

    async def room(self):
        minutes[0] += 1

    monkeypatch.setattr(time, "perf_counter", lambda: clock() + 60 * minutes[0])
    monkeypatch.setattr(Checker, "room", room)

    async def main():
        async with serving() as (client, _):
            asked = {"x-franq-deadline": "30"}
            return await client.post("/v1/check/batch", json=TRACE, headers=asked)

    assert json.loads(run(main()).text)["status"] == "ok"
    assert minutes == [1]


def test_the_deadline_of_a_gateway_begins_with_its_call(run):
    row = {
        "input_type": "response",
        "texts": ["Ann did."],
        "additional_provider_specific_params": {
            "franq": {"question": "Who?", "passages": ["Ann did."], "deadline": 30}
        },
    }

    async def main():
        settings = ServeSettings()
        gateway = Gateway(Checker(FakeGuard(), settings), settings)
        now = time.perf_counter()
        return [await gateway.reply(row, arrived) for arrived in (now, now - 60)]

    in_time, late = run(main())
    assert in_time["texts"] == ["Ann did. [checked: ]"]
    assert late["texts"] == ["Ann did. [unverified]"]
