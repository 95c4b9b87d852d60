"""Nothing retrieved is left in a prompt of Parametric Knowledge, not a single character.

That holds without exception for the prompts of the benchmarks and our own templates. A prompt that
another program built is searched for what was retrieved, and two things may stay in it, far from
all evidence: a title of a single word inside a sentence, and words of a passage, at most 5 % of its
sequences of four words. Tests of their own show both.

Passages and titles are written in Greek letters, questions and prompts in Latin ones: a Greek
letter in the prompt can only come from what was retrieved.
"""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_bench.short.prompts import answer_prompt, without_passages
from franq_guard.datasets.long_form.prompts import build_prompts
from franq_guard.datasets.questions import Question
from franq_guard.language_model.contrast import contrast
from franq_guard.language_model.prompts import question_prompt, rag_prompt
from franq_guard.records import Generation, Passage, Trace

_GREEK = re.compile("[\u0370-\u03ff]")
_WORDS = st.text("αβγδεζηθικλμ", min_size=1, max_size=8)
_TITLES = st.lists(_WORDS, max_size=4).map(" ".join)
_TEXTS = st.lists(_WORDS, min_size=6, max_size=20).map(" ".join)
_PASSAGES = st.lists(st.builds(Passage, _TEXTS, _TITLES), min_size=1, max_size=4)
_ASKED = "Who built the lighthouse at the northern pier?"


def _rendered(prompt):
    return f"{prompt.system}\n\n{prompt.user}"


def _titled(passage):
    return f"{passage.title}\n{passage.text}"


def _cited(passages):
    return ", ".join(p.title for p in passages if p.title)


def _context(passages):
    return "Context:\n\n" + "\n\n".join(p.text for p in passages) + "\n\n"


_INSTRUCTIONS = "Write in plain words and in whole sentences, and never guess. " * 5

_TEMPLATES = {
    "own": lambda shown: _rendered(rag_prompt(_ASKED, shown)),
    "LangChain's stuffed documents": lambda shown: (
        "Use the context to answer.\n\n"
        + "\n\n".join(p.text for p in shown)
        + f"\n\nQuestion: {_ASKED}\nHelpful Answer:"
    ),
    "LlamaIndex's text_qa with metadata": lambda shown: (
        "Context information is below.\n---------------------\n"
        + "\n\n".join(f"title: {p.title}\n\n{p.text}" for p in shown)
        + f"\n---------------------\nQuery: {_ASKED}\nAnswer: "
    ),
    "JSON": lambda shown: json.dumps(
        {"documents": [{"title": p.title, "text": p.text} for p in shown], "query": _ASKED},
        ensure_ascii=False,  # else no Greek letter would be there to be found
    ),
    "titles and texts in one block": lambda shown: (
        "\n\n".join(map(_titled, shown)) + f"\n\n{_ASKED}"
    ),
    "sources named after long instructions": lambda shown: (
        f"{_context(shown)}{_INSTRUCTIONS}\nCite one of: {_cited(shown)}\n{_ASKED}"
    ),
    "sources named before long instructions": lambda shown: (
        f"Sources: {_cited(shown)}\n{_INSTRUCTIONS}\n{_context(shown)}{_ASKED}"
    ),
    "titles in capitals": lambda shown: (
        f"{_cited(shown).upper()}\n{_INSTRUCTIONS}\n"
        + "\n\n".join(f"{p.title.upper()}\n{p.text}" for p in shown)
        + f"\n\n{_ASKED}"
    ),
    "file names": lambda shown: (
        "\n".join(f"file_name: {p.title.replace(' ', '_')}.txt" for p in shown if p.title)
        + f"\n{_INSTRUCTIONS}\n{_context(shown)}{_ASKED}"
    ),
}


@given(_PASSAGES)
@settings(max_examples=30, deadline=None)
def test_short_form(passages):
    question = Question("q", "made", _ASKED, ("Ida",), tuple(passages), (True,) * len(passages))
    assert _GREEK.search(answer_prompt(question).user)
    assert not _GREEK.search(_rendered(without_passages(question)))


@given(_PASSAGES, _PASSAGES)
@settings(max_examples=30, deadline=None)
def test_long_form(first, second):
    questions = [
        Question(str(i), "made", f"{_ASKED} {i}", ("Ida",), tuple(own), (True,) * len(own))
        for i, own in enumerate((first, second))
    ]
    made = build_prompts(questions, per_prompt=2, with_passages=2, k=3)
    assert made
    for prompt in made:
        assert _GREEK.search(prompt.prompt.user)
        assert not _GREEK.search(_rendered(prompt.contrast))


@pytest.mark.parametrize("template", _TEMPLATES)
@given(_PASSAGES)
@settings(max_examples=30, deadline=None)
def test_given_answers_and_captured_prompts(template, passages):
    """What the guard and the benchmark of given claims score: any template, then no template."""
    trace = Trace(_ASKED, tuple(passages), Generation("Ida built it."))
    captured = _TEMPLATES[template](passages)
    assert _GREEK.search(captured)
    for seen in (captured, None):
        left = contrast(trace, seen, _rendered)
        assert left.prompt is not None
        assert not _GREEK.search(left.prompt)
        assert "northern pier" in left.prompt
    assert not _GREEK.search(_rendered(question_prompt(_ASKED)))


def test_not_promised_a_title_of_one_word_inside_a_sentence():
    """Far from the passage it may be any word; as a source on a line of its own it goes."""
    passage = Passage("αβγ βγδ γδε δεζ εζη ζηθ", title="θικ")
    named = f"Cite one of: θικ\nWrite as θικ would. {_INSTRUCTIONS}\n{passage.text}\n{_ASKED}"
    left = contrast(Trace(_ASKED, (passage,), Generation("Ida built it.")), named, _rendered)
    assert left.prompt == f"Cite one of:\nWrite as θικ would. {_INSTRUCTIONS}\n\n{_ASKED}"
    assert left.residue == 0  # a single word is not counted


@pytest.mark.parametrize(("words", "kept"), [(43, True), (42, False)])
def test_not_promised_a_few_words_of_a_passage_in_other_ones(words, kept):
    """Five words in a row are two sequences of four: of 43 words' 40 (5 %), of 42 words' 39.

    Above 5 % there is no prompt, and nothing is scored.
    """
    # α ββ γγγ ... : every word is another one.
    passage = Passage(" ".join(chr(0x3B1 + i % 12) * (1 + i // 12) for i in range(words)))
    quoted = " ".join(passage.text.split()[20:25])
    captured = f"{passage.text}\n{_INSTRUCTIONS}\nIn short: {quoted} again.\n{_ASKED}"
    left = contrast(Trace(_ASKED, (passage,), Generation("Ida built it.")), captured, _rendered)
    assert left.residue == 2 / (words - 3)
    assert (left.reason is None) == kept
    if kept:
        assert _GREEK.findall(left.prompt) == list(quoted.replace(" ", ""))
