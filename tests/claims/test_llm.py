"""Extraction by a language model: scripted models, every failure falls back and is counted."""

import json
from types import SimpleNamespace

import pytest

from franq_guard.claims import LLMSplitter, RuleSplitter
from franq_guard.claims.llm_reply import NoReplyError, entries

ANSWER = "Marie Curie was born in Warsaw. She won two prizes and moved to Paris. Is that enough?"
FIRST = {"sentence": 1, "claim": "Marie Curie was born in Warsaw.", "words": "born in Warsaw"}
SECOND = {"sentence": 2, "claim": "Marie Curie won two prizes.", "words": "She won two prizes"}
THIRD = {"sentence": 2, "claim": "Marie Curie moved to Paris.", "words": "She moved to Paris"}
ALL = json.dumps({"claims": [FIRST, SECOND, THIRD]})


class Script:
    """A model that gives the replies of a list, and keeps the prompts."""

    def __init__(self, *replies):
        self.replies, self.prompts = list(replies), []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def split(*replies, answer=ANSWER):
    model = Script(*replies)
    claims, report = LLMSplitter(model).split_with_report(answer, question="Who was she?")
    return claims, report, model


def words(claim, answer=ANSWER):
    return [answer[a:b] for a, b in claim.spans]


def test_claims_carry_the_words_they_rest_on():
    claims, report, model = split(ALL)
    assert [c.text for c in claims] == [
        FIRST["claim"], SECOND["claim"], THIRD["claim"], "Is that enough?",
    ]  # fmt: skip
    assert words(claims[0]) == ["born in Warsaw"]
    assert words(claims[2]) == ["moved to Paris"]  # a lone "She" far off is no evidence
    assert claims[3].not_a_claim == "question"
    assert (report.calls, report.sentences, report.by_rules, report.causes) == (1, 2, 0, {})
    # One request; the question that states nothing is not numbered in it.
    assert "2. She won two prizes and moved to Paris." in model.prompts[0]
    assert "3. " not in model.prompts[0].split("Its sentences, numbered:")[1].split("For every")[0]
    assert "Who was she?" in model.prompts[0]


@pytest.mark.parametrize(
    "reply",
    [
        "```json\n" + ALL + "\n```",
        "Here you are:\n" + ALL + "\nHope this helps!",
        ALL.replace("}]", "},]"),
        ALL[: ALL.rindex("}]}") + 1],  # cut off before the brackets close
        json.dumps([FIRST, SECOND, THIRD]),
        f'<think>A draft: {{"sentence": 1, "claim": "Curie was born."}}</think>{ALL}',
        f'[THINK]A draft: {{"sentence": 1, "claim": "Curie was born."}}[/THINK]{ALL}',
    ],
)
def test_json_is_read_tolerantly(reply):
    claims, report, _ = split(reply)
    assert [c.text for c in claims][:3] == [FIRST["claim"], SECOND["claim"], THIRD["claim"]]
    assert report.by_rules == 0


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (TimeoutError("too slow"), "error"),
        (RuntimeError("no route"), "error"),
        ("I'm sorry, but I cannot help with that.", "refusal"),
        ('{"claims": [{"sentence": 1, "cl', "broken_json"),
        ("", "broken_json"),
        ("1, 2, 3", "broken_json"),
        ('{"claims": null}', "broken_json"),
        ('{"claims": 3}', "broken_json"),
    ],
)
def test_a_failed_request_gives_the_rules_claims(reply, cause):
    claims, report, _ = split(reply)
    assert claims == RuleSplitter().split(ANSWER, question="Who was she?")
    assert report.by_rules == 2
    assert report.causes == {cause: 1}
    assert report.error == (str(reply) if cause == "error" else "")


