"""Compares two versions of the claim rules by claims of the same sentences that people have read.

1. With each version of ``franq_guard`` on the path (``PYTHONPATH``), write what it cuts:
   ``python -m franq_bench.quality.two_versions cut ANSWERS.jsonl --out OLD.jsonl``
2. Draw sentences, and mix their claims so that the reader does not see whose they are:
   ``... draw OLD.jsonl NEW.jsonl --out DIR`` writes ``read.jsonl`` (texts) and ``key.jsonl``.
3. The reader writes ``labels.jsonl``, per claim ``{"id": 0, "verdict": "fine"}``; or "wrong", if it
   says something that its sentence does not, or "ungrammatical", with what happened as ``kind``.
4. ``... rates DIR`` prints the shares. It needs the key and the labels only, which hold no text.
   Those of 2026-11-22 are in ``benchmarks/results/claims-by-reading``, a folder each.

Run the first step outside of a checkout: Python looks for packages in the current folder first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from franq_bench.quality.answers import answers_of
from franq_guard.calibration.promise import upper_bound
from franq_guard.claims import RuleSplitter
from franq_guard.datasets.jsonl import json_rows, write_rows

VERDICTS: Final = ("fine", "wrong", "ungrammatical")
DELTA: Final = 0.1
"""The bounds hold with probability 0.9."""
_RESAMPLES: Final = 4000

Cuts = dict[str, tuple[str, ...]]
"""The claims of each sentence."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What was found of one version; a ``bound`` is an exact upper 90 % bound of its share.

    ``claims``: read claims of sentences that at least one version cuts; ``bad``: wrong or
    ungrammatical ones. ``of_all``: the same share of the claims of all sentences, where a sentence
    that no version cuts is one claim without an error. ``sentences`` and ``bad_sentences``: read
    sentences, and those with at least one bad claim. Sentences were drawn independently, claims
    were not: ``sentences_bound`` is exact, the bounds of claims take them as independent.
    """

    version: str
    claims: int
    wrong: int
    ungrammatical: int
    bad: float
    bad_bound: float
    of_all: float
    of_all_bound: float
    sentences: int
    bad_sentences: int
    sentences_bound: float
    claims_a_sentence: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Share of bad claims, second version less the first, with a 90 % interval.

    The interval is a bootstrap's over sentences. ``only_first`` and ``only_second``: sentences
    with bad claims of one version alone.
    """

    difference: float
    low: float
    high: float
    only_first: int
    only_second: int


def cuts(path: Path) -> Iterator[dict[str, Any]]:
    """Each different sentence of the answers at ``path`` that states something, with its claims."""
    splitter, seen = RuleSplitter(), set()
    for question, answer in dict.fromkeys(answers_of(path)):
        for unit in splitter.units(answer, question=question):
            sentence = answer[slice(*unit.span)]
            stated = [c.text for c in unit.claims if c.not_a_claim is None]
            if stated and unit.is_sentence and sentence not in seen:
                seen.add(sentence)
                yield {"version": splitter.fingerprint, "sentence": sentence, "claims": stated}


