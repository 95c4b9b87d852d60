"""Measures how much faster our AlignScore is than the original's procedure, on the same weights.

    python benchmarks/speed/alignscore.py [--claims 10] [--rounds 3] [--reference-claims 3]
    python benchmarks/speed/alignscore.py --alone

RoBERTa-base with random weights, 10 claims, 3 passages. The reference works like the original: one
(context, claim) at a time, padded to 512 tokens, with the masked-LM head. Its cost is linear in the
number of claims, so it is timed on the first few and scaled. Figures are medians of CPU seconds of
one thread; the variants take turns.

The floor is the time for the encoder's multiply-adds without padding, at the speed of one large
matrix product on this machine. Most of the time above it is attention: its small products and
softmax run at a fraction of that speed, in bfloat16 no faster than in float32. The heads are scaled
so that scores differ, which magnifies the rounding errors of a random network: bfloat16's deviation
is a worst case.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import RobertaConfig, RobertaModel

from franq_guard.faithfulness.alignscore.checkpoint import Weights
from franq_guard.faithfulness.alignscore.chunks import chunks
from franq_guard.faithfulness.alignscore.encoder import HEADS, EncoderConfig
from franq_guard.faithfulness.alignscore.linear import Linear
from franq_guard.faithfulness.alignscore.model import AlignScore

TOKENIZER = Path(__file__).parents[2] / "tests/fixtures/alignscore/tiny-roberta/tokenizer.json"
WINDOW, PAD = 512, 1
PASSAGE_TOKENS = 122
GOALS = {("joined", "float32"): 2.1, ("joined", "bfloat16"): 3.9}
GOALS |= {("per-passage", "float32"): 5.7, ("per-passage", "bfloat16"): 11.0}


class Reference:
    """The original's procedure, written simply, with the network of transformers."""

    def __init__(self, config: RobertaConfig) -> None:
        torch.manual_seed(0)
        size = config.hidden_size
        self.body = RobertaModel(config).eval()
        self.heads = {name: nn.Linear(size, n) for name, n in HEADS.items()}
        self.masked_lm = nn.Sequential(
            nn.Linear(size, size), nn.GELU(), nn.LayerNorm(size), nn.Linear(size, config.vocab_size)
        )
        self.tokenizer = Tokenizer.from_file(str(TOKENIZER))
        self.tokenizer.enable_truncation(WINDOW, strategy="only_first")
        self.tokenizer.enable_padding(length=WINDOW, pad_id=PAD, pad_token="<pad>")  # noqa: S106

    @torch.no_grad()
    def spread(self, contexts: list[str], claims: list[str]) -> None:
        """Scale and shift the heads: each logit has mean 0 and deviation 0.5 on the pairs."""
        pooled = torch.cat([self._body(*self._tokens(x, y)) for x in contexts for y in claims])
        for head in self.heads.values():
            outputs = head(pooled)
            scale = 0.5 / outputs.std(0)
            head.bias.copy_((head.bias - outputs.mean(0)) * scale)
            head.weight.mul_(scale[:, None])

    @torch.no_grad()
    def score(self, context: str, claim: str) -> float:
        pooled = self._body(*self._tokens(context, claim))
        logits = {name: head(pooled) for name, head in self.heads.items()}
        aligned = logits["tri_layer"].softmax(1)[:, 0]
        return float(aligned.view(-1, len(sentences(claim))).max(0).values.mean())

    def _tokens(self, context: str, claim: str) -> tuple[Tensor, Tensor]:
        pairs = [(c.text, s) for c in chunks(context, sentences) for s in sentences(claim)]
        rows = self.tokenizer.encode_batch(pairs)
        ids = torch.tensor([row.ids for row in rows])
        return ids, torch.tensor([row.attention_mask for row in rows])

    def _body(self, ids: Tensor, mask: Tensor) -> Tensor:
        output = self.body(input_ids=ids, attention_mask=mask)
        self.masked_lm(output.last_hidden_state)
        pooled: Tensor = output.pooler_output
        return pooled

    def tensors(self) -> dict[str, Tensor]:
        named = {f"base_model.{name}": tensor for name, tensor in self.body.state_dict().items()}
        for name, head in self.heads.items():
            named |= {f"{name}.{key}": tensor for key, tensor in head.state_dict().items()}
        return named


def sentences(text: str) -> list[str]:
    return [part.strip() + "." for part in text.split(".") if part.strip()]


def passages_and_claims(claims: int) -> tuple[list[str], list[str]]:
    """Three passages of about `PASSAGE_TOKENS` tokens (100 words) and claims of one sentence."""
    tokenizer, dice = Tokenizer.from_file(str(TOKENIZER)), random.Random(7)  # noqa: S311

    def sentence() -> str:
        who = dice.choice(["Chen Wei", "Marta Keller", "Ivo Brandt", "the glaciologist"])
        verb = dice.choice(["rebuilt", "funded", "catalogued", "measured", "described"])
        what = dice.choice(["the copper mine", "a glass telescope", "the railway line", "an atlas"])
        return f"{who} {verb} {what} in Ghent in {dice.randint(1800, 2020)}."

    def passage() -> str:
        text = sentence()
        while len(tokenizer.encode(text).ids) < PASSAGE_TOKENS:
            text += " " + sentence()
        return text

    return [passage() for _ in range(3)], [sentence() for _ in range(claims)]


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


