"""Verb forms of English, generated from the lists of base forms in ``lexicon/``."""

from __future__ import annotations

from franq_guard.claims.rules.lexicon import lines, words

_DOUBLING = words("verbs_doubling")


def _third_person(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return "has" if base == "have" else base + "s"


def _regular_past(base: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _gerund(base: str) -> str:
    if base in _DOUBLING:
        return base + base[-1] + "ing"
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe")):
        return base[:-1] + "ing"
    return base + "ing"


_FORMS = {row.split()[0]: row.split() for row in lines("irregular")}
NOUNS_TOO = words("verbs_nouns")
_BASE = words("verbs") | NOUNS_TOO

BASE_FORMS = _BASE | _FORMS.keys()
PLAIN_BASE_FORMS = BASE_FORMS - NOUNS_TOO - {row[1] for row in _FORMS.values()}
THIRD_PERSON_FORMS = frozenset(map(_third_person, BASE_FORMS))
PLURAL_NOUN_TOO = frozenset(map(_third_person, NOUNS_TOO)) | {"leaves"}
"""Third-person forms that are plural nouns as well: works, covers."""
REGULAR_PASTS = frozenset(map(_regular_past, _BASE - _FORMS.keys()))
PURE_PASTS = frozenset(r[1] for r in _FORMS.values() if r[1] not in (r[0], r[2]))
"""Past forms that are never participles: wrote, became, began."""
SHARED_PASTS = frozenset(r[1] for r in _FORMS.values() if r[1] == r[2])
"""Past forms that are participles too: built, led, won."""
UNCHANGED = frozenset(r[1] for r in _FORMS.values() if r[0] == r[1])
"""Past forms that are the base form as well: cut, cost, set."""
PARTICIPLES = frozenset(r[2] for r in _FORMS.values()) | REGULAR_PASTS | {"born"}
FINITE_FORMS = BASE_FORMS | THIRD_PERSON_FORMS | REGULAR_PASTS | PURE_PASTS | SHARED_PASTS
INTRANSITIVE_PASTS = words("verbs_intransitive")
BASE_OF = {form: row[0] for row in _FORMS.values() for form in row[1:]}
"""Irregular past forms and participles to their base form."""
GERUNDS = {_gerund(base): base for base in sorted(BASE_FORMS)}
_NOT_ED = words("not_ed")
_PREFIXES = frozenset({"re", "co", "pre", "over", "out", "un", "de", "cross", "mis"})


def is_ed_form(low: str) -> bool:
    """Whether the word looks like a regular past form, known or not."""
    if "-" in low and low.split("-")[0] not in _PREFIXES:
        return False  # "chocolate-based"
    return (low in REGULAR_PASTS or (len(low) > 4 and low.endswith("ed"))) and low not in _NOT_ED


def is_participle(low: str) -> bool:
    """Whether the word is a past participle, or looks like a regular one."""
    return low in PARTICIPLES or is_ed_form(low)


def finite_form(gerund: str, *, past: bool) -> str | None:
    """The finite form of a known -ing form: "winning" -> "won" or "wins"; None when unknown."""
    base = GERUNDS.get(gerund)
    if base is None:
        return None
    if not past:
        return _third_person(base)
    return _FORMS[base][1] if base in _FORMS else _regular_past(base)
