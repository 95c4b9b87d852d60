"""Converts plain values and ``franq.trace/1`` rows to :class:`Trace`, checking every field.

Every error in a row is a ``ValueError`` that names the key (and the index) of the wrong value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeGuard, cast, get_args

from franq_guard.basics.deadline import DeadlineExceeded, between_batches
from franq_guard.basics.names import name_of
from franq_guard.basics.text import trimmed
from franq_guard.claims.alignment import ALIGNED, Index
from franq_guard.claims.sentences import sentences
from franq_guard.records import (
    Claim,
    ClaimLabel,
    Generation,
    Passage,
    Source,
    Span,
    Token,
    Trace,
)

Given = tuple[str, Iterable[str | Passage], str]
"""Question, passages and answer."""
_TEXT_KEYS = ("text", "page_content", "content", "document.content")
_ALMOST_ZERO = 1e-3  # rounding may put a log-probability above 0, or an entropy below, by this much


def trace_of(question: str, passages: Iterable[str | Passage], answer: str) -> Trace:
    """Plain values as a trace.

    Raises:
        TypeError: if a value has the wrong type.
        ValueError: if the question is empty, or a passage has no text.
    """
    for name, text in (("question", question), ("answer", answer)):
        if not isinstance(text, str):
            raise TypeError(f"the {name} must be a string, not {type(text).__name__}")
    if isinstance(passages, (str, Mapping)) or not isinstance(passages, Iterable):
        raise TypeError(
            f"passages must be a list of strings or Passages, not {type(passages).__name__}"
        )
    if not question.strip():
        raise ValueError("the question is empty: FRANQ conditions on it")
    return Trace(question, passages_from(passages), Generation(answer))


def as_trace(item: Trace | Given) -> Trace:
    """Return a trace unchanged, or convert (question, passages, answer) to one.

    Raises:
        TypeError, ValueError: for anything else.
    """
    if isinstance(item, Trace):
        return item
    if isinstance(item, tuple | list) and len(item) == 3:
        return trace_of(*item)
    raise TypeError(
        f"a Trace or a tuple (question, passages, answer) is wanted, not {type(item).__name__}"
    )


def trace_from_dict(row: object) -> Trace:
    """A ``franq.trace/1`` row as a :class:`Trace`.

    If ``claims`` are given (texts, or objects with ``text``), they are checked as given, and what
    they leave of the answer as the guard splits it. A claim whose words are not found in the answer
    gets the span of the most similar sentence, and its ``aligned`` is low; one not found before the
    deadline (:func:`~franq_guard.basics.deadline.until`) gets no span. Tokens get the id -1 and
    their ``top`` is not read, because a row's ids belong to another tokenizer than the guard's. An
    integer ``id`` becomes a string. ``source`` is where the tokens' log-probabilities come from
    (default: a server), ``writer`` the fingerprint of the model that wrote the answer, and
    ``contrast`` the prompt without the passages.

    Raises:
        ValueError: naming the key that is missing or has a wrong value.
    """
    if not isinstance(row, dict):
        raise ValueError(
            f"a row must be a JSON object with question, passages and answer, not {kind(row)}"
        )
    question, answer = _text(row, "question"), _text(row, "answer")
    if not question.strip():
        raise ValueError("'question' is empty")
    given = None
    if row.get("claims") is not None:
        given = [{"text": c} if isinstance(c, str) else c for c in _list(row, "claims")]
    return Trace(
        question=question,
        passages=passages_from(_of_one_query(_list(row, "passages"))),
        generation=_generation(answer, row, prompt=_optional_text(row, "prompt")),
        contrast_prompt=_optional_text(row, "contrast"),
        samples=tuple(
            map(_sample, _list(row, "samples") if row.get("samples") is not None else ())
        ),
        claims=None if given is None else _claims(given, answer),
        labels=tuple(map(_label, given or ())),
        prompt_seen=row.get("prompt_seen") is not False,
        id=row_id(row),
    )


def row_id(row: Mapping[str, Any]) -> str | None:
    """The row's ``id`` as a string; None if it is missing or empty.

    A column of integers where one is missing is one of floats in pandas: 7.0 is "7", NaN missing.

    Raises:
        ValueError: if it is neither a string nor an integer.
    """
    value = row.get("id")
    if isinstance(value, float) and (value.is_integer() or math.isnan(value)):
        value = None if math.isnan(value) else int(value)
    if value is not None and not isinstance(value, str) and not _is_int(value):
        raise ValueError("'id' must be a string or an integer")
    return None if value is None else str(value) or None


def passages_from(items: Iterable[object]) -> tuple[Passage, ...]:
    """Strings, mappings with ``text`` and :class:`Passage` objects as passages.

    Documents of LangChain, and nodes of LlamaIndex with or without a score, are passages, too.

    Raises:
        ValueError: for anything else.
    """
    return tuple(_passage(item) for item in items)


def _of_one_query(items: list[Any]) -> list[Any]:
    """A vector store returns a list for each query: the list of the only one."""
    return items[0] if len(items) == 1 and isinstance(items[0], list) else items


def is_passage(item: object) -> bool:
    """Whether a value can be read as a passage."""
    of_mapping = isinstance(item, Mapping) and isinstance(passage_text(_inside(item)), str)
    return of_mapping or isinstance(item, str | Passage)


def _passage(item: object) -> Passage:
    if isinstance(item, Passage):
        return item
    if isinstance(item, str):
        return Passage(item)
    inside = _inside(item) if isinstance(item, Mapping) else _attributes(item)
    text = passage_text(inside)
    if isinstance(text, str):
        return Passage(text, title=_title(inside), id=inside.get("id"))
    raise ValueError(
        "a passage must be a string, or an object with a string 'text' or 'page_content', not "
        f"{kind(item)}"
    )


def _attributes(item: object) -> Mapping[str, Any]:
    """What a document of a framework holds, by the names of a mapping; their ids are their own."""
    names = ("page_content", "text", "title", "id", "metadata")
    held = {name: getattr(item, name, None) for name in names}
    # What else such a name may stand for, a method for one, is no text.
    return {name: value for name, value in held.items() if isinstance(value, str | int | Mapping)}


def _inside(item: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The document that LangChain, LlamaIndex or Phoenix has wrapped in another object."""
    for key in ("kwargs", "node", "document"):
        if isinstance(item.get(key), Mapping) and passage_text(item) is None:
            return cast("Mapping[Any, Any]", item[key])
    return item


