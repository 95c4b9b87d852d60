"""What servers send as log-probabilities, in both protocols, and what does not count as any."""

import math
from types import SimpleNamespace

import pytest

from franq_guard.capture.server_logprobs import server_generation
from franq_guard.language_model.server.tokens import ServerToken, from_logprobs, from_response

CHAT = [
    {"token": "Ça", "bytes": [0xC3, 0x87, 0x61], "logprob": -0.5},
    {"token": " va", "bytes": None, "logprob": -0.25},
    {"token": "\\xe2\\x82", "bytes": [0xE2, 0x82], "logprob": -1.0},
]
TOLD = [
    ServerToken("Ça".encode(), -0.5),
    ServerToken(b" va", -0.25),
    ServerToken(b"\xe2\x82", -1.0),
]


def test_chat_as_mappings_and_as_objects():
    as_objects = SimpleNamespace(content=[SimpleNamespace(**entry) for entry in CHAT])
    assert from_logprobs({"content": CHAT}) == TOLD
    assert from_logprobs(as_objects) == TOLD
    assert from_response({"choices": [{"logprobs": {"content": CHAT}}]}) == TOLD
    assert from_response(SimpleNamespace(choices=[SimpleNamespace(logprobs=as_objects)])) == TOLD


def test_ollama_sends_the_list_by_itself():
    assert from_logprobs(CHAT) == TOLD
    assert from_logprobs([SimpleNamespace(**entry) for entry in CHAT]) == TOLD


def test_completions():
    sent = {"tokens": ["It", " is"], "token_logprobs": [-0.5, -1.5]}
    assert from_logprobs(sent) == [ServerToken(b"It", -0.5), ServerToken(b" is", -1.5)]


def test_only_the_first_choice_counts():
    other = {"logprobs": {"tokens": ["x"], "token_logprobs": [-9.0]}}
    assert from_response({"choices": [{"logprobs": {"content": CHAT}}, other]}) == TOLD


@pytest.mark.parametrize("value", [None, "low", -9999.0, 0.5, -math.inf, math.nan])
def test_what_is_no_log_probability_is_unknown(value):
    (token,) = from_logprobs({"tokens": ["a"], "token_logprobs": [value]})
    assert math.isnan(token.logprob)


@pytest.mark.parametrize("odd", [None, [], "a", 3, [300], [-1], [97.5], ["a"], {"a": 1}])
def test_bytes_that_are_none_leave_the_token_s_text(odd):
    sent = {"content": [{"token": " va", "bytes": odd, "logprob": -0.25}]}
    assert from_logprobs(sent) == [ServerToken(b" va", -0.25)]


def test_half_a_character_of_utf_16_is_a_part_of_one():
    sent = [{"token": half, "logprob": -1.0} for half in ("\ud83d", "\ude00")]
    by_chat = from_logprobs({"content": sent})
    assert by_chat == [ServerToken(b"\xef\xbf\xbd", -1.0)] * 2
    tokens = [entry["token"] for entry in sent]
    assert from_logprobs({"tokens": tokens, "token_logprobs": [-1.0, -1.0]}) == by_chat
    made = server_generation("😀", None, by_chat)
    assert [(t.start, t.end, t.logprob) for t in made.tokens] == [(0, 0, -1.0), (0, 1, -1.0)]


def test_rounding_above_zero_is_certainty():
    (token,) = from_logprobs({"tokens": ["a"], "token_logprobs": [1e-7]})
    assert token.logprob == 0.0


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        "x",
        {"content": None},
        {"content": []},
        {"tokens": ["a"]},
        {"tokens": ["a", "b"], "token_logprobs": [-1.0]},
        [],
        [-0.5, -1.0],
        [{"text": "a", "logprobs": [-0.5]}],
    ],
)
def test_without_a_value_for_each_token_there_are_none(logprobs):
    assert from_logprobs(logprobs) == []
    assert from_response({"choices": [{"logprobs": logprobs}]}) == []


@pytest.mark.parametrize("raw", [None, {}, {"choices": []}, {"choices": None}, "x", object()])
def test_other_responses_have_none(raw):
    assert from_response(raw) == []
