"""Assigns every article, question and document of the data folder to one fold, for all builders.

60 % `training` of the small faithfulness model, 20 % `fitting` of calibrators, 10 % `thresholds`,
10 % `test`. Related rows always get the same fold: rows of all files that share an article, a
passage, a question or a checked claim form a connected component, and the hash of the component's
smallest key decides its fold. So the fold of a row changes only if new data joins its component to
another one.

Two rows are related if they share:

- the text of a premise, reference or gold passage, compared by its first 60 letters and digits,
  because the same paragraph occurs in several files with a different end or punctuation;
- the article's title, if the data contains it: Natural Questions' gold passages recur in NQ-open,
  RefChecker, CLAP-NQ and the search pool as other pieces of the same article, and CREAK's entities
  are titles. SQuAD's 48 articles and the answers' articles of PopQA are kept whole, too;
- the question, except in FaithBench, where all rows ask "Summarise the passage.";
- the claim, where several pieces of evidence are judged for it (Factcheck-GPT's claims, stances);
- the number of the pair in NQ-Swap, whose four variants change the premise, and its question;
- either sentence, in sets of sentence pairs where a sentence is the premise of one row and the
  hypothesis of another.

Climate-FEVER's titles are not used: each of its claims comes with sentences of five articles, which
would join nearly all of it, and 600 rows of other sets, into one component. Nothing is trained or
fitted on it (its licence is unclear); its sentences and claims do not cross folds, its articles
may.

A passage that is shown in addition to the gold one counts as a separate document: it has the fold
of its article but is not joined to the question, which would put a third of all questions in one
component. Code that shows further passages must take them from the question's own fold.

CLAP-NQ's answers, written by people from one passage, are the most like what users check. There are
only 208, too few for a guarantee if 60 % went to training. So no component that contains one of
them is in `training`; see `SHARES_OF_RESERVED`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from franq_bench.data.files import files
from franq_guard.datasets.jsonl import json_rows

Fold = Literal["training", "fitting", "thresholds", "test"]
Row = Mapping[str, Any]

#: Fold -> per cent of the components.
SHARES: Final[Mapping[Fold, int]] = {"training": 60, "fitting": 20, "thresholds": 10, "test": 10}
#: Sets whose components are never trained on.
RESERVED_SETS: Final = frozenset({"clapnq-dev"})
SHARES_OF_RESERVED: Final[Mapping[Fold, int]] = {"fitting": 25, "thresholds": 50, "test": 25}
#: Of 1,000 salts, the one whose folds come closest to `SHARES` in the sets with few documents. It
#: was chosen by the numbers of rows and components alone, not by any result.
_SALT: Final = "256"
_LETTERS: Final = 60
_PLAIN: Final = re.compile(r"[^a-z0-9]+")
#: Sets of (claim, evidence) with several rows for one claim.
_CLAIM_SETS: Final = frozenset({"fm2", "climate-fever", "covidfact", "factcheck-gpt-stance"})
#: Sets whose premises begin with the page's title and a colon.
_TITLED_SETS: Final = frozenset({"fm2"})
#: Sets of sentence pairs in which a hypothesis is another row's premise.
_PAIR_SETS: Final = frozenset(
    {"med", "help-and-auto", "sick-corrected", "breaking-nli", "cad-nli"}
    | {"conjnli", "conjnli-adversarial-auto"}
)
_ONE_QUESTION: Final = frozenset({"faithbench"})


class Folds:
    """The folds of a data folder's rows and passages.

    Args:
        rows: every row of the folder; their order does not matter.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        components = _Components()
        reserved: set[str] = set()
        for row in rows:
            found = keys(row)
            components.join(found)
            for passage in row.get("passages") or ():
                components.join(_passage_keys(passage.get("title", ""), passage["text"]))
            if row.get("dataset") in RESERVED_SETS:
                reserved |= found
        tops = dict(components.smallest())
        held = {tops[key] for key in reserved}
        self._fold = {
            key: _draw(top, SHARES_OF_RESERVED if top in held else SHARES)
            for key, top in tops.items()
        }

    @classmethod
    def read(cls, folder: Path) -> Folds:
        """The folds of every `.jsonl` and `.jsonl.gz` file in ``folder``.

        Raises:
            ValueError: naming the file and row that fits no schema of the data.
        """
        place = ""

        def rows() -> Iterator[Row]:
            nonlocal place
            for path in files([folder]):
                for number, row in enumerate(json_rows(path), start=1):
                    place = f"{path}, row {number}"
                    yield row

        try:
            return cls(rows())
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(
                f"{place}: fits no schema of the data (benchmarks/README.md): {error}"
            ) from error

    def of(self, row: Row) -> Fold:
        """The fold of a row, of a passage, or of a row made from questions and gold passages.

        Raises:
            ValueError: if parts of the row are in different folds.
        """
        found = keys(row)
        known = {self._fold[key] for key in found if key in self._fold}
        if len(known) > 1:
            raise ValueError(f"parts of several folds: {', '.join(sorted(known))}")
        return known.pop() if known else _draw(min(found), SHARES)


