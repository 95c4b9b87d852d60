"""What an agent's tools return: each document is evidence, and nothing that a model wrote is."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from types import SimpleNamespace

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, ReActAgent
from llama_index.core.base.llms.types import CitableBlock, TextBlock
from llama_index.core.tools import FunctionTool

from llama_index_franq import FranqHandler, guard_agent

from .agent_fakes import ScriptedCaller, function_agent, look_up, run_of
from .fakes import (
    RunRetriever,
    ScriptedChat,
    ScriptedGuard,
    ScriptedLLM,
    memory_of,
    node,
    question,
    rag,
    said,
)
from .leak_surfaces import sub_question, tool_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called:DeprecationWarning"),
]
OPENED = "The Golden Gate Bridge opened in 1937 after four years."
BUILT = "Joseph Strauss was chief engineer during construction work."
CLAIM = "The Golden Gate Bridge was designed by Gustave Eiffel in 1889."
CALL = ("towers", {"input": "run 4"})


def passages_of(tool, *later, make=function_agent, script=(CALL, "So it is.")):
    """The passages of each answer of an agent with one tool, guarded and watched the same."""
    if not hasattr(tool, "metadata"):
        tool = FunctionTool.from_defaults(tool, name="towers")
    guarded, watched = ScriptedGuard(), ScriptedGuard()
    llm = ScriptedCaller if make is function_agent else ScriptedChat
    with FranqHandler(watched).attach() as watch:
        asyncio.run(turns(make(llm(script=[*script, *later]), [tool]), later))
        assert watch.flush(30)
    asyncio.run(turns(guard_agent(make(llm(script=[*script, *later]), [tool]), guarded), later))
    first, second = (
        [[(p.id, p.text, p.title) for p in t.passages] for t in guard.traces if answers(t)]
        for guard in (guarded, watched)
    )
    texts = [[[text for _, text, _ in one] for one in each] for each in (first, second)]
    assert texts[0] == texts[1]  # LlamaIndex numbers a ReActAgent's calls at random
    assert len(first) == 1 + len(later)
    return first if later else first[0]


def answers(trace):
    return trace.question in (question(4), "Are you sure?") and "So it is" in trace.generation.text


async def turns(agent, later):
    """One question, and another one for each of ``later``; the memory alone is kept."""
    memory = memory_of()
    for asked in (question(4), *("Are you sure?" for _ in later)):
        await run_of(agent, asked, memory=memory)


def react_agent(llm, tools):
    return ReActAgent(llm=llm, tools=tools)


REACT = [
    'Thought: I need it.\nAction: towers\nAction Input: {"input": "run 4"}',
    "Thought: I know.\nAnswer: So it is.",
]


# Documents --------------------------------------------------------------------------------------


def as_dicts(input: str) -> list:
    """Finds two chunks of a file."""
    return [{"text": text, "source": "bridges.pdf"} for text in (OPENED, BUILT)]


def as_documents(input: str) -> list:
    """The same, as LangChain's loaders make them."""
    about = {"source": "bridges.pdf"}
    return [SimpleNamespace(page_content=t, metadata=about, id=None) for t in (OPENED, BUILT)]


@pytest.mark.parametrize("tool", [as_dicts, as_documents])
def test_each_chunk_of_one_file_is_evidence(tool):
    found = passages_of(tool)
    assert [(text, title) for _, text, title in found] == [
        (OPENED, "bridges.pdf"),
        (BUILT, "bridges.pdf"),
    ]
    assert len({name for name, _, _ in found}) == 2  # a report names each by its own id


@pytest.mark.parametrize("error", [False, True])
def test_the_result_of_an_mcp_server_is_read_part_by_part(error):
    """As ``McpToolSpec`` returns it; the model itself sees its ``repr``."""

    def tool(input: str) -> object:
        """Asks a server."""
        parts = [SimpleNamespace(type="text", text=text) for text in (OPENED, f"{BUILT}\n- tall")]
        return SimpleNamespace(content=parts, structuredContent=None, isError=error)

    found = [text for _, text, _ in passages_of(tool)]
    assert found == ([] if error else [OPENED, f"{BUILT}\n- tall"])


