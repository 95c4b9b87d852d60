"""Splits text into sentences and joins them into chunks as AlignScore does, keeping positions.

The chunking is that of AlignScore (arXiv 2305.16739, section 3.3; code at commit a0936d5): with w
whitespace words, k = w // 350 + 1, and n sentences, each chunk takes max(n // k, 1) consecutive
sentences joined by one space. This code also records each sentence's position in the text, because
evidence must point to it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from franq_guard.records import Span

Splitter = Callable[[str], Sequence[str]]
"""Returns the sentences of a text: unchanged, in order, without overlap. White space between
sentences may be left out."""

CHUNK_WORDS: Final = 350


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive sentences: `text` is what the model reads, `spans` their ranges in the source."""

    text: str
    spans: tuple[Span, ...]

    def source(self, start: int, end: int) -> Span:
        """The range of the source that `text[start:end]` was read from, for a non-empty `text`."""
        first = self._place(min(start, len(self.text) - 1))
        return first, self._place(end - 1) + 1 if start < end else first

    def _place(self, position: int) -> int:
        starts, at = [], 0
        for begin, stop in self.spans:
            starts.append(at)
            at += stop - begin + 1
        index = bisect_right(starts, position) - 1
        begin, stop = self.spans[index]
        return min(begin + position - starts[index], stop - 1)


def sentence_spans(text: str, splitter: Splitter) -> list[Span]:
    """Ranges of the sentences of `text`.

    Raises:
        ValueError: `splitter` returned a sentence that is not in the text, or out of order.
    """
    spans, at = [], 0
    for sentence in splitter(text):
        start = text.find(sentence, at)
        if start < 0:
            raise ValueError(
                f"the sentence splitter returned {sentence[:60]!r}, which is not in the text after "
                f"position {at}: it must return unchanged stretches of the text, in order"
            )
        at = start + len(sentence)
        if sentence:
            spans.append((start, at))
    return spans


def chunks(text: str, splitter: Splitter, *, words: int = CHUNK_WORDS) -> list[Chunk]:
    """Cut `text` into chunks of roughly `words` words; one empty chunk if it has no sentences."""
    spans = sentence_spans(text, splitter)
    if not spans:
        return [Chunk("", ())]
    parts = len(text.split()) // words + 1
    size = max(len(spans) // parts, 1)
    groups = [tuple(spans[i : i + size]) for i in range(0, len(spans), size)]
    return [Chunk(" ".join(text[a:b] for a, b in group), group) for group in groups]


def whole(text: str) -> Chunk:
    """The whole text as one chunk, including its white space."""
    return Chunk(text, ((0, len(text)),) if text else ())


def punkt(text: str) -> list[str]:
    """Sentences by NLTK's Punkt for English, which the original AlignScore uses.

    Raises:
        ImportError: nltk is not installed.
        LookupError: its data is missing (``python -m nltk.downloader punkt_tab``).
    """
    from nltk.tokenize import sent_tokenize

    return list(sent_tokenize(text))


def sentencex(text: str) -> list[str]:
    """Sentences by the sentencex package for English, which downloads no data."""
    from sentencex import segment

    stripped = (sentence.strip() for sentence in segment("en", text))
    return [sentence for sentence in stripped if sentence]


def default_splitter() -> Splitter:
    """`punkt` where nltk and its data are installed, else `sentencex`."""
    try:
        punkt("One. Two.")
    except (ImportError, LookupError):
        return sentencex
    return punkt


def splitter_name(splitter: Splitter) -> str:
    """A name for fingerprints: the splitter's attribute ``fingerprint``, or else its own name.

    A splitter with settings should define ``fingerprint``; a plain function is identified by its
    module and name.
    """
    if splitter in (punkt, sentencex):
        return splitter.__name__
    named = splitter if hasattr(splitter, "__qualname__") else type(splitter)
    name = f"{getattr(named, '__module__', 'builtins')}.{named.__qualname__}"
    return str(getattr(splitter, "fingerprint", name))
