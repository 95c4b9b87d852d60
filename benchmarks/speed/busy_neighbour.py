"""Times a check while other processes use all cores but one, as a ratio to the same check alone.

    python benchmarks/speed/busy_neighbour.py [--rounds 5] [--claims 1 10] [--json]

Each way of computing runs in its own process and checks the same answers repeatedly, in turn alone
and beside the busy processes. "torch's own threads" is torch's default: one thread per core, which
spins while it waits for the others. "in a library" is the guard's behaviour inside an application;
"franq ..." is that of its commands, whose threads sleep while they wait; "one thread" is the floor.
One claim is a small forward pass, ten claims a large one.

The ratio is the median busy time over the median idle time. The last column compares with one
thread's idle time, so that a way that is slow even when idle does not look good. Goal: at most 2.5.
If other programs use the machine, the idle figures are not really idle.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from franq_guard.basics.threads import SETTING

SLEEPING = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
WAYS: dict[str, dict[str, str]] = {
    "one thread": {"OMP_NUM_THREADS": "1"},
    "torch's own threads": {SETTING: str(os.cpu_count() or 1)},
    "in a library": {},
    "franq ...": SLEEPING,
}
GOAL = 2.5


def child() -> None:
    """Child: for each line with a number of claims, check as many and print the seconds."""
    from franq_guard import Guard, Policy
    from franq_guard.faithfulness.small.model import SmallFaithfulness

    sentences = [f"The bridge number {i} was opened in {1900 + i} by the town." for i in range(10)]
    passages = [" ".join(sentences[i::3] * 3) for i in range(3)]
    # Without a cache, so that every check runs the model.
    bundled = SmallFaithfulness.bundled()
    for line in sys.stdin:
        bundled.forget()
        guard = Guard(faithfulness=bundled, policy=Policy())
        answer = " ".join(sentences[: int(line)])
        began = perf_counter()
        guard.check("What is known of the bridges?", passages, answer)
        print(perf_counter() - began, flush=True)


def spin() -> None:
    """Keep one core busy until the process is ended."""
    measuring = os.getppid()
    while os.getppid() == measuring:
        sum(range(1_000_000))


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """Run ``count`` busy processes during the block."""
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=spin, daemon=True) for _ in range(count)]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        for process in busy:
            process.terminate()
            process.join()


class Checker:
    """A process that computes in one of the ways."""

    def __init__(self, settings: dict[str, str]) -> None:
        inherited = ("OMP_", "KMP_", "MKL_", "GOMP_", "FRANQ_THREADS")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(inherited)}
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, __file__, "--child"],
            env={**kept, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, claims: int) -> float:
        """Seconds of one check."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{claims}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self.process.communicate()


def measured(rounds: int, sizes: Sequence[int]) -> list[dict[str, object]]:
    """A row for each way and size, measured in turn."""
    checkers = {name: Checker(settings) for name, settings in WAYS.items()}
    seconds: dict[tuple[str, int, bool], list[float]] = {}
    for checker in checkers.values():
        checker.seconds(max(sizes))  # loads and warms
    for _ in range(rounds):
        for busy in (False, True):
            with neighbours(max(1, (os.cpu_count() or 1) - 1) if busy else 0):
                for name, checker in checkers.items():
                    for size in sizes:
                        seconds.setdefault((name, size, busy), []).append(checker.seconds(size))
    for checker in checkers.values():
        checker.close()
    middle = {key: statistics.median(values) for key, values in seconds.items()}
    return [
        {
            "way": name,
            "claims": size,
            "idle": round(middle[name, size, False], 3),
            "busy": round(middle[name, size, True], 3),
            "ratio": round(middle[name, size, True] / middle[name, size, False], 2),
            "to one thread, idle": round(
                middle[name, size, True] / middle["one thread", size, False], 2
            ),
        }
        for size in sizes
        for name in WAYS
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--claims", type=int, nargs="+", default=[1, 10], help="of an answer")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return 0
    rows = measured(options.rounds, options.claims)
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "goal": GOAL, "rows": rows}))
        return 0
    print(f"{'way':22}" + "".join(f"{name:>22}" for name in list(rows[0])[1:]))
    for row in rows:
        print(f"{row['way']:22}" + "".join(f"{row[name]:>22}" for name in list(row)[1:]))
    print(f"goal: a ratio of at most {GOAL}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
