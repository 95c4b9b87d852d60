"""JSON rows in and out."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.claims import ALIGNED, alignment
from franq_guard.records import (
    Claim,
    ClaimLabel,
    Evidence,
    Generation,
    GuardedAnswer,
    Passage,
    Token,
    Trace,
    Verdict,
)
from franq_guard.rows import RowError, read_traces, trace_from_dict, trace_to_dict, traces
from franq_guard.rows.traces import passages_from, trace_of

ROW = {"question": "Who?", "passages": ["Ada wrote it."], "answer": "Ada did."}


def test_smallest_row():
    trace = trace_from_dict(ROW)
    assert trace.question == "Who?"
    assert trace.passages == (Passage("Ada wrote it."),)
    assert trace.generation.text == "Ada did."
    assert trace.generation.source == "none"


def test_everything_a_row_may_hold():
    row = ROW | {
        "id": 7,
        "passages": [{"text": "t", "title": "T", "id": 3}],
        "prompt": "P",
        "tokens": [
            {"id": 1, "start": 0, "end": 4, "logprob": -0.5},
            {"id": 2, "start": 4, "end": 8, "logprob": None},
        ],
        "samples": ["Ada.", {"text": "Bob."}],
        "claims": [{"text": "Ada did.", "spans": [[0, 8]], "is_true": True}, {"text": "ada did"}],
    }
    trace = trace_from_dict(row)
    assert trace.id == "7"
    assert trace.passages[0] == Passage("t", "T", "3")
    assert trace.generation.prompt == "P"
    assert trace.generation.source == "server"
    assert trace.generation.tokens[0].logprob == -0.5
    assert trace.generation.tokens[1].logprob != trace.generation.tokens[1].logprob  # NaN
    assert [s.text for s in trace.samples] == ["Ada.", "Bob."]
    assert trace.claims[0] == Claim("Ada did.", ((0, 8),))
    assert trace.labels == (ClaimLabel(is_true=True), ClaimLabel())


TEXTS = st.text(max_size=20)
ALWAYS_THERE = st.text(min_size=1, max_size=20)
SOURCES = st.sampled_from(["captured", "server", "teacher-forced"])


def perhaps(values):
    return st.none() | values


@st.composite
def generations(draw, text, prompts):
    """The text as the tokens between random cuts; without tokens it has no source either."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    tokens = [
        Token(
            *(-1, start, end, draw(st.floats(-50, 0))),
            entropy=draw(perhaps(st.floats(0, 20))),
        )
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    kept = tuple(tokens) if draw(st.booleans()) else ()
    source = draw(SOURCES) if kept else "none"
    writer = draw(perhaps(ALWAYS_THERE))
    return Generation(text, kept, prompt=draw(prompts), source=source, writer=writer)


@st.composite
def all_claims(draw, length):
    """Some claims, each with one or two places in the answer."""
    ends = st.lists(st.integers(0, length), min_size=2, max_size=4, unique=True).map(sorted)
    return tuple(
        Claim(
            text=draw(ALWAYS_THERE),
            spans=tuple(zip(places[::2], places[1::2], strict=False)),
            context=draw(perhaps(TEXTS)),
            not_a_claim=draw(perhaps(ALWAYS_THERE)),
            aligned=draw(st.just(1.0) | st.floats(0, 1)),
            full=draw(perhaps(ALWAYS_THERE)),
        )
        for places in draw(st.lists(ends, max_size=3))
    )


@st.composite
def all_traces(draw):
    answer = draw(st.text(min_size=1, max_size=40))
    claims = draw(perhaps(all_claims(len(answer)))) if len(answer) > 1 else None
    labels = st.builds(ClaimLabel, perhaps(st.booleans()), perhaps(st.booleans()))
    passage = st.builds(Passage, TEXTS, title=TEXTS, id=perhaps(TEXTS))
    return Trace(
        question=draw(ALWAYS_THERE.filter(str.strip)),
        passages=tuple(draw(st.lists(passage, max_size=3))),
        generation=draw(generations(answer, perhaps(TEXTS))),
        samples=tuple(
            draw(st.lists(TEXTS.flatmap(lambda text: generations(text, st.none())), max_size=2))
        ),
        claims=claims,
        labels=tuple(draw(labels) for _ in claims or ()),
        contrast_prompt=draw(perhaps(TEXTS)),
        prompt_seen=draw(st.booleans()),
        id=draw(perhaps(ALWAYS_THERE)),
    )


