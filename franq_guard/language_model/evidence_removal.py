"""Removes the passages from a prompt, even if a framework changed them when it built the prompt.

There are three steps: (1) remove every passage unchanged, stripped, escaped (JSON, ``repr``, HTML)
or with other white space; (2) remove every run of words covered by six-word sequences of the
passages, which finds re-split, merged and truncated ones; (3) near evidence already found, also
remove four-word sequences, short passages and titles. A title of two or more words is removed
anywhere, in any case and with any marks between its words (a list of sources, a file's name),
unless the question names it. A title of a single word is removed from a line that holds nothing but
titles, behind a label or not: a heading, or "Sources: Rome, Oslo". The question itself is never
removed.

Not promised: far from evidence a title of a single word stays inside a sentence, where it may be
any word, and so do up to five words in a row of a passage. ``residue`` tells how much of the
passages stays; how much is let pass, :mod:`.contrast` decides.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from franq_guard.basics.text import merged
from franq_guard.records import Passage, Span

COVER_WORDS = 6
"""Word sequences of this length are evidence anywhere in the prompt."""
NEAR_WORDS = 4
"""Word sequences of this length are evidence near other evidence; also used for the residue."""
REACH = 240
"""How many characters around found evidence count as near it."""

# Scripts without spaces between words: each character counts as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_CLOSING = re.compile(r"[.,;:!?…。、)\]}'\"’”»]*")
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:[-*•>]|[\[(]?\d+[\].):]+)?[ \t]*\Z")
_AROUND = " \t\r-*•>#_.[](){}\"'`"
"""Marks around a title on a line of its own: of lists, headings, quotes and JSON."""
_NUMBER = re.compile(r"[\[(]?\d+[\].):]+[ \t]*")
_ENDING = re.compile(r"\.\w{1,5}\Z")
"""Of a file's name."""
_LINE_END = re.compile(r"[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Removal:
    """A prompt after :func:`remove_evidence`.

    ``found`` of ``total`` passages were found in the prompt. ``residue`` in [0, 1] is the share of
    the distinct four-word sequences of the passages and of their titles of two or more words that
    are still in ``text``, without those of the question itself.
    """

    text: str
    found: int
    total: int
    residue: float


def remove_evidence(prompt: str, passages: Sequence[Passage], question: str) -> Removal:
    """The prompt without the passages, and how completely they were removed.

    A passage of fewer than six words is removed only if it is on a line of its own or near other
    evidence: elsewhere it may be part of the instructions.
    """
    texts = [p.text.strip() for p in passages]
    titles = sorted({p.title.strip() for p in passages})
    far = [title for title in titles if title and not _is_in_question(title, question)]
    words = list(_WORD.finditer(prompt))
    places = [_places(prompt, text) for text in texts]
    sure = [_sure(prompt, text, spans) for text, spans in zip(texts, places, strict=True)]
    mask = _Mask(prompt, _question_spans(prompt, question.strip(), texts, places))
    mask.add(s for spans in sure for s in spans)
    mask.add(_covered(prompt, words, texts, COVER_WORDS))
    region = mask.surroundings()
    near = _titled(prompt, words, titles)
    near += [s for spans, known in zip(places, sure, strict=True) if not known for s in spans]
    near += _covered(prompt, words, texts, NEAR_WORDS)
    mask.add(s for s in near if _inside(s, region))
    gone = set[tuple[str, ...]]() if all(places) else _removed(words, mask)
    found = sum(
        any(map(mask.touches, spans))
        if spans
        else not gone.isdisjoint(_shingles(_words(text), COVER_WORDS))
        for text, spans in zip(texts, places, strict=True)
    )
    mask.add(_titled(prompt, words, [title for title in far if _is_distinctive(title)]))
    left = _without_listed(mask.left(), titles, far)
    counted = [*texts, *filter(_is_distinctive, titles)]
    return Removal(left, found, len(texts), _share(counted, left, question))


def shared(text: str, prompt: str, question: str) -> float:
    """Share in [0, 1] of the text's four-word sequences that are in the prompt.

    Those of the question do not count. A text of fewer than six words gives 0, because a few words
    may be in any prompt by chance.
    """
    return 0.0 if _short(text) else _share([text], prompt, question)


class _Mask:
    """Which characters of a prompt are removed; protected ones never are."""

    def __init__(self, prompt: str, guarded: Sequence[Span]) -> None:
        self._prompt = prompt
        self._guarded = guarded
        self._flags = bytearray(len(prompt))

    def add(self, spans: Iterable[Span]) -> None:
        for start, end in spans:
            self._flags[start:end] = b"\1" * (end - start)
        for start, end in self._guarded:
            self._flags[start:end] = bytes(end - start)

    def surroundings(self) -> list[Span]:
        runs = (m.span() for m in re.finditer(b"\x01+", self._flags))
        return merged((max(0, a - REACH), b + REACH) for a, b in runs)

    def left(self) -> str:
        return "".join(self._prompt[slice(*m.span())] for m in re.finditer(b"\x00+", self._flags))

    def touches(self, span: Span) -> bool:
        return any(self._flags[slice(*span)])


def _words(text: str) -> list[str]:
    return [m.group().casefold() for m in _WORD.finditer(text)]


def _short(text: str) -> bool:
    return len(_words(text)) < COVER_WORDS


def _is_distinctive(title: str) -> bool:
    """Whether a title is long enough to be no chance: two words or more, or a file's name."""
    return len(re.findall(r"[^\W_]+", title)) > 1


def _is_in_question(title: str, question: str) -> bool:
    words = tuple(_words(title))
    return words in _shingles(_words(question), len(words))


def _titled(prompt: str, words: Sequence[re.Match[str]], titles: Sequence[str]) -> list[Span]:
    """Where whole titles are: unchanged, escaped, in capitals, or the same words in any case.

    A single word in any case would be too much: "May" is a title, "may" is none.
    """
    spans = [s for t in titles for form in (t, t.upper()) for s in _places(prompt, form)]
    by_length: dict[int, list[str]] = {}
    for title in filter(_is_distinctive, titles):
        by_length.setdefault(len(_words(title)), []).append(title)
    return spans + [s for n, of in by_length.items() for s in _covered(prompt, words, of, n)]


def _without_listed(text: str, titles: Sequence[str], wanted: Sequence[str]) -> str:
    """The text without the wanted titles on lines of titles alone, behind a label or not."""
    known, gone = _as_written(titles), _as_written(wanted)
    return "\n".join(_relisted(line, known, gone) for line in text.split("\n")) if gone else text


def _as_written(titles: Sequence[str]) -> set[str]:
    return {form for t in titles if t for of in (t, t.upper()) for form in _forms(of)}


def _relisted(line: str, known: set[str], gone: set[str]) -> str:
    for start in (0, line.rfind(":") + 1):
        items = re.split("([,;|])", line[start:])  # every other one is a separator
        names = [_name(item, known) for item in items[::2]]
        if any(names) and None not in names:
            items[::2] = ["" if n in gone else i for i, n in zip(items[::2], names, strict=True)]
            return line[:start] + "".join(items)
    return line


def _name(item: str, known: set[str]) -> str | None:
    """The title that an item of a list is, "" if it is empty, None if it is something else."""
    plain = item.strip()
    bare = _NUMBER.sub("", plain, count=1).strip(_AROUND)
    return next(
        (one for one in (plain, bare, _ENDING.sub("", bare)) if one in known or not one), None
    )


def _inside(span: Span, region: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in region)


def _question_spans(
    prompt: str, question: str, texts: Sequence[str], places: Sequence[Sequence[Span]]
) -> list[Span]:
    """Where the question is; copies inside longer passages count only if there is no other."""
    spans = _places(prompt, question)
    held = merged(
        s
        for text, found in zip(texts, places, strict=True)
        if len(text) > len(question)
        for s in found
    )
    return merged([s for s in spans if not _inside(s, held)] or spans)


def _places(prompt: str, text: str) -> list[Span]:
    """Every place where the text occurs, plain, escaped or with other white space."""
    if not text:
        return []
    spans = {s for form in _forms(text) for s in _occurrences(prompt, form)}
    if not spans and len(parts := text.split()) > 1:
        pattern = r"\s+".join(map(re.escape, parts))
        spans = {m.span() for m in re.finditer(pattern, prompt)}
    return sorted(s for s in spans if not _short(text) or _whole_words(prompt, s))


def _sure(prompt: str, text: str, spans: Sequence[Span]) -> list[Span]:
    """The places of a passage that are evidence wherever they are."""
    return [s for s in spans if not _short(text) or _own_line(prompt, s)]


def _forms(text: str) -> set[str]:
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        html.escape(text),
        html.escape(text, quote=False),
    }


