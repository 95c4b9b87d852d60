"""``python -m franq_bench.calibrator --data FOLDER``: refit the calibrators for any writer.

``--faithfulness MODEL --out FOLDER`` beside it: those for another faithfulness model. With ``--own
FOLDER`` the one for what the bundled model wrote itself, from the scores of its labelled claims, or
with ``--form short`` of its answers. ``--read FOLDER --out FOLDER`` beside it: the one for long
answers judged by another faithfulness model.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from franq_bench.calibrator import measured, own_long_fit, own_short_fit
from franq_bench.calibrator.any_writer import build
from franq_bench.calibrator.reread import with_readings
from franq_bench.tables.scores import Score, Scores
from franq_guard.calibration.defaults import shipped
from franq_guard.calibration.store import Calibrator
from franq_guard.cli.console import bar, say, tell
from franq_guard.faithfulness.base import FaithfulnessModel
from franq_guard.faithfulness.loading import faithfulness_from
from franq_guard.records import Form

_ASKED = ("SQuAD 1.1 (XQuAD-en): CC BY-SA 4.0", "NQ-open, annotated: CC BY-SA 3.0")
OWN_SOURCES: Mapping[Form, tuple[str, ...]] = {
    "long": (*_ASKED, "CLAP-NQ: Apache 2.0, passages CC BY-SA"),
    "short": _ASKED,
}
LABELLED: Mapping[Form, str] = {"long": "by reading", "short": "by the gold aliases"}
OUT = Path(str(files("franq_guard.calibration"))) / "shipped"


def main(arguments: list[str] | None = None) -> None:
    """Build the calibrators that the command line asks for and print their figures."""
    from franq_guard.language_model.transformers.smollm2 import NAME

    parser = argparse.ArgumentParser(prog="python -m franq_bench.calibrator", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the data files")
    parser.add_argument(
        "--own", type=Path, help="scores of labelled own claims: benchmarks/results/own-long"
    )
    parser.add_argument("--form", choices=sorted(LABELLED), default="long", help="for --own")
    parser.add_argument(
        "--elsewhere", type=Path, help="scores of own claims that --own is tested on, not fitted"
    )
    parser.add_argument(
        "--read", type=Path,
        help="with --own, long form: what another faithfulness model says of the claims "
        "(franq_bench.calibrator.reread); the calibrator is for that model",
    )  # fmt: skip
    parser.add_argument(
        "--faithfulness", default="small",
        help="with --data: the model that passages are compared by, as for franq check",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the shipped ones")
    options = parser.parse_args(arguments)
    _check(parser, options)
    if options.own is not None:
        try:
            own = _own(options, writer=f"{NAME}/float32")
        except FileNotFoundError as error:
            parser.error(str(error))
        model = "small-" if options.read is None else ""  # that of the folder it lies in
        _keep(own, options.out / f"smollm2-{model}{options.form}.json")
        return
    other = _other(parser, options.faithfulness)
    model = "" if other else "small-"
    for form in ("long", "short"):
        found = build(options.data, form, seed=options.seed, progress=bar, other=other)
        _keep(found, options.out / f"any-writer-{model}{form}.json")


def _other(parser: argparse.ArgumentParser, where: str) -> FaithfulnessModel | None:
    """The faithfulness model, unless it is the small one."""
    try:
        return None if where == "small" else faithfulness_from(where)
    except (ValueError, OSError, RuntimeError) as error:  # a WeightsError is one of the last
        parser.error(f"--faithfulness: {error}")


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End the program where the options do not go together, or a folder lacks what is read."""
    if options.read is not None:
        if options.own is None or options.form != "long" or options.elsewhere is not None:
            parser.error("--read goes with --own in the long form, without --elsewhere")
        if options.out == OUT:
            parser.error("--read: the shipped calibrators are the small model's; give --out")
    if options.faithfulness != "small" and (options.own is not None or options.out == OUT):
        parser.error(
            "--faithfulness goes with --data and --out: the shipped calibrators are the small "
            "model's; for own answers see --read"
        )
    if options.own is not None:
        for folder in filter(None, (options.own, options.elsewhere)):
            if not (folder / "scores.jsonl").is_file():
                parser.error(f"no scores.jsonl in {folder}: see benchmarks/results")
        if not (options.own / measured.FILE).is_file():
            parser.error(f"no {measured.FILE} in {options.own}: `make own-scores` writes it")
    elif options.data is None or not options.data.is_dir():
        parser.error(f"--data: {options.data} is not a folder with the data files")


def _own(options: argparse.Namespace, *, writer: str) -> Calibrator:
    """For the small model, or with ``--read`` for the one whose readings these are.

    That one gets the small model's cuts of contradiction and entailment; the promise is made for
    the rule as it is.
    """
    form: Form = options.form
    rows: Sequence[Score] = Scores.read(options.own).rows
    any_writer = next(c for c in shipped() if c.writer is None and c.form == form)
    model = "small faithfulness model"
    if options.read is not None:
        rows = with_readings(rows, options.read)
        used = measured.read(options.read)
        any_writer = replace(any_writer, fingerprint={**any_writer.fingerprint, **used})
        model = used["faithfulness"].partition("/")[0]
    fit_own = own_long_fit.fit if form == "long" else own_short_fit.fit
    made = fit_own(
        [row for row in rows if row.split == "train"],
        any_writer,
        name=f"smollm2 + {model}, {form} form",
        writer=writer,
        sources=OWN_SOURCES[form],
        labelled_by=LABELLED[form],
        test=[row for row in rows if row.split == "test"],
        elsewhere=Scores.read(options.elsewhere).rows if options.elsewhere else (),
    )
    known = {"measured_with": measured.read(options.read or options.own)}
    return replace(made, figures={**made.figures, **known})


def _keep(calibrator: Calibrator, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    calibrator.save(path)
    tell(json.dumps({"promise": calibrator.promise, **calibrator.figures}, indent=1))
    say(f"written to {path}")


if __name__ == "__main__":
    main()
