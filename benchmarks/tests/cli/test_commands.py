"""What the distribution offers to the command ``franq``."""

import gzip
from importlib.metadata import EntryPoint
from pathlib import Path
from tomllib import loads

import pytest
from typer.testing import CliRunner

from franq_bench.cli.bench import bench
from franq_bench.cli.compare import compare
from franq_guard.cli.app import make_app
from franq_guard.cli.plugins import GROUP, KNOWN

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize("name", ["bench", "compare"])
def test_the_commands_are_found_where_the_project_says(name):
    offered = loads(PYPROJECT.read_text())["project"]["entry-points"][GROUP]
    app = make_app([EntryPoint(*entry, GROUP) for entry in offered.items()])
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert KNOWN[name].help in " ".join(result.stdout.split())


def test_the_help_of_the_program_has_their_words():
    assert bench.info.help == KNOWN["bench"].help
    assert compare.__doc__ == KNOWN["compare"].help


def test_verdicts_says_which_data_files_are_missing(tmp_path):
    (tmp_path / "wiki_passages.jsonl.gz").touch()
    result = CliRunner().invoke(bench, ["verdicts", "--data", str(tmp_path)])
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "rag_qa_long_clapnq.jsonl.gz, claims_refchecker_nq.jsonl.gz" in said
    assert "wiki_passages" not in said


def test_verdicts_of_a_fold_without_answers_says_so(tmp_path):
    for name in ("rag_qa_long_clapnq", "claims_refchecker_nq", "wiki_passages"):
        rows = '{"id": "w1", "title": "Owl", "text": "Owls eat voles."}\n'
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(rows if name == "wiki_passages" else "")
    result = CliRunner().invoke(bench, ["verdicts", "--data", str(tmp_path)])
    assert result.exit_code == 2
    assert "has no answers in the fold test" in " ".join(result.stderr.split())
