"""The demo data: its size, its form, and that the questions are what ``in_corpus`` says."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import FrozenInstanceError

import pytest

from franq_guard.datasets.demo import corpus, questions

# Written by hand from the passages: words that one passage must hold together to answer.
HELD = {
    "danube-capitals": ["Danube", "Vienna", "Bratislava", "Budapest", "Belgrade", "capital"],
    "golden-gate": ["Golden Gate", "27 May 1937", "Joseph Strauss", "chief engineer"],
    "octopus-hearts": ["octopus", "three hearts", "blood is blue", "haemocyanin"],
    "heart-transplant": ["Christiaan Barnard", "first", "heart", "transplant", "Cape Town"],
    "south-pole": ["Amundsen", "first", "South Pole", "14 December 1911"],
    "everest-height": ["Hillary", "Tenzing", "Everest", "first"],
    "intel-founders": ["Intel 4004", "November 1971"],
    "mars-red": ["Mars", "moons", "Phobos", "Deimos"],
    "gold-silver": ["Gold", "chemical symbol", "Au"],
}
# Answers (or parts of answers) that no passage may give away.
ABSENT = {
    "everest-height": ["8,84[89]", "884[89]", "29,03"],
    "intel-founders": ["Noyce", "Moore"],
    "mars-red": ["iron oxide", "rust", "red planet"],
    "gold-silver": ["Ag", "argentum"],
    "australia-capital": ["Canberra"],
    "python-creator": ["Rossum", "Python"],
    "mona-lisa": ["Mona Lisa", "Leonardo"],
}
KINDS = {"yes": 5, "partly": 4, "no": 3}


def holds(text, pattern):
    """Whether the pattern occurs as whole words; case counts in "Au" and "Ag" only."""
    flags = re.NOFLAG if len(pattern) == 2 else re.IGNORECASE
    return re.search(rf"\b{pattern}\b", text, flags) is not None


def passage_text(passage):
    return f"{passage.title}. {passage.text}"


def test_corpus_has_twelve_topics_of_six_or_more_passages():
    topics = Counter(passage.metadata["topic"] for passage in corpus())
    assert len(topics) == 12
    assert min(topics.values()) >= 6
    assert topics.total() >= 72


def test_corpus_ids_are_unique_and_name_their_topic():
    passages = corpus()
    assert len({passage.id for passage in passages}) == len(passages)
    for passage in passages:
        assert re.fullmatch(rf"{passage.metadata['topic']}-\d\d", passage.id)


def test_passages_are_short_clean_and_distinct():
    passages = corpus()
    for passage in passages:
        assert 45 <= len(passage.text.split()) <= 90, passage.id
        assert passage.title
        assert passage.text == " ".join(passage.text.split())
        assert passage.text.endswith(".")
    assert len({passage.text for passage in passages}) == len(passages)
    assert len({passage.title for passage in passages}) == len(passages)


def test_questions_cover_the_three_cases():
    asked = questions()
    assert Counter(question.in_corpus for question in asked) == KINDS
    assert len({question.id for question in asked}) == 12
    assert all(q.question.endswith("?") and q.note.endswith(".") for q in asked)


def test_word_tables_name_the_right_questions():
    by_kind = {kind: {q.id for q in questions() if q.in_corpus == kind} for kind in KINDS}
    assert set(HELD) == by_kind["yes"] | by_kind["partly"]
    assert set(ABSENT) == by_kind["no"] | by_kind["partly"]


@pytest.mark.parametrize(("name", "words"), HELD.items())
def test_one_passage_holds_what_is_said_to_be_in_the_corpus(name, words):
    texts = [passage_text(passage) for passage in corpus()]
    assert any(all(holds(text, word) for word in words) for text in texts), name


@pytest.mark.parametrize(("name", "words"), ABSENT.items())
def test_no_passage_holds_what_is_said_to_be_missing(name, words):
    for passage in corpus():
        found = [word for word in words if holds(passage_text(passage), word)]
        assert not found, (name, passage.id)


def test_questions_are_frozen():
    with pytest.raises(FrozenInstanceError):
        questions()[0].note = "changed"


def test_demo_data_loads_without_torch():
    code = (
        "import sys, franq_guard.datasets.demo as d; d.corpus(); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
