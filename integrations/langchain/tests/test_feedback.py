"""Feedback: what is sent, by LangSmith's own client too, and that no answer waits for it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from types import SimpleNamespace
from uuid import UUID, uuid4

import langsmith
import pytest
import requests
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.langchain import LangChainTracer
from requests.adapters import HTTPAdapter

from franq_guard import Claim, GuardedAnswer, Verdict
from langchain_franq import feedback_to, guard_chain, guard_node

from .fakes import ScriptedGuard, ScriptedLLM, expected, lcel, question

PROJECT = UUID(int=7)


class Client:
    """Keeps what it is sent; waits for ``gate`` where there is one."""

    def __init__(self, gate=None):
        self.sent, self.gate = [], gate

    def create_feedback(self, run_id, key, **values):
        if self.gate is not None:
            self.gate.wait()
        self.sent.append((run_id, key, values))


def answer_of(id):
    found = Verdict(Claim("It is.", ((0, 6),)), 0.9, 0.9, 0.9, 0.9, {}, "supported")
    return GuardedAnswer("It is.", "It is.", (found,), "ok", id=id)


def test_feedback_goes_to_the_guarded_run_and_never_breaks_it(caplog):
    class Broken(Client):
        def create_feedback(self, *args, **values):
            super().create_feedback(*args, **values)
            raise ConnectionError("no network")

    client = Broken()
    report = feedback_to(client)
    chain = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), on_report=report)
    assert chain.invoke(question(1), {"run_id": (run := uuid4())}) == expected(1)
    assert report.flush(10)
    ((run_id, key, values),) = client.sent
    assert (run_id, key) == (run, "franq")
    found = {"score": 0.9, "value": "ok", "comment": "supported: 1"}
    assert values == {**found, "trace_id": run, "session_id": None}
    assert "ConnectionError" in caplog.text


def test_no_answer_waits_and_what_does_not_fit_is_counted(caplog):
    client = Client(gate=threading.Event())
    report = feedback_to(client, queue_size=2)
    ids = [str(uuid4()) for _ in range(9)]
    for id in ids:
        report(answer_of(id))  # would wait for ever if it waited
    assert not report.flush(0.01)
    dropped = report.dropped
    assert dropped in (6, 7)  # one may have been taken off the queue already
    assert len([r for r in caplog.records if r.levelno == logging.WARNING]) == 1
    client.gate.set()
    assert report.close(10)
    assert [str(run_id) for run_id, *_ in client.sent] == ids[: 9 - dropped]
    report(answer_of(ids[0]))
    assert report.dropped == dropped + 1
    assert report.close(10)


def test_closing_gives_up_on_a_client_that_hangs():
    client = Client(gate=threading.Event())
    report = feedback_to(client)
    for _ in range(3):
        report(answer_of(str(uuid4())))
    assert not report.close(0.01)
    assert report.dropped in (2, 3)
    client.gate.set()


def test_an_answer_without_a_run_is_told_of(caplog):
    report = feedback_to(Client())
    report(answer_of("chatcmpl-1"))
    assert "no run is known" in caplog.text
    assert report.close()


class Wire(HTTPAdapter):
    """LangSmith's server, as far as feedback goes."""

    def __init__(self, flags):
        super().__init__()
        self.flags, self.asked, self.feedback = flags, [], []

    def send(self, request, **_):
        path = request.path_url.partition("?")[0]
        self.asked.append((request.method, path))
        reply = {}
        if path == "/info":
            reply = {"version": "0.14.0", "instance_flags": self.flags}
        elif path == "/sessions":
            reply = [{"id": str(PROJECT), "tenant_id": str(uuid4()), "reference_dataset_id": None}]
        elif path in ("/runs/multipart", "/feedback"):
            self.feedback += feedback_in(request.body)
        response = requests.Response()
        response.status_code, response.request, response.url = 200, request, request.url
        response._content = json.dumps(reply).encode()
        return response


def feedback_in(body):
    body = body if isinstance(body, bytes) else body.read()
    if body.startswith(b"{"):
        return [json.loads(body)]
    parts = [part for part in body.split(b"\r\n") if part.startswith(b"{")]
    return [found for found in map(json.loads, parts) if "feedback_source" in found]


@pytest.fixture(params=["clickhouse", "smithdb only"])
def langsmith_with(request, monkeypatch):
    """LangSmith's own client, and the wire it is on."""
    monkeypatch.setenv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")
    only = request.param == "smithdb only"
    wire = Wire({"ch_query_enabled": not only, "sdb_query_enabled": only})
    session = requests.Session()
    session.mount("http://langsmith.test", wire)  # longer than what the client mounts
    client = langsmith.Client(api_url="http://langsmith.test", api_key="none", session=session)
    yield SimpleNamespace(client=client, wire=wire)
    client.close(timeout=10)


def test_langsmith_takes_it(langsmith_with):
    client, wire = langsmith_with.client, langsmith_with.wire
    report = feedback_to(client)
    chain = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), on_report=report)
    runs = [uuid4() for _ in range(3)]
    for run in runs:
        chain.invoke(question(1), {"run_id": run})
    assert report.close(10)
    found = {(f["run_id"], f["trace_id"], f["session_id"]) for f in wire.feedback}
    assert found == {(str(run), str(run), str(PROJECT)) for run in runs}
    assert {(f["key"], f["score"], f["value"]) for f in wire.feedback} == {("franq", 0.9, "ok")}
    assert [path for _, path in wire.asked].count("/sessions") == 1


def test_a_known_project_is_not_asked_for(langsmith_with):
    report = feedback_to(langsmith_with.client, session_id=PROJECT)
    report(answer_of(str(uuid4())))
    assert report.close(10)
    assert [f["session_id"] for f in langsmith_with.wire.feedback] == [str(PROJECT)]
    assert "/sessions" not in [path for _, path in langsmith_with.wire.asked]


class Projects(Client):
    def __init__(self):
        super().__init__()
        self.read = []

    def read_project(self, *, project_name):
        self.read.append(project_name)
        return SimpleNamespace(id=PROJECT)


def ways(chain):
    return [
        lambda config: chain.invoke(question(1), config),
        lambda config: asyncio.run(chain.ainvoke(question(1), config)),
        lambda config: list(chain.stream(question(1), config)),
        lambda config: RunnableLambda(lambda text: chain.batch([text]))
        .invoke(question(1), config),
    ]  # fmt: skip


@pytest.mark.parametrize("way", range(4))
def test_a_chain_inside_another_is_part_of_its_trace(langsmith_with, way):
    client, root = Projects(), uuid4()
    report = feedback_to(client)
    guarded = guard_chain(lcel(ScriptedLLM()), ScriptedGuard(), on_report=report)
    tracer = LangChainTracer(project_name="towers", client=langsmith_with.client)
    outer = RunnableLambda(lambda text: text) | guarded
    ways(outer if way < 3 else guarded)[way]({"run_id": root, "callbacks": [tracer]})
    assert report.close(10)
    ((run_id, _, values),) = client.sent
    assert (values["trace_id"], values["session_id"]) == (root, PROJECT)
    assert run_id != root
    assert client.read == ["towers"]


def test_a_node_has_no_run_of_its_own_so_the_open_one_is_meant():
    client, run = Client(), uuid4()
    report = feedback_to(client)
    node = guard_node(ScriptedGuard(), on_report=report)
    node.invoke({"question": question(1), "answer": "It is tall."}, {"run_id": run})
    assert report.close(10)
    assert client.sent[0][0] == run
