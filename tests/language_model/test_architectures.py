"""Families that differ in positions, caches, experts and heads, against a plain forward pass."""

import pytest
import torch
import transformers

from franq_guard.language_model import Recorder, TransformersModel
from franq_guard.language_model.transformers.network import Network
from franq_guard.records import Generation

# What each family wants besides the common sizes.
FAMILIES = {
    "Mamba": {"state_size": 8},  # a state, no cache of keys and values
    "OPT": {"ffn_dim": 48, "word_embed_proj_dim": 32},  # learned positions with an offset
    "Bloom": {"n_layer": 2, "n_head": 4},  # ALiBi
    "Mixtral": {"num_local_experts": 2},
    "Mistral": {"sliding_window": 16},
    "Qwen3": {"head_dim": 8},
    "Cohere": {"logit_scale": 0.25},  # logits scaled after the head
    "Granite": {"logits_scaling": 3.0},
    "GPTNeoX": {},
    # local attention that no layer of the cache shows
    "GPTNeo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "window_size": 16},
    # a state beside keys and values, which begins anew where several ids follow
    "Jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2, "mamba_d_state": 4}
    | {"use_mamba_kernels": False},
    # not to be padded: positions are counted from the padding, or it is read
    "Bart": {"decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 48},
    "Rwkv": {"attention_hidden_size": 32, "context_length": 256},
    # a cache with a state beside its keys and values, of which nothing can be cut off
    "MiniMax": {"num_local_experts": 2, "block_size": 8},
    "Bamba": {"attn_layer_indices": [1], "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8},
}
LONG = "The river rises in the hills and runs to the sea. Where? " * 3


@pytest.fixture(scope="module", params=list(FAMILIES))
def model(request, byte_level):
    torch.manual_seed(1)
    config = getattr(transformers, f"{request.param}Config")(
        vocab_size=len(byte_level),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        **FAMILIES[request.param],
    )
    net = getattr(transformers, f"{request.param}ForCausalLM")(config).eval()
    return TransformersModel(net, byte_level)


def assert_right(model, reference, generation):
    ids = [t.id for t in generation.tokens]
    rows = reference(model.model, generation.prompt_token_ids, ids)
    expected = [float(row[i]) for row, i in zip(rows, ids, strict=True)]
    assert [t.logprob for t in generation.tokens] == pytest.approx(expected, abs=1e-4)


def test_scores(model, reference):
    prompts = [LONG, LONG, LONG, "short", "x y z"]
    answers = [Generation(t) for t in ("in the hills", "sea", "the river", "miles", "there")]
    for scored in model.score(prompts, answers):
        assert_right(model, reference, scored)


def test_answers_and_samples(model, reference):
    for answer in model.generate(["Where is it?", "The river"], max_new_tokens=5):
        assert_right(model, reference, answer)
    for samples in model.sample(["Where is it?", LONG], n=4, max_new_tokens=5):
        for sample in samples:
            assert_right(model, reference, sample)


def test_capture(model, byte_level, reference):
    recorder = Recorder.attach(model.model, byte_level)
    ids = byte_level("Where is it?", return_tensors="pt").input_ids
    out = model.model.generate(ids, max_new_tokens=5, repetition_penalty=1.3, pad_token_id=1)
    recorder.detach()
    text = byte_level.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
    assert_right(model, reference, recorder.find(text, "Where is it?"))


def test_a_prompt_that_was_read_stays_the_same(model, reference):
    """Whatever is asked between: the samples' tokens follow the prompt, not the question."""
    prompt, question = "Where is it? " * 6, "Where is she? Is that true:"
    reading = model.read(prompt)
    (known,) = reading.logprobs(question, [" sea"])
    (scored,) = model.score([question], [Generation(" sea")])
    assert known == pytest.approx(sum(t.logprob for t in scored.tokens), abs=1e-4)
    for answer in reading.answers(n=3, max_new_tokens=5):
        assert_right(model, reference, answer)


def test_rounding_in_half_precision_is_no_difference(make_llama):
    """Of 50,000 values with errors of 0.03 deviations the worst is off by about 0.13."""
    network = Network(make_llama().to(torch.bfloat16))
    generator = torch.Generator().manual_seed(1)
    logits, noise = torch.randn(2, 1, 50_000, generator=generator)
    assert (0.03 * noise).abs().max() > 0.1
    assert network.equal(logits + 0.03 * noise, logits)
    assert network.equal(logits + 5.0, logits)  # the same probabilities
    assert not network.equal(logits + 0.1 * noise, logits)
    assert not network.equal(logits.roll(1), logits)
    assert not network.equal(torch.full_like(logits, torch.nan), logits)
