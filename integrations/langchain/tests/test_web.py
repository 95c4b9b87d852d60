"""The web example: claims appear as they are checked, each visitor's own, and leaving ends it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from franq_guard import Claim, Evidence, Guard, Passage, Verdict
from franq_guard.report.words import LABEL_WORDS, REASON_WORDS
from franq_guard.streaming.release import Released
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

from .fakes import question
from .web import EXAMPLE, Visit, Writer, load_example, rag, texts

web = load_example()
FALSE = "Purple zebras sing loud tunes there at midnight."


def told(prompt):
    """Three sentences about the tower of the prompt's run; the last one is made up."""
    n = re.search(r"run (\d+)", prompt).group(1)
    yield f"The archive says that the tower of run {n} is tall. "
    yield f"Masons began the tower of run {n} long ago. "
    yield FALSE


def app_of(script, *, retriever=None, fail=None):
    guard = Guard(
        language_model=FakeLanguageModel(known=0.999), faithfulness=FakeFaithfulness(fail=fail)
    )
    return web.make_app(rag(Writer(script), retriever), guard)


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # fakes have no calibrator, and say so each time
    yield
    logging.disable(logging.NOTSET)


async def asked(app, text):
    async with Visit(app, text) as visit:
        return await visit.all_events()


def test_passages_then_claims_then_the_end():
    events = asyncio.run(asked(app_of(told), question(7)))
    assert [name for name, _ in events] == ["passages", "claim", "claim", "claim", "done"]
    assert [p["title"] for p in events[0][1]["passages"]] == ["Tower 7", "Tower 7"]
    assert texts(events) == (
        "The archive says that the tower of run 7 is tall. Masons began the tower of run 7 long "
        "ago. Purple zebras sing loud tunes there at midnight [not in the passages]."
    )
    first, _, last = (data["claims"][0] for name, data in events if name == "claim")
    assert first["label"] == "supported"
    assert first["against"] is None
    assert first["evidence"] == {
        "lead": "passage 1 (Tower 7) says",
        "text": "The archive says that the tower of run 7 is tall.",
    }
    assert (last["label"], last["reason"]) == ("unsupported", "prior")
    assert last["text"] == FALSE
    assert 0 <= last["p_true"] < 0.725
    assert events[-1][1]["status"] == "ok"


def test_the_first_claim_appears_while_the_model_writes():
    seen = threading.Event()

    def script(prompt):
        yield from told(prompt)
        yield " One more"  # it settles the sentence before
        for _ in range(1000):  # checked text is released with the next word
            yield " word"
            if seen.wait(0.05):
                break
        else:
            raise AssertionError("nothing left while the model wrote")
        yield "."

    async def run():
        names = []
        async with Visit(app_of(script), question(7)) as visit:
            async for name, _ in visit.events():
                names.append(name)
                if name == "claim":
                    seen.set()
        return names

    assert asyncio.run(run())[-1] == "done"


def test_no_text_leaves_before_its_claim_is_checked():
    checked, written = threading.Event(), threading.Event()

    def script(prompt):
        yield from told(prompt)
        written.set()

    async def run():
        app = app_of(script, fail=lambda: checked.wait(60))
        async with Visit(app, question(7)) as visit:
            events = visit.events()
            assert (await anext(events))[0] == "passages"
            assert await asyncio.to_thread(written.wait, 60)
            await asyncio.sleep(0.2)
            assert visit.waiting() == 0
            checked.set()
            return [name async for name, _ in events]

    assert asyncio.run(run()) == ["claim", "claim", "claim", "done"]


EVIL = "<script>alert(1)</script>"


def test_markup_and_line_ends_stay_text():
    forged = f"The tower {EVIL} of run 7 is tall.\n\nevent: done\ndata: {{}}\n\nIt is old."
    page = Document(f"{EVIL} tower of run 7\n\nevent: done\r\rdata: x", metadata={"title": EVIL})
    app = app_of(lambda prompt: [forged], retriever=RunnableLambda(lambda q: [page]))

    async def run():
        async with Visit(app, f"{EVIL} run 7") as visit:
            assert visit.headers["content-type"].startswith("text/event-stream")
            assert visit.headers["x-content-type-options"] == "nosniff"
            return await visit.all_events()

    events = asyncio.run(run())
    names = [name for name, _ in events]
    assert names[0] == "passages"
    assert names[-1] == "done"
    assert set(names[1:-1]) == {"claim"}
    assert events[0][1]["passages"] == [{"title": EVIL, "text": page.page_content}]
    shown = re.sub(r" \[[a-z ]+\]", "", texts(events))  # without the marks
    assert shown == forged


