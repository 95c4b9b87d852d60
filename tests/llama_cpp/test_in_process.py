"""LlamaCppModel against transformers on the same weights.

The file's 4-bit weights (Q4_1) and their float32 form are the same numbers; what differs is
arithmetic: llama.cpp rounds each layer's activations to 8 bits (Q8) before it multiplies them with
quantised weights, transformers does not. That is noise of some hundredths of a nat for likely
tokens, more for unlikely ones, whose logits lie far from the maximum. Hence the tolerances: 0.15
nats on average, a correlation of 0.99, and 1.5 for the worst token; values of a wrong position
miss them by far (the second test shows it).
"""

import numpy as np
import pytest

from franq_guard import Calibrator, Generation, Guard, Passage, Trace
from franq_guard.faithfulness import SmallFaithfulness
from franq_guard.language_model import Prompt, question_prompt, rag_prompt

pytestmark = pytest.mark.llamacpp
MEAN, WORST = 0.15, 1.5
PASSAGES = [
    Passage("The Wye rises on Plynlimon in mid Wales and flows south-east for 250 km.", "Wye"),
    Passage("The lighthouse of Alexandria stood on the island of Pharos.", "Pharos"),
]
ANSWERS = [
    "The Wye rises on Plynlimon in Wales. It flows for about 250 kilometres to the Severn.",
    "The lighthouse of Alexandria stood on Pharos and was built by the Romans in 1850.",
    "Ein Fluß fließt durch die Städte; 日本語の文章 и русский текст 😀.",
    "Water boils at 100 degrees at sea level, and at about 71 degrees on Mount Everest.",
    "def add(a, b):\n    return a + b\n\nprint(add(2, 3))",
    "I do not know. The passages say nothing about the length of the river.",
]
QUESTIONS = ["Where does the Wye rise?", "Where did the lighthouse of Alexandria stand?"]


@pytest.fixture(scope="module")
def pairs(llama, local):
    """(llama.cpp's value, transformers' value) of every token of every answer, (n, 2)."""
    prompts = []
    for i in range(len(ANSWERS)):
        question = QUESTIONS[i % 2]
        prompts += [local.render(rag_prompt(question, PASSAGES))]
        prompts += [local.render(question_prompt(question))]
    answers = [Generation(text) for text in ANSWERS for _ in range(2)]
    both = [model.score(prompts, answers) for model in (llama, local)]
    for ours, theirs in zip(*both, strict=True):
        assert [(t.id, t.start, t.end) for t in ours.tokens] == [
            (t.id, t.start, t.end) for t in theirs.tokens
        ]
        assert ours.prompt_token_ids == theirs.prompt_token_ids
    return np.array(
        [
            (a.logprob, b.logprob)
            for ours, theirs in zip(*both, strict=True)
            for a, b in zip(ours.tokens, theirs.tokens, strict=True)
        ]
    )


def test_values_agree_as_far_as_quantised_activations_allow(pairs, capsys):
    off = np.abs(pairs[:, 0] - pairs[:, 1])
    agreement = np.corrcoef(pairs.T)[0, 1]
    with capsys.disabled():
        print(
            f"\nllama.cpp against transformers, {len(pairs)} tokens: mean difference "
            f"{off.mean():.3f} nats, largest {off.max():.2f}, correlation {agreement:.4f}"
        )
    assert len(pairs) >= 300
    assert off.mean() < MEAN
    assert off.max() < WORST
    assert agreement > 0.99


def test_values_of_the_next_place_would_not_pass(pairs):
    off = np.abs(pairs[1:, 0] - pairs[:-1, 1])
    assert off.mean() > 5 * MEAN
    assert off.max() > WORST


def test_the_known_values(llama):
    """What transformers gives for the tokens of one sentence after its first."""
    ids = llama.encoder.ids("The capital of France is Paris.")
    [scored] = llama.score([ids[:1]], [_answer(llama, ids[1:])])
    known = [-11.54, -0.34, -2.44, -0.45, -0.26, -0.38]
    assert [t.logprob for t in scored.tokens] == pytest.approx(known, abs=0.2)


def _answer(llama, ids):
    return llama.encoder.with_ids(Generation(llama.encoder.text(ids)), ids)


def test_the_same_prompt_strings(llama, local):
    for prompt in (
        rag_prompt(QUESTIONS[0], PASSAGES),
        question_prompt(QUESTIONS[0]),
        Prompt("", "Hello <|im_end|> there"),
    ):
        assert llama.render(prompt) == local.render(prompt)
        assert llama.encoder.prompt_ids(llama.render(prompt)) == local.encoder.prompt_ids(
            local.render(prompt)
        )


def test_what_it_writes_rescores_the_same(llama):
    prompts = [llama.render(rag_prompt(question, PASSAGES)) for question in QUESTIONS]
    written = llama.generate(prompts, max_new_tokens=24)
    for made, again in zip(written, llama.score(prompts, written), strict=True):
        assert made.source == "captured"
        assert made.text.strip()
        # One token at a time and all at once round differently.
        assert [t.logprob for t in made.tokens] == pytest.approx(
            [t.logprob for t in again.tokens], abs=0.1
        )


def test_samples_are_of_the_models_distribution(llama):
    [samples] = llama.sample(["The capital of France is"], n=5, max_new_tokens=4, seed=1)
    assert len({s.text for s in samples}) > 1
    [again] = llama.sample(["The capital of France is"], n=5, max_new_tokens=4, seed=1)
    assert [s.text for s in samples] == [s.text for s in again]


def test_long_prompts_fit_the_window(llama):
    [scored] = llama.score(["Rome is old. " * 300], [Generation("It is in Italy.")])
    assert all(np.isfinite(t.logprob) for t in scored.tokens)


def test_logits_all_is_asked_for(gguf):
    import llama_cpp

    from franq_guard.language_model import LlamaCppModel

    plain = llama_cpp.Llama(str(gguf), n_ctx=128, verbose=False)
    with pytest.raises(ValueError, match="logits_all=True"):
        LlamaCppModel(plain)
    plain.close()


def test_a_guard_judges_alike(llama, local):
    faithfulness = SmallFaithfulness.bundled()
    franq = Calibrator.uncalibrated()  # without one the passages alone would decide
    guards = [
        Guard(language_model=m, faithfulness=faithfulness, franq=franq) for m in (llama, local)
    ]
    trace = Trace(QUESTIONS[0], tuple(PASSAGES), Generation(ANSWERS[0]))
    ours, theirs = (guard.check_trace(trace) for guard in guards)
    assert ours.status == "ok"
    for a, b in zip(ours.verdicts, theirs.verdicts, strict=True):
        for name in ("uq_faith", "uq_unfaith"):
            assert a.raw[name] == pytest.approx(b.raw[name], abs=WORST)
