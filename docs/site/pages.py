"""Collects the pages of the site: those of ``docs/`` and the ones that stand beside their code.

    python docs/site/pages.py build/docs

Every page is written once, where its subject is, with links that work in the repository. The site
needs them in one folder, so this script copies them there and points the links at the copies. What
a page links to that is no page itself (code, settings) is copied, too, and shown as text.
"""

from __future__ import annotations

import re
import shutil
import sys
from os.path import relpath
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(__file__).resolve().parent

# Pages outside docs/, and their names in the site. A page that is linked to and stands in neither
# table is found by following the links; it keeps its path.
ELSEWHERE = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "integrations/langchain/README.md": "langchain.md",
    "integrations/llama_index/README.md": "llama-index.md",
    "benchmarks/README.md": "benchmark.md",
    "franq_guard/faithfulness/small/weights/MODEL_CARD.md": "model-card.md",
    "franq_guard/calibration/shipped/README.md": "shipped-calibrators.md",
}
CODE = re.compile(r"^(?:```.*?^```|<!--.*?-->)$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)\s]*)?\))")


def main(out: Path) -> None:
    """Write the folder ``pages`` and the settings into ``out``; what was there before goes."""
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    waiting = {path: name for path, name in _known().items() if (ROOT / path).exists()}
    written: dict[str, str] = {}
    while waiting:
        path, name = waiting.popitem()
        written[path] = name
        text, linked = page(path, name)
        _write(pages / name, text)
        waiting |= {p: n for p, n in linked.items() if p not in written and n.endswith(".md")}
        for file, copy in linked.items():
            if not copy.endswith(".md"):
                _write(pages / copy, (ROOT / file).read_text("utf-8"))
    shutil.copytree(SITE / "assets", pages / "assets")
    shutil.copy(SITE / "zensical.toml", out / "zensical.toml")


def page(path: str, name: str) -> tuple[str, dict[str, str]]:
    """The text of one page with its links changed for the site.

    Args:
        path: of the page in the repository, with slashes.
        name: of the page in the site.

    Returns:
        The text, and what it links to: paths in the repository and their names in the site.

    Raises:
        FileNotFoundError: where a link leads nowhere.
    """
    linked: dict[str, str] = {}

    def changed(link: re.Match[str]) -> str:
        target = link[2]
        if target.startswith(("http://", "https://")):
            return link[0]
        file = (ROOT / path).parent.joinpath(target).resolve().relative_to(ROOT).as_posix()
        if not (ROOT / file).is_file():
            raise FileNotFoundError(f"{path} links to {target}, which is no file")
        linked[file] = name_of(file)
        return f"{link[1]}{relpath(linked[file], PurePosixPath(name).parent)}{link[3]}"

    text = (ROOT / path).read_text("utf-8")
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(changed, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(changed, text[end:])]), linked


def name_of(file: str) -> str:
    """The name in the site of a file of the repository."""
    if file == "docs/README.md":
        return "index.md"
    if file.startswith("docs/"):
        return file.removeprefix("docs/")
    return ELSEWHERE.get(file) or (file if file.endswith(".md") else f"files/{file}.txt")


def _known() -> dict[str, str]:
    """The pages of docs/ and those of :data:`ELSEWHERE`, with their names in the site."""
    own = [f"docs/{file.name}" for file in sorted((ROOT / "docs").glob("*.md"))]
    return {path: name_of(path) for path in own} | ELSEWHERE


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
