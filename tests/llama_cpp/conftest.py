"""The real llama.cpp on the bundled GGUF file; run by ``make test-llamacpp``."""

import socket
import subprocess
import sys
import time

import pytest


@pytest.fixture(scope="session")
def gguf():
    from franq_guard.language_model.transformers.smollm2 import bundled_file

    return bundled_file()


@pytest.fixture(scope="session")
def local():
    """The same weights, dequantised to float32, in transformers."""
    from franq_guard.language_model import load_bundled

    return load_bundled()


@pytest.fixture(scope="session")
def llama(gguf):
    from franq_guard.language_model import LlamaCppModel

    model = LlamaCppModel.from_gguf(gguf, n_ctx=1024, n_threads=1)
    yield model
    model.model.close()


@pytest.fixture(scope="session")
def served(gguf, tmp_path_factory):
    """The base URL of llama-cpp-python's own server."""
    import httpx

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "model": gguf,
        "model_alias": "smollm2",
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": 2048,
        "n_threads": 1,
    }
    words = [str(w) for key, value in settings.items() for w in (f"--{key}", value)]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "llama_cpp.server", *words, "--logits_all", "true"]
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait_for(process, lambda: httpx.get(f"{url}/models").status_code == 200, log)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for(process, ready, log, seconds=120):
    import httpx

    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            if ready():
                return
        except httpx.TransportError:
            time.sleep(0.3)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-3000:]}")