def passage_text(item: Mapping[Any, Any]) -> object:
    """A passage's text; LangChain's documents call it ``page_content``, others ``content``."""
    return next((item[key] for key in _TEXT_KEYS if key in item), None)


def _title(item: Mapping[Any, Any]) -> str:
    """A passage's title; LangChain's and LlamaIndex's documents have it in their metadata."""
    metadata = item.get("metadata")
    return name_of(
        item.get("title"), metadata.get("title") if isinstance(metadata, Mapping) else None
    )


def _claims(given: Iterable[object], answer: str) -> tuple[Claim, ...]:
    """The given claims."""
    read = _Read(answer)
    return tuple(_claim(item, read) for item in given)


class _Read:
    """An answer whose words and sentences are read once for all claims, and only if needed."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    @cached_property
    def index(self) -> Index:
        return Index(self.answer)

    @cached_property
    def sentences(self) -> list[Span]:
        return sentences(self.answer, 0, len(self.answer))


def _claim(item: object, read: _Read) -> Claim:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str) or not item["text"]:
        raise ValueError(
            "each of 'claims' must be a non-empty string, or an object with one as 'text'"
        )
    if item.get("spans") not in (None, []):
        spans, score = _spans(item["spans"], len(read.answer)), _number(item, "aligned")
    else:
        spans, score = _located(item["text"], read)
    return Claim(
        text=item["text"],
        spans=spans,
        context=_optional_text(item, "context"),
        not_a_claim=_optional_text(item, "not_a_claim"),
        aligned=1.0 if score is None else min(max(score, 0.0), 1.0),
        full=_optional_text(item, "full"),
    )


def _located(claim: str, read: _Read) -> tuple[tuple[Span, ...], float]:
    """Where the answer states a claim, and how well its words match; nowhere past the deadline."""
    try:
        between_batches()
    except DeadlineExceeded:
        return (), 0.0
    found = read.index.align(claim)
    near = found.score < ALIGNED
    return _nearest_sentence(found.spans, read) if near else found.spans, found.score


def _optional_text(row: Mapping[str, Any], key: str) -> str | None:
    return None if row.get(key) is None else _text(row, key)


def _spans(items: object, length: int) -> tuple[Span, ...]:
    spans: list[Span] = []
    for item in items if isinstance(items, list) else [items]:
        start, end = item if isinstance(item, list) and len(item) == 2 else (None, None)
        before = spans[-1][1] if spans else 0
        if not (_is_int(start) and _is_int(end) and before <= start < end <= length):
            raise ValueError(
                "a claim's 'spans' must be [start, end] pairs of integers inside the answer, "
                "start before end, in order and without overlap"
            )
        spans.append((start, end))
    return tuple(spans)


def _nearest_sentence(spans: Iterable[Span], read: _Read) -> tuple[Span, ...]:
    """The sentence that overlaps most with ``spans``; the whole answer if none overlaps."""
    known = list(spans)

    def shared(sentence: Span) -> int:
        return sum(max(0, min(b, sentence[1]) - max(a, sentence[0])) for a, b in known)

    best = max(read.sentences, key=shared, default=(0, 0))
    if shared(best):
        return (best,)
    start, end = trimmed(read.answer, 0, len(read.answer))
    return ((start, end),) if start < end else ()


def _label(claim: Mapping[str, Any]) -> ClaimLabel:
    labels: dict[str, Any] = {}
    for key in ("is_true", "is_faithful"):
        value = claim.get(key)
        if value is None:
            continue
        if value not in (0, 1):
            raise ValueError(f"a claim's {key!r} must be true, false, 0, 1 or null")
        labels[key] = bool(value)
    return ClaimLabel(**labels)


def _sample(item: object) -> Generation:
    row = {"text": item} if isinstance(item, str) else item
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ValueError("each of 'samples' must be a string or an object with a string 'text'")
    try:
        return _generation(row["text"], row)
    except ValueError as error:
        raise ValueError(f"in 'samples': {error}") from None


def _generation(text: str, row: Mapping[str, Any], *, prompt: str | None = None) -> Generation:
    given = row.get("tokens")
    # In another program's log a number says how many there were.
    tokens = () if given is None or _is_int(given) else _tokens(_list(row, "tokens"), text)
    writer = row.get("writer")
    if writer is not None and not (isinstance(writer, str) and writer):
        raise ValueError("'writer' must be a non-empty string or null")
    return Generation(text, tokens, prompt=prompt, source=_source(row, tokens), writer=writer)


def _source(row: Mapping[str, Any], tokens: tuple[Token, ...]) -> Source:
    """Where the log-probabilities of a row's tokens come from; without tokens it says nothing."""
    if not tokens:
        return "none"
    source = row.get("source")
    if source is not None and source not in get_args(Source):
        raise ValueError(f"'source' must be one of {', '.join(get_args(Source))}, not {source!r}")
    return "server" if source is None else cast("Source", source)


