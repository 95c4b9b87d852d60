"""The command-line options that all training commands have, and what is wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from franq_bench.data.files import files
from franq_guard.faithfulness.small.storage import FOLDER


def data_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options for the data, the output and the threads."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of JSONL files")
    parser.add_argument(
        "--out", type=Path, required=True,
        help="folder for results, and for what a stopped run goes on from",
    )  # fmt: skip
    parser.add_argument("--threads", type=int, help="of torch; default: as many as it likes")
    return parser


def training_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser that has the options for the blend's own answers as well."""
    parser = data_parser(name, description)
    parser.add_argument(
        "--own", type=Path, required=True,
        help="folder of own answers for the blend (franq_bench.calibrator.own_long answer)",
    )  # fmt: skip
    parser.add_argument(
        "--own-labels", type=Path, default=Path("benchmarks/results/own-long/labels.jsonl"),
        help="what readers said of their claims",
    )  # fmt: skip
    return parser


def add_device(parser: argparse.ArgumentParser, without: str) -> None:
    """Add the option for the device; `without`: how long training takes where there is no GPU."""
    import torch

    parser.add_argument(
        "--device", choices=("cuda", "cpu"),
        default="cuda" if torch.cuda.is_available() else "cpu",
        help=f"minutes on a GPU, {without} on a CPU; default: a GPU if there is one",
    )  # fmt: skip


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments; what cannot be meant ends the command with a message."""
    options = parser.parse_args(arguments)
    if not (options.data.is_dir() and files([options.data])):
        parser.error(f"--data: {options.data} is not a folder with the data files (.jsonl, .gz)")
    if "own_labels" in options and not options.own_labels.is_file():
        parser.error(f"--own-labels: there is no file {options.own_labels}")
    if "device" in options:
        _check_device(parser, options.device)
    if (options.out / "weights").resolve() == FOLDER.resolve():
        parser.error(
            "--out: its folder `weights` is the package's own, which is read during the run; give "
            "another folder and copy the files afterwards"
        )
    return options


def _check_device(parser: argparse.ArgumentParser, device: str) -> None:
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        parser.error(
            "--device: this torch finds no CUDA device; install a build of torch for CUDA, or take "
            "--device cpu, which takes much longer"
        )


def set_up_torch(threads: int | None) -> None:
    """Make torch flush denormal numbers, and use so many threads; None: as many as it likes."""
    import torch

    torch.set_flush_denormal(True)
    if threads:
        torch.set_num_threads(threads)
