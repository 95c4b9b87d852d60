"""Plans ``franq check-dataset`` on machines that are not here: a small simulation.

    python benchmarks/speed/dataset_plan.py [--rows 10000000] [--seconds 0.5] [--json]

``--seconds`` is one core's time for one row; without it, it is measured: processor time of the
offline guard on one thread, for answers of five sentences from three passages. From it come the
times of batches (lognormal, with one row in a thousand that takes fifty times as long), which
actors take in turn. Machines are lost at random and come back after ten minutes; what their actors
were at is done again. The driver starts three tasks for each batch, one after the other. A GPU is
taken as 100 cores: an assumption, no GPU was measured.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from dataclasses import dataclass
from time import process_time

import numpy as np

from franq_guard import Guard

SLOW_SHARE, SLOW = 0.001, 50
BACK = 600.0  # seconds until a lost machine is replaced, models loaded
TASKS = 3  # of a batch: cut out, checked, its share of reading and writing
DRIVER = 0.003  # seconds of the driver for a task
LOSSES = 0.5  # of each machine, a day
BATCH_ROWS, FILE_ROWS, ROW_BYTES = 32, 10_000, 5000


@dataclass(frozen=True)
class Cluster:
    """Machines: how many, with how many actors each, and what one hour of each costs."""

    name: str
    nodes: int
    actors: int
    per_hour: float
    as_cores: float = 1.0  # of each actor


CLUSTERS = (
    Cluster("10 with cores", nodes=10, actors=16, per_hour=16 * 0.04),
    Cluster("1 with a GPU", nodes=1, actors=4, per_hour=2.5, as_cores=100 / 4),
)


@dataclass(frozen=True)
class Job:
    """Rows, and one core's seconds for each."""

    rows: int
    seconds: float


def measured(answers: int = 8) -> float:
    """One core's seconds for a row: median over answers, models loaded."""
    from given_answer import answers as made

    guard, times = Guard.offline().warm(), []
    for trace in made(answers):
        began = process_time()
        guard.check_trace(trace)
        times.append(process_time() - began)
    return float(np.median(times))


def batch_times(job: Job, rng: np.random.Generator) -> np.ndarray:
    """Seconds of one core for each batch; their mean is that of the rows."""
    slow = rng.binomial(BATCH_ROWS, SLOW_SHARE, job.rows // BATCH_ROWS)
    spread = rng.lognormal(0.0, 0.5 / np.sqrt(BATCH_ROWS), len(slow))
    weight = 1 + SLOW_SHARE * (SLOW - 1)
    return job.seconds / weight * (BATCH_ROWS * spread + slow * (SLOW - 1))


def losses(cluster: Cluster, hours: float, rng: np.random.Generator) -> list[np.ndarray]:
    """For each machine when it is lost, in seconds from the start."""
    expected = LOSSES * hours / 24
    drawn = [rng.uniform(0, hours * 3600, rng.poisson(expected)) for _ in range(cluster.nodes)]
    return [np.sort(times) for times in drawn]


def run_through(began: float, seconds: float, lost: np.ndarray) -> tuple[float, float]:
    """When a batch is done that an actor takes at ``began``, and the seconds spent in vain."""
    vain = 0.0
    for loss in lost:
        if loss >= began + seconds:
            break
        vain += max(0.0, loss - began)
        began = max(began, loss + BACK)
    return began + seconds, vain


def simulate(job: Job, cluster: Cluster, seed: int = 0) -> dict[str, float]:
    """Hours, and what was done twice because a machine was lost."""
    rng = np.random.default_rng(seed)
    times = batch_times(job, rng) / cluster.as_cores
    total = cluster.nodes * cluster.actors
    ideal = float(times.sum()) / total
    lost = losses(cluster, 2 * ideal / 3600, rng)
    free = [(0.0, actor) for actor in range(total)]
    again = done = driver = 0.0
    for seconds in times:
        driver += TASKS * DRIVER
        at, actor = heapq.heappop(free)
        end, vain = run_through(max(at, driver), seconds, lost[actor // cluster.actors])
        again, done = again + vain, max(done, end)
        heapq.heappush(free, (end, actor))
    return {"hours": done / 3600, "of ideal": ideal / done, "repeated core hours": again / 3600}


def plan(job: Job, cluster: Cluster) -> dict[str, float | str]:
    """What the job takes there, and how near it comes to what breaks first."""
    found = simulate(job, cluster)
    hours, actors = found["hours"], cluster.nodes * cluster.actors
    return {
        "machines": cluster.name,
        **{key: round(value, 3) for key, value in found.items()},
        "rows a second": round(job.rows / hours / 3600, 1),
        "cost": round(hours * cluster.nodes * cluster.per_hour, 2),
        "driver busy": round(TASKS * job.rows / BATCH_ROWS * DRIVER / hours / 3600, 3),
        "files of results": -(-job.rows // FILE_ROWS),
        "in the object store, MB": round(actors * 3 * BATCH_ROWS * ROW_BYTES / 1e6, 1),
        "rows at risk in a kill": actors * BATCH_ROWS + FILE_ROWS,
        "keys in memory when it goes on, MB": round(job.rows * 8 / 1e6, 1),
    }


def main() -> int:
    """Print the plan for ten machines with cores and for one with a GPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, help="of one core for a row; default: measured")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seconds = options.seconds or measured()
    job = Job(options.rows, seconds)
    plans = [{"seconds a row": round(seconds, 3), **plan(job, cluster)} for cluster in CLUSTERS]
    if options.json:
        print(json.dumps(plans))
        return 0
    for found in plans:
        print(*(f"{name:36} {value}" for name, value in found.items()), "", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
