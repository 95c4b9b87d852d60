"""Rewrites a sentence after some of its claims were removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from franq_guard.basics.text import common_start
from franq_guard.claims.rules.enclosed import around, enclosed
from franq_guard.claims.spans import merged
from franq_guard.records import Claim, Span

_EDGE = " \t\n,;:–—"
_TERMINAL = re.compile(r"[.!?…。！？]*[\"”’')\]*_`]*(?:\[\d{1,3}\])*$")
_JOINER = re.compile(r",?\s*(?:and|or)\b", re.IGNORECASE)
_ASIDE = re.compile(r",\s*(?:who|which|whose|an?|the)\b", re.IGNORECASE)
_BARE_COMMA = re.compile(r",(?!\s*(?:but|yet|so|nor|while|whereas|although|though)\b)", re.I)
_CONTRAST = re.compile(r"(?:although|though|while|whereas)\b", re.IGNORECASE)
_HANGING = re.compile(r"[\s,;:–—]+(?:and|or|but|yet|while|whereas|so)$", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_NOTE_MARK = re.compile(r"\[\d{1,3}\]")
_MIN_ALIGNED = 0.5


def rebuild(text: str, sentence: Span, claims: Sequence[Claim], keep: Sequence[bool]) -> str:
    """``text[slice(*sentence)]`` with only the kept claims; empty if none is kept.

    ``claims`` are those of the sentence in order; ``keep`` says which are kept (at least one is
    not). A claim whose text repeats a removed claim is removed too. A kept claim stays in
    place if the words it depends on are kept, else its own text becomes a sentence. Claims that
    share words (from a language model) are always written by their texts.
    """
    if not any(keep):
        return ""
    if _overlap(claims):
        return " ".join(c.text for c, k in zip(claims, keep, strict=True) if k and _usable(c))
    inner = enclosed(text, *sentence)
    if inner:
        return _without_enclosed(text, sentence, claims, keep, around(text, sentence, inner))
    keep = _without_repeated(claims, keep)
    pieces = _pieces(sentence, claims)
    out: list[_Draft] = []
    for k, claim in enumerate(claims):
        if not keep[k]:
            continue
        host = None if k == 0 else _host(text, claims, pieces, k, out)
        if host is None:
            source = k == 0 and not _CONTRAST.match(text, *sentence)
            out.append(_Draft(k, source))
        else:
            host.members.append(k)
        if not claim.text and not out[-1].source:
            out.pop()
    end = _TERMINAL.search(text, *sentence)
    mark = end.group() if end else ""
    return " ".join(filter(None, (d.write(text, claims, pieces, keep, mark) for d in out)))


def _without_enclosed(
    text: str, sentence: Span, claims: Sequence[Claim], keep: Sequence[bool], inner: Sequence[Span]
) -> str:
    """The rest of a sentence with sentences in quotation marks or brackets in it (``inner``).

    They stay inside the marks if all the claims around them are kept.
    """
    placed = [_inside(claim, inner) for claim in claims]
    if not all(kept for kept, where in zip(keep, placed, strict=True) if where is None):
        return " ".join(c.text for c, kept in zip(claims, keep, strict=True) if kept)
    out, at = "", sentence[0]
    for span in inner:
        own = [k for k, where in enumerate(placed) if where == span]
        left = text[slice(*span)]
        if not all(keep[k] for k in own):
            start = span[1] - len(left.lstrip())
            left = rebuild(text, (start, span[1]), [claims[k] for k in own], [keep[k] for k in own])
            left = left and text[span[0] : start] + left
        out += text[at : span[0]] + left
        at = span[1]
    return out + text[at : sentence[1]]


def _inside(claim: Claim, spans: Sequence[Span]) -> Span | None:
    """The one of ``spans`` that holds the whole claim, or None."""
    first, last = claim.spans[0][0], claim.spans[-1][1]
    return next((x for x in spans if x[0] <= first and last <= x[1]), None)


def _without_repeated(claims: Sequence[Claim], keep: Sequence[bool]) -> list[bool]:
    """``keep`` without the claims whose own text repeats a removed claim."""
    gone = [_WORD.findall(c.text.lower()) for c, k in zip(claims, keep, strict=True) if not k]
    return [
        kept and not any(_says(_WORD.findall(claim.text.lower()), words) for words in gone)
        for claim, kept in zip(claims, keep, strict=True)
    ]


def _says(text: Sequence[str], words: Sequence[str]) -> bool:
    """Whether all the words are in the text, in that order."""
    rest = iter(text)
    return bool(words) and all(word in rest for word in words)


def _usable(claim: Claim) -> bool:
    return bool(claim.text) and claim.aligned >= _MIN_ALIGNED


class _Draft:
    """A sentence of the result: the claim that begins it, and the claims that stay in place."""

    def __init__(self, opening: int, source: bool) -> None:
        self.opening = opening
        self.source = source
        self.members: list[int] = []

    def write(
        self,
        text: str,
        claims: Sequence[Claim],
        pieces: Sequence[Sequence[Span]],
        keep: Sequence[bool],
        mark: str,
    ) -> str:
        if not self.members and not self.source:
            return claims[self.opening].text
        parts: list[tuple[int, str]] = []
        if self.source:
            parts += [(a, text[a:b]) for a, b in pieces[self.opening]]
        else:
            parts.append((-1, claims[self.opening].text.rstrip(".")))
        series = _series(text, claims, pieces, self.members, keep)
        for k in self.members:
            for n, (a, b) in enumerate(pieces[k]):
                lead = series.get(k) if n == 0 else None
                parts.append((a, text[a:b] if lead is None else lead + _after_joiner(text[a:b])))
        return _tidy(_join([part for _, part in sorted(parts)]), mark)


def _series(
    text: str,
    claims: Sequence[Claim],
    pieces: Sequence[Sequence[Span]],
    members: Sequence[int],
    keep: Sequence[bool],
) -> dict[int, str]:
    """New joining words for a series "A, B, and C" that lost members: "and" before the last."""
    kinds = {k: _kind(text, claims[k], pieces[k]) for k in range(len(pieces))}
    series: dict[tuple[str, ...], list[int]] = {}
    for k in range(1, len(claims)):
        if kinds[k] in {"comma", "and"}:
            series.setdefault(_stem(claims, k), []).append(k)
    joiners: dict[int, str] = {}
    for alike in series.values():
        heads = {j for k in alike for j in range(k) if _shared(claims, j, k) == _depth(claims, k)}
        lost = [k for k in {*alike, *heads} if not keep[k]]
        listed = [k for k in alike if k in members]
        if not lost or not listed or all(kinds[k] == "and" for k in alike):
            continue
        if len(listed) == 1:
            joiners[listed[0]] = " and "
        elif kinds[listed[-1]] == "comma" and max(lost) > listed[-1]:
            joiners[listed[-1]] = ", and "
    return joiners


def _stem(claims: Sequence[Claim], k: int) -> tuple[str, ...]:
    """The opening words that claim ``k`` shares with the claim it depends on."""
    return tuple(_WORD.findall(claims[k].text.lower())[: _depth(claims, k)])


def _depth(claims: Sequence[Claim], k: int) -> int:
    """How many opening words claim ``k`` shares with the claim it depends on."""
    return max(_shared(claims, j, k) for j in range(k))


def _kind(text: str, claim: Claim, spans: Sequence[Span]) -> str:
    """How a piece is joined: "aside", "and", "comma" or "other"."""
    piece = text[spans[0][0] : spans[0][1]].lstrip()
    opening = _WORD.search(piece.removeprefix(","))
    if (
        piece.startswith(",")
        and opening
        and not re.search(rf"\b{re.escape(opening.group())}\b", claim.text, re.IGNORECASE)
        and not _JOINER.match(piece)
    ):
        return "aside"  # ", who left", ", winning two": the claim's text differs from these words
    if _ASIDE.match(piece) and not re.match(r",\s*(?:an?|the)\b", piece, re.IGNORECASE):
        return "aside"
    if _JOINER.match(piece):
        return "and"
    return "comma" if _BARE_COMMA.match(piece) else "other"


def _after_joiner(piece: str) -> str:
    found = _JOINER.match(piece.lstrip())
    return piece.lstrip()[found.end() :].lstrip() if found else piece.lstrip(_EDGE)


def _host(
    text: str,
    claims: Sequence[Claim],
    pieces: Sequence[Sequence[Span]],
    k: int,
    out: Sequence[_Draft],
) -> _Draft | None:
    """The sentence of the result in which claim ``k`` can stay in place, or None."""
    if not out:
        return None
    host = out[-1]
    inside = {host.opening, *host.members}
    start, end = pieces[k][0]
    if _ASIDE.match(text, start, end) and _shared(claims, k - 1, k) < 2:
        before = max(
            range(k), key=lambda j: max((b for _, b in pieces[j] if b <= start), default=-1)
        )
        stands = before in inside and (host.source or before != host.opening)
        return host if stands else None
    depth = _depth(claims, k)
    leaning = [j for j in range(k) if _shared(claims, j, k) == depth]
    if depth == 0:
        return host if k - 1 in inside else None
    return host if any(j in inside for j in leaning) else None


def _shared(claims: Sequence[Claim], j: int, k: int) -> int:
    """How many opening words two claim texts share."""
    return common_start(*(_WORD.findall(claims[i].text.lower()) for i in (j, k)))


def _overlap(claims: Sequence[Claim]) -> bool:
    spans = sorted(s for c in claims for s in c.spans)
    return any(b[0] < a[1] for a, b in pairwise(spans))


def _pieces(sentence: Span, claims: Sequence[Claim]) -> list[list[Span]]:
    """The sentence divided among its claims; text in no claim goes with the claim before it."""
    owned = sorted((s[0], s[1], k) for k, c in enumerate(claims) for s in c.spans)
    pieces: list[list[Span]] = [[] for _ in claims]
    start = sentence[0]
    for n, (_, _, k) in enumerate(owned):
        end = owned[n + 1][0] if n + 1 < len(owned) else sentence[1]
        end = min(max(end, start), sentence[1])
        pieces[k].append((start, end))
        start = end
    return [merged(p) or [(sentence[1], sentence[1])] for p in pieces]


def _join(parts: Sequence[str]) -> str:
    out = ""
    for part in parts:
        if out and not out[-1].isspace() and part[:1].isalnum():
            out += " "
        out += part
    return re.sub(r"\s+([,;.!?])", r"\1", re.sub(r"[ \t]{2,}", " ", out.strip()))


def _tidy(sentence: str, mark: str) -> str:
    """Remove a trailing comma or conjunction, restore the final mark, pair the emphasis marks."""
    body = sentence.removesuffix(mark) if mark else sentence
    body = body.rstrip(_EDGE)
    mark = _still_open(body, mark)
    while (hanging := _HANGING.search(body)) is not None:
        body = body[: hanging.start()].rstrip(_EDGE)
    sentence = body + mark
    for marker in ("**", "__", "`"):
        if sentence.count(marker) % 2:
            sentence = sentence.replace(marker, "")
    return sentence


def _still_open(body: str, mark: str) -> str:
    """``mark`` without closing quotes and brackets whose opening ones were removed."""
    for opener, closer in (("(", ")"), ("[", "]"), ("“", "”"), ('"', '"')):
        if opener == closer:
            gone = closer in mark and body.count(closer) % 2 == 0
        else:
            gone = closer in mark and body.count(opener) <= body.count(closer)
        if gone and not _NOTE_MARK.search(mark):
            mark = mark.replace(closer, "")
    return mark
