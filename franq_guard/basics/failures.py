"""How a failure is logged that an application's run survives."""

from __future__ import annotations

import logging


def log_failure(
    logger: logging.Logger, what: str, error: BaseException, level: int = logging.WARNING
) -> None:
    """Log what failed, with the type of the error: "feedback was not sent: TimeoutError".

    An error's message may hold text of users, so it is logged, with the traceback, only at debug.
    """
    logger.log(level, "%s: %s", what, type(error).__name__)
    logger.debug("the failure", exc_info=error)
