"""Teacher forcing against one plain forward pass per answer."""

import math
from dataclasses import replace

import pytest
import torch

from franq_guard.language_model import TransformersModel, token_spans
from franq_guard.language_model.transformers import scoring
from franq_guard.records import Generation, Passage, Token, Trace

TEXTS = ["The river rises in the hills.", " on foot", "Ein Fluß 😀 日本", "x", "ship " * 30]


def generation(tokenizer, text):
    ids = tokenizer(text, add_special_tokens=False).input_ids
    spans = token_spans(tokenizer, ids, text)
    return Generation(
        text, tuple(Token(i, a, b, math.nan) for i, (a, b) in zip(ids, spans, strict=False))
    )


def assert_same(scored, expected, top_k=5):
    """``expected`` (T, V): log-probabilities in float64."""
    assert len(scored.tokens) == len(expected)
    for token, row in zip(scored.tokens, expected, strict=True):
        assert token.logprob == pytest.approx(float(row[token.id]), abs=1e-4)
        assert token.entropy == pytest.approx(float(-(row.exp() * row).sum()), abs=1e-3)
        best = row.topk(top_k)
        # By their values: equals to the last digits may stand in either order.
        top = [i for i, _ in token.top]
        assert len(set(top)) == top_k
        assert row[top].tolist() == pytest.approx(best.values.tolist(), abs=1e-4)
        assert [p for _, p in token.top] == pytest.approx(best.values.tolist(), abs=1e-4)


@pytest.fixture(params=["llama", "gpt2"])
def model(request, make_llama, make_gpt2, byte_level):
    return TransformersModel(
        make_llama() if request.param == "llama" else make_gpt2(256), byte_level
    )


@pytest.mark.parametrize("budget", [1, 200, 100_000])
def test_equal_to_a_plain_forward_pass(model, reference, budget):
    model = TransformersModel(model.model, model.tokenizer, token_budget=budget)
    answers = [generation(model.tokenizer, text) for text in TEXTS]
    prompts = [f"How long is the river? {'Nobody knows. ' * i}" for i in range(len(TEXTS))]
    for prompt, answer, scored in zip(
        prompts, answers, model.score(prompts, answers), strict=False
    ):
        ids = model.encoder.prompt_ids(prompt)
        expected = reference(model.model, ids, [t.id for t in answer.tokens])
        assert_same(scored, expected)
        assert (scored.source, scored.writer) == ("teacher-forced", None)
        assert (scored.text, scored.prompt) == (answer.text, prompt)
        assert scored.prompt_token_ids == tuple(ids)
        assert [(t.start, t.end) for t in scored.tokens] == [
            (t.start, t.end) for t in answer.tokens
        ]


def test_answers_of_one_long_prompt_share_its_cache(model, reference, monkeypatch):
    prompt = "The river rises in the northern hills and runs for ninety miles. " * 2
    ids = model.encoder.prompt_ids(prompt)
    assert len(ids) > scoring._SHARE_FROM
    answers = [generation(model.tokenizer, text) for text in TEXTS]
    prefills = []
    whole = model.network.prefill
    monkeypatch.setattr(model.network, "prefill", lambda ids: prefills.append(ids) or whole(ids))
    for answer, scored in zip(answers, model.score([prompt] * len(answers), answers), strict=False):
        assert_same(scored, reference(model.model, ids, [t.id for t in answer.tokens]))
    assert len(prefills) == 1


