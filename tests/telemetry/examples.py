"""Answers and guards that the tests of this room share."""

from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.calibration import Calibrator
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = (Passage("The tower of Pisa leans. It is made of marble."),)
TEXT = "The tower of Pisa leans. Zebras sing loud tunes."
STAGES = {"claims", "faithfulness", "language_model", "uncertainty", "franq"}


def trace(text=TEXT, id="run-1", **more):
    return Trace("Which tower leans?", PASSAGES, Generation(text), id=id, **more)


def guard(**more):
    """A guard whose language model reads every answer."""
    parts = {"language_model": FakeLanguageModel(), "faithfulness": FakeFaithfulness()}
    form = more.get("form", "long")
    if form != "auto":
        parts["franq"] = Calibrator.uncalibrated(form=form)
    return Guard(**parts | more)


def raising(error):
    """A ``fail`` for the fakes."""

    def fail():
        raise error

    return fail


def place(span):
    """A span as an event names its parent."""
    return (span.context.trace_id, span.context.span_id)
