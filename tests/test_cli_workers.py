"""Processes that share the work of a command."""

import os
import signal
import subprocess
import sys
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


def tell_and_wait(folder, name):
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    (folder / f"{name}.part").write_text(f"{os.getpid()} {ignored}")
    (folder / f"{name}.part").rename(folder / name)
    time.sleep(600)


def test_ctrl_c_is_for_the_first_process_which_ends_the_others(tmp_path):
    """A terminal sends it to all of them; a worker would add a trace of its own."""
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from test_cli_workers import side_by_side, tell_and_wait;"
        "side_by_side(tell_and_wait, [(Path(sys.argv[2]), n) for n in ('one', 'two')])"
    )
    command = [sys.executable, "-c", program, os.path.dirname(__file__), str(tmp_path)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 60
    while not all((tmp_path / name).exists() for name in ("one", "two")):
        assert time.monotonic() < until
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")  # not ignored there; the commands catch it
    for name in ("one", "two"):
        pid, ignored = (tmp_path / name).read_text().split()
        assert ignored == "True"
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
