import html
import json
import random
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.language_model import remove_evidence
from franq_guard.language_model.evidence_removal import shared
from franq_guard.records import Passage

PASSAGES = (
    Passage(
        'The Aldwen is a river of 94 miles.\nIt rises at "Corrie Loch" & ends in the bay; '
        "barges carried slate down it until 1911, when the railway came.",
        title="Aldwen",
    ),
    Passage(
        "Slate from the Pennant quarry roofed half of the county. The quarry employed 310 men in "
        "1880 and closed in 1934.",
        title="Pennant quarry",
    ),
    Passage("Herons nest along the lower Aldwen every spring, the warden's count says."),
)
QUESTION = "How long is the Aldwen, and what did barges carry?"
TEXTS = [p.text for p in PASSAGES]


def template(context):
    return (
        f"<|im_start|>user\nUse the context to answer.\n\n{context}\n\n"
        f"Question: {QUESTION}\nAnswer in one sentence.<|im_end|>\n<|im_start|>assistant\n"
    )


def merged_chunks():
    words = " ".join(TEXTS).split()
    return "\n---\n".join(" ".join(words[i : i + 25]) for i in range(0, len(words), 20))


WAYS = {
    "joined": "\n\n".join(TEXTS),
    "stripped": "\n".join(t.strip() for t in TEXTS),
    "newline to space": " ".join(t.replace("\n", " ") for t in TEXTS),
    "json": json.dumps([{"page_content": t} for t in TEXTS]),
    "repr": repr(TEXTS),
    "html": "".join(f"<p>{html.escape(t)}</p>" for t in TEXTS),
    "wrapped": "\n".join(textwrap.fill(t, 30) for t in TEXTS),
    "numbered with titles": "\n\n".join(
        f"[{i}] {p.title}\n{p.text}" for i, p in enumerate(PASSAGES, 1)
    ),
    "with metadata": "\n\n".join(f"file_name: a{i}.txt\n\n{t}" for i, t in enumerate(TEXTS)),
    "truncated": "\n\n".join(t[:70] for t in TEXTS),
    "cut within words": "\n\n".join(t[5:61] for t in TEXTS),
    "overlapping chunks": merged_chunks(),
    "upper case": "\n\n".join(TEXTS).upper(),
    "twice": "\n\n".join([*TEXTS, *TEXTS]),
    "lists": "\n".join(f"- {t}" for t in TEXTS),
}


@pytest.mark.parametrize("way", WAYS)
def test_evidence_goes_however_it_was_put_in(way):
    prompt = template(WAYS[way])
    removal = remove_evidence(prompt, PASSAGES, QUESTION)
    assert removal.residue == 0
    assert (removal.found, removal.total) == (3, 3)
    assert QUESTION in removal.text
    assert removal.text.startswith("<|im_start|>user\nUse the context to answer.")
    assert removal.text.endswith("Answer in one sentence.<|im_end|>\n<|im_start|>assistant\n")
    for fact in ("94", "slate down", "310", "1934", "Herons"):
        assert fact not in removal.text


def test_titles_beside_evidence_go_too():
    removal = remove_evidence(template(WAYS["numbered with titles"]), PASSAGES, QUESTION)
    assert "Pennant" not in removal.text
    assert removal.text.count("Aldwen") == 1  # the question's


FAR = "Write in plain words and in whole sentences, and never guess. " * 5


@pytest.mark.parametrize(
    "shown", ["Pennant quarry", "PENNANT QUARRY", "file_name: Pennant_quarry.txt"]
)
def test_titles_of_two_words_go_wherever_they_are(shown):
    for prompt in (f"{TEXTS[1]}\n{FAR}\nCite: {shown}", f"{shown}\n{FAR}\n{TEXTS[1]}"):
        removal = remove_evidence(f"{prompt}\n{QUESTION}", PASSAGES[1:2], QUESTION)
        assert "quarry" not in removal.text.casefold()
        assert (removal.residue, FAR.strip() in removal.text) == (0, True)


def test_a_title_that_the_question_names_stays_far_from_evidence():
    question = "Who owned the Pennant Quarry?"
    prompt = f"Tell me of the Pennant quarry.\n{FAR}\n{TEXTS[1]}\n{question}"
    removal = remove_evidence(prompt, PASSAGES[1:2], question)
    assert removal.text == f"Tell me of the Pennant quarry.\n{FAR}\n\n{question}"
    assert removal.residue == 0


def test_a_single_word_is_a_title_only_near_evidence_and_as_it_is_written():
    passage = Passage(TEXTS[1], title="May")
    prompt = f"In May they may ask.\n{FAR}\nMay:\n{TEXTS[1]}\nYou may say so."
    left = remove_evidence(prompt, [passage], QUESTION).text
    assert left == f"In May they may ask.\n{FAR}\n:\n\nYou may say so."


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("Sources: Oslo", "Sources:"),
        ("Cite one of: Oslo, Rome.", "Cite one of:,"),
        ("Oslo; Tell us", "Oslo; Tell us"),
        ("## Oslo", ""),
        ("[2] OSLO", ""),
        ("**Oslo**, Pennant quarry", ", "),
        ("file_name: Oslo.txt", "file_name:"),
        ('{"sources": ["Oslo", "Rome"]}', '{"sources":,'),
        ("Oslo, Aldwen", ", Aldwen"),  # the question names Aldwen
        ("oslo", "oslo"),
        ("Write of Oslo", "Write of Oslo"),
        ("Not: of Oslo", "Not: of Oslo"),
    ],
)
def test_a_single_word_is_a_title_on_a_line_of_titles(line, left):
    passages = [Passage(TEXTS[1], title=t) for t in ("Oslo", "Rome", "Aldwen", "Pennant quarry")]
    for prompt, wanted in (
        (f"{line}\n{FAR}\n{TEXTS[1]}\n{QUESTION}", f"{left}\n{FAR}\n\n{QUESTION}"),
        (f"{TEXTS[1]}\n{FAR}\n{line}\n{QUESTION}", f"\n{FAR}\n{left}\n{QUESTION}"),
    ):
        assert remove_evidence(prompt, passages, QUESTION).text == wanted


