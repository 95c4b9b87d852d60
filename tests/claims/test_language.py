"""Answers in another language than the models': found, and English ones left alone.

The sentences are our own: 20 languages, each with three short sentences and two long ones; English
texts that are hard to tell (names, numbers, code, quotations), and English ones with foreign words.
``pytest -s`` prints both error rates.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from franq_guard.claims import language
from franq_guard.claims.language import in_another_language

FILE = Path(__file__).parents[1] / "fixtures" / "languages.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def wrong():
    """The texts that are judged wrongly, by kind; the error rates are printed."""
    found = {"short": [], "long": [], "mixed": [], "english": []}
    for row in ROWS:
        if in_another_language(row["text"], {"en"}) != (row["language"] != "en"):
            found[row["kind"]].append(row["text"])
    of = Counter(row["kind"] for row in ROWS)
    print("\nwrong:", ", ".join(f"{kind} {len(found[kind])} of {of[kind]}" for kind in found))
    return found


def test_there_are_sentences_in_twenty_languages():
    foreign = Counter(row["language"] for row in ROWS if row["language"] != "en")
    assert len(foreign) == 20
    assert set(foreign.values()) == {5}
    assert len({row["text"] for row in ROWS}) == len(ROWS)


def test_sentences_of_other_languages_are_recognised(wrong):
    assert len(wrong["short"]) <= 2  # of 60
    assert wrong["long"] == []  # of 40


def test_english_is_hardly_ever_refused(wrong):
    assert wrong["mixed"] == []  # of 25
    # 75 that were chosen for being hard; four are refused: two sentences that are names but for a
    # word or two, a foreign quotation with nothing around it, a list of Latin names
    assert len(wrong["english"]) <= 4


@pytest.mark.parametrize("text", ["", "  \n", "1937", "!?", "\ud800", "🌉🌉🌉🌉🌉", "Ωμ", "ab"])
def test_what_is_too_short_to_tell_is_let_through(text):
    assert not in_another_language(text, {"en"})


@pytest.mark.parametrize(
    "text", ["Guðrún Jónsdóttir sings in Hafnarfjörður.", "Der Filter kostet 39 Euro."]
)
def test_few_words_without_a_capital_are_too_few_to_tell(text):
    """The identifier is surer of the first, which is English: .95 and more for another language."""
    assert not in_another_language(text, {"en"})


def test_what_is_quoted_or_code_does_not_count():
    quoted = (
        "He asked: „Wer hat denn gestern Abend das Licht im Keller brennen lassen?“ Nobody knew."
    )
    assert not in_another_language(quoted, {"en"})
    fenced = "```\nfür jede zeile in der datei: drucke die zeile und zähle weiter\n```\nIt prints."
    assert not in_another_language(fenced, {"en"})
    answer = (
        "Der Befehl dafür lautet wie folgt und wirkt sofort:\n```\nmake the cake and eat it\n```"
    )
    assert in_another_language(answer, {"en"})


GERMAN = "Der Turm ist hoch, und die Brücke daneben ist noch viel älter als die ganze Stadt. "
ENGLISH = "The tower is tall, and the bridge beside it is much older than the whole town is. "
CODE = "für jede zeile in der datei drucke die zeile und zähle danach weiter\n"


def test_work_does_not_grow_with_a_long_answer(monkeypatch):
    sizes = []

    def counted(text, parse=language.blocks):
        sizes.append(len(text))
        return parse(text)

    monkeypatch.setattr(language, "blocks", counted)
    for times in (100, 1000, 10_000):
        assert in_another_language(GERMAN * times, {"en"})
    assert sizes == [len(GERMAN) * 100, 16_000, 16_000]


@pytest.mark.parametrize("after", range(6))
@pytest.mark.parametrize(
    ("opening", "closing"), [("```\n", "```\n"), ("~~~text.py\n", "~~~\n"), ("<script>\n", "")]
)
def test_code_that_is_cut_stays_code(opening, closing, after, monkeypatch):
    """The cut is at any place of the end of the code, its fence included."""
    code = opening + CODE * 20 + closing
    monkeypatch.setattr(language, "_PARSED", len(ENGLISH) + 1 + len(code) - after)
    assert not in_another_language(f"{ENGLISH}\n{code}{CODE * 20}", {"en"})
    assert in_another_language(f"{GERMAN}\n{code}", {"en"})


@pytest.mark.parametrize("begins", ['{"an": ', '["an", '])
def test_json_that_is_cut_stays_code(begins, monkeypatch):
    """Cut it is no JSON, and what stands beside its strings would be taken for prose."""
    monkeypatch.setattr(language, "_PARSED", 400)
    text = begins + '"Turm", ' + ", ".join(["wahr und hoch über allem"] * 40)
    assert not in_another_language(text, {"en"})


def test_an_answer_that_begins_with_long_code_is_let_through():
    long = "```\n" + CODE * 300 + "```\n"  # 20,000 characters
    for rest in (ENGLISH, GERMAN):
        assert not in_another_language(long + rest * 10, {"en"})


@pytest.mark.parametrize("text", [ENGLISH, GERMAN])
@pytest.mark.parametrize(
    "block", ["{0}", "- {0}\n", "{0}\n\n", "## {0}\n\n{0}", "> {0}\n", "“x” {0}"]
)
def test_a_long_answer_is_judged_as_its_beginning(text, block):
    answer = block.format(text) * 400
    assert in_another_language(answer, {"en"}) == (text == GERMAN)


def test_the_wanted_languages_decide():
    german = next(row["text"] for row in ROWS if (row["language"], row["kind"]) == ("de", "long"))
    russian = next(row["text"] for row in ROWS if (row["language"], row["kind"]) == ("ru", "long"))
    assert in_another_language(german, {"en", "fr"})
    assert not in_another_language(german, {"en", "de"})
    assert in_another_language(russian, {"en", "de"})
    assert not in_another_language(russian, {"en", "ru"})


def test_plain_english_does_not_load_the_identifier(monkeypatch):
    def no_load():
        raise AssertionError("loaded")

    monkeypatch.setattr(language, "load", no_load)
    text = "The tower is three hundred metres high and was finished in 1889."
    assert not in_another_language(text, {"en"})
    assert in_another_language("Мост открыли в 1937 году.", {"en"})


def test_importing_loads_no_identifier():
    code = "import sys, franq_guard.claims.language; print('py3langid' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
