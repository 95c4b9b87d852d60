"""``franq serve``: what it refuses, what it makes of its options, that it runs."""

import json
import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from franq_guard import Calibrator
from franq_guard.language_model import loading
from franq_guard.serve import running


@pytest.fixture
def started(monkeypatch):
    """What a server was made of; nothing runs."""
    made = []

    class Server:
        def __init__(self, app, *, host, port, grace, listening):
            made.append((app.state.settings, host, port, grace))

        def run(self):
            pass

    monkeypatch.setattr(running, "Server", Server)
    # Threads of other tests may still work, for which it would end the tests.
    monkeypatch.setattr("franq_guard.cli.serve.exit_if_still_working", lambda code: None)
    return made


def test_options_become_settings(run, started, tmp_path, monkeypatch):
    tokens = tmp_path / "tokens"
    tokens.write_text("one\n\n two \n")
    monkeypatch.setenv("FRANQ_SERVE_TOKENS", "three four")
    monkeypatch.setenv("FRANQ_UPSTREAM_KEY", "key")
    words = (
        *("--host", "0.0.0.0", "--port", 9000, "--token-file", tokens, "--deadline", 2),
        *("--stream", "buffer", "--on-error", "closed", "--batch-size", 4, "--queue", 5),
        *("--closed-routes", "chat, batch", "--upstream-kind", "vllm"),
        *("--upstream", "http://localhost:8000/v1"),
        *("--batches", 2, "--streams", 3, "--grace", 20),
    )
    result = run("serve", *words)
    assert result.exit_code == 0, result.stderr
    ((settings, host, port, grace),) = started
    assert (host, port, grace) == ("0.0.0.0", 9000, 20)
    assert settings.tokens == ("three", "four", "one", "two")
    assert (settings.deadline, settings.stream, settings.on_error) == (2, "buffer", "closed")
    assert (settings.batch_size, settings.queue, settings.batches) == (4, 5, 2)
    assert settings.streams == 3
    assert (settings.closed_routes, settings.upstream_kind) == (("chat", "batch"), "vllm")
    assert settings.upstream_key == "key"


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (("--upstream-kind", "vllm"), ["http://vllm:8000/v1"]),
        (("--upstream-kind", "openai"), []),
        (("--upstream-kind", "vllm", "--language-model", "bundled"), ["bundled"]),
    ],
)
def test_a_calibrator_has_vllm_score_answers_again(command, monkeypatch, tmp_path, words, asked):
    """Whatever else is in front of the guard: the model that wrote an answer is asked for it."""
    pytest.importorskip("torch")
    given = []
    monkeypatch.setattr(loading, "language_model_from", lambda where, **_: given.append(where))

    class Server:
        def __init__(self, app, **_):
            guard = app.state.checker.guard
            if "openai" not in words:
                _ = guard.language_model

    monkeypatch.setattr(running, "Server", Server)
    calibrator = tmp_path / "calibrator.json"
    calibrator.write_text(Calibrator.uncalibrated().to_json())
    command("serve", "--upstream", "http://vllm:8000", "--calibrator", calibrator, *words)
    assert given == asked


