"""A vLLM upstream: what is asked of it, what becomes of what it tells, and what the client gets.

The upstream here is scripted. Its replies have the fields of vLLM's own chat server (looked up in
November 2026): ``token_ids`` beside the ``logprobs`` of a choice, ``prompt_token_ids`` and
``prompt_text`` beside the choices, in a stream in the first chunk alone; each only if asked for.
"""

import json
from dataclasses import replace

import pytest

from franq_guard import Guard, Policy
from franq_guard.calibration import Calibrator
from franq_guard.serve.proxy import judge as judge_module
from franq_guard.signals.choice import Choice
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PROMPT = "<|user|>Ann Baker built the mill in Norwich.\nWho?<|assistant|>\n"
END = ("<|end|>", 2, -0.001)
ASKED = {"logprobs": True, "return_token_ids": True, "return_prompt_text": True}


class Writer(FakeLanguageModel):
    """A model that goes by the name of the served one, and keeps what it is given to read."""

    fingerprint = "server/m"

    def __init__(self):
        super().__init__(known=0.99)
        self.traces, self.scored = [], []

    def without_evidence(self, trace):
        self.traces.append(trace)
        return super().without_evidence(trace)

    def score(self, prompts, answers):
        self.scored += answers
        return super().score(prompts, answers)


class OtherWriter(Writer):
    fingerprint = "another/model"


@pytest.fixture
def served(proxied):
    """``served(model, tokens)``: a proxy in front of a vLLM that writes these tokens."""

    def start(model, tokens, *, reasoning=(), **settings):
        guard = Guard(
            language_model=model,
            faithfulness=FakeFaithfulness(),
            policy=Policy(action="filter"),
            franq=Calibrator.uncalibrated() if model else None,
        )
        assert model is None or guard.language_model is model
        proxy = proxied(guard, upstream_kind="vllm", **settings)
        proxy.upstream.reply = lambda body: vllm(body, tokens, reasoning)
        return proxy

    return start


def tokens_of(text):
    """One token a word; the id is the word's length, so that it can be told apart."""
    words = text.split(" ")
    pieces = [words[0], *(f" {word}" for word in words[1:])]
    return [(piece, 100 + len(piece), -0.01) for piece in pieces]


def vllm(body, tokens, reasoning):
    tokens = [*tokens, END]
    text = "".join(piece for piece, _, _ in tokens[:-1])
    if body.get("stream"):
        return 200, {"content-type": "text/event-stream"}, [*_events(body, tokens, reasoning)]
    message = {"role": "assistant", "content": text, "refusal": None, "tool_calls": []}
    message["reasoning"] = "".join(piece for piece, _, _ in reasoning) or None
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(body, [*reasoning, *tokens]),
        "finish_reason": "stop",
        "stop_reason": None,
        "token_ids": _ids(body, [*reasoning, *tokens]),
        "routed_experts": None,
    }
    usage = {"prompt_tokens": 3, "completion_tokens": len(tokens), "total_tokens": 3 + len(tokens)}
    whole = {"choices": [choice], "usage": usage, "prompt_logprobs": _of_prompt(body)}
    whole |= {**_prompt(body), "kv_transfer_params": None}
    return 200, {"content-type": "application/json"}, [json.dumps(_head(body) | whole).encode()]


def _events(body, tokens, reasoning):
    first = {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None}
    known = {name: value for name, value in _prompt(body).items() if value is not None}
    yield _event(body, {**first, "finish_reason": None}, known)
    for token in reasoning:
        yield _event(body, _piece(body, token, {"reasoning": token[0]}))
    for token in tokens[:-1]:
        yield _event(body, _piece(body, token, {"content": token[0].replace("\ufffd", "")}))
    last = _piece(body, tokens[-1], {"content": ""})
    yield _event(body, {**last, "finish_reason": "stop", "stop_reason": None})
    yield b"data: [DONE]\n\n"


def _piece(body, token, delta):
    told = {"logprobs": _logprobs(body, [token]), "finish_reason": None}
    return {"index": 0, "delta": delta, "token_ids": _ids(body, [token]), **told}


def _event(body, choice, more=None):
    chunk = _head(body, "chat.completion.chunk") | {"choices": [choice], **(more or {})}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _head(body, kind="chat.completion"):
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": body["model"]}


def _logprobs(body, tokens):
    if not body.get("logprobs"):
        return None
    entries = [
        {"token": piece, "logprob": value, "bytes": list(piece.encode()), "top_logprobs": []}
        for piece, _, value in tokens
    ]
    return {"content": entries}


def _ids(body, tokens):
    return [i for _, i, _ in tokens] if body.get("return_token_ids") else None