def test_what_a_tool_gives_to_be_cited_is_evidence():
    def tool(input: str) -> list:
        """Finds two texts; the tool's own text is empty."""
        return [
            CitableBlock(title="", source="a.pdf", content=[TextBlock(text=text)])
            for text in (OPENED, BUILT)
        ]

    assert [text for _, text, _ in passages_of(tool)] == [OPENED, BUILT]


def test_an_id_of_a_document_is_kept():
    def tool(input: str) -> list:
        """Finds two documents, one of them twice."""
        texts = {"a": OPENED, "b": BUILT}
        return [{"text": texts[i], "id": i, "title": f"page {i}"} for i in "aba"]

    assert passages_of(tool) == [("a", OPENED, "page a"), ("b", BUILT, "page b")]


PRICES = [{"name": "Widget", "price": 42}, {"name": "Gadget", "price": 17}]
RESULTS = {
    "rows": PRICES,
    "tuples": [("Widget", 42), ("Gadget", 17)],
    "rows under a usual name": {"documents": PRICES},
    "a value beside its sources": {"price": 42, "sources": ["https://shop.example/widget"]},
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_rows_keep_their_numbers_and_the_names_of_their_columns(result):
    def tool(input: str) -> object:
        """Looks prices up."""
        return result

    assert [text for _, text, _ in passages_of(tool)] == [str(result)]


def test_values_beside_documents_are_evidence_but_not_questions_and_answers():
    def tool(input: str) -> dict:
        """Looks a price up."""
        about = {"query": "the price of Widget", "answer": CLAIM, "price": 42, "in": {"EUR": 39}}
        return {"context": OPENED, "documents": [OPENED], **about, "stock": None}

    assert [text for _, text, _ in passages_of(tool)] == [OPENED, "price: 42\nin: {'EUR': 39}"]


def test_the_letters_of_json_are_read():
    def tool(input: str) -> str:
        """Looks a builder up."""
        return json.dumps({"built by": "Jürgen", "steps": 300})

    assert [text for _, text, _ in passages_of(tool)] == ['{"built by": "Jürgen", "steps": 300}']


class OneId(ScriptedCaller):
    """Gives each call of a tool the tool's name as its id, as Ollama does."""

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **kwargs):
        calls = super().get_tool_calls_from_response(response, error_on_no_tool_call)
        return [call.model_copy(update={"tool_id": call.tool_name}) for call in calls]


def test_two_calls_of_a_tool_with_one_id():
    def towers(input: str) -> str:
        """Looks a tower up."""
        (found, _) = RunRetriever().retrieve(input)
        return f"Found: {found.node.text}"

    script = [CALL, ("towers", {"input": "run 5"}), "So it is."]
    guarded, watched = ScriptedGuard(), ScriptedGuard()
    with FranqHandler(watched).attach() as watch:
        agent = function_agent(OneId(script=[*script]), [FunctionTool.from_defaults(towers)])
        asyncio.run(run_of(agent, question(4)))
        assert watch.flush(30)
    agent = function_agent(OneId(script=[*script]), [FunctionTool.from_defaults(towers)])
    asyncio.run(run_of(guard_agent(agent, guarded), question(4)))
    for guard in (guarded, watched):
        found = [p.id for p in guard.traces[-1].passages]
        assert found == ["4-tall", "4-old", "5-tall", "5-old"]


def test_nodes_and_other_texts_in_one_list():
    def tool(input: str) -> list:
        """Finds a node and a text."""
        return [node(4, "tall"), BUILT]

    found = passages_of(tool)
    assert [text for _, text, _ in found] == [node(4, "tall").text, BUILT]


# What a model wrote -----------------------------------------------------------------------------


def test_answers_to_sub_questions_of_an_engine():
    found = passages_of(tool_of(sub_question(False, rag(ScriptedLLM()))))
    assert [name for name, _, _ in found] == ["4-tall", "4-old"]


def test_an_engine_that_finds_nothing():
    class Nothing(RunRetriever):
        def _retrieve(self, query_bundle):
            return []

    engine = rag(ScriptedLLM(), Nothing())
    assert passages_of(tool_of(engine)) == []
    assert passages_of(tool_of(sub_question(False, engine))) == []


