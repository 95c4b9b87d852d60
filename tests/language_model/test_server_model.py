"""Served models over real HTTP: SmolLM2 behind both protocols, and servers that lie."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Event
from time import perf_counter

import pytest

from franq_guard import Calibrator, Generation, Guard, Token
from franq_guard.basics.deadline import DeadlineExceeded, between_batches, until
from franq_guard.language_model import ServerError, ServerModel, UntrustworthyServerError
from franq_guard.language_model.server import model as server_model
from franq_guard.language_model.server import probe as _server_probe
from franq_guard.testing import FakeFaithfulness

from .completion_server import (
    Scorer,
    blind,
    late,
    nothing_known,
    serving,
    shifted,
    without_first,
    wrong,
)

PROMPTS = ["The capital of France is", "Write in Japanese:\n", "Answer:"]
TEXTS = ["Paris, on the Seine.", "日本語の文章 😀 ok", "Water boils at 100 degrees."]


@pytest.fixture(scope="module")
def scorer(smollm):
    return Scorer(smollm)


@pytest.fixture(scope="module", params=["prompt_logprobs", "echo"])
def server(request, scorer):
    with serving(scorer, protocols=(request.param,)) as running:
        running.protocol = request.param
        yield running


@pytest.fixture(scope="module")
def served(server):
    model = ServerModel(server.url)
    yield model
    model.close()


def test_requests_are_given_up_at_the_deadline(served, monkeypatch):
    sent, passed = [], Event()

    def scored(prompt, answer):
        sent.append(prompt)
        assert len(sent) == 1 or passed.wait(60)  # the second one is under way by then
        return answer

    def noticed():
        passed.set()
        between_batches()

    monkeypatch.setattr(served, "_scored", scored)
    monkeypatch.setattr(served, "_concurrency", 1)
    monkeypatch.setattr(server_model, "between_batches", noticed)
    with until(perf_counter() - 1), pytest.raises(DeadlineExceeded):
        served.score(["p"] * 10_000, [Generation("a")] * 10_000)
    assert len(sent) < 10_000


def test_an_honest_server_is_taken(served, server):
    assert served.protocol == server.protocol
    assert served.fingerprint == "server/smol"


def test_scores_are_those_of_the_same_model_here(served, smollm):
    answers = [Generation(text) for text in TEXTS]
    local = smollm.score(PROMPTS, answers)
    for ours, theirs in zip(served.score(PROMPTS, answers), local, strict=True):
        assert (ours.text, ours.prompt, ours.source) == (
            theirs.text,
            theirs.prompt,
            "teacher-forced",
        )
        assert {t.id for t in ours.tokens} == {-1}
        assert ours.tokens[0].start == 0
        assert ours.tokens[-1].end == len(ours.text)
        assert all(a.end == b.start for a, b in zip(ours.tokens, ours.tokens[1:], strict=False))
        assert [t.logprob for t in ours.tokens] == pytest.approx(
            [t.logprob for t in theirs.tokens], abs=1e-3
        )


def test_spans_are_those_of_the_same_model_where_tokens_are_whole_characters(served, smollm):
    [ours] = served.score(PROMPTS[:1], [Generation(TEXTS[0])])
    [theirs] = smollm.score(PROMPTS[:1], [Generation(TEXTS[0])])
    assert [(t.start, t.end) for t in ours.tokens] == [(t.start, t.end) for t in theirs.tokens]


def test_a_guard_judges_alike_with_the_model_here_and_there(served, smollm):
    question, passages = "Where is Rome?", ["Rome is the capital of Italy."]
    answer = "Rome is in Italy. It is made of cheese."
    faithfulness = FakeFaithfulness()
    made = ServerModel(served._server.base_url, render=smollm.render)
    here = Guard(language_model=smollm, faithfulness=faithfulness)
    there = Guard(language_model=made, faithfulness=faithfulness)
    a, b = here.check(question, passages, answer), there.check(question, passages, answer)
    for one, other in zip(a.verdicts, b.verdicts, strict=True):
        assert other.raw == pytest.approx(one.raw, abs=1e-2)
        assert other.label == one.label
    assert there.fingerprint["language_model"] == "server/smol"
    made.close()


def test_answers_and_samples(served, smollm):
    [ours], [theirs] = (m.generate(PROMPTS[:1], max_new_tokens=8) for m in (served, smollm))
    assert (ours.text, ours.source, ours.prompt) == (theirs.text, "server", PROMPTS[0])
    assert ours.writer == served.fingerprint
    assert [t.logprob for t in ours.tokens] == pytest.approx(
        [t.logprob for t in theirs.tokens], abs=1e-3
    )
    [samples] = served.sample(PROMPTS[:1], n=3, max_new_tokens=6, seed=2)
    assert len(samples) == 3
    assert len({s.text for s in samples}) > 1
    for sample in samples:
        assert sample.source == "teacher-forced"
        assert all(math.isfinite(t.logprob) for t in sample.tokens)
    assert [s.text for s in served.sample(PROMPTS[:1], n=3, max_new_tokens=6, seed=2)[0]] == [
        s.text for s in samples
    ]
    with pytest.raises(ValueError, match="sampling needs"):
        served.sample(PROMPTS, n=0)


def test_threads_get_their_own_answers(served):
    expected = {t: served.score(PROMPTS[:1], [Generation(t)])[0] for t in TEXTS}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda t: served.score(PROMPTS[:1], [Generation(t)])[0], TEXTS * 8))
    assert found == [expected[t] for t in TEXTS * 8]


def test_tokens_with_ids_are_scored_again_as_they_were_written(served, smollm):
    """Two tokens where the tokenizer itself would make one: they differ only by id."""
    prompt, text = PROMPTS[0], " Paris"
    pieces = [" Par", "is"]
    ids = [smollm.encoder.ids(piece)[0] for piece in pieces]
    assert len(smollm.encoder.ids(text)) == 1
    tokens = (Token(ids[0], 0, 4, -1.0), Token(ids[1], 4, 6, -1.0))
    answer = Generation(text, tokens, source="server", writer=served.fingerprint)
    [made] = served.score([prompt], [answer])
    [wanted] = smollm.score([prompt], [answer])
    if served.protocol == "prompt_logprobs":
        assert [(t.id, t.start, t.end) for t in made.tokens] == [
            (t.id, t.start, t.end) for t in tokens
        ]
        assert [t.logprob for t in made.tokens] == pytest.approx(
            [t.logprob for t in wanted.tokens], abs=1e-3
        )
    else:  # a server that takes no ids cuts the text as it does
        assert [(t.id, t.start, t.end) for t in made.tokens] == [(-1, 0, 6)]
    [other] = served.score([prompt], [replace(answer, writer="another/model")])
    assert [t.id for t in other.tokens] == [-1]


def test_a_start_token_is_not_put_before_another_one(scorer, smollm):
    start = smollm.encoder.ids("<|im_start|>")
    with serving(scorer) as server, closing(ServerModel(server.url)) as model:
        ids_of = model._server.token_ids
        twice = smollm.encoder.ids("11 years")
        assert twice[0] == twice[1]
        assert ids_of("11 years") == twice
        server.start = start
        assert ids_of("11 years") == start + twice
        assert ids_of("<|im_start|>11 years") == start + twice


def test_prompts_are_strings_and_an_empty_answer_has_no_tokens(served):
    with pytest.raises(ValueError, match="prompts as strings"):
        served.score([[1, 2]], [Generation("x")])
    with pytest.raises(ValueError, match="1 prompts for 0 answers"):
        served.score(["x"], [])
    assert served.score(["x"], [Generation("")])[0].tokens == ()


class TestLies:
    """A server whose numbers are not the model's is refused before anything is scored."""

    @pytest.mark.parametrize(
        ("lie", "protocol", "message"),
        [
            (wrong, "echo", r"not the ones it sent while writing: expected -\d.* seen -"),
            (wrong, "prompt_logprobs", "not the ones it sent"),
            (late, "echo", "not the ones it sent"),
            (shifted, "echo", "not the ones it sent"),
            (shifted, "prompt_logprobs", "not the ones it sent"),
            (blind, "echo", "not the ones it sent"),
            (blind, "prompt_logprobs", "not the ones it sent"),
            (without_first, "echo", "do not spell the text"),
            (nothing_known, "echo", "without a log-probability"),
            (nothing_known, "prompt_logprobs", "without a log-probability"),
        ],
    )
    def test_refused(self, scorer, lie, protocol, message):
        with (
            serving(scorer, lie=lie, protocols=(protocol,)) as server,
            pytest.raises(UntrustworthyServerError, match=message) as refused,
        ):
            ServerModel(server.url)
        assert "Serve the model with vLLM" in str(refused.value)
        assert server.url in str(refused.value)

    def test_the_way_that_is_right_is_taken(self, scorer):
        """prompt_logprobs is not known to this server; echo is, and holds."""
        with serving(scorer, protocols=("echo",)) as server:
            assert ServerModel(server.url).protocol == "echo"
            with pytest.raises(UntrustworthyServerError, match="holds no prompt_logprobs"):
                ServerModel(server.url, protocol="prompt_logprobs")

    def test_a_server_without_log_probabilities(self, scorer):
        with (
            serving(scorer, protocols=("none",)) as server,
            pytest.raises(UntrustworthyServerError, match="sends no log-probabilities"),
        ):
            ServerModel(server.url)

    def test_a_server_that_ignores_the_context_in_everything_it_says(self, scorer, monkeypatch):
        """Its two accounts of one text agree; only the context check can tell."""
        monkeypatch.setattr(_server_probe, "compare", _only_context)
        with (
            serving(scorer, lie=blind) as server,
            pytest.raises(UntrustworthyServerError, match=r"the text before has no effect"),
        ):
            ServerModel(server.url)