def _occurrences(prompt: str, form: str) -> Iterator[Span]:
    at = prompt.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = prompt.find(form, at + len(form))


def _whole_words(prompt: str, span: Span) -> bool:
    """Whether no word is cut at either end: "art" inside "heart" is no match."""
    borders = (prompt[max(0, at - 1) : at + 1] for at in span)
    return not any(len(pair) == 2 and _WORD.fullmatch(pair) for pair in borders)


def _own_line(prompt: str, span: Span) -> bool:
    before = prompt[max(0, span[0] - 40) : span[0]]
    return bool(_LINE_START.search(before) and _LINE_END.match(prompt, span[1]))


def _shingles(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def _covered(
    prompt: str, words: Sequence[re.Match[str]], texts: Sequence[str], n: int
) -> list[Span]:
    """Runs of the prompt's words covered by n-word sequences of the texts, with closing marks."""
    known: set[tuple[str, ...]] = set()
    for text in texts:
        known |= _shingles(_words(text), n)
    folded = [m.group().casefold() for m in words]
    runs = merged(
        (words[i].start(), words[i + n - 1].end())
        for i in range(len(words) - n + 1)
        if tuple(folded[i : i + n]) in known
    )
    closing = [_CLOSING.match(prompt, end) for _, end in runs]
    return [(run[0], mark.end()) for run, mark in zip(runs, closing, strict=True) if mark]


def _removed(words: Sequence[re.Match[str]], mask: _Mask) -> set[tuple[str, ...]]:
    """The six-word sequences of the prompt of which something is removed."""
    folded = [m.group().casefold() for m in words]
    return {
        tuple(folded[i : i + COVER_WORDS])
        for i in range(len(words) - COVER_WORDS + 1)
        if mask.touches((words[i].start(), words[i + COVER_WORDS - 1].end()))
    }


def _share(texts: Sequence[str], left: str, question: str) -> float:
    """Share of the texts' four-word sequences in ``left``; a shorter text is one sequence."""
    wanted: set[tuple[str, ...]] = set()
    for text in texts:
        words = _words(text)
        wanted |= _shingles(words, min(NEAR_WORDS, len(words))) if words else set()
    lengths = {len(s) for s in wanted}
    asked, words = _words(question), _words(left)
    wanted -= {s for n in lengths for s in _shingles(asked, n)}
    still = {s for n in lengths for s in _shingles(words, n)}
    return len(wanted & still) / len(wanted) if wanted else 0.0
