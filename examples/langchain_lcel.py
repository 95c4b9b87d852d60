"""The usual RAG chain of tutorials, guarded: weak claims in its answer are marked.

python examples/langchain_lcel.py
"""

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_huggingface import ChatHuggingFace

from franq_guard import Guard, GuardedAnswer
from franq_guard.datasets.demo import corpus
from langchain_franq import guard_chain
from langchain_franq.local import BM25PassageRetriever, pipeline_of

QUESTION = "When did the Golden Gate Bridge open?"


def main(guard: Guard) -> str:
    # Any retriever and any model can be used; these two need no download.
    retriever = BM25PassageRetriever(passages=corpus(), k=2)
    local = guard.language_model
    model = ChatHuggingFace(llm=pipeline_of(local, max_new_tokens=40), tokenizer=local.tokenizer)
    prompt = ChatPromptTemplate.from_template(
        "Answer in one sentence.\n\n{context}\n\nQuestion: {question}"
    )
    chain = (
        {
            "context": retriever | (lambda docs: "\n\n".join(d.page_content for d in docs)),
            "question": RunnablePassthrough(),
        }
        | prompt
        | model
        | StrOutputParser()
    )

    guarded = guard_chain(chain, guard, on_report=show)  # the only line to add
    answer = guarded.invoke(QUESTION)
    print(answer)
    return answer


def show(report: GuardedAnswer) -> None:
    for verdict in report.verdicts:
        p_true = "?" if verdict.p_true is None else f"{verdict.p_true:.2f}"
        print(f"  P(true) {p_true}  {verdict.label:16}  {verdict.claim.text}")


if __name__ == "__main__":
    main(Guard.offline())
