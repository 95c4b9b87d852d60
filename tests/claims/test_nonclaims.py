"""What states nothing is recognised, and what states something is not taken for it."""

import pytest

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.rules.nonclaims import reason


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Who built it?", "question"),
        ("“Is it true?”", "question"),
        ("The context does not say when it was built.", "refusal"),
        ("There is no information about prices in the passages.", "refusal"),
        ("I’m sorry, but I cannot answer that.", "refusal"),
        ("Her age is not mentioned in the provided text.", "refusal"),
        ("Not enough information.", "refusal"),
        ("Therefore, it cannot be determined from the passages.", "refusal"),
        ("Based on the provided documents, we cannot give a figure.", "refusal"),
        ("The document cannot be used to determine the price.", "refusal"),
        ("The provided materials do not mention the price.", "refusal"),
        ("The price, which is 40 euros in the shop, is not mentioned in the text.", "refusal"),
        ("Not available in the passages.", "refusal"),
        ("**I don't know** the answer.", "refusal"),
        ("My answer is based on the passages.", "hedge"),
        ("As an AI, I have no access to live data.", "hedge"),
        ('He asked, "Is it red?"', "question"),
        ('Do you know the song "Who Is It?"', "question"),
        ("As an AI language model, I have no live data.", "hedge"),
        ("I may be wrong about this.", "hedge"),
        ("Please note that my knowledge ends in 2023.", "hedge"),
        ("Hello there!", "greeting"),
        ("Sure! I can help with that.", "greeting"),
        ("Let me know if you have questions.", "greeting"),
        ("I hope this helps!", "greeting"),
        ("Here are the main points:", "lead-in"),
        ("The largest cities are:", "lead-in"),
        ("You should consult a doctor.", "instruction"),
        ("Talk to your doctor or pharmacist if you have any questions.", "instruction"),
        ("If the problem persists, contact support.", "instruction"),
        ("You may want to consult a professional.", "instruction"),
        ("See passage 2.", "instruction"),
        ("Refer to section 4.2 of the manual.", "instruction"),
        ("For more information, visit our website.", "instruction"),
        ("You can find more information on our website.", "instruction"),
        ("See https://a.b/c for more information.", "instruction"),
        ("You can find more details at www.a.b.", "instruction"),
        ("For more details, see [the manual](https://a.b/c).", "instruction"),
        ("Learn more: https://a.b/c.", "link"),
        ("Dear Mr. O'Neill-Lee,", "greeting"),
        ("Dear Sir/Madam,", "greeting"),
        ("P.S.", "lead-in"),
        ("Follow these steps carefully.", "instruction"),
        ("Be careful.", "instruction"),
        ("Please provide more context.", "instruction"),
        ("Feel free to ask!", "greeting"),
        ("Enjoy your meal!", "greeting"),
        ("Please note:", "lead-in"),
        ("Take this with a grain of salt.", "hedge"),
        ("In my opinion, it is the best novel of the century.", "opinion"),
        ("It is a truly wonderful place.", "opinion"),
        ("I love this city.", "opinion"),
        ("https://example.org/a", "link"),
        ("[1][2]", "citation"),
        ("— * —", "no statement"),
        ("[!NOTE]", "no statement"),
        ("Note: I could not find the price.", "refusal"),
        ("**Note:** This answer is based on the passages.", "hedge"),
        ("Disclaimer: I am not a doctor.", "hedge"),
        ("Disclaimer: This information is for educational purposes only.", "hedge"),
        ("The above information comes from Document 2.", "hedge"),
        ("That's all I could find in the passages.", "hedge"),
        ("**Confidence:** High", "hedge"),
        ("*Source: Passage 2*", "citation"),
        ("*Sources: [1], [2]*", "citation"),
        ("Source(s): Document 1", "citation"),
        ("**(Source: Lee (2020), p. 3)**.", "citation"),
        ("Hi Ann,", "greeting"),
        ("That's it!", "greeting"),
        ("Just let me know.", "greeting"),
        ("If you'd like, I can also list the opening hours.", "greeting"),
        ("If you have questions about the pump, I'm here to help!", "greeting"),
        ("Parking: N/A", "refusal"),
        ("**Weight**: Not mentioned in the passages", "refusal"),
        ("ℹ️ More info: https://a.b", "link"),
    ],
)
def test_no_claims(sentence, expected):
    assert reason(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Note: The figures are from 2014.",
        "Note: The report does not exist.",
        "Confidence: 95 % of the towns were counted.",
        "That's it for the K7, which was sold in 2014.",
        "Hi-fi was new,",
        "This information comes from the town's register of 1990.",
        "If you have a K7, I can be used with it, it says.",
        "Wi-Fi: not available",
        "Author: not Tom Fox",
        "Sources of light: lamps",
        "(Source: Passage 2) It weighs 9 kg.",
        "*(Sources: Lee (2020))* It weighs 9 kg.",
        "Sure, the capital of France is Paris.",
        "Certainly, he was born in Rome.",
        "Here is the answer: Paris.",
        "Cheers is an American sitcom.",
        "Thanks to the Marshall Plan, Europe recovered.",
        "Great Britain is an island.",
        "I believe Paris is the capital of France.",
        "Please note that the bridge closed in 1990.",
        "Use of force was banned.",
        "Open access became common.",
        "Turn signals are required.",
        "Let It Be is an album by the Beatles.",
        "Do the Right Thing is a film by Spike Lee.",
        "It was a great success.",
        "The law does not mention wages.",
        "No, it is not.",
        "Yes.",
        "1989",
        "You can find it in Norway.",
        "Visit https://a.b/c to download version 2.3.",
        "See https://a.b/c, which was built in 1937.",
        "How the pyramids were built is unknown.",
        # What cannot be done, and not what cannot be said:
        "Therefore, it cannot be used outdoors.",
        "So, we cannot accept returns after 30 days.",
        "Based on the 2010 law, one cannot import it into France.",
        "Your documents cannot be sent by e-mail.",
        "The documents do not need to be notarized.",
        "This information never leaves the device.",
        "The article does not apply to tenants who moved in after 2010.",
        "The material does not contain lead.",
        "Not available in France.",
        # Somebody's work, and not the assistant's:
        "As an assistant professor, she taught at Yale until 1990.",
        "As an artificial satellite, Sputnik orbited the Earth for 21 days.",
        "As an AI company, it has 400 employees.",
        "My answer: Apple.",
        # The passages' silence only in an aside:
        "The author, whose birth date is not mentioned in the text, wrote 12 novels.",
        "The bridge opened in 1937 (its cost is not given in the passages).",
        # Titles:
        '"I Don\'t Like Mondays" is a song by The Boomtown Rats.',
        "“I Hate U” was nearly a solo effort from Prince.",
        "*I Can't Sleep* is a film of 1994.",
        'He hosted the show "Who Wants to Be a Millionaire?"',
    ],
)
def test_claims_are_not_lost(sentence):
    assert reason(sentence) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Use 250 g of green lentils.",
        "Please use 250 g of green lentils.",
        "Press the red button.",
        "Then wait until the light turns green.",
        "Make sure that the door is shut.",
        "Do not drink apple juice during treatment.",
        "You must not take Velarin if you have a severe liver disease.",
        "You should add the salt last.",
        "You can ask for a refund within 30 days.",
        "Take this tablet with food.",
        "Set `queue.max_retries` to 0.",
        "First, remove the cover.",
        # Whom to ask, but with a number, a name, a code, a time or a condition:
        "You can contact support at 555 0142.",
        "Feel free to contact us at 555 0142.",
        "Contact support: 555 0142.",
        "If you have any questions, feel free to call 555 0142.",
        "If you need more help, don't hesitate to contact us at 555 0142.",
        "Let me know if you need more, or call 555 0142.",
        "Feel free to e-mail us at help@a.example.",
        "Let me know, or visit www.a.example.",
        "Contact your doctor within 24 hours.",
        "For details, contact Noor.",
        "Contact Orrel support.",
        "Never call the doctor.",
        "Talk to your doctor if you are pregnant.",
        "Ask your doctor before you take Velarin with ketoconazole.",
        "Read the manual before you open the case.",
        "See section 4.2 for the dose of 5 mg.",
        "Do not follow these steps.",
        "We recommend checking the tyre pressure every two weeks.",
    ],
)
def test_an_instruction_that_says_what_to_do_is_a_claim(sentence):
    assert reason(sentence) is None


