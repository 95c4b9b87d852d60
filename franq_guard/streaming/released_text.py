"""Which text of a growing answer was released, and which may be released next by the policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from franq_guard.claims.blocks import blocks
from franq_guard.claims.spans import moved
from franq_guard.policy import Policy
from franq_guard.records import Verdict
from franq_guard.streaming.reading import SettledText

__all__ = ["ReleasedText"]

_HELD_FROM = 2000
"""If the policy is applied to more characters than this at once, pieces are released in groups."""
_SHARE = 16
"""A group is then released when one part in so many of these characters is new."""


@dataclass(frozen=True)
class _Base:
    """Where the policy's text begins: a character, the number of verdicts and the text before."""

    at: int
    verdicts: int
    released: str


class ReleasedText:
    """Applies a policy to a growing answer and keeps track of what was released.

    The policy is applied from the last place where later text cannot change the earlier result.

    Attributes:
        verdicts: of all pieces so far.
        checked: where the last piece ends.
        text: all text that was released.
        end: the character of the answer up to which it was released.
        released_verdicts: how many of the verdicts were released with it.
        whole: whether the released text is what the policy makes of the whole answer so far.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        kind = type(policy)
        self._own_policy = kind.so_far is not Policy.so_far or kind.apply is not Policy.apply
        self._base = self._before = _Base(0, 0, "")
        self.verdicts: list[Verdict] = []
        self.checked = 0
        self.text, self.end, self.released_verdicts, self.whole = "", 0, 0, True

    def add(self, verdicts: Sequence[Verdict], end: int) -> None:
        """Add the verdicts of a checked piece that ends at ``end``."""
        self.verdicts += verdicts
        self.checked = end

    def holds_back(self) -> bool:
        """Whether checked text should be held back to be released together with later pieces.

        The policy is applied again to all open text for each release; if there is much of it, one
        release for each piece would take quadratic time.
        """
        size = self.open_text
        return size > _HELD_FROM and (self.checked - self.end) * _SHARE < size

    @property
    def open_text(self) -> int:
        """To how many characters the policy will be applied."""
        return self.checked - self._base.at

    def so_far(self, text: str) -> str:
        """The policy's text for everything that was checked; it begins with the released text.

        If the policy would change released text (a sentence rewritten because of a later claim),
        the released text is kept, and the policy is applied to the rest by itself.
        """
        for _ in range(2):
            base = self._base
            verdicts = [moved(v, -base.at) for v in self.verdicts[base.verdicts :]]
            made = (
                base.released + self._policy.so_far(text[base.at : self.checked], verdicts).rstrip()
            )
            if made.startswith(self.text):
                break
            self._base, self.whole = _Base(self.end, self.released_verdicts, self.text), False
        return made

    def release(self, made: str, end: int) -> str:
        """Release the text ``made`` for the answer up to ``end``; returns its new part."""
        new = made[len(self.text) :]
        self._before = _Base(self.end, self.released_verdicts, self.text)
        self.text, self.end, self.released_verdicts = self.text + new, end, len(self.verdicts)
        return new

    def move_base(self, text: str, settled: SettledText) -> None:
        """Let the policy begin at a later place from now on, if that cannot change the result.

        Args:
            text: the answer so far.
            settled: knows the places where the answer can be split.
        """
        if self._own_policy or not self.text:
            return
        here = _Base(self.end, self.released_verdicts, self.text)
        if self._policy.action == "annotate":
            self._base = here
        elif settled.block_after(text, self.end) is not None:
            if self._is_clean(text):
                self._base = here
        elif settled.is_place(self._before.at) and self._is_kept(text):
            self._base = self._before

    def _is_kept(self, text: str) -> bool:
        """Whether the last sentence is kept as it is, whatever is removed after it."""
        before = self._before
        if any(map(self._policy.is_weak, self.verdicts[before.verdicts :])):
            return False
        return self.text == before.released + text[before.at : self.end] and self._is_clean(text)

    def _is_clean(self, text: str) -> bool:
        """Whether nothing is held back, and what was removed cannot change later blocks.

        Removing a block also removes its line and a blank line, and renumbers the rest of a list. A
        heading is held back until something stays below it.
        """
        base = self._base
        recent = self.verdicts[base.verdicts :]
        if recent and recent[-1].claim.not_a_claim is not None:
            return False
        weak = {end for v in recent if self._policy.is_weak(v) for _, end in v.claim.spans}
        if not weak:
            return True
        numbered = [block for block in blocks(text[base.at : self.end]) if block.numbered]
        return self.end not in weak and not any(
            block.start < end - base.at <= block.end for block in numbered for end in weak
        )
