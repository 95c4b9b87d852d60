"""The small offline faithfulness model: a MiniLM cross-encoder that ships with the package.

It scores as AlignScore does (arXiv 2305.16739): the context is cut into chunks and the claim into
sentences; the score of a sentence is that of its best chunk, the score of the claim the mean over
its sentences. `weights/MODEL_CARD.md` describes the training data, the results and known failures.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from franq_guard.basics.deadline import between_batches
from franq_guard.basics.numbers import DTYPES, Dtype, chosen_dtype
from franq_guard.basics.threads import threads_for
from franq_guard.faithfulness.small import blend
from franq_guard.faithfulness.small.chunks import chunks, sentences, windows
from franq_guard.faithfulness.small.encoder_input import (
    CHUNK_TOKENS,
    CLAIM_TOKENS,
    MAX_CLAIM,
    MAX_TOKENS,
    WEIGHTS,
    Ids,
    Pair,
    by_budget,
    make_pair,
    pad,
    token_ids,
)
from franq_guard.faithfulness.small.facts import facts
from franq_guard.faithfulness.small.features import features
from franq_guard.faithfulness.small.nearness import Embed, Nearness
from franq_guard.faithfulness.small.replaced import replaced
from franq_guard.records import Evidence, Passage, Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from franq_guard.faithfulness.small.encoder import Encoder

Floats = NDArray[np.float64]
Logits = tuple[float, float, float]
Texts = tuple[str, ...]
_Key = bytes


class SmallFaithfulness:
    """P(faithful), three-way NLI and evidence on a CPU, without any download.

    Thread-safe: the network is only read, and a lock protects the cache. A score does not depend on
    the other pairs of the call. The cache maps a digest of the two texts to their logits, so a pair
    that was scored before (a second claim with the same sentence, evidence after a score) is not
    computed again.

    Args:
        network: the encoder, in evaluation mode.
        tokenizer: MiniLM's.
        blend: turns logits and features into a calibrated probability.
        name: identifies the weights; `fingerprint` begins with it.
        embed: sentence embeddings for the blend's cosine; None: that input is 0.
        batch_tokens: padded tokens per forward pass; limits the memory used.
        cache: how many pairs are cached; 0 turns the cache off.
    """

    languages: Collection[str] | None = ("en",)
    """Languages the weights were trained on. Set it to None for weights of your own that accept any
    language."""

    def __init__(
        self,
        network: Encoder,
        tokenizer: Tokenizer,
        blend: blend.Blend,
        *,
        name: str,
        embed: Embed | None = None,
        batch_tokens: int = 1024,
        cache: int = 8192,
    ) -> None:
        if batch_tokens < 1 or cache < 0:
            raise ValueError("batch_tokens must be positive and cache at least 0")
        self._network, self._tokenizer, self._blend = network, tokenizer, blend
        self._batch_tokens, self._room = batch_tokens, cache
        self._cache: OrderedDict[_Key, Logits] = OrderedDict()
        self._lock = threading.Lock()
        self._nearness = None if embed is None else Nearness(embed, room=max(cache, 1))
        self._fingerprint = f"{name}/chunk{CHUNK_TOKENS}"

    @classmethod
    def bundled(
        cls, *, dtype: Dtype = "auto", threads: int | None = None, weights: Path | None = None
    ) -> SmallFaithfulness:
        """Load the shipped weights; needs no internet access.

        Args:
            dtype: "auto" uses bfloat16 where the CPU multiplies it natively, else float32; the
                model card states what bfloat16 changes. Not part of the fingerprint.
            threads: number of torch threads, for the whole process; None does not change it. Small
                inputs always run on one thread (:mod:`franq_guard.basics.threads`).
            weights: another folder written by the training command.

        Raises:
            WeightsError: weights or package missing or damaged; says which pip command helps.
        """
        import torch

        from franq_guard.faithfulness.small import storage
        from franq_guard.faithfulness.small.minilm import Embedder, load_minilm

        if dtype not in DTYPES:
            raise ValueError(f"dtype must be auto, float32 or bfloat16, not {dtype!r}")
        if threads is not None:
            torch.set_num_threads(threads)
        network, blend, digest = storage.load(weights or storage.FOLDER)
        if chosen_dtype(dtype) == "bfloat16":
            network = network.to(torch.bfloat16)
        name = f"small-{digest[:16]}"
        return cls(network, load_minilm()[1], blend, name=name, embed=Embedder())

    @property
    def fingerprint(self) -> str:
        """Identifies the weights (SHA-256) and the options that affect the scores."""
        return self._fingerprint

    def score(self, contexts: Sequence[str], claims: Sequence[str]) -> list[float]:
        """Return P(faithful) in [0, 1] of each (context, claim) pair.

        An empty or blank context scores 0.

        Raises:
            ValueError: a claim is blank, or the lengths differ.
        """
        return self._score([(context,) for context in contexts], claims)

    def score_passages(
        self, passages: Sequence[Sequence[Passage | str]], claims: Sequence[str]
    ) -> list[float]:
        """Return P(faithful) in [0, 1] of each claim given its passages, which are not joined.

        Raises:
            ValueError: a claim is blank, or the lengths differ.
        """
        return self._score([texts_of(of_claim) for of_claim in passages], claims)

    def _score(self, contexts: Sequence[Texts], claims: Sequence[str]) -> list[float]:
        pieces, owners = self.pieces(contexts, claims)
        values = self._blend.probability(pieces) if len(pieces) else np.zeros(0)
        sums = np.bincount(owners, values, minlength=len(claims))
        counts = np.maximum(np.bincount(owners, minlength=len(claims)), 1)
        return [float(p) for p in sums / counts]

    def pieces(
        self, contexts: Sequence[Texts], claims: Sequence[str]
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Return the blend's inputs (m, len(INPUTS)), one row per claim sentence, and their pairs.

        Calibration is fitted on these rows. A pair with a blank context has no row.

        Args:
            contexts: for each claim, the texts that may support it.
            claims: as many as `contexts`.
        """
        _check(contexts, claims)
        parts = {claim: _claim_pieces(claim) for claim in dict.fromkeys(claims)}
        cut = {context: Cut.of(context) for context in dict.fromkeys(map(tuple, contexts))}
        asked = [
            (index, part, cut[tuple(context)])
            for index, (context, claim) in enumerate(zip(contexts, claims, strict=True))
            for part in parts[claim]
            if cut[tuple(context)].chunks
        ]
        near = [_nearest(part, context.sentences) for _, part, context in asked]
        wanted = [
            (part, text)
            for (_, part, context), best in zip(asked, near, strict=True)
            for text in (*context.chunks, *(context.sentences[i] for i in best))
        ]
        logits = self._logits(wanted)
        cosines = self._cosines([(part, context.chunks) for _, part, context in asked])
        found = [
            _inputs(part, context, [context.sentences[i] for i in best], logits, cosine)
            for (_, part, context), best, cosine in zip(asked, near, cosines, strict=True)
        ]
        shaped = np.array(found, dtype=np.float64).reshape(-1, len(blend.INPUTS))
        return shaped, np.array([index for index, _, _ in asked], dtype=np.intp)

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return probabilities (n, 3) of entailment, neutral and contradiction.

        The hypothesis is read whole. A long premise is read in chunks, and the least neutral chunk
        determines the result. A blank premise is neutral.

        Raises:
            ValueError: a hypothesis is blank, or the lengths differ.
        """
        _check(premises, hypotheses)
        cut = {premise: _chunk_texts(premise) for premise in dict.fromkeys(premises)}
        pairs = list(zip(premises, hypotheses, strict=True))
        logits = self._logits([(h, chunk) for p, h in pairs for chunk in cut[p]])
        out = np.tile([0.0, 1.0, 0.0], (len(pairs), 1))
        for index, (premise, hypothesis) in enumerate(pairs):
            if cut[premise]:
                rows = np.array([logits[hypothesis, chunk] for chunk in cut[premise]])
                classes = self._blend.classes(rows)
                out[index] = classes[classes[:, 1].argmin()]
        return out

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """Return, for each claim, the sentence of a passage that supports it best.

        The encoder reads the two sentences that share the most words with the claim; `score` is
        the P(faithful) of the better one alone. None where no passage has text.

        Raises:
            ValueError: a claim is blank.
        """
        _check(claims, claims)
        texts = texts_of(passages)
        stretches = [
            (number, span) for number, text in enumerate(texts) for span in _stretches(text)
        ]
        if not stretches:
            return [None] * len(claims)
        read = [texts[number][a:b] for number, (a, b) in stretches]
        near = [_nearest(claim, read) for claim in claims]
        asked = [(read[i], claim) for claim, best in zip(claims, near, strict=True) for i in best]
        scores = iter(self.score([a for a, _ in asked], [b for _, b in asked]))
        found: list[Evidence | None] = []
        for best in near:
            value, place = max((next(scores), -rank) for rank, _ in enumerate(best))
            number, (start, end) = stretches[best[-place]]
            found.append(Evidence(number, start, end, value))
        return found

    def _cosines(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        return [0.0] * len(asked) if self._nearness is None else self._nearness.best(asked)

    def _logits(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Logits]:
        """Return the logits of each distinct (claim piece, chunk), from the cache if possible."""
        keys = {pair: _key(pair) for pair in dict.fromkeys(pairs)}
        with self._lock:
            known = {pair: self._cache[key] for pair, key in keys.items() if key in self._cache}
        new = [pair for pair in keys if pair not in known]
        known.update(zip(new, self._forward(new), strict=True))
        with self._lock:
            for pair, key in keys.items():
                self._cache[key] = known[pair]
                self._cache.move_to_end(key)
            while len(self._cache) > self._room:
                self._cache.popitem(last=False)
        return known

    def _forward(self, texts: Sequence[tuple[str, str]]) -> list[Logits]:
        if not texts:
            return []
        distinct = list(dict.fromkeys(text for pair in texts for text in pair))
        ids = dict(zip(distinct, token_ids(self._tokenizer, distinct), strict=True))
        inputs: list[Pair] = []
        values: list[list[float]] = []
        owners: list[int] = []
        for index, (claim, chunk) in enumerate(texts):
            overlap = features(claim, chunk)
            for window in _windows(ids[claim], ids[chunk]):
                inputs.append(make_pair(ids[claim], window))
                values.append(overlap)
                owners.append(index)
        logits = self._run(inputs, np.array(values, dtype=np.float32))
        # A chunk that is too long is read in windows; the one that entails most is used.
        best: dict[int, Logits] = {}
        for owner, row in zip(owners, logits.tolist(), strict=True):
            if owner not in best or row[0] > best[owner][0]:
                best[owner] = (row[0], row[1], row[2])
        return [best[index] for index in range(len(texts))]

    def _run(self, pairs: Sequence[Pair], values: NDArray[np.float32]) -> NDArray[np.float32]:
        import torch

        out = np.empty((len(pairs), 3), dtype=np.float32)
        with torch.inference_mode():
            for batch in by_budget([len(pair) for pair in pairs], self._batch_tokens):
                between_batches()
                ids, marks, mask, claim = map(torch.from_numpy, pad([pairs[i] for i in batch]))
                extra = torch.from_numpy(values[batch])
                seen = None if bool(mask.all()) else mask
                with threads_for(ids.numel() * WEIGHTS):
                    out[batch] = self._network(ids, marks, seen, claim, extra).float().numpy()
        return out


def texts_of(passages: Sequence[Passage | str]) -> Texts:
    """Return the text of each passage."""
    return tuple(p if isinstance(p, str) else p.text for p in passages)


@dataclass(frozen=True, slots=True)
class Cut:
    """A context cut into what the model reads: chunks of about equal length, and sentences."""

    whole: str
    chunks: tuple[str, ...]
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, texts: Texts) -> Cut:
        """Cut each text separately, so that no chunk spans two passages."""
        return cls(
            "\n".join(texts),
            tuple(chunk for text in texts for chunk in _chunk_texts(text)),
            tuple(text[a:b] for text in texts for a, b in _stretches(text)),
        )


def _inputs(
    part: str,
    context: Cut,
    near: Sequence[str],
    logits: dict[tuple[str, str], Logits],
    cosine: float,
) -> list[float]:
    read = np.array([logits[part, chunk] for chunk in context.chunks])
    closer = np.array([logits[part, sentence] for sentence in near])
    chunk = context.chunks[int(blend.margins(read)[0].argmax())]
    sentence = near[int(blend.margins(closer)[0].argmax())]
    return blend.inputs(
        read,
        closer,
        features(part, sentence),
        [*features(part, chunk), *facts(part, chunk)],
        features(part, context.whole),
        cosine,
        replaced(part, near, context.whole),
    )


def _check(contexts: Sequence[object], claims: Sequence[str]) -> None:
    if len(contexts) != len(claims):
        raise ValueError(f"{len(contexts)} contexts for {len(claims)} claims")
    for index, claim in enumerate(claims):
        if not claim.strip():
            raise ValueError(f"claim {index} is empty")


def _claim_pieces(claim: str) -> list[str]:
    spans = [piece for span in sentences(claim) for piece in windows(claim, span, CLAIM_TOKENS)]
    return [claim[a:b] for a, b in spans]


def _stretches(text: str) -> list[Span]:
    """The sentences of a text; those that are too long for the encoder are cut into pieces."""
    return [span for whole in sentences(text) for span in windows(text, whole, CHUNK_TOKENS)]


def _chunk_texts(context: str) -> list[str]:
    return [context[a:b] for a, b in chunks(context, CHUNK_TOKENS)]


def _windows(claim: Ids, chunk: Ids) -> list[Ids]:
    room = MAX_TOKENS - min(len(claim), MAX_CLAIM) - 3
    return [chunk[i : i + room] for i in range(0, len(chunk), room)]


def _nearest(claim: str, read: Sequence[str]) -> list[int]:
    """Return the indices of the two texts that share the most words with the claim, best first."""
    values = [features(claim, text) for text in read]
    rank = sorted(range(len(read)), key=lambda i: (-values[i][0] - values[i][2], i))
    return rank[:2]


def _key(pair: tuple[str, str]) -> _Key:
    digest = hashlib.blake2b(digest_size=16)
    for text in pair:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