def test_the_question_reaches_the_chain_as_it_is():
    prompts = []

    def script(prompt):
        prompts.append(prompt)
        return told(prompt)

    asyncio.run(asked(app_of(script), f"  {EVIL} run 7 \u2028 é "))
    assert prompts[0].endswith(f"\n\n{EVIL} run 7 \u2028 é")


def test_who_leaves_ends_the_work():
    def endless(prompt):
        while True:
            yield from told(prompt)
            yield " "
            time.sleep(0.01)

    app_rag = rag(writer := Writer(endless))
    guard = Guard(language_model=FakeLanguageModel(known=0.999), faithfulness=FakeFaithfulness())

    async def run():
        async with Visit(web.make_app(app_rag, guard), question(7)) as visit:
            async for name, _ in visit.events():
                if name == "claim":
                    break
        assert visit.task.done()
        # The model's thread notices at its next word, and the test does not wait for that.
        for _ in range(200):
            if writer.closed and not checkers():
                break
            await asyncio.sleep(0.05)
        assert writer.closed == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert not checkers()


def checkers():
    """The threads that check claims."""
    return [t.name for t in threading.enumerate() if t.name.startswith("franq-claims")]


def test_who_leaves_while_nothing_is_read_yet_ends_the_work_too():
    writes = threading.Event()

    def endless(prompt):
        while True:
            yield " tower"
            writes.set()
            time.sleep(0.01)

    app_rag = rag(writer := Writer(endless))
    guard = Guard(language_model=FakeLanguageModel(), faithfulness=FakeFaithfulness())

    async def run():
        async with Visit(web.make_app(app_rag, guard), question(7)):
            assert await asyncio.to_thread(writes.wait, 60)
        for _ in range(200):
            if writer.closed:
                break
            await asyncio.sleep(0.05)

    asyncio.run(run())
    assert writer.closed == 1


def test_who_leaves_during_a_check_waits_for_nobody():
    checked, checking = threading.Event(), threading.Event()

    def fail():
        checking.set()
        checked.wait(60)

    async def run():
        async with Visit(app_of(told, fail=fail), question(7)) as visit:
            assert await asyncio.to_thread(checking.wait, 60)
        assert visit.task.done()
        assert not checked.is_set()
        checked.set()  # the check under way cannot be stopped; nothing comes after it

    asyncio.run(run())
    for thread in threading.enumerate():
        if thread.name.startswith("franq-claims"):
            thread.join(60)
    assert not checkers()


def test_an_answer_that_breaks_off_says_so_and_no_more():
    def broken(prompt):
        yield from told(prompt)
        yield " And"
        raise RuntimeError("the secret path of the model")

    events = asyncio.run(asked(app_of(broken), question(7)))
    assert [name for name, _ in events][-1] == "error"
    assert "secret" not in repr(events)
    assert "done" not in [name for name, _ in events]


def test_claims_that_cannot_be_checked_are_shown_as_such():
    def fail():
        raise RuntimeError("no scores")

    events = asyncio.run(asked(app_of(told, fail=fail), question(7)))
    labels = [
        claim["label"] for name, data in events if name == "claim" for claim in data["claims"]
    ]
    assert labels == ["unverified"] * 3
    assert events[-1] == ("done", events[-1][1] | {"status": "unverified"})


def test_visitors_at_once_keep_their_own_answers():
    app = app_of(told)

    async def run():
        return await asyncio.gather(*(asked(app, question(n)) for n in range(10, 30)))

    for n, events in zip(range(10, 30), asyncio.run(run()), strict=True):
        assert [name for name, _ in events] == ["passages", "claim", "claim", "claim", "done"]
        assert set(re.findall(r"(?:run|Tower) (\d+)", repr(events))) == {str(n)}


@pytest.mark.parametrize(
    "body", ["", "{}", '{"question": "  "}', '{"question": 3}', '{"question": "%s"}' % ("x" * 501)]
)
def test_what_is_no_question_is_refused(body):
    async def run():
        async with Visit(app_of(told), body=body) as visit:
            await visit.body()
            return visit.status

    assert asyncio.run(run()) == 422


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/page.js", 200),
        ("/page.css", 200),
        ("/words", 200),
        ("/docs", 404),
        ("/../app.py", 404),
    ],
)
def test_every_response_is_strict(path, status):
    async def run():
        async with Visit(app_of(told), path=path) as visit:
            return visit.status, visit.headers, await visit.body()

    found, headers, body = asyncio.run(run())
    assert found == status
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert b"<script src=" in body or path != "/"


