"""Citations: found, out of claims, and checked against the passage they name."""

import math
import re

import pytest

from franq_guard import Guard, Passage, Policy
from franq_guard.calibration import Calibrator
from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.attribution import bare
from franq_guard.claims.rules.citations import citations, cited_by, passages_named
from franq_guard.label_rule import LabelRule
from franq_guard.policy import ANY_MARK
from franq_guard.records import Generation, Trace
from franq_guard.streaming.stream import ClaimStream
from franq_guard.testing import FakeFaithfulness

PASSAGES = (
    Passage("Rome is big.", title="Towns of Italy", id="doc-7"),
    Passage("Paris is old.", title="Smith 2020: Towns of France"),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Rome is big [1].", [("1",)]),
        ("Rome is big [1, 3–5].", [("1", "3", "4", "5")]),
        ("Rome is big[^2]. It is old【2†source】.", [("2",), ("2",)]),
        ("Rome is big (Smith 2020), they say (Smith et al., 2020a).",
         [("Smith 2020",), ("Smith et al., 2020a",)]),
        ("Rome is big [Source: Towns of Italy] or [doc-7].", [("Towns of Italy",), ("doc-7",)]),
        ("Rome is big [Towns of Italy].", [("Towns of Italy",)]),
        ("Rome is big (passage 2), it is old (see Source #1), it is hot (documents 1, 3-5).",
         [("2",), ("1",), ("1", "3", "4", "5")]),
        ("Rome is big (Source: Towns of Italy), old (passage 2, p. 12), hot (a-b.pdf, page 3).",
         [("Towns of Italy",), ("2",), ("a-b.pdf",)]),
        ("The settings (a-b.md) are read first (see the source).", []),
        ("According to passage 2, Rome is big.", [("2",)]),
        ("Document 1 and source 3 both say that Rome is big.", [("1", "3")]),
        ("Rome is big, as stated in excerpt 4.", [("4",)]),
        ("As [2] says, Rome is big. According to [3][4], it is old.", [("2",), ("3",), ("4",)]),
        ("The town he came from [2] is big, as described in [3].", [("2",), ("3",)]),
        ("The costs [3] rose sharply. Rome grew [2] quickly.", [("3",), ("2",)]),
        ("Rome is big.¹ It is old,²,³ it is there⁴⁻⁶.", [("1",), ("2", "3"), ("4", "5", "6")]),
        ("It has 5 km²¹, 20 metres² and 10 m³, 10¹, x² and (a + b)².", []),
        ("It opened in 1937¹, weighs 5 kg¹, has 45%² and is red ³.",
         [("1",), ("1",), ("2",), ("3",)]),
        ("It opened in 1937<sup>1</sup>, weighs 5 kg<sup>[1]</sup> and is red.<sup>2, 3</sup>",
         [("1",), ("1",), ("2", "3")]),
        ("It has 5 m<sup>2</sup>, 20 metres<sup>2</sup> and 10<sup>6</sup> parts.", []),
        ("Rome is big [[1]](https://a.b/c), old [citation:2][citation:3], hot[^4^], red [ref 5].",
         [("1",), ("2",), ("3",), ("4",), ("5",)]),
        ("It is old (Smith & Lee, 2019; Kim et al., 2021, p. 4), big (Lee, Wu, and Ray, 2020).",
         [("Smith & Lee, 2019; Kim et al., 2021, p. 4",), ("Lee, Wu, and Ray, 2020",)]),
        ("It opened last spring (May 2021), again (Summer 2022) and (Since 2023) stays.", []),
        ("Document 12 is a treaty. He signed document 3 in Rome.", []),
        # The sentences need these: they count, name or tell when.
        ("It holds [9] litres, sold [300] units and weighs [1,250] g.", []),
        ("It was made by [Ann Lee] in [Oskarby], in [2019].", []),
        ("It was made by Ann Lee [of the University of Rome].", []),
        ("Rome is big [note: it is old]. [Warning: it rains.] [Paris is old.] \\[P = 5 W\\].", []),
        ("Rome is big [but old], they say [which is new].", []),
        ("Rome is big [Why Towns Grow], old [Gazette, dated 21 June, published 1859.].",
         [("Why Towns Grow",), ("Gazette, dated 21 June, published 1859.",)]),
        ("He said [the town] is big (in 1990), see [a page](http://a.b/1).", []),
    ],
)  # fmt: skip
def test_what_is_a_citation(text, names):
    assert [citation.names for citation in citations(text)] == names


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Rome is big [1].", ["Rome is big."]),
        ("Rome is big. [1][2] Paris is old (Smith 2020).", ["Rome is big.", "Paris is old."]),
        ("Rome [1] is big, and Paris is old [2].", ["Rome is big.", "Paris is old."]),
        ("Rome is big, see https://a.b/c?d=1.", ["Rome is big."]),
        ("Rome was (see https://a.b/c) burnt down.", ["Rome was burnt down."]),
        ("Rome (more info at: www.a.b) is big [see https://a.b/c].", ["Rome is big."]),
        ("Rome is [big](https://a.b/c).", ["Rome is big."]),
        ("Rome is big, according to https://a.b/c.", ["Rome is big."]),
        ("Rome is big (as stated on www.a.b).", ["Rome is big."]),
        ("Rome, as per https://a.b/c, is big.", ["Rome is big."]),
        (
            "Rome is big, based on https://a.b/c and https://a.b/d, and old.",
            ["Rome is big, and old."],
        ),
        ("According to <https://a.b/c>, Rome is big.", ["Rome is big."]),
        ("It is old. As shown in www.a.b, Rome is big.", ["It is old.", "Rome is big."]),
        ("Rome is big according to https://a.b/c but old.", ["Rome is big but old."]),
        ("Rome is big, source: https://a.b/c.", ["Rome is big."]),
        ("Rome is big https://a.b/c. It is old.", ["Rome is big.", "It is old."]),
        ("Rome is big (source: passage 1).", ["Rome is big."]),
        (
            "Rome is big (Source: Report [2], p. 3). It is old (manual.pdf, p. 3).",
            ["Rome is big.", "It is old."],
        ),
        (
            "- Rome is big. *(Source: Report)*\n- It is old (passage 2).",
            ["Rome is big.", "It is old."],
        ),
        (
            "(Source: passage 1) Rome is big. (Source: passage 2) It is old.",
            ["Rome is big.", "It is old."],
        ),
        ("Rome is big [[1]](https://a.b/c).", ["Rome is big."]),
        (
            "Rome is big.\ue200cite\ue202http0\ue202b\ue201 It is old \ue200http1\ue201.",
            ["Rome is big.", "It is old."],
        ),
        ("| a | b |\n|---|---|\n| Rome [1] | big [2] |", ["Rome: b: big."]),
        ("| a | b |\n|---|---|\n| https://a.b/c | 3 |", ["B: 3."]),
    ],
)
def test_claims_are_without_their_citations(text, claims):
    found = [claim for claim in RuleSplitter().split(text) if claim.not_a_claim is None]
    assert [claim.text for claim in found] == claims
    stated = " ".join(text[a:b] for claim in found for a, b in claim.spans)
    assert not any(part in stated for part in ("[1]", "[2]", "2020", "http"))


