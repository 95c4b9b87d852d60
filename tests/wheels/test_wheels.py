"""The five distributions as users get them; `make test-wheels` builds and installs them first."""

import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import franq_guard

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[2]
DIST, BIN = ROOT / "dist", ROOT / ".venv-wheels" / "bin"
NAMES = ("franq_bench", "franq_guard", "franq_larger", "langchain_franq", "llama_index_franq")
ROW = {
    "question": "When did the bridge open?",
    "passages": ["The Kolmar bridge opened on 4 May 1937."],
    "answer": "The Kolmar bridge opened on 4 May 1937.",
}
MEGABYTES = 20
"""No wheel may be larger; the weights of the small model are 11 of them."""


def wheel(name):
    return DIST / f"{name}-{franq_guard.__version__}-py3-none-any.whl"


def described(name):
    with zipfile.ZipFile(wheel(name)) as archive:
        path = f"{name}-{franq_guard.__version__}.dist-info/METADATA"
        return Parser().parsestr(archive.read(path).decode("utf-8"))


def test_each_distribution_is_a_wheel_and_an_sdist_of_one_version():
    version = franq_guard.__version__
    expected = {
        f"{name}-{version}{end}" for name in NAMES for end in (".tar.gz", "-py3-none-any.whl")
    }
    assert {path.name for path in DIST.iterdir()} == expected
    for name in NAMES:
        print(f"{name}: {wheel(name).stat().st_size / 1e6:.1f} MB")
        assert wheel(name).stat().st_size < MEGABYTES * 1e6


@pytest.mark.parametrize("name", NAMES)
def test_the_metadata_are_complete(name):
    about = described(name)
    shipped_weights = name in ("franq_guard", "franq_larger")
    assert about["License-Expression"] == (
        "Apache-2.0 AND CC-BY-SA-4.0" if shipped_weights else "Apache-2.0"
    )
    assert about["Summary"]
    assert about["Keywords"]
    assert about["Author"] == "The franq_guard authors"
    assert about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in about.get_all("Classifier")
    pythons = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)}
    assert pythons <= set(about.get_all("Classifier"))
    with zipfile.ZipFile(wheel(name)) as archive:
        files = archive.namelist()
    assert f"{name}/py.typed" in files
    assert any(file.endswith("licenses/LICENSE") for file in files)
    assert not [file for file in files if not file.startswith((f"{name}/", f"{name}-"))]


def test_the_weights_and_their_licence_are_in_the_wheel():
    with zipfile.ZipFile(wheel("franq_guard")) as archive:
        names = {Path(file).name for file in archive.namelist() if "/small/weights/" in file}
    assert {"small.safetensors", "small.json", "MODEL_CARD.md", "LICENSE.md"} <= names


def test_the_larger_models_files_are_in_its_wheel():
    with zipfile.ZipFile(wheel("franq_larger")) as archive:
        names = {Path(file).name for file in archive.namelist()}
    calibrators = {f"any-writer-{form}.json" for form in ("long", "short")}
    assert {"adapter.safetensors", "blend.json", "LICENSE.md", *calibrators} <= names


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_can_be_built_from_the_sdist_alone(name, tmp_path):
    with tarfile.open(DIST / f"{name}-{franq_guard.__version__}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    command = [ROOT / ".venv" / "bin" / "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with zipfile.ZipFile(wheel(name)) as one, zipfile.ZipFile(tmp_path / wheel(name).name) as two:
        assert sorted(one.namelist()) == sorted(two.namelist())


@pytest.fixture
def run(tmp_path):
    """A program of the wheels' environment, away from the repository and from our variables."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def program(name, *words):
        done = subprocess.run(
            [BIN / name, *map(str, words)], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return program


def test_both_frameworks_are_guarded_and_no_file_of_the_repository_is_opened(run, tmp_path):
    for file in (
        Path(__file__).with_name("smoke.py"),
        ROOT / "examples" / "langchain_lcel.py",
        ROOT / "examples" / "llama_index_query_engine.py",
    ):
        shutil.copy(file, tmp_path)
    run("python", "-I", tmp_path / "smoke.py", ROOT)


def test_the_demo_runs(run):
    lines = run("franq", "demo", "--questions", "1", "--json").splitlines()
    assert [json.loads(line)["schema"] for line in lines] == ["franq.answer/1"]


def test_rows_are_checked(run, tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    for model in ("small", "larger"):
        said = run("franq", "check", "rows.jsonl", "--json", "--faithfulness", model)
        (row,) = map(json.loads, said.splitlines())
        assert [v["label"] for v in row["verdicts"]] == ["supported"]
