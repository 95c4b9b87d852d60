"""Passages and claims of the project's own writing, for training: paraphrases and small changes.

The other sets have few claims that say a passage's content in other words, and few that differ from
it in a single point. `written/*.txt` is written for these two. A block is one case:

    # register | topic
    P: a passage on one line (several `P:` lines: several passages shown together)
    + a claim that the passages entail
    - a claim that they contradict
    0 a claim that they neither state nor contradict

The contradicted claims of a block share more words with the passage than the entailed ones, on
purpose. So that no model learns to distrust shared words, some sentences of the passage are added
as they stand, as entailed claims.
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
from franq_guard.faithfulness.small.chunks import sentences

FOLDER: Final = Path(str(files("franq_bench.data"))) / "written"
_BLANK: Final = re.compile(r"\n\s*\n")
_LABELS: Final = {"+": 0, "0": 1, "-": 2}
#: Per cent of the blocks of a file in `training`; the others are in `fitting`.
_TRAINING: Final = 88
_TEST: Final = "-test"
#: Sentences of a block's passages that are added as entailed claims (not in the test fold).
_COPIED: Final = 3


def written(fold: Fold, folder: Path = FOLDER) -> list[Example]:
    """Return the pairs of the blocks in `fold`; data set: "written-" and the file's name.

    Files whose name ends in "-test" are the test fold. The fold of another file's block follows
    from the hash of its passages, so that no passage is in two folds.

    Raises:
        ValueError: a block cannot be read; the message names file and block.
    """
    found = []
    for path in sorted(folder.glob("*.txt")):
        dataset = f"written-{path.stem.removesuffix(_TEST)}"
        for passage, claims in _blocks(path):
            if _fold(path, passage) == fold:
                copied = [] if fold == "test" else _sentences(passage)
                found += [
                    Example(dataset, passage, claim, label)
                    for label, claim in (*claims, *((0, sentence) for sentence in copied))
                ]
    return found


def _sentences(passage: str) -> list[str]:
    """Some statements of the passage, word for word: those with the smallest hashes."""
    spans = [span for text in passage.split("\n") for span in _statements(text)]
    return sorted(spans, key=_digest)[:_COPIED]


def _statements(text: str) -> Iterator[str]:
    for start, end in sentences(text):
        if len(text[start:end].split()) >= 5 and not text[start:end].endswith("?"):
            yield text[start:end]


def _blocks(path: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    for block in filter(str.strip, _BLANK.split(path.read_text(encoding="utf-8"))):
        head, *lines = block.strip().split("\n")
        passages = [line[2:].strip() for line in lines if line.startswith("P:")]
        claims = [line for line in lines if not line.startswith("P:")]
        if not (head.startswith("# ") and passages and claims) or any(
            claim[:1] not in _LABELS or claim[1:2] != " " for claim in claims
        ):
            raise ValueError(
                f"{path.name}: a block must be a line `# ...`, then `P: ...`, then lines that "
                f"begin with `+ `, `- ` or `0 `. Look at: {head[:60]}"
            )
        yield "\n".join(passages), [(_LABELS[c[0]], c[2:].strip()) for c in claims]


def _fold(path: Path, passage: str) -> Fold:
    if path.stem.endswith(_TEST):
        return "test"
    return "training" if _digest(passage) % 100 < _TRAINING else "fitting"


def _digest(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
