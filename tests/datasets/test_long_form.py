from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter
from franq_guard.datasets.generations import GenerationStore
from franq_guard.datasets.long_form.answers import (
    label_claims,
    long_form_answers,
    summary,
)
from franq_guard.datasets.long_form.labels import assign, is_faithful, label, value
from franq_guard.datasets.long_form.prompts import build_prompts, usable
from franq_guard.datasets.questions import Question
from franq_guard.records import Claim, ClaimLabel, Passage
from franq_guard.rows import trace_from_dict
from franq_guard.testing import FakeLanguageModel

FACTS = [
    ("Who built the lighthouse of Norbury?", "Odran Vell", "Lighthouse of Norbury"),
    ("In what year was the Quell bridge opened?", "1903", "Quell bridge"),
    ("Which river flows through Stellwick?", "the Marne Brook", "Stellwick"),
    ("What is the occupation of Tamsin Grey?", "potter", "Tamsin Grey"),
]
TEXTS = [
    "The lighthouse of Norbury was built by Odran Vell. Its lamp was made by Ilse Holm.",
    "The bridge of Quell was opened in 1903 by the mayor.",
    "Stellwick is a town. The Marne Brook flows through it.",
    "Tamsin Grey is a potter of Lessing.",
]


def make(i, dataset="made-up", title=None):
    asked, answer, subject = FACTS[i % 4]
    passages = (
        Passage(f"Nothing is known here, says page {i}.", title=f"Page {i}"),
        Passage(TEXTS[i % 4], title=title or subject),
    )
    return Question(f"q{i}", dataset, asked, (answer,), passages, (False, True))


QUESTIONS = [make(i) for i in range(4)]


def labelled(answer, *, shown=(0, 1)):
    """The labels of an answer to FACTS in their order, with the passages of ``shown``."""
    asked = replace(
        build_prompts(QUESTIONS)[0],
        questions=tuple(QUESTIONS),
        passages=tuple(Passage(TEXTS[i], FACTS[i][2]) for i in shown),
    )
    return label_claims(asked, answer, RuleSplitter().split(answer))


def triples(found):
    return [(c.question, c.is_true, c.is_faithful) for c in found.claims]


def test_a_numbered_answer_is_labelled_sentence_by_sentence():
    found = labelled(
        "1. The lighthouse of Norbury was built by Odran Vell.\n"
        "2. The Quell bridge was opened in 1911.\n"
        "3. The Marne Brook flows through Stellwick.\n"
        "4. Tamsin Grey is a painter."
    )
    assert triples(found) == [
        (0, True, True),  # in the first passage
        (1, False, False),  # 1911 stands nowhere
        (2, True, False),  # right, but its passage is not shown
        (3, False, False),
    ]
    assert found.dropped == {}


def test_a_value_misread_from_a_passage_is_false_and_faithful():
    found = labelled("1. The lighthouse of Norbury was built by Ilse Holm.")
    # The name stands in a sentence of the passage about the lighthouse: read, but misread.
    assert triples(found) == [(0, False, True)]


def test_without_numbers_shared_words_decide():
    found = labelled(
        "Tamsin Grey works as a potter. The Quell bridge was opened in 1903. Snow fell all day."
    )
    assert triples(found) == [(3, True, False), (1, True, True)]  # in the order of the answer
    assert found.dropped == {"unassigned": 1}


def test_a_wrong_number_yields_to_clearly_shared_words():
    claims = [
        Claim("The Quell bridge was opened in 1903.", ((3, 39),)),
    ]
    assert assign(QUESTIONS, "4. The Quell bridge was opened in 1903.", claims) == [1]
    assert assign(QUESTIONS, "4. 1903", [Claim("1903", ((3, 7),))]) == [3]


def test_repeated_questions_do_not_shift_the_answers():
    found = labelled(
        "Question 1: Who built the lighthouse of Norbury?\nAnswer 1: Odran Vell.\n"
        "Question 4: What is the occupation of Tamsin Grey?\nAnswer 4: A painter."
    )
    assert triples(found) == [(0, True, True), (3, False, False)]


