"""The pages are true: their blocks run in order, as a reader types them, and print what is shown.

Python is executed, with the names of ``given.py`` where a page speaks of the reader's own chain.
``franq check`` is run; of other commands the options, extras and targets must exist. Numbers that
models print may differ a little between processors, and what a model wrote is not compared.
"""

import re
import shlex
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from .blocks import ROOT, blocks, commands
from .given import files_of, names_of, pages, stand_ins

LANGUAGES = {"", "bash", "json", "python", "text"}
NUMBER = re.compile(r"-?\d+\.\d+")
TOLERANCE = 0.03
WITH_CODE = [page for page in pages() if blocks(page)]


@pytest.mark.parametrize("page", pages())
def test_every_block_is_of_a_known_language(page):
    found = blocks(page)
    assert {block.language for block in found} <= LANGUAGES
    assert (ROOT / page).read_text("utf-8").count("\n```") == 2 * len(found)


@pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
@pytest.mark.parametrize("page", WITH_CODE)
def test_blocks_run_and_print_what_is_shown(page, shared_models, monkeypatch, tmp_path):
    if page == "docs/models.md":
        stand_ins(monkeypatch)
    monkeypatch.chdir(tmp_path)
    files_of(page, tmp_path)
    names, said = names_of(page), ""
    for block in blocks(page):
        if block.language == "python":
            said = output(lambda code=block.text: exec(compile(code, page, "exec"), names))
        elif block.language == "bash":
            said = [run(command) for command in commands(block.text)][-1]
        elif block.language == "json":
            (tmp_path / FILES[page]).write_text(block.text, encoding="utf-8")
            said = ""
        elif block.language == "text" and block.varies:
            assert said.strip(), block
        elif block.language == "text":
            assert_alike(block.text, said)


FILES = {"docs/given-answers.md": "rows.jsonl", "docs/calibrate.md": "labelled.jsonl"}


def output(call):
    """What a call prints, standard error first."""
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        call()
    return out.getvalue()


def assert_alike(shown, said):
    """The same words; numbers with a decimal point within :data:`TOLERANCE`."""
    assert NUMBER.sub("#", shown).strip() == NUMBER.sub("#", said).strip()
    found = [[float(number) for number in NUMBER.findall(text)] for text in (shown, said)]
    assert found[0] == pytest.approx(found[1], abs=TOLERANCE)


def run(command):
    """Run a command, or look whether what it names exists; what the last lines of it say."""
    words = shlex.split(command, comments=True)
    words[0] = words[0].removeprefix(".venv/bin/")
    assert words[0] in RUN, f"no test knows the command {words[0]}"
    return RUN[words[0]](words) or ""


def franq(words):
    """``franq check`` is run; of the others the options are known."""
    import typer

    from franq_guard.cli.app import app

    options = words[1 : words.index(">")] if ">" in words else words[1:]
    known, rest = typer.main.get_command(app), options
    while hasattr(known, "commands"):
        name, *rest = rest
        known = known.commands[name]
    known.make_context(name, list(rest)).close()
    if name != "check":
        return ""
    from typer.testing import CliRunner

    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    return done.stderr.splitlines()[-1]


def make(words):
    """The targets are in the Makefile."""
    text = (ROOT / "Makefile").read_text("utf-8")
    for target in words[1:]:
        assert "=" in target or re.search(rf"^{target}:", text, re.MULTILINE), target


OURS = {
    "franq-guard": ".",
    "franq-bench": "benchmarks",
    "langchain-franq": "integrations/langchain",
    "llama-index-franq": "integrations/llama_index",
}


def pip(words):
    """Not run. The folders and their extras exist, and pinned versions are the Makefile's."""
    for word in words[2:]:
        name, _, extras = word.removesuffix("]").partition("[")
        folder = OURS.get(name, name)
        if extras:
            assert set(extras.split(",")) <= set(extras_of(folder)), word
        elif "==" in word:
            assert word in (ROOT / "Makefile").read_text("utf-8")
        else:
            assert word.startswith("-") or (ROOT / folder).exists(), word


def extras_of(folder):
    """The extras of the distribution in a folder, from the repository's root."""
    text = ROOT.joinpath(folder, "pyproject.toml").read_text("utf-8")
    return tomllib.loads(text)["project"]["optional-dependencies"]


def test_the_table_of_extras_has_all_that_users_may_want():
    table = (ROOT / "docs/start.md").read_text("utf-8").split("| `franq-guard[...]` |")[1]
    rows = [row.split("|")[1] for row in table.split("\n\n")[0].splitlines()[2:]]
    told = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == sorted(set(extras_of(".")) - {"dev", "docs"})


INSTALL = re.compile(r"pip\s+install ([^`\n]*(?:\n[^`\n]+)?)`")


@pytest.mark.parametrize("page", pages())
def test_packages_in_the_text_can_be_installed(page):
    """Outside of blocks: our own names and extras exist."""
    for words in INSTALL.findall((ROOT / page).read_text("utf-8")):
        for name, extras in re.findall(r"([\w./-]+)\[([\w,]+)\]", words):
            assert set(extras.split(",")) <= set(extras_of(OURS.get(name, name))), words


def python(words):
    """Not run: a virtual environment, or a script that another test runs."""
    script = next((word for word in words if word.endswith(".py")), None)
    assert words[1:3] == ["-m", "venv"] or (ROOT / script).exists()


RUN = {"franq": franq, "make": make, "pip": pip, "python3.11": python, "python": python}
