"""Stores generations on disk by content, so that an interrupted run does not repeat any.

The store contains digests of the prompts and the model's texts. Do not publish it if the prompts
come from data that must not be passed on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from franq_guard.datasets.jsonl import append_row, whole_rows
from franq_guard.language_model.base import LanguageModel
from franq_guard.records import Generation, Token


class GenerationStore:
    """An append-only JSONL file of generations, keyed by (model, settings, prompt).

    An incomplete or damaged line is skipped when the file is read, and its text generated again.

    Args:
        path: is read, and new generations are written to it.
        also: further files that are only read.
    """

    def __init__(self, path: Path, *, also: Iterable[Path] = ()) -> None:
        self._path = path
        self._known: dict[str, Generation] = {}
        for file in (*also, path):
            self._read(file)
        path.parent.mkdir(parents=True, exist_ok=True)

    def generate(
        self,
        model: LanguageModel,
        prompts: Sequence[str],
        *,
        max_new_tokens: int,
        batch_size: int = 8,
        progress: Callable[[int], None] | None = None,
    ) -> list[Generation]:
        """Greedy generations of ``prompts``, in order; those on disk are not generated again.

        Args:
            model: generates the missing ones.
            prompts: rendered prompts.
            max_new_tokens: at most this many tokens each.
            batch_size: prompts generated (and stored) together.
            progress: called with the number of finished prompts.
        """
        keys = [_key(model.fingerprint, max_new_tokens, prompt) for prompt in prompts]
        missing = {k: p for k, p in zip(keys, prompts, strict=True) if k not in self._known}
        # Batch prompts of similar length, because computing padding is wasted work.
        todo = sorted(missing, key=lambda k: len(missing[k]))
        for at in range(0, len(todo), batch_size):
            batch = todo[at : at + batch_size]
            made = model.generate([missing[k] for k in batch], max_new_tokens=max_new_tokens)
            self._append(dict(zip(batch, made, strict=True)))
            if progress is not None:
                progress(len(keys) - len(todo) + at + len(batch))
        return [self._known[k] for k in keys]

    def _append(self, made: dict[str, Generation]) -> None:
        for key, generation in made.items():
            append_row(self._path, {"key": key, **asdict(generation), "prompt": None})
            self._known[key] = generation

    def _read(self, file: Path) -> None:
        for row in whole_rows(file):
            with suppress(ValueError, KeyError, TypeError):
                self._known[row["key"]] = _generation(row)


def _generation(row: dict[str, Any]) -> Generation:
    tokens = tuple(
        Token(**(t | {"top": tuple((int(i), float(p)) for i, p in t["top"])}))
        for t in row["tokens"]
    )
    ids = row["prompt_token_ids"]
    return Generation(
        text=row["text"],
        tokens=tokens,
        prompt_token_ids=tuple(ids) if ids is not None else None,
        source=row["source"],
        writer=row.get("writer"),
    )


def _key(fingerprint: str, max_new_tokens: int, prompt: str) -> str:
    content = json.dumps([fingerprint, max_new_tokens, prompt])
    return hashlib.sha256(content.encode()).hexdigest()