@pytest.mark.parametrize(
    "lead", ["To clean the jug, follow these steps:", "How to clean the jug:", "Steps:"]
)
def test_each_step_of_a_list_is_a_claim_without_the_lead_in(lead):
    answer = f"{lead}\n\n1. Fill the jug.\n2. **Add two spoons of salt.**\n3. Rinse it.\n"
    nothing, *steps = claims = RuleSplitter().split(answer)
    assert nothing.not_a_claim in {"lead-in", "heading"}
    assert [(x.text, x.not_a_claim) for x in steps] == [
        ("Fill the jug.", None),
        ("Add two spoons of salt.", None),
        ("Rinse it.", None),
    ]
    left = f"{lead}\n\n1. Fill the jug.\n2. Rinse it.\n"
    assert remove_claims(answer, claims, [2]) == left


def test_an_item_that_is_no_step_keeps_its_lead_in():
    claims = RuleSplitter().split("To travel, you need:\n\n- a passport\n- a visa\n")
    assert [x.text for x in claims[1:]] == [
        "To travel, you need: A passport.",
        "To travel, you need: A visa.",
    ]


def test_markup_and_code_are_named():
    answer = "# Title\n\n| a | b |\n|---|---|\n| x | 1 |\n\n```\ncode\n```\nText is here."
    found = {c.text: c.not_a_claim for c in RuleSplitter().split(answer)}
    assert found == {
        "Title": "heading",
        "| a | b |": "table header",
        "X: b: 1.": None,
        "code": "code",
        "Text is here.": None,
    }