def _of_prompt(body):
    entry = {"7": {"logprob": -1.0, "rank": 1, "decoded_token": "who"}}
    return None if body.get("prompt_logprobs") is None else [None, entry]


def _prompt(body):
    return {
        "prompt_token_ids": [5, 6, 7] if body.get("return_token_ids") else None,
        "prompt_text": PROMPT if body.get("return_prompt_text") else None,
    }


def reply_of(kit, reply, stream):
    """The choice, what stands beside the choices, and the report."""
    assert reply.status_code == 200, reply.text
    if not stream:
        body = reply.json()
        return body["choices"][0], body, body["franq"]
    events = kit.events_of(reply.content)[:-1]
    return events[-1]["choices"][0], events[0], events[-1]["franq"]


STREAMS = pytest.mark.parametrize("stream", [False, True])


@STREAMS
def test_what_is_asked_for_and_kept_from_who_did_not_ask(served, kit, stream):
    proxy = served(Writer(), tokens_of(kit.GOOD))
    choice, head, _ = reply_of(kit, proxy.ask(stream=stream), stream)
    [body] = proxy.upstream.bodies
    assert {name: body.get(name) for name in ASKED} == ASKED
    assert "prompt_logprobs" not in body  # of the whole prompt, which nothing reads
    assert choice.get("logprobs") is None
    for name in ("token_ids", "prompt_token_ids", "prompt_text", "prompt_logprobs"):
        assert name not in choice
        assert name not in head


def test_without_a_calibrator_that_weighs_tokens_only_the_prompt_is_asked_for(served, kit):
    """It tells where an answer begins with thoughts."""
    proxy = served(None, tokens_of(kit.GOOD))
    assert proxy.ask().status_code == 200
    assert ASKED.keys() & proxy.upstream.bodies[0].keys() == {"return_prompt_text"}


@pytest.mark.parametrize("writer", ["server/m", "server/other"])
def test_a_calibrator_beside_the_faithfulness_model_may_weigh_tokens(
    served, kit, monkeypatch, writer
):
    fitted = replace(Calibrator.uncalibrated(), fingerprint={"writer": writer})
    monkeypatch.setattr(Choice, "known", (fitted,))
    proxy = served(None, tokens_of(kit.GOOD))
    assert proxy.ask().status_code == 200
    assert ("logprobs" in proxy.upstream.bodies[0]) is (writer == "server/m")


@pytest.mark.parametrize("mode", ["claims", "buffer", None])
def test_tokens_and_prompt_are_used_as_they_were_told(served, kit, mode):
    model = Writer()
    proxy = served(model, tokens_of(kit.GOOD), **({"stream": mode} if mode else {}))
    _, _, report = reply_of(kit, proxy.ask(stream=bool(mode)), bool(mode))
    answer = report["choices"][0]["answer"]
    assert answer["likelihoods"] == "server"
    assert answer["verdicts"][0]["raw"]["uq_faith"] == pytest.approx(-0.01 * 7)
    seen = model.traces[-1].generation
    assert (seen.source, seen.writer, seen.prompt) == ("server", "server/m", PROMPT)
    assert [(t.id, t.logprob) for t in seen.tokens] == [t[1:] for t in tokens_of(kit.GOOD)]
    assert seen.tokens[-1].end == len(kit.GOOD)
    again = model.scored[-1]  # without the passages: the very tokens that were written
    assert [t.id for t in again.tokens] == [i for _, i, _ in tokens_of(kit.GOOD)]


@STREAMS
def test_another_model_is_not_given_ids_of_a_vocabulary_it_does_not_have(served, kit, stream):
    model = OtherWriter()
    proxy = served(model, tokens_of(kit.GOOD))
    proxy.ask(stream=stream)
    for generation in (model.traces[-1].generation, model.scored[-1]):
        assert {token.id for token in generation.tokens} == {-1}
    assert model.traces[-1].generation.writer == "server/m"


def test_a_prompt_without_the_passages_is_not_taken_for_the_one_that_showed_them(served, kit):
    """A chat template may leave ``documents`` out."""
    model = Writer()
    proxy = served(model, tokens_of(kit.GOOD))
    proxy.ask(documents=[{"text": "Norwich has a mill."}])
    assert model.traces[-1].generation.prompt != PROMPT


