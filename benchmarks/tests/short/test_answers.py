import math
from dataclasses import asdict
from os.path import commonprefix

import numpy as np
import pytest

from franq_bench.short import generate
from franq_bench.short.answers import Answered, Settings, answer, answer_key
from franq_bench.short.generate import answers_of, in_proportion
from franq_bench.short.prompts import answer_prompt, truth_prompt, without_passages
from franq_bench.store.cache import Cache
from franq_guard.language_model.transformers.prompt_reading import first_line
from franq_guard.records import Generation, Token
from franq_guard.signals.p_true import p_true_logprobs
from franq_guard.testing import FakeLanguageModel

SETTINGS = Settings(samples=3, max_new_tokens=8)


@pytest.fixture(scope="module")
def answered(smollm, questions):
    return answer(smollm, questions[0], SETTINGS)


def test_prompts_share_their_beginning_and_differ_by_the_passages_alone(questions):
    question = questions[0]
    full, bare = answer_prompt(question).user, without_passages(question).user
    shared = commonprefix([full, truth_prompt(question, "Oslo").user])  # noqa: RUF071
    assert shared.endswith(f"Question: {question.question}\n")
    assert all(p.text in shared and p.title in shared for p in question.passages)
    assert full.endswith(f"\n\n{bare}")


def test_the_answer_is_what_generate_writes_on_its_first_line(smollm, questions, answered):
    prompt = smollm.render(answer_prompt(questions[0]))
    [plain] = smollm.generate([prompt], max_new_tokens=8)
    want = first_line(plain)
    assert answered.answer.text == want.text
    got = [t.logprob for t in answered.answer.tokens]
    assert got == pytest.approx([t.logprob for t in want.tokens], abs=1e-4)


def test_samples_are_the_model_s_own(smollm, questions, answered):
    prompt = smollm.render(answer_prompt(questions[0]))
    [want] = smollm.sample([prompt], n=3, max_new_tokens=8, temperature=SETTINGS.temperature)
    assert [s.text for s in answered.samples] == [first_line(s).text for s in want]


def test_rescored_as_apart(smollm, questions, answered):
    """What one reading gives is what a pass of its own for each prompt gives."""
    bare = smollm.render(without_passages(questions[0]))
    apart = smollm.score([bare, ""], [answered.answer] * 2)
    for got, want in zip((answered.parametric, answered.unconditional), apart, strict=True):
        assert got == pytest.approx([t.logprob for t in want.tokens], abs=1e-4)
    truth = truth_prompt(questions[0], answered.answer.text.strip())
    assert answered.p_true == pytest.approx(p_true_logprobs(smollm, [[truth.user]])[0][0], abs=1e-4)


def test_any_other_model_is_asked_through_its_protocol(questions):
    made = answer(FakeLanguageModel(), questions[0], SETTINGS)
    assert len(made.samples) == 3
    assert len(made.parametric) == len(made.answer.tokens)
    assert np.isfinite(made.p_true).all()


def test_as_json_and_back(answered):
    again = Answered.from_json(answered.to_json())
    assert again.answer.tokens == answered.answer.tokens
    assert [s.tokens for s in again.samples] == [s.tokens for s in answered.samples]
    assert again.parametric.tolist() == answered.parametric.tolist()
    assert again.to_json() == answered.to_json()


def test_the_key_is_of_all_that_matters(smollm, questions):
    key = answer_key(smollm, questions[0], SETTINGS)
    assert key == answer_key(smollm, questions[0], Settings(samples=3, max_new_tokens=8))
    others = [
        answer_key(FakeLanguageModel(), questions[0], SETTINGS),
        answer_key(smollm, questions[2], SETTINGS),
        *(
            answer_key(smollm, questions[0], Settings(**{**asdict(SETTINGS), name: 7}))
            for name in asdict(SETTINGS)
        ),
    ]
    assert len({key, *others}) == len(others) + 1


def test_a_run_that_was_killed_repeats_nothing(tmp_path, questions, monkeypatch):
    asked = []

    def counted(model, question, settings):
        asked.append(question.id)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return answer(model, question, settings)

    monkeypatch.setattr(generate, "answer", counted)
    model = FakeLanguageModel()
    with pytest.raises(KeyboardInterrupt):
        answers_of(model, questions, SETTINGS, Cache(tmp_path))
    found = answers_of(model, questions, SETTINGS, Cache(tmp_path))
    assert list(found) == [q.id for q in questions]
    assert asked == ["q0", "q1", "q2", "q3", "q3", "q4", "q5", "q6", "q7"]


def test_shards_are_merged(tmp_path, questions):
    model = FakeLanguageModel()
    for i in (1, 2):
        cache = Cache(tmp_path, part=f"{i}-of-2")
        made = answers_of(model, questions, SETTINGS, cache, shard=(i, 2))
        assert len(made) == 4 * i  # the second sees the first one's
    steps = []
    answers_of(model, questions, SETTINGS, Cache(tmp_path), progress=lambda *s: steps.append(s))
    assert steps == [(0, 0)]  # nothing is left to make


def test_mixed_in_proportion(questions):
    few, many = questions[:2], questions[2:8]
    mixed = in_proportion(few, many)
    # 2 of 8: one in the first half, one in the second.
    assert sum(q in few for q in mixed[:4]) == 1
    assert sorted(q.id for q in mixed) == [q.id for q in questions]
    assert [q for q in mixed if q in many] == many


def _written(*pieces):
    tokens, at = [], 0
    for i, piece in enumerate(pieces):
        tokens.append(Token(i, at, at + len(piece), -1.0))
        at += len(piece)
    return Generation("".join(pieces), tuple(tokens))


@pytest.mark.parametrize(
    ("pieces", "text", "spans"),
    [
        (("Os", "lo"), "Oslo", [(0, 2), (2, 4)]),
        (("Os", "lo", "\n", "Next"), "Oslo", [(0, 2), (2, 4), (4, 4)]),
        (("Os", "lo.\n\nA", "b"), "Oslo.", [(0, 2), (2, 5)]),
        (("\n", "Oslo"), "", [(0, 0)]),
        ((), "", []),
    ],
)
def test_the_first_line(pieces, text, spans):
    cut = first_line(_written(*pieces))
    assert cut.text == text
    assert [(t.start, t.end) for t in cut.tokens] == spans
    assert math.fsum(t.logprob for t in cut.tokens) == -len(spans)