@torch.inference_mode()
def peak(dtype: torch.dtype) -> float:
    """Multiply-adds per second of one large matrix product, the best of eight."""
    a = torch.randn(2048, 2048).to(dtype)
    product = Linear(a, a[0])
    return 2048**3 / min(seconds(lambda: product(a))[0] for _ in range(8))


def work_of(model: EncoderConfig, lengths: Sequence[int]) -> float:
    """Multiply-adds of the encoder for sequences of these lengths; the last layer for one token."""
    size, inner = model.hidden_size, model.intermediate_size
    token = 4 * size * size + 2 * size * inner
    full = sum(n * token + 2 * n * n * size for n in lengths)
    last = sum(n * 2 * size * size + token + 2 * n * size for n in lengths)
    return (model.num_hidden_layers - 1) * full + last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claims", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference-claims", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="only ours: time and memory")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    config = RobertaConfig(
        vocab_size=50265,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        initializer_range=0.04,  # at the usual 0.02 all texts look alike to a random network
    )
    passages, claims = passages_and_claims(given.claims)
    reference = Reference(config)
    if given.alone:
        alone(reference, passages, claims)
        return
    reference.spread(passages, claims[:3])
    shape = EncoderConfig(768, 3072, 12, 12, 50265, 514, PAD, 1e-5)
    weights = Weights(shape, reference.tensors(), Tokenizer.from_file(str(TOKENIZER)))
    sample = claims[: given.reference_claims]
    for context in ("joined", "per-passage"):
        contexts = ["\n".join(passages)] if context == "joined" else passages
        compare(context, contexts, passages, claims, sample, reference, weights, given.rounds)


def alone(reference: Reference, passages: list[str], claims: list[str]) -> None:
    """Print what ours takes by itself: CPU seconds a claim, and the memory of the process."""
    shape = EncoderConfig(768, 3072, 12, 12, 50265, 514, PAD, 1e-5)
    weights = Weights(shape, reference.tensors(), Tokenizer.from_file(str(TOKENIZER)))
    del reference.masked_lm
    model = AlignScore(weights, sentence_splitter=sentences, context="joined")
    took, _ = seconds(partial(model.score_passages, [passages] * len(claims), claims))
    status = Path("/proc/self/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
    print(
        f"RoBERTa-base, random weights, float32: {took / len(claims):.2f} CPU s a claim over "
        f"{len(passages)} joined passages; the process holds {resident:.0f} MB"
    )


def compare(
    context: str,
    contexts: list[str],
    passages: list[str],
    claims: list[str],
    sample: list[str],
    reference: Reference,
    weights: Weights,
    rounds: int,
) -> None:
    dtypes = ("float32", "bfloat16")

    def original() -> list[float]:
        return [max(reference.score(text, claim) for text in contexts) for claim in sample]

    times: dict[str, list[float]] = {name: [] for name in ("original", *dtypes, "evidence")}
    scores: dict[str, list[float]] = {}
    for _ in range(rounds):
        took, expected = seconds(original)
        times["original"].append(took * len(claims) / len(sample))
        for dtype in dtypes:  # a new model each time: it remembers pairs
            model = AlignScore(weights, sentence_splitter=sentences, context=context, dtype=dtype)
            took, scores[dtype] = seconds(
                partial(model.score_passages, [passages] * len(claims), claims)
            )
            times[dtype].append(took)
        times["evidence"].append(seconds(partial(model.evidence, passages, claims))[0])
    count = weights.tokenizer.encode
    lengths = [len(count(text, claim).ids) for text in contexts for claim in claims]
    base = median(times["original"])
    print(
        f"\n{context}: {len(claims)} claims, {len(lengths)} pairs of {np.mean(lengths):.0f} tokens"
    )
    print(f"  original procedure   {base:7.2f} s  (scores spread: {np.std(scores['float32']):.2f})")
    for dtype in dtypes:
        took = median(times[dtype])
        floor = work_of(weights.config, lengths) / peak(getattr(torch, dtype))
        deviation = np.abs(np.subtract(scores[dtype][: len(sample)], expected)).max()
        print(
            f"  here, {dtype:<14} {took:7.2f} s  x{base / took:.2f} (goal x{GOALS[context, dtype]})"
            f"  deviation {deviation:.0e}  floor {floor:.2f} s: {took / floor:.2f} of it"
        )
    print(f"  evidence afterwards  {median(times['evidence']):7.2f} s (bfloat16)", flush=True)


if __name__ == "__main__":
    main()
