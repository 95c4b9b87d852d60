"""What is claim text and what is not: reasoning, tool calls, HTML, sources, no answer, dates."""

import pytest

from franq_guard import Generation, Guard, Passage, Policy, Trace
from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.forms import lines_of
from franq_guard.claims.rules.citations import cited_by
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness

SAYS = "<|end|><|start|>assistant<|channel|>final<|message|>"
THINKS = "<|channel|>analysis<|message|>"
CALL = '{"name": "search", "arguments": {"q": "Rome is big. {x} Yes."}}'
FORMS = {
    "<think>It may be. Or not.\n```x```</think>Rome is big. Paris is old.":
        (["Rome is big.", "Paris is old."], ["reasoning"]),
    "<think>It may be.\n\nOr not.": ([], ["reasoning"]),
    "<seed:think>It may be. Or not.</seed:think>Rome is big.": (["Rome is big."], ["reasoning"]),
    "It may be old.</seed:think>\nRome is big.": (["Rome is big."], ["reasoning"]),
    "[THINK]It may be.\n\nOr not.[/THINK]Rome is big.": (["Rome is big."], ["reasoning"]),
    "It may be old.[/THINK]\nRome is big.": (["Rome is big."], ["reasoning"]),
    "Rome is big. [THINK]It may be. Or not.[/THINK] Bonn is small.":
        (["Rome is big.", "Bonn is small."], ["reasoning"]),
    "◁think▷It may be.◁/think▷Rome is big.": (["Rome is big."], ["reasoning"]),
    "<|START_THINKING|>Is it?<|END_THINKING|><|START_RESPONSE|>Rome is big.<|END_RESPONSE|>":
        (["Rome is big."], ["reasoning"]),
    "<|channel>thought\nIt may be.<channel|>Rome is big.<turn|>":
        (["Rome is big."], ["reasoning"]),
    f"{THINKS}It may be. Or not.{SAYS}Rome is big.<|return|>": (["Rome is big."], ["reasoning"]),
    f"<|start|>assistant{THINKS}It may be. Or not.": ([], ["reasoning"]),
    f"<|channel|>commentary<|message|>Bonn is small.<|end|><|start|>assistant{THINKS}It may be.":
        (["Bonn is small."], ["reasoning"]),
    f"{THINKS}It may.<|end|><|start|>assistant<|channel|>commentary to=functions.find"
    f' <|constrain|>json<|message|>{{"q": "Is it?"}}<|call|>{THINKS}It is.{SAYS}Rome is big.':
        (["Rome is big."], ["reasoning"]),
    "analysisWe need the size. It may be big.assistantfinalRome is big.\n\nParis is old.":
        (["Rome is big.", "Paris is old."], ["reasoning"]),
    "analysis by assistantfinal shows that Rome is big.":
        (["Analysis by assistantfinal shows that Rome is big."], []),
    "Magistral writes [THINK] first. Rome is big. So does `[THINK]`.":
        (["Magistral writes [THINK] first.", "Rome is big.", "So does [THINK]."], []),
    "```\n[THINK]\n```\nRome is big.": (["Rome is big."], ["code"]),
    "<|im_start|>assistant\nRome is big.<|im_end|>\n<|im_start|>user": (["Rome is big."], []),
    "<|start_header_id|>assistant<|end_header_id|>\n\nRome is big.<|eot_id|>":
        (["Rome is big."], []),
    "<start_of_turn>model\nRome is big.<end_of_turn>": (["Rome is big."], []),
    "Rome is big.<｜end▁of▁sentence｜>": (["Rome is big."], []),
    "A turn ends with <|im_end|>\n\n- <|im_end|>: It is last.\n\n<|end|> is it, too.":
        (["A turn ends with <|im_end|>.", "<|im_end|>: It is last.", "<|end|> is it, too."], []),
    f"Rome is big.\n{CALL}\nParis is old.": (["Rome is big.", "Paris is old."], ["code"]),
    f"<tool_call>{CALL}</tool_call>\nRome is big.": (["Rome is big."], ["code"]),
    f'{{"name": "f", "arguments": {{\n{CALL}\n}}}}\nRome is big.': (["Rome is big."], ["code"]),
    '{"name": "f", "arguments": {\n' * 500: ([], ["code"]),
    "<p>Rome is <b>big</b>.</p><ul><li>Paris is old.</li><li>Bonn is small.</li></ul>":
        (["Rome is big.", "Paris is old.", "Bonn is small."], []),
    "<!-- no claim. --> Rome is big.<br>Bonn is small.": (["Rome is big.", "Bonn is small."], []),
    "```markdown\n# Towns\nRome is **big**.\n```\nBonn is small.":
        (["Rome is big.", "Bonn is small."], ["heading"]),
    "```markdown\nRome is big.\n```python\nx = 1\n```\nBonn is small.\n```":
        (["Rome is big.", "Bonn is small."], ["code"]),
    "Rome is big.</s>": (["Rome is big."], ["no statement"]),
    "Rome is big.\n</answer>": (["Rome is big."], []),
    "<think>Is it?</think>\n<answer>Rome is big. Paris is old.</answer>":
        (["Rome is big.", "Paris is old."], ["reasoning"]),
    "Rome is big.\n```xml\na\n</think>\n```\nParis is old.":
        (["Rome is big.", "Paris is old."], ["code"]),
    "Press ` twice. Rome is big. <think>It may be. Or not.</think> Paris is old.":
        (["Press twice.", "Rome is big.", "Paris is old."], ["reasoning"]),
    "Press ` twice.<br>Rome is big.\nThe ``<br>`` tag is short.":
        (["Press twice.", "Rome is big.", "The <br> tag is short."], []),
    "| Town | Size | Age |\n|---|---|---|\n| Rome | big<br>and wide | <ul><li>old</li></ul> |\n":
        (["Rome: Size: big and wide.", "Rome: Age: old."], ["table header"]),
    "It may be old.</think>\nRome is big.": (["Rome is big."], ["reasoning"]),
    "The tag is </think> and it is old.": (["The tag is.", "And it is old."], []),
    "The tag `<script>` loads code. Rome is big.":
        (["The tag <script> loads code.", "Rome is big."], []),
    "The tag <script> loads code. Rome is big.":
        (["The tag <script> loads code.", "Rome is big."], []),
    "Models write <think> before they answer. Rome is big.\n\nBonn is small.":
        (["Models write <think> before they answer.", "Rome is big.", "Bonn is small."], []),
    "The `<style>` tag is old. Rome is big. Some write it as <style>. Bonn is small.":
        (["The <style> tag is old.", "Rome is big.", "Some write it as <style>.",
          "Bonn is small."], []),
    "`<think>a</think>` is a form. Rome is big.":
        (["<think>a</think> is a form.", "Rome is big."], []),
    "- `<think>`: It is first.\n- `</think>`: It is last.\n\nRome is big.":
        (["<think>: It is first.", "</think>: It is last.", "Rome is big."], []),
    "The tag `<br>` is short. Rome is big.": (["The tag <br> is short.", "Rome is big."], []),
    "<script> is a tag. Rome is big.": (["<script> is a tag.", "Rome is big."], []),
    "Rome is big.\n<script>\nf()\n\ng()": (["Rome is big."], ["code"]),
    "Rome is big.\n<tool_call>{}\n": (["Rome is big."], ["code"]),
    "Rome is big.\n\n<think>It may be.\n\nOr not.": (["Rome is big."], ["reasoning"]),
    "Rome is big. <think>It may be. Or not.</think> Bonn is small.":
        (["Rome is big.", "Bonn is small."], ["reasoning"]),
    "A `tag` is old. <think>It may be `x`. Or not.\n\nMay it be?</think>Bonn is small.":
        (["A tag is old.", "Bonn is small."], ["reasoning"]),
    "Rome <think>is it?</think>\n\n<script> <think> Bonn is small.":
        (["Rome.", "<script> <think> Bonn is small."], ["reasoning"]),
    "It begins so:\n```\n<think>\n```\nRome is big.\n<think>It may be.</think>\nBonn is small.":
        (["It begins so.", "Rome is big.", "Bonn is small."], ["code", "reasoning"]),
    "```html\n<script>\nf()\n```\nRome is big.": (["Rome is big."], ["code"]),
    "```html\n<script>\n```\nRome is big.\n```\n</script>\n```\nBonn is small.":
        (["Rome is big.", "Bonn is small."], ["code", "code"]),
    "```\nf()\n``` Rome is big. Bonn is small.\nOslo is old.":
        (["Rome is big.", "Bonn is small.", "Oslo is old."], ["code"]),
    "~~~\nf()\n~~~ Rome is big, see `g`.\nOslo is old.":
        (["Rome is big, see g.", "Oslo is old."], ["code"]),
    "```\nf()\n``` - Rome is big.\n- Oslo is old.": (["Rome is big.", "Oslo is old."], ["code"]),
    "```\nf()\n```Rome is big.\nOslo is old.": (["Rome is big.", "Oslo is old."], ["code"]),
    "```\nf()\n``` Then run: ```sh\ng()\n```\nOslo is old.":
        (["Oslo is old."], ["code", "lead-in", "code"]),
    "```\nf()\n```python\nOslo is old.": (["Oslo is old."], ["code"]),
    "```md\nRome is big.\n``` Bonn is small.\nOslo is old.":
        (["Rome is big.", "Bonn is small.", "Oslo is old."], []),
    "``` Rome is big.\nf()\n```\nOslo is old.": (["Oslo is old."], ["code"]),
    "<table><tr><td>Rome is big.</td><td>Bonn is small.</td></tr></table>":
        (["Rome is big.", "Bonn is small."], []),
    "Rome is big [source](https://a.b/c), and Bonn is small ([Reuters](https://a.b/d)).":
        (["Rome is big.", "Bonn is small."], []),
    "Rome is big (see [Reuters](https://a.b/c)). Bonn is small ([1](https://a.b/d)).":
        (["Rome is big.", "Bonn is small."], []),
    "Rome is big. ([source](https://a.b/c)) Bonn is small. [Source](https://a.b/d)":
        (["Rome is big.", "Bonn is small."], ["citation"]),
    "[Rome](https://a.b/c) is big.": (["Rome is big."], []),
    "<p>Rome is&nbsp;big.</p>&nbsp;<p>&nbsp;Bonn is small.</p>":
        (["Rome is big.", "Bonn is small."], []),
    "<table><tr><th>Town</th><th>Size</th></tr><tr><td>Rome is big</td></tr></table>":
        (["Rome is big."], ["table header"]),
    "<table>\n<tr>\n<th>Town</th>\n<th>Size</th>\n</tr>\n<tr><td>Rome is big</td></tr></table>":
        (["Rome is big."], ["table header", "table header"]),
    "Rome is big.¹ Bonn is small.²\n\n¹ Lee, Towns, p. 4\n² Bonn has a river.":
        (["Rome is big.", "Bonn is small.", "Bonn has a river."], ["citation"]),
    "1\\. Rome is big.\n2\\) Bonn is small.": (["Rome is big.", "Bonn is small."], []),
    "| a | b |\n|---|---|\n| x \\| y | 9 cm |": (["X | y: b: 9 cm."], ["table header"]),
    "Rome is big [1].\n\nSources:\n[1] Towns. Rome, 1990.\n- https://a.b/c Paris\n- Paris is old.":
        (["Rome is big.", "Paris is old."], ["citation"] * 3),
    "Rome is big.\n\nSources:\n- Rome manual, page 3\n2. Guide: Rome is old.\n- Lee (1990). Towns":
        (["Rome is big.", "Guide: Rome is old."], ["citation"] * 3),
    "Rome is big.\n\n**Sources:**\n* Rome manual, the second edition\n\nBonn is small.":
        (["Rome is big.", "Rome manual, the second edition.", "Bonn is small."], ["lead-in"]),
    "Rome needs water.\n\n## Sources\n- Two springs\n- Length in the report: 9 m":
        (["Rome needs water.", "Two springs.", "Length in the report: 9 m."], ["heading"]),
    "Sources:\n- Rome manual, page 3": (["Sources: Rome manual, page 3."], ["citation"]),
    "Rome is big[^1].\n\n[^1]: Towns of Italy, page 3.": (["Rome is big."], ["citation"]),
    "Rome is big [2].\n\n[2]: Rome was founded by two brothers.":
        (["Rome is big.", "Rome was founded by two brothers."], []),
    "Rome is big[^1].\n[^1]: In 1990, the town had two walls.\n[^2]: Towns, 1990":
        (["Rome is big.", "In 1990, the town had two walls."], ["citation"]),
    "Rome is big.\n[1]: Rome (1990) https://a.b/c\n[2]: Bonn is small.\n[3]: Lee, J. Towns. 1990":
        (["Rome is big.", "Bonn is small."], ["citation", "citation"]),
    "Sources:\n[1]: Rome was founded by two brothers.":
        (["Rome was founded by two brothers."], ["citation"]),
    "Rome is big.¹ Bonn is small!¹,² Oslo lies in Norway³. It is “old.”⁴":
        (["Rome is big.", "Bonn is small!", "Oslo lies in Norway.", "It is “old.”"], []),
    "Rome has 5 km².¹ Bonn has 20 square metres².": (
        ["Rome has 5 km².", "Bonn has 20 square metres²."], []),
    "Empty Response": ([], ["no answer"]),
    "Die Brücke wurde am 27. Mai 1930 eröffnet. Im 19. Jahrhundert war sie neu.":
        (["Die Brücke wurde am 27. Mai 1930 eröffnet.", "Im 19. Jahrhundert war sie neu."], []),
    "It has 27. April was cold.": (["It has 27.", "April was cold."], []),
    '{"name": "Rome", "text": "Rome is big. It is <b>old</b>.<br>"}': ([], ["code"]),
    '\n{\n\n "a": [\n  "Rome is big.\\n\\nIt is \\"old\\" [1]."\n ],\n\n "b": 1\n}\n':
        ([], ["code"]),
    '["Rome is big and it has one river and one bridge.", 2]': ([], ["code"]),
    "[1, 2]": ([], ["citation"]),
    '["Rome is big", "Bonn": "It is small"]':
        (['["Rome is big", "Bonn": "It is small"].'], []),
    "{ Rome is big. }": (["{ Rome is big. }."], []),
    '["Rome is big." It is old.]': (['["Rome is big."].', "It is old."], []),
    '{"a": "Rome is big."}\n\nBonn is small.': (['{"a": "Rome is big."}.', "Bonn is small."], []),
    'Rome is big and it has one river.\n\n{"a": "Bonn is small."}':
        (["Rome is big.", "It has one river.", '{"a": "Bonn is small."}.'], []),
    "✅ Size: 9 km\n✔️ **Age:** 9 years\n🔹 Rome is big. ✅ It is small.\n- ★ River: one\n👉🏽 Oslo":
        (["Size: 9 km.", "Age: 9 years.", "Rome is big.", "It is small.", "River: one.", "Oslo."],
         []),
    "📌 **Key facts**\n\n- Rome is big.\n\n🔑️ **In short:**\nBonn is small.\n\n💡 **It is old.**":
        (["Rome is big.", "Bonn is small.", "It is old."], ["heading", "lead-in"]),
    "📍 **Town: Rome**\n📍 **River: one**\n\n✅ **Two bridges**":
        (["Town: Rome.", "River: one.", "Two bridges."], []),
    "❌ Rome is big\n🇩🇪 14 million\n▲ 5 %": (["❌ Rome is big.", "🇩🇪 14 million.", "▲ 5 %."], []),
    "size: 9 km\nage of walls: 9 years\n- river: one\n  bridges: two":
        (["Size: 9 km.", "Age of walls: 9 years.", "River: one.", "Bridges: two."], []),
    "colour: red\nwarranty:\n  motor: 9 years":
        (["Colour: red.", "Motor: 9 years."], ["lead-in"]),
    "**Name: Rome**\n**Size: big**\n**Sort: town**\n\nIt is old.\n\n**Age: 9 years**\n\nIt is.":
        (["Name: Rome.", "Size: big.", "Sort: town.", "It is old.", "Age: 9 years."],
         ["yes or no"]),
    "**Sights: A Walk**\n\nIt is old.\n\n**Art: A View**\nIt is big.":
        (["It is old.", "It is big."], ["heading", "heading"]),
    "Size: nine kilometres, as long as it was in the old times\nAge: 9 years":
        (["Size: nine kilometres, as long as it was in the old times.", "Age: 9 years."], []),
    "Note: all of it is built in the same\ncolour: red.":
        (["Note: all of it is built in the same colour: red."], []),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_what_states_something(text):
    stated, nothing = FORMS[text]
    found = RuleSplitter().split(text)
    assert [claim.text for claim in found if claim.not_a_claim is None] == stated
    assert [claim.not_a_claim for claim in found if claim.not_a_claim] == nothing


@pytest.mark.parametrize(
    "source",
    [
        "Smith, Bridges of the North, 1998",
        "Smith, J. (1998). The bridge was built. Oxford.",
        "Smith et al., How bridges are built, 2001.",
        "Lee, Why the bridge was closed, page 3",
        '"The bridge was built in 1932", Daily News',
        "“The bridge was built”, The Times, 4 May 1932.",
        "The Bridge That Was Built in 1932, a film",
        "A history of the bridges which cross the river",
        "How the bridge was built",
        "https://a.b/the-bridge-was-built",
        "See page 3 of the report.",
        "Source: the bridge was built, page 3",
        "Bridges: a history. The book was printed in Bonn.",
        "Ibid.",
        "Passage 2",
        "Retrieved 4 May 1998 from www.a.b",
    ],
)
def test_a_footnote_that_names_a_source_is_no_claim(source):
    found = RuleSplitter().split(f"It is old [2].\n\n[2]: {source}\n")
    assert [(claim.text, claim.not_a_claim) for claim in found] == [
        ("It is old.", None),
        (f"[2]: {source}", "citation"),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "The bridge was built in 1932.",
        "It opened in 1932",
        "Smith was the engineer of the bridge.",
        "In 1932, the bridge was opened.",
        "The bridge, built of steel, is red.",
        "There are two towers.",
        "The bridge cost $3.5 million.",
        "https://a.b/c The bridge was built in 1932.",
        "Smith (1998) wrote that it is red.",
    ],
)
def test_a_footnote_that_states_something_is_a_claim_of_its_source(statement):
    answer = f"It is old [2].\n\n[2]: {statement}\n"
    first, *noted = RuleSplitter().split(answer)
    assert noted
    assert {claim.not_a_claim for claim in noted} == {None}
    assert next(answer[slice(*span)] for claim in noted for span in claim.spans) in statement
    cited = cited_by(answer, [first, *noted])
    assert [[c.names for c in of] for of in cited[:2]] == [[("2",)], [("2",)]]
    assert remove_claims(answer, [first, *noted], range(1, 1 + len(noted))) == "It is old [2].\n"


