"""The model card's figures: quality per data set, minimal pairs, calibration, drift, speed.

`python -m franq_bench.training.figures --data FOLDER --pairs FILE --out FOLDER`
writes `figures.json` and `reliability.svg`. All pairs are of the test fold (`data.folds`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from franq_bench.data.files import files
from franq_bench.data.folds import Folds
from franq_bench.data.pairs import SUPPORTED, UNSUPPORTED, Example, examples
from franq_bench.data.written import ANSWERS, written
from franq_bench.quality import faithfulness as bench
from franq_bench.training.families import FAMILIES
from franq_bench.training.options import parsed
from franq_guard.datasets.jsonl import json_rows
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.metrics.measures import auroc, ece, reliability
from franq_guard.metrics.plots import reliability_plot, to_svg

#: Data sets that were trained on; calibration has not seen the share of labels in the others.
TRAINED: Final = frozenset(bench.GROUNDED) - {"healthver", "climate-fever"}
_THREE_WAY: Final = ("mnli-dev", "snli-dev", "snli-test", "fm2", "fever-symmetric", "scitail-dev")


def minimal_pairs(model: bench.Scorer, path: Path) -> dict[str, Any]:
    """Return the share of minimal pairs ordered rightly, overall and by kind of change."""
    pairs = list(json_rows(path))
    texts = [pair["passage"] for pair in pairs]
    right = np.array(model.score(texts, [pair["supported"] for pair in pairs]))
    wrong = np.array(model.score(texts, [pair["unsupported"] for pair in pairs]))
    ordered = right > wrong
    kinds = sorted({pair["kind"] for pair in pairs})
    members = {kind: np.array([pair["kind"] == kind for pair in pairs]) for kind in kinds}
    by_kind = {
        kind: {"n": int(inside.sum()), "ordered": float(ordered[inside].mean())}
        for kind, inside in members.items()
    }
    return {"n": len(pairs), "ordered": float(ordered.mean()), "by_kind": by_kind}


def three_way(model: SmallFaithfulness, pairs: Sequence[Example], limit: int) -> dict[str, Any]:
    """Return the accuracy of the most probable class per data set; two-way sets by entailment."""
    found: dict[str, Any] = {}
    for name, members in bench.draw(pairs, limit=limit, seed=0).items():
        if name in _THREE_WAY:
            classes = model.nli([e.premise for e in members], [e.hypothesis for e in members])
            called = classes.argmax(axis=1)
            right = [
                int(c) == e.label or (e.label == UNSUPPORTED and c != 0)
                for c, e in zip(called, members, strict=True)
            ]
            found[name] = {"n": len(members), "accuracy": float(np.mean(right))}
    return found


def calibration(model: bench.Scorer, pairs: Sequence[Example], folder: Path) -> dict[str, Any]:
    """Return ECE and the reliability bins over `pairs`, and draw them."""
    scores = np.array(model.score([e.premise for e in pairs], [e.hypothesis for e in pairs]))
    labels = np.array([e.label == SUPPORTED for e in pairs], dtype=float)
    drawn = to_svg(reliability_plot(labels, {"P(faithful)": scores}))
    (folder / "reliability.svg").write_text(drawn, encoding="utf-8")
    table = reliability(labels, scores)
    bins = [(float(said), float(share), int(n)) for n, said, share in zip(*table, strict=True) if n]
    return {"n": len(pairs), "ece": ece(labels, scores), "bins": bins}


def drift(model: SmallFaithfulness, pairs: Sequence[Example]) -> dict[str, Any]:
    """Return mean scores, and the share above .5, of each pair shown beside other pairs' premises.

    By the number of passages: the score is the best over all passages and must not rise because
    irrelevant ones are added.
    """
    short = [e for e in pairs if len(e.premise) < 1000]
    found: dict[str, Any] = {}
    for count in (1, 3, 10, 30):
        shown = [
            (e.premise, *(short[(i + 7 * k) % len(short)].premise for k in range(1, count)))
            for i, e in enumerate(short)
        ]
        scores = np.array(model.score_passages(shown, [e.hypothesis for e in short]))
        labels = np.array([e.label == SUPPORTED for e in short])
        found[str(count)] = {
            name: {"n": int(own.sum()), "mean": float(scores[own].mean()),
                   "above_half": float((scores[own] > 0.5).mean())}
            for name, own in (("supported", labels), ("not supported", ~labels))
        } | {"auroc": auroc(labels.astype(float), scores)}  # fmt: skip
    return found


def half_precision(pairs: dict[str, list[Example]], weights: Path | None) -> dict[str, Any]:
    """Return how far bfloat16 moves AUROC per data set and the scores against float32."""
    models = [SmallFaithfulness.bundled(dtype=d, weights=weights) for d in ("float32", "bfloat16")]
    moves, gaps = [], []
    for members in pairs.values():
        texts, claims = [e.premise for e in members], [e.hypothesis for e in members]
        full, half = (np.array(m.score(texts, claims)) for m in models)
        labels = [float(e.label == SUPPORTED) for e in members]
        moves.append(auroc(labels, half) - auroc(labels, full))
        gaps.append(float(np.abs(half - full).max()))
    macro = float(np.nanmean(moves))
    largest = float(np.nanmax(np.abs(moves)))
    return {"macro_auroc_change": macro, "largest_change": largest, "largest_gap": max(gaps)}


def speed(weights: Path | None) -> dict[str, float]:
    """Return CPU seconds for 10 claims x 3 passages of 100 words: score, and evidence after it.

    CPU time of one thread, which other load on the machine hardly moves; two idle cores take about
    half of it on the clock. Sets torch to one thread.
    """
    words = [
        f"word{i % 37} and figure {i}" if i % 9 else f"end of it. Part {i}" for i in range(100)
    ]
    passages = [" ".join(words[i:] + words[:i]).split()[:100] for i in (0, 30, 60)]
    texts = [" ".join(passage) + "." for passage in passages]
    times: list[tuple[float, float]] = []
    model = SmallFaithfulness.bundled(weights=weights, threads=1)
    for turn in range(5):
        claims = [
            f"The figure {i} stands beside word number {turn} in part {i}." for i in range(10)
        ]
        start = time.process_time()
        model.score(["\n".join(texts)] * 10, claims)
        middle = time.process_time()
        model.evidence(texts, claims)
        times.append((middle - start, time.process_time() - middle))
    score, evidence = np.median(np.array(times[1:]), axis=0)
    return {"score_cpu_seconds": float(score), "evidence_cpu_seconds": float(evidence)}


def main(arguments: list[str] | None = None) -> int:
    """Measure the shipped model, or the one that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m franq_bench.training.figures",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument("--without", choices=FAMILIES, help="only the family that was left out")
    parser.add_argument("--pairs", type=Path, required=True, help="minimal pairs, JSONL")
    parser.add_argument("--out", type=Path, required=True, help="folder for both files")
    parser.add_argument("--weights", type=Path, help="folder of a model; default: the shipped one")
    parser.add_argument("--limit", type=int, default=400, help="pairs of one data set")
    options = parsed(parser, arguments)
    if not options.pairs.is_file():
        parser.error(f"--pairs: there is no file {options.pairs}")
    options.out.mkdir(parents=True, exist_ok=True)
    model = SmallFaithfulness.bundled(weights=options.weights)
    folds = Folds.read(options.data)
    pairs = examples(files([options.data]), lambda row: folds.of(row) == "test")
    wanted = FAMILIES[options.without] if options.without else (*bench.GROUNDED, "xsum")
    drawn = bench.draw(
        [e for e in pairs if bench.group(e.dataset) in wanted], limit=options.limit, seed=0
    )
    found: dict[str, Any] = {"fingerprint": model.fingerprint}
    found["rows"] = bench.measure(drawn, model)
    own = [e for e in written("test") if e.dataset.startswith(ANSWERS)]
    found["written"] = bench.measure(bench.draw(own, limit=options.limit, seed=0), model)
    found["minimal_pairs"] = minimal_pairs(model, options.pairs)
    found["three_way"] = three_way(model, pairs, options.limit)
    trained = [e for n, members in drawn.items() if n in TRAINED for e in members]
    found["calibration"] = calibration(model, trained or [e for m in drawn.values() for e in m],
                                       options.out)  # fmt: skip
    short = {n: [e for e in m if len(e.premise) < 1000][:100] for n, m in drawn.items()}
    short = {n: m for n, m in short.items() if len(m) >= 30}  # too few say nothing of an AUROC
    found["drift"] = drift(model, [e for n in ("fm2", "refchecker-nq", "begin-wow") if n in drawn
                                   for e in drawn[n][:60]])  # fmt: skip
    found["bfloat16"] = half_precision(short, options.weights)
    found["speed"] = speed(options.weights)
    text = json.dumps(found, indent=1)
    (options.out / "figures.json").write_text(text + "\n", encoding="utf-8")
    tables = [bench.table(found[name]) for name in ("rows", "written")]
    sys.stdout.write("\n".join([*tables, json.dumps(found["minimal_pairs"])]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