@STREAMS
def test_characters_of_several_tokens(served, kit, stream):
    """vLLM tells U+FFFD for a token that is part of a character; a stream's text waits for it."""
    tokens = [("Ann", 1, -0.5), (" \ufffd", 3, -1.0), ("\ufffd", 4, -2.0), (" Baker.", 5, -0.25)]
    model = Writer()
    proxy = served(model, tokens)

    def reply(body):
        status, headers, pieces = vllm(body, tokens, ())
        whole, spelled = (json.dumps(f"Ann {c} Baker.").encode() for c in ("\ufffd\ufffd", "é"))
        told = [piece.replace(whole, spelled) for piece in pieces]
        done = b'"delta": {"content": ""}, "token_ids": [4]'
        return status, headers, [p.replace(done, done.replace(b'""', b'"\\u00e9"')) for p in told]

    proxy.upstream.reply = reply
    _, _, report = reply_of(kit, proxy.ask(stream=stream), stream)
    assert report["choices"][0]["answer"]["original"] == "Ann é Baker."
    seen = model.traces[-1].generation
    assert [(t.start, t.end, t.id) for t in seen.tokens[:4]] == [
        (0, 3, 1),
        (3, 4, 3),
        (4, 5, 4),
        (5, 12, 5),
    ]


@STREAMS
def test_what_the_client_asks_for_it_gets_where_the_text_is_unchanged(served, kit, stream):
    for text, kept in ((kit.GOOD, True), (f"{kit.GOOD} {kit.BAD}", False)):
        proxy = served(Writer(), tokens_of(text))
        asked = {"return_token_ids": True, "return_prompt_text": True, "stream": stream}
        choice, head, _ = reply_of(kit, proxy.ask(**asked), stream)
        ids = [i for _, i, _ in [*tokens_of(text), END]]
        assert choice.get("token_ids") == (ids if kept else None)
        assert (head["prompt_token_ids"], head["prompt_text"]) == ([5, 6, 7], PROMPT)
        assert choice.get("logprobs") is None


def test_log_probabilities_of_its_own_prompt_are_the_clients(served, kit):
    proxy = served(Writer(), tokens_of(kit.GOOD))
    assert proxy.ask(prompt_logprobs=0).json()["prompt_logprobs"][1]["7"]["logprob"] == -1.0
    assert proxy.upstream.bodies[0]["prompt_logprobs"] == 0


@STREAMS
def test_tokens_of_reasoning_do_not_leave(served, kit, stream):
    """They stand among the tokens of the choice, and nobody checked them."""
    reasoning = [("Zebras", 901, -0.1), (" sing.", 902, -0.1)]
    proxy = served(Writer(), tokens_of(kit.GOOD), reasoning=reasoning)
    reply = proxy.ask(stream=stream, logprobs=True, return_token_ids=True)
    choice, _, report = reply_of(kit, reply, stream)
    assert "Zebras" not in reply.text
    assert not {901, 902} & set(choice.get("token_ids") or ())
    assert report["choices"][0]["answer"]["likelihoods"] == "server"


THOUGHT = "Zebras must be the ones, I say. Nobody else is named in all of it, as I see."


@pytest.mark.parametrize("model", [Writer(), None])  # without one, nothing reads the prompt
@pytest.mark.parametrize("apart", [True, False])
def test_thoughts_that_the_prompt_opens(served, kit, monkeypatch, apart, model):
    """In the text they are held back until they end; told apart, nothing waits for their end."""
    made = []

    def kept(*args, **options):
        made.append(ClaimStream(*args, **options))
        return made[-1]

    monkeypatch.setattr(judge_module, "ClaimStream", kept)
    monkeypatch.setitem(globals(), "PROMPT", f"{PROMPT}<think>\n")
    thought = tokens_of(f"{THOUGHT}\n</think>\n\n")
    before, reasoning = ([], thought) if apart else (thought, ())
    proxy = served(model, [*before, *tokens_of(kit.GOOD)], reasoning=reasoning)
    sent = kit.text_of(kit.events_of(proxy.ask(stream=True).content))
    assert sent == (kit.GOOD if apart else f"{THOUGHT}\n</think>\n\n{kit.GOOD}")
    [stream] = made
    assert (stream._worker._held > (0, 0)) is not apart


@STREAMS
def test_a_refusal_of_what_was_added_is_remembered(served, kit, stream):
    proxy = served(Writer(), tokens_of(kit.GOOD))
    answer = proxy.upstream.reply

    def reply(body):
        if "return_token_ids" in body:
            return 400, {}, [b'{"error": {"message": "Extra inputs: return_token_ids"}}']
        return answer(body)

    proxy.upstream.reply = reply
    for _ in range(2):
        assert proxy.ask(stream=stream).status_code == 200
    asked = [sorted(ASKED.keys() & body.keys()) for body in proxy.upstream.bodies]
    assert asked == [sorted(ASKED), [], []]
