"""The pages are true: what they link to is there, and what their code imports can be imported."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "benchmarks/*.md", "integrations/*/*.md")
    for path in ROOT.glob(pattern)
)
PAGES += sorted((ROOT / "franq_guard").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
IMPORT = re.compile(r"^\s*from ((?:franq_guard|langchain_franq|llama_index_franq)\S*) import (.+)$")
ROOM = re.compile(r"`(\w+)/`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
COMMAND = re.compile(r"`(?:\.venv/bin/)?((?:franq|make|pytest|python) [^`]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = LINK.findall(page.read_text(encoding="utf-8"))
    broken = [
        link
        for link in links
        if not link.startswith(("http://", "https://")) and not (page.parent / link).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_imports_what_is_there(page):
    for line in page.read_text(encoding="utf-8").splitlines():
        found = IMPORT.match(line)
        # `make test-evaluators` has the frameworks of these.
        if found and not found[1].startswith("franq_guard.evaluators."):
            module = import_module(found[1])
            for name in found[2].split(","):
                assert hasattr(module, name.strip()), f"{found[1]} has no {name.strip()}"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name != "CHANGELOG.md"],  # which also names what is gone
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_in_the_text_name_what_is_there(page):
    """Targets, scripts, modules, commands and options; tests/docs/test_code.py reads the blocks."""
    for command in COMMAND.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        program, *words = command.split()
        if program == "make":
            targets = (word for word in words if "=" not in word)
            assert all(re.search(rf"^{word}:", MAKEFILE, re.MULTILINE) for word in targets), command
        elif program == "franq":
            assert {word for word in words if word.startswith("--")} <= options(words), command
        elif words[0] == "-m":
            assert module_is_there(words[1], page.parent), command
        else:
            assert all((ROOT / word).exists() for word in words if word.endswith(".py")), command


def options(words):
    """The options of the command of ``franq`` that the words begin with."""
    from franq_guard.cli.app import app

    command = typer.main.get_command(app)
    while words and hasattr(command, "commands"):
        _, command, words = command.resolve_command(typer.Context(command), words)
    return {name for option in command.params for name in (*option.opts, *option.secondary_opts)}


def module_is_there(name, folder):
    """Whether ``python -m name`` finds it from the repository's root or the page's folder."""
    path = name.replace(".", "/")
    places = (ROOT, ROOT / "benchmarks", folder)
    files = (place / file for place in places for file in (f"{path}.py", f"{path}/__main__.py"))
    return any(file.exists() for file in files)


def test_the_front_page_and_the_page_of_the_rooms_name_every_room():
    inside = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Inside\n")[1]
    page = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "franq_guard").glob("*/__init__.py")}
    kept_addresses = {"demo", "evaluation", "release", "traces"}
    assert rooms - kept_addresses <= set(ROOM.findall(inside))
    assert rooms - kept_addresses <= set(ROOM.findall(page))


@pytest.mark.parametrize(
    ("page", "calibrator"),
    [
        ("how-it-decides", "any-writer-small-long"),
        ("thresholds", "any-writer-small-long"),
        ("thresholds", "any-writer-small-short"),
        ("thresholds", "smollm2-small-long"),
        ("thresholds", "smollm2-small-short"),
        ("captured", "smollm2-small-long"),
    ],
)
def test_the_shipped_thresholds_are_what_the_pages_say(page, calibrator):
    """The page has it to three places, without the zero before the point: .587."""
    shipped = ROOT / f"franq_guard/calibration/shipped/{calibrator}.json"
    threshold = json.loads(shipped.read_text(encoding="utf-8"))["labels"]["threshold"]
    shown = f"{threshold:.3f}".removeprefix("0")
    assert shown in (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def test_the_page_of_the_rooms_names_every_file_outside_of_a_room():
    page = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    for path in (ROOT / "franq_guard").glob("*.py"):
        assert path.stem == "__init__" or f"`{path.name}`" in page, path.name


def test_the_page_of_the_rooms_says_where_it_happens():
    page = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    table = page.split("\nWhere it happens:\n\n")[1].split("\n\n")[0]
    places = re.findall(r"\[(`[^]]+`)\]\(([^)]+)\)", table)
    assert len(places) > 20
    for names, file in places:
        code = (ROOT / "docs" / file).read_text(encoding="utf-8")
        for name in re.findall(r"[\w.]+", names):
            for part in name.split("."):
                assert re.search(rf"(?:def|class) {part}\b", code), f"{file} has no {name}"


def test_the_benchmarks_page_names_every_folder():
    folder = ROOT / "benchmarks"
    page = (folder / "README.md").read_text(encoding="utf-8")
    for place in (folder, folder / "franq_bench"):
        for path in place.iterdir():
            if (
                path.is_dir()
                and not path.name.startswith(("_", "."))
                and path != folder / "franq_bench"
            ):
                assert f"`{path.relative_to(folder)}/`" in page, path


def test_the_changelog_names_every_command():
    from franq_guard.cli.app import app

    line = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("**Command line**: ")[1]
    told = re.findall(r"`(?:franq )?([\w-]+)`", line.split("\n- ")[0])
    assert set(typer.main.get_command(app).commands) <= set(told)