def _tokens(items: list[Any], text: str) -> tuple[Token, ...]:
    """Tokens whose spans cover ``text`` without gaps or overlap."""
    tokens: list[Token] = []
    for i, item in enumerate(items):
        try:
            tokens.append(_token(item, tokens[-1].end if tokens else 0, len(text)))
        except ValueError as error:
            raise ValueError(f"'tokens'[{i}]: {error}") from None
    if tokens and tokens[-1].end != len(text):
        raise ValueError(
            f"'tokens'[{len(tokens) - 1}]: the last token must end with the text, at {len(text)}"
        )
    return tuple(tokens)


def _token(item: object, at: int, length: int) -> Token:
    if not isinstance(item, dict) or not {"start", "end", "logprob"} <= set(item):
        raise ValueError("a token must be an object with start, end and logprob")
    start, end = item["start"], item["end"]
    if not (_is_int(start) and _is_int(end)):
        raise ValueError("start and end must be integers")
    if start != at or not start <= end <= length:
        raise ValueError(
            "the tokens must tile the text, in characters: this one must start at "
            f"{at} and end there or later, at {length} at most"
        )
    logprob = _number(item, "logprob")
    if logprob is not None and logprob > _ALMOST_ZERO:
        raise ValueError("log-probabilities are at most 0: this one looks like a probability")
    entropy = _number(item, "entropy")
    if entropy is not None and entropy < -_ALMOST_ZERO:
        raise ValueError("entropies are at least 0: this one has the wrong sign")
    return Token(
        id=-1,
        start=start,
        end=end,
        logprob=math.nan if logprob is None else min(logprob, 0.0),
        entropy=None if entropy is None else max(entropy, 0.0),
    )


def _number(item: Mapping[str, Any], key: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    try:
        number = float(value) if _is_int(value) or isinstance(value, float) else math.nan
    except OverflowError:  # an integer beyond the range of floats
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{key} must be a finite number or null")
    return number


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise ValueError(_wrong(row, key, "a string"))
    return value


def _list(row: Mapping[str, Any], key: str) -> list[Any]:
    value = row.get(key)
    if not isinstance(value, list):
        raise ValueError(_wrong(row, key, "a list"))
    return value


def _wrong(row: Mapping[str, Any], key: str, wanted: str) -> str:
    return (
        f"{key!r} must be {wanted}, not {kind(row[key])}" if key in row else f"{key!r} is missing"
    )


def kind(value: object) -> str:
    """What a value is called in JSON."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = {str: "a string", list: "a list", dict: "an object", int: "a number", float: "a number"}
    return "NaN" if value != value else kinds.get(type(value), type(value).__name__)
