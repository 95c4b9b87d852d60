"""Passages and questions of chat requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.records import Passage
from franq_guard.serve.passages import passages_in, question_in, question_of, text_of

TOOL = {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "A tool found 3 mills."}
BLOCKS = {"role": "user", "content": "<context>From a block.</context>\nWho was it?"}


def test_the_extension_goes_first_then_documents_then_tools_then_blocks():
    body = {
        "franq": {"passages": ["Ours.", {"text": "Titled.", "title": "T", "id": "7"}]},
        "documents": [{"title": "D", "text": "A document."}],
        "messages": [BLOCKS, TOOL],
    }
    assert passages_in(body) == (Passage("Ours."), Passage("Titled.", "T", "7"))
    del body["franq"]
    assert passages_in(body) == (Passage("A document.", "D"),)
    del body["documents"]
    assert passages_in(body) == (Passage("A tool found 3 mills.", "search", "c1"),)
    body["messages"] = [BLOCKS]
    assert passages_in(body) == (Passage("From a block."),)
    assert passages_in({"messages": [{"role": "user", "content": "Hello"}]}) == ()


ANSWERED = {"role": "assistant", "content": "Done."}
NOTICE = {"role": "tool", "tool_call_id": "c2", "content": "Reminder 12 created."}
PASTED = {"role": "system", "content": "<context>Of the system.</context> Be kind."}
EARLIER = {"role": "user", "content": "<context>Of an earlier turn.</context> When?"}
NEXT = {"role": "user", "content": "And where?"}


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([NEXT, TOOL, ANSWERED, BLOCKS], ["From a block."]),
        ([NEXT, NOTICE, ANSWERED, BLOCKS], ["From a block."]),
        ([EARLIER, ANSWERED, BLOCKS, TOOL], ["A tool found 3 mills."]),
        ([EARLIER, ANSWERED, BLOCKS], ["From a block."]),
        ([EARLIER, ANSWERED, BLOCKS, {**TOOL, "content": "[]"}], ["From a block."]),
        ([BLOCKS, NOTICE], ["From a block.", "Reminder 12 created."]),
        ([EARLIER, ANSWERED, NEXT, NOTICE], ["Of an earlier turn.", "Reminder 12 created."]),
        ([PASTED, NEXT, NOTICE], ["Of the system.", "Reminder 12 created."]),
        ([PASTED, NEXT, TOOL], ["A tool found 3 mills."]),
        ([PASTED, EARLIER, ANSWERED, BLOCKS], ["Of the system.", "From a block."]),
        ([NEXT, TOOL, ANSWERED, EARLIER, NEXT], ["Of an earlier turn."]),
        (
            [NEXT, TOOL, ANSWERED, PASTED, EARLIER, ANSWERED, NEXT],
            ["Of the system.", "A tool found 3 mills.", "Of an earlier turn."],
        ),
    ],
)
def test_of_the_messages_those_of_the_newest_turn_go_first(messages, found):
    assert [passage.text for passage in passages_in({"messages": messages})] == found


def test_what_the_user_sends_without_a_question_belongs_to_the_turn():
    passages = {"role": "user", "content": "<context>Sent before.</context>"}
    photo = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    for newest in ([passages, NEXT], [NEXT, passages], [passages, PASTED, NEXT, ANSWERED, photo]):
        found = passages_in({"messages": [EARLIER, ANSWERED, *newest]})
        assert found[-1] == Passage("Sent before.")
        assert Passage("Of an earlier turn.") not in found


def test_documents_of_langchain_are_read():
    body = {"documents": [{"page_content": "One.", "title": "T"}, {"content": "Two."}]}
    assert passages_in(body) == (Passage("One.", "T"), Passage("Two."))


def test_a_title_in_the_metadata_is_a_title():
    document = {"page_content": "It opened.", "metadata": {"title": "Golden Gate"}, "id": 7}
    assert passages_in({"documents": [document]}) == (Passage("It opened.", "Golden Gate", "7"),)


def test_what_the_assistant_wrote_is_no_evidence():
    """A model may make up a source, or copy how the prompt marks one."""
    said = {"role": "assistant", "content": "<source>It opened in 1950.</source>"}
    assert passages_in({"messages": [said, {"role": "user", "content": "Sure?"}]}) == ()
    assert passages_in({"messages": [said, BLOCKS]}) == (Passage("From a block."),)


def test_empty_sources_are_passed_over():
    body = {"franq": {"passages": []}, "documents": [{"text": "  "}], "messages": [TOOL]}
    assert [p.text for p in passages_in(body)] == ["A tool found 3 mills."]


def test_sources_inside_a_context_are_its_passages():
    text = (
        'Answer.<context>\n<source id="1" name="a.txt">One.</source>\n'
        "<SOURCE id='2'>Two.</SOURCE></context><context>Three.</context>"
    )
    found = passages_in({"messages": [{"role": "system", "content": text}]})
    assert found == (Passage("One.", "a.txt", "1"), Passage("Two.", "", "2"), Passage("Three."))


def test_a_source_of_a_video_is_no_passage():
    video = 'Use <video><source src="a.mp4"></source></video>. It costs 39 euros.'
    for tag in ("context", "document", "document_content"):
        text = f"<{tag}>{video}</{tag}> What does it cost?"
        (passage,) = passages_in({"messages": [{"role": "user", "content": text}]})
        assert passage.text.endswith("It costs 39 euros.")


@pytest.mark.parametrize("name", ["<source>a.pdf</source>", "<source> a.pdf\n</source>\n"])
@pytest.mark.parametrize("tags", [("<document_content>\n", "</document_content>"), ("", "")])
def test_in_a_document_the_source_is_its_name(name, tags):
    """As prompts for Claude have them; some leave the inner tag out."""
    begin, end = tags
    first = f'<document index="1">\n{name}{begin}It opened\nin 1937.{end}\n</document>'
    text = f"<documents>\n{first}\n<document>It is red.</document></documents>\n\nWhen?"
    messages = [{"role": "user", "content": text}]
    found = passages_in({"messages": messages})
    assert found == (Passage("It opened\nin 1937.", "a.pdf", "1"), Passage("It is red."))
    assert question_in(messages) == "When?"


def test_a_block_that_is_not_closed_and_tags_of_other_names_are_text():
    for text in (
        "<context>open",
        "</context>",
        "<contexts>a</contexts>",
        "<source-code>a</source>",
    ):
        assert passages_in({"messages": [{"role": "user", "content": text}]}) == ()


def test_blocks_of_parts_are_found():
    content = [{"type": "text", "text": "<source>One.</source>"}, {"type": "image_url"}]
    assert [p.text for p in passages_in({"messages": [{"role": "user", "content": content}]})] == [
        "One."
    ]


def test_the_question_is_the_last_of_the_user_without_its_blocks():
    earlier = {"role": "user", "content": "Earlier?"}
    assert question_in([earlier, {"role": "assistant", "content": "So."}, BLOCKS]) == "Who was it?"
    only_blocks = {"role": "user", "content": "<context>a</context>"}
    assert question_in([earlier, only_blocks]) == "Earlier?"
    assert question_in([only_blocks]) == ""
    assert question_of({"franq": {"question": "Mine?"}, "messages": [earlier]}) == "Mine?"
    assert question_of({"franq": {"question": 3}, "messages": [earlier]}) == "Earlier?"


def test_nested_blocks_leave_no_piece_in_the_question():
    content = "<context>a<source>b</source>c</context> What?"
    assert question_in([{"role": "user", "content": content}]) == "What?"


@pytest.mark.parametrize(
    "piece",
    [
        "<context>",
        "<source>a</source>",
        "<context a",
        "</source>",
        "<context><source>a</source></context>",
        "<document><source>b</source>a</document>",
    ],
)
def test_a_long_run_of_tags_is_read_in_one_pass(piece):
    """What is quadratic takes a minute here."""
    content = piece * (300_000 // len(piece))
    assert question_in([{"role": "user", "content": content}]) in ("", content)
    found = passages_in({"messages": [{"role": "user", "content": content}]})
    assert {passage.text for passage in found} <= {"a"}


def test_a_long_conversation_is_read_in_one_pass():
    """What is quadratic takes minutes here."""
    messages = [{"role": "user", "content": "When?"}, ANSWERED] * 100_000
    assert passages_in({"messages": messages}) == ()
    assert question_in(messages) == "When?"


KEYS = ["franq", "passages", "documents", "messages", "role", "content", "text", "title", "id"]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.sampled_from(["franq", "documents", "messages"]), ANY_JSON),
    st.lists(ANY_JSON),
)
def test_no_json_makes_them_raise(body, messages):
    for passage in passages_in(body):
        assert passage.text.strip()
        assert isinstance(passage.title, str)
        assert passage.id is None or isinstance(passage.id, str)
    assert isinstance(question_of(body), str)
    assert isinstance(question_in(messages), str)


@given(st.text(alphabet="<>/contexsur =\"'a\n", max_size=80))
def test_no_text_makes_them_raise(text):
    message = {"role": "user", "content": text}
    assert isinstance(question_in([message]), str)
    assert all(p.text in text for p in passages_in({"messages": [message]}))
    assert text_of(text) == text


TAGS = ["context", "source", "document", "documents", "document_content"]
PIECES = ["words", *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS)]


@given(st.lists(st.sampled_from(PIECES), max_size=16))
def test_no_order_of_tags_makes_them_raise(pieces):
    message = {"role": "user", "content": "".join(pieces)}
    assert isinstance(question_in([message]), str)
    assert all("words" in p.text for p in passages_in({"messages": [message]}) if "<" not in p.text)
