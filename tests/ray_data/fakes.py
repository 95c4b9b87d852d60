"""Models for Ray's actors that tell about themselves by files; the actors import this module."""

import os
import time
import uuid
from pathlib import Path

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

MARKS = "FRANQ_TEST_MARKS"  # the variable that names the folder; Ray's processes inherit it
LONG, POISON = "LONGEST", "POISON"
OTHERS = 40  # claims that must be done while the long one is


def marks(what):
    return list(Path(os.environ[MARKS]).glob(f"{what}-*"))


def mark(what, name):
    Path(os.environ[MARKS], f"{what}-{name}").touch()


class Marking(FakeFaithfulness):
    """Ends its process at a poisoned claim; takes as long as the others' claims at the long one."""

    def score(self, contexts, claims):
        for claim in claims:
            if POISON in claim:
                os._exit(1)
            if LONG in claim:
                wait_for(lambda: len(marks("done")) >= OTHERS)
            else:
                mark("done", uuid.uuid4().hex)
        return super().score(contexts, claims)


def wait_for(reached, seconds=240):
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.2)


def faithfulness():
    mark("actor", os.getpid())
    return FakeFaithfulness()


def marking_faithfulness():
    mark("actor", os.getpid())
    return Marking()


def language_model():
    return FakeLanguageModel()


def guard(kind="plain"):
    kinds = {"marking": marking_faithfulness, "plain": faithfulness, "mended": faithfulness}
    return Guard(language_model=language_model, faithfulness=kinds[kind])