@given(all_traces())
def test_a_trace_survives_its_row(trace):
    row = json.loads(json.dumps(trace_to_dict(trace), allow_nan=False))
    assert trace_from_dict(row) == trace


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": None}, "'question' must be a string, not null"),
        ({"question": "  "}, "'question' is empty"),
        ({"passages": "one"}, "'passages' must be a list, not a string"),
        ({"passages": [3]}, "a passage must be a string"),
        ({"answer": 3}, "'answer' must be a string, not a number"),
        ({"answer": math.nan}, "'answer' must be a string, not NaN"),
        ({"tokens": [{"start": 0}]}, r"'tokens'\[0\]: .* start, end and logprob"),
        ({"tokens": {"a": 1}}, "'tokens' must be a list"),
        ({"claims": [{"spans": []}]}, "'claims' must be a non-empty string"),
        ({"claims": [""]}, "'claims' must be a non-empty string"),
        ({"claims": [{"text": "x", "spans": [[0, 99]]}]}, "inside the answer"),
        ({"samples": [3]}, "'samples' must be a string"),
    ],
)
def test_wrong_rows_say_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        trace_from_dict(ROW | change)


def test_what_another_program_calls_source_and_tokens_is_no_error():
    trace = trace_from_dict(ROW | {"source": "https://example.org", "tokens": 523})
    assert (trace.generation.source, trace.generation.tokens) == ("none", ())


def test_the_answer_is_read_once_for_all_claims(monkeypatch):
    read, keys = [], alignment.keys
    split, sentences = [], traces.sentences
    monkeypatch.setattr(alignment, "keys", lambda text: read.append(text) or keys(text))
    monkeypatch.setattr(traces, "sentences", lambda *of: split.append(of) or sentences(*of))
    trace_from_dict(ROW | {"claims": ["Ada did", "did Ada", "she did", "a zebra", "two zebras"]})
    assert read.count(ROW["answer"]) == 1
    assert len(split) == 1


def test_claims_may_be_texts():
    (claim,) = trace_from_dict(ROW | {"claims": [ROW["answer"]]}).claims
    assert (claim.text, claim.spans) == (ROW["answer"], ((0, 7),))


def tokens(*rows):
    return [{"start": a, "end": b, "logprob": p} for a, b, p in rows]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (tokens((0, 4, -1.0), (5, 8, -1.0)), r"'tokens'\[1\]: .* tile .* start at 4"),  # a gap
        (tokens((0, 4, -1.0), (3, 8, -1.0)), r"'tokens'\[1\]: .* tile"),  # an overlap
        (tokens((1, 8, -1.0)), r"'tokens'\[0\]: .* tile"),
        (tokens((0, 9, -1.0)), r"'tokens'\[0\]: .* at 8 at most"),
        (tokens((0, 4, -1.0), (4, 3, -1.0)), r"'tokens'\[1\]: .* tile"),
        (tokens((0, 4, -1.0)), r"'tokens'\[0\]: the last token must end with the text, at 8"),
        (tokens((0, 8.0, -1.0)), r"'tokens'\[0\]: start and end must be integers"),
        (tokens((False, 8, -1.0)), "must be integers"),
        (tokens((0, 8, 0.9)), "log-probabilities are at most 0"),
        (tokens((0, 8, "-1")), "logprob must be a finite number or null"),
        (tokens((0, 8, True)), "logprob must be a finite number or null"),
        ([{"start": 0, "end": 8, "logprob": -1.0, "entropy": "x"}], "entropy must be a finite"),
        ([{"start": 0, "end": 8, "logprob": -1.0, "entropy": -0.5}], "entropies are at least 0"),
        ([[0, 8, -1.0]], r"'tokens'\[0\]: a token must be an object"),
    ],
)
def test_tokens_are_not_believed_unchecked(given, message):
    with pytest.raises(ValueError, match=message):
        trace_from_dict(ROW | {"tokens": given})
    with pytest.raises(ValueError, match=f"in 'samples': .*{message}"):
        trace_from_dict(ROW | {"samples": [{"text": ROW["answer"], "tokens": given}]})