def test_a_line_of_the_question_is_no_list_of_titles():
    question = "Which is farther north?\nOslo, Rome"
    passages = [Passage(TEXTS[1], title=title) for title in ("Oslo", "Rome")]
    left = remove_evidence(f"{TEXTS[1]}\n{FAR}\n{question}", passages, question).text
    assert left == f"\n{FAR}\n{question}"


def test_titles_count_in_the_residue():
    """The text's three four-word sequences are gone, one of the title's two is left: 1 / 5."""
    passage = Passage("one two three four five six", title="Slate of the Pennant quarry")
    prompt = f"{passage.text}\n{FAR}\nCite slate of the Pennant, or say nothing."
    assert remove_evidence(prompt, [passage], "why?").residue == pytest.approx(1 / 5)


def test_residue_is_measured():
    """Half of a passage is in other words and stays; the residue says how much."""
    passage = Passage("one two three four five six seven eight nine ten")
    # 7 four-word sequences; "one two three four five" holds 2 of them, too short for the cover of
    # six words and with no other evidence near: 2 / 7.
    removal = remove_evidence("say one two three four five now", [passage], "why?")
    assert removal.text == "say one two three four five now"
    assert removal.residue == pytest.approx(2 / 7)
    assert (removal.found, removal.total) == (0, 1)


def test_the_question_is_never_touched():
    passages = [Passage("Zorvex"), Passage(f"{QUESTION} Slate.")]
    removal = remove_evidence(template(passages[1].text), passages, QUESTION)
    assert f"Question: {QUESTION}" in removal.text
    assert removal.text.count(QUESTION) == 1  # the passage's copy is gone
    question = "Who was Zorvex?"
    prompt = f"Context:\nZorvex was a king of the ancient hill people.\n\n{question}"
    passages = [Passage("Zorvex"), Passage("Zorvex was a king of the ancient hill people.")]
    removal = remove_evidence(prompt, passages, question)
    assert removal.text == f"Context:\n\n\n{question}"


def test_short_passages_go_from_the_context_only():
    passages = [Passage("Answer"), Passage("Paris is big."), Passage("art")]
    prompt = "Answer briefly from the heart.\n\n1. Paris is big.\n2. Answer\n\nIs Paris big?"
    removal = remove_evidence(prompt, passages, "Is Paris big?")
    assert removal.text == "Answer briefly from the heart.\n\n1. \n2. \n\nIs Paris big?"


def test_nothing_to_remove():
    assert remove_evidence("Hello", [], "Hello").text == "Hello"
    removal = remove_evidence("Say something.", [Passage(" ")], "")
    assert (removal.text, removal.found, removal.residue) == ("Say something.", 0, 0.0)
    assert remove_evidence("", PASSAGES, QUESTION).text == ""


def test_scripts_without_spaces():
    passage = Passage("東京は日本の首都であり、人口は約千四百万人である。")
    prompt = f"次を読んでください。\n{passage.text[:18]}\n質問: 日本の首都はどこですか。"
    removal = remove_evidence(prompt, [passage], "日本の首都はどこですか。")
    assert removal.text == "次を読んでください。\n\n質問: 日本の首都はどこですか。"
    assert removal.found == 1


def test_shared_counts_long_texts_only():
    assert shared("Yes", "Answer Yes or No.", "Is it?") == 0
    text = "the river rises in the northern hills"
    assert shared(text, f"So far: {text}.", "Where?") == 1
    assert shared(text, f"{text}", text) == 0  # all of it is the question's own


WORDS = st.lists(st.sampled_from(["river", "hill", "sea", "ship", "slate", "men", "town"]))


@settings(deadline=None, max_examples=150)
@given(
    texts=st.lists(st.text(max_size=60) | WORDS.map(" ".join), max_size=3),
    question=st.text(max_size=20),
)
def test_removal_only_deletes(texts, question):
    prompt = "Read: " + "\n".join(texts) + f"\nQuestion: {question}"
    removal = remove_evidence(prompt, [Passage(t) for t in texts], question)
    rest = iter(prompt)
    assert all(char in rest for char in removal.text)  # a subsequence
    assert 0 <= removal.residue <= 1
    assert question.strip() in removal.text
    assert removal.found <= removal.total == len(texts)


def test_a_book_is_read_in_about_a_second():
    """Forty passages in 32,000 words: if each word met each, this would take hours."""
    rng = random.Random(2)
    words = [f"w{rng.randrange(5000)}" for _ in range(40_000)]
    passages = [Passage(" ".join(words[i : i + 400])) for i in range(0, 16_000, 400)]
    prompt = " ".join(words[8_000:])
    removal = remove_evidence(prompt, passages, "which?")
    assert removal.found == 20
