"""Tells which texts of steps and tools say something beside the passages that were found.

The others only join these passages for a prompt, with labels such as a number or a title.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from franq_guard import Passage
from franq_guard.basics.words import word_set
from franq_guard.capture.evidence import passages_of
from franq_guard.capture.matching import words_beside
from langchain_franq._model_run import ModelRun, plain

_QUOTED = 80  # characters: a shorter text may be in a prompt by chance
_BETWEEN = 60  # characters beside each document in a joined text: its number, its title
_NAMING = word_set(
    "title source id url uri link file filename file_name path file_path page page_label "
    "page_number start_index chunk score"
)
"""Keys of the metadata that tell where a document is from."""
_LABELS = _NAMING | word_set(
    "a an and are as at below by for from here i in is it no of on or s that the these this to was "
    "were with archive article base best chunks content contents context data database doc docs "
    "document documents end excerpt excerpts following found hit hits index information item items "
    "knowledge match matches matching metadata most name number page_content pages passage "
    "passages query question rank relevance relevant result results retrieved search searched "
    "similarity snippet snippets sources text texts titles top type"
)
"""Words that a tool puts beside a document and that say nothing of it."""


def without_joined(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without texts that only join others of them.

    A step may join the documents of the step before for the prompt; they would count twice.
    """
    texts = {plain(passage.text) for passage in passages}
    return [passage for passage in passages if not _joins(passage.text, texts)]


def with_returned(
    found: Sequence[Passage], returned: Sequence[Passage], called: Iterable[str]
) -> list[Passage]:
    """What a tool found, and the texts it ``returned`` to the model, unless these only join that.

    What it found may be names of sources alone: then the text is what the answer rests on. So it is
    if it tells more beside the documents, such as a price. ``called``: with what tools were called,
    which is no more than a label.
    """
    texts = {plain(passage.text) for passage in found}
    labels = [*map(plain, called), *(name for passage in found for name in _names(passage))]
    joined = [
        p for p in returned if _joins(p.text, texts) and not _tells_more(p.text, texts, labels)
    ]
    return [*found, *(one for one in returned if one not in joined)] if texts else [*returned]


def quoted(texts: Iterable[str], runs: Iterable[ModelRun]) -> list[Passage]:
    """Those of the ``texts`` that are in the prompt of a run, but are not all of it, as passages.

    The prompt may have them in another layout.
    """
    long = {text.strip(): plain(text) for text in texts if len(text) >= _QUOTED}
    seen = [run.words_seen for run in runs]
    in_one = [t for t, words in long.items() if any(words in s and words != s for s in seen)]
    return passages_of(in_one)


def is_in_one(text: str, runs: Iterable[ModelRun]) -> bool:
    """Whether a text, or six words of it in a row, is in the prompt of one of the runs."""
    words = plain(text)
    left = len(words.split())
    seen = [run.words_seen for run in runs]
    return any(words in one or len(words_beside(words, [one])) < left for one in seen)


def that_hold(
    found: Sequence[Passage],
    texts: Iterable[Passage],
    asked: Iterable[str],
    runs: Sequence[ModelRun],
) -> list[Passage]:
    """Those of the ``texts`` that have one of the passages ``found`` in them, and more besides.

    As the page has from which a hit was cut. One that joins what was found, cut to a length or not,
    with no more than labels is no text of its own. Nor is one with the question (``asked``) where
    the prompt of the ``runs`` has it nowhere else: that is the prompt, or most of it.
    """
    known = {plain(passage.text) for passage in found}
    questions = [words for words in map(plain, asked) if words]
    seen = [run.words_seen for run in runs]

    def holds(text: str) -> bool:
        whole = plain(text)
        parts, _ = _parts_and_rest(whole, known)
        prompts = [words for words in seen if whole in words]
        if not parts or any(_asks(whole, q, words) for q in questions for words in prompts):
            return False
        return len("".join(words_beside(whole, known))) > _BETWEEN * len(parts)

    return [text for text in texts if holds(text.text)]


def _asks(text: str, question: str, prompt: str) -> bool:
    return question in text and text.count(question) >= prompt.count(question)


def _joins(text: str, texts: Iterable[str]) -> bool:
    """Whether a text is made of ``texts``, of which the words are given, and little beside."""
    whole = plain(text)
    parts, rest = _parts_and_rest(whole, texts)
    beside = len("".join(rest.split()))
    return bool(parts) and beside <= min(_BETWEEN * len(parts), len(whole) / 2)


def _parts_and_rest(whole: str, texts: Iterable[str]) -> tuple[list[str], str]:
    rest = whole
    parts = sorted((t for t in texts if t and t in whole and t != whole), key=len, reverse=True)
    for part in parts:
        rest = rest.replace(part, "")
    return parts, rest


def _tells_more(text: str, texts: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether there is more beside the ``texts`` than ``labels``, numbers of a list and the like.

    A metadata's value that a tool has chosen to print counts; the whole of it, printed, does not.
    """
    _, rest = _parts_and_rest(plain(text), texts)
    left = f" {rest} "
    for label in sorted(filter(None, labels), key=len, reverse=True):
        left = left.replace(f" {label} ", " ")
    return any(word not in _LABELS and len(word.lstrip("0123456789")) > 0 for word in left.split())


def _names(passage: Passage) -> list[str]:
    """The words by which a passage is named, and those of its metadata as Python prints it."""
    about = passage.metadata or {}
    held = [value for key, value in about.items() if plain(str(key)) in _NAMING]
    return [plain(str(name)) for name in (passage.title, passage.id, *held, dict(about)) if name]
