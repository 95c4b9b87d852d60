"""Two local models in one run that write the same text: the answer has its own writer's tokens."""

from __future__ import annotations

import pytest
import torch
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.llms.huggingface import HuggingFaceLLM
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList

from franq_guard.language_model import TransformersModel
from llama_index_franq import FranqHandler, guard_query_engine

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


def saying(model, tokenizer) -> HuggingFaceLLM:
    words = {"logits_processor": LogitsProcessorList([Saying(tokenizer)]), "do_sample": False}
    return HuggingFaceLLM(
        model=model, tokenizer=tokenizer, max_new_tokens=12, generate_kwargs=words
    )


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


class Cascade(CustomQueryEngine):
    """The second model is asked if the answer of the first is not good enough."""

    first: HuggingFaceLLM
    second: HuggingFaceLLM
    way: str

    def custom_query(self, query_str):
        self.first.complete(f"{self.way}{query_str}")
        return self.second.complete(query_str).text


@pytest.mark.parametrize("way", ["", "Which way? "])
@pytest.mark.parametrize("names", [("bundled", "tiny"), ("tiny", "bundled")])
def test_the_answer_has_the_tokens_of_the_model_that_wrote_it(models, names, way):
    (first, _), (second, network) = (models[name] for name in names)
    engine, asked = Cascade(first=first, second=second, way=way), "Question: Of what?\nAnswer:"
    guard, watching = ScriptedGuard(), ScriptedGuard()
    guard_query_engine(engine, guard).query(asked)
    with FranqHandler(watching).attach() as watch:
        engine.query(asked)
        assert watch.flush(20)
    for trace in (guard.traces[0], watching.traces[0]):
        given = trace.generation
        assert (given.text.strip(), given.source) == (WORDS.strip(), "captured")
        assert given.writer == network.fingerprint
        (again,) = network.score([given.prompt_token_ids], [given])
        for captured, scored in zip(given.tokens, again.tokens, strict=True):
            assert captured.logprob == pytest.approx(scored.logprob, abs=1e-3)
