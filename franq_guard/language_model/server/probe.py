"""Tests whether a server returns correct log-probabilities of a given text.

Some servers accept ``echo`` and return numbers of other positions, or invented ones. Therefore the
log-probabilities that a server sends while it writes a text are compared with those that it returns
when the same text is given to it.
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
    Reported,
    UntrustworthyServerError,
    written,
)

MEAN, WORST = 0.15, 0.75
"""How many nats the two values of a token may differ, on average and at most. Differences of a few
hundredths are normal, also in half precision or with quantised weights, because tokens are computed
together in one case and one by one in the other; numbers of other positions differ by whole nats.
"""
LEAST = 10
"""How many tokens must have been compared."""
GAIN = 3.0
"""By how many nats a name must become more likely after a passage that states it, since models copy
names."""
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
    """The first protocol (or only ``protocol``, if given) whose numbers are correct.

    Raises:
        UntrustworthyServerError: with the expected and the returned numbers, for each protocol.
        ServerError: if the server cannot be reached.
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


def compare(server: Completions, read: Reader, answers: Sequence[tuple[str, Reported]]) -> None:
    """Test one protocol.

    Args:
        server: the server.
        read: scores a text by the protocol.
        answers: texts that the server wrote after :data:`OPENING`, with their log-probabilities.

    Raises:
        UntrustworthyServerError: if the numbers are missing or wrong.
    """
    pairs = [
        pair
        for text, reported in answers
        for pair in common_tokens(reported, after(read(server, OPENING + text), len(OPENING)))
    ]
    if any(math.isnan(value) for pair in pairs for value in pair):
        raise UntrustworthyServerError("some tokens come without a log-probability")
    if len(pairs) < LEAST:
        raise UntrustworthyServerError(
            f"only {len(pairs)} tokens could be compared: the server splits a text into other "
            "tokens when it is given to it than when it writes it"
        )
    off = [abs(own - forced) for own, forced in pairs]
    if sum(off) / len(off) > MEAN or max(off) > WORST:
        at = [i for i, difference in enumerate(off) if difference > MEAN][:4]
        raise UntrustworthyServerError(
            "log-probabilities of a text the server wrote itself are not the ones it sent while "
            f"writing: expected {_listed(pairs[i][0] for i in at)}, "
            f"seen {_listed(pairs[i][1] for i in at)}"
        )
    _check_context(server, read)


def after(reported: Reported, start: int) -> Reported:
    """The tokens with text after ``start``, with spans counted from there.

    A token that covers both sides of ``start`` is included, and so is the first part of a character
    that begins there.

    Raises:
        UntrustworthyServerError: if the text right after ``start`` has no token.
    """
    first = next(
        (i for i, (_, end) in enumerate(reported.spans) if end > start), len(reported.spans)
    )
    if first == len(reported.spans) or reported.spans[first][0] > start:
        raise UntrustworthyServerError("the beginning of a text comes without log-probabilities")
    while first and reported.spans[first - 1] == (start, start) and _in_part(reported, first - 1):
        first -= 1
    spans = tuple((max(a - start, 0), b - start) for a, b in reported.spans[first:])
    return Reported(spans, reported.tokens[first:])


def common_tokens(one: Reported, other: Reported) -> Iterator[tuple[float, float]]:
    """Both values of the tokens that are the same in both; the tokenisations may differ.

    The token after a different one is left out, too, because it follows other tokens.
    """
    values = {
        span: (before, t.logprob)
        for before, span, t in zip((None, *other.spans), other.spans, other.tokens, strict=False)
    }
    for before, span, t in zip((None, *one.spans), one.spans, one.tokens, strict=False):
        found = values.get(span)
        if found is not None and found[0] == before and span[1] > span[0]:
            yield t.logprob, found[1]


def _writings(server: Completions) -> Iterator[tuple[str, Reported]]:
    """A greedy text, and one sampled from the full distribution, whose values vary more."""
    plain = {"temperature": 0}
    drawn = {"temperature": 1, "seed": 7, "top_p": 1, "min_p": 0, "repeat_penalty": 1}
    for settings in (plain, drawn):
        text, reported = written(server.complete(OPENING, max_tokens=24, logprobs=1, **settings))
        if not any(math.isfinite(token.logprob) for token in reported.tokens):
            raise UntrustworthyServerError(
                f"{server.model} at {server.base_url} sends no log-probabilities with what it "
                f"writes (asked with logprobs=1). {_WHAT_TO_DO}"
            )
        yield text, reported


def _check_context(server: Completions, read: Reader) -> None:
    sums = []
    for given in (PASSAGE + STATEMENT, STATEMENT):
        tokens = after(read(server, given + NAME), len(given)).tokens
        sums.append(math.fsum(token.logprob for token in tokens))
    if not sums[0] > sums[1] + GAIN:
        raise UntrustworthyServerError(
            "the text before has no effect: a name right after a passage that states it has "
            f"log-probability {sums[0]:.2f}, without that passage {sums[1]:.2f}; expected "
            f"at least {GAIN:g} more"
        )


def _in_part(reported: Reported, at: int) -> bool:
    return "\ufffd" in reported.tokens[at].text.decode(errors="replace")


def _listed(values: Iterable[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)
