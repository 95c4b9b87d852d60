"""How a failure is logged that an application's run survives."""

from __future__ import annotations

import logging


class OwnMessage(Exception):  # a mark on other errors, none by itself
    """An error whose message is ours alone: it holds no text of users and may be logged."""


def loggable(error: BaseException) -> str:
    """What the log may have of an error: its type, and its message if that is ours alone."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, OwnMessage) else kind


def log_failure(
    logger: logging.Logger, what: str, error: BaseException, level: int = logging.WARNING
) -> None:
    """Log what failed, with what may be told of it: "feedback was not sent: TimeoutError".

    An error's message may hold text of users, so the whole error is logged only at debug.
    """
    logger.log(level, "%s: %s", what, loggable(error))
    logger.debug("the failure", exc_info=error)