def test_addresses_that_the_sentence_needs_are_part_of_it():
    told = "The page is https://a.b/c.\n\nThe link is: https://a.b/d\n\nwww.a.b made it in 1990."
    more = "Go to www.a.b and press F1. It is https://a.b/c red. It is from www.a.b, see"
    found = RuleSplitter().split(f"{told} It was built by www.a.b in 1990. {more}")
    assert [claim.text for claim in found] == [
        "The page is https://a.b/c.", "The link is: https://a.b/d.", "Made it in 1990.",
        "It was built by www.a.b in 1990.", "Go to www.a.b and press F1.", "It is red.",
        "It is from www.a.b, see.",
    ]  # fmt: skip
    assert found[0].spans == ((0, 26),)


@pytest.mark.parametrize(
    "sentence",
    [
        "Open https://a.b/c in the tool.", "1. Use **https://a.b/c** as the key.",
        "- Open `www.a.b` first.", "Now you can open www.a.b on the phone.",
        "To begin, load https://a.b/c and wait.", "The host is `www.a.b` by default.",
    ],
)  # fmt: skip
def test_an_address_to_open_or_use_is_part_of_its_sentence(sentence):
    (claim,) = RuleSplitter().split(sentence)
    assert re.search(r"(?:https://a\.b/c|www\.a\.b) \w+", claim.text)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is open https://a.b/c now.", "It was built to last https://a.b/c until now.",
        "They visit it `https://a.b/c`.", "It was open at the close https://a.b/c of the day.",
        "The visit https://a.b/c was short.",
    ],
)  # fmt: skip
def test_an_address_beside_its_sentence_is_no_part_of_it(sentence):
    assert "a.b" not in RuleSplitter().split(sentence)[0].text


