"""``franq bench``: figures on data in the documented schema, as tables or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from franq_bench.cli.claims import claims_factuality, long_form
from franq_bench.cli.report import merge, report
from franq_bench.cli.robustness import robustness
from franq_bench.cli.short import short
from franq_guard.cli.console import emit, fail, output, working
from franq_guard.report.terminal import shown

if TYPE_CHECKING:
    from franq_guard.claims import ClaimSplitter

bench = typer.Typer(help="Benchmarks on data in the documented schema.", no_args_is_help=True)
bench.command()(report)
bench.command()(merge)
bench.command()(short)
bench.command()(robustness)
bench.command()(claims_factuality)
bench.command()(long_form)

JsonFlag = Annotated[bool, typer.Option("--json", help="JSON Lines instead of a table.")]
GOLD = Path("tests/fixtures/claims_gold.jsonl")


@bench.command()
def claims(
    gold: Annotated[Path, typer.Option(help="Answers with gold sentences and claims.")] = GOLD,
    align: Annotated[
        list[Path] | None, typer.Option(help="Claim rows: how well claims are found in responses.")
    ] = None,
    llm: Annotated[bool, typer.Option(help="The bundled model as extractor, too (slow).")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Claim splitters on a gold set; how well given claims are aligned to their responses."""
    from franq_bench.claims import alignment, run
    from franq_guard.claims import RuleSplitter

    if gold == GOLD and not gold.is_file():
        fail(f"no {gold} here: it lies in the repository, not in the package; give --gold FILE")
    existing([gold, *(align or [])])
    with explained(), working("splitting"):
        splitters: dict[str, ClaimSplitter] = {"rules": RuleSplitter()}
        if llm:
            splitters["llm"] = _bundled_extractor()
        rows = run(gold, splitters)
    if not rows:
        fail(f"no rows in {gold}")
    show([asdict(row) for row in rows], as_json)
    for file in align or []:
        with explained(), working(f"aligning {file.name}"):
            found = asdict(alignment(file))
        found.pop("worst")  # texts of the data: not for a table
        show([{"file": file.name, **found}], as_json)


@bench.command()
def faithfulness(
    data: Annotated[list[Path], typer.Option("--data", help="nli or claims JSONL, also .gz.")],
    model: Annotated[str, typer.Option(help="small, or a folder with an AlignScore.")] = "small",
    limit: Annotated[int | None, typer.Option(help="At most this many pairs of a set.")] = None,
    held_out: Annotated[
        bool, typer.Option(help="Only the pairs the shipped weights were not trained on.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """A faithfulness model on labelled pairs, per data set, beside word overlap and cosine."""
    from franq_bench.faithfulness import run

    existing(data)
    fold: Any = "test" if held_out else None
    with explained(), working("scoring pairs"):
        rows = run(data, scorer(model), limit=limit, seed=seed, fold=fold)
    keys = ("dataset", "n", "auroc", "overlap_auroc", "cosine_auroc", "balanced_accuracy", "ece")
    show(rows if as_json else [{key: row[key] for key in keys} for row in rows], as_json)


def scorer(model: str) -> Any:
    """The faithfulness model that ``small`` or a folder names."""
    if model == "small":
        from franq_guard.faithfulness import SmallFaithfulness

        return SmallFaithfulness.bundled()
    from franq_guard.faithfulness import AlignScore

    return AlignScore.from_checkpoint(Path(model))


def _bundled_extractor() -> ClaimSplitter:
    from franq_guard.claims import LLMSplitter
    from franq_guard.language_model import Prompt, load_bundled

    model = load_bundled()

    def ask(prompt: str) -> str:
        (made,) = model.generate([model.render(Prompt("", prompt))], max_new_tokens=256)
        return made.text

    return LLMSplitter(ask, name=model.fingerprint)


def existing(files: Sequence[Path]) -> None:
    """Ends the program where a file is not there."""
    for file in files:
        if not file.is_file():
            fail(f"no such file: {file}")


@contextmanager
def explained() -> Iterator[None]:
    """Data that cannot be used and models that are not installed, as messages."""
    from franq_guard.faithfulness.small.minilm import WeightsError
    from franq_guard.language_model import MissingModelError

    try:
        yield
    except (KeyError, TypeError) as error:
        fail(f"a row does not fit the documented schema: {error}")
    # ImportError: of an extra; its message names the command that installs it.
    except (ValueError, OSError, EOFError, ImportError, MissingModelError, WeightsError) as error:
        fail(str(error))


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Rows of the same keys as a table, or as JSON Lines."""
    if as_json:
        for row in rows:
            emit({key: _plain(value) for key, value in row.items()})
        return
    table = Table(box=None)
    for key in rows[0]:
        table.add_column(key.replace("_", " "), justify="left" if key == "dataset" else "right")
    for row in rows:
        cells = (f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values())
        table.add_row(*(Text(shown(cell)) for cell in cells))
    output.print(table)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value
