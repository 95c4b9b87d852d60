"""AlignScore (Zha et al., ACL 2023, arXiv 2305.16739), the paper's P(faithful): exact and fast.

    model = AlignScore.from_pretrained("base")
    model.score(["Ghent lies in Belgium. It has canals."], ["Ghent is Belgian."])

A context is cut into chunks and a claim into sentences, and a RoBERTa with three heads scores every
(chunk, sentence) pair. The score of a sentence is that of its best chunk; the score of a claim is
the mean over its sentences. All pairs of a call are batched together, equal pairs are computed
once, and recent scores are cached.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.numbers import DTYPES, Dtype, chosen_dtype
from franq_guard.faithfulness.alignscore.chunks import Splitter, default_splitter, splitter_name
from franq_guard.faithfulness.alignscore.evidence import Support, find_support
from franq_guard.faithfulness.alignscore.pair_grid import Grid, GridBuilder
from franq_guard.faithfulness.alignscore.pair_scorer import PairScorer
from franq_guard.faithfulness.base import check_claims, check_pairs, texts_of
from franq_guard.records import Evidence, Passage

if TYPE_CHECKING:
    from franq_guard.faithfulness.alignscore.checkpoint import Weights

Mode = Literal["nli_sp", "bin_sp", "reg_sp", "nli", "bin", "reg"]
Context = Literal["joined", "per-passage"]
_BLOCK: Final = 1024
"""How many (context, claim) items are tokenised and held in memory at a time."""


class Options(TypedDict, total=False):
    """The keyword options of `AlignScore`, which documents them."""

    mode: Mode
    sentence_splitter: Splitter | None
    exact: bool
    context: Context
    dtype: Dtype
    device: str
    batch_tokens: int
    cache_size: int
    shortlist: int | None


class AlignScore:
    """A faithfulness model (see `FaithfulnessModel`) with AlignScore's weights; thread-safe.

    Args:
        weights: from `read_weights`; most users call `from_pretrained` or `from_checkpoint`.
        mode: which head, and on what. ``nli``: 3-way head, P(aligned); ``bin``: 2-way head,
            P(aligned); ``reg``: regression head, trained towards [0, 1] but unbounded, so clipped
            to [0, 1] unless `exact`. With ``_sp`` the head reads pairs of chunk and sentence,
            without it the whole texts.
        sentence_splitter: function from a text to its sentences, in order; default
            `default_splitter`: NLTK's Punkt, as in the original, if it and its data are installed,
            else sentencex.
        exact: reproduce the original even where its behaviour is surprising: text of a chunk beyond
            the model's window is dropped, ``</s>`` in a text counts as the special token, a blank
            context is scored like any text, and ``reg`` is not clipped. Without it, long texts are
            read in windows and an empty context scores 0; where the original drops nothing, the
            scores are the same.
        context: how `score_passages` and `evidence` read several passages: ``joined`` in order by
            one newline, as in the FRANQ paper, or ``per-passage``, taking the best score.
        dtype: ``float32`` agrees with the original to 1e-5; ``bfloat16`` is about twice as fast on
            CPUs that support it (three times slower on others) and, on random weights, changes
            scores by up to 0.1. ``auto`` uses it where the CPU supports it; the fingerprint
            names the dtype in use.
        device: where torch computes.
        batch_tokens: tokens in one forward pass.
        cache_size: scored pairs kept in memory, about 300 bytes each.
        shortlist: how many sentences of the best chunk `evidence` scores, those that share the most
            words with the claim; None: all of them.

    Raises:
        ValueError: an unknown mode, context or dtype.
    """

    languages: Collection[str] | None = ("en",)
    """Languages of the published checkpoints. Set it to None for a checkpoint of your own that
    accepts any language."""

    def __init__(
        self,
        weights: Weights,
        *,
        mode: Mode = "nli_sp",
        sentence_splitter: Splitter | None = None,
        exact: bool = False,
        context: Context = "joined",
        dtype: Dtype = "float32",
        device: str = "cpu",
        batch_tokens: int = 2048,
        cache_size: int = 20_000,
        shortlist: int | None = 3,
    ) -> None:
        _check("mode", mode, get_args(Mode))
        _check("context", context, get_args(Context))
        _check("dtype", dtype, DTYPES)
        taken = chosen_dtype(dtype)
        import torch

        from franq_guard.faithfulness.alignscore.encoder import OUTPUTS, Encoder

        splitter = sentence_splitter or default_splitter()
        self.context = context
        self._head = mode.removesuffix("_sp")
        self._split = mode.endswith("_sp")
        self._exact = exact
        self._shortlist = shortlist
        self._grids = GridBuilder(
            weights.tokenizer, splitter, window=weights.config.window, exact=exact
        )
        self._logits = PairScorer(
            Encoder(weights.config, weights.tensors, dtype=getattr(torch, taken), device=device),
            begin=weights.special("<s>"),
            end=weights.special("</s>"),
            outputs=OUTPUTS,
            batch_tokens=batch_tokens,
            cache_size=cache_size,
        )
        options = [mode, splitter_name(splitter), context, taken, *(["exact"] if exact else [])]
        self._fingerprint = f"alignscore:{weights.digest()}:{':'.join(options)}"

    @classmethod
    def from_checkpoint(
        cls,
        path: str | Path,
        *,
        backbone: str | Path | None = None,
        **options: Unpack[Options],
    ) -> AlignScore:
        """Load a published ``.ckpt``, or what `convert_checkpoint` made of one.

        `path` and `backbone` are as in `read_weights`, which also documents the errors; `options`
        are those of the class.
        """
        from franq_guard.faithfulness.alignscore.checkpoint import read_weights

        return cls(read_weights(path, backbone=backbone), **options)

    @classmethod
    def from_pretrained(
        cls,
        size: Literal["base", "large"],
        *,
        revision: str | None = None,
        **options: Unpack[Options],
    ) -> AlignScore:
        """Load the published AlignScore-base (2 GB) or -large (5 GB), downloading it if necessary.

        The file is pinned to a commit and its SHA-256 is checked on every call, which takes
        seconds; to avoid that, convert the checkpoint once and use `from_checkpoint`. `revision`
        is another full commit hash of the repository, for which no checksum is checked.

        Raises:
            HubUnreachableError: the hub is unreachable and the file is not cached; the message says
                what to do.
            CheckpointError: the checksum differs from that of the published file.
        """
        from franq_guard.faithfulness.alignscore.hub import PUBLISHED, checkpoint_file

        path = checkpoint_file(size, revision=revision)
        return cls.from_checkpoint(path, backbone=PUBLISHED[size].backbone, **options)

    @property
    def fingerprint(self) -> str:
        """Digest of weights and tokenizer, and the options that change the scores."""
        return self._fingerprint

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """P(faithful) in [0, 1] of n (context, claim) pairs; see the class for mode ``reg``.

        A pair's score does not depend on the other pairs, except for float32 rounding (about 1e-6).

        Raises:
            ValueError: an empty claim, or sequences of different length.
        """
        return [float(table.max(axis=0).mean()) for _, table in self._tables(contexts, claims)]

    def score_passages(
        self, passages: Sequence[Sequence[Passage | str]], claims: Sequence[str]
    ) -> list[float]:
        """P(faithful) of n claims, each with its own passages, read as `context` says."""
        contexts = [self._contexts(texts_of(own)) for own in passages]
        counts = [len(own) for own in contexts]
        repeated = [claim for claim, n in zip(claims, counts, strict=True) for _ in range(n)]
        scores = iter(self.score([text for own in contexts for text in own], repeated))
        return [max((next(scores) for _ in range(n)), default=0.0) for n in counts]

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (n, 3) of entailment, neutral, contradiction by the 3-way head.

        Texts are read whole, whatever the mode. If one is longer than the window, each piece of the
        hypothesis takes the window that entails it most, and the result is the mean over pieces.
        """
        items = _items(premises, hypotheses)
        results = np.empty((len(items), 3))
        for index, (grid, logits) in enumerate(self._run(items, split=False)):
            probabilities = _softmax(logits[:, :3]).reshape(-1, grid.columns, 3)
            best = probabilities[:, :, 0].argmax(axis=0)
            results[index] = probabilities[best, np.arange(grid.columns)].mean(axis=0)
        return results

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """For each claim, the sentence of a passage that supports it best (see `support`)."""
        return [s.sentence if s else None for s in self.support(passages, claims)]

    def support(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Support | None]:
        """For each claim, the chunk that supports it best and the best sentence in that chunk.

        After `score_passages` with the same passages the chunk scores are cached, so only the
        sentences have to be computed.
        None where no passage has text.

        Raises:
            ValueError: an empty claim.
        """
        texts = texts_of(passages)
        return find_support(
            texts,
            claims,
            contexts=self._contexts(texts),
            tables=lambda contexts, claims: list(self._tables(contexts, claims)),
            sentences=cache(self._grids.sentences),
            shortlist=self._shortlist,
        )

    def _contexts(self, texts: Sequence[str]) -> list[str]:
        return ["\n".join(texts)] if self.context == "joined" else list(texts)

    def _tables(
        self, contexts: Sequence[str], claims: Sequence[str]
    ) -> Iterator[tuple[Grid, NDArray[np.float64]]]:
        """For each pair its grid and the scores (rows, columns) of the grid's cells."""
        items = _items(contexts, claims)
        if self._split or not self._exact:
            check_claims(claims)
        live = [self._exact or bool(context.strip()) for context, _ in items]
        run = self._run([item for item, has_text in zip(items, live, strict=True) if has_text])
        for has_text in live:
            if has_text:
                grid, logits = next(run)
                yield grid, self._values(logits).reshape(-1, grid.columns)
            else:
                yield Grid([], 1, [(0, 0)]), np.zeros((1, 1))

    def _run(
        self, items: Sequence[tuple[str, str]], *, split: bool | None = None
    ) -> Iterator[tuple[Grid, NDArray[np.float32]]]:
        split = self._split if split is None else split
        for start in range(0, len(items), _BLOCK):
            grids = self._grids(items[start : start + _BLOCK], split=split)
            logits = self._logits([pair for grid in grids for pair in grid.pairs])
            ends = np.cumsum([len(grid.pairs) for grid in grids])
            yield from zip(grids, np.split(logits, ends[:-1]), strict=True)

    def _values(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        if self._head == "nli":
            return _softmax(logits[:, :3])[:, 0]
        if self._head == "bin":
            return _softmax(logits[:, 3:5])[:, 1]
        values = logits[:, 5].astype(np.float64)
        return values if self._exact else np.clip(values, 0.0, 1.0)


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True, initial=-np.inf))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _items(contexts: Sequence[str], claims: Sequence[str]) -> list[tuple[str, str]]:
    check_pairs(contexts, claims)
    return list(zip(contexts, claims, strict=True))


def _check(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(allowed)}")