def test_an_architecture_that_changes_its_logits(byte_level, reference):
    """Gemma 2 caps the logits after the output embedding: the whole model must be asked."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    torch.manual_seed(3)
    config = Gemma2Config(
        vocab_size=len(byte_level),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=256,
        sliding_window=64,
        final_logit_softcapping=2.0,
        initializer_range=0.5,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    model = TransformersModel(Gemma2ForCausalLM(config).eval(), byte_level)
    answers = [generation(byte_level, text) for text in TEXTS]
    prompts = ["one", "two two", "three", "four", "five"]
    for prompt, answer, scored in zip(
        prompts, answers, model.score(prompts, answers), strict=False
    ):
        ids = model.encoder.prompt_ids(prompt)
        assert_same(scored, reference(model.model, ids, [t.id for t in answer.tokens]))
    assert not model.network._split


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(make_llama, byte_level, dtype):
    """Log-softmax is taken in float32: the values are those of the half-precision logits."""
    net = make_llama().to(dtype)
    answer = generation(byte_level, TEXTS[0])
    model = TransformersModel(net, byte_level)
    [scored] = model.score(["Where?"], [answer])
    ids = [*model.encoder.prompt_ids("Where?"), *(t.id for t in answer.tokens)]
    with torch.no_grad():
        logits = net(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
    expected = logits[-len(answer.tokens) - 1 : -1]
    for token, row in zip(scored.tokens, expected, strict=True):
        assert token.logprob == pytest.approx(float(row[token.id]), abs=1e-3)
    assert model.fingerprint.endswith(str(dtype).removeprefix("torch."))


def test_texts_without_tokens_are_tokenised_as_continuations(make_llama, byte_level):
    model = TransformersModel(make_llama(), byte_level)
    [scored] = model.score(["How long is it? Answer:"], [Generation("ninety miles")])
    ids = [t.id for t in scored.tokens]
    assert byte_level.decode(ids) == " ninety miles"  # prose has a space after "Answer:"
    assert next(t.start for t in scored.tokens) == 0
    assert scored.tokens[-1].end == len("ninety miles")
    [scored] = model.score(["How long is it?\n"], [Generation("ninety miles")])
    assert byte_level.decode([t.id for t in scored.tokens]) == "ninety miles"


def test_ids_of_no_vocabulary_are_tokenised_again(make_llama, byte_level):
    """A server names its tokens by text; their ids are -1."""
    model = TransformersModel(make_llama(), byte_level)
    answer = Generation("a b", (Token(-1, 0, 1, -0.5), Token(-1, 1, 3, -0.5)), source="server")
    [scored] = model.score(["Which?"], [answer])
    assert all(math.isfinite(t.logprob) and t.id >= 0 for t in scored.tokens)


def test_ids_of_another_vocabulary_are_tokenised_again(make_llama, byte_level, sentencepiece):
    """Ids that this tokeniser knows, too, but as other words."""
    model = TransformersModel(make_llama(), byte_level)
    theirs = generation(sentencepiece, TEXTS[0])
    assert max(t.id for t in theirs.tokens) < len(byte_level)
    assert model.score(["Q:"], [theirs]) == model.score(["Q:"], [Generation(TEXTS[0])])


def test_the_prompt_of_another_model_is_its_text(make_llama, byte_level):
    model = TransformersModel(make_llama(), byte_level)
    passage = "The river rises in the northern hills."
    written = Generation("a", prompt=f"{passage} Where?", prompt_token_ids=(5, 6), writer="other")
    trace = Trace("Where?", (Passage(passage),), written)
    assert model.without_evidence(trace).found == 1
    assert (
        model.without_evidence(replace(trace, generation=replace(written, writer=None))).found == 0
    )


def test_nothing_to_score(make_llama, byte_level):
    model = TransformersModel(make_llama(), byte_level)
    assert model.score([], []) == []
    [scored] = model.score(["Which?"], [Generation("")])
    assert (scored.text, scored.tokens) == ("", ())
    [scored] = model.score([""], [Generation("a")])  # an empty prompt is one BOS token
    assert scored.prompt_token_ids == (byte_level.bos_token_id,)
    with pytest.raises(ValueError, match="1 prompts for 0 answers"):
        model.score(["Which?"], [])


def test_broken_weights_give_nan_and_no_crash(make_llama, byte_level):
    net = make_llama()
    with torch.no_grad():
        net.lm_head.weight[5] = math.nan
    model = TransformersModel(net, byte_level)
    [scored] = model.score(["Which?"], [Generation("a river")])
    assert all(math.isnan(t.logprob) for t in scored.tokens)
    assert model.generate(["Which?"], max_new_tokens=3)[0].source == "captured"
    assert len(model.sample(["Which?"], n=2, max_new_tokens=3)[0]) == 2


def test_lone_surrogates_and_control_characters(make_llama, byte_level):
    model = TransformersModel(make_llama(), byte_level)
    text = "a\ud83d\x00\u200b😀"
    [scored] = model.score(["Say \udc00 it"], [Generation(text)])
    assert scored.text == text
    assert scored.tokens[-1].end == len(text)


class TestWindow:
    """What happens at and beyond the model's window."""

    def test_a_long_prompt_loses_its_beginning(self, make_gpt2, byte_level, reference):
        model = TransformersModel(make_gpt2(window=64), byte_level)
        answer = generation(byte_level, "on foot")
        ids = [0, *byte_level("The river rises in the hills. " * 20).input_ids]
        [scored] = model.score([ids], [answer])
        target = [t.id for t in answer.tokens]
        room = 64 - len(target)
        seen = [0, *ids[-(room - 1) :]]  # the BOS token stays
        assert_same(scored, reference(model.model, seen, target))
        assert scored.prompt_token_ids == tuple(ids)

    @pytest.mark.parametrize("words", [40, 400])
    def test_a_long_answer_is_scored_in_stretches(self, make_gpt2, byte_level, reference, words):
        model = TransformersModel(make_gpt2(window=64), byte_level)
        answer = generation(byte_level, "ship to the sea " * words)
        [scored] = model.score(["How did they come there? " * 20], [answer])
        assert all(math.isfinite(t.logprob) for t in scored.tokens)
        assert len(scored.tokens) == len(answer.tokens)
        # The first stretch: half a window of prompt, half a window of answer.
        prompt = model.encoder.prompt_ids("How did they come there? " * 20)[-32:]
        ids = [t.id for t in answer.tokens]
        first = reference(model.model, prompt, ids[:32])
        # The second: 16 tokens of the answer before it are seen again.
        second = reference(model.model, prompt + ids[16:32], ids[32:48])
        expected = torch.cat([first, second])
        found = [t.logprob for t in scored.tokens[:48]]
        assert found == pytest.approx(
            [float(row[i]) for row, i in zip(expected, ids, strict=False)], abs=1e-4
        )

    def test_an_answer_of_20000_words(self, make_gpt2, byte_level):
        model = TransformersModel(make_gpt2(window=64), byte_level)
        text = "ship to the sea " * 5000
        [scored] = model.score(["How?"], [Generation(text)])
        assert scored.tokens[-1].end == len(text)
        assert all(math.isfinite(t.logprob) for t in scored.tokens)


def test_smollm_captured_and_rescored_agree(smollm, reference):
    prompts = ["The capital of France is", "Water boils at a temperature of about"]
    answers = smollm.generate(prompts, max_new_tokens=12)
    again = smollm.score([a.prompt_token_ids for a in answers], answers)
    for answer, scored in zip(answers, again, strict=True):
        assert answer.source == "captured"
        for captured, forced in zip(answer.tokens, scored.tokens, strict=True):
            assert captured.id == forced.id
            assert captured.logprob == pytest.approx(forced.logprob, abs=1e-4)
            assert captured.entropy == pytest.approx(forced.entropy, abs=1e-3)
        ids = [t.id for t in answer.tokens]
        assert_same(answer, reference(smollm.model, answer.prompt_token_ids, ids))
