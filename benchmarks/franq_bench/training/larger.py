"""`python -m franq_bench.training.larger --data DATA --out FOLDER`: fit the larger model's blend.

The network of the larger faithfulness model is the teacher's (`training.teacher`). This fits its
blend on pairs of the fitting fold and measures the model beside the small one, on pairs of the test
fold and in processor time. What was read of the fitting fold is kept in the output folder, so a run
that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from franq_bench.data.pairs import SUPPORTED, UNSUPPORTED, Example
from franq_bench.progress import report
from franq_bench.quality import faithfulness as bench
from franq_bench.training.calibrate import SURE, Held, fit_rows, held_back, temperature
from franq_bench.training.options import data_parser, parsed, set_up_torch
from franq_bench.training.recipe import FIRST
from franq_bench.training.sources import fold_reader, test_pairs
from franq_guard.faithfulness.larger import ADAPTER
from franq_guard.faithfulness.larger.adapter import about
from franq_guard.faithfulness.larger.model import BLEND, LargerFaithfulness
from franq_guard.faithfulness.small import storage
from franq_guard.faithfulness.small.blend import Blend, encoder_alone
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.franq import FloatArray

_BLOCK: Final = 100  # pairs
_KEYS: Final = ("n", "auroc", "balanced_accuracy", "ece")


def pieces(
    model: LargerFaithfulness, pairs: Sequence[Held], folder: Path
) -> tuple[FloatArray, NDArray[np.intp], FloatArray]:
    """Return the blend's inputs of all pairs, their owners, and three classes of the short pairs.

    Args:
        model: with any blend.
        pairs: what is read.
        folder: keeps the numbers, a file for each hundred pairs, under a digest of these.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows, owners, classes = [], [], []
    for start in range(0, len(pairs), _BLOCK):
        block = pairs[start : start + _BLOCK]
        read_of = repr([model.fingerprint, *((p.texts, p.example) for p in block)])
        file = folder / f"{hashlib.sha256(read_of.encode()).hexdigest()[:16]}.npz"
        if not file.exists():
            report(f"reading {start} of {len(pairs)} pairs")
            claims = [p.example.hypothesis for p in block]
            read, own = model.pieces([p.texts for p in block], claims)
            short = _short(block)
            three = model.nli([e.premise for e in short], [e.hypothesis for e in short])
            part = file.with_suffix(".part.npz")  # an interrupt leaves no half file
            np.savez(part, rows=read, owners=own, classes=three)
            part.replace(file)
        with np.load(file) as found:
            rows.append(found["rows"])
            owners.append(found["owners"] + start)
            classes.append(found["classes"])
    return np.concatenate(rows), np.concatenate(owners), np.concatenate(classes)


def _short(pairs: Sequence[Held]) -> list[Example]:
    """Those on which the temperature of the three classes is fitted."""
    return [
        p.example for p in pairs if p.example.label != UNSUPPORTED and len(p.example.premise) < 1000
    ]


def fitted(model: LargerFaithfulness, pairs: Sequence[Held], folder: Path) -> Blend:
    """Return the blend of the larger model; the look-ups' weights are the shipped small model's."""
    rows, owners, classes = pieces(model, pairs, folder)
    shipped = storage.blend_weights(storage.FOLDER)
    held = {name: shipped[name] for name in SURE & shipped.keys()}
    labels = np.array([p.example.label == SUPPORTED for p in pairs])
    sets = [p.example.dataset for p in pairs]
    weights, intercept = fit_rows(rows, owners, labels, sets, held=held)
    return Blend(weights, intercept, temperature(classes, [e.label for e in _short(pairs)]))


def compared(
    models: dict[str, SmallFaithfulness | LargerFaithfulness],
    sets: dict[str, list[Example]],
) -> dict[str, Any]:
    """Return AUROC, balanced accuracy and ECE of each set by each model, and their means.

    Args:
        models: by name.
        sets: pairs by data set.
    """
    rows = {
        who: {row["dataset"]: row for row in bench.measure(sets, model)}
        for who, model in models.items()
    }
    return {
        name: {who: {key: of_model[name][key] for key in _KEYS} for who, of_model in rows.items()}
        for name in (*sets, "macro")
    }


def times(
    models: dict[str, SmallFaithfulness | LargerFaithfulness], repeats: int = 5
) -> dict[str, float]:
    """Return each model's CPU seconds for 10 claims over 3 passages of 100 words (the median)."""
    words = [f"word{i % 37}" if i % 9 else f"end of part {i}. Then" for i in range(100)]
    taken: dict[str, list[float]] = {who: [] for who in models}
    for turn in range(repeats + 1):
        texts = [f"Text {turn}. {' '.join(words[i:] + words[:i])}." for i in (0, 30, 60)]
        claims = [f"Part {i} stands beside word{i} and text {turn}." for i in range(10)]
        for who, model in models.items():
            start = time.process_time()
            model.score_passages([texts] * len(claims), claims)
            taken[who].append(time.process_time() - start)
    return {who: float(np.median(seconds[1:])) for who, seconds in taken.items()}


def main(arguments: list[str] | None = None) -> int:
    """Fit and measure with the options of the command line; returns the exit code."""
    parser = data_parser("franq_bench.training.larger", __doc__)
    parser.add_argument(
        "--adapter", type=Path, default=Path("larger/franq_larger"),
        help="folder of adapter.safetensors",
    )  # fmt: skip
    parser.add_argument("--pairs", type=int, default=2500, help="to fit on")
    parser.add_argument("--test", type=int, default=60, help="pairs of a set to measure on")
    options = parsed(parser, arguments)
    try:
        about(options.adapter / ADAPTER)
    except ValueError as error:
        parser.error(f"--adapter: {error}")
    set_up_torch(options.threads)
    shuffled = held_back(*fold_reader(options.data)("fitting"), seed=FIRST.seed)
    pairs = shuffled[: options.pairs]
    unfitted = LargerFaithfulness.load(options.adapter, blend=encoder_alone())
    blend = fitted(unfitted, pairs, options.out / "rows")
    (options.out / BLEND).write_text(blend.to_json() + "\n", encoding="utf-8")
    models: dict[str, SmallFaithfulness | LargerFaithfulness] = {
        "small": SmallFaithfulness.bundled(),
        "larger": LargerFaithfulness.load(options.adapter, blend=blend),
    }
    found = compared(models, test_pairs(options.data, bench.GROUNDED, limit=options.test))
    found["cpu_seconds"] = times(models)
    text = json.dumps(found, indent=1) + "\n"
    (options.out / "figures.json").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
