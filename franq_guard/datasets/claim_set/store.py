"""Stores a claim set in a folder; every row is on disk before the next one is begun.

set/
  set.json        how it was built: settings, models, versions
  answers.jsonl   franq.trace/1, each with an id and its claims
  labels.jsonl    judgements of claims, appended; the last of a source about a claim counts
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from franq_guard.basics.files import write_whole
from franq_guard.datasets.claim_set.records import CHOSEN, ClaimJudgement
from franq_guard.datasets.jsonl import append_row, whole_rows
from franq_guard.records import ClaimLabel, Trace
from franq_guard.rows import RowError, read_traces
from franq_guard.rows.written import trace_to_dict

SCHEMA = "franq.claim-set/1"
FILES = ("set.json", "answers.jsonl", "labels.jsonl", "replies.jsonl", "signals.jsonl")
"""The files of a set; the last two keep what a model wrote and what was measured."""


class ClaimSet:
    """Answers with claims, and the judgements of gold answers, edits, judges and people.

    If the program was killed while writing, the incomplete line is skipped when the set is read,
    and the next row starts on a new line. Only one process may write answers at a time; several may
    append judgements.

    Raises:
        ValueError: if ``folder`` is not a claim set; :meth:`create` makes one.
        OSError: if it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            described = json.loads((folder / "set.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(
                f"{folder} is not a claim set (it has no set.json): make one with "
                "`franq dataset build`"
            ) from None
        except ValueError:  # no JSON
            described = None
        if not isinstance(described, dict) or described.get("schema") != SCHEMA:
            raise ValueError(f"{folder / 'set.json'} does not describe a claim set ({SCHEMA})")
        self.settings: dict[str, Any] = described["settings"]

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, Any]) -> ClaimSet:
        """Open the set in ``folder``, or create it if there is none; existing rows are kept.

        Of a set that another version built, with settings of its own, only what is in both is
        compared.

        Raises:
            ValueError: if ``folder`` has a set that was built with other settings.
        """
        if (folder / "set.json").exists():
            there = cls(folder)
            both = there.settings.keys() & settings.keys()
            other = sorted(key for key in both if there.settings[key] != settings[key])
            if other:
                raise ValueError(
                    f"{folder} was built with other settings ({', '.join(other)}): repeat them to "
                    "go on, or choose another folder"
                )
            return there
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema": SCHEMA, "settings": dict(settings)}, indent=2)
        write_whole(folder / "set.json", text + "\n")
        return cls(folder)

    def add_answer(self, trace: Trace) -> None:
        """Store an answer.

        Raises:
            ValueError: if it has no id or no claims.
        """
        if not trace.id or trace.claims is None:
            raise ValueError("an answer of a claim set needs an id and its claims")
        append_row(self.folder / "answers.jsonl", trace_to_dict(trace))

    def add(self, judgement: ClaimJudgement) -> None:
        """Store a judgement; it replaces an earlier one by the same source about the claim."""
        append_row(self.folder / "labels.jsonl", judgement.to_dict())

    def answers(self) -> list[Trace]:
        """All answers in the order they were stored; of several with one id, the first."""
        found: dict[str, Trace] = {}
        for trace in read_traces(_lines(self.folder / "answers.jsonl")):
            if not isinstance(trace, RowError) and trace.id and trace.claims is not None:
                found.setdefault(trace.id, trace)
        return list(found.values())

    def judgements(self) -> list[ClaimJudgement]:
        """The last judgement of every source about every claim, errors included.

        A vote that was withdrawn (neither label nor error) is left out.
        """
        found: dict[tuple[str, int, str], ClaimJudgement] = {}
        for row in whole_rows(self.folder / "labels.jsonl"):
            try:
                said = ClaimJudgement.from_dict(row)
            except ValueError:
                continue  # written by another version
            found[said.answer, said.claim, said.source] = said
        return [said for said in found.values() if said.error or not said.empty]

    def labelled(self, sources: Sequence[str] = ("person", "gold", "edit", "judge")) -> list[Trace]:
        """The answers; each claim has the label of the first of ``sources`` that gives one.

        What that source calls unverifiable is not known, whatever the others say. Of a statement
        made from documents (an answer with a label by ``edit``) only such labels count: the model
        did not write it, whoever else judged it.

        A promise may only be based on trusted labels. These are people's labels of claims that were
        drawn at random, or of all claims of the model's answers: then none was selected. If no
        person has voted, labels of gold answers and judges are trusted, too; those of edits made on
        purpose never are.

        Args:
            sources: kinds (``person``) or whole sources (``judge:NAME``), the most trusted first.
                Of several of one kind the majority counts; a tie counts as unknown.
        """
        voices: dict[tuple[str, int], list[ClaimJudgement]] = {}
        for said in self.judgements():
            voices.setdefault((said.answer, said.claim), []).append(said)
        answers = self.answers()
        made = {key[0] for key, heard in voices.items() if any(v.kind == "edit" for v in heard)}
        voices = {
            key: [v for v in heard if key[0] not in made or v.kind == "edit"]
            for key, heard in voices.items()
        }
        voted = {key for key, heard in voices.items() if any(v.kind == "person" for v in heard)}
        trusted = ("person",) if voted else ("gold", "judge")
        asked = {(trace.id or "", i) for trace, i in claims_in(answers) if trace.id not in made}
        rule = _Rule(sources, trusted, complete=bool(asked) and asked <= voted)
        return [_with_labels(trace, voices, rule) for trace in answers]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Whose labels count, whose can be trusted, and whether people voted on every claim."""

    sources: Sequence[str]
    trusted: Sequence[str]
    complete: bool


def claims_in(answers: Iterable[Trace]) -> Iterator[tuple[Trace, int]]:
    """Each claim of the answers as its answer and its index there; without what is no claim."""
    for trace in answers:
        for i, claim in enumerate(trace.claims or ()):
            if claim.not_a_claim is None:
                yield trace, i


def _with_labels(
    trace: Trace, voices: Mapping[tuple[str, int], Sequence[ClaimJudgement]], rule: _Rule
) -> Trace:
    said = [voices.get((trace.id or "", i), ()) for i in range(len(trace.claims or ()))]
    return replace(trace, labels=tuple(_label(heard, rule) for heard in said))


def _label(heard: Sequence[ClaimJudgement], rule: _Rule) -> ClaimLabel:
    chosen = any(said.kind == "person" and said.version == CHOSEN for said in heard)
    is_true, source = _first(rule.sources, [(v, v.is_true) for v in heard if v.factuality])
    is_faithful, _ = _first(rule.sources, [(v, v.is_faithful) for v in heard if v.faithfulness])
    trusted = source.partition(":")[0] in rule.trusted and (rule.complete or not chosen)
    return ClaimLabel(is_true, is_faithful, trusted=trusted, source=source or None)


def _first(
    sources: Sequence[str], voices: Sequence[tuple[ClaimJudgement, bool | None]]
) -> tuple[bool | None, str]:
    """What most voices of the first source with any say, and that source; (None, "") if unknown."""
    for source in sources:
        votes = Counter(value for v, value in voices if source in (v.kind, v.source))
        if votes:
            (value, most), *others = votes.most_common(2)
            tie = bool(others) and others[0][1] == most
            return (None, "") if tie or value is None else (value, source)
    return None, ""


def _lines(path: Path) -> Iterator[str]:
    if path.exists():
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from (line for line in file if line.strip())