@pytest.mark.parametrize("text", FORMS)
def test_a_stream_sees_the_same(text, caplog):
    caplog.set_level("CRITICAL")
    guard = Guard(faithfulness=FakeFaithfulness())
    passages = (Passage("Rome is big. Bonn is small."),)

    def trace(so_far):
        return Trace("Which town?", passages, Generation(so_far))

    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    for char in text:
        stream.feed(char)
        while stream.wait() is not None:
            pass
    stream.end()
    while stream.wait() is not None:
        pass
    answer = stream.answer()
    stream.close()
    assert answer.verdicts == guard.check_trace(trace(text)).verdicts


@pytest.mark.parametrize("action", ["annotate", "filter"])
def test_an_answer_in_json_stays_valid(action):
    text = '{"answer": "Rome has 99 bridges. It is small.", "sources": [1]}'
    guard = Guard(faithfulness=FakeFaithfulness(), policy=Policy(action=action))
    answer = guard.check("Which town?", ["Rome is big."], text)
    assert (answer.text, answer.status, answer.reason) == (text, "unverified", "no_claims")


def test_a_stream_holds_back_what_may_become_json():
    text = '{"answer": "Rome has 99 bridges. It is small and it lies at the river Tiber."'
    guard = Guard(faithfulness=FakeFaithfulness())
    passages = (Passage("Rome is big."),)
    stream = ClaimStream(guard, lambda so_far: (guard, Trace("?", passages, Generation(so_far))))
    for char in text + " " * 50:
        assert stream.feed(char) == ""
        assert stream.wait() is None
    stream.close()


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><td>Rome is big.</td></tr></table>",
        "Rome is big [source](https://a.b/c).",
        "Rome is big ([Reuters](https://a.b/c)).",
        "Sources:\n- https://a.b/c\n</think>\nRome is big.",
        "I think of Bonn. It may be large, but who knows?\n</think>\n\nRome is big.",
        "It may be.\n```python\nx = 1\n</think>\nRome is big.",
    ],
)
def test_the_guard_asks_for_the_statement_alone(text):
    """What the scorer is given, and that nothing else of the answer is judged."""
    asked: list[str] = []

    class Asked(FakeFaithfulness):
        def score(self, contexts, claims):
            asked.extend(claims)
            return super().score(contexts, claims)

    answer = Guard(faithfulness=Asked()).check("Which town?", ["Rome is big."], text)
    assert set(asked) == {"Rome is big."}
    judged = [v for v in answer.verdicts if v.label != "not-a-claim"]
    assert [v.claim.text for v in judged] == ["Rome is big."]
    assert {v.reason for v in answer.verdicts if v.label == "not-a-claim"} <= {None, "reasoning"}


