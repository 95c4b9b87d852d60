"""The small model's network: MiniLM's encoder with overlap marks at its input and a three-way head.

A small encoder with little training data spends most of its capacity on finding out which words of
the claim occur in the passage. This network gets that information as input: every token carries a
*mark* (in the passage only, shared, in the claim only, ...), added to its embedding like BERT's
token types. The head reads the first token, the mean and the maximum over the claim's tokens, and
the features of `features`.

The word and position embeddings are those of all-MiniLM-L6-v2 and are never trained, so the shipped
file does not contain them.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from franq_guard.faithfulness.small.features import FEATURES

HIDDEN: Final = 384
HEADS: Final = 12
LAYERS: Final = 6
INNER: Final = 1536
VOCABULARY: Final = 30522
POSITIONS: Final = 512
MARKS: Final = 6
HEAD_HIDDEN: Final = 128
CLASSES: Final = 3  # entailment, neutral, contradiction
_EPS: Final = 1e-12


class Tokens:
    """The tokens of a padded batch that are computed: nothing is spent on the others.

    Args:
        mask: true where a token is computed (b, t).
    """

    def __init__(self, mask: Tensor) -> None:
        self.shape = mask.shape
        whole = bool(mask.all())
        self._at = None if whole else mask.flatten().nonzero().squeeze(1)
        self.mask = None if whole else mask[:, None, None, :]
        """For the attention (b, 1, 1, t); None where every token is computed."""

    def packed(self, x: Tensor) -> Tensor:
        """The tokens' values (n, width) out of (b, t, width)."""
        flat = x.flatten(0, 1)
        return flat if self._at is None else flat[self._at]

    def padded(self, x: Tensor) -> Tensor:
        """The values (n, width) at their places in (b, t, width), and 0 elsewhere."""
        if self._at is not None:
            x = x.new_zeros(self.shape.numel(), x.shape[1]).index_copy(0, self._at, x)
        return x.view(*self.shape, -1)


class Layer(nn.Module):
    """One post-norm transformer layer of BERT, with query, key and value in one product."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.norm_attention = nn.LayerNorm(HIDDEN, eps=_EPS)
        self.up = nn.Linear(HIDDEN, INNER)
        self.down = nn.Linear(INNER, HIDDEN)
        self.norm_output = nn.LayerNorm(HIDDEN, eps=_EPS)

    def forward(
        self, x: Tensor, tokens: Tokens, dropout: float, wanted: Tokens | None = None
    ) -> Tensor:
        """Map hidden states (n, 384) of a batch's tokens to the next layer's.

        Args:
            x: hidden states (n, 384).
            tokens: which tokens of the batch these are.
            dropout: a probability; used in training only.
            wanted: which of them the result is wanted of, in the first columns of the batch; None:
                of all. The others are only looked at, which is most of the work saved.
        """
        q, k, v = self._heads(x, tokens, wanted)
        attend = _attend if self.training else functional.scaled_dot_product_attention
        attended = attend(q, k, v, tokens.mask).transpose(1, 2).flatten(2)
        attended = self.out((wanted or tokens).packed(attended))
        x = _chosen(x, tokens, wanted)
        x = self.norm_attention(x + functional.dropout(attended, dropout, self.training))
        inner = self.down(functional.gelu(self.up(x)))
        out: Tensor = self.norm_output(x + functional.dropout(inner, dropout, self.training))
        return out

    def _heads(
        self, x: Tensor, tokens: Tokens, wanted: Tokens | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (b, 12, t, 32) of the wanted tokens, keys and values of all."""
        if wanted is None:
            q, k, v = _split(tokens.padded(self.qkv(x)), 3)
            return q, k, v
        weight, bias = self.qkv.weight, self.qkv.bias
        q = functional.linear(_chosen(x, tokens, wanted), weight[:HIDDEN], bias[:HIDDEN])
        k, v = _split(tokens.padded(functional.linear(x, weight[HIDDEN:], bias[HIDDEN:])), 2)
        return _split(wanted.padded(q), 1)[0], k, v


def _chosen(x: Tensor, tokens: Tokens, wanted: Tokens | None) -> Tensor:
    """The values of the wanted ones among the tokens' values (n, width)."""
    return x if wanted is None else wanted.packed(tokens.padded(x)[:, : wanted.shape[1]])