def draw(
    versions: Mapping[str, Cuts],
    *,
    claims: int,
    uncut: int,
    seed: int,
    leave_out: Iterable[str] = (),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The claims to read in random order, and their key, whose first row has the totals.

    Sentences that at least one version cuts are drawn until every version has ``claims`` claims; of
    the others ``uncut`` are drawn. Sentences that only one version has (their ends differ) and
    those of ``leave_out`` take no part.
    """
    cut_of = list(versions.values())
    gone = set(leave_out)
    common = [s for s in cut_of[0] if all(s in c for c in cut_of) and s not in gone]
    cut = [s for s in common if any(len(c[s]) > 1 for c in cut_of)]
    whole = [s for s in common if all(len(c[s]) == 1 for c in cut_of)]
    totals = {
        "sentences": len(common),
        "cut": len(cut),
        "claims": {name: sum(len(found[s]) for s in cut) for name, found in versions.items()},
    }
    dice = random.Random(seed)  # noqa: S311
    dice.shuffle(cut)
    drawn = _with_enough_claims(cut, cut_of, claims)
    drawn += dice.sample(whole, min(uncut, len(whole)))
    pairs = [
        (n, text)
        for n, s in enumerate(drawn)
        for text in dict.fromkeys(t for found in cut_of for t in found[s])
    ]
    dice.shuffle(pairs)
    read, key = [], [{"totals": totals, "seed": seed}]
    for i, (n, text) in enumerate(pairs):
        sentence = drawn[n]
        read.append({"id": i, "sentence": sentence, "claim": text})
        key.append({
            "id": i,
            "digest": hashlib.sha256(f"{sentence}\n{text}".encode()).hexdigest()[:12],
            "sentence": n,
            "cut": any(len(found[sentence]) > 1 for found in cut_of),
            "versions": [name for name, found in versions.items() if text in found[sentence]],
        })  # fmt: skip
    return read, key


def _with_enough_claims(sentences: Sequence[str], cut_of: Sequence[Cuts], claims: int) -> list[str]:
    """The first sentences, up to the one with which every version has ``claims`` claims."""
    drawn: list[str] = []
    counts = [0] * len(cut_of)
    for sentence in sentences:
        if min(counts) >= claims:
            break
        drawn.append(sentence)
        counts = [n + len(found[sentence]) for n, found in zip(counts, cut_of, strict=True)]
    return drawn


def rates(
    key: Sequence[Mapping[str, Any]], labels: Mapping[int, str]
) -> tuple[list[Rates], Difference, tuple[int, int]]:
    """The figures of each version, their difference, and (bad, read) claims of uncut sentences.

    Raises:
        ValueError: a claim of the key has no verdict, or one that is not known.
    """
    totals, rows = key[0]["totals"], key[1:]
    for row in rows:
        if labels.get(row["id"]) not in VERDICTS:
            raise ValueError(f"claim {row['id']} has no verdict of {', '.join(VERDICTS)}")
    cut = [row for row in rows if row["cut"]]
    whole = [labels[row["id"]] != "fine" for row in rows if not row["cut"]]
    names = list(totals["claims"])
    found = [_rates(name, cut, labels, totals) for name in names]
    tables = [_by_sentence(name, cut, labels) for name in names]
    return found, _difference(*tables), (sum(whole), len(whole))


def _rates(
    name: str,
    cut: Sequence[Mapping[str, Any]],
    labels: Mapping[int, str],
    totals: Mapping[str, Any],
) -> Rates:
    said = [labels[row["id"]] for row in cut if name in row["versions"]]
    table = _by_sentence(name, cut, labels)
    bad = len(said) - said.count("fine")
    share, bound = bad / len(said), upper_bound(bad, len(said), delta=DELTA)
    of_cut, uncut = totals["claims"][name], totals["sentences"] - totals["cut"]
    weight = of_cut / (of_cut + uncut)
    worst = int(np.sum(table[:, 1] > 0))
    return Rates(
        version=name,
        claims=len(said),
        wrong=said.count("wrong"),
        ungrammatical=said.count("ungrammatical"),
        bad=share,
        bad_bound=bound,
        of_all=share * weight,
        of_all_bound=bound * weight,
        sentences=len(table),
        bad_sentences=worst,
        sentences_bound=upper_bound(worst, len(table), delta=DELTA),
        claims_a_sentence=(of_cut + uncut) / totals["sentences"],
    )


def _by_sentence(
    name: str, cut: Sequence[Mapping[str, Any]], labels: Mapping[int, str]
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """(sentences, 2): claims and bad claims of each read sentence."""
    table: dict[int, list[int]] = {}
    for row in cut:
        counts = table.setdefault(row["sentence"], [0, 0])
        if name in row["versions"]:
            counts[0] += 1
            counts[1] += labels[row["id"]] != "fine"
    return np.array([table[n] for n in sorted(table)], dtype=np.int64)


def _difference(
    first: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    second: np.ndarray[tuple[int, int], np.dtype[np.int64]],
) -> Difference:
    dice = np.random.default_rng(0)
    picks = dice.integers(len(first), size=(_RESAMPLES, len(first)))
    shares = [t[picks].sum(axis=1) for t in (first, second)]
    spread = shares[1][:, 1] / shares[1][:, 0] - shares[0][:, 1] / shares[0][:, 0]
    low, high = np.quantile(spread, [DELTA / 2, 1 - DELTA / 2])
    totals = [t.sum(axis=0) for t in (first, second)]
    bad = first[:, 1] > 0, second[:, 1] > 0
    return Difference(
        difference=float(totals[1][1] / totals[1][0] - totals[0][1] / totals[0][0]),
        low=float(low),
        high=float(high),
        only_first=int(np.sum(bad[0] & ~bad[1])),
        only_second=int(np.sum(bad[1] & ~bad[0])),
    )


def _read_cuts(path: Path) -> tuple[str, Cuts]:
    rows = list(json_rows(path))
    if not rows:
        raise ValueError(f"{path} has no rows: `cut` found no sentence that states something")
    return rows[0]["version"], {row["sentence"]: tuple(row["claims"]) for row in rows}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m franq_bench.quality.two_versions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(dest="command", required=True)
    one = kinds.add_parser("cut", help="write the claims of every sentence")
    one.add_argument("answers", type=Path, help="JSONL rows with an answer each, also .gz")
    one.add_argument("--out", type=Path, required=True, help="JSONL file")
    two = kinds.add_parser("draw", help="draw claims to read")
    two.add_argument("old", type=Path, help="what `cut` wrote with one version")
    two.add_argument("new", type=Path, help="the same with the other")
    two.add_argument("--out", type=Path, required=True, help="folder of what is read, and its key")
    two.add_argument("--claims", type=int, default=300, help="of each version, of cut sentences")
    two.add_argument("--uncut", type=int, default=50, help="sentences that no version cuts")
    two.add_argument("--seed", type=int, default=0)
    two.add_argument("--leave-out", type=Path, help="rows whose `sentence` was read before")
    three = kinds.add_parser("rates", help="print the shares")
    three.add_argument("folder", type=Path, help="with key.jsonl and the reader's labels.jsonl")
    return parser.parse_args()


def _print_rates(folder: Path) -> None:
    said = {row["id"]: row for row in json_rows(folder / "labels.jsonl")}
    key = list(json_rows(folder / "key.jsonl"))
    found, difference, (bad, uncut) = rates(key, {i: row["verdict"] for i, row in said.items()})
    for row in found:
        own = [said[x["id"]] for x in key[1:] if x["cut"] and row.version in x["versions"]]
        kinds = Counter(x.get("kind", "") for x in own if x["verdict"] != "fine")
        print(json.dumps({**asdict(row), "kinds": dict(kinds.most_common())}))
    print(json.dumps(asdict(difference)))
    print(json.dumps({"uncut_read": uncut, "uncut_bad": bad}))


def main() -> None:
    """One of the three steps of the module's description."""
    asked = _arguments()
    try:
        _run(asked)
    except OSError as error:
        raise SystemExit(
            f"error: cannot read or write {error.filename}: {error.strerror}"
        ) from error
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error


def _run(asked: argparse.Namespace) -> None:
    if asked.command == "cut":
        write_rows(asked.out, list(cuts(asked.answers)))
        return
    if asked.command == "draw":
        gone = [r["sentence"] for r in json_rows(asked.leave_out)] if asked.leave_out else []
        versions = dict(_read_cuts(path) for path in (asked.old, asked.new))
        if len(versions) < 2:
            raise ValueError(
                f"{asked.old} and {asked.new} are both by {', '.join(versions)}: was `cut` run "
                "with the other version on the path, and outside of a checkout?"
            )
        read, key = draw(
            versions, claims=asked.claims, uncut=asked.uncut, seed=asked.seed, leave_out=gone
        )
        write_rows(asked.out / "read.jsonl", read)
        write_rows(asked.out / "key.jsonl", key)
        print(json.dumps(key[0]))
        return
    _print_rates(asked.folder)


if __name__ == "__main__":
    main()
