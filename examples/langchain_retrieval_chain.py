"""A guarded create_retrieval_chain that streams: first the documents, then the checked answer.

python examples/langchain_retrieval_chain.py
"""

from langchain_classic.chains import create_retrieval_chain
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_core.prompts import ChatPromptTemplate
from langchain_huggingface import ChatHuggingFace

from franq_guard import Guard
from franq_guard.datasets.demo import corpus
from langchain_franq import guard_chain
from langchain_franq.local import BM25PassageRetriever, pipeline_of

QUESTION = "Which four capital cities does the Danube pass?"


def main(guard: Guard) -> dict:
    local = guard.language_model
    model = ChatHuggingFace(llm=pipeline_of(local, max_new_tokens=40), tokenizer=local.tokenizer)
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer in one sentence.\n\n{context}"), ("human", "{input}")]
    )
    chain = create_retrieval_chain(
        BM25PassageRetriever(passages=corpus(), k=2), create_stuff_documents_chain(model, prompt)
    )

    guarded = guard_chain(chain, guard)
    output: dict = {}
    for chunk in guarded.stream({"input": QUESTION}):
        print("now here:", ", ".join(chunk))
        output |= chunk
    print(output["answer"])
    print(output["franq"]["status"], [v["label"] for v in output["franq"]["verdicts"]])
    return output


if __name__ == "__main__":
    main(Guard.offline())
