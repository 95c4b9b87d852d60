"""Passages and claims of the project's own writing, for training: paraphrases and small changes.

The other sets have few claims that say a passage's content in other words, and few that differ from
it in a single point. `written/*.txt` is written for these two; in `answers-*.txt` the claims are
such as assistants write, and wrong ones share neither more nor fewer words with the passages. A
block is one case:

    # register | topic
    P: a passage on one line, with ⏎ for its line breaks (several `P:` lines: shown together)
    + a claim that the passages entail; the marks around `code` are not read
    - a claim that they contradict
    0 a claim that they neither state nor contradict
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

from franq_bench.data.folds import Fold
from franq_bench.data.pairs import Example

WRITTEN: Final = "written-"
ANSWERS: Final = "answers-"
FOLDER: Final = Path(str(files("franq_bench.data"))) / "written"
_BLANK: Final = re.compile(r"\n\s*\n")
_LABELS: Final = {"+": 0, "0": 1, "-": 2}
#: Per cent of the blocks of a file in `training`; the others are in `fitting`.
_TRAINING: Final = 88
_TEST: Final = "-test"


def written(fold: Fold, folder: Path = FOLDER) -> list[Example]:
    """Return the pairs of the blocks in `fold`; data set: the file's name, after "written-".

    The data set of "answers-NAME.txt" is "answers-NAME".

    Files whose name ends in "-test" are the test fold. The fold of another file's block follows
    from the hash of its passages, so that no passage is in two folds.

    Raises:
        ValueError: a block cannot be read; the message names file and block.
    """
    return [
        Example(_dataset(path), passage, claim, label)
        for path in sorted(folder.glob("*.txt"))
        for passage, claims in _blocks(path)
        if _fold(path, passage) == fold
        for label, claim in claims
    ]


def _dataset(path: Path) -> str:
    name = path.stem.removesuffix(_TEST)
    return name if name.startswith(ANSWERS) else WRITTEN + name


def _blocks(path: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    for block in filter(str.strip, _BLANK.split(path.read_text(encoding="utf-8"))):
        head, *lines = block.strip().split("\n")
        passages = [line[2:].strip().replace("⏎", "\n") for line in lines if line.startswith("P:")]
        claims = [line for line in lines if not line.startswith("P:")]
        if not (head.startswith("# ") and passages and claims) or any(
            claim[:1] not in _LABELS or claim[1:2] != " " for claim in claims
        ):
            raise ValueError(
                f"{path.name}: a block must be a line `# ...`, then `P: ...`, then lines that "
                f"begin with `+ `, `- ` or `0 `. Look at: {head[:60]}"
            )
        # The guard's claims have no marks either.
        yield "\n".join(passages), [(_LABELS[c[0]], c[2:].strip().replace("`", "")) for c in claims]


def _fold(path: Path, passage: str) -> Fold:
    if path.stem.endswith(_TEST):
        return "test"
    place = int(hashlib.sha256(passage.encode()).hexdigest()[:8], 16) % 100
    return "training" if place < _TRAINING else "fitting"
