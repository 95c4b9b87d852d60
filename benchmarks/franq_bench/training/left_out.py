"""How the small model holds on a family of data sets that it was trained without.

`python -m franq_bench.training.left_out --data DATA --out FOLDER`

Shorter runs than the shipped model's, from MiniLM and all by one recipe (`recipe.LEFT_OUT`): one
reads all data sets, the others each leave one family out, of training and of the fit of the blend.
Each family's pairs of the test fold are then scored by the run without that family and by the run
with all. The look-ups' weights are the shipped model's, which were fitted on all families. The
figures are printed as Markdown and written as `left_out.json`. A run that was stopped goes on where
it was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from franq_bench.data.pairs import SUPPORTED, Example
from franq_bench.progress import report
from franq_bench.quality import faithfulness as bench
from franq_bench.training.families import FAMILIES
from franq_bench.training.options import add_device, data_parser, parsed, set_up_torch
from franq_bench.training.recipe import FIRST, LEFT_OUT
from franq_bench.training.sources import fold_reader, test_pairs
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.franq import FloatArray
from franq_guard.metrics.measures import auroc, ece

ALL: Final = "all"
NEVER: Final = "science"
"""The family that no run reads: its licences are unclear."""
_COMPARED: Final = ("with", "without", "overlap")


def trained(
    data: Path, family: str, out: Path, *, pairs: int, device: str = "cpu"
) -> SmallFaithfulness:
    """Train, quantise and calibrate a model without a family, or with `ALL`.

    Args:
        data: folder of JSONL files.
        family: a key of `FAMILIES`, or `ALL`.
        out: keeps the run, and the weights once it is through.
        pairs: of the fitting fold, for the blend.
        device: "cpu" or "cuda", for the training.
    """
    from franq_bench.training.export import export
    from franq_bench.training.loop import Trainer, train
    from franq_guard.faithfulness.small.encoder import from_minilm
    from franq_guard.faithfulness.small.minilm import load_minilm

    weights = out / "weights"
    if not weights.exists():
        fold = fold_reader(data, FAMILIES.get(family, ()))
        rows, asked = fold("training")
        tensors, tokenizer = load_minilm()
        trainer = Trainer(from_minilm(tensors, seed=LEFT_OUT.seed), LEFT_OUT, out, device=device)
        read = [e for e in rows if LEFT_OUT.reads(e.dataset)]
        train(trainer, read, asked, tokenizer, report)
        part = out / "part"  # an interrupt leaves no uncalibrated weights
        export(trainer.averaged(), *fold("fitting"), (), part,
               seed=FIRST.seed, report=report, limit=pairs)  # fmt: skip
        part.rename(weights)
    return SmallFaithfulness.bundled(weights=weights)


def compared(
    drawn: Mapping[str, Sequence[Example]], scores: Mapping[str, Mapping[str, FloatArray]]
) -> dict[str, Any]:
    """Return each set's figures by the run with all families and by the one without its family.

    Args:
        drawn: pairs by data set.
        scores: P(faithful) of these pairs, by run (`ALL`, or the family it was trained without),
            then by data set: of `ALL` every set, of another run those of its family.
    """
    rows: list[dict[str, Any]] = []
    said: list[FloatArray] = []
    truth: list[FloatArray] = []
    for family, names in FAMILIES.items():
        for name in (n for n in names if n in drawn):
            labels = np.array([e.label == SUPPORTED for e in drawn[name]], dtype=float)
            lacks = scores[family][name]
            has = None if family == NEVER else auroc(labels, scores[ALL][name])
            texts = [e.premise for e in drawn[name]], [e.hypothesis for e in drawn[name]]
            rows.append({
                "family": family, "dataset": name, "n": len(labels),
                "with": has, "without": auroc(labels, lacks),
                "overlap": auroc(labels, np.array(bench.WordOverlap().score(*texts))),
                "balanced_accuracy": bench.balanced_accuracy(labels, lacks),
                "ece": ece(labels, lacks),
            })  # fmt: skip
            said.append(lacks)
            truth.append(labels)
    read = [row for row in rows if row["with"] is not None]
    return {
        "rows": rows,
        "macro": {k: float(np.mean([row[k] for row in read])) for k in _COMPARED},
        "pooled_ece": ece(np.concatenate(truth), np.concatenate(said)),
    }


def table(found: Mapping[str, Any]) -> str:
    """Return the figures of `compared` as a Markdown table."""
    lines = [
        "| family | data set | n | AUROC: trained on | left out | word overlap "
        "| balanced accuracy | ECE |",
        "| --- | --- |" + " ---: |" * 6,
    ]
    for row in found["rows"]:
        keys = (*_COMPARED, "balanced_accuracy", "ece")
        values = ["" if row[key] is None else f"{row[key]:.3f}" for key in keys]
        lines.append(f"| {row['family']} | {row['dataset']} | {row['n']} | {' | '.join(values)} |")
    means = (found["macro"][key] for key in _COMPARED)
    lines.append(f"| | mean | | {' | '.join(f'{m:.3f}' for m in means)} | | |")
    return "\n".join([*lines, "", f"Pooled ECE, left out: {found['pooled_ece']:.3f}"])


def main(arguments: list[str] | None = None) -> int:
    """Train, score and compare with the options of the command line; returns the exit code."""
    parser = data_parser("franq_bench.training.left_out", __doc__)
    parser.add_argument("--pairs", type=int, default=1500, help="to fit each blend on")
    parser.add_argument("--limit", type=int, default=300, help="test pairs of one data set")
    add_device(parser, "half an hour")
    options = parsed(parser, arguments)
    set_up_torch(options.threads)
    wanted = {name for names in FAMILIES.values() for name in names}
    drawn = test_pairs(options.data, wanted, limit=options.limit)
    scores: dict[str, dict[str, FloatArray]] = {}
    for family in (ALL, *(f for f in FAMILIES if f != NEVER)):
        model = trained(
            options.data, family, options.out / family, pairs=options.pairs, device=options.device
        )
        names = set(drawn) if family == ALL else set(drawn) & set(FAMILIES[family])
        scores[family] = {name: _scores(model, drawn[name]) for name in sorted(names)}
    scores[NEVER] = scores[ALL]
    found = compared(drawn, scores)
    text = json.dumps(found, indent=1) + "\n"
    (options.out / "left_out.json").write_text(text, encoding="utf-8")
    sys.stdout.write(table(found) + "\n")
    return 0


def _scores(model: SmallFaithfulness, pairs: Sequence[Example]) -> FloatArray:
    return np.array(model.score([e.premise for e in pairs], [e.hypothesis for e in pairs]))


if __name__ == "__main__":
    sys.exit(main())
