"""Two local models in one run that write the same text: each answer has its own writer's tokens."""

from __future__ import annotations

import pytest
import torch
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_huggingface import HuggingFacePipeline
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList
from transformers import pipeline as make_pipeline

from franq_guard.language_model import TransformersModel
from langchain_franq import FranqCallback, guard_chain

from .fakes import ScriptedGuard

WORDS = " It is made of oak."


class Saying(LogitsProcessor):
    """Makes a model write :data:`WORDS`; what it thinks of them is recorded before."""

    def __init__(self, tokenizer):
        self.ids = [*tokenizer(WORDS)["input_ids"], tokenizer.eos_token_id]

    def __call__(self, input_ids, scores):
        known = input_ids[0].tolist()
        done = (n for n in range(len(self.ids), 0, -1) if known[-n:] == self.ids[:n])
        forced = torch.full_like(scores, -float("inf"))
        forced[:, self.ids[next(done, 0)]] = 0.0
        return forced


def saying(model, tokenizer) -> HuggingFacePipeline:
    made = make_pipeline(
        "text-generation",
        model=model,
        tokenizer=tokenizer,
        max_new_tokens=12,
        do_sample=False,
        return_full_text=False,
        logits_processor=LogitsProcessorList([Saying(tokenizer)]),
    )
    return HuggingFacePipeline(pipeline=made)


@pytest.fixture(scope="module")
def models(smollm2):
    """The bundled model, and a tiny one without any training that shares its tokenizer."""
    tokenizer = smollm2.tokenizer
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=len(tokenizer), num_hidden_layers=1, **sizes)
    tiny = LlamaForCausalLM(config).eval()
    tiny.generation_config.pad_token_id = tokenizer.eos_token_id
    networks = {"bundled": smollm2.model, "tiny": tiny}
    return {
        name: (saying(network, tokenizer), TransformersModel(network, tokenizer))
        for name, network in networks.items()
    }


def cascade(first: Runnable, second: Runnable) -> Runnable:
    """The second model is asked what the first was asked, whose answer was not good enough."""
    both = RunnableParallel(draft=first, asked=RunnablePassthrough())
    return both | RunnableLambda(lambda given: given["asked"]) | second


def routed(first: Runnable, second: Runnable) -> Runnable:
    """The first model chooses a way, under a prompt of its own."""
    route = RunnableLambda(lambda asked: f"Which way? {asked}") | first
    both = RunnableParallel(route=route, asked=RunnablePassthrough())
    return both | RunnableLambda(lambda given: given["asked"]) | second


@pytest.mark.parametrize("kind", [cascade, routed])
@pytest.mark.parametrize("names", [("bundled", "tiny"), ("tiny", "bundled")])
def test_the_answer_has_the_tokens_of_the_model_that_wrote_it(models, names, kind):
    """Each order comes behind the other, so that both have written the text in earlier runs."""
    (first, _), (second, network) = (models[name] for name in names)
    chain, asked = kind(first, second), "Question: What is it made of?\nAnswer:"
    guard, watching = ScriptedGuard(), ScriptedGuard()
    guard_chain(chain, guard).invoke(asked)
    watch = FranqCallback(watching, models=[chain])
    chain.invoke(asked, {"callbacks": [watch]})
    assert watch.flush(20)
    for trace in (guard.traces[0], watching.traces[0]):
        given = trace.generation
        assert (given.text, given.source) == (WORDS, "captured")
        assert given.writer == network.fingerprint
        (again,) = network.score([given.prompt_token_ids], [given])
        for captured, scored in zip(given.tokens, again.tokens, strict=True):
            assert captured.logprob == pytest.approx(scored.logprob, abs=1e-3)


def test_an_answer_that_a_retry_gives_again_has_the_prompt_of_the_retry(models):
    model, _ = models["bundled"]
    again = model | RunnableLambda(lambda text: f"Try again, not like{text}\nAnswer:") | model
    guard_chain(RunnableLambda(lambda asked: asked) | again, guard := ScriptedGuard()).invoke("Of?")
    assert guard.traces[0].generation.prompt == f"Try again, not like{WORDS}\nAnswer:"
    assert guard.traces[0].generation.source == "captured"