def test_it_listens_here_unless_told_and_elsewhere_only_with_a_token(run, started, monkeypatch):
    monkeypatch.delenv("FRANQ_SERVE_TOKENS", raising=False)
    assert run("serve").exit_code == 0
    assert [host for _, host, _, _ in started] == ["127.0.0.1"]
    result = run("serve", "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "--token-file" in result.stderr
    assert len(started) == 1
    assert run("serve", "--host", "0.0.0.0", env={"FRANQ_SERVE_TOKENS": "t"}).exit_code == 0


def test_wrong_settings_end_with_the_reason_and_no_token(run, started, tmp_path):
    empty, binary, spaced = (tmp_path / name for name in ("empty", "binary", "spaced"))
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe")
    spaced.write_text("my secret\n")
    for words, message in (
        (["--on-error", "ignore"], "on_error"),
        (["--stream", "all"], "stream"),
        (["--deadline", 0], "deadline"),
        (["--upstream", "localhost:8000"], "upstream"),
        (["--upstream-kind", "vllm"], "give --upstream URL, too"),
        (["--stream", "buffer"], "give --upstream URL, too"),
        (["--policy", "erase"], "annotate"),
        (["--token-file", tmp_path / "none"], "cannot read"),
        (["--token-file", empty], "no token"),
        (["--token-file", binary], "UTF-8"),
        (["--token-file", spaced], "spaces"),
    ):
        result = run("serve", *words)
        assert result.exit_code == 2, words
        assert message in result.stderr
        assert "secret" not in result.stderr
    assert started == []


def test_a_policy_that_needs_whole_answers_is_told_which_stream_it_takes(command, started):
    pytest.importorskip("torch")
    words = ("serve", "--upstream", "http://localhost:1/v1", "--policy", "block")
    result = command(*words)
    assert (result.exit_code, started) == (2, [])
    assert result.stderr.startswith("error: add --stream buffer: ")
    assert command(*words, "--stream", "buffer").exit_code == 0
    assert command("serve", "--policy", "block").exit_code == 0  # no stream without an upstream


def test_without_the_extra_it_says_what_to_install():
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['franq', 'serve']\n"
        "from franq_guard.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "the service needs fastapi: pip install 'franq-guard[serve]'" in done.stderr


SERVING_FAKES = (
    "from franq_guard import Guard\n"
    "from franq_guard.testing import FakeFaithfulness, FakeLanguageModel\n"
    "guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())\n"
    "Guard.offline = lambda **settings: guard\n"
    "import atexit, sys, time\n"
    "from franq_guard.basics.daemons import start_daemon\n"
    "atexit.register(print, 'what telemetry holds is sent', file=sys.stderr)\n"
    "start_daemon('check', time.sleep, 3600)\n"  # a model that hangs
    "sys.argv = ['franq', 'serve', '--port', '0']\n"
    "from franq_guard.cli import main; main()"
)


def test_it_runs_answers_and_ends():
    process = subprocess.Popen(
        [sys.executable, "-c", SERVING_FAKES],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FRANQ_SERVE_TOKENS": "t"},
    )
    try:
        said = ""
        while "listens on" not in said:
            said = process.stderr.readline()
            assert said
        address = said.split()[-1]
        row = {"question": "Who?", "passages": ["Ann did."], "answer": "Ann did."}
        refused = httpx.post(f"{address}/v1/check", json=row)
        reply = httpx.post(f"{address}/v1/check", json=row, headers={"Authorization": "Bearer t"})
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert refused.status_code == 401
    assert json.loads(reply.text)["status"] == "ok"
    assert process.returncode == 0
    assert "what telemetry holds is sent" in rest
    assert "Traceback" not in rest
    assert "Ann" not in rest


def test_ctrl_c_ends_it_where_models_are_at_work(command, monkeypatch):
    """Python would abort the process if it ended a thread inside torch."""
    pytest.importorskip("torch")

    class Server:
        def __init__(self, app, **_):
            pass

        def run(self):
            raise KeyboardInterrupt

    codes = []
    monkeypatch.setattr(running, "Server", Server)
    monkeypatch.setattr("franq_guard.cli.serve.exit_if_still_working", codes.append)
    assert command("serve").exit_code == 130
    assert codes == [130]


def test_a_port_in_use_is_said_and_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = SERVING_FAKES.replace("'0'", f"'{port}'")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    said, _ = done.stderr.splitlines()  # the second is of the test's own
    assert said == (
        f"error: port {port} of 127.0.0.1 is in use: stop what listens there, or name another one "
        "with --port (0: any free one)"
    )


def test_sigterm_ends_it_while_the_guard_is_made():
    """Of a process with PID 1, as in a container, the system ignores the signal by default."""
    code = (
        "import sys, time\n"
        "from franq_guard import Guard\n"
        "def load(**settings):\n"
        "    print('loading', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "Guard.offline = load\n"
        "sys.argv = ['franq', 'serve', '--port', '0']\n"
        "from franq_guard.cli import main; main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    try:
        while "loading" not in (said := process.stderr.readline()):
            assert said
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(60) == 0  # of its own; the system would have made it -SIGTERM
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    assert rest == ""


def test_sigterm_just_before_the_server_runs_is_not_lost(command, monkeypatch):
    pytest.importorskip("torch")

    class Server:
        should_exit = False

        def __init__(self, app, **_):
            made.append(self)

        def run(self):
            signal.raise_signal(signal.SIGTERM)  # uvicorn has not set its own handler yet

    made, before = [], signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(running, "Server", Server)
    monkeypatch.setattr("franq_guard.cli.serve.exit_if_still_working", lambda code: None)
    assert command("serve").exit_code == 0
    assert [server.should_exit for server in made] == [True]
    assert signal.getsignal(signal.SIGTERM) is before
