"""A pytest plugin that prints the name of a failed test at once.

Of a run that is stopped before its end the failures are known, too.
"""

from __future__ import annotations

from typing import Any

import pytest


class FailedNames:
    """Writes a line for each failed test, between the dots of the progress."""

    def __init__(self, terminal: Any) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for each phase of each test, in the process that prints."""
        if report.failed:
            self._terminal.ensure_newline()
            self._terminal.write_line(f"FAILED {report.nodeid} ({report.when})")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Worker processes do not print."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailedNames(terminal))
