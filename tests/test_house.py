"""Rules of the house that a program can check: sizes, and that the tests mirror the rooms."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "franq_guard"
PACKAGES = [
    PACKAGE,
    ROOT / "benchmarks" / "franq_bench",
    *sorted(ROOT.glob("integrations/*/*_franq")),
]
FILES = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def sources():
    return {path: path.read_text(encoding="utf-8") for path in FILES}


def test_all_packages_are_found():
    assert [name(package) for package in PACKAGES] == [
        "franq_guard",
        "benchmarks/franq_bench",
        "integrations/langchain/langchain_franq",
        "integrations/llama_index/llama_index_franq",
    ]


def test_no_file_is_over_400_lines(sources):
    lines = {name(path): text.count("\n") for path, text in sources.items()}
    assert {file: n for file, n in lines.items() if n > 400} == {}


def test_no_function_is_over_60_lines(sources):
    """From its ``def`` to its last line; a nested function counts for the one around it, too."""
    long = {
        f"{name(path)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path, text in sources.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > 60
    }
    assert long == {}


def test_the_root_of_the_package_holds_what_a_user_imports():
    assert len([path for path in PACKAGE.iterdir() if path.is_file()]) <= 8


def rooms(folder):
    return {path.name for path in folder.iterdir() if path.is_dir() and any(path.glob("*.py"))}


def test_the_tests_mirror_the_rooms():
    """Each folder of tests is a room.

    Those taken out need environments of their own; ``docs`` holds the tests of the pages.
    """
    others = {"docs", "llama_cpp", "litellm", "ray_data", "versions", "wheels"}
    assert rooms(ROOT / "tests") - others <= rooms(PACKAGE)
    bench = ROOT / "benchmarks"
    assert rooms(bench / "tests") <= rooms(bench / "franq_bench")
