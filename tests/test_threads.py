"""How many threads a pass gets; no clock decides anything here."""

import math
import os
import signal
import threading

import pytest
import torch

from franq_guard.basics import threads
from franq_guard.basics.threads import (
    SETTING,
    WORTH,
    Neighbours,
    chosen_threads,
    cpu_quota,
    set_up_torch,
    setting,
    threads_for,
    usable_cores,
)


@pytest.fixture
def groups(tmp_path):
    """``groups(membership, files)``: the quota that these files of control groups grant."""

    def made(membership, files):
        mine = tmp_path / "cgroup"
        mine.write_text(membership)
        for name, text in files.items():
            file = tmp_path / "mounted" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return cpu_quota(mine, tmp_path / "mounted")

    return made


@pytest.fixture
def alone(monkeypatch):
    """Four cores, no quota, nobody else, nothing set."""
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(threads, "_neighbours", Neighbours())
    monkeypatch.setattr(threads, "usable_cores", lambda: 4)


@pytest.mark.parametrize(
    ("membership", "files", "cores"),
    [
        ("0::/app\n", {"app/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/app\n", {"app/cpu.max": "max 100000\n"}, math.inf),
        # the group above grants less
        ("0::/pod/app\n", {"pod/app/cpu.max": "400000 100000", "pod/cpu.max": "50000 100000"}, 0.5),
        # inside a container the group's own files stand at the root
        ("0::/docker/abc\n", {"cpu.max": "200000 100000\n"}, 2.0),
        ("0::/../../pod\n", {"cpu.max": "200000 100000\n"}, 2.0),
        (
            "4:cpu,cpuacct:/app\n3:memory:/app\n",
            {
                "cpu,cpuacct/app/cpu.cfs_quota_us": "100000\n",
                "cpu,cpuacct/app/cpu.cfs_period_us": "50000\n",
            },
            2.0,
        ),
        (
            "1:cpu:/\n",
            {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"},
            math.inf,
        ),
        ("1:cpuset:/\n", {"cpu/cpu.cfs_quota_us": "1", "cpu/cpu.cfs_period_us": "1"}, math.inf),
        ("0::/app\n", {"app/cpu.max": "nonsense\n"}, math.inf),
        ("nonsense\n\n", {}, math.inf),
    ],
)
def test_the_quota_of_the_control_groups(groups, membership, files, cores):
    assert groups(membership, files) == cores


def test_no_control_groups_no_quota(tmp_path):
    assert cpu_quota(tmp_path / "none", tmp_path) == math.inf


@pytest.mark.parametrize(
    ("affinity", "quota", "cores"), [(8, math.inf, 8), (8, 2.5, 2), (1, 4.0, 1), (8, 0.5, 1)]
)
def test_usable_cores(monkeypatch, affinity, quota, cores):
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: range(affinity), raising=False)
    monkeypatch.setattr(threads, "cpu_quota", lambda: quota)
    assert usable_cores.__wrapped__() == cores


def test_small_work_gets_one_thread_and_large_work_the_usable_cores(alone):
    assert chosen_threads(WORTH / 2, 8) == 1
    assert chosen_threads(WORTH * 2, 8) == 4
    assert chosen_threads(WORTH * 2, 2) == 2  # torch was told: no more than that
    assert chosen_threads(WORTH * 2, 1) == 1


def test_the_setting_decides(alone, monkeypatch):
    monkeypatch.setenv(SETTING, "3")
    assert chosen_threads(1, 1) == chosen_threads(WORTH * 2, 8) == 3
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(SETTING, wrong)
        with pytest.raises(ValueError, match=SETTING):
            setting()


def test_beside_a_busy_neighbour_one_thread_and_later_more_again(alone):
    threads._neighbours.note(ran=0.9, wall=1.0)
    assert chosen_threads(WORTH * 2, 8) == 4
    threads._neighbours.note(ran=0.5, wall=1.0)  # half of the time somebody else had the core
    chosen = [chosen_threads(WORTH * 2, 8) for _ in range(100)]
    assert chosen[0] == 1
    assert chosen[-1] == 4
    assert chosen == sorted(chosen)


def test_only_the_calling_thread_is_set_and_only_for_the_while(alone):
    before, seen = torch.get_num_threads(), []

    def fails():
        seen.append(torch.get_num_threads())
        other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        other.start()
        other.join()
        raise KeyError

    torch.set_num_threads(3)
    try:
        with pytest.raises(KeyError):
            threads_for(1)(fails)()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    if threads._openmp() is not None:
        assert seen == [1, 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("setting", [None, "2"])
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent(alone, monkeypatch, setting):
    if setting is not None:
        monkeypatch.setenv(threads.SETTING, setting)
    numbers = torch.ones(400, 400)

    def compute():
        with threads_for():
            (numbers @ numbers).exp()
        (numbers @ numbers).exp()  # as what a model does between two passes

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        compute()
        child = os.fork()
        if not child:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(300)  # ends a child that hangs, with a status other than 0
            compute()
            other = threading.Thread(target=compute)  # as a check with a deadline does
            other.start()
            other.join()
            os._exit(0)
        assert os.waitpid(child, 0) == (child, 0)
    finally:
        torch.set_num_threads(before)


def test_without_a_reachable_openmp_nothing_changes(alone, monkeypatch):
    monkeypatch.setattr(threads, "_openmp", lambda: None)
    before = torch.get_num_threads()
    with threads_for(1):
        assert torch.get_num_threads() == before


def test_what_the_user_set_stays(monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    monkeypatch.setenv("KMP_BLOCKTIME", "")  # put back at the end
    monkeypatch.delenv("KMP_BLOCKTIME")
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY")
    set_up_torch()
    assert threads.os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
    assert threads.os.environ["KMP_BLOCKTIME"] == "0"
    assert threads.os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "64"