def test_ids_of_rows_are_those_of_another_tokenizer():
    given = [{"id": 5, "start": 0, "end": 8, "logprob": 1e-6, "top": [[5, -0.1]], "entropy": 1}]
    (token,) = trace_from_dict(ROW | {"tokens": given}).generation.tokens
    assert token == Token(id=-1, start=0, end=8, logprob=0.0, entropy=1.0)


def test_a_rounding_error_below_zero_is_no_entropy():
    given = [{"start": 0, "end": 8, "logprob": -1.0, "entropy": -1e-6}]
    (token,) = trace_from_dict(ROW | {"tokens": given}).generation.tokens
    assert token.entropy == 0.0


def test_a_row_is_strict_json_whatever_the_numbers_of_its_tokens():
    tokens = (Token(1, 0, 3, -math.inf, math.nan), Token(2, 3, 4, math.nan, 0.5))
    row = trace_to_dict(Trace("Who?", (), Generation("Bob.", tokens, source="captured")))
    assert json.loads(json.dumps(row, allow_nan=False))["tokens"] == [
        {"start": 0, "end": 3, "logprob": None},
        {"start": 3, "end": 4, "logprob": None, "entropy": 0.5},
    ]


def test_empty_tokens_may_stand_between():
    given = tokens((0, 0, -1.0), (0, 8, -1.0), (8, 8, -1.0))
    assert len(trace_from_dict(ROW | {"tokens": given}).generation.tokens) == 3
    assert trace_from_dict(ROW | {"tokens": []}).generation.source == "none"


def test_samples_keep_their_tokens():
    given = [{"text": "Bob.", "tokens": tokens((0, 3, -1.0), (3, 4, None))}, "Ada."]
    first, second = trace_from_dict(ROW | {"samples": given}).samples
    assert [t.end for t in first.tokens] == [3, 4]
    assert math.isnan(first.tokens[1].logprob)
    assert (first.source, second.source, second.tokens) == ("server", "none", ())


@pytest.mark.parametrize(
    "spans",
    [
        *(5, "0", {}, False, [0, 4], [None]),
        *([[4, 4]], [[3, 1]], [[-1, 4]], [[0, 4], [2, 6]], [[4, 8], [0, 2]]),
        *([[0.0, 4.0]], [[True, 4]], [["0", "4"]], [[0, 4, 5]]),
    ],
)
def test_spans_are_strict(spans):
    with pytest.raises(ValueError, match=r"'spans' must be \[start, end\] pairs"):
        trace_from_dict(ROW | {"claims": [{"text": "x", "spans": spans}]})


def test_a_claim_that_is_not_found_takes_its_sentence():
    answer = " Rome is in Italy. Bern lies on the river Aare. "
    claims = [
        {"text": "Paris is the seat of French government on a river"},
        {"text": "Quantum chromodynamics"},
        {"text": "Rome is in Italy."},
    ]
    trace = trace_from_dict(ROW | {"answer": answer, "claims": claims})
    sentence, whole, found = trace.claims
    assert answer[slice(*sentence.spans[0])] == "Bern lies on the river Aare."
    assert answer[slice(*whole.spans[0])] == answer.strip()
    assert sentence.aligned < ALIGNED
    assert whole.aligned == 0.0
    assert answer[slice(*found.spans[0])].startswith("Rome is in Italy")
    assert found.aligned >= ALIGNED


def test_labels_are_booleans_or_absent():
    def labels(**given):
        claims = [{"text": "Ada did.", **given}]
        return trace_from_dict(ROW | {"claims": claims}).labels[0]

    assert labels(is_true=0, is_faithful=True) == ClaimLabel(is_true=False, is_faithful=True)
    assert labels(is_true=None, is_faithful=None) == ClaimLabel()
    for wrong in ("true", 2, 0.5, [1]):
        with pytest.raises(ValueError, match="'is_faithful' must be true, false, 0, 1 or null"):
            labels(is_true=True, is_faithful=wrong)


