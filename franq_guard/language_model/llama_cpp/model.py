"""A GGUF model run by llama.cpp in this process (``llama-cpp-python``), as a white-box model."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from franq_guard.language_model.base import (
    Contrast,
    LanguageModel,
    MissingModelError,
    Progress,
    Prompt,
    check_sampling,
)
from franq_guard.language_model.contrast import captured_prompt, contrast
from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.forward_passes import forward_passes
from franq_guard.language_model.llama_cpp.row_cache import Row, RowCache
from franq_guard.language_model.llama_cpp.tokenizer import GgufTokenizer
from franq_guard.records import Generation, Source, Span, Token, Trace

INSTALL = "pip install llama-cpp-python (it is built from source: a C++ compiler, 5 to 8 minutes)"


class LlamaCppModel(LanguageModel):
    """A loaded ``llama_cpp.Llama``, made with ``logits_all=True``, and the tokeniser inside it.

    A ``Llama`` serves one call at a time. Calls of this class are serialised by :attr:`lock`, of
    which each ``Llama`` has one, however many wrappers it has. An application that uses the same
    ``Llama`` from several threads must hold that lock around its own calls.

    Args:
        llama: the object; its weights are not loaded again.
        name: used in the fingerprint; default: ``general.name`` of the file, or the file's name.
        top_k: alternatives kept per token.

    Raises:
        ValueError: for a ``Llama`` that keeps only the logits of the last token.
    """

    def __init__(self, llama: Any, *, name: str | None = None, top_k: int = 5) -> None:
        # Without logits_all, or with a draft model, scores does not have a row for every token.
        if not getattr(llama, "_logits_all", False) or len(llama.scores) < llama.n_ctx():
            raise ValueError(
                "this Llama keeps no logits of earlier tokens: make it with logits_all=True "
                "(ChatLlamaCpp and LlamaCpp: logits_all=True; LlamaIndex's LlamaCPP: "
                "model_kwargs={'logits_all': True}) and without a draft model"
            )
        self.model = llama
        self.tokenizer = GgufTokenizer(llama)
        self.encoder = Encoder(self.tokenizer, llama.n_ctx())
        # On the object itself: every wrapper of one Llama must take the same lock.
        self.lock: threading.RLock = vars(llama).setdefault("_franq_lock", threading.RLock())
        self._name = name
        self._top_k = top_k

    @classmethod
    def from_gguf(
        cls,
        path: str | Path,
        *,
        n_ctx: int = 4096,
        name: str | None = None,
        top_k: int = 5,
        **llama_options: Any,
    ) -> LlamaCppModel:
        """A model from a GGUF file.

        Args:
            path: the file.
            n_ctx: the window in tokens. The logits of every position are kept: ``n_ctx`` times the
                vocabulary times 4 bytes once it has been filled (0.8 GB at 4096 and 49,152).
            name: see the class.
            top_k: see the class.
            llama_options: passed to ``llama_cpp.Llama`` (``n_threads``, ``n_gpu_layers``, ...).

        Raises:
            MissingModelError: if the package or the file is missing.
        """
        if not Path(path).is_file():
            raise MissingModelError(f"there is no file {path}: give the path of a .gguf file")
        try:
            library = import_module("llama_cpp")
        except ModuleNotFoundError as error:
            raise MissingModelError(f"llama.cpp is not installed; run: {INSTALL}") from error
        options = {"verbose": False, **llama_options, "logits_all": True, "n_ctx": n_ctx}
        try:
            llama = library.Llama(model_path=str(path), **options)
        except ValueError as error:
            raise MissingModelError(f"llama.cpp cannot load {path}: {error}") from error
        return cls(llama, name=name, top_k=top_k)

    @cached_property
    def fingerprint(self) -> str:
        """``name/digest/llama.cpp``; the digest is of the metadata and samples of the file."""
        metadata = self.model.metadata or {}
        path = Path(self.model.model_path)
        name = self._name or metadata.get("general.name") or path.stem
        digest = hashlib.sha256(json.dumps(metadata, sort_keys=True, default=str).encode())
        if path.is_file():
            for stretch in _stretches_of(path):
                digest.update(stretch)
        return f"{name}/{digest.hexdigest()[:8]}/llama.cpp"

    def render(self, prompt: Prompt) -> str:
        """See :meth:`Encoder.render`; the chat format is the ``Llama`` object's own."""
        return self.encoder.render(prompt)

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """Greedy answers up to an end-of-generation token (kept, with an empty span).

        Prompts that do not fit into the window are cut as in ``TransformersModel.generate``.
        """
        made = []
        for prompt in prompts:
            with self._row_cache() as cache:
                made += self._written(cache, prompt, [_greedy], max_new_tokens)
            if progress is not None:
                progress(len(made), len(prompts))
        return made

    def sample(
        self,
        prompts: Sequence[str],
        *,
        n: int = 10,
        max_new_tokens: int = 32,
        temperature: float = 1.0,
        seed: int = 0,
    ) -> list[list[Generation]]:
        """``n`` samples per prompt, which is read once; no top-k or top-p, duplicates kept.

        Log-probabilities are at temperature 1 whatever ``temperature`` is. A prompt's samples
        depend on ``seed`` and the prompt, not on the other prompts. Raises ``ValueError`` for
        settings with which nothing can be sampled.
        """
        check_sampling(n, max_new_tokens, temperature)
        found = []
        for prompt in prompts:
            draws = [_drawing(temperature, np.random.default_rng((seed, i))) for i in range(n)]
            with self._row_cache() as cache:
                found.append(self._written(cache, prompt, draws, max_new_tokens))
        return found

    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Each answer under its prompt: tokens with log-probability, entropy and top-k.

        Ids, windows and long answers are treated as in ``TransformersModel.score``. Raises
        ``ValueError`` if the lengths differ.
        """
        if len(prompts) != len(answers):
            raise ValueError(f"{len(prompts)} prompts for {len(answers)} answers")
        with self._row_cache() as cache:
            return [self._scored(cache, *pair) for pair in zip(prompts, answers, strict=True)]

    def without_evidence(self, trace: Trace) -> Contrast:
        """See :mod:`.contrast`."""
        captured = captured_prompt(trace.generation, self, self.encoder)
        return contrast(trace, captured, self.render)

    @contextmanager
    def _row_cache(self) -> Iterator[RowCache]:
        with self.lock:
            yield RowCache(self.model)

    def _scored(
        self, cache: RowCache, prompt: str | Sequence[int], answer: Generation
    ) -> Generation:
        encoded = self.encoder.prompt_ids(prompt)
        ready = self.encoder.answer(answer, encoded)
        ids = [t.id for t in ready.tokens]
        kept = [
            self._kept(row, target)
            for job in forward_passes(self.encoder, 0, encoded, ids)
            for row, target in zip(cache.rows(job.context, job.targets), job.targets, strict=True)
        ]
        text = prompt if isinstance(prompt, str) else self.encoder.prompt_text(encoded)
        spans = [(t.start, t.end) for t in ready.tokens]
        source: Source = "teacher-forced"
        return Generation(answer.text, _tokens(ids, spans, kept), text, tuple(encoded), source)

    def _written(
        self,
        cache: RowCache,
        prompt: str,
        choices: Sequence[Callable[[Row], int]],
        max_new_tokens: int,
    ) -> list[Generation]:
        """One answer for each function in ``choices``, which chooses the next id."""
        text, seen = self.encoder.leaving_room(prompt, max_new_tokens)
        room = self.encoder.room(seen, max_new_tokens)
        return [
            self._generation(text, seen, *self._continued(cache, seen, choose, room))
            for choose in choices
        ]

    def _continued(
        self, cache: RowCache, prompt: Sequence[int], choose: Callable[[Row], int], room: int
    ) -> tuple[list[int], list[_Kept]]:
        ids: list[int] = []
        kept: list[_Kept] = []
        while len(ids) < room and not (ids and ids[-1] in self.tokenizer.eos_ids):
            row = cache.last_row([*prompt, *ids])
            ids.append(choose(row))
            kept.append(self._kept(row, ids[-1]))
        return ids, kept

    def _generation(
        self, prompt: str, seen: Sequence[int], ids: Sequence[int], kept: Sequence[_Kept]
    ) -> Generation:
        text = self.encoder.text(ids)
        spans = self.encoder.vocabulary.spans(ids, text)
        tokens = _tokens(ids, spans, kept)
        return Generation(text, tokens, prompt, tuple(seen), "captured", self.fingerprint)

    def _kept(self, row: Row, chosen: int) -> _Kept:
        best = np.argpartition(row, -self._top_k)[-self._top_k :].tolist() if self._top_k else []
        top = tuple((i, float(row[i])) for i in sorted(best, key=lambda i: -row[i]))
        # Clamped, because 0 * -inf would be NaN; a probability of 0 must add 0.
        entropy = -float((np.exp(row) * np.maximum(row, -1e4)).sum())
        return _Kept(float(row[chosen]), entropy, top)


@dataclass(frozen=True, slots=True)
class _Kept:
    logprob: float
    entropy: float
    top: tuple[tuple[int, float], ...]


def _greedy(row: Row) -> int:
    return int(row.argmax())


def _drawing(temperature: float, generator: np.random.Generator) -> Callable[[Row], int]:
    def draw(row: Row) -> int:
        weights = np.exp((row - row.max()) / temperature)
        sums = weights.cumsum()
        at = int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))
        return min(at, len(row) - 1)  # with NaN the index is past the last id

    return draw


def _tokens(ids: Sequence[int], spans: Sequence[Span], kept: Sequence[_Kept]) -> tuple[Token, ...]:
    return tuple(
        Token(i, a, b, one.logprob, one.entropy, one.top)
        for i, (a, b), one in zip(ids, spans, kept, strict=True)
    )


def _stretches_of(path: Path) -> Iterator[bytes]:
    """A file's length, then 64 evenly spread stretches of it, to avoid reading gigabytes."""
    length = path.stat().st_size
    yield str(length).encode()
    with path.open("rb") as file:
        for i in range(64):
            file.seek(length * i // 64)
            yield file.read(4096)
