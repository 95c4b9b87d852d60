"""One recorded call of ``generate``: a listener among its processors, a tee on its stream."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList
from transformers.generation import GenerationMode

from franq_guard.language_model.transformers.network import as_id_set
from franq_guard.language_model.transformers.step_keeper import StepKeeper
from franq_guard.language_model.transformers.token_scores import TokenScores

logger = logging.getLogger(__name__)

_PLAIN = (GenerationMode.GREEDY_SEARCH, GenerationMode.SAMPLE)


class Row(NamedTuple):
    """One written sequence: prompt ids without padding, ids, and what was kept of them (T,)."""

    prompt_ids: tuple[int, ...] | None
    ids: tuple[int, ...]
    kept: TokenScores | None


class Listener(LogitsProcessor):  # type: ignore[misc]
    """A :class:`StepKeeper` whose failure is noted and goes no further."""

    def __init__(self, top_k: int, *, able: bool) -> None:
        self.keeper = StepKeeper(top_k)
        self.config: Any = None
        self.listening = False
        self._able = able

    def begin(self, config: Any) -> bool:
        """Whether to listen: only where every step is one row per sequence, without drafts."""
        self.config = config
        self.listening = self._able and config.get_generation_mode() in _PLAIN
        return self.listening

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores as they are."""
        if self.listening:
            try:
                self.keeper(input_ids, scores)
            except Exception:  # the user's generation goes on without us
                logger.warning("token probabilities could not be kept", exc_info=True)
                self.listening = False
        return scores


class Tee:
    """A streamer that finishes the record before the reader learns of the end."""

    def __init__(self, inner: Any, done: Callable[[list[int]], None]) -> None:
        self._inner = inner
        self._done = done
        self._ids: list[int] | None = None

    def put(self, value: Any) -> None:
        """The prompt's ids first, then each step's."""
        if self._ids is None:
            self._ids = []
        else:
            self._ids.extend(value.flatten().tolist())
        self._inner.put(value)

    def end(self) -> None:
        """No more ids."""
        self._done(self._ids or [])
        self._inner.end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class RecordedCall:
    """One call of ``generate``: ``arguments`` with the listener added; its rows go to ``save``."""

    def __init__(
        self,
        arguments: Mapping[str, Any],
        *,
        top_k: int,
        config: Any,
        save: Callable[[list[Row]], None],
    ) -> None:
        alone = all(arguments.get(n) is None for n in ("assistant_model", "custom_generate"))
        self._listener = Listener(top_k, able=alone)
        self._default_config = config
        self._save = save
        self._saved = False
        given = arguments.get("logits_processor") or []
        self.arguments = dict(arguments)
        self.arguments["logits_processor"] = LogitsProcessorList([*given, self._listener])
        if arguments.get("streamer") is not None:
            self.arguments["streamer"] = Tee(arguments["streamer"], self._end_of_stream)

    def end(self, out: Any) -> None:
        """Save what ``generate`` returned, unless its stream already was."""
        if self._saved:
            return
        try:
            sequences = out if torch.is_tensor(out) else out.sequences
            prompt = self._prompt()
            width = 0 if prompt is None else prompt.shape[1]
            self._save(self._rows(sequences[:, width:]))
        except Exception:  # the user has the answer; only the record is lost
            logger.warning("this generation could not be recorded", exc_info=True)

    def so_far(self) -> list[Row]:
        """The rows as far as they are written, while ``generate`` runs; from any thread.

        A step is known when the next one begins. Empty where the steps are not observed.
        """
        found = self._listener.keeper.so_far() if self._listener.listening else None
        if found is None:
            return []
        ids, kept = found
        return self._cut(ids, kept.cpu())

    def _end_of_stream(self, ids: list[int]) -> None:
        try:
            self._save(self._rows(torch.tensor([ids], dtype=torch.long)))
            self._saved = True
        except Exception:  # the stream goes on; a second try follows when generate returns
            logger.warning("this stream could not be recorded", exc_info=True)

    def _rows(self, answers: Tensor) -> list[Row]:
        """Rows of the written ids (B, T), each up to its end."""
        return self._cut(answers, self._kept(answers))

    def _cut(self, answers: Tensor, kept: TokenScores | None) -> list[Row]:
        prompts = self._prompts(len(answers))
        config = self._listener.config or self._default_config
        eos, pad = as_id_set(config.eos_token_id), config.pad_token_id
        rows = []
        for i, ids in enumerate(answers.tolist()):
            length = _length(ids, eos, pad if len(answers) > 1 else None)
            mine = None if kept is None else kept.rows((i, slice(length)))
            rows.append(Row(prompts[i], tuple(ids[:length]), mine))
        return rows

    def _kept(self, answers: Tensor) -> TokenScores | None:
        """What the listener kept (B, T), on the host; None where it could not listen."""
        if not self._listener.listening:
            return None
        try:
            return self._listener.keeper.finish(answers).cpu()
        except Exception:  # the ids are worth recording without it
            logger.warning("token probabilities could not be kept", exc_info=True)
            return None

    def _prompts(self, rows: int) -> list[tuple[int, ...] | None]:
        """Each row's prompt without the padding on the left."""
        prompt = self._prompt()
        if prompt is None or not prompt.shape[1]:
            return [None] * rows
        starts = self._mask(prompt).argmax(dim=1).tolist()
        cut = [tuple(ids[at:]) for ids, at in zip(prompt.tolist(), starts, strict=True)]
        return [cut[i * len(cut) // rows] for i in range(rows)]

    def _prompt(self) -> Tensor | None:
        if self._listener.keeper.prompt is not None:
            return self._listener.keeper.prompt
        given = self.arguments.get("input_ids", self.arguments.get("inputs"))
        return given if torch.is_tensor(given) else None

    def _mask(self, prompt: Tensor) -> Tensor:
        """1 where the prompt (B, P) has an id, 0 where it is padded; the rule of ``generate``."""
        mask = self.arguments.get("attention_mask")
        if torch.is_tensor(mask) and mask.shape[1:] == prompt.shape[1:]:
            return mask.long().repeat_interleave(len(prompt) // len(mask), dim=0)
        config = self._listener.config or self._default_config
        pad = config.pad_token_id
        if pad is None or pad in as_id_set(config.eos_token_id):
            return torch.ones_like(prompt)
        return prompt.ne(pad).long()


def _length(row: Sequence[int], eos: frozenset[int], pad: int | None) -> int:
    """Ids up to and with the first end; padding after another kind of stop is cut as well."""
    end = next((i + 1 for i, token in enumerate(row) if token in eos), None)
    if end is not None:
        return end
    length = len(row)
    while length and pad is not None and row[length - 1] == pad:
        length -= 1
    return length