def test_ids_are_strings_or_integers():
    assert trace_from_dict(ROW | {"id": 0}).id == "0"
    assert trace_from_dict(ROW | {"id": ""}).id is None
    assert trace_from_dict(ROW | {"id": 7.0}).id == "7"  # as pandas has it where one is missing
    assert trace_from_dict(ROW | {"id": float("nan")}).id is None
    for wrong in (1.5, float("inf"), True, [1], {"a": 1}):
        with pytest.raises(ValueError, match="'id' must be a string or an integer"):
            trace_from_dict(ROW | {"id": wrong})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("samples", "5"),
        ("samples", '"Rome"'),
        ("samples", '{"text": "Rome"}'),
        ("tokens", '"5"'),
        ("tokens", '[{"start": Infinity, "end": 8, "logprob": -1}]'),
        ("tokens", '[{"start": 0, "end": 8, "logprob": -1' + "0" * 400 + "}]"),
        ("tokens", '[{"start": 0, "end": 8, "logprob": NaN}]'),
        ("spans", '[{"text": "x", "spans": 5}]'),
        ("spans", '[{"text": "x", "spans": [0, 4]}]'),
        ("spans", '[{"text": "x", "spans": [[null, 4]]}]'),
        ("spans", '[{"text": "x", "spans": [[0, Infinity]]}]'),
        ("nested", "[" * 50_000 + "]" * 50_000),
    ],
)
def test_no_row_ends_the_run(key, value):
    name = "claims" if key == "spans" else key
    bad = json.dumps(ROW | {"id": "a"})[:-1] + f', "{name}": {value}}}'
    first, second = read_traces([bad, json.dumps(ROW)])
    assert isinstance(first, RowError)
    assert key in first.error
    assert isinstance(second, Trace)
    assert (first.line, first.id) == (1, None if key == "nested" else "a")


def test_a_byte_order_mark_is_no_error():
    mark = "\ufeff"
    assert [type(r) for r in read_traces([mark + json.dumps(ROW)])] == [Trace]
    assert list(read_traces([mark + "\n"])) == []


@pytest.mark.parametrize("missing", ["question", "passages", "answer"])
def test_missing_keys_are_named(missing):
    row = {k: v for k, v in ROW.items() if k != missing}
    with pytest.raises(ValueError, match=f"'{missing}' is missing"):
        trace_from_dict(row)


def test_a_broken_line_costs_one_line():
    lines = [json.dumps(ROW), "{broken", "", "[]", json.dumps({"id": "x"}), json.dumps(ROW)]
    found = list(read_traces(lines))
    assert [type(row) for row in found] == [Trace, RowError, RowError, RowError, Trace]
    assert [row.line for row in found[1:4]] == [2, 4, 5]  # the blank line counts, and is no row
    assert found[1].error.startswith("not JSON: ")  # a table, say, that was given by mistake
    assert found[3].to_dict() == {
        "schema": "franq.error/1",
        "line": 5,
        "id": "x",
        "error": "'question' is missing",
    }


def test_answer_to_dict_is_strict_json():
    verdict = Verdict(
        claim=Claim("Ada did.", ((0, 8),)),
        p_true=0.7,
        p_faithful=0.9,
        uq_faith=None,
        uq_unfaith=float("nan"),
        raw={"uq_faith": float("-inf")},
        label="supported",
        evidence=Evidence(0, 1, 4, 0.5),
    )
    answer = GuardedAnswer("t", "o", (verdict,), "ok", "c", {"claims": 0.12345678}, "id")
    row = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert row["schema"] == "franq.answer/1"
    assert row["verdicts"][0]["raw"] == {"uq_faith": None}
    assert row["verdicts"][0]["uq_unfaith"] is None
    assert row["verdicts"][0]["evidence"] == {"passage": 0, "start": 1, "end": 4}
    assert row["timings"] == {"claims": 0.1235}