def test_brackets_that_the_sentence_needs_are_part_of_it():
    text = "It is made in [Oskarby], and it holds [9] litres. It was built by [Ann Lee]."
    found = RuleSplitter().split(text)
    assert [claim.text for claim in found] == [
        "It is made in Oskarby.", "It holds 9 litres.", "It was built by Ann Lee.",
    ]  # fmt: skip
    stated = [text[a:b] for claim in found for a, b in claim.spans]
    assert stated == [
        "It is made in [Oskarby]", ", and it holds [9] litres.", "It was built by [Ann Lee].",
    ]  # fmt: skip
    linked = "It weighs [9](https://a.b/c) kg. It is under [9](https://a.b/d). It is red [9](https://a.b)."
    assert [claim.text for claim in RuleSplitter().split(linked)] == [
        "It weighs 9 kg.", "It is under 9.", "It is red.",
    ]  # fmt: skip
    noted = "It is red. [Note: It was made in Ulm.]"
    found = RuleSplitter().split(noted)
    assert [claim.text for claim in found] == ["It is red.", "Note: It was made in Ulm."]
    assert noted[slice(*found[1].spans[0])] == "[Note: It was made in Ulm.]"
    (claim,) = RuleSplitter().split("It binds to a [CCR5]-positive cell.")
    assert claim.text == "It binds to a [CCR5]-positive cell."
    (claim,) = RuleSplitter().split("According to [2], Rome is big.")
    assert (claim.text, claim.spans) == ("According to 2, Rome is big.", ((0, 30),))
    (claim, *_) = RuleSplitter().split("It was designed by www.ann-lee.example in Rome.")
    assert claim.text.startswith("It was designed by www")


def test_a_citation_alone_is_no_claim_and_goes_with_its_sentence():
    (claim,) = RuleSplitter().split("(Smith 2020).")
    assert claim.not_a_claim == "citation"
    text = "Rome is big [1]. Paris is old [2]."
    assert remove_claims(text, RuleSplitter().split(text), [0]) == "Paris is old [2]."


