"""Any causal language model of transformers, with its tokeniser, as a white-box model."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.threads import threads_for
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
from franq_guard.language_model.transformers import sampling, scoring
from franq_guard.language_model.transformers.digest import weights_digest
from franq_guard.language_model.transformers.network import Network, as_id_set, unwrapped
from franq_guard.language_model.transformers.prompt_cache import PromptCache
from franq_guard.language_model.transformers.prompt_reading import PromptReading
from franq_guard.language_model.transformers.session import CachedSession
from franq_guard.language_model.transformers.step_keeper import StepKeeper
from franq_guard.language_model.transformers.token_scores import TokenScores, cat
from franq_guard.records import Generation, Source, Trace

logger = logging.getLogger(__name__)


class TransformersModel(LanguageModel):
    """A loaded model and its tokenizer. Neither is changed; thread-safe.

    ``name`` is used in the fingerprint; default: the last part of the name or path that the model
    was loaded from, the same wherever it is loaded: for the guard or in a chain. ``top_k``
    alternatives are kept per token. ``token_budget``: padded tokens per forward pass; more need
    more memory. The window is the model's ``max_position_embeddings``; a prompt that is too long
    for it is cut to its leading special tokens and its end (see :func:`forward_passes`).

    Raises ``TypeError`` for a model's name, ``ValueError`` for an encoder-decoder, or a model in
    training mode, whose dropout would change every probability.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str | None = None,
        top_k: int = 5,
        token_budget: int = 4096,
    ) -> None:
        if isinstance(model, str):
            raise TypeError(
                f"{model!r} is no loaded model: TransformersModel.from_pretrained({model!r}) loads "
                "one, with its tokenizer"
            )
        model = unwrapped(model)
        if model.config.is_encoder_decoder:
            raise ValueError("a causal language model is needed, this one is an encoder-decoder")
        if model.training:
            raise ValueError("the model is in training mode: call model.eval() first")
        self.model = model
        self.tokenizer = tokenizer
        self.network = Network(model)
        self.encoder = Encoder(tokenizer, self.network.window)
        self._plain = _with_plain_settings(model)
        self._name = name
        self.top_k = top_k
        self._budget = token_budget

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str,
        *,
        revision: str | None = None,
        dtype: str | torch.dtype = "auto",
        device: str | torch.device = "cpu",
        top_k: int = 5,
        token_budget: int = 4096,
    ) -> TransformersModel:
        """A model from a folder or, at a pinned ``revision``, from the hub.

        Nothing is downloaded unless a revision (preferably a commit) is given: without one a hub
        name must be in the local hub cache already, else :class:`MissingModelError`. Code in the
        repository is not run.
        """
        _check_folder(name_or_path)
        options = {
            "revision": revision or "main",
            "local_files_only": revision is None,
            "trust_remote_code": False,
        }
        try:
            tokenizer = AutoTokenizer.from_pretrained(name_or_path, **options)
            model = AutoModelForCausalLM.from_pretrained(name_or_path, dtype=dtype, **options)
        except (OSError, ValueError) as error:
            raise MissingModelError(
                f"cannot load {name_or_path}: {error}\n{_what_to_do(name_or_path, str(error))}"
            ) from error
        model = model.to(device).eval()
        return cls(model, tokenizer, top_k=top_k, token_budget=token_budget)

    @cached_property
    def fingerprint(self) -> str:
        """``name/digest/dtype``; the digest is of the configuration and a sample of the weights."""
        name = self._name or Path(self.model.config._name_or_path or "model").name
        dtype = str(self.model.dtype).removeprefix("torch.")
        return f"{name}/{weights_digest(self.model)}/{dtype}"

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end an answer: the model's and the tokeniser's."""
        return self.network.eos_ids | as_id_set(self.tokenizer.eos_token_id)

    def render(self, prompt: Prompt) -> str:
        """See :meth:`Encoder.render`."""
        return self.encoder.render(prompt)

    @threads_for()
    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_new_tokens: int = 128,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """Greedy answers up to an end-of-sequence token (kept, with an empty span).

        If a prompt leaves no room for ``max_new_tokens`` in the window, its beginning is cut, down
        to half a window; the answer's ``prompt`` and ``prompt_token_ids`` are then what the model
        actually read.
        """
        read = [self.encoder.leaving_room(p, max_new_tokens) for p in prompts]
        encoded = [ids for _, ids in read]
        done: dict[int, Generation] = {}
        for batch in self._generation_batches(encoded, max_new_tokens):
            between_batches()
            rows = self._generate([encoded[i] for i in batch], max_new_tokens)
            for i, (ids, kept) in zip(batch, rows, strict=True):
                done[i] = self.generation(*read[i], ids, kept)
            if progress is not None:
                progress(len(done), len(prompts))
        return [done[i] for i in range(len(prompts))]

    @threads_for()
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

        The default is the model's full distribution at temperature 1.
        Log-probabilities are at temperature 1 whatever ``temperature`` is. A prompt's samples
        depend on ``seed`` and the prompt, not on the other prompts. Raises ``ValueError`` for
        settings with which nothing can be sampled.
        """
        check_sampling(n, max_new_tokens, temperature)
        return [self._samples(p, n, max_new_tokens, temperature, seed) for p in prompts]

    @threads_for()
    def score(
        self, prompts: Sequence[str | Sequence[int]], answers: Sequence[Generation]
    ) -> list[Generation]:
        """Each answer under its prompt: tokens with log-probability, entropy and top-k.

        The ids are those of ``answer.tokens`` if there are any, else the text is tokenised as the
        prompt's continuation. ``prompt`` and ``prompt_token_ids`` of the result are the given ones.
        NaN where the model returns NaN. Raises ``ValueError`` if the lengths differ.
        """
        if len(prompts) != len(answers):
            raise ValueError(f"{len(prompts)} prompts for {len(answers)} answers")
        encoded = [self.encoder.prompt_ids(p) for p in prompts]
        ready = [self.encoder.answer(a, p) for a, p in zip(answers, encoded, strict=True)]
        ids = [[t.id for t in a.tokens] for a in ready]
        work = [
            job
            for i, prompt in enumerate(encoded)
            for job in forward_passes(self.encoder, i, prompt, ids[i])
        ]
        parts = scoring.score(self.network, work, budget=self._budget, top_k=self.top_k)
        by_answer: dict[int, list[TokenScores]] = {}
        for job, kept in zip(work, parts, strict=True):
            by_answer.setdefault(job.answer, []).append(kept)
        return [
            self._scored(a, prompts[i], encoded[i], by_answer.get(i)) for i, a in enumerate(ready)
        ]

    def session(self, prompt: str | Sequence[int]) -> CachedSession:
        """For an answer that is still being written: see :mod:`.session`."""
        return CachedSession(self, prompt)

    def without_evidence(self, trace: Trace) -> Contrast:
        """See :mod:`.contrast`."""
        captured = captured_prompt(trace.generation, self, self.encoder)
        return contrast(trace, captured, self.render)

    @threads_for()
    def read(self, prompt: str, *, max_new_tokens: int = 32) -> PromptReading:
        """The prompt, read once for an answer, its samples and questions about it.

        A prompt that leaves no room for ``max_new_tokens`` is cut as in :meth:`generate`.
        """
        return PromptReading(self, *self.encoder.leaving_room(prompt, max_new_tokens))

    def _generation_batches(
        self, encoded: Sequence[Sequence[int]], max_new_tokens: int
    ) -> Iterator[list[int]]:
        """Batches of prompt indices, longest first, each as large as the token budget allows.

        The prompts of a batch have the same room for an answer and, of a model that cannot be
        padded, the same length.
        """
        order = sorted(range(len(encoded)), key=lambda i: -len(encoded[i]))
        while order:
            longest = len(encoded[order[0]])
            batch = order[: max(1, self._budget // (longest + max_new_tokens))]
            rooms = {i: self.encoder.room(encoded[i], max_new_tokens) for i in batch}
            batch = [i for i in batch if rooms[i] == rooms[order[0]]]
            if len(encoded[batch[-1]]) < longest and not self._pads:
                batch = [i for i in batch if len(encoded[i]) == longest]
            yield batch
            order = order[len(batch) :]

    @cached_property
    def _pads(self) -> bool:
        """Whether a padded prompt is continued as it is alone; tested once on a few ids.

        Some models count positions from the padding (Bart's decoder), or read it (RWKV).
        """
        short, long = [3, 1, 4], [1, 5, 1, 2, 6]

        def second_step(prompts: Sequence[Sequence[int]]) -> Tensor:
            settings = {"output_logits": True, "return_dict_in_generate": True}
            out = self._plain.generate(**self._padded(prompts), max_new_tokens=2, **settings)
            logits: Tensor = out.logits[1][-1]
            return logits

        try:
            return self.network.equal(second_step([long, short]), second_step([short]))
        except Exception as error:  # any architecture may object in its own way: take the long way
            logger.info("prompts of unequal length are continued one after the other: %s", error)
            return False

    def _padded(self, prompts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        """What ``generate`` takes: the prompts' ids (B, P), padded on the left, and their mask."""
        width = max(map(len, prompts))
        ids = [[self._pad] * (width - len(p)) + list(p) for p in prompts]
        mask = [[0] * (width - len(p)) + [1] * len(p) for p in prompts]
        device = self.network.device
        return {
            "input_ids": torch.tensor(ids, device=device),
            "attention_mask": torch.tensor(mask, device=device),
        }

    @property
    def _pad(self) -> int:
        return min(self.eos_ids, default=0)

    @torch.inference_mode()
    def _generate(
        self, prompts: Sequence[Sequence[int]], max_new_tokens: int
    ) -> list[tuple[list[int], TokenScores]]:
        longest = max(prompts, key=len)
        keeper = StepKeeper(self.top_k)
        out = self._plain.generate(
            **self._padded(prompts),
            max_new_tokens=self.encoder.room(longest, max_new_tokens),
            eos_token_id=sorted(self.eos_ids) or None,
            pad_token_id=self._pad,
            logits_processor=[keeper],
        )
        answers = out[:, len(longest) :]
        kept = keeper.finish(answers).cpu()
        lengths = [answer_length(row, self.eos_ids) for row in answers.tolist()]
        return [
            (row[:n], kept.rows((i, slice(n))))
            for i, (row, n) in enumerate(zip(answers.tolist(), lengths, strict=True))
        ]

    def _samples(
        self, prompt: str, n: int, max_new_tokens: int, temperature: float, seed: int
    ) -> list[Generation]:
        seen, encoded = self.encoder.leaving_room(prompt, max_new_tokens)
        rows = sampling.sample(
            PromptCache(self.network, encoded),
            n=n,
            max_new_tokens=self.encoder.room(encoded, max_new_tokens),
            temperature=temperature,
            seed=seed,
            eos=self.eos_ids,
            top_k=self.top_k,
        )
        return [self.generation(seen, encoded, ids, kept) for ids, kept in rows]

    def generation(
        self, prompt: str, encoded: list[int], ids: list[int], kept: TokenScores
    ) -> Generation:
        """The record of generated ids (T,) and their scores (T,) after the prompt that was read."""
        text = self.encoder.text(ids)
        tokens = kept.tokens(ids, self.encoder.vocabulary.spans(ids, text))
        return Generation(text, tokens, prompt, tuple(encoded), "captured", self.fingerprint)

    def _scored(
        self,
        answer: Generation,
        prompt: str | Sequence[int],
        encoded: list[int],
        parts: list[TokenScores] | None,
    ) -> Generation:
        source: Source = "teacher-forced"
        text = prompt if isinstance(prompt, str) else self.encoder.prompt_text(encoded)
        spans = [(t.start, t.end) for t in answer.tokens]
        ids = [t.id for t in answer.tokens]
        tokens = cat(parts).tokens(ids, spans) if parts else ()
        return Generation(answer.text, tokens, text, tuple(encoded), source)


def _with_plain_settings(model: Any) -> Any:
    """A second object for the same network, which only decodes greedily.

    The settings of the model itself may have penalties or beams, and its ``generate`` may be
    recorded.
    """
    view = copy.copy(model)
    for name in ("generate", "_get_logits_processor"):
        vars(view).pop(name, None)
    view.generation_config = GenerationConfig(do_sample=False)
    return view


def answer_length(ids: Sequence[int], eos: frozenset[int]) -> int:
    """The number of ids up to and including the first end-of-sequence token."""
    return next((i + 1 for i, token in enumerate(ids) if token in eos), len(ids))


def _check_folder(name: str) -> None:
    """Raise :class:`MissingModelError` for a path at which there is no model's folder."""
    folder = Path(name)
    if not folder.is_dir():
        if _is_path(name):
            raise MissingModelError(f"there is no folder {name}")
    elif not any((folder / f"{kind}config.json").is_file() for kind in ("", "adapter_")):
        raise MissingModelError(
            f"{name} is not the folder of a model in the format of transformers: it has no "
            "config.json"
        )


def _what_to_do(name: str, error: str) -> str:
    if not Path(name).is_dir():
        return (
            "Give the path of a folder, or revision='<commit>' to allow the download from the "
            "model hub."
        )
    return "Is its tokenizer in the folder, too (tokenizer.json)?" if "tokenizer" in error else ""


def _is_path(name: str) -> bool:
    """Whether it can only be a path: a name on the hub is OWNER/NAME or NAME."""
    return name.startswith(("/", "~", "./", "../", ".\\")) or name.count("/") > 1 or "\\" in name