def _only_context(server, read, answers):
    _server_probe._check_context(server, read)


class TestFaults:
    """What is no lie but no answer either."""

    def test_nobody_there(self):
        with pytest.raises(ServerError, match=r"ConnectError.*is the server running"):
            ServerModel("http://127.0.0.1:9/v1", "smol", retries=0)

    def test_no_address(self):
        with pytest.raises(ServerError, match="does the base URL end with its version"):
            ServerModel("localhost", "smol", retries=0)

    @pytest.mark.parametrize(
        ("reply", "message"),
        [
            ((500, {"error": "out of memory"}), "answered 500.*out of memory"),
            ((404, {"detail": "Not Found"}), "Not Found.*does the base URL end with its version"),
            ((200, b"<html>"), "answered no JSON"),
            ((200, []), "no JSON object"),
            ((200, {"choices": []}), "without any choice"),
        ],
    )
    def test_a_reply_that_is_none_is_not_asked_for_again(self, scorer, reply, message):
        with serving(scorer) as server:
            server.answer_instead = reply
            with pytest.raises(ServerError, match=message):
                ServerModel(server.url, "smol", api_key="secret")
            assert len(server.requests) == 1

    def test_too_long_for_the_window(self, served):
        with pytest.raises(ServerError, match="maximum context length"):
            served.score(["word " * 1000], [Generation("x")])

    def test_the_guard_leaves_claims_unverified_when_the_server_goes_away(self, scorer):
        with serving(scorer) as server:
            model = ServerModel(server.url, retries=0)
        guard = Guard(
            language_model=model, faithfulness=FakeFaithfulness(), franq=Calibrator.uncalibrated()
        )
        answer = guard.check("Where?", ["Rome is in Italy."], "Rome is in Italy.")
        assert [(v.label, v.reason) for v in answer.verdicts] == [("unverified", "error")]

    def test_several_models_need_a_name(self, scorer):
        with serving(scorer, names=("one", "two")) as server:
            with pytest.raises(ServerError, match=r"name one of the models .*: one, two"):
                ServerModel(server.url)
            assert ServerModel(server.url, "two").fingerprint == "server/two"

    def test_the_key_is_sent_and_not_told(self, scorer):
        with serving(scorer, protocols=("none",)) as server:
            with pytest.raises(UntrustworthyServerError) as refused:
                ServerModel(server.url, "smol", api_key="secret")
            assert set(server.keys) == {"Bearer secret"}
            assert "secret" not in str(refused.value)

    def test_wrong_settings(self):
        with pytest.raises(ValueError, match="concurrency"):
            ServerModel("http://127.0.0.1:9/v1", "smol", concurrency=0)
