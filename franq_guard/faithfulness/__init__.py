"""How well a text is supported by another: AlignScore and the small offline model.

Nothing heavy is imported before one of the models is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franq_guard.faithfulness.base import FaithfulnessModel

if TYPE_CHECKING:
    from franq_guard.faithfulness.alignscore.model import AlignScore
    from franq_guard.faithfulness.small.model import SmallFaithfulness

__all__ = ["AlignScore", "FaithfulnessModel", "SmallFaithfulness"]


def __getattr__(name: str) -> Any:
    if name == "AlignScore":
        from franq_guard.faithfulness.alignscore.model import AlignScore

        return AlignScore
    if name == "SmallFaithfulness":
        from franq_guard.faithfulness.small.model import SmallFaithfulness

        return SmallFaithfulness
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
