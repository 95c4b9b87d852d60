"""The pages on the service are true: every block is run, or read where it cannot be.

Commands and Python go to a service on fakes with a scripted model behind it; JSON under a command
must have the form of the real reply; settings are compared with what reads them.
"""

import json
import re
import shlex
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import yaml

from ..docs.blocks import blocks, commands
from .local_server import running, scripted_model

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("service", "proxy", "litellm", "operators")]
ADDRESS = "http://127.0.0.1:8790"
PASSAGE = "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss."
ANSWER = "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Gustave Eiffel."
LANGUAGES = {"bash", "python", "json", "yaml", "nginx"}  # nginx: configuration, only read


BLOCKS = [block for page in PAGES for block in blocks(page.relative_to(ROOT))]


def of(language):
    chosen = [block for block in BLOCKS if block.language == language]
    return pytest.mark.parametrize("block", chosen, ids=str)


@pytest.fixture(scope="module")
def service():
    from franq_guard import Guard
    from franq_guard.serve.app import create_app
    from franq_guard.serve.settings import ServeSettings
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())
    with running(scripted_model(lambda messages: ANSWER)) as upstream:
        settings = ServeSettings(upstream=upstream)
        with running(create_app(guard, settings)) as url:
            yield url


def test_every_block_is_of_a_known_language():
    assert {block.language for block in BLOCKS} <= LANGUAGES
    fences = sum(page.read_text("utf-8").count("\n```") for page in PAGES)
    assert fences == 2 * len(BLOCKS)  # none without a language


@of("bash")
def test_commands(block, service, tmp_path):
    for command in commands(block.text):
        program = re.split(r"[ /]", command.removeprefix(".venv/bin/"))[0]
        RUN[program](command, service, tmp_path)


def curl(command, service, folder):
    """Run; the status and, where JSON is expected, the body."""
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    mark = "\n%{http_code}"
    here = command.replace(ADDRESS, service)
    assert here != command, "every example asks the default address"
    line = f"{here} -w {shlex.quote(mark)}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    body, _, status = done.stdout.rpartition("\n")
    assert status in ("200", "422"), done.stdout
    return body, int(status)


def shell(command, service, folder):
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)


def franq(command, service, folder):
    """The options are ones that it knows; nothing is started."""
    import typer

    from franq_guard.cli.app import app

    name, *words = shlex.split(command.removeprefix(".venv/bin/"))[1:]
    known = typer.main.get_command(app).commands[name]
    known.make_context(name, words).close()


def docker(command, service, folder):
    """Not run: no engine. Its files are there."""
    words = shlex.split(command)
    for flag, file in pairwise(words):
        if flag == "-f":
            assert (ROOT / file).exists()


def pip(command, service, folder):
    """Not run: it would install into this environment. The extras are there, versions the ones."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for extras in re.findall(r"\.\[([\w,]+)\]", command):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for pinned in re.findall(r"[\w-]+==[\d.]+", command):
        assert pinned in (ROOT / "Makefile").read_text("utf-8")


def passed_over(command, service, folder):
    """LiteLLM: `make test-litellm` starts it with the page's own settings."""


RUN = {
    "curl": curl,
    "printf": shell,
    "export": shell,
    "franq": franq,
    "docker": docker,
    "pip": pip,
    "litellm": passed_over,
}


@of("json")
def test_json_has_the_form_of_the_reply(block, service, tmp_path):
    shown = json.loads(block.text)
    before = block.before
    if before is None or before.language != "bash" or "curl" not in before.text:
        return
    body, status = curl(commands(before.text)[-1], service, tmp_path)
    real = json.loads(body)
    assert (status != 200) == ("error" in shown)
    assert form(shown) <= form(real) | {"verdicts", "timings", "context", "differs"}, before.text
    assert set(shown) == set(real)


def test_the_reply_shown_is_that_of_the_bundled_models():
    from franq_guard import Guard

    from ..docs.test_code import TOLERANCE

    [shown] = [b for b in BLOCKS if b.page == "service" and '"timings"' in b.text]
    sent = json.loads(shown.before.text.split("-d '")[1].rpartition("'")[0])
    told, real = json.loads(shown.text), Guard.offline().check(**sent).to_dict()
    assert set(told.pop("timings")) == set(real.pop("timings"))
    assert_alike(told, real, TOLERANCE)


def assert_alike(shown, real, tolerance):
    """The same values; fractions within ``tolerance``."""
    if isinstance(shown, dict):
        assert shown.keys() == real.keys()
        for name, value in shown.items():
            assert_alike(value, real[name], tolerance)
    elif isinstance(shown, list):
        for one, other in zip(shown, real, strict=True):
            assert_alike(one, other, tolerance)
    elif isinstance(shown, float):
        assert real == pytest.approx(shown, abs=tolerance)
    else:
        assert real == shown


def form(value, under=""):
    """The names in a JSON value, those of lists and of lists' members together."""
    if isinstance(value, dict):
        return {name for k, v in value.items() for name in {k} | form(v)}
    if isinstance(value, list):
        return {name for item in value for name in form(item)}
    return set()


@of("python")
def test_python(block, service, capsys):
    names = {}
    try:
        exec(compile(block.text.replace(ADDRESS, service), block.page, "exec"), names)
    finally:
        names["client"].close()
    said = capsys.readouterr().out
    assert "27 May 1937" in said


@of("yaml")
def test_yaml(block, service):
    found = yaml.safe_load(block.text)
    if "groups" in found:  # rules of Prometheus: the metrics are ours
        metrics = httpx.get(f"{service}/metrics").text
        for rule in found["groups"][0]["rules"]:
            for name in re.findall(r"franq_\w+", rule["expr"]):
                assert re.search(rf"^{name}\b|^# TYPE {name} ", metrics, re.MULTILINE), name
    else:
        [guardrail] = found["guardrails"]
        assert guardrail["litellm_params"]["mode"] == ["pre_call", "post_call"]


def test_every_metric_of_the_page_is_there_and_the_other_way_round(service):
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    table = page.split("## Metrics")[1].split("## Alerts")[0]
    told = {name.partition("{")[0] for name in re.findall(r"^\| `(franq_[^`]+)`", table, re.M)}
    types = re.findall(r"^# TYPE (franq_\w+) \w+", httpx.get(f"{service}/metrics").text, re.M)
    assert told == {name for name in types if not name.endswith("_created")}


def test_the_readme_starts_it_the_same_way():
    front = (ROOT / "README.md").read_text("utf-8")
    assert ".venv/bin/franq serve" in front
    assert all(f"docs/{page.name}" in front or page.stem != "service" for page in PAGES)
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert all(f"({page.name})" in index for page in PAGES)
