"""P(faithful) from a cross-encoder's logits, joined with words, numbers and facts that are shared.

It scores as AlignScore does (arXiv 2305.16739): the context is cut into chunks and the claim into
sentences; the score of a sentence is that of its best chunk, the score of the claim the mean over
its sentences. The small model and the larger one differ in who reads the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from franq_guard.faithfulness.base import check_claims, check_pairs, texts_of
from franq_guard.faithfulness.small import blend
from franq_guard.faithfulness.small.cut import (
    Cut,
    Texts,
    chunk_texts,
    nearest,
    read_together,
    stretches,
    worth_reading,
)
from franq_guard.faithfulness.small.encoder_input import CHUNK_TOKENS
from franq_guard.faithfulness.small.facts import facts
from franq_guard.faithfulness.small.features import features
from franq_guard.faithfulness.small.nearness import Embed, Nearness
from franq_guard.faithfulness.small.reading import Logits, PairReader
from franq_guard.faithfulness.small.refuting import NUMBER_ALONE, Refuted, changed, refuted
from franq_guard.faithfulness.small.spelling import SPELLING, as_written
from franq_guard.faithfulness.small.written_out import written_out
from franq_guard.records import Evidence, Passage, Span

Floats = NDArray[np.float64]
_Item = TypeVar("_Item")

_NEUTRAL = (-blend.LARGEST_MARGIN, 0.0, -blend.LARGEST_MARGIN)
"""The logits of a chunk that is not read: it neither states nor contradicts the claim."""


class BlendedFaithfulness:
    """P(faithful), three-way NLI and evidence from the logits of pairs and from what they share.

    Thread-safe: models are only read, and so are the caches' values. A score does not depend on
    the other pairs of the call. A claim is read beside the chunks that share enough words with it
    (:func:`.cut.worth_reading`); the others count as neutral.

    Args:
        reader: gives the logits of (claim piece, text) pairs.
        blend: turns logits and features into a calibrated probability.
        name: identifies the weights; `fingerprint` begins with it.
        embed: sentence embeddings for the blend's cosine; None: that input is 0.
        cache: how many pairs are cached; 0 turns the cache off.
    """

    languages: Collection[str] | None = ("en",)
    """Languages the weights were trained on. Set it to None for weights of your own that accept any
    language."""

    weights_folder: Path | None = None
    """Of weights that do not come with the package: see :func:`.base.folder_of`."""

    def __init__(
        self,
        reader: PairReader,
        blend: blend.Blend,
        *,
        name: str,
        embed: Embed | None = None,
        cache: int = 8192,
    ) -> None:
        self._reader, self._blend = reader, blend
        self._nearness = None if embed is None else Nearness(embed, room=max(cache, 1))
        self._fingerprint = f"{name}/chunk{CHUNK_TOKENS}/{SPELLING}"

    @property
    def fingerprint(self) -> str:
        """Identifies the weights (SHA-256) and the options that affect the scores."""
        return self._fingerprint

    def forget(self) -> None:
        """Empty the caches of pairs and of embeddings, for measurements."""
        self._reader.forget()
        if self._nearness is not None:
            self._nearness.forget()

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
        check_pairs(contexts, claims)
        check_claims(claims)
        pieces = read_together(contexts, claims)
        read = [worth_reading(part, context.chunks) for _, part, context in pieces]
        near = [nearest(part, context.sentences) for _, part, context in pieces]
        wanted = [
            (part, text)
            for (_, part, context), chunk, close in zip(pieces, read, near, strict=True)
            for text in (*_picked(context.chunks, chunk), *_picked(context.sentences, close))
        ]
        logits = self._reader.logits(wanted)
        cosines = self._cosines([(part, context.chunks) for _, part, context in pieces])
        found = [
            _inputs(part, context, chunk, _picked(context.sentences, close), logits, cosine)
            for (_, part, context), chunk, close, cosine in zip(
                pieces, read, near, cosines, strict=True
            )
        ]
        shaped = np.array(found, dtype=np.float64).reshape(-1, len(blend.INPUTS))
        return shaped, np.array([index for index, _, _ in pieces], dtype=np.intp)

    def nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Return probabilities (n, 3) of entailment, neutral and contradiction.

        The reader's alone; :meth:`nli_passages` also looks for facts that differ. The hypothesis
        is read whole. A long premise is read in chunks, and the least neutral chunk determines the
        result. A blank premise is neutral.

        Raises:
            ValueError: a hypothesis is blank, or the lengths differ.
        """
        check_pairs(premises, hypotheses)
        check_claims(hypotheses)
        cut = {premise: chunk_texts(premise) for premise in dict.fromkeys(premises)}
        pairs = [(p, as_written(h, p)) for p, h in zip(premises, hypotheses, strict=True)]
        logits = self._reader.logits([(h, chunk) for p, h in pairs for chunk in cut[p]])
        rows = [self._classes([(logits[h, chunk], 0.0) for chunk in cut[p]]) for p, h in pairs]
        return np.array(rows, dtype=np.float64).reshape(len(pairs), 3)

    def nli_passages(
        self, passages: Sequence[Sequence[Passage | str]], hypotheses: Sequence[str]
    ) -> list[Floats]:
        """Return the three classes of each hypothesis given each of its passages, (k, 3).

        As :meth:`nli`, but a passage that shares few words with the hypothesis, compared with
        another one of the same hypothesis, is not read and counts as neutral; and where a fact is
        all that differs from the sentence that is nearest in all passages (:mod:`.replaced`), that
        sentence's chunk contradicts the hypothesis by the blend's weight of this fact
        (:meth:`.Blend.against`). So does a passage whose table has other values in the cells that
        the hypothesis is about, and it does not entail it, whatever the encoder finds.

        Raises:
            ValueError: a hypothesis is blank, or the lengths differ.
        """
        check_pairs(passages, hypotheses)
        check_claims(hypotheses)
        texts = [texts_of(of_one) for of_one in passages]
        spelled = [as_written(h, "\n".join(t)) for h, t in zip(hypotheses, texts, strict=True)]
        cut = {text: chunk_texts(text) for of_one in texts for text in of_one}
        placed = [
            [(place, chunk) for place, text in enumerate(of_one) for chunk in cut[text]]
            for of_one in texts
        ]
        read = [
            _picked(chunks, worth_reading(hypothesis, [chunk for _, chunk in chunks]))
            for hypothesis, chunks in zip(spelled, placed, strict=True)
        ]
        against = refuted(texts, hypotheses, self._blend.against)
        pairs = list(zip(spelled, texts, read, against, strict=True))
        logits = self._reader.logits([(h, chunk) for h, _, of, _ in pairs for _, chunk in of])
        return [
            np.array(
                [
                    self._of_passage([(c, logits[h, c]) for at, c in of if at == place], by, place)
                    for place in range(len(of_one))
                ]
            ).reshape(len(of_one), 3)
            for h, of_one, of, by in pairs
        ]

    def _of_passage(
        self, chunks: Sequence[tuple[str, Logits]], against: Refuted, place: int
    ) -> Floats:
        """The probabilities (3,) of the passage at a place, which has these chunks."""
        if place not in against.tables:
            return self._classes([(logits, against.by(chunk)) for chunk, logits in chunks])
        odds = self._blend.against(NUMBER_ALONE)
        return self._classes([((-math.inf, *logits[1:]), odds) for _, logits in chunks])

    def _classes(self, chunks: Sequence[tuple[Logits, float]]) -> Floats:
        """The probabilities (3,) of the least neutral chunk; neutral if there is none.

        Args:
            chunks: of each its logits, and what is added to that of contradiction.
        """
        if not chunks:
            return np.array([0.0, 1.0, 0.0])
        logits, against = zip(*chunks, strict=True)
        classes = self._blend.classes(np.array(logits), np.array(against))
        return np.asarray(classes[classes[:, 1].argmin()], dtype=np.float64)

    def evidence(
        self, passages: Sequence[Passage | str], claims: Sequence[str]
    ) -> list[Evidence | None]:
        """Return, for each claim, the sentence of a passage that supports it best.

        The encoder reads the sentences that share the most words with the claim, at most two;
        `score` is the P(faithful) of the better one alone. None where no passage has text.

        Raises:
            ValueError: a claim is blank.
        """
        check_claims(claims)
        texts = [written_out(text) for text in texts_of(passages)]
        places: dict[str, tuple[int, Span]] = {}
        for number, text in enumerate(texts):
            for a, b in stretches(text.text):
                places.setdefault(text.text[a:b], (number, (a, b)))
        if not places:
            return [None] * len(claims)
        read = list(places)
        whole = "\n".join(text.text for text in texts)
        spelled = [as_written(claim, whole) for claim in claims]
        near = [nearest(claim, read) for claim in spelled]
        pairs = [(read[i], claim) for claim, best in zip(spelled, near, strict=True) for i in best]
        scores = iter(self.score([a for a, _ in pairs], [b for _, b in pairs]))
        found: list[Evidence | None] = []
        for best in near:
            value, place = max(((next(scores), i) for i in best), key=itemgetter(0))
            number, span = places[read[place]]
            start, end = texts[number].original(*span)
            found.append(Evidence(number, start, end, value))
        return found

    def _cosines(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        return [0.0] * len(asked) if self._nearness is None else self._nearness.best(asked)


def _inputs(
    part: str,
    context: Cut,
    read: Sequence[int],
    near: Sequence[str],
    logits: dict[tuple[str, str], Logits],
    cosine: float,
) -> list[float]:
    seen = np.array([logits[part, context.chunks[i]] for i in read])
    closer = np.array([logits[part, sentence] for sentence in near])
    chunk = context.chunks[read[int(blend.margins(seen)[0].argmax())]]
    sentence = near[int(blend.margins(closer)[0].argmax())]
    every = np.tile(_NEUTRAL, (len(context.chunks), 1))
    every[read] = seen
    return blend.inputs(
        every,
        closer,
        features(part, sentence),
        [*features(part, chunk), *facts(part, chunk)],
        features(part, context.whole),
        cosine,
        changed(part, near, context),
    )


def _picked(items: Sequence[_Item], chosen: Sequence[int]) -> list[_Item]:
    return [items[i] for i in chosen]