def test_a_cell_without_a_value_states_nothing():
    table = (
        "| Town | Size | Age |\n|---|---|---|\n| Ulm | — | Not mentioned |\n| Bonn | N/A | old |"
    )
    found = RuleSplitter().split(table)
    assert [(claim.text, claim.not_a_claim) for claim in found[1:]] == [
        ("Ulm: Size.", "no statement"), ("Ulm: Age: Not mentioned.", "refusal"),
        ("Bonn: Size: N/A.", "refusal"), ("Bonn: Age: old.", None),
    ]  # fmt: skip


def test_a_claim_ends_without_what_joins_it_to_the_next_item():
    found = RuleSplitter().split("It has:\n- a keel,\n- a sail, and\n- a mast; or\n- an oar.")
    assert [claim.text for claim in found[1:]] == [
        "It has: A keel.", "It has: A sail.", "It has: A mast.", "It has: An oar.",
    ]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\n\n"])
def test_who_writes_is_named_below_the_regards(end):
    lines = ["It is red.", "Kind regards,", "Ann O'Neill-Lee", "The Support Team", "Fax: 9", "Ulm"]
    found = RuleSplitter().split(end.join(lines))
    assert [claim.not_a_claim for claim in found] == [None, *["greeting"] * 3, None, None]
    said = RuleSplitter().split(end.join(["Kind regards,", "The shop opens at 9.", "Ulm"]))
    assert [claim.not_a_claim for claim in said] == ["greeting", None, None]
    assert RuleSplitter().split(f"It is red.{end}Ann Lee")[1].not_a_claim is None
