"""Data sets through the real Ray Data, on two actors of this machine; `make test-ray`."""

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

from franq_guard import Guard
from franq_guard.batch.outputs import Outputs

pytestmark = pytest.mark.ray

JOB = Path(__file__).parent / "job.py"
LONG, POISON = "LONGEST", "POISON"


def row(number, said=""):
    return {
        "id": str(number),
        "question": f"Where is stone {number}?",
        "passages": [f"Stone {number} lies in Rome."],
        "answer": f"Stone {number} lies in Rome{said}.",
    }


def write_lines(file, rows):
    file.write_text("".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in rows))
    return file


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def results(out):
    return dataset(out).to_table().to_pylist()


def test_each_of_10000_rows_is_there_once_after_an_actor_and_the_run_were_killed(tmp_path, start):
    lines = [row(n) for n in range(4000)]
    lines[1234] = "{broken"
    first = write_lines(tmp_path / "a.jsonl", lines)
    files = [first]
    for part, begin in enumerate((4000, 7000)):
        files.append(tmp_path / f"b{part}.parquet")
        pq.write_table(
            pa.Table.from_pylist([row(n) for n in range(begin, begin + 3000)]), files[-1]
        )
    out = tmp_path / "out"
    words = (JOB, "plain", 32, 500, out, *files)

    job = start(*words)
    count = Outputs(str(out)).counting()
    job.wait_until(lambda: count() >= 500)
    before = job.pids()
    assert len(before) == 2  # the models were loaded once by each actor
    os.kill(max(before), signal.SIGKILL)
    job.wait_until(lambda: count() >= 3000)
    assert job.pids() > before  # a new actor took the place of the killed one
    job.kill()
    deadline = time.monotonic() + 60
    while any(map(running, job.pids())):
        assert time.monotonic() < deadline, "the actors of a killed run go on"
        time.sleep(0.2)
    done = len(Outputs(str(out)).done())
    assert 3000 <= done < 10_000

    report = start(*words).end()
    assert (report["total"], report["before"], report["done"]) == (10_000, done, 10_000)
    places = Counter((r["file"], r["row"]) for r in results(out))
    assert set(places.values()) == {1}
    assert len(places) == 10_000
    found = {(r["file"], r["row"]): r for r in results(out)}
    broken = found.pop((str(first), 1235))
    assert "Expecting property name" in broken["error"]
    assert report["errors"] == {broken["error"]: 1}
    assert {r["id"] for r in found.values()} == {str(n) for n in range(10_000)} - {"1234"}
    assert all(r["original"] == row(r["id"])["answer"] for r in found.values())


def test_a_row_of_20000_words_does_not_hold_up_the_others(tmp_path, start):
    rows = [row(n) for n in range(80)]
    rows[3] |= {"passages": ["Stone 3 lies in Rome. " * 4000]}  # 20,000 words
    rows[3]["answer"] = f"Stone 3 lies in Rome, the {LONG} of all."
    file = write_lines(tmp_path / "rows.jsonl", rows)
    # The long row ends when 40 others have ended (see fakes.py), or else it fails.
    report = start(JOB, "marking", 4, 10, tmp_path / "out", file).end()
    assert (report["done"], report["errors"]) == (80, {})


def test_a_row_that_ends_its_process_gets_an_error_and_the_others_their_results(tmp_path, start):
    rows = [row(n) for n in range(60)]
    rows[20] = row(20, f", says {POISON}")
    file = write_lines(tmp_path / "rows.jsonl", rows)
    job = start(JOB, "marking", 8, 10, tmp_path / "out", file)
    report = job.end()
    assert report["done"] == 60
    assert "rows are left without a result for now: " in job.messages
    assert "Traceback" not in job.messages
    assert sum(report["errors"].values()) == 1
    failed = [r for r in results(tmp_path / "out") if r["error"]]
    assert [r["row"] for r in failed] == [21]
    assert "the process that checked this row ended" in failed[0]["error"]

    report = start(JOB, "mended", 8, 10, tmp_path / "out", file).end()
    assert (report["before"], report["done"], report["errors"]) == (59, 60, {})
    assert sorted(r["row"] for r in results(tmp_path / "out")) == list(range(1, 61))
    assert not any(r["error"] for r in results(tmp_path / "out"))


def test_the_command_gives_the_guards_own_results_after_a_kill(tmp_path, start):
    """200 rows, the real small model."""
    rows = [row(n, " since 1900" if n % 4 == 0 else "") for n in range(200)]
    file = write_lines(tmp_path / "rows.jsonl", rows)
    out = tmp_path / "out"
    words = ("-m", "franq_guard.cli", "check-dataset", file, "--out", out, "--num-actors", 2)
    words = (*words, "--file-rows", 20, "--batch-rows", 8)
    job = start(*words)
    count = Outputs(str(out)).counting()
    job.wait_until(lambda: count() >= 40)
    job.kill()
    assert len(Outputs(str(out)).done()) < 200

    job = start(*words)
    assert job.code() == 0
    assert "200 of 200 rows done" in job.messages
    found = sorted(results(out), key=lambda r: r["row"])
    assert [r["row"] for r in found] == list(range(1, 201))
    given = [(r["question"], r["passages"], r["answer"]) for r in rows]
    for ours, own in zip(found, Guard.offline().check_many(given), strict=True):
        assert [v["label"] for v in ours["verdicts"]] == [v.label for v in own.verdicts]
        assert ours["score"] == pytest.approx(own.score, abs=1e-3)