@pytest.mark.parametrize("listed", [None, 3, True, "none", {"claim": "Rome is big."}, [None, 3]])
def test_claims_that_are_no_list_of_claims_give_the_rules_claims(listed):
    model = ChatModel("unused", structured={"claims": listed})
    claims, report = LLMSplitter(model).split_with_report(ANSWER, question="Who was she?")
    assert claims == RuleSplitter().split(ANSWER, question="Who was she?")
    assert (report.by_rules, report.causes, report.error) == (2, {"broken_json": 1}, "")


@pytest.mark.parametrize("reply", [{}, {"claim": None}, {"claims": None, "note": "{}"}])
def test_an_object_without_a_list_of_claims_is_no_reply(reply):
    with pytest.raises(NoReplyError) as found:
        entries(reply)
    assert found.value.cause == "broken_json"


def test_an_empty_list_is_a_reply():
    assert entries({"claims": []}) == []


def test_a_reply_of_brackets_without_end_gives_the_rules_claims():
    claims, report, _ = split('{"claim": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert claims == RuleSplitter().split(ANSWER, question="Who was she?")
    assert report.causes == {"broken_json": 1}


def test_an_infinite_number_is_no_sentence():
    claims, report, _ = split(f'{{"claims": [{json.dumps({**FIRST, "sentence": 1e999})}]}}')
    assert claims == RuleSplitter().split(ANSWER, question="Who was she?")
    assert report.causes == {"invented": 1, "missing": 2}


def test_a_sentence_without_claims_gets_the_rules_claims():
    claims, report, _ = split(json.dumps({"claims": [FIRST]}))
    assert [c.text for c in claims[1:3]] == ["She won two prizes.", "She moved to Paris."]
    assert report.causes == {"missing": 1}
    assert report.by_rules == 1


def test_a_clause_the_model_left_out_is_added():
    claims, report, _ = split(json.dumps({"claims": [FIRST, SECOND]}))
    assert [c.text for c in claims[:3]] == [FIRST["claim"], SECOND["claim"], "She moved to Paris."]
    assert report.causes == {"uncovered": 1}


def test_an_invented_claim_is_dropped_and_counted():
    invented = {"sentence": 1, "claim": "Einstein played the violin daily.", "words": "violin"}
    unknown = {"sentence": 9, "claim": "Marie Curie was born in Warsaw.", "words": "born"}
    claims, report, _ = split(json.dumps({"claims": [FIRST, invented, unknown, SECOND, THIRD]}))
    assert len(claims) == 4
    assert report.causes == {"invented": 2}


def test_a_number_that_the_answer_does_not_have_is_invented():
    wrong = {**SECOND, "claim": "Marie Curie won three prizes."}
    claims, report, _ = split(json.dumps({"claims": [FIRST, wrong, THIRD]}))
    assert [c.text for c in claims[1:3]] == ["She won two prizes.", THIRD["claim"]]
    assert report.causes == {"invented": 1, "uncovered": 1}


def test_missing_words_do_not_point_at_a_word_of_the_sentence():
    answer = "None of the pumps is red."
    reply = {"sentence": 1, "claim": "No pump is red.", "words": None}
    claims, _, _ = split(json.dumps({"claims": [reply]}), '{"claims": []}', answer=answer)
    assert words(claims[0], answer) != ["None"]


def test_a_claim_that_is_no_text_is_dropped():
    claims, report, _ = split(json.dumps({"claims": [{**FIRST, "claim": ["born", "Warsaw"]}]}))
    assert claims == RuleSplitter().split(ANSWER, question="Who was she?")
    assert report.causes == {"invented": 1, "missing": 2}


def test_the_number_of_an_only_sentence_may_be_missing():
    answer = "Marie Curie was born in Warsaw."
    reply = {"claim": "Curie was born in Warsaw.", "words": "born in Warsaw"}
    claims, report, _ = split(json.dumps({"claims": [reply]}), answer=answer)
    assert [c.text for c in claims] == [reply["claim"]]
    assert report.by_rules == 0


def test_a_second_request_asks_only_for_words_that_were_not_found():
    vague = {"sentence": 2, "claim": "Marie Curie relocated to the French capital, Paris."}
    found = json.dumps({"claims": [{"number": 1, "words": "moved to Paris"}]})
    claims, report, model = split(json.dumps({"claims": [FIRST, SECOND, vague]}), found)
    assert report.calls == 2
    assert "relocated" in model.prompts[1]
    assert "born in Warsaw" not in model.prompts[1]
    assert words(claims[2]) == ["moved to Paris"]
    assert report.low_aligned == 0


@pytest.mark.parametrize("second", ['{"claims": [{"number": 1, "words": ""}]}', ValueError("down")])
def test_words_never_found_give_the_whole_sentence_marked_low(second):
    vague = {"sentence": 2, "claim": "Marie Curie relocated to the French capital, Paris."}
    claims, report, _ = split(json.dumps({"claims": [FIRST, vague]}), second)
    low = next(c for c in claims if c.text == vague["claim"])
    assert words(low) == ["She won two prizes and moved to Paris."]
    assert low.aligned < 0.6
    assert report.low_aligned == 1


def test_an_item_of_what_is_not_so_is_left_to_the_rules():
    answer = "The following claims are false:\n\n- Marie Curie was born in Paris.\n"
    claims, report, model = split(answer=answer)
    assert claims[1].text == "It is not true that Marie Curie was born in Paris."
    assert (report.calls, model.prompts) == (0, [])


def test_a_long_answer_is_asked_in_parts():
    answer = " ".join(f"Fact {k} is true." for k in range(45))
    empty = '{"claims": []}'
    claims, report, _ = split(empty, empty, answer=answer)
    assert report.calls == 2
    assert report.causes == {"missing": 45}
    assert claims == RuleSplitter().split(answer, question="Who was she?")


def test_the_answer_cannot_fill_fields_of_the_prompt():
    answer = "The field {sentences} is literal. {question} too."
    _, _, model = split('{"claims": []}', answer=answer)
    assert "The field {sentences} is literal." in model.prompts[0]


class ChatModel:
    """As LangChain's: invoke gives a message; structured output may be missing."""

    model_name = "chat-1"

    def __init__(self, content, structured=None):
        self.content, self.structured = content, structured

    def invoke(self, prompt):
        return SimpleNamespace(content=self.content)

    def with_structured_output(self, schema):
        if self.structured is None:
            raise NotImplementedError
        return SimpleNamespace(invoke=lambda prompt: self.structured)


class StrictServer(ChatModel):
    """Takes a schema, and refuses each request with one."""

    def with_structured_output(self, schema):
        def refuse(prompt):
            raise ValueError("400: this server has no tools")

        return SimpleNamespace(invoke=refuse)


class CompletionModel:
    """As LlamaIndex's."""

    def complete(self, prompt):
        return SimpleNamespace(text=ALL)


@pytest.mark.parametrize(
    "model",
    [
        ChatModel(ALL),
        ChatModel([{"type": "text", "text": ALL}]),
        ChatModel("unused", structured=json.loads(ALL)),
        CompletionModel(),
        lambda prompt: ALL,
        lambda prompt: json.loads(ALL),
        ChatModel(ALL).invoke,
        StrictServer(ALL),
    ],
)
def test_models_of_any_framework(model):
    claims = LLMSplitter(model).split(ANSWER)
    assert [c.text for c in claims][:3] == [FIRST["claim"], SECOND["claim"], THIRD["claim"]]


def test_what_is_no_model_is_refused_with_advice():
    with pytest.raises(TypeError, match="pass a function"):
        LLMSplitter(42)


def test_the_fingerprint_names_model_prompts_and_rules():
    one = LLMSplitter(ChatModel(ALL)).fingerprint
    assert "chat-1" in one
    assert "extract.v1" in one
    assert RuleSplitter().fingerprint in one
    assert one != LLMSplitter(ChatModel(ALL), name="other").fingerprint
