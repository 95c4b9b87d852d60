"""An answer that cites the wrong document says so: in the text, in a stream, in the report."""

from __future__ import annotations

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from franq_guard import Guard
from franq_guard.testing import FakeFaithfulness
from langchain_franq import guard_chain

from .fakes import lcel, question

# Of the ten words five stand in the second document, too: .5 is not more than half.
ANSWER = "The archive says that the tower of run 7 is tall [{}]."
MARK = " [passage 2 does not say this]"


def chain(cited, **options):
    inner = lcel(FakeListChatModel(responses=[ANSWER.format(cited)]))
    return guard_chain(inner, Guard(faithfulness=FakeFaithfulness()), **options)


@pytest.mark.parametrize(("cited", "mark"), [(1, ""), (2, MARK), (3, " [there is no passage 3]")])
def test_a_citation_of_the_wrong_document_is_marked(cited, mark):
    reports = []
    text = chain(cited, on_report=reports.append).invoke(question(7))
    assert text == f"{ANSWER.format(cited)[:-1]}{mark}."
    ((found,),) = [verdict.citations for verdict in reports[0].verdicts]
    assert (found.finding == "right") == (not mark)


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        ("claims", f"{ANSWER.format(2)[:-1]}{MARK}."),
        ("tail", f"{ANSWER.format(2)}\n{MARK.strip()} {ANSWER[:-6]}."),
    ],
)
def test_a_stream_says_it_too(stream, text):
    assert "".join(chain(2, stream=stream).stream(question(7))) == text
