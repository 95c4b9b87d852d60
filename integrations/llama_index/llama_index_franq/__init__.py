"""FRANQ for LlamaIndex: answers are checked claim by claim before an engine returns them.

from llama_index_franq import guard_query_engine
engine = guard_query_engine(index.as_query_engine(), Guard.offline())
"""

from __future__ import annotations

from franq_guard.streaming.release import FactualityError
from llama_index_franq.agent import guard_agent
from llama_index_franq.chat_engine import GuardedChatEngine, guard_chat_engine
from llama_index_franq.evaluator import FranqEvaluator
from llama_index_franq.manual import Captured, capture
from llama_index_franq.query_engine import GuardedQueryEngine, guard_query_engine
from llama_index_franq.watching import FranqHandler

__all__ = [
    "Captured",
    "FactualityError",
    "FranqEvaluator",
    "FranqHandler",
    "GuardedChatEngine",
    "GuardedQueryEngine",
    "capture",
    "guard_agent",
    "guard_chat_engine",
    "guard_query_engine",
]
