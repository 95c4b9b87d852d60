"""Compares the service with the same checks inside one process (`make bench-service`).

A child process serves `POST /v1/check`; this process sends requests with 1, 4, 16 and 64 clients,
each of which waits for its answer before its next request. Another child checks the same rows with
`check_many`. The service's figures are ratios to it, both from the same run and machine:

* throughput: the service's answers per second over those of `check_many`
* the same by CPU time, which is less affected by other programs
* latency p50, p95, p99: in milliseconds, and as multiples of `check_many`'s time for one answer

`given`: the small faithfulness model alone, without a language model. `teacher-forced`:
`Guard.offline()`, which scores each answer with the bundled language model. At the end, the memory
of a service with fake models over many requests. Rows are short texts written for this benchmark,
all different.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

import httpx
from served import served

from franq_guard import Calibrator, Guard
from franq_guard.rows.traces import trace_of

# By guard. With a language model on one core 64 clients would wait for minutes.
CLIENTS = {"given": (1, 4, 16, 64), "teacher-forced": (1, 4, 16)}
REQUESTS = 20_000  # for the memory
BATCHING = {"micro-batches": (5.0, 16), "one by one": (0.0, 1)}  # window in ms, batch size
WARM_UP = 4
PLACES = ("Aldwen", "Pennant", "Corrie", "Hexley", "Marlow Fen", "Tarnside", "Skerry", "Ostwick")
FACTS = (
    ("lock", "It is {n} metres long", "It was dug by hand in {y}"),
    ("quarry", "It employed {n} men", "It closed in {y}"),
    ("lighthouse", "Its tower is {n} feet high", "It was first lit in {y}"),
    ("bridge", "It has {n} arches", "It was opened in {y}"),
    ("market", "It had {n} stalls", "Its charter is of {y}"),
)


def row(i: int) -> dict[str, object]:
    """Row ``i``: one passage, an answer of two claims of which the last is in no passage."""
    place, (thing, first, second) = PLACES[i % len(PLACES)], FACTS[i % len(FACTS)]
    size, year = 12 + i % 397, 1700 + i % 241
    facts = first.format(n=size), second.format(y=year)
    return {
        "id": str(i),
        "question": f"What is known of the {place} {thing}?",
        "passages": [f"The {place} {thing} is number {i} on the list. {facts[0]}. {facts[1]}."],
        "answer": f"{facts[i % 2]}. The painter Edith Rowe lived next to it.",
    }


def guard_named(name: str) -> Guard:
    """The guard of a child process."""
    from franq_guard.faithfulness import SmallFaithfulness
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    if name == "given":
        small = SmallFaithfulness.bundled()
        return Guard(faithfulness=small, uq_faith="max-nli", uq_unfaith="faithfulness")
    if name == "fakes":
        return Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    return Guard.offline(franq=Calibrator.uncalibrated())


@dataclass(frozen=True)
class Cell:
    """One run of the service with a number of clients.

    Latencies are in milliseconds, like ``alone_ms``, the time of one answer in `check_many`.
    """

    guard: str
    batching: str
    clients: int
    requests: int
    failed: int
    rate: float
    ratio: float
    cpu_ratio: float
    p50: float
    p95: float
    p99: float
    alone_ms: float

    @property
    def multiples(self) -> list[float]:
        """p50, p95 and p99 in `check_many`'s time for one answer."""
        return [latency / self.alone_ms for latency in (self.p50, self.p95, self.p99)]


# -- the children ----------------------------------------------------------------------------------


def serve(options: argparse.Namespace) -> None:
    """Child: run the service until the process is ended."""
    import uvicorn

    from franq_guard.serve.app import create_app
    from franq_guard.serve.settings import ServeSettings

    settings = ServeSettings(window_ms=options.window_ms, batch_size=options.batch_size)
    app = create_app(guard_named(options.guard), settings)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", access_log=False)


def check_many(options: argparse.Namespace) -> None:
    """Child: for each number on standard input, print `check_many`'s seconds for that many rows."""
    guard, first = guard_named(options.guard), 0
    for count in map(int, sys.stdin):
        traces = [_trace(i) for i in range(first, first + count)]
        first += count
        began, worked = perf_counter(), process_time()
        for _ in guard.check_many(traces, batch_size=16):
            pass
        print(perf_counter() - began, process_time() - worked, flush=True)


def _trace(i: int) -> object:
    found = row(i)
    return trace_of(found["question"], found["passages"], found["answer"])  # type: ignore[arg-type]


def _child(role: str, *words: object) -> list[str]:
    return [sys.executable, __file__, "--role", role, *map(str, words)]


@contextmanager
def service(guard: str, window_ms: float, batch_size: int) -> Iterator[tuple[str, int]]:
    """The service in a process of its own: its URL and process id, once its models are loaded."""
    words = ("--guard", guard, "--window-ms", window_ms, "--batch-size", batch_size)
    with served(_child("service", *words)) as found:
        yield found


@dataclass(frozen=True)
class Speed:
    """Answers per second of wall time and of CPU time."""

    rate: float
    cpu_rate: float

    def mean(self, other: Speed) -> Speed:
        """The mean of two speeds, weighted by the time they took."""
        rates = ((self.rate, other.rate), (self.cpu_rate, other.cpu_rate))
        return Speed(*(2 / (1 / a + 1 / b) for a, b in rates))


