"""What has left of an answer that grows, and what may leave next by the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.claims.blocks import blocks
from franq_guard.claims.spans import moved
from franq_guard.policy import Policy
from franq_guard.records import Verdict
from franq_guard.streaming.reading import Settling

__all__ = ["Leaving"]

_HELD_FROM = 2000
"""Characters that the policy has to judge together, from which pieces leave several at a time."""
_SHARE = 16
"""Then they leave when this part of those characters is new."""


@dataclass(frozen=True)
class _Base:
    """From where on the policy is applied: a character, the verdicts before it, what has left."""

    at: int
    verdicts: int
    left: str


class Leaving:
    """Applies a policy to a growing answer, from the last place that what follows cannot change.

    Attributes:
        verdicts: of all pieces so far.
        checked: where the last of them ends.
        out: all that has left.
        end: up to which character of the answer that was decided.
        told: how many of the verdicts went with it.
        whole: whether what left is still what the policy makes of the answer from its beginning.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        kind = type(policy)
        self._own = kind.so_far is not Policy.so_far or kind.apply is not Policy.apply
        self._base = self._before = _Base(0, 0, "")
        self.verdicts: list[Verdict] = []
        self.checked = 0
        self.out, self.end, self.told, self.whole = "", 0, 0, True

    def add(self, verdicts: Sequence[Verdict], end: int) -> None:
        """A piece was checked, which ends there."""
        self.verdicts += verdicts
        self.checked = end

    def waits(self) -> bool:
        """Whether what was checked had better leave together with later pieces.

        Where much must be judged anew with each piece, the work would grow with its square.
        """
        open_text = self.checked - self._base.at
        return open_text > _HELD_FROM and (self.checked - self.end) * _SHARE < open_text

    def so_far(self, text: str) -> str:
        """What the policy makes of all that was checked; begins as what has left.

        Where it would not (a sentence rewritten because of what follows it), what has left stays,
        and the rest is dealt with by itself.
        """
        for _ in range(2):
            base = self._base
            verdicts = [moved(v, -base.at) for v in self.verdicts[base.verdicts :]]
            made = base.left + self._policy.so_far(text[base.at : self.checked], verdicts).rstrip()
            if made.startswith(self.out):
                break
            self._base, self.whole = _Base(self.end, self.told, self.out), False
        return made

    def let_out(self, made: str, end: int) -> str:
        """``made`` is all that leaves up to ``end``: what of it is new."""
        new = made[len(self.out) :]
        self._before = _Base(self.end, self.told, self.out)
        self.out, self.end, self.told = self.out + new, end, len(self.verdicts)
        return new

    def go_on(self, text: str, settling: Settling) -> None:
        """Judge from a later place from now on, where what follows cannot change what has left.

        Args:
            text: the answer so far.
            settling: knows the places where the answer can be split.
        """
        if self._own or not self.out:
            return
        here = _Base(self.end, self.told, self.out)
        if self._policy.action == "annotate":
            self._base = here
        elif settling.block_after(text, self.end) is not None:
            if self._is_clean(text):
                self._base = here
        elif settling.is_place(self._before.at) and self._is_kept(text):
            self._base = self._before

    def _is_kept(self, text: str) -> bool:
        """Whether the last sentence stays in its paragraph, whatever goes behind it."""
        before = self._before
        if any(map(self._policy.is_weak, self.verdicts[before.verdicts :])):
            return False
        return self.out == before.left + text[before.at : self.end] and self._is_clean(text)

    def _is_clean(self, text: str) -> bool:
        """Whether no later block is mended because of what was removed.

        A block that went takes its line and a blank one along; a list is numbered again after it.
        """
        base = self._base
        recent = self.verdicts[base.verdicts :]
        weak = {end for v in recent if self._policy.is_weak(v) for _, end in v.claim.spans}
        if not weak:
            return True
        numbered = [block for block in blocks(text[base.at : self.end]) if block.numbered]
        return self.end not in weak and not any(
            block.start < end - base.at <= block.end for block in numbered for end in weak
        )
