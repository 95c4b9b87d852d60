"""FRANQ for LangChain: answers are checked claim by claim before a chain returns them.

from langchain_franq import guard_chain
chain = guard_chain(chain, Guard.offline())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franq_guard.streaming.release import FactualityError
from langchain_franq.callback import FranqCallback
from langchain_franq.chain import GuardedChain, guard_chain
from langchain_franq.feedback import feedback_to
from langchain_franq.graph import guard_node
from langchain_franq.manual import Captured, capture

if TYPE_CHECKING:
    from langchain_franq.middleware import FranqMiddleware

__all__ = [
    "Captured",
    "FactualityError",
    "FranqCallback",
    "FranqMiddleware",
    "GuardedChain",
    "capture",
    "feedback_to",
    "guard_chain",
    "guard_node",
]


def __getattr__(name: str) -> Any:
    if name != "FranqMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from langchain_franq.middleware import FranqMiddleware
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"FranqMiddleware needs {missing.name}: pip install 'langchain-franq[agents]'"
        ) from missing
    return FranqMiddleware
