"""The fenced blocks of the pages, in their order; what every test of a page's code starts from."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = "<!-- A model wrote this: its words may differ from machine to machine. -->\n"


@dataclass(frozen=True)
class Block:
    """One fenced block; ``varies``: a model wrote it, so that its words are not compared."""

    page: str
    language: str
    text: str
    before: "Block | None"
    varies: bool = False

    def __str__(self):
        return f"{self.page}-{self.language}-{self.text.split()[0][:20]}"


def blocks(path):
    """The blocks of one page, a path from the repository's root."""
    found, before = [], None
    text = (ROOT / path).read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        varies = text[: match.start()].endswith(VARIES)
        before = Block(Path(path).stem, match[1], match[2], before, varies)
        found.append(before)
    return found


def commands(text):
    """The commands of a block, each with its words; a quoted text may go over lines."""
    lines, held = [], ""
    for line in text.splitlines():
        held += line if line.endswith("\\") else line + "\n"
        held = held.removesuffix("\\")
        if held.count("'") % 2 == 0 and not line.endswith("\\"):
            lines.append(held.strip())
            held = ""
    assert not held, "a quote is not closed"
    return [line for line in lines if line and not line.startswith("#")]