def test_whose_citation_it_is():
    text = "Rome is big [1], and Paris is old and new [2][3]. Bonn is small. [4] It rains."
    claims = RuleSplitter().split(text)
    named = [[n for c in of for n in c.names] for of in cited_by(text, claims)]
    by = {claim.text: n for claim, n in zip(claims, named, strict=True)}
    assert by["Rome is big."] == ["1"]
    assert by["Bonn is small."] == ["4"]
    assert by["It rains."] == []
    assert all(n == ["2", "3"] for text, n in by.items() if text.startswith("Paris"))


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("According to [2], Rome is big.", [["2"]]),
        ("[2] Rome is big.", [["2"]]),
        ("- [2][3] Rome is big.", [["2", "3"]]),
        ("Rome [2] is big.", [["2"]]),
        ("Rome [1] is big [2].", [["1", "2"]]),
        ("Passage 2 says that Rome is big.", [["2"]]),
        ("Rome [1] is big, and Paris is old [2].", [["1"], ["2"]]),
        (
            "Rome is big. According to [2], it was made in Rome, and it boils in 4 minutes.",
            [[], ["2"], []],
        ),
        # A line whose first sentence begins with a citation, and one whose first does not:
        ("[1] Rome is big. [2] Paris is old. [3]", [["1"], ["2"]]),
        ("Rome is big. [1] Paris is old. [2]", [["1"], ["2"]]),
        ("Rome is big.\n[1] Paris is old.\n", [[], ["1"]]),
        ("Rome is big. (Passage 1) Paris is old. *(Source: Passage 2)*", [["1"], ["2"]]),
        ("(Ref: Towns) Rome is big. (Ref: Lee) Paris is old.", [["Towns"], ["Lee"]]),
    ],
)
def test_citations_before_and_inside_their_claim(text, by):
    found = cited_by(text, RuleSplitter().split(text))
    assert [[name for c in of for name in c.names] for of in found] == by


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("According to passage 2, it rains in Rome.", "It rains in Rome."),
        ("As source 3 states, Rome is big.", "Rome is big."),
        ("As described in the documents 1 and 2, Rome is big.", "Rome is big."),
        ("Passages 1 and 2 both say that Rome is big.", "Rome is big."),
        ("2 says that Rome is big.", "Rome is big."),
        ("Rome is big, according to context 1.", "Rome is big."),
        # What only looks alike:
        ("Document 12 is big.", "Document 12 is big."),
        ("According to 2 studies, Rome is big.", "According to 2 studies, Rome is big."),
        ("Channel 2 says that Rome is big.", "Channel 2 says that Rome is big."),
        ("Passage 1 does not say that Rome is big.", "Passage 1 does not say that Rome is big."),
        ("Passage 2 mentions the rain.", "Passage 2 mentions the rain."),
    ],
)
def test_what_is_stated_without_where_it_stands(text, stated):
    assert bare(text, PASSAGES) == stated


def test_passages_about_a_document_with_a_number():
    text = "Document 1 says that Rome is big."
    assert bare(text, [Passage("The treaty is known as document 1.")]) == text
    assert bare(text, [Passage("Document 1: Rome is big.")]) == "Rome is big."  # numbered


@pytest.mark.parametrize(
    ("name", "index"),
    [("1", 0), ("2", 1), ("3", None), ("DOC-7", 0), ("towns of italy", 0), ("Smith 2020", 1),
     ("Jones 2020", None), ("Source 2", 1)],
)  # fmt: skip
def test_which_passage_is_named(name, index):
    assert passages_named(name, PASSAGES) == index


def findings(answer, **options):
    guard = Guard(faithfulness=FakeFaithfulness(), **options)
    found = guard.check("What is big?", PASSAGES, answer)
    return found, [(o.name, o.finding, o.passage) for v in found.verdicts for o in v.citations]


def test_right_wrong_passage_nowhere(caplog):
    caplog.set_level("CRITICAL")
    _, found = findings("Rome is big [1]. Paris is old [1]. Zebras sing loud tunes [2][9].")
    assert found == [
        ("1", "right", 0), ("1", "wrong passage", 0),
        ("2", "nowhere", 1), ("9", "nowhere", None),
    ]  # fmt: skip
    answer, found = findings("Rome is big [1].", policy=Policy(action="annotate"))
    (row,) = answer.to_dict()["verdicts"][0]["citations"]
    assert row == {
        "name": "1", "span": [12, 15], "passage": 0, "p_faithful": 1.0, "finding": "right",
    }  # fmt: skip
    _, found = findings("Rome is big. Zebras sing (Jones 2020).")
    assert found == []


