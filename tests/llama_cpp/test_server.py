"""llama-cpp-python's own server: its echo is refused, what it says while it writes is usable."""

import math

import pytest

from franq_guard import Generation
from franq_guard.language_model import ServerModel, UntrustworthyServerError, rag_prompt
from franq_guard.language_model.base import plain_text
from franq_guard.language_model.server.tokens import from_response

pytestmark = pytest.mark.llamacpp


def test_the_probe_refuses_its_echo(served, capsys):
    with pytest.raises(UntrustworthyServerError) as refused:
        ServerModel(served)
    message = str(refused.value)
    with capsys.disabled():
        print(f"\n{message}")
    assert "prompt_logprobs: the answer holds no prompt_logprobs" in message
    assert "echo: log-probabilities of a text the server wrote itself are not the ones" in message


def test_chat_answers_bring_their_own(served, llama):
    import httpx

    question = {"role": "user", "content": "What is the capital of France?"}
    body = {"messages": [question], "max_tokens": 16, "temperature": 0, "logprobs": True}
    body["top_logprobs"] = 1  # without it this server sends none
    raw = httpx.post(f"{served}/chat/completions", json=body, timeout=120).json()
    told = from_response(raw)
    text = raw["choices"][0]["message"]["content"]
    assert b"".join(token.text for token in told).decode() == text
    assert all(math.isfinite(token.logprob) for token in told)
    prompt = llama.tokenizer.apply_chat_template([question])
    [here] = llama.score([prompt], [Generation(text)])
    same = min(len(here.tokens), len(told))
    assert [t.logprob for t in told[:same]] == pytest.approx(
        [t.logprob for t in here.tokens[:same]], abs=0.3
    )


def test_prompts_are_rendered_in_plain_text_without_a_template():
    assert plain_text(rag_prompt("Where?", [])).endswith("Question: Where?\n\nAnswer:")
