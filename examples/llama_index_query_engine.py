"""A query engine over a folder of texts, guarded: weak claims in its answer are marked.

python examples/llama_index_query_engine.py
"""

import tempfile
from pathlib import Path

from llama_index.core import Response, SimpleDirectoryReader
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from llama_index_franq import guard_query_engine
from llama_index_franq.local import BM25NodeRetriever, llm_of

QUESTION = "When did the Golden Gate Bridge open?"


def main(guard: Guard) -> Response:
    with tempfile.TemporaryDirectory() as folder:  # any folder of documents works
        for passage in corpus():
            Path(folder, f"{passage.title}.txt").write_text(passage.text, encoding="utf-8")
        documents = SimpleDirectoryReader(folder).load_data()
    nodes = SentenceSplitter(chunk_size=256, chunk_overlap=0).get_nodes_from_documents(documents)
    # Any index and any model can be used; these two need no download.
    llm = llm_of(guard.language_model, max_new_tokens=40)
    engine = RetrieverQueryEngine.from_args(BM25NodeRetriever(nodes, k=2), llm=llm)

    guarded = guard_query_engine(engine, guard)  # the only line to add
    response = guarded.query(QUESTION)
    print(response)
    names = {node.node.node_id: node.node.metadata["file_name"] for node in response.source_nodes}
    for verdict in response.metadata["franq"]["verdicts"]:
        print(f"  {verdict['label']:16} {verdict['claim']['text']}")
        for says in ("evidence", "against"):
            if found := verdict[says]:
                print(f"    {says}: {names[found['node_id']]}[{found['start']}:{found['end']}]")
    return response


if __name__ == "__main__":
    main(Guard.offline())
