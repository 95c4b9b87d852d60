import copy

import pytest

from franq_guard.language_model import (
    Contrast,
    Prompt,
    TransformersModel,
    question_prompt,
    rag_prompt,
)
from franq_guard.language_model.contrast import contrast
from franq_guard.language_model.encoding import Encoder
from franq_guard.records import Generation, Passage, Trace

QUESTION = "How long is the Aldwen?"
PASSAGES = (
    Passage("The Aldwen is a river of 94 miles that rises at Corrie Loch.", title="Aldwen"),
    Passage("Slate from the Pennant quarry roofed half of the county in 1880."),
)
ANSWER = "The river Aldwen is 94 miles long and rises in the northern hills."
CONTEXT = "\n\n".join(p.text for p in PASSAGES)


def render(prompt):
    return f"<sys>{prompt.system}<user>{prompt.user}<assistant>"


def trace(passages=PASSAGES, answer=ANSWER):
    return Trace(QUESTION, tuple(passages), Generation(answer))


BARE = render(question_prompt(QUESTION))


def test_no_captured_prompt():
    assert contrast(trace(), None, render) == Contrast(BARE, None, 0, 2, 0.0)


def test_no_passages():
    assert contrast(trace(()), "whatever was asked", render) == Contrast(
        "whatever was asked", None, 0, 0, 0.0
    )
    assert contrast(trace(()), None, render).prompt == BARE


def test_our_own_prompt():
    captured = render(rag_prompt(QUESTION, PASSAGES))
    assert contrast(trace(), captured, render) == Contrast(BARE, None, 2, 2, 0.0)


def test_the_passages_are_taken_out_of_a_captured_prompt():
    captured = f"Use this.\n{CONTEXT}\n\nQ: {QUESTION}\nA:"
    left = f"Use this.\n\n\n\n\nQ: {QUESTION}\nA:"  # the blank lines between the passages stay
    assert contrast(trace(), captured, render) == Contrast(left, None, 2, 2, 0.0)


def test_evidence_that_cannot_be_found_is_no_contrast():
    garbled = " ".join(f"{w} um" if i % 5 == 4 else w for i, w in enumerate(CONTEXT.split()))
    result = contrast(trace(), f"Use this.\n{garbled}\nQ: {QUESTION}", render)
    assert (result.prompt, result.reason) == (None, "no_contrast")
    assert result.residue > 0.05


def test_a_prompt_without_the_passages_holds_them_in_other_words():
    """The last prompt of a tree summary: only summaries of the passages, none of their words."""
    captured = f"Summary: a stream, ninety-four miles.\nQ: {QUESTION}"
    assert contrast(trace(), captured, render) == Contrast(BARE, None, 0, 2, 0.0)


def test_a_prompt_that_holds_the_answer():
    """The last prompt of a refining engine: the previous answer and one passage."""
    captured = f"Q: {QUESTION}\nSo far: {ANSWER}\nRefine it with:\n{PASSAGES[1].text}"
    assert contrast(trace(), captured, render) == Contrast(BARE, None, 1, 2, 0.0)


def test_captured_ids_win_over_the_string(make_llama, byte_level):
    model = TransformersModel(make_llama(1024), byte_level)
    asked = f"<s>{CONTEXT}\n{QUESTION}"
    ids = tuple(byte_level(asked).input_ids)
    generation = Generation(ANSWER, prompt="something else", prompt_token_ids=ids)
    result = model.without_evidence(Trace(QUESTION, PASSAGES, generation))
    assert (result.found, result.reason) == (2, None)
    assert result.prompt.startswith("<s>")
    assert result.prompt.endswith(QUESTION)
    assert "94" not in result.prompt
    assert model.encoder.prompt_ids(result.prompt)[0] == byte_level.bos_token_id


@pytest.mark.parametrize("kind", ["byte_level", "sentencepiece"])
def test_our_own_prompt_is_known_by_its_ids(kind, request):
    """SentencePiece decodes "<s>The" to "<s> The", which is another prompt."""
    tokenizer = copy.deepcopy(request.getfixturevalue(kind))
    tokenizer.chat_template = (
        "<s>{% for m in messages %}{{ m.role }}: {{ m.content }}</s>{% endfor %}a"
    )
    encoder = Encoder(tokenizer, None)
    ids = tuple(encoder.prompt_ids(encoder.render(rag_prompt(QUESTION, PASSAGES))))
    captured = encoder.prompt_text(ids)
    bare = encoder.render(question_prompt(QUESTION))
    assert contrast(trace(), captured, encoder.render) == Contrast(bare, None, 2, 2, 0.0)


@pytest.mark.parametrize("passages", [(), PASSAGES])
def test_prompts(passages):
    prompt = rag_prompt(f" {QUESTION}\n", passages)
    bare = question_prompt(QUESTION)
    assert isinstance(prompt, Prompt)
    assert prompt.system == bare.system
    assert prompt.user.endswith(bare.user)
    for number, passage in enumerate(passages, 1):
        assert passage.text in prompt.user
        assert f"[{number}]" in prompt.user
    if not passages:
        assert prompt == bare


def test_smollm_tells_memory_from_reading(smollm):
    """The same words are likelier where the passage says them."""
    passages = (Passage("The Aldwen is a river of 94 miles that rises at Corrie Loch."),)
    [answer] = smollm.score(
        [smollm.render(rag_prompt(QUESTION, passages))],
        [Generation("The Aldwen is 94 miles long.")],
    )
    without = smollm.without_evidence(Trace(QUESTION, passages, answer))
    assert without == Contrast(smollm.render(question_prompt(QUESTION)), None, 1, 1, 0.0)
    [memory] = smollm.score([without.prompt], [answer])
    assert sum(t.logprob for t in answer.tokens) > sum(t.logprob for t in memory.tokens) + 2
