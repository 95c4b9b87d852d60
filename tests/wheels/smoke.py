"""Runs inside the environment that has nothing but the wheels: python -I smoke.py REPOSITORY.

Two examples lie beside this file. Opening any file of the repository ends the program.
"""

import os
import runpy
import sys
from importlib import import_module, metadata
from pathlib import Path

REPOSITORY, HERE = Path(sys.argv[1]), Path(__file__).parent
OWN = {
    "franq-guard": "franq_guard",
    "langchain-franq": "langchain_franq",
    "llama-index-franq": "llama_index_franq",
    "franq-bench": "franq_bench",
    "franq-larger": "franq_larger",
}


def watch(event: str, arguments: tuple) -> None:
    """Refuse to open what lies in the repository, but for this very environment."""
    if event != "open" or not isinstance(arguments[0], str | os.PathLike):
        return
    path = Path(os.fsdecode(arguments[0])).absolute()
    if path.is_relative_to(REPOSITORY) and not path.is_relative_to(sys.prefix):
        sys.stderr.write(f"a file of the repository was opened: {path}\n")
        os._exit(3)


def installed_as_wheels() -> None:
    versions = {metadata.version(distribution) for distribution in OWN}
    assert len(versions) == 1, versions
    for distribution, package in OWN.items():
        # pip writes down where a distribution came from; an editable one is a folder.
        origin = metadata.distribution(distribution).read_text("direct_url.json") or ""
        assert '"dir_info"' not in origin, origin
        assert Path(import_module(package).__file__).is_relative_to(sys.prefix)
        assert (Path(import_module(package).__file__).parent / "py.typed").exists(), package


def main() -> None:
    sys.addaudithook(watch)
    installed_as_wheels()
    from franq_guard import Guard

    guard = Guard.offline()
    chain = runpy.run_path(str(HERE / "langchain_lcel.py"))
    engine = runpy.run_path(str(HERE / "llama_index_query_engine.py"))
    assert chain["main"](guard)
    assert engine["main"](guard).metadata["franq"]["verdicts"]


if __name__ == "__main__":
    main()