def test_a_repeated_question_outweighs_its_number_and_a_blank_line_after_it():
    found = labelled(
        "1. What is the occupation of Tamsin Grey?\n\nThe answer is painter.\n\nIt snowed then."
    )
    assert triples(found) == [(3, False, False)]
    assert found.dropped == {"unassigned": 1}


def test_what_has_no_label_is_counted():
    found = labelled(
        "1. I do not know who built it.\n"
        "2. The Quell bridge was opened in a year.\n"
        "2. The Quell bridge was opened in 1903.\n\n"
        "Lamps are made of glass in many towns."
    )
    assert [c.question for c in found.claims] == [1]
    assert found.dropped["refused"] == 1
    assert found.dropped["unassigned"] >= 1


def test_of_wrong_claims_only_the_first_is_the_attempt():
    found = labelled(
        "1. The lighthouse was built by Piet Marr. It was painted by Ezra Quint in Harrow."
    )
    assert triples(found) == [(0, False, False)]
    assert found.dropped == {"beside": 1}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "1. Ripe wheat is always golden in colour.",
            "beside",
        ),  # about something else: perhaps true
        ("1. The lighthouse of Norbury was built by a man.", "beside"),  # a name is asked for
        ("2. The Quell bridge was opened by Ezra Quint.", "beside"),  # a year is asked for
    ],
)
def test_what_does_not_try_to_answer_is_not_called_false(said, reason):
    found = labelled(said)
    assert found.claims == ()
    assert found.dropped == {reason: 1}


def test_a_repeated_question_is_no_answer():
    asked = Question("q", "made-up", "A kind of music popular in the 1980s", ("rock",), (), ())
    said = "A kind of music popular in the 1980s."
    other = "The kind of music popular in the 1980s was jazz."
    found = label([asked], (), f"1. {said} {other}", RuleSplitter().split(f"1. {said} {other}"))
    assert [(c.claim.text, c.is_true) for c in found.claims] == [(other, False)]
    assert found.dropped == {"beside": 1}


def test_fragments_answer_and_repeats_count_once():
    found = labelled("1. In Harrow.\n2. 1911\n3. In Harrow.\n4. A painter.")
    assert triples(found) == [(0, False, False), (1, False, False), (3, False, False)]
    assert found.dropped == {"repeated": 1}


def test_faithfulness_asks_for_a_passage_about_the_question():
    question = QUESTIONS[1]
    elsewhere = Passage("The mill was sold in 1903.", title="Mill of Harrow")
    about = Passage("The Quell bridge, opened late, cost much. It was 1903.", title="")
    for is_true in (True, False):
        said = "The bridge was opened in 1903."
        assert not is_faithful(question, [elsewhere], said, is_true=is_true)
        assert is_faithful(question, [elsewhere, about], said, is_true=is_true)
    assert value(question, "The Quell bridge was opened in 1911") == ["1911"]
    assert value(question, "The Quell bridge was opened in a year") == []


def test_prompts_show_passages_for_some_questions_only():
    (asked,) = build_prompts(QUESTIONS, seed=3)
    assert sorted(q.id for q in asked.questions) == ["q0", "q1", "q2", "q3"]
    assert sum(asked.shown) == 2
    assert len(asked.passages) == 3
    texts = {p.text for p in asked.passages}
    for question, shown in zip(asked.questions, asked.shown, strict=True):
        assert (question.passages[1].text in texts) == shown
    # the contrast prompt is the prompt without the block of passages
    for passage in asked.passages:
        assert passage.text in asked.prompt.user
        assert passage.text not in asked.contrast.user
        assert f"\n{passage.title}\n" not in asked.contrast.user
    user = asked.prompt.user
    block = user[user.index("Passages:\n") : user.rindex("Questions:\n")]
    assert user.replace(block, "") == asked.contrast.user
    assert asked.prompt.system == asked.contrast.system


