"""What the examples of a page take as given: the reader's own chain, files and models."""

import json
from types import SimpleNamespace

from .blocks import ROOT

ANSWER = "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Gustave Eiffel."


def names_of(page):
    """The names that the blocks of a page (its path) use and do not make."""
    return GIVEN.get(page, dict)()


def langchain_names():
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import MessagesState, StateGraph

    text = "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss."
    model = FakeListChatModel(responses=[ANSWER])
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    find = RunnableLambda(lambda question: [Document(text)])
    chain = {"context": find, "question": RunnablePassthrough()} | prompt | model
    return {
        "chain": chain | StrOutputParser(),
        "get_history": lambda session_id: None,
        "graph": StateGraph(MessagesState),
        "model": model,
        "question": "When did the Golden Gate Bridge open?",
        "saver": InMemorySaver(),
        "search": lambda question: [Document(text)],
        "tools": [],
        "write": lambda state: {"messages": [("ai", ANSWER)]},
    }


def llama_index_names():
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import TextNode

    from llama_index_franq.local import BM25NodeRetriever

    node = TextNode(text="The bridge was built by Joseph Strauss.")
    engine = RetrieverQueryEngine.from_args(BM25NodeRetriever([node], k=1), llm=MockLLM())
    index = SimpleNamespace(as_query_engine=lambda: engine)
    return {"index": index}


GIVEN = {
    "integrations/langchain/README.md": langchain_names,
    "integrations/llama_index/README.md": llama_index_names,
}


def files_of(page, folder):
    """Write the files that the examples of a page read."""
    from franq_guard import Calibrator

    Calibrator.uncalibrated().save(folder / "mine.json")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "tests").symlink_to(ROOT / "tests")
    row = {"question": "Where is it?", "passages": ["It is in Bonn."], "answer": "It is in Bonn."}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (folder / "answers.csv").write_text("question,contexts,answer\nWhere?,['In Bonn.'],In Bonn.\n")


def stand_ins(monkeypatch):
    """Models that would have to be fetched or served are replaced where they would be loaded."""
    from franq_guard.faithfulness import AlignScore
    from franq_guard.language_model import LlamaCppModel, TransformersModel
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    for model, way in ((TransformersModel, "from_pretrained"), (LlamaCppModel, "from_gguf")):
        monkeypatch.setattr(model, way, staticmethod(lambda path, **options: FakeLanguageModel()))
    server = "franq_guard.language_model.ServerModel"
    monkeypatch.setattr(server, lambda url, **options: FakeLanguageModel())
    fake = staticmethod(lambda size, **options: FakeFaithfulness())
    monkeypatch.setattr(AlignScore, "from_pretrained", fake)


def pages():
    """Every page whose blocks are run here, as paths from the repository's root."""
    own = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
    others = ["README.md", "CONTRIBUTING.md", "benchmarks/README.md", *GIVEN]
    return [page for page in own if page not in ELSEWHERE] + others


# Their blocks need a running service, OpenTelemetry or other frameworks: tests/serve/test_docs.py,
# tests/telemetry/test_page.py and tests/evaluators/test_page.py run them.
ELSEWHERE = [
    f"docs/{name}.md"
    for name in ("service", "proxy", "litellm", "operators", "telemetry", "evaluators")
]
