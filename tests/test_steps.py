"""Steps in a thread of their own: one after the other, their results, and what waits cancelled."""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import pytest

from franq_guard.basics.background import Steps


def test_steps_run_in_order_and_what_they_return_and_raise_comes_back():
    steps, seen = Steps("test"), []
    made = [steps.submit(seen.append, n) for n in range(50)]
    assert [one.result(30) for one in made] == [None] * 50
    assert seen == list(range(50))
    assert steps.submit(int, "7", base=8).result(30) == 7
    with pytest.raises(SystemExit):
        steps.submit(exit).result(30)
    assert steps.submit(int, "8").result(30) == 8
    assert threading.current_thread() is not steps.submit(threading.current_thread).result(30)
    assert steps.submit(threading.current_thread).result(30).daemon


def test_what_waits_is_cancelled_and_what_runs_is_not_waited_for():
    steps, begun, go = Steps("test"), threading.Event(), threading.Event()

    def hang():
        begun.set()
        return go.wait(30)

    runs, waits = steps.submit(hang), steps.submit(int)
    assert begun.wait(30)
    steps.cancel()
    with pytest.raises(CancelledError):
        waits.result(30)
    assert steps.submit(int).cancelled()
    assert not runs.done()
    go.set()
    assert runs.result(30) is True


AT_THE_END = """
import threading, time
from franq_guard.basics.background import Steps
from franq_guard.basics.deadline import Abandonable, DeadlineExceeded

begun = threading.Event()

def work():
    begun.set()
    time.sleep(0.3)
    print("done", flush=True)

LEAVE
"""
LEFT = {
    "a stream that is closed": """
steps = Steps('test')
steps.submit(work)
begun.wait()
steps.cancel()
""",
    "a deadline that passes": """
try:
    Abandonable().run(work, 0.01)
except DeadlineExceeded:
    pass
""",
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_what_still_works_is_given_a_moment_when_the_process_ends(left):
    # Python aborts a process that ends while a daemon thread computes in torch.
    code = AT_THE_END.replace("LEAVE", left)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "done\n"