def test_what_leads_up_to_a_statement_is_checked_as_a_citation_and_not_scored(caplog):
    caplog.set_level("CRITICAL")
    for text in ("According to passage 2, Rome is big.", "[2] Rome is big.", "Rome [2] is big.",
                 "[2] says that Rome is big.", "Rome is big (source: passage 2)."):  # fmt: skip
        answer, found = findings(text)
        assert found == [("2", "wrong passage", 1)], text
        assert answer.verdicts[0].p_faithful == 1
    answer, found = findings("Passage 7 says that Rome is big.")
    assert found == [("7", "wrong passage", None)]
    assert answer.text == "Passage 7 [there is no passage 7] says that Rome is big."
    guard, passage = Guard(faithfulness=FakeFaithfulness()), Passage("He signed document 12.")
    (verdict,) = guard.check("?", [passage], "He signed it (document 12).").verdicts
    assert verdict.citations == ()


def test_a_wrong_citation_is_marked_in_the_text_and_a_right_one_is_not(caplog):
    caplog.set_level("CRITICAL")
    answer, _ = findings("Rome is big [1]. Paris is old [1]. Rome is big [Towns of Italy].")
    assert answer.text == (
        "Rome is big [1]. Paris is old [1] [passage 1 does not say this]. "
        "Rome is big [Towns of Italy]."
    )
    assert findings("Rome is big [9].")[0].text == "Rome is big [9] [there is no passage 9]."
    assert findings("Paris is old [doc-7].")[0].text == (
        "Paris is old [doc-7] [doc-7 does not say this]."
    )
    # The passage says one of the two claims, so it is cited rightly for their sentence.
    both = findings("Rome is big, and Paris is old (Smith 2020).")
    assert [finding for _, finding, _ in both[1]] == ["wrong passage", "right"]
    assert ANY_MARK.search(both[0].text) is None


def test_what_no_passage_says_is_marked_once(caplog):
    caplog.set_level("CRITICAL")
    said = "Zebras sing loud tunes [not in the passages] [2]."
    answer, _ = findings("Zebras sing loud tunes [2].")
    assert answer.text == said
    lenient = Policy(weak=("false", "doubtful"))
    answer, _ = findings("Zebras sing loud tunes [2].", policy=lenient)
    assert answer.text == "Zebras sing loud tunes [2] [passage 2 does not say this]."


def test_a_filtered_answer_keeps_the_marks_of_the_citations_it_keeps(caplog):
    caplog.set_level("CRITICAL")
    text = "Zebras sing loud tunes [1]. Paris is old [1]. Rome is big [1]."
    answer, _ = findings(text, policy=Policy(action="filter"))
    assert answer.text == "Paris is old [1] [passage 1 does not say this]. Rome is big [1]."
    text = "Rome is big.[7] Zebras sing loud tunes. **Paris is old.**[8] Zebras sing. Rome is big."
    answer, _ = findings(text, policy=Policy(action="filter"))
    assert answer.text == (
        "Rome is big.[7] [there is no passage 7] **Paris is old.**[8] [there is no passage 8] "
        "Rome is big."
    )


def test_a_cited_passage_is_judged_as_all_of_them_are(caplog):
    """By the calibrator's threshold, and with the claim in full (names for its pronouns)."""
    caplog.set_level("CRITICAL")
    low = Calibrator(labels=LabelRule(supported_from=0.2))
    # 2 of the 6 words stand in the passage: .33
    _, found = findings("Rome is where zebras sing tunes [1].", franq=low)
    assert found == [("1", "right", 0)]
    asked = []

    class Noting(FakeFaithfulness):
        def score(self, contexts, claims):
            asked.append(claims)
            return super().score(contexts, claims)

    passages = [Passage("Ann Lee was born in 1900.")]
    text = "Ann Lee was born in 1900. She sang in Rome [1]."
    Guard(faithfulness=Noting()).check("Who?", passages, text)
    together, alone = asked
    assert alone == together[-1:] == ["Ann Lee sang in Rome."]


class English(FakeFaithfulness):
    """Trained on English alone; counts its calls."""

    languages = frozenset({"en"})
    calls = 0

    def score(self, contexts, claims):
        self.calls += 1
        return super().score(contexts, claims)


