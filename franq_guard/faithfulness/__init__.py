"""How well a text is supported by another: AlignScore, the small offline model and a larger one.

torch and the other large packages are imported only when one of the models is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from franq_guard.basics.lazy_names import lazy_names

if TYPE_CHECKING:
    from franq_guard.faithfulness.alignscore.model import AlignScore as AlignScore
    from franq_guard.faithfulness.base import FaithfulnessModel as FaithfulnessModel
    from franq_guard.faithfulness.base import PassageScorer as PassageScorer
    from franq_guard.faithfulness.larger.model import LargerFaithfulness as LargerFaithfulness
    from franq_guard.faithfulness.small.model import SmallFaithfulness as SmallFaithfulness

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AlignScore": "alignscore.model",
        "FaithfulnessModel PassageScorer": "base",
        "LargerFaithfulness": "larger.model",
        "SmallFaithfulness": "small.model",
    },
)
