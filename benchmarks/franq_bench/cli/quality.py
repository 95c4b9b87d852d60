"""``franq bench claims`` and ``faithfulness``: measure single parts of the guard."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_bench.cli.common import JsonFlag, existing, explained, scorer, show
from franq_guard.cli.console import fail, working
from franq_guard.cli.options import refuse_unwritable

if TYPE_CHECKING:
    from franq_guard.claims import ClaimSplitter


def claims(
    gold: Annotated[
        Path | None, typer.Option(help="Answers with gold sentences and claims; default: ours.")
    ] = None,
    align: Annotated[
        list[Path] | None, typer.Option(help="Claim rows: how well claims are found in responses.")
    ] = None,
    filtered: Annotated[
        list[Path] | None,
        typer.Option("--filter", help="Answer rows: what remains when claims are removed?"),
    ] = None,
    read: Annotated[
        Path | None, typer.Option(help="Write the answers of --filter here, before and after.")
    ] = None,
    llm: Annotated[bool, typer.Option(help="The bundled model as extractor, too (slow).")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Measure claim splitters on a gold set, and how well claims are aligned to responses."""
    from franq_bench.quality.splitters import alignment, gold_file, run
    from franq_guard.claims import RuleSplitter

    gold = gold or gold_file()
    existing([gold, *(align or []), *(filtered or [])])
    if read is not None and not filtered:
        fail("--read writes what --filter found: give --filter FILE, too")
    refuse_unwritable(read, inputs=(gold, *(filtered or [])))
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
    lines: list[str] = []
    if filtered:
        show(_filtered(filtered, lines), as_json)
    if read is not None:
        read.write_text("\n".join([*lines, ""]), encoding="utf-8")


def faithfulness(
    data: Annotated[list[Path], typer.Option("--data", help="nli or claims JSONL, also .gz.")],
    model: Annotated[str, typer.Option(help="As --faithfulness of franq check.")] = "small",
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most this many pairs of a set.")
    ] = None,
    held_out: Annotated[
        bool, typer.Option(help="Only pairs the small model was not trained on.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Measure a faithfulness model on labelled pairs, next to word overlap and cosine baselines."""
    from franq_bench.quality.faithfulness import run

    existing(data)
    with explained(), working("scoring pairs"):
        rows = run(data, scorer(model), limit=limit, seed=seed, held_out=held_out)
    keys = ("dataset", "n", "auroc", "overlap_auroc", "cosine_auroc", "balanced_accuracy", "ece")
    show(rows if as_json else [{key: row[key] for key in keys} for row in rows], as_json)


def _filtered(files: list[Path], lines: list[str]) -> list[dict[str, Any]]:
    from franq_bench.quality.filtered import filtered

    rows: list[dict[str, Any]] = []
    for file in files:
        with explained(), working(f"removing claims of {file.name}"):
            row, remainders = filtered(file)
        rows.append(asdict(row))
        lines += [json.dumps(asdict(x), ensure_ascii=False) for x in remainders]
    return rows


def _bundled_extractor() -> ClaimSplitter:
    from franq_guard.claims import LLMSplitter
    from franq_guard.language_model import Prompt, load_bundled

    model = load_bundled()

    def ask(prompt: str) -> str:
        (made,) = model.generate([model.render(Prompt("", prompt))], max_new_tokens=256)
        return made.text

    return LLMSplitter(ask, name=model.fingerprint)
