"""False statements by a language model: one fact of a sentence changed, checked to be one edit."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

from franq_guard.basics.text import common_start
from franq_guard.datasets.building.edits import Edit
from franq_guard.datasets.comparable_words import texts
from franq_guard.datasets.entities import entities

_REQUEST = """Make the sentence below false: change one fact in it (a number, a name, a date, who
did what, or yes to no) and leave all other words exactly as they are.

Sentence: {sentence}

Reply with JSON only: {{"sentence": "..."}}
"""
_MOST_WORDS = 6
"""Of the changed stretch, before and after. A longer one is more than one edit."""
_NEGATIONS = {"not", "never", "no", "none"}


class Rewrites:
    """Asks a model for false versions of sentences.

    Args:
        ask: from a request to a reply.
    """

    def __init__(self, ask: Callable[[str], str]) -> None:
        self._ask = ask
        self._dropped: dict[str, str] = {}

    @property
    def dropped(self) -> Counter[str]:
        """Why replies to :meth:`edit` were not used, and how many."""
        return Counter(self._dropped.values())

    def edit(self, sentence: str) -> Edit | None:
        """The model's edit of a sentence, or None if its reply fails a check."""
        made = checked_edit(sentence, str(self._ask(_REQUEST.format(sentence=sentence))))
        if isinstance(made, Edit):
            return made
        self._dropped[sentence] = made
        return None


def checked_edit(sentence: str, reply: str) -> Edit | str:
    """The one edit in a reply, or why there is none that surely makes the sentence false.

    The reply must differ from the sentence in one stretch of a few words. The stretch must change a
    number, a date or a name, add or remove a negation, or exchange two names; other words may mean
    the same as before.
    """
    said = _sentence(reply)
    if said is None:
        return "no JSON with one sentence"
    if texts(said) == texts(sentence):
        return "nothing was changed"
    start, end, new = _stretch(sentence, said)
    old = sentence[start:end]
    if max(len(old.split()), len(new.split())) > _MOST_WORDS:
        return "more than one edit"
    if not _false(old, new):
        return "no number, name, date or negation was changed"
    return Edit(sentence, start, end, new, "rewrite")


def _sentence(reply: str) -> str | None:
    for found in re.finditer(r"\{[^{}]*\}", reply):
        try:
            said = json.loads(found[0]).get("sentence")
        except ValueError:
            continue
        if isinstance(said, str) and said.strip() and "\n" not in said.strip():
            return said.strip()
    return None


def _stretch(before: str, after: str) -> tuple[int, int, str]:
    """The shortest stretch of whole words of ``before`` that differs, and what replaces it."""
    old, new = (list(re.finditer(r"\S+", text)) for text in (before, after))
    was, now = [word[0] for word in old], [word[0] for word in new]
    first = common_start(was, now)
    last = common_start(was[first:][::-1], now[first:][::-1])
    changed, by = old[first : len(old) - last], new[first : len(new) - last]
    text = after[by[0].start() : by[-1].end()] if by else ""
    if changed:
        return changed[0].start(), changed[-1].end(), text
    start = old[first].start() if first < len(old) else len(before)
    return start, start, f"{text} " if text else ""  # a space before the word that follows


def _false(old: str, new: str) -> bool:
    """Whether the change surely makes the statement false; see :func:`checked_edit`."""
    before, after = texts(old), texts(new)
    if (set(before) ^ set(after)) & _NEGATIONS:
        return True
    facts, others = ({texts(e.text) for e in entities(text)} for text in (old, new))
    if sorted(before) == sorted(after):
        return len(facts) > 1  # two names in each other's place
    return bool(facts) and bool(others) and not facts & others
