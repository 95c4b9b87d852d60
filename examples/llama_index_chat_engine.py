"""A chat engine over two turns: its memory contains the guarded answers, not the unchecked ones.

python examples/llama_index_chat_engine.py
"""

from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.schema import TextNode

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from llama_index_franq import GuardedChatEngine, guard_chat_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

TURNS = ("When did the Golden Gate Bridge open?", "Which planet is the largest?")


def main(guard: Guard) -> GuardedChatEngine:
    nodes = [TextNode(text=p.text, id_=p.id, metadata={"title": p.title}) for p in corpus()]
    engine = ContextChatEngine.from_defaults(
        BM25NodeRetriever(nodes, k=1),
        llm=llm_of(guard.language_model, max_new_tokens=32),
        memory=ChatMemoryBuffer.from_defaults(token_limit=1500),
        system_prompt="You answer in one sentence.",
    )
    chat = guard_chat_engine(engine, guard)
    for message in TURNS:
        response = chat.chat(message)
        print(f"> {message}\n{response}")
        print(f"  {[v['label'] for v in response.metadata['franq']['verdicts']]}")
    return chat


if __name__ == "__main__":
    main(Guard.offline())
