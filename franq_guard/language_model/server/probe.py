"""The probe: does a server tell a given text's log-probabilities, and are they the model's?

Some servers accept ``echo`` and answer with numbers of other positions, or of no model at all.
What a server says while it writes is compared with what it says when the same text is given to it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence

from franq_guard.language_model.server.completions import (
    READERS,
    Completions,
    Protocol,
    Reader,
    Told,
    UntrustworthyServerError,
    written,
)

MEAN, WORST = 0.15, 0.75
"""Nats that the two values of a token may differ, on average and once. The same kernels give a few
hundredths, also in half precision or with quantised weights, for tokens are read together in one
case and one by one in the other; numbers of other positions differ by whole nats."""
LEAST = 10
"""Tokens that must have been compared."""
GAIN = 3.0
"""Nats by which a name becomes more likely after a passage that states it; models copy names."""
OPENING = (
    "The following is a short report from a travel magazine about an island, its harbour, its "
    "people and their unusual customs.\n\nOn the second day of our journey we"
)
PASSAGE = "The keeper of the old lighthouse is called Quentin Marlowe.\n\n"
STATEMENT = "Who keeps the old lighthouse? The keeper of the old lighthouse is called"
NAME = " Quentin Marlowe"

_log = logging.getLogger(__name__)
_WHAT_TO_DO = (
    "Parametric Knowledge needs the log-probabilities of a given text. Serve the model with vLLM "
    "(prompt_logprobs), load it in this process (TransformersModel, LlamaCppModel), or give the "
    "guard no language model for this server: the log-probabilities it sends with its own answers "
    "are used all the same."
)


def trusted(server: Completions, protocol: Protocol | None) -> tuple[Protocol, Reader]:
    """The first way of asking (``protocol``, where one is wanted) whose numbers hold.

    Raises:
        UntrustworthyServerError: with what was expected and what was seen, for each way.
        ServerError: where the server cannot be asked at all.
    """
    answers = [*_writings(server)]
    complaints = []
    for name in (protocol,) if protocol else READERS:
        try:
            compare(server, READERS[name], answers)
        except UntrustworthyServerError as error:
            _log.info("%s of %s is not used: %s", name, server.base_url, error)
            complaints.append(f"{name}: {error}")
        else:
            return name, READERS[name]
    raise UntrustworthyServerError(
        f"{server.model} at {server.base_url} is not used for scoring. "
        + "; ".join(complaints)
        + f". {_WHAT_TO_DO}"
    )


def compare(server: Completions, read: Reader, answers: Sequence[tuple[str, Told]]) -> None:
    """Check one way of asking.

    Args:
        server: the server.
        read: the way.
        answers: texts the server wrote after :data:`OPENING`, as it told them.

    Raises:
        UntrustworthyServerError: where the numbers are missing or wrong.
    """
    pairs = [
        pair
        for text, told in answers
        for pair in common_tokens(told, after(read(server, OPENING + text), len(OPENING)))
    ]
    if any(math.isnan(value) for pair in pairs for value in pair):
        raise UntrustworthyServerError("some tokens come without a log-probability")
    if len(pairs) < LEAST:
        raise UntrustworthyServerError(
            f"only {len(pairs)} tokens could be compared: the server cuts texts in another way "
            "when they are given to it than when it writes them"
        )
    off = [abs(own - forced) for own, forced in pairs]
    if sum(off) / len(off) > MEAN or max(off) > WORST:
        at = [i for i, difference in enumerate(off) if difference > MEAN][:4]
        raise UntrustworthyServerError(
            "log-probabilities of a text the server wrote itself are not the ones it told while "
            f"writing: expected {_listed(pairs[i][0] for i in at)}, "
            f"seen {_listed(pairs[i][1] for i in at)}"
        )
    _check_context(server, read)


def after(told: Told, start: int) -> Told:
    """The tokens that write anything from ``start`` on, spans counted from there.

    A token across the border belongs to what follows it, and so does the first part of a character
    that follows.

    Raises:
        UntrustworthyServerError: where the text right after ``start`` has no token.
    """
    first = next((i for i, (_, end) in enumerate(told.spans) if end > start), len(told.spans))
    if first == len(told.spans) or told.spans[first][0] > start:
        raise UntrustworthyServerError("the beginning of a text comes without log-probabilities")
    while first and told.spans[first - 1] == (start, start) and _in_part(told, first - 1):
        first -= 1
    spans = tuple((max(a - start, 0), b - start) for a, b in told.spans[first:])
    return Told(spans, told.tokens[first:])


def common_tokens(one: Told, other: Told) -> Iterator[tuple[float, float]]:
    """Both values of the tokens that are the same in both; a text may be cut in two ways.

    The token after one that is not the same is left out too: it follows other tokens.
    """
    values = {
        span: (before, t.logprob)
        for before, span, t in zip((None, *other.spans), other.spans, other.tokens, strict=False)
    }
    for before, span, t in zip((None, *one.spans), one.spans, one.tokens, strict=False):
        found = values.get(span)
        if found is not None and found[0] == before and span[1] > span[0]:
            yield t.logprob, found[1]


def _writings(server: Completions) -> Iterator[tuple[str, Told]]:
    """A greedy text, and one drawn from the full distribution, whose values differ more."""
    plain = {"temperature": 0}
    drawn = {"temperature": 1, "seed": 7, "top_p": 1, "min_p": 0, "repeat_penalty": 1}
    for settings in (plain, drawn):
        text, told = written(server.complete(OPENING, max_tokens=24, logprobs=1, **settings))
        if not any(math.isfinite(token.logprob) for token in told.tokens):
            raise UntrustworthyServerError(
                f"{server.model} at {server.base_url} sends no log-probabilities with what it "
                f"writes (asked with logprobs=1). {_WHAT_TO_DO}"
            )
        yield text, told


def _check_context(server: Completions, read: Reader) -> None:
    sums = []
    for given in (PASSAGE + STATEMENT, STATEMENT):
        tokens = after(read(server, given + NAME), len(given)).tokens
        sums.append(math.fsum(token.logprob for token in tokens))
    if not sums[0] > sums[1] + GAIN:
        raise UntrustworthyServerError(
            "what stands before a text does not count: a name right after a passage that states it "
            f"has log-probability {sums[0]:.2f}, without that passage {sums[1]:.2f}; expected "
            f"{GAIN:g} more at least"
        )


def _in_part(told: Told, at: int) -> bool:
    return "\ufffd" in told.tokens[at].text.decode(errors="replace")


def _listed(values: Iterable[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)