@given(st.integers(0, 50), st.integers(1, 5), st.integers(0, 5), st.integers(0, 6))
def test_every_question_is_asked_once_at_most(seed, per_prompt, with_passages, k):
    questions = [make(i, dataset=f"d{i % 2}", title=f"Page of {i}") for i in range(11)]
    if with_passages > per_prompt or with_passages > k:
        with pytest.raises(ValueError, match="cannot be shown"):
            build_prompts(
                questions, seed=seed, per_prompt=per_prompt, with_passages=with_passages, k=k
            )
        return
    made = build_prompts(
        questions, seed=seed, per_prompt=per_prompt, with_passages=with_passages, k=k
    )
    assert made == build_prompts(
        questions[::-1], seed=seed, per_prompt=per_prompt, with_passages=with_passages, k=k
    )
    assert len(made) == 11 // per_prompt
    ids = [q.id for p in made for q in p.questions]
    assert len(ids) == len(set(ids))
    for prompt in made:
        assert sum(prompt.shown) == with_passages
        assert len(prompt.passages) <= k
        assert len({p.text for p in prompt.passages}) == len(prompt.passages)
    assert len({p.id for p in made}) == len(made)


def test_questions_of_one_article_stay_together():
    articles = [make(i, dataset="wiki", title=f"Article {i % 3}") for i in range(12)]
    # Four questions without a gold passage have no title; they are no article of their own.
    bare = [replace(make(i + 30, dataset="wiki"), gold=(False, False)) for i in range(4)]
    others = [make(i + 20, dataset=f"set {i % 2}") for i in range(4)]
    made = build_prompts([*articles, *bare, *others], seed=1)
    found = {}
    for prompt in made:
        titles = {q.passages[1].title for q in prompt.questions}
        found.setdefault(prompt.dataset, []).append(len(titles))
    assert sorted(found) == ["set 0+set 1+wiki", "wiki"]
    assert found["wiki"] == [1, 1, 1]
    assert len(found["set 0+set 1+wiki"]) == 2


@pytest.mark.parametrize(
    ("answers", "good"),
    [
        (("Odran Vell",), True),
        (("1903", "the year 1903"), True),
        (("one of those that nobody remembers",), False),
        (("salt and rope",), False),
        (("yes",), False),
        (("Odran Vell", "V"), False),
        (("Norbury",), False),  # the question says it
    ],
)
def test_only_answers_that_matching_can_grade_are_used(answers, good):
    question = Question("q", "d", "Who built the lighthouse of Norbury?", answers, (), ())
    assert usable(question) is good


def answer_all(prompt):
    asked = prompt.rsplit("Questions:\n", 1)[1].split("\n\nAnswers:")[0]
    said = {f[0].rstrip("?"): f[1] for f in FACTS}
    lines = [line.split(". ", 1) for line in asked.splitlines()]
    return "\n".join(f"{n}. It is {said[q.rstrip('?')]}." for n, q in lines)


def test_end_to_end_rows_are_traces(tmp_path):
    options = {"store": GenerationStore(tmp_path / "g.jsonl"), "splitter": RuleSplitter()}
    model = FakeLanguageModel(answers=answer_all)
    prompts = build_prompts(QUESTIONS, seed=2)
    (answered,) = long_form_answers(model, prompts, **options)
    row = answered.to_row()
    trace = trace_from_dict(row)
    assert len(trace.claims) == 4
    labels = {c["question_id"]: c["is_faithful"] for c in row["claims"]}
    assert trace.labels == tuple(
        ClaimLabel(is_true=True, is_faithful=c["is_faithful"]) for c in row["claims"]
    )
    shown = {q.id: s for q, s in zip(prompts[0].questions, prompts[0].shown, strict=True)}
    assert labels == shown  # a right answer is faithful where its passage was shown
    # again: from the store, the model is not asked
    broken = FakeLanguageModel(answers=lambda prompt: 1 / 0)
    answers = long_form_answers(broken, prompts, **options)
    assert answers[0].to_row() == row
    assert summary(answers) == {
        "questions": 4,
        "answered": 4,
        "claims": 4,
        "true": 4,
        "faithful": 2,
    }
    assert long_form_answers(model, [], **options) == []
