"""Processes that share the work of a command."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import typer

from franq_bench.cli.workers import side_by_side
from franq_guard.cli.console import fail


def write(folder, name, others):
    """Ends only when all parts have begun: they must run at the same time."""
    (folder / name).write_text("")
    wait_until(lambda: all((folder / other).exists() for other in others))


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


@pytest.fixture
def running(tmp_path):
    """A program with two workers that wait; its process and theirs, by number."""
    program = (
        # A shell that runs the tests in the background lets its children ignore Ctrl-C.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from test_workers import side_by_side, tell_and_wait;"
        "side_by_side(tell_and_wait, [(Path(sys.argv[2]), n) for n in ('one', 'two')])"
    )
    command = [sys.executable, "-c", program, os.path.dirname(__file__), str(tmp_path)]
    options = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, **options) as process:
        try:
            wait_until(lambda: all((tmp_path / name).exists() for name in ("one", "two")))
            told = [(tmp_path / name).read_text().split() for name in ("one", "two")]
            assert [ignored for _, ignored in told] == ["True", "True"]  # Ctrl-C
            yield process, [int(pid) for pid, _ in told]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_ctrl_c_is_for_the_first_process_which_ends_the_others(running):
    """A terminal sends it to all of them; a worker would add a trace of its own."""
    process, workers = running
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert said.rstrip().endswith("KeyboardInterrupt")  # not ignored there; the commands catch it
    assert not any(map(alive, workers))


def test_workers_end_with_a_program_that_is_killed(running):
    process, workers = running
    process.kill()
    process.communicate(timeout=300)
    wait_until(lambda: not any(map(alive, workers)))


def test_ctrl_c_works_again_where_no_worker_starts():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Exception, match="pickle"):
        side_by_side(lambda: None, [()])
    assert signal.getsignal(signal.SIGINT) == before


def alive(pid):
    """Whether it runs; a process that nobody waits for any more may stay as a zombie."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until(found):
    until = time.monotonic() + 300
    while not found():
        assert time.monotonic() < until
        time.sleep(0.05)
