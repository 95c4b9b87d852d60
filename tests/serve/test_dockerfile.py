"""The Dockerfile keeps its promises, and its steps work where no engine can run it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from . import dockerfile as parser

ROOT = Path(__file__).parents[2]


FOUND = parser.instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))
LAST = max(one.stage for one in FOUND)


def of(name, stage=None):
    return [one for one in FOUND if one.name == name and stage in (None, one.stage)]


def test_every_instruction_is_known():
    known = "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK RUN USER WORKDIR"
    assert {one.name for one in FOUND} <= set(known.split())  # no ADD: it would fetch addresses


def test_the_base_is_slim_python_of_one_exact_version():
    bases = {one.value.split()[0] for one in of("FROM")}
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-\w+", bases.pop())


def test_it_does_not_run_as_root():
    users = [one.value for one in of("USER", LAST)]
    assert users
    assert users[-1].isdigit()  # a number: an orchestrator can see that it is not root
    assert int(users[-1]) > 0
    made = next(one.value for one in of("RUN", LAST) if one.value.startswith("useradd"))
    assert f"--uid {users[-1]} " in made


def test_the_health_check_asks_whether_it_is_ready():
    [check] = of("HEALTHCHECK", LAST)
    assert "/readyz" in check.value
    port = of("EXPOSE", LAST)[0].value
    assert f":{port}/readyz" in check.value
    assert json.loads(of("ENTRYPOINT", LAST)[0].value)[-1] == port


def test_it_copies_what_is_there_and_the_engine_is_sent():
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for one in of("COPY"):
        if one.value.startswith("--from=build"):
            continue
        for source in one.value.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in sent


def test_nothing_secret_or_large_is_sent():
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert next(line for line in sent[sent.index("*") :]) == "*"
    allowed = {line for line in sent if line.startswith("!")}
    assert allowed == {
        "!constraints.txt",
        "!pyproject.toml",
        "!README.md",
        "!LICENSE",
        "!franq_guard",
    }


def test_every_package_is_pinned():
    for one in of("RUN"):
        for command in re.findall(r"pip install ([^&]+)", one.value):
            pinned = "-c constraints.txt" in command or re.search(r"\w==[\d.]+\s*$", command)
            assert pinned, command


def test_it_runs_without_network():
    assert parser.environment(FOUND, LAST)["HF_HUB_OFFLINE"] == "1"
    kept = parser.environment(FOUND, LAST)["FRANQ_CACHE_DIR"]
    assert kept == parser.environment(FOUND, 0)["FRANQ_CACHE_DIR"]
    copied = [one.value for one in of("COPY", LAST)]
    assert f"--from=build {kept} {kept}" in copied
    assert not any("pip" in one.value for one in of("RUN", LAST))


def test_no_token_stands_in_it():
    set_there = " ".join(one.value for one in FOUND if one.name in ("ARG", "ENV")).lower()
    assert not re.search(r"(token|key|secret|password)s?=", set_there)
    # deploy/compose.yaml asks for a file of tokens that does not enter the repository.
    assert ".env" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_compose_starts_the_image_with_least_rights():
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))["services"]
    guard = services["guard"]
    assert (ROOT / "deploy" / guard["build"]["context"]).resolve() == ROOT
    assert all(port.startswith("127.0.0.1:") for port in guard["ports"])
    assert guard["read_only"] is True
    assert guard["cap_drop"] == ["ALL"]
    assert guard["security_opt"] == ["no-new-privileges:true"]


# -- its steps, without an engine ------------------------------------------------------------------


@pytest.mark.dockerfile
def test_its_steps_make_a_service_that_becomes_ready(tmp_path):
    """The RUN lines of the first stage in a folder, then the last stage's ENTRYPOINT."""
    places = {"/opt/venv": tmp_path / "venv", "/opt/franq": tmp_path / "franq"}
    source = tmp_path / "src"
    source.mkdir()
    # `python` of the base image is the one that runs this test.
    base = Path(sys.executable).resolve()
    env = clean_environment({"PATH": f"{tmp_path / 'base'}:{os.environ['PATH']}"})
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "python").symlink_to(base)
    for one in FOUND:
        if one.stage == 0:
            step(one, source, env, places)
    kept = [tmp_path / "franq", *(tmp_path / "franq").rglob("*")]
    assert all(path.stat().st_mode & 0o004 for path in kept)  # for the user who is not root
    for place in (tmp_path, *tmp_path.parents[:2]):  # pytest's own folders: others may pass through
        place.chmod(place.stat().st_mode | 0o011)
    serve(places, tmp_path)


def clean_environment(more):
    kept = {
        "HOME",
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_CONFIG_FILE",
        "PIP_FIND_LINKS",
        "LANG",
    }
    return {name: value for name, value in os.environ.items() if name in kept} | more


def moved(text, places):
    for old, new in places.items():
        text = text.replace(old, str(new))
    return text


def step(one, source, env, places):
    """One instruction of the build stage."""
    if one.name == "ENV":
        for name, _, value in (pair.partition("=") for pair in one.value.split()):
            env[name] = moved(value, places).replace("$PATH", env["PATH"])
    elif one.name == "COPY":
        *files, target = one.value.split()
        for file in files:
            here = ROOT / file
            if here.is_dir():
                shutil.copytree(here, source / target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(here, source / target)
    elif one.name == "RUN":
        command = ["/bin/sh", "-ec", moved(one.value, places)]
        done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{one.value}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


def serve(places, folder):
    """ENTRYPOINT and HEALTHCHECK with the last stage's environment, on another port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    given = parser.environment(FOUND, LAST)
    env = {name: moved(value, places) for name, value in given.items()}
    env["PATH"] = env["PATH"].replace("$PATH", os.environ["PATH"])
    *entry, entry_port = json.loads(of("ENTRYPOINT", LAST)[0].value)
    entry += [port]
    env["FRANQ_SERVE_TOKENS"] = "of-this-test"  # it listens on all addresses
    check = of("HEALTHCHECK", LAST)[0].value.partition(" CMD ")[2].replace(entry_port, port)
    user = other_user(places["/opt/venv"] / "bin" / "python")
    log = folder / "log"
    with log.open("wb") as out:
        entry[0] = str(places["/opt/venv"] / "bin" / entry[0])
        process = subprocess.Popen(entry, env=env, cwd="/tmp", stdout=out, stderr=out, user=user)
        try:
            healthy = wait_for(process, json.loads(check), env)
        finally:
            process.terminate()
            process.wait(timeout=60)
    assert healthy, log.read_text()[-4000:]
    assert process.returncode in (0, -15)


def other_user(python):
    """The user that the Dockerfile names; None where this one may not start programs as it."""
    user = int(of("USER", LAST)[0].value)
    try:
        subprocess.run([python, "-c", ""], user=user, check=True)
    except PermissionError:  # not root, or the base Python is in a folder of root's
        return None
    return user


def wait_for(process, check, env, seconds=180):
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        if subprocess.run(check, env=env, capture_output=True).returncode == 0:
            return True
        time.sleep(1)
    return False
