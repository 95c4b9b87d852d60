"""Records one call of ``generate``, by a logits processor and a wrapper of its streamer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList
from transformers.generation import GenerationMode

from franq_guard.basics.failures import log_failure
from franq_guard.language_model.transformers.network import as_id_set
from franq_guard.language_model.transformers.step_keeper import StepKeeper
from franq_guard.language_model.transformers.token_scores import TokenScores

logger = logging.getLogger(__name__)

_PLAIN = (GenerationMode.GREEDY_SEARCH, GenerationMode.SAMPLE)


class Row(NamedTuple):
    """One generated sequence: prompt ids without padding, ids, and their scores (T,)."""

    prompt_ids: tuple[int, ...] | None
    ids: tuple[int, ...]
    kept: TokenScores | None


class Listener(LogitsProcessor):  # type: ignore[misc]
    """A :class:`StepKeeper` whose exceptions are logged and do not reach ``generate``."""

    def __init__(self, top_k: int, *, able: bool) -> None:
        self.keeper = StepKeeper(top_k)
        self.config: Any = None
        self.listening = False
        self._able = able

    def begin(self, config: Any) -> bool:
        """Start listening if each step has one row per sequence (no beams, no draft model)."""
        self.config = config
        self.listening = self._able and config.get_generation_mode() in _PLAIN
        return self.listening

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Record the scores and return them unchanged."""
        if self.listening:
            try:
                self.keeper(input_ids, scores)
            except Exception as error:  # the user's generation must go on
                log_failure(logger, "token probabilities could not be kept", error)
                self.listening = False
        return scores


class Tee:
    """Wraps a streamer so that the record is complete before the streamer's ``end`` is called."""

    def __init__(self, inner: Any, done: Callable[[list[int]], None]) -> None:
        self._inner = inner
        self._done = done
        self._ids: list[int] | None = None

    def put(self, value: Any) -> None:
        """Receive the prompt's ids first, then those of each step."""
        if self._ids is None:
            self._ids = []
        else:
            self._ids.extend(value.flatten().tolist())
        self._inner.put(value)

    def end(self) -> None:
        """Complete the record, then end the streamer."""
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
        """Save what ``generate`` returned, unless its stream was saved already."""
        if self._saved:
            return
        try:
            sequences = out if torch.is_tensor(out) else out.sequences
            prompt = self._prompt()
            width = 0 if prompt is None else prompt.shape[1]
            self._save(self._rows(sequences[:, width:]))
        except Exception as error:  # the user has the answer; only the record is lost
            log_failure(logger, "this generation could not be recorded", error)

    def so_far(self, since: int = 0) -> list[Row]:
        """The rows generated so far, while ``generate`` runs; may be called from any thread.

        Each with its ids and scores from step ``since`` on. A step is known when the next one
        begins. Empty if there are none, or the steps are not observed.
        """
        found = self._listener.keeper.so_far(since) if self._listener.listening else None
        if found is None:
            return []
        ids, kept = found
        return self._cut(ids, kept.cpu())

    def _end_of_stream(self, ids: list[int]) -> None:
        try:
            self._save(self._rows(torch.tensor([ids], dtype=torch.long)))
            self._saved = True
        except Exception as error:  # the stream must go on; end() tries again
            log_failure(logger, "this stream could not be recorded", error)

    def _rows(self, answers: Tensor) -> list[Row]:
        """Rows of the generated ids (B, T), each up to its end."""
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
        """The listener's scores (B, T) in CPU memory; None if it could not listen."""
        if not self._listener.listening:
            return None
        try:
            return self._listener.keeper.finish(answers).cpu()
        except Exception as error:  # the ids are useful even without scores
            log_failure(logger, "token probabilities could not be kept", error)
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
        """1 where the prompt (B, P) has an id, 0 where it is padded, as ``generate`` decides."""
        mask = self.arguments.get("attention_mask")
        if torch.is_tensor(mask) and mask.shape[1:] == prompt.shape[1:]:
            return mask.long().repeat_interleave(len(prompt) // len(mask), dim=0)
        config = self._listener.config or self._default_config
        pad = config.pad_token_id
        if pad is None or pad in as_id_set(config.eos_token_id):
            return torch.ones_like(prompt)
        return prompt.ne(pad).long()


def _length(row: Sequence[int], eos: frozenset[int], pad: int | None) -> int:
    """Number of ids up to and including the first end token, else without trailing padding."""
    end = next((i + 1 for i, token in enumerate(row) if token in eos), None)
    if end is not None:
        return end
    length = len(row)
    while length and pad is not None and row[length - 1] == pad:
        length -= 1
    return length