def _split(x: Tensor, parts: int) -> Tensor:
    """Heads (parts, b, 12, t, 32) out of (b, t, parts * 384)."""
    return x.view(*x.shape[:2], parts, HEADS, -1).permute(2, 0, 3, 1, 4)


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Attention without torch's fused kernel, whose backward pass is much slower on a CPU."""
    scores = torch.matmul(q * (HIDDEN // HEADS) ** -0.5, k.transpose(-1, -2))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e4)
    return torch.matmul(scores.softmax(-1).to(v.dtype), v)


class Encoder(nn.Module):
    """Cross-encoder from (claim, chunk) token ids to three logits."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, HIDDEN)
        self.position = nn.Embedding(POSITIONS, HIDDEN)
        self.word.weight.requires_grad_(False)
        self.position.weight.requires_grad_(False)
        self.mark = nn.Embedding(MARKS, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=_EPS)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head_in = nn.Linear(3 * HIDDEN + len(FEATURES), HEAD_HIDDEN)
        self.head_out = nn.Linear(HEAD_HIDDEN, CLASSES)
        self.dropout = 0.0

    def encode(
        self, ids: Tensor, marks: Tensor, mask: Tensor | None, wanted: Tensor | None = None
    ) -> Tensor:
        """Return the last hidden states (b, t, 384); ids, marks and mask are (b, t).

        They are 0 where the mask is false. With `wanted`, a mask (b, first) of the first columns,
        only those of these tokens are computed: (b, first, 384).
        """
        tokens = Tokens(torch.ones_like(ids, dtype=torch.bool) if mask is None else mask)
        places = torch.arange(ids.shape[1], device=ids.device)
        x = tokens.packed(self.word(ids) + self.position(places) + self.mark(marks))
        x = functional.dropout(self.norm(x), self.dropout, self.training)
        for layer in self.layers[:-1]:
            x = layer(x, tokens, self.dropout)
        last = None if wanted is None else Tokens(wanted)
        return (last or tokens).padded(self.layers[-1](x, tokens, self.dropout, last))

    def forward(
        self, ids: Tensor, marks: Tensor, mask: Tensor | None, claim: Tensor, features: Tensor
    ) -> Tensor:
        """Return logits (b, 3): entailment, neutral, contradiction.

        Args:
            ids: token ids (b, t), `[CLS] claim [SEP] chunk [SEP]`, padded on the right.
            marks: mark of each token (b, t), see `encoder_input`.
            mask: true where a token is not padding (b, t); None if nothing is padded.
            claim: true at the claim's tokens (b, t), at least one in each row.
            features: float array (b, len(FEATURES)).
        """
        claim = claim[:, : int(claim.any(0).nonzero().max()) + 1]
        wanted = claim.clone()  # the head reads the claim and the token before it, nothing else
        wanted[:, 0] = True
        x = self.encode(ids, marks, mask, wanted)
        inside = claim[:, :, None].to(x.dtype)
        mean = (x * inside).sum(1) / inside.sum(1)
        top = x.masked_fill(~claim[:, :, None], -1e4).amax(1)
        pooled = torch.cat([x[:, 0], mean, top, features.to(x.dtype)], dim=1)
        pooled = functional.dropout(pooled, self.dropout, self.training)
        hidden = functional.gelu(self.head_in(pooled))
        logits: Tensor = self.head_out(hidden)
        return logits


def from_minilm(tensors: dict[str, Tensor], *, seed: int) -> Encoder:
    """Return an untrained `Encoder` with MiniLM's tensors; the head is initialised from `seed`."""
    with torch.random.fork_rng(devices=[]):  # the application's own draws go on as they were
        torch.default_generator.manual_seed(seed)  # not those of other devices
        network = Encoder().float()  # whatever the application's default is
    load_embeddings(network, tensors)
    segment = tensors["embeddings.token_type_embeddings.weight"]
    with torch.no_grad():
        network.mark.weight.copy_(segment[:1].expand(MARKS, -1))
        network.norm.weight.copy_(tensors["embeddings.LayerNorm.weight"])
        network.norm.bias.copy_(tensors["embeddings.LayerNorm.bias"])
        for index, layer in enumerate(network.layers):
            _load_layer(layer, tensors, f"encoder.layer.{index}.")
    return network


def load_embeddings(network: Encoder, tensors: dict[str, Tensor]) -> None:
    """Put MiniLM's word and position embeddings into `network`."""
    with torch.no_grad():
        network.word.weight.copy_(tensors["embeddings.word_embeddings.weight"])
        network.position.weight.copy_(tensors["embeddings.position_embeddings.weight"])


def _load_layer(layer: nn.Module, tensors: dict[str, Tensor], prefix: str) -> None:
    attention = [f"{prefix}attention.self.{name}." for name in ("query", "key", "value")]
    names = {
        "out": "attention.output.dense.",
        "norm_attention": "attention.output.LayerNorm.",
        "up": "intermediate.dense.",
        "down": "output.dense.",
        "norm_output": "output.LayerNorm.",
    }
    state = {f"qkv.{p}": torch.cat([tensors[a + p] for a in attention]) for p in ("weight", "bias")}
    for own, theirs in names.items():
        state |= {f"{own}.{p}": tensors[prefix + theirs + p] for p in ("weight", "bias")}
    layer.load_state_dict(state)
