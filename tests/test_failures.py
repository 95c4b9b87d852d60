"""What a log has of a failure: its type, and the message only for who asks for debug."""

import logging

import pytest

from franq_guard.basics.failures import log_failure, loggable
from franq_guard.language_model.base import MissingModelError

LOG = logging.getLogger("franq_guard.test_failures")


def fails():
    try:
        raise ValueError("Ann Lee's balance is 40 euros")
    except ValueError as error:
        log_failure(LOG, "feedback was not sent", error)


@pytest.mark.parametrize(("level", "loggable"), [(logging.INFO, False), (logging.DEBUG, True)])
def test_the_message_is_logged_at_debug_alone(caplog, level, loggable):
    with caplog.at_level(level, LOG.name):
        fails()
    assert "feedback was not sent: ValueError" in caplog.text
    assert ("Ann Lee" in caplog.text) is loggable


def test_the_level_is_that_of_the_failure(caplog):
    log_failure(LOG, "a stream failed", KeyError("x"), logging.ERROR)
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_message_of_ours_is_told():
    assert (
        loggable(MissingModelError("run: pip install x")) == "MissingModelError: run: pip install x"
    )
    assert loggable(RuntimeError("Ann Lee")) == "RuntimeError"
