"""Processes that share the work of a command."""

import os
import signal
import time

import pytest
import typer

from franq_guard.cli_io import fail
from franq_guard.cli_workers import side_by_side


def write(folder, name, others):
    """Ends only when all parts have begun: they must run at the same time."""
    (folder / name).write_text("")
    until = time.monotonic() + 60
    while not all((folder / other).exists() for other in others):
        assert time.monotonic() < until
        time.sleep(0.01)


def end(folder, how):
    if how == "waits":
        time.sleep(600)
    if how == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "has a message":
        fail("no such thing")
    if how == "raises":
        raise RuntimeError("a bug")
    (folder / how).write_text("")


def test_parts_run_at_the_same_time(tmp_path):
    names = ["one", "two"]
    side_by_side(write, [(tmp_path, name, names) for name in names])
    assert sorted(p.name for p in tmp_path.iterdir()) == names


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("is killed", "out of memory"),
        ("has a message", "a worker failed"),
        ("raises", "a worker failed"),
    ],
)
def test_the_first_that_fails_ends_the_others(tmp_path, capfd, how, said):
    with pytest.raises(typer.Exit) as ended:
        side_by_side(end, [(tmp_path, "waits"), (tmp_path, how)])
    assert ended.value.exit_code == 2
    shown = capfd.readouterr().err
    assert said in shown
    assert "goes on from there" in shown
    if how == "has a message":
        assert "error: no such thing" in shown
