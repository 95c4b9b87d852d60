"""Plans the forward passes that score every token of an answer, within the model's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.language_model.encoding import Encoder


@dataclass(frozen=True, slots=True)
class ForwardPass:
    """Scores ``targets`` after ``context``: the next tokens of answer number ``answer``."""

    answer: int
    context: tuple[int, ...]
    targets: tuple[int, ...]

    @property
    def length(self) -> int:
        """The number of input tokens; the last target is not an input."""
        return len(self.context) + len(self.targets) - 1


def forward_passes(
    encoder: Encoder, answer: int, prompt: list[int], ids: Sequence[int]
) -> list[ForwardPass]:
    """The forward passes that score every token of one answer.

    It is one pass if prompt and answer fit into the window. Otherwise the prompt is cut to its
    leading special tokens and its end, at least half a window; an answer that is still too long is
    scored in stretches, each after the prompt and at least a quarter of a window of the answer's
    text before it.
    """
    window = encoder.window
    if window is None or len(prompt) + len(ids) <= window:
        return [ForwardPass(answer, tuple(prompt), tuple(ids))] if ids else []
    prompt = encoder.fit(prompt, max(window - len(ids), window // 2))
    room = window - len(prompt)
    out = [ForwardPass(answer, tuple(prompt), tuple(ids[:room]))]
    stride = max(1, room // 2)
    for start in range(room, len(ids), stride):
        seen = ids[start - (room - stride) : start]
        out.append(ForwardPass(answer, (*prompt, *seen), tuple(ids[start : start + stride])))
    return out