def test_a_stream_checks_what_turns_out_to_be_reasoning():
    """It has left by then, but not unchecked; what follows the tag is the answer."""
    text = f"Bonn is small. {'It may be large, but who knows? ' * 4}\n</think>\nRome is big."
    guard = Guard(faithfulness=FakeFaithfulness())
    passages = (Passage("Rome is big. Bonn is small."),)
    stream = ClaimStream(guard, lambda so_far: (guard, Trace("?", passages, Generation(so_far))))
    for char in text:
        stream.feed(char)
    stream.end()
    while stream.wait() is not None:
        pass
    answer = stream.answer()
    stream.close()
    told = [v.claim.text for v in answer.verdicts if v.label != "not-a-claim"]
    assert (told[0], told[-1]) == ("Bonn is small.", "Rome is big.")


def test_what_is_removed_leaves_its_neighbours():
    text = "<p>Rome is big.</p><ul><li>Paris is old.</li><li>Bonn is small.</li></ul>"
    claims = RuleSplitter().split(text)
    kept = remove_claims(text, claims, [1])
    assert kept == "<p>Rome is big.</p><ul><li>Bonn is small.</li></ul>"
    text = "<p>Rome is big.</p><ul><li>Paris is old.<li>Bonn is small.</ul>"
    kept = remove_claims(text, RuleSplitter().split(text), [1])
    assert kept == "<p>Rome is big.</p><ul><li><li>Bonn is small.</ul>"