def keys(row: Row) -> frozenset[str]:
    """What relates a row to others: texts, articles, questions and claims; never empty."""
    dataset = row.get("dataset", "")
    found = set(_passage_keys(row["title"], row["text"])) if "text" in row else set()
    if "premise" in row:
        found |= _pair_keys(dataset, row)
    if row.get("question") and dataset not in _ONE_QUESTION:
        found.add(_key("question", row["question"]))
    if row.get("reference"):
        found.add(text_key(row["reference"]))
    if row.get("label_kind") == "factuality":
        found.add(_key("claim", row["claim"]))
    for name in ("article", "entity", "subject"):
        if row.get(name):
            found.add(_key("article", row[name]))
    for passage in row.get("passages") or ():
        if passage.get("is_gold", True):
            found |= _passage_keys(passage.get("title", ""), passage["text"])
    kept = frozenset(key for key in found if not key.endswith(":"))
    return kept or frozenset({f"row:{row['id']}"})


def _pair_keys(dataset: str, row: Row) -> set[str]:
    found = {text_key(row["premise"])}
    if dataset in _CLAIM_SETS:
        found.add(_key("claim", row["hypothesis"]))
    if dataset in _PAIR_SETS:
        found.add(text_key(row["hypothesis"]))
    if dataset in _TITLED_SETS:
        found.add(_key("article", row["premise"].partition(": ")[0]))
    if dataset == "nq-swap":
        found.add(f"pair:{row['id'].rpartition('-')[0]}")
        found.add(_key("question", row["hypothesis"].partition("? ")[0]))
    return found


def _passage_keys(title: str, text: str) -> frozenset[str]:
    return frozenset({_key("article", title), text_key(text)} - {"article:", "text:"})


def text_key(text: str) -> str:
    """The key of a text: its first 60 letters and digits."""
    start = _key("text", text[: 4 * _LETTERS])  # a long document need not be read to its end
    size = len("text:") + _LETTERS
    return (start if len(start) >= size else _key("text", text))[:size]


def _key(kind: str, text: str) -> str:
    return f"{kind}:{_PLAIN.sub('', text.lower())}"


def _draw(key: str, shares: Mapping[Fold, int]) -> Fold:
    number = int(hashlib.sha256(f"{_SALT}/{key}".encode()).hexdigest()[:8], 16) % 100
    for fold, share in shares.items():
        if number < share:
            return fold
        number -= share
    raise AssertionError("the shares make 100")


class _Components:
    """Connected components of keys (union-find)."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def join(self, found: Iterable[str]) -> None:
        tops = {self._top(key) for key in found}
        for top in tops:
            self._above[top] = min(tops)  # the smallest key is the root, so it names the component

    def smallest(self) -> Iterator[tuple[str, str]]:
        """Every key with the smallest key of its component."""
        return ((key, self._top(key)) for key in self._above)

    def _top(self, key: str) -> str:
        above = self._above.setdefault(key, key)
        while above != self._above[above]:
            above = self._above[key] = self._above[above]
        return above