class Alone:
    """`check_many` in its own process, which is idle while the service is measured."""

    def __init__(self, guard: str) -> None:
        self._child = subprocess.Popen(  # noqa: S603  (this script)
            _child("check-many", "--guard", guard),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.rate(WARM_UP)

    def rate(self, count: int) -> Speed:
        """The speed over ``count`` rows."""
        stdin, stdout = self._child.stdin, self._child.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the child has no pipes")
        stdin.write(f"{count}\n")
        seconds, worked = map(float, stdout.readline().split())
        return Speed(count / seconds, count / worked)

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate(timeout=60)


# -- the clients -----------------------------------------------------------------------------------


async def ask(url: str, clients: int, first: int, count: int) -> tuple[float, list[float], int]:
    """Check ``count`` rows: total seconds, latency of each (seconds), number of failures."""
    todo, latencies, failed = iter(range(first, first + count)), [], 0
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)

    async def one_client(http: httpx.AsyncClient) -> None:
        nonlocal failed
        for i in todo:
            began = perf_counter()
            reply = await http.post("/v1/check", json=row(i))
            latencies.append(perf_counter() - began)
            failed += reply.status_code != 200 or reply.json()["status"] == "unverified"

    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=300) as http:
        began = perf_counter()
        await asyncio.gather(*(one_client(http) for _ in range(clients)))
        return perf_counter() - began, latencies, failed


def percentile(latencies: list[float], share: float) -> float:
    """The percentile of the latencies in milliseconds: at least ``share`` of them are not above."""
    ranked = sorted(latencies)
    return 1000 * ranked[max(0, -(-len(ranked) * round(share * 100) // 100) - 1)]


def measure(
    guard: str, batching: str, clients: tuple[int, ...], seconds: float, alone: Alone
) -> Iterator[Cell]:
    """One cell for each number of clients; `check_many` is measured before and after each."""
    with service(guard, *BATCHING[batching]) as (url, pid):
        asyncio.run(ask(url, 1, 0, WARM_UP))
        before, first = alone.rate(16), 1000
        for n in clients:
            count = max(2 * n, 8, round(before.rate * seconds))
            worked = cpu_seconds(pid)
            taken, latencies, failed = asyncio.run(ask(url, n, first, count))
            speed = Speed(count / taken, count / (cpu_seconds(pid) - worked))
            after = alone.rate(16 if count < 64 else 32)
            yield _cell(guard, batching, n, speed, before.mean(after), latencies, failed)
            before, first = after, first + count


def cpu_seconds(pid: int) -> float:
    """CPU seconds that a process has used so far, in user and system mode (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _cell(
    guard: str,
    batching: str,
    clients: int,
    speed: Speed,
    alone: Speed,
    latencies: list[float],
    failed: int,
) -> Cell:
    p50, p95, p99 = (percentile(latencies, share) for share in (0.5, 0.95, 0.99))
    return Cell(
        guard=guard,
        batching=batching,
        clients=clients,
        requests=len(latencies),
        failed=failed,
        rate=speed.rate,
        ratio=speed.rate / alone.rate,
        cpu_ratio=speed.cpu_rate / alone.cpu_rate,
        p50=p50,
        p95=p95,
        p99=p99,
        alone_ms=1000 / alone.rate,
    )


def memory(requests: int, steps: int = 10) -> Iterator[tuple[int, float]]:
    """Resident memory (MiB) of a service on fakes after so many requests, ``steps`` times."""
    with service("fakes", *BATCHING["micro-batches"]) as (url, pid):
        for step in range(steps):
            count = requests // steps
            asyncio.run(ask(url, 16, step * count, count))
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            yield (step + 1) * count, pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# -- the figures -----------------------------------------------------------------------------------

HEAD = (
    "answers         batching       clients  answers/s  of check_many  by cpu"
    "    p50    p95    p99 ms   (in answers of check_many)"
)


def line(cell: Cell) -> str:
    name = f"{cell.guard:<16}{cell.batching:<15}{cell.clients:>7}"
    speed = f"{cell.rate:>11.1f}{cell.ratio:>15.2f}{cell.cpu_ratio:>8.2f}"
    latency = f"{cell.p50:>7.0f}{cell.p95:>7.0f}{cell.p99:>7.0f}"
    in_answers = " ".join(f"{multiple:.1f}" for multiple in cell.multiples)
    failed = f"  {cell.failed} failed" if cell.failed else ""
    return f"{name}{speed}{latency}   {in_answers}{failed}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="of work in a cell")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--role", choices=("service", "check-many"), help=argparse.SUPPRESS)
    parser.add_argument("--guard", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--window-ms", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--batch-size", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    os.environ["OMP_NUM_THREADS"] = "1"  # for the children: one core computes, the other asks
    if options.role:
        logging.getLogger("franq_guard").setLevel(logging.ERROR)  # known: uncalibrated
        {"service": serve, "check-many": check_many}[options.role](options)
        return
    cells, kept = [], []

    def say(text: str) -> None:
        if not options.json:
            print(text, flush=True)

    say(HEAD)
    for guard, clients in CLIENTS.items():
        with Alone(guard) as alone:
            for way in BATCHING:
                for cell in measure(guard, way, clients, options.seconds, alone):
                    cells.append(cell)
                    say(line(cell))
    for count, size in memory(REQUESTS):
        kept.append((count, size))
        say(f"memory after {count:>6} requests: {size:7.1f} MiB")
    if options.json:
        print(json.dumps({"service": [asdict(cell) for cell in cells], "memory_mib": kept}))


if __name__ == "__main__":
    main()