def test_what_a_claim_that_was_not_read_cites_is_no_finding(caplog):
    caplog.set_level("CRITICAL")
    judge, passages = English(), [Passage("Шпрее течёт через Берлин.")]
    guard = Guard(faithfulness=judge, policy=Policy(action="annotate"))
    answer = guard.check("Что такое Берлин?", passages, "Берлин — столица Германии [1] [9].")
    (verdict,) = answer.verdicts
    assert (verdict.label, verdict.reason) == ("unverified", "language")
    assert judge.calls == 0
    # That there is no such passage is known without reading.
    assert [(o.name, o.passage, o.p_faithful) for o in verdict.citations] == [("9", None, None)]
    assert "passage 1" not in answer.text
    assert "[9] [there is no passage 9]" in answer.text


@pytest.mark.parametrize(
    ("score", "found"),
    [
        (math.nan, []),  # not known whether the passage says it
        (1.0000001, [("1", "right", 1.0)]),  # a rounding error
        (-1e-9, [("1", "wrong passage", 0.0)]),
    ],
)
def test_a_score_for_a_cited_passage_is_read_as_every_other(score, found, caplog):
    caplog.set_level("CRITICAL")

    class Odd(FakeFaithfulness):
        """Scores all passages together as 1, one alone as ``score``."""

        def score(self, contexts, claims):
            return [1.0 if "\n" in context else score for context in contexts]

    answer = Guard(faithfulness=Odd()).check("What is big?", PASSAGES, "Rome is big [1].")
    (verdict,) = answer.verdicts
    assert (verdict.label, verdict.p_faithful) == ("supported", 1)
    assert [(o.name, o.finding, o.p_faithful) for o in verdict.citations] == found
    assert ("does not say this" in answer.text) == (score < 0)


def test_a_stream_marks_the_same_citations_as_the_whole_answer(caplog):
    caplog.set_level("CRITICAL")
    guard = Guard(faithfulness=FakeFaithfulness())
    text = (
        "Rome is big [2]. Paris is old [1]. Rome is big [1][7]. Paris is old [2].\n\n"
        "[2] Rome is big. [1] Paris is old. [1] Rome is big.\n\n"
        "According to passage 1, Paris is old. Passage 1 says that Rome is big."
    )
    stream = ClaimStream(guard, lambda so_far: (guard, Trace("?", PASSAGES, Generation(so_far))))
    for character in text:
        stream.feed(character)
        while stream.wait() is not None:
            pass
    stream.end()
    while stream.wait() is not None:
        pass
    answer, whole = stream.answer(), guard.check("?", PASSAGES, text)
    stream.close()
    assert answer.text == whole.text
    assert len(ANY_MARK.findall(whole.text)) == 3 + 3
    assert answer.verdicts == whole.verdicts


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("It was opened (in 1932 [2] ).", "It was opened (in 1932)."),
        ("The bridge (of steel https://a.b/c ) is old.", "The bridge (of steel) is old."),
        ("The set [a, b [1] ] is old.", "The set [a, b] is old."),
        ("The set {a, b [1] } is old.", "The set {a, b} is old."),
        ('The town [1] "Rome" is old.', 'The town "Rome" is old.'),  # this mark opens
    ],
)
def test_no_blank_is_left_before_a_closing_bracket(text, claim):
    assert [found.text for found in RuleSplitter().split(text)] == [claim]


def test_a_footnote_behind_the_full_stop_is_of_the_sentence_before():
    text = "The pump is red.[^1] It is old.[^2][^3] It is big."
    claims = RuleSplitter().split(text)
    assert [[c.names for c in found] for found in cited_by(text, claims)] == [
        [("1",)],
        [("2",), ("3",)],
        [],
    ]


def test_a_line_that_only_announces_sources_is_no_claim():
    claims = RuleSplitter().split("The pump is red.\n\nReferences\n[1] Lee, A. (2020). Pumps.")
    assert [c.text for c in claims if c.not_a_claim is None] == ["The pump is red."]
