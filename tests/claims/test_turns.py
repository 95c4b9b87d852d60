"""A sentence that begins as no statement is a claim from where it states something."""

import pytest

from franq_guard.claims import RuleSplitter, remove_claims

SPLITTER = RuleSplitter()
FACT = "The K7 was designed by Tom Fox in 2019."
LOWER = "the" + FACT[3:-1]


@pytest.mark.parametrize(
    ("opening", "why"),
    [
        ("The passages do not mention the price, but ", "refusal"),
        ("I don't have details on the price, but ", "refusal"),
        ("I cannot find the price in the passages, although ", "refusal"),
        ("The provided context does not say where it is sold; however, ", "refusal"),
        ("I'm sorry, but ", "refusal"),
        ("I'm sorry, ", "refusal"),
        ("The passages do not mention the price, only that ", "refusal"),
        ("The context does not say who sold it; it only states that ", "refusal"),
        ("The context does not give the price but only mentions that ", "refusal"),
        ("The passages say nothing about it other than that ", "refusal"),
        ("The text gives no details beyond the fact that ", "refusal"),
        ("There is no information about the price in the context, but ", "refusal"),
        ("I'm not sure, but ", "hedge"),
        ("This answer is based on the passages: ", "hedge"),
        ("Thank you for your question, ", "greeting"),
        ("I hope this helps: ", "greeting"),
        ("Let me know if you need more, since ", "greeting"),
        ("I'll explain: ", "lead-in"),
        ("Let me be clear \u2014 ", "lead-in"),
        ("Check the label: ", "instruction"),
        ("Source: ", "citation"),
    ],
)
def test_what_follows_the_opening_is_a_claim(opening, why):
    answer = f"{opening}{LOWER}."
    nothing, claim = SPLITTER.split(answer)
    assert (nothing.not_a_claim, claim.not_a_claim) == (why, None)
    assert claim.text == FACT
    (a, b), (c, d) = *nothing.spans, *claim.spans
    assert (a, d) == (0, len(answer))
    assert not answer[b:c].strip()
    assert answer[c:d].endswith(f"{LOWER}.")
    assert remove_claims(answer, [nothing, claim], [1]) == f"{answer[a:b]}."


@pytest.mark.parametrize(
    "opening", ["Let me clarify that ", "I'll just add that ", "Let me start by saying that "]
)
def test_what_is_only_announced_is_a_claim(opening):
    answer = f"{opening}{LOWER}."
    [claim] = SPLITTER.split(answer)
    assert (claim.text, claim.not_a_claim, claim.spans) == (FACT, None, ((0, len(answer)),))
    assert SPLITTER.split("Let me clarify that for you.")[0].not_a_claim == "lead-in"


@pytest.mark.parametrize(
    ("lead_in", "claim"),
    [
        ("Costs 40 euros and includes the following:", "Costs 40 euros."),
        ("It is waterproof, and it includes these parts:", "It is waterproof."),
        ("Tom Fox and Ann Lee have the following:", None),
        ("The K7 and its parts are:", None),
        ("Red and includes:", None),
        ("It has many uses, including:", None),
        ("It has 40 uses, including:", "It has 40 uses."),
    ],
)
def test_a_lead_in_that_states_something_first(lead_in, claim):
    found = SPLITTER.split(f"{lead_in}\n- a case\n- a lid")[:-2]
    assert [c.text for c in found if c.not_a_claim is None] == ([claim] if claim else [])
    assert found[-1].not_a_claim == "lead-in"
    covered = {i for c in found for a, b in c.spans for i in range(a, b)}
    assert all(i in covered or mark == " " for i, mark in enumerate(lead_in))


@pytest.mark.parametrize(
    "opening",
    [
        "As an AI, I can say that ", "I cannot stress enough that ", "You can see that ",
        "I don't doubt that ", "My answer is that ", "You should know that ",
    ],
)  # fmt: skip
def test_an_opening_that_only_leads_to_the_fact_is_in_its_spans(opening):
    answer = f"{opening}{LOWER}."
    (claim,) = SPLITTER.split(answer)
    assert claim.not_a_claim is None
    assert claim.text.lower().endswith(FACT.lower())
    assert claim.spans == ((0, len(answer)),)


def test_the_clauses_of_the_rest_are_claims_of_their_own():
    answer = "The passages do not mention it, but the K7 is red and was made in Ulm."
    claims = SPLITTER.split(answer)
    assert [claim.text for claim in claims[1:]] == ["The K7 is red.", "The K7 was made in Ulm."]


def test_a_statement_before_the_refusal_is_a_claim():
    answer = "The K7 was made in Ulm, but its price is not mentioned in the passages."
    claim, nothing = SPLITTER.split(answer)
    assert (claim.text, nothing.not_a_claim) == ("The K7 was made in Ulm.", "refusal")
    assert remove_claims(answer, [claim, nothing], [0]) == (
        "Its price is not mentioned in the passages."
    )


@pytest.mark.parametrize(
    "end",
    [" – would you like to know more?", "; do you need its price?", ", but who painted it?",
     ", so is a trolley at hand?", ", and may I show you a picture?"],
)  # fmt: skip
def test_a_statement_before_a_question_is_a_claim(end):
    said, asked = SPLITTER.split(f"The pump weighs 47 kg{end}")
    assert (said.text, said.not_a_claim) == ("The pump weighs 47 kg.", None)
    assert asked.not_a_claim == "question"