def test_numbers_of_numpy_and_all_of_a_claim_are_written():
    claim = Claim("It is old.", ((np.int64(0), np.int64(8)),), context="Rome", not_a_claim="hedge")
    verdict = Verdict(
        claim=claim,
        p_true=np.float32(0.5),
        p_faithful=np.float32(0.25),
        uq_faith=None,
        uq_unfaith=None,
        raw={"uq_faith": np.float32(-1)},
        label="not-a-claim",
        evidence=Evidence(np.int64(0), 1, 4, 0.5),
    )
    answer = GuardedAnswer("t", "o", (verdict,), "ok", timings={"claims": np.float32(0.5)})
    (row,) = json.loads(json.dumps(answer.to_dict()))["verdicts"]
    assert row["claim"] == {
        "text": "It is old.",
        "spans": [[0, 8]],
        "context": "Rome",
        "not_a_claim": "hedge",
    }
    assert (row["p_true"], row["p_faithful"], row["raw"]["uq_faith"]) == (0.5, 0.25, -1.0)


def test_a_row_of_an_array_that_is_no_utf8_is_an_error_and_the_others_are_read():
    text = json.dumps([ROW, ROW | {"answer": "Ad\xe9."}, ROW], ensure_ascii=False)
    lines = [text.encode("latin-1").decode("utf-8", "surrogateescape")]
    first, wrong, last = read_traces(lines)
    assert isinstance(wrong, RowError)
    assert wrong.error.startswith("not UTF-8: byte ")
    assert (wrong.line, first, last) == (2, trace_from_dict(ROW), trace_from_dict(ROW))
    # one that the JSON itself escapes is text like any other
    (escaped,) = read_traces([json.dumps([ROW | {"answer": "Ad\udce9."}])])
    assert escaped.generation.text == "Ad\udce9."


def test_a_file_name_or_a_text_is_no_lines(tmp_path):
    for wrong in ("rows.jsonl", tmp_path / "rows.jsonl", b"{}", '{"question": "q"}\n'):
        with pytest.raises(TypeError, match=r"open\(PATH, encoding='utf-8'\)"):
            read_traces(wrong)


def test_documents_of_frameworks_are_passages():
    Document = pytest.importorskip("langchain_core.documents").Document
    schema = pytest.importorskip("llama_index.core.schema")
    TextNode, NodeWithScore = schema.TextNode, schema.NodeWithScore
    node = TextNode(text="Rome is big.", metadata={"title": "Rome"})
    found = passages_from(
        [
            Document(page_content="Rome is old.", metadata={"title": "Rome"}, id="7"),
            node,
            NodeWithScore(node=node, score=0.5),
        ]
    )
    assert [(p.text, p.title, p.id) for p in found] == [
        ("Rome is old.", "Rome", "7"),
        ("Rome is big.", "Rome", None),
        ("Rome is big.", "Rome", None),
    ]


@pytest.mark.parametrize(
    ("given", "title", "id"),
    [
        ({"title": math.nan, "id": math.nan}, "", None),  # pandas, where a cell is empty
        ({"title": math.nan, "metadata": {"title": "Rome"}}, "Rome", None),
        ({"title": 0, "id": 0}, "0", "0"),
        ({"title": None, "id": b"p7"}, "", "p7"),
    ],
)
def test_the_names_of_passages_are_text(given, title, id):
    (passage,) = passages_from([{"text": "Rome is big.", **given}])
    assert (passage.title, passage.id) == (title, id)


@pytest.mark.parametrize("wrong", [7, None, object(), ("text", "a"), {"texts": "a"}])
def test_what_is_no_passage_is_named(wrong):
    with pytest.raises(ValueError, match="a string 'text' or 'page_content', not"):
        passages_from([wrong])


def test_which_of_question_and_answer_is_no_text_is_said():
    with pytest.raises(TypeError, match="the question must be a string, not NoneType"):
        trace_of(None, ["p"], "a")
    with pytest.raises(TypeError, match="the answer must be a string, not dict"):
        trace_of("q", ["p"], {"text": "a"})