def test_the_page_has_the_words_that_all_others_use():
    async def run():
        async with Visit(app_of(told), path="/words") as visit:
            return json.loads(await visit.body())

    words = asyncio.run(run())
    assert list(words["labels"]) == list(LABEL_WORDS)
    assert words["labels"]["unsupported"]["name"] == "Not in the passages"
    assert words["reasons"] == REASON_WORDS
    assert list(words["numbers"]) == ["p_true", "p_faithful"]
    assert words["examples"] == []
    assert sorted(words["worst"]) == sorted(LABEL_WORDS)  # any label may colour a part
    assert words["weak"] == ["false", "doubtful", "unsupported"]
    script = (EXAMPLE / "static" / "page.js").read_text("utf-8")
    assert not any(said.meaning in script for said in LABEL_WORDS.values())


def test_what_speaks_against_a_claim_goes_to_the_page():
    passages = [Passage("It is blue."), Passage("No. It is old.", "Sky")]
    stated = Claim("The sky is blue.", ((0, 16),))
    found = Verdict(
        stated,
        0.5,
        0.9,
        0.9,
        0.5,
        {},
        "doubtful",
        "conflict",
        Evidence(0, 0, 11, 0.9),
        Evidence(1, 4, 14, 0.9),
    )
    (made,) = web.claim_event(Released("The sky is blue.", (found,), 0, 16), passages)["claims"]
    assert made["reason"] == "conflict"
    assert made["evidence"] == {"lead": "passage 1 says", "text": "It is blue."}
    assert made["against"] == {"lead": "passage 2 (Sky) says otherwise", "text": "It is old."}


def test_the_page_asks_nobody_else_and_makes_no_markup_of_text():
    for path in (EXAMPLE / "static").iterdir():
        assert not re.search(r"https?:|//\w|@import|url\(", path.read_text("utf-8")), path
    script = (EXAMPLE / "static" / "page.js").read_text("utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|write\(|eval|Function\(", script)


# Where the colours begin and end --------------------------------------------------------------


def verdict(*spans):
    return Verdict(Claim("c", spans), 0.9, 0.9, 0.9, 0.9, {}, "supported")


def test_claims_that_share_words_and_marks():
    #        "The sky is blue" is 10..25, "The sky is" and "old" make the second claim
    text = " The sky is blue [doubtful] and old [likely false]."
    released = Released(text, (verdict((10, 25)), verdict((10, 20), (30, 34))), 9, 34)
    assert web.parts_of(released) == [
        (" ", []),
        ("The sky is", [0, 1]),
        (" blue [doubtful]", [0]),
        (" and ", []),
        ("old [likely false].", [1]),
    ]


def test_a_rewritten_text_is_one_part():
    released = Released("Blue.", (verdict((0, 9)), verdict((9, 20))), 0, 20)
    assert web.parts_of(released) == [("Blue.", [0, 1])]


def test_nothing_is_left_of_a_removed_sentence():
    assert web.parts_of(Released("", (verdict((0, 9)),), 0, 9)) == []


spans = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted).filter(lambda s: s[0] < s[1])


@given(st.text("ab []", max_size=30), st.lists(spans, max_size=3), st.integers(0, 20))
def test_parts_are_the_text(text, found, start):
    released = Released(text, tuple(verdict(tuple(s)) for s in found), start, start + len(text))
    parts = web.parts_of(released)
    assert "".join(part for part, _ in parts) == text
    at = start
    for part, of in parts:
        assert part
        for c in range(at, at + len(part)):
            assert of == [i for i, (a, b) in enumerate(found) if a <= c < b]
        at += len(part)


# The real model ---------------------------------------------------------------------------------


def test_the_bundled_model_answers_and_stops_when_left(smollm2):
    from franq_guard.datasets.demo import corpus
    from langchain_franq.local import local_rag_chain

    guard = Guard.offline().using(language_model=smollm2)
    app = web.make_app(local_rag_chain(corpus(), smollm2, max_new_tokens=40), guard)
    events = asyncio.run(asked(app, "How many hearts does an octopus have?"))
    assert events[0][0] == "passages"
    assert events[1][0] == "claim"
    assert events[-1][1]["status"] == "ok"

    long = web.make_app(local_rag_chain(corpus(), smollm2, max_new_tokens=400), guard)
    steps = []

    def count(*_):
        steps.append(1)
        if len(steps) > 1:
            time.sleep(0.2)  # on a busy machine it takes some time until anybody sees who left

    counting = smollm2.model.register_forward_hook(count)
    before = set(threading.enumerate())

    async def leave():
        async with Visit(long, "Tell me about the Golden Gate Bridge.") as visit:
            await anext(visit.events())
            while len(steps) < 2:
                await asyncio.sleep(0.02)
            return len(steps)

    seen = asyncio.run(leave())
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
    counting.remove()
    assert len(steps) - seen < 10  # its answer has some eighty tokens