@pytest.mark.parametrize(
    "question",
    ["Is the pump red – or is it blue?", "Did you know that it weighs 47 kg, and is red?",
     "If you like it, would you buy it?", "You asked about Rome, but which one do you mean?",
     "I can help with that – what do you want to know?", "What is a pump – and how heavy is it?"],
)  # fmt: skip
def test_a_question_as_a_whole_stays_one(question):
    (claim,) = SPLITTER.split(question)
    assert claim.not_a_claim == "question"


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm sorry, but the passages do not mention it.",
        "I'm sorry, but there is not enough information to answer the question.",
        "The passages do not mention the price, only that it is not given.",
        "I'm sorry, but I can only answer questions about kettles.",
        "The context does not say who designed it, so it is not possible to answer.",
        "The context does not say who designed it, but it describes the design.",
        "I cannot confirm that the K7 was designed by Tom Fox.",
        "I cannot find the man who designed it, the K7, or where it was made.",
        "Unfortunately, I have no information about the K7, which was made in Ulm.",
        "I hope this helps, and let me know if you have more questions.",
        "Thank you for your question, feel free to ask more.",
        "Source: Wikipedia, the free encyclopedia",
        "Source: The Man Who Knew Too Much, p. 3",
        "I'm not sure if this is true, but I think it is.",
    ],
)
def test_a_refusal_as_a_whole_stays_no_claim(sentence):
    (claim,) = SPLITTER.split(sentence)
    assert claim.not_a_claim is not None
    assert claim.text == sentence


@pytest.mark.parametrize(
    ("opening", "end"),
    [
        ("I'm afraid ", ""),
        ("I am afraid that ", ""),
        ("I'm sorry to say that ", ""),
        ("Although its price is not mentioned in the passages, ", ""),
        ("While the exact price is not specified in the provided documents, ", ""),
        ("While the passages do not give its price, size, or weight, ", ""),
        ("", ", and its price is not mentioned in the context"),
    ],
)
def test_a_fact_beside_what_the_passages_do_not_say_is_a_claim(opening, end):
    answer = f"{opening}{LOWER if opening else FACT[:-1]}{end}."
    stated = [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]
    assert [claim.text for claim in stated] == [FACT]


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm afraid the passages do not mention the price.",
        "I'm afraid there is no information about it.",
        "I'm afraid I can't help with that.",
        "I am afraid of heights.",
        "While the passages do not mention the price, I cannot say more.",
        "The passages do not mention the price, and its size is not given in the passages.",
    ],
)
def test_regret_about_what_is_not_known_stays_a_refusal(sentence):
    assert {claim.not_a_claim for claim in SPLITTER.split(sentence)} == {"refusal"}


def test_what_follows_an_opinion_is_a_claim():
    opinion, claim = SPLITTER.split("I recommend the K7, since it holds 9 litres.")
    assert (opinion.not_a_claim, claim.not_a_claim) == ("opinion", None)
    assert claim.text == "It holds 9 litres."


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("I recommend Pro, which costs $9.", ["Pro costs $9."]),
        ("I recommend the Pro plan [1], which costs **$9** and supports 4 users. It is red.",
         ["The Pro plan costs $9.", "The Pro plan supports 4 users.", "It is red."]),
        ("I love the old town, which was built by Otto.", ["The old town was built by Otto."]),
        ("I recommend it, which is a 9 of 10.", []),
        ("I prefer Pro, which is great.", []),
        ("I prefer Pro, which is better than Basic.", []),
        ("I love the lake, which you should visit in May.", []),
        ("I love that Ann left, which made Ben sad.", []),
        ("In my opinion, it is the best book, which came out in 1990.", []),
    ],
)  # fmt: skip
def test_a_fact_that_an_opinion_names_beside_it_is_a_claim(sentence, facts):
    found = SPLITTER.split(sentence)
    assert [claim.text for claim in found if claim.not_a_claim is None] == facts
    assert found[0].not_a_claim == "opinion"
    assert "".join(sentence[a:b] for a, b in found[0].spans) == found[0].text


def test_an_opinion_without_its_fact_is_a_sentence():
    text = "I recommend Pro, which costs $9. It is red."
    assert remove_claims(text, SPLITTER.split(text), [1]) == "I recommend Pro. It is red."


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Let's compute: 4 × 5 = 20.", "4 × 5 = 20."),
        ("Let me add up: 3 boxes × $12 = $36.", "3 boxes × $12 = $36."),
        ("Let's see: area = 3 m × 4 m = 12 m².", "Area = 3 m × 4 m = 12 m²."),
    ],
)
def test_what_is_computed_behind_a_lead_in_is_a_claim(sentence, said):
    lead, claim = SPLITTER.split(sentence)
    assert (lead.not_a_claim, claim.not_a_claim, claim.text) == ("lead-in", None, said)


@pytest.mark.parametrize(
    "sentence", ["Let's take: x = 5.", "Let me add up:", "Let's begin: 1 of 2."]
)
def test_what_is_only_set_is_a_lead_in(sentence):
    assert [claim.not_a_claim for claim in SPLITTER.split(sentence)] == ["lead-in"]
