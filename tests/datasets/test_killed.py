"""A kill of ``annotate``, ``review``, ``calibrate``, or of asking for questions, loses one row.

``test_building.py`` does the same with the answers of ``build``.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import httpx
import pytest

from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
from franq_guard.datasets.jsonl import whole_rows
from franq_guard.datasets.reviewing import Review
from franq_guard.records import Claim, Generation, Passage, Trace

COUNT = 60
_JUDGE = """
import sys, time
from pathlib import Path
from franq_guard.datasets.annotating import Judge, annotate
from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
from franq_guard.datasets.jsonl import whole_rows
folder = Path(sys.argv[1])
def ask(request):
    time.sleep(0.01)
    with (folder / "asked.txt").open("a") as file:
        file.write("1")
    return '{"faithfulness": "faithful", "factuality": "true", "quote": "lies in Italy"}'
annotate(ClaimSet(folder), Judge("m", ask))
"""

_CALIBRATE = """
import sys, time
from pathlib import Path
from franq_guard import Guard
from franq_guard.cli.app import make_app
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
folder, out = Path(sys.argv[1]), sys.argv[2]
def slowly():
    time.sleep(0.01)
    with (folder / "asked.txt").open("a") as file:
        file.write("1")
guard = Guard(language_model=FakeLanguageModel(fail=slowly), faithfulness=FakeFaithfulness())
Guard.offline = staticmethod(lambda **settings: guard)
make_app([])(["calibrate", str(folder), "--out", out, "--labels", "judge"])
"""
_QUESTIONS = """
import sys, time
from pathlib import Path
from franq_guard.datasets.building.questions import by_model
from franq_guard.datasets.building.replies import Replies
from franq_guard.records import Passage
folder = Path(sys.argv[1])
def ask(request):
    time.sleep(0.01)
    with (folder / "asked.txt").open("a") as file:
        file.write("1")
    return '{"question": "Where does it lie?", "answer": "in Italy"}'
passages = [Passage(f"Town {i} lies in Italy.") for i in range(60)]
list(by_model(Replies(ask, folder / "replies.jsonl"), passages, range(60)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = ClaimSet.create(tmp_path, {})
    for i in range(COUNT):
        text = f"Town {i} is in Italy."
        claims = (Claim(text, ((0, len(text)),)),)
        passages = (Passage(f"Town {i} lies in Italy."),)
        made.add_answer(Trace("Where?", passages, Generation(text), claims=claims, id=str(i)))
    return tmp_path


@contextmanager
def killed_at_the_end(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not true():
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.003)


def test_a_killed_judge_goes_on_where_it_was(folder: Path) -> None:
    command = [sys.executable, "-c", _JUDGE, str(folder)]
    kept = folder / "labels.jsonl"
    with killed_at_the_end(command) as process:
        wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") >= 5, process)
        before = kept.read_bytes().count(b"\n")
    assert before <= len(ClaimSet(folder).judgements()) < COUNT
    subprocess.run(command, check=True)
    assert len(ClaimSet(folder).judgements()) == COUNT
    # Only the claim whose reply was not stored yet is asked about again.
    assert len((folder / "asked.txt").read_text()) <= COUNT + 1
    rows = [json.loads(line) for line in kept.read_text().splitlines() if line.endswith("}")]
    assert len({row["answer"] for row in rows}) == len(rows) == COUNT


def test_a_killed_calibrate_scores_the_other_answers_only(folder: Path, tmp_path: Path) -> None:
    for i in range(COUNT):
        vote: Literal["true", "false"] = "true" if i % 2 else "false"
        ClaimSet(folder).add(ClaimJudgement(str(i), 0, "judge:m", factuality=vote))
    out, kept = tmp_path / "mine.json", folder / "signals.jsonl"
    command = [sys.executable, "-c", _CALIBRATE, str(folder), str(out)]
    with killed_at_the_end(command) as process:
        wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") >= 5, process)
    assert not out.exists()
    stored, asked = len(list(whole_rows(kept))), len((folder / "asked.txt").read_text())
    assert 5 <= stored < COUNT
    subprocess.run(command, check=True, capture_output=True)
    assert out.exists()
    assert len({row["key"] for row in whole_rows(kept)}) == COUNT == len(list(whole_rows(kept)))
    # Every answer not stored is read, by the same number of calls each; of those read before the
    # kill one at most was not stored.
    calls, rest = divmod(len((folder / "asked.txt").read_text()) - asked, COUNT - stored)
    assert (calls > 0, rest) == (True, 0)
    assert asked <= (stored + 1) * calls


def test_a_kill_while_questions_are_written_asks_for_the_others_only(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _QUESTIONS, str(tmp_path)]
    kept = tmp_path / "replies.jsonl"
    with killed_at_the_end(command) as process:
        wait_until(lambda: kept.exists() and kept.read_bytes().count(b"\n") >= 5, process)
    subprocess.run(command, check=True)
    assert len(list(whole_rows(kept))) == COUNT
    assert len((tmp_path / "asked.txt").read_text()) <= COUNT + 1


def test_a_killed_review_keeps_every_vote_that_was_answered(folder: Path) -> None:
    words = ["-m", "franq_guard.cli", "dataset", "review", str(folder), "--no-evidence"]
    with killed_at_the_end([sys.executable, *words]) as process:
        assert process.stdout is not None
        address, _, token = process.stdout.readline().strip().partition("/?token=")
        params = {"token": token, "reviewer": "ada"}
        with httpx.Client(base_url=address, params=params, timeout=60) as page:
            card = page.get("/next").json()["card"]
            voted = []
            for _ in range(7):
                vote = {"answer": card["answer"], "claim": 0, "factuality": "true"}
                card = page.post("/vote", json=vote).json()["card"]
                voted.append(vote["answer"])
    review = Review(ClaimSet(folder))
    assert {said.answer for said in ClaimSet(folder).judgements()} == set(voted)
    left = review.next("ada")
    assert left is not None
    assert left.answer == card["answer"]  # the same claim is shown after a restart


@pytest.mark.parametrize("name", ["answers.jsonl", "labels.jsonl"])
def test_a_file_cut_at_any_byte_has_lost_its_last_row_at_most(folder: Path, name: str) -> None:
    review = Review(ClaimSet(folder))
    for i in range(COUNT):
        review.vote("ada", (str(i), 0), faithfulness="faithful", factuality="true")
    whole = (folder / name).read_bytes()
    last = len(whole[:-1].rsplit(b"\n", 1)[1])
    for cut in range(1, last + 1, 7):
        (folder / name).write_bytes(whole[:-cut])
        found = ClaimSet(folder)
        rows = found.answers() if name.startswith("answers") else found.judgements()
        assert len(rows) == (COUNT if cut == 1 else COUNT - 1)
