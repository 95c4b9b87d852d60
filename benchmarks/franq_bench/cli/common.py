"""Code that several benchmark commands share: option types, models, messages and tables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from franq_guard.basics.numbers import chosen_dtype
from franq_guard.cli.console import emit, fail, message_of, output, say
from franq_guard.report.text import shown

if TYPE_CHECKING:
    from franq_bench.tables.results import Results
    from franq_guard.faithfulness.base import FaithfulnessModel
    from franq_guard.report.tables import Table as ReportTable
    from franq_guard.signals.request import Models

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines instead of a table.")]
Names = tuple[str, str | None, str, str | None]
"""The arguments of :func:`load_models`: language model, its dtype, faithfulness and NLI model."""


class DType(StrEnum):
    """Data type of the language model's numbers; ``auto``: bfloat16 if the CPU supports it."""

    auto = "auto"
    float32 = "float32"
    bfloat16 = "bfloat16"


def existing(files: Sequence[Path]) -> None:
    """End the program if a file does not exist, or is a folder."""
    for file in files:
        if file.is_dir():
            fail(f"{file} is a folder: give the files in it that are meant")
        if not file.is_file():
            fail(f"no such file: {file}")


def writable(out: Path) -> None:
    """End the program if a folder of results could not be written, before hours of work for it."""
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not (there.is_dir() and os.access(there, os.W_OK)):
        fail(f"--out: {out} cannot be made or written to: give a folder that can")


@contextmanager
def explained() -> Iterator[None]:
    """End the program with a message if data is invalid, a model is missing or does not answer."""
    from franq_guard.faithfulness.small.minilm import WeightsError
    from franq_guard.language_model import MissingModelError
    from franq_guard.language_model.asking import NoAnswerError

    try:
        yield
    except (KeyError, TypeError) as error:
        fail(f"a row does not fit the documented schema: {error}")
    # ImportError: an extra is missing; the message contains the command that installs it.
    except (ValueError, OSError, EOFError, ImportError, MissingModelError, WeightsError) as error:
        fail(message_of(error))
    except NoAnswerError as error:
        fail(f"{error}\nwhat was made is kept: the same command goes on from there")


def scorer(model: str, nli: str | None = None) -> FaithfulnessModel:
    """The models that the options name, as for ``franq check --faithfulness`` and ``--nli``."""
    from franq_guard.faithfulness.loading import faithfulness_from

    return faithfulness_from(model, nli=nli)


def load_models(
    language_model: str, dtype: str | None, faithfulness: str, nli: str | None = None
) -> Models:
    """The models that the options name."""
    from franq_guard.faithfulness.small.minilm import Embedder
    from franq_guard.language_model.loading import language_model_from
    from franq_guard.signals.request import Models

    model = language_model_from(language_model, dtype=dtype, notify=say)
    if getattr(model, "tokenizer", None) is None:
        raise ValueError(
            f"{language_model} does not tell what its alternatives to a token were, which some "
            "methods read: give bundled, a .gguf file or a model folder"
        )
    embed = Embedder(dtype=dtype or "float32")
    return Models(language_model=model, faithfulness=scorer(faithfulness, nli), embed=embed)


def dtype_of(option: DType | None) -> str | None:
    """The data type for :func:`load_models`; ``auto`` is decided here, once for all processes.

    What is made is kept under the data type, so processes on unlike machines must have the same.
    """
    if option is not DType.auto:
        return option and option.value
    found = chosen_dtype(option)
    say(f"the language model computes in {found}")
    return found


def cache_folder(*parts: str) -> Path:
    """Default folder for cached results of benchmarks."""
    from franq_guard.language_model.transformers.smollm2 import cache_dir

    return cache_dir().joinpath("bench", *parts)


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows with the same keys as a table or as JSON Lines."""
    if as_json:
        for row in rows:
            emit({key: _plain(value) for key, value in row.items()})
        return
    table = Table(box=None)
    for at, key in enumerate(rows[0]):
        side: Any = "right" if at else "left"
        table.add_column(key.replace("_", " "), justify=side, overflow="fold")  # nothing is cut
    for row in rows:
        cells = (f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values())
        table.add_row(*(Text(shown(cell)) for cell in cells))
    if not output.is_terminal:  # a file or a pipe has no width that words must be cut for
        table.width = Measurement.get(output, output.options.update(max_width=9999), table).maximum
    output.print(table, crop=False)


def show_table(table: ReportTable) -> None:
    """Print a report's table and its note, without the headings between its rows."""
    titles = [column.title for column in table.columns]
    if rows := [dict(zip(titles, row, strict=True)) for row in table.shown() if len(row) > 1]:
        show(rows)
    if table.note:
        output.print(Text(shown(table.note), style="dim"))


def show_results(results: Results, out: Path, as_json: bool) -> None:
    """Print the results and write the report."""
    from franq_bench.tables.report import named, write_report
    from franq_bench.tables.summary import datasets_table, summary_table

    if as_json:
        show(results.to_dict()["rows"], as_json=True)
    else:
        for table in named(results, datasets_table(results), summary_table(results)):
            show_table(table)
    for file in write_report(out):
        say(f"wrote {file}")


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
