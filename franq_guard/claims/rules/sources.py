"""Which footnotes and entries of a list of sources state something, and do not just name a work.

A numbered entry ("[1] ...") and a footnote mostly name a source. What looks like a title, an author
or an address is taken for one: of "[1] Sea levels are rising | NASA" nobody can tell whether the
answer states it. A plain sentence ("[1] The pump holds 51 litres.") is a claim like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from franq_guard.claims.attribution import FILE, NUMBERED_PASSAGE, PAGE
from franq_guard.claims.rules import words as w
from franq_guard.claims.rules.finite_verb import find_verb
from franq_guard.claims.rules.headings import IN_UNITS, has_clause
from franq_guard.claims.rules.lexer import Word, lex
from franq_guard.claims.rules.nonclaims import reason
from franq_guard.claims.rules.render import plain
from franq_guard.claims.rules.verbs import BASE_FORMS, PLAIN_BASE_FORMS

__all__ = ["entry_states", "footnote_states", "names_source"]

_NAMES_SOURCE = re.compile(r"[\"'“”‘«„<]|\W*(?:https?:|www\.)")
_WORK = re.compile(
    r"\b(?:manual|handbook|guide|report|study|article|journal|chapter|page|pages|document|passage"
    r"|website|wikipedia|encyclopa?edia|brochure|catalog(?:ue)?|data ?sheet|edition|press release"
    r"|isbn|doi)\b|\b(?:pp?|vol)\. ?\d|\.(?:pdf|docx?|html?|txt|md)\b"
    r"|[(,] ?(?:1[5-9]|20)\d\d\b",
    re.I,
)
"""What only the name of a source has; "Sources" may also be those of vitamin C."""
_QUOTED = re.compile(r"[\"“«„](?P<words>[^\"“”«»„]{3,400}(?P<ends>[^\"“”«»„,]))[\"”»“]")
_SENTENCE_BEGINS = re.compile(
    r"(?:the|an?|this|these|that|those|it|they|he|she|we|you|its)\b", re.I
)
"""What hardly begins a headline: "Boeing recalls 47 planes"."""
_PART = re.compile(r"[.:;!?]\s")
_AMOUNT_OF = re.compile(r":[^\w:]*\d")
_IN_BRACKETS = re.compile(r" ?(?:\([^()]*\)|\[[^\[\]]*\])")
_FULL_STOP = re.compile(r"[.!?](?=\s|$)")

_ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s<>]*[\w/]>?[\s:–—-]*")
_PLACE = rf"(?:{PAGE}|,? (?i:section|chapter|art\.|article) ?\d[\d.–-]{{0,8}})"
_LABEL = re.compile(
    rf"\[?(?:{NUMBERED_PASSAGE}|{FILE}|[^.:\"“”]{{0,60}}(?<![^\W_]){_PLACE})"
    rf"(?: ?\(?{_PLACE}\)?|, [\w ]{{1,30}}(?=:))?"
    r"(?:\][:.]?\s+|[:.]\s+|\s[–—-]\s)|(?i:note|excerpt|source|quote):\s+"
)
"""What says where a statement is from: "Passage 2: ", "a.pdf, p. 4 - ", "Handbook, page 3: "."""
_LOOSE_LABEL = re.compile(r"(?!(?i:title|headline|subject))[^.:,\d]{1,60}:\s+(?=[A-Z])")
"""What may also be an author, or the title above a subtitle: "Pump manual: "."""
_INITIALS = r"[A-Z][\w'’-]+,? [A-Z]{1,2}"
_AUTHOR = re.compile(
    rf"\W*(?!The\b)(?:{_INITIALS}(?:\.|, (?=[A-Z][\w'’-]+ [A-Z]))|[A-Z][\w'’-]+, [A-Z][\w'’-]+\."
    rf"|(?:{_INITIALS}|[A-Z][\w'’-]+),? et al\.,? (?:\(?\d{{4}}\)?[.,:]? )?(?=[A-Z\"“]))"
)
"""Who begins a reference: "Smith, A.", "Smith AB, Lee C", "Smith, Ann.", "Smith et al. Title"."""
_PRINTED = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\b(?:vol|no)\. ?\d|\b(?:doi|isbn|arxiv|accessed|retrieved)\b|https?:"
    r"|\b[\w-]{2,60}\.(?:com|org|gov|net|edu|io)\b",
    re.I,
)
"""What a reference has behind the title: when, where or in which volume it was published."""
_ACCESSED = re.compile(
    r"[,;(.] ?(?:last )?(?:accessed|retrieved|edited|updated):?(?: on)? \d[\w ]{0,20}\W{0,4}$", re.I
)
_LAST_BRACKET = re.compile(r"(?:\([^()]*\)|\[[^\[\]]*\])$")
_SENTENCE_ENDS = re.compile(r"[.!?][\"”]?(?=\s+[^\sa-z]|\s*$)")
_TAIL = re.compile(rf"\s[–—-]\s|{PAGE}$")
_IN_PAPER = re.compile(r",\s+[A-Z]")
"""What is behind the quoted title of an article: '"The bridge was built", Daily News'."""
_IS_SHORT = re.compile(r"\b(it|he|she|that|there)['’]s\b", re.I)
_FRONTED = re.compile(
    r"(?:according to|based on|as of|as|since|if|when|because|although|while|until|unless)\b"
    r"[^,]{1,80},\s+",
    re.I,
)
"""What may stand before a clause: "As of 2024, the town has 900 inhabitants."."""
_NEVER = re.compile(r"(?:do not|don['’]t|never|always) [a-z]", re.I)
_FEWEST_WORDS = 4
_BEGINS_OBJECT = w.DETERMINERS | {"it", "them"}
_BEFORE_NOUN = (
    w.PREPOSITIONS | w.DETERMINERS | w.COORDINATORS | w.AUXILIARIES | w.RELATIVES
    | w.SUBJECT_PRONOUNS | {"to"}
)  # fmt: skip
"""Words before a base form that is no main verb: "a guide to use", "the way we live"."""


def footnote_states(text: str) -> bool:
    """Whether a footnote surely states something; else it names a source.

    Read is its first sentence, up to any full stop: "Smith, J. The bridge was built" is a source.
    """
    if entry_states(text):
        return True
    if reason(text) is not None or _NAMES_SOURCE.match(text) or _ACCESSED.search(text):
        return False
    first = _FULL_STOP.split(_IN_BRACKETS.sub("", plain(text)), maxsplit=1)[0]
    return ":" not in first and has_clause(first)


def names_source(text: str) -> bool:
    """Whether an entry of a list of sources surely names one and states nothing."""
    if _AUTHOR.match(text) and _PRINTED.search(text):
        return True
    if _WORK.search(text) is None or _AMOUNT_OF.search(text) or _quoted_sentence(text):
        return False
    return not entry_states(text) and not any(has_clause(part) for part in _PART.split(plain(text)))


def entry_states(entry: str) -> bool:
    """Whether a numbered entry of a list of sources is a sentence, and surely names no work.

    Args:
        entry: without its number.
    """
    text = _ADDRESS.sub("", plain(entry)).strip()
    label = _LABEL.match(text)
    text = text[label.end() :] if label else text
    if reason(text) is not None or "|" in text or _ACCESSED.search(text):
        return False
    quoted = _quoted_sentence(text, loose=True)
    if quoted is not None:
        is_title = quoted["ends"] not in ".!" and _IN_PAPER.match(text, quoted.end())
        by_author = _AUTHOR.match(text[: quoted.start()])
        return not (is_title or by_author or _PRINTED.search(text, quoted.end()))
    if label is None and (named := _LOOSE_LABEL.match(text)):
        text = text[named.end() :]
        return _SENTENCE_BEGINS.match(text) is not None and _is_statement(text)
    return _AUTHOR.match(text) is None and _is_statement(text)


def _is_statement(text: str) -> bool:
    """Whether it begins with a whole sentence that is surely no title.

    Behind a title there is its publication, and a headline has no full stop.
    """
    bracket = _LAST_BRACKET.search(text)
    text = _IN_BRACKETS.sub("", text[: bracket.start()] if bracket else text)
    end = _SENTENCE_ENDS.search(text)
    first, rest = (text[: end.start()], text[end.end() :]) if end else (text, "")
    if re.search(r":\s", first):
        return False
    begins = _SENTENCE_BEGINS.match(first) is not None
    if not (begins and IN_UNITS.search(first)):
        behind = [*_PART.split(rest), bracket.group() if bracket else ""]
        tail = None if end else _TAIL.search(first)
        if tail or any(_PRINTED.search(x) and not has_clause(x) for x in behind):
            return False
    return (begins or end is not None) and _is_clause(first, alone=end is not None and not rest)


def _is_clause(sentence: str, *, alone: bool) -> bool:
    """Whether it is a clause; ``alone``: a sentence with a full stop, and nothing behind it."""
    sentence = _IS_SHORT.sub(r"\1 is", sentence)
    fronted = _FRONTED.match(sentence)
    sentence = sentence[fronted.end() :] if fronted else sentence
    if has_clause(sentence):
        return True
    words = lex(f"{sentence}.")
    if not alone or not _is_spelled_small([word for word in words if word.is_word]):
        return False
    if _is_imperative(words) or _NEVER.match(sentence):
        return True
    verb = find_verb(words, 0, len(words), loose=True)
    return bool(verb) or any(_is_base_verb(words, k) for k in range(1, len(words) - 1))


def _is_imperative(words: Sequence[Word]) -> bool:
    """Whether it surely says what to do: "Take one a day", "Clean the tank"; not "Eat to live"."""
    first, second = words[:2]
    if first.low in PLAIN_BASE_FORMS and any(word.is_number for word in words):
        return True
    has_object = second.low in _BEGINS_OBJECT or second.is_number
    return first.low in BASE_FORMS and has_object


def _is_base_verb(words: Sequence[Word], k: int) -> bool:
    """Whether word ``k`` is a base form that can be no noun there: "Cars outside Ulm pay no tax".

    In such a sentence its subject is too far away for :func:`.find_verb`.
    """
    before, word, after = words[k - 1 : k + 2]
    if word.is_name or word.low not in BASE_FORMS or not before.is_word:
        return False
    if before.low in _BEFORE_NOUN:
        return False
    return word.low in PLAIN_BASE_FORMS or after.low in w.DETERMINERS or after.is_number


def _is_spelled_small(words: Sequence[Word]) -> bool:
    """Whether most of the words are written small, as in a sentence and not in a title."""
    small = sum(not word.is_name for word in words)
    return len(words) >= _FEWEST_WORDS and 2 * small > len(words)


def _quoted_sentence(entry: str, *, loose: bool = False) -> re.Match[str] | None:
    """What it quotes of a source, and no title: '"It holds 9 l." (manual.pdf)'; None if nothing.

    ``loose``: also a sentence whose verb may be a noun.
    """
    for quoted in _QUOTED.finditer(entry):
        words = plain(quoted["words"])
        ends = quoted["ends"] in ".!"
        if not ends and _SENTENCE_BEGINS.match(words) is None:
            continue
        if any(has_clause(part) or _NEVER.match(part) for part in _PART.split(words)):
            return quoted
        if loose and ends and _is_clause(words.rstrip(".!"), alone=True):
            return quoted
    return None
