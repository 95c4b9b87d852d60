"""The review page's requests: who is let in, what is kept."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.datasets.reviewing import Review
from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.serve.review import review_app

TEXT = "<b>Rome</b> is old."
WHO = {"token": "secret", "reviewer": "ada"}


@pytest.fixture
def claims(tmp_path: Path) -> ClaimSet:
    found = ClaimSet.create(tmp_path, {})
    for name in ("a", "b"):
        stated = (Claim(TEXT, ((0, len(TEXT)),)),)
        trace = Trace("How?", (Passage("Old."),), Generation(TEXT), claims=stated, id=name)
        found.add_answer(trace)
    return found


@pytest.fixture
def client(claims: ClaimSet) -> TestClient:
    return TestClient(review_app(Review(claims), "secret"))


@pytest.mark.parametrize("token", [None, "", "wrong", "secret\u00e9"])
def test_without_the_token_nobody_sees_or_votes(client: TestClient, token: str | None) -> None:
    params = {"reviewer": "ada"} | ({} if token is None else {"token": token})
    vote = {"answer": "a", "claim": 0, "factuality": "true"}
    asked = [client.get("/", params=params), client.get("/next", params=params)]
    asked += [client.post("/vote", params=params, json=vote), client.post("/undo", params=params)]
    assert {reply.status_code for reply in asked} == {401}
    assert "Rome" not in "".join(reply.text for reply in asked)


def test_a_vote_is_on_disk_before_the_next_claim_is_shown(
    client: TestClient, claims: ClaimSet
) -> None:
    first = client.get("/next", params=WHO).json()["card"]
    assert first["text"] == TEXT
    vote = {"answer": first["answer"], "claim": 0, "faithfulness": "faithful", "factuality": "true"}
    state = client.post("/vote", params=WHO, json=vote).json()
    assert len(claims.judgements()) == 1
    assert state["voted"]["vote"]["factuality"] == "true"
    assert state["card"]["answer"] != first["answer"]
    assert state["progress"] == {"mine": 1, "anybody": 1, "claims": 2}
    assert client.post("/undo", params=WHO).json()["card"] == first
    assert claims.judgements() == []


@pytest.mark.parametrize(
    "vote",
    [
        {"answer": "nowhere", "claim": 0, "factuality": "true"},
        {"answer": "a", "claim": 0},
        {"answer": "a", "claim": 0, "factuality": "maybe"},
        {"answer": "a", "claim": -1, "factuality": "true"},
    ],
)
def test_wrong_votes_are_refused(client: TestClient, claims: ClaimSet, vote: object) -> None:
    assert client.post("/vote", params=WHO, json=vote).status_code == 422
    assert claims.judgements() == []


def test_a_vote_needs_a_name(client: TestClient) -> None:
    reply = client.get("/next", params={"token": "secret", "reviewer": " "})
    assert reply.status_code == 422
    assert "needs a name" in reply.text


def test_the_page_may_load_nothing_from_elsewhere(client: TestClient) -> None:
    reply = client.get("/", params={"token": "secret"})
    assert reply.status_code == 200
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "http://" not in reply.text
    assert "https://" not in reply.text
    assert "innerHTML" not in reply.text  # answers and passages are text, never markup
