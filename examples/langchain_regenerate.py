"""If an answer has claims that are likely false, ask again once and name the claims to leave out.

python examples/langchain_regenerate.py
"""

from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from franq_guard import Guard, GuardedAnswer
from franq_guard.datasets.demo import corpus
from franq_guard.language_model.base import Prompt
from langchain_franq import FactualityError, guard_chain
from langchain_franq.local import BM25PassageRetriever, pipeline_of

QUESTION = "Who designed the Golden Gate Bridge, and when did it open?"


def rag(guard: Guard) -> Runnable:
    """A chain that answers a question; after a failed first attempt it also gets its error."""
    local = guard.language_model

    def prompt(found: dict) -> str:
        texts = [document.page_content for document in found["context"]]
        user = [*texts, f"Question: {found['asked']['question']}"]
        error: FactualityError | None = found["asked"].get("error")
        if error is not None:
            doubtful = "; ".join(verdict.claim.text for verdict in error.verdicts)
            user.append(f"Use only the text above. Do not say: {doubtful}")
        return local.render(Prompt("Answer in one or two sentences.", "\n\n".join(user)))

    retriever = BM25PassageRetriever(passages=corpus(), k=2)
    found = RunnableParallel(
        asked=RunnableLambda(lambda asked: asked), context=_question | retriever
    )
    return found | prompt | pipeline_of(local, max_new_tokens=40) | StrOutputParser()


_question = RunnableLambda(lambda asked: asked["question"])


def main(guard: Guard) -> str:
    chain = rag(guard)
    strict = guard_chain(chain, guard, raise_on=("false",), on_report=show)
    second = guard_chain(chain, guard, on_report=show)  # marks what is still weak
    answer = strict.with_fallbacks(
        [second], exceptions_to_handle=(FactualityError,), exception_key="error"
    ).invoke({"question": QUESTION})
    print(answer)
    return answer


def show(report: GuardedAnswer) -> None:
    labels = ", ".join(verdict.label for verdict in report.verdicts)
    print(f"  {report.original}\n  -> {labels}")


if __name__ == "__main__":
    main(Guard.offline())
