"""Chains and engines whose model is a GGUF file: the Llama in them is found and asked."""

import pytest

from franq_guard import Calibrator, Guard
from franq_guard.faithfulness import SmallFaithfulness
from franq_guard.language_model import LlamaCppModel

pytestmark = [
    pytest.mark.llamacpp,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:pydantic"),
]
PASSAGE = "The Wye rises on Plynlimon in mid Wales and flows south-east for 250 km."
QUESTION = "Where does the Wye rise?"


@pytest.fixture(scope="module")
def guard():
    def never():
        raise AssertionError("the guard's own language model was asked")

    franq = Calibrator.uncalibrated()  # without one the passages alone would decide
    return Guard(language_model=never, faithfulness=SmallFaithfulness.bundled, franq=franq)


def chain_of(llm):
    from langchain_core.documents import Document
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    found = RunnableLambda(lambda _: [Document(PASSAGE)], name="retriever")
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer briefly."), ("human", "Passages:\n{context}\n\nQuestion: {question}")]
    )
    text = prompt | llm | StrOutputParser()
    return {"question": RunnablePassthrough(), "context": found} | RunnablePassthrough.assign(
        answer=text
    )


@pytest.mark.parametrize("kind", ["ChatLlamaCpp", "LlamaCpp"])
def test_langchain(guard, gguf, kind):
    from langchain_franq import guard_chain

    if kind == "ChatLlamaCpp":
        from langchain_community.chat_models import ChatLlamaCpp as Model
    else:
        from langchain_community.llms import LlamaCpp as Model
    llm = Model(
        model_path=str(gguf),
        logits_all=True,
        n_ctx=1024,
        temperature=0,
        max_tokens=32,
        verbose=False,
    )
    reports = []
    chain = guard_chain(chain_of(llm), guard, on_report=reports.append)
    [found] = chain.models
    assert isinstance(found.guard.language_model, LlamaCppModel)
    assert found.guard.language_model.model is llm.client
    output = chain.invoke(QUESTION)
    [report] = reports
    checked = [v for v in report.verdicts if v.label != "not-a-claim"]
    assert checked
    assert all(v.p_true is not None for v in checked), report
    for verdict in checked:
        assert verdict.raw["uq_faith"] < 0
        assert verdict.raw["uq_unfaith"] < 0
    assert output["franq"]["status"] == report.status
    llm.client.close()


def test_llama_index(guard, gguf):
    from llama_index.core import PromptTemplate, get_response_synthesizer
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.llms.llama_cpp import LlamaCPP

    from llama_index_franq import guard_query_engine

    class Fixed(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(text=PASSAGE), score=1.0)]

    llm = LlamaCPP(
        model_path=str(gguf),
        temperature=0.0,
        max_new_tokens=32,
        context_window=1024,
        model_kwargs={"logits_all": True, "verbose": False},
        verbose=False,
    )
    template = PromptTemplate("Passages:\n{context_str}\n\nQuestion: {query_str}\n\nAnswer:")
    engine = RetrieverQueryEngine(Fixed(), get_response_synthesizer(llm, text_qa_template=template))
    response = guard_query_engine(engine, guard).query(QUESTION)
    report = response.metadata["franq"]
    checked = [v for v in report["verdicts"] if v["label"] != "not-a-claim"]
    assert checked
    assert all(v["p_true"] is not None for v in checked), report