def test_what_is_removed_leaves_tags_that_go_on():
    text = "<answer>Rome is big.\nParis is old.</answer>"
    claims = RuleSplitter().split(text)
    assert remove_claims(text, claims, [0]) == "<answer>\nParis is old.</answer>"
    assert remove_claims(text, claims, [1]) == "<answer>Rome is big.\n</answer>"


def test_a_sign_is_removed_with_its_line():
    text = "✅ Size: 9 km\n✅ Age: 9 years\n"
    assert remove_claims(text, RuleSplitter().split(text), [0]) == "✅ Age: 9 years\n"


@pytest.mark.parametrize(
    "answer",
    [
        "```js\nfoo()```\nThe dam is old.",
        "Run this: ```js\nfoo()\n```\nThe dam is old.",
        "1. ```js\n   foo()\n   ```\n2. The dam is old.",
        "```foo()```\n\nThe dam is old.",
        "Use ```foo``` now.\nThe dam is old.",
    ],
)
def test_what_follows_code_with_careless_fences_is_checked(answer):
    stated = [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None]
    assert stated[-1] == "The dam is old."
    assert not any("js" in text or text == "1." for text in stated)


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        # A block of text ends at its own fence, not at a shorter one inside it, ...
        (
            "````text\nParis is big.\n```\nx=1\n```\nMilan is rich.\n````\nRome is old.",
            ["Paris is big.", "Milan is rich.", "Rome is old."],
        ),
        # ... also where a sentence follows that fence on its line.
        ("```text\nParis is big.\n```Rome is old.\nMilan is rich.",
         ["Paris is big.", "Rome is old.", "Milan is rich."]),
        # Comments of HTML state nothing, one that never ends is text.
        ("Paris is big. <!-- Rome is new. --> Milan is rich.", ["Paris is big.", "Milan is rich."]),
    ],
)  # fmt: skip
def test_what_ends_a_block_of_text_or_a_comment(answer, stated):
    assert [c.text for c in RuleSplitter().split(answer) if c.not_a_claim is None] == stated


def test_comments_that_never_end_are_read_in_linear_time():
    # 20,000 openings; were each followed to the end of the text, this would take minutes
    assert len(lines_of("<!-- " * 20_000).text) == 100_000
