"""LiteLLM's own proxy between a scripted model and our service on fakes; `make test-litellm`."""

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from ..serve.local_server import running, scripted_model

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / ".venv-litellm" / "bin" / "litellm"
TOKEN = "of-the-gateway"
PASSAGE = "<context>The bridge opened in 1937.</context>"
SUPPORTED = "The bridge opened in 1937."
UNSUPPORTED = " Gustave Eiffel drew every pillar."


def answer_of(messages):
    """What the question asks for."""
    wanted = str(messages[-1]["content"])
    return SUPPORTED + UNSUPPORTED if "architect" in wanted else SUPPORTED


def page_settings(**more):
    """The settings that docs/litellm.md tells users, and ``more`` of the guardrail."""
    page = (ROOT / "docs" / "litellm.md").read_text("utf-8")
    settings = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    settings["guardrails"][0]["litellm_params"] |= more
    return settings


def service_app(action="filter"):
    from franq_guard import Calibrator, Guard, Policy
    from franq_guard.serve.app import create_app
    from franq_guard.serve.settings import ServeSettings
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    guard = Guard(
        language_model=FakeLanguageModel(),
        faithfulness=FakeFaithfulness(),
        policy=Policy(action=action),
        franq=Calibrator.uncalibrated(),
    )
    return create_app(guard, ServeSettings(tokens=(TOKEN,)))


@contextmanager
def gateway(folder, *, writer, franq, **more):
    """The address of LiteLLM's proxy."""
    assert PROGRAM.exists(), "run make test-litellm: it installs LiteLLM first"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"WRITER_URL": f"{writer}/v1", "WRITER_KEY": "none", "NO_DOCS": "True"}
    env |= {"FRANQ_URL": franq, "FRANQ_TOKEN": TOKEN}
    env |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}  # no network
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(page_settings(**more)))
    words = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "litellm.log"
    with log.open("wb") as out:
        process = subprocess.Popen([PROGRAM, *words], env=env, stdout=out, stderr=out, cwd=folder)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(process, url, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=60)


def wait_for(process, url, log, seconds=180):
    import httpx

    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/health/liveliness").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(f"LiteLLM did not start:\n{log.read_text()[-4000:]}")


@pytest.fixture(scope="session")
def writer():
    with running(scripted_model(answer_of)) as url:
        yield url


@pytest.fixture(scope="session")
def guarded(tmp_path_factory, writer):
    """LiteLLM with the guard as its guardrail, as the page says."""
    with (
        running(service_app()) as franq,
        gateway(tmp_path_factory.mktemp("litellm"), writer=writer, franq=franq) as url,
    ):
        yield url


@pytest.fixture(scope="session")
def blocking(tmp_path_factory, writer):
    """The same with the policy ``block``."""
    with (
        running(service_app("block")) as franq,
        gateway(tmp_path_factory.mktemp("block"), writer=writer, franq=franq) as url,
    ):
        yield url


@pytest.fixture(params=["fail_closed", "fail_open"], scope="session")
def down(request, tmp_path_factory, writer):
    """LiteLLM whose guardrail cannot be reached (nothing listens on port 9), and its fallback."""
    place = {"writer": writer, "franq": "http://127.0.0.1:9"}
    more = {} if request.param == "fail_closed" else {"unreachable_fallback": request.param}
    with gateway(tmp_path_factory.mktemp("down"), **place, **more) as url:
        yield url, request.param