def test_what_a_tools_model_calls_evidence():
    def tool(input: str) -> dict:
        """Asks a model for an answer with its evidence."""
        ScriptedLLM(script=[f'{{"answer": "So.", "evidence": "{CLAIM}"}}']).complete(input)
        return {"answer": "So.", "evidence": CLAIM, "documents": []}

    def with_document(input: str) -> dict:
        """The same, with a document."""
        return {**tool(input), "documents": [{"text": OPENED, "id": "a"}]}

    assert passages_of(tool) == []
    assert passages_of(with_document) == [("a", OPENED, "towers")]


def test_what_code_prints_is_evidence_unless_it_is_in_the_code():
    def execute(code):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, {"towers": look_up})
        return printed.getvalue()

    code = f'<execute>\nprint("{CLAIM}")\nprint(towers("run 4"))\n</execute>'
    agent = CodeActAgent(
        code_execute_fn=execute,
        llm=ScriptedCaller(script=[code, CLAIM]),
        tools=[FunctionTool.from_defaults(look_up, name="towers")],
    )
    guard = ScriptedGuard()
    asyncio.run(run_of(guard_agent(agent, guard), question(4)))
    (passage,) = guard.traces[-1].passages
    assert passage.text.strip() == look_up("run 4")


# Errors and handoffs ----------------------------------------------------------------------------


def broken(input: str) -> str:
    """Fails, and repeats what the model asked for."""
    raise LookupError(f"nothing was found for: {CLAIM}")


@pytest.mark.parametrize("make", [function_agent, react_agent])
def test_an_error_of_a_tool_in_this_turn_and_in_later_ones(make):
    script = REACT if make is react_agent else [CALL, "So it is."]
    assert passages_of(broken, REACT[1], REACT[1], make=make, script=script) == [[], [], []]
    found, later = passages_of(look_up, REACT[1], make=make, script=script)
    assert [text for _, text, _ in found] == [text for _, text, _ in later] == [look_up("run 4")]


@pytest.mark.parametrize("make", [function_agent, react_agent])
@pytest.mark.parametrize("value", [None, [], {}])
def test_a_tool_that_finds_nothing_is_no_evidence_now_or_later(make, value):
    """LlamaIndex gives the model the text "None" or "{}"."""
    script = REACT if make is react_agent else [CALL, "So it is."]
    assert passages_of(lambda input: value, REACT[1], make=make, script=script) == [[], []]


def test_a_handoff_is_no_evidence_in_a_later_turn():
    handoff = ("handoff", {"to_agent": "second", "reason": CLAIM})
    first = function_agent(
        ScriptedCaller(script=[handoff, "So it is."]),
        name="first",
        description="hands off",
        can_handoff_to=["second"],
    )
    second = function_agent(
        ScriptedCaller(script=[said("run 4")]), name="second", description="knows"
    )
    guard = ScriptedGuard()
    team = guard_agent(AgentWorkflow(agents=[first, second], root_agent="first"), guard)
    asyncio.run(turns(team, ["So it is."]))
    assert CLAIM in guard.traces[-1].generation.prompt
    assert [trace.passages for trace in guard.traces] == [(), ()]


@pytest.mark.parametrize(("calls", "limit"), [(1, 20), (2, 2)])
def test_a_guarded_agent_that_a_tool_runs(calls, limit):
    """What its tools found is evidence for the agent above; what it wrote is none."""
    wrote = f"{look_up('run 4')} {CLAIM}"
    inner = function_agent(ScriptedCaller(script=[*[CALL] * calls, wrote]))
    guard = ScriptedGuard()
    below = guard_agent(inner, guard)

    async def ask(input: str) -> str:
        """Asks the other agent."""
        end = {"max_iterations": limit, "early_stopping_method": "generate"}
        return str(await below.run(user_msg=input, **end))

    top = ScriptedCaller(script=[("ask", {"input": question(4)}), CLAIM])
    agent = guard_agent(function_agent(top, [FunctionTool.from_defaults(async_fn=ask)]), guard)
    asyncio.run(run_of(agent, question(4)))
    first, last = guard.traces
    assert (first.generation.text, last.generation.text) == (wrote, CLAIM)
    for trace in (first, last):
        assert [p.text for p in trace.passages] == [look_up("run 4")]
