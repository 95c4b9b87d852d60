"""Without an SDK nothing is sent; nothing is imported before the application imports the API."""

import subprocess
import sys

import pytest

from franq_guard.telemetry import hooks

from .examples import guard, trace

CHECK = """
from franq_guard import Generation, Guard, Passage, Trace
from franq_guard.telemetry import configure, here, under
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel
guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
trace = Trace("Which?", (Passage("The tower leans."),), Generation("The tower leans."))
configure(record_text=True)
with under([(trace, here())]):
    assert guard.check_trace(trace).status == "ok"
stream = ClaimStream(guard, lambda text: (guard, trace))
stream.feed("The tower leans.")
stream.end()
while stream.wait() is not None:
    pass
assert stream.answer().status == "ok"
stream.close()
"""
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "opentelemetry":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
"""
NOT_IMPORTED = "import sys; assert not any(m.startswith('opentelemetry') for m in sys.modules)"


@pytest.mark.parametrize("before", ["", BLOCKED], ids=["installed", "not installed"])
def test_nothing_is_imported(before):
    code = "\n".join([before, CHECK, NOT_IMPORTED])
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300)


def test_the_api_alone_takes_nothing():
    import opentelemetry._logs
    import opentelemetry.trace  # noqa: F401

    begun = []
    hooks.watched([trace()], lambda traces: begun.append(hooks.stage("claims")) or [])
    assert begun == [hooks._NOTHING]
    assert guard().check_trace(trace()).status == "ok"


def test_an_sdk_that_is_set_later_is_found():
    code = """
from opentelemetry import _logs, trace as tracing
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
spans, events = InMemorySpanExporter(), InMemoryLogRecordExporter()
tracers, loggers = TracerProvider(), LoggerProvider()
tracers.add_span_processor(SimpleSpanProcessor(spans))
loggers.add_log_record_processor(SimpleLogRecordProcessor(events))
tracing.set_tracer_provider(tracers)
assert guard.check_trace(trace).status == "ok"
assert [s.name for s in spans.get_finished_spans()][-1] == "franq.check"
_logs.set_logger_provider(loggers)
guard.check_trace(trace)
assert len(events.get_finished_logs()) == 2
"""
    subprocess.run([sys.executable, "-W", "error", "-c", CHECK + code], check=True, timeout=300)


@pytest.mark.parametrize("only", ["tracer_provider", "logger_provider"])
def test_spans_alone_or_results_alone(seen, only):
    from franq_guard.telemetry import configure

    given = {"tracer_provider": seen.tracers, "logger_provider": seen.loggers}
    configure(**{only: given[only]})
    guard().check_trace(trace())
    assert bool(seen.spans) == (only == "tracer_provider")
    assert bool(seen.events) == (only == "logger_provider")
