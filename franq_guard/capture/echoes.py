"""Whether a tool's text tells something beside the words that the tool was called with.

A weather service that was asked for "San Francisco, California, USA" answers with that name and
then "sunny, 21 degrees"; a tool that records a thought returns the thought, and a label. The first
is evidence, and the second is not: a model's own words would support its answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from franq_guard.capture.evidence import says_it_is_done
from franq_guard.claims.rules.verbs import FINITE_FORMS, is_ed_form
from franq_guard.claims.rules.words import FINITE_AUXILIARIES, PRONOUN_VERBS

_WORD = re.compile(r"\w+")
_VERBS = FINITE_FORMS | FINITE_AUXILIARIES | PRONOUN_VERBS


def tells_beside(text: str, repeated: Collection[str]) -> bool:
    """Whether a text goes on behind what it repeats, and this only named or asked for something.

    What stands before it is a label ("Reflection recorded:"), and so is a word for what was done
    behind it ("is saved").

    Args:
        text: of a tool.
        repeated: the stretches of it that repeat what a model called tools with.
    """
    if not repeated or any(map(_may_state, repeated)):
        return False
    rest = text[max(text.rfind(part) + len(part) for part in repeated) :]
    return bool(_WORD.search(rest)) and not says_it_is_done(rest)


def _may_state(text: str) -> bool:
    """Whether a text may be a statement: some word of it may be a verb, and it is no question.

    Many nouns may be verbs ("pump", "order"), and then it is taken for one.
    """
    if text.rstrip().endswith("?"):
        return False
    words = [word.strip(".,;:!()\"'").lower() for word in text.split()]
    return any(word in _VERBS or is_ed_form(word) for word in words)
