"""The text of a claim that the faithfulness model reads, and whose contradictions count."""

import numpy as np
import pytest

from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.signals.faithfulness import stated
from franq_guard.signals.stances import stances
from franq_guard.testing import FakeFaithfulness

PASSAGES = (Passage("Rome is big."), Passage("Paris is old."))


@pytest.mark.parametrize(
    ("text", "scored"),
    [
        ("Fourth, it is big.", "It is big."),
        ("Secondly, Rome is big.", "Rome is big."),
        ("Finally, Rome is big.", "Rome is big."),
        ("Step 1: Rome is big.", "Rome is big."),
        ("Point 12. Rome is big.", "Rome is big."),
        ("#3 Rome is big.", "Rome is big."),
        ("2: Rome is big.", "Rome is big."),
        ("2️⃣ Rome is big.", "Rome is big."),
        ("🔟 Rome is big.", "Rome is big."),
        ("Third, according to passage 2, it is big.", "It is big."),
        ("Keep in mind that Rome is big.", "Rome is big."),
        ("Step 2: Please note that Rome is big.", "Rome is big."),
        ("Note: Rome is big.", "Rome is big."),
        ("Make sure to visit Rome.", "Visit Rome."),
        ("Please visit Rome.", "Visit Rome."),
        ("Yes, Rome is big.", "Rome is big."),
        ("No, it's not big.", "It's not big."),
        ("Sure: Rome is big.", "Rome is big."),
        ("Yes – Rome is big.", "Rome is big."),
        ("In summary, Rome is big.", "Rome is big."),
        ("To summarise, Rome is big.", "Rome is big."),
        ("In conclusion, overall, Rome is big.", "Rome is big."),
        ("In short, Rome is big.", "Rome is big."),
        ("Therefore, Rome is big.", "Rome is big."),
        ("Thus, in 1492 Rome was big.", "In 1492 Rome was big."),
        ("The documents say that Rome is big.", "Rome is big."),
        ("The provided context clearly states that Rome is big.", "Rome is big."),
        ("According to the documents, Rome is big.", "Rome is big."),
        ("Based on the information provided, Rome is big.", "Rome is big."),
        ("As stated in these passages, Rome is big.", "Rome is big."),
        ("As the sources show, Rome is big.", "Rome is big."),
        ("Yes, according to passage 2, Rome is big.", "Rome is big."),
        # Facts, not numbers of statements, and what only looks like an opening:
        ("Note that.", "Note that."),
        ("Please.", "Please."),
        ("Important rivers: Rome has one.", "Important rivers: Rome has one."),
        ("Make sure that Rome is big.", "Make sure that Rome is big."),
        ("Yes, because Rome is big.", "Yes, because Rome is big."),
        ("Yes, and Rome is big.", "Yes, and Rome is big."),
        ("No, visit Rome.", "No, visit Rome."),
        ("Overall, a big city.", "Overall, a big city."),
        ("No city is big.", "No city is big."),
        ("Thus spoke Rome.", "Thus spoke Rome."),
        ("Reportedly, Rome is big.", "Reportedly, Rome is big."),
        ("According to Smith, Rome is big.", "According to Smith, Rome is big."),
        ("Smith says that Rome is big.", "Smith says that Rome is big."),
        ("The documents claim that Rome is big.", "The documents claim that Rome is big."),
        ("The documents suggest that Rome is big.", "The documents suggest that Rome is big."),
        ("The documents never say that Rome is big.", "The documents never say that Rome is big."),
        ("According to the report, Rome is big.", "According to the report, Rome is big."),
        ("First place went to Rome.", "First place went to Rome."),
        ("Second, third and fourth place went to Rome.",
         "Second, third and fourth place went to Rome."),
        ("6: Element: Carbon.", "6: Element: Carbon."),
        ("#1 hits came from Rome.", "#1 hits came from Rome."),
        ("Step 1 takes 2 minutes.", "Step 1 takes 2 minutes."),
        ("1492 was the year.", "1492 was the year."),
        ("3:", "3:"),
    ],
)  # fmt: skip
def test_what_counts_or_only_opens_a_statement_is_not_scored(text, scored):
    claim = Claim(text, ((0, len(text)),))
    assert stated(Trace("What?", PASSAGES, Generation(text)), claim, "long") == scored
    # In the short form an answer may be such a word; it is scored with its question.
    assert stated(Trace("What?", PASSAGES, Generation(text)), claim, "short") == f"What? {text}"


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        ("Yes, Prime Minister is a sequel.", "Yes, Prime Minister is old."),
        ("The charter is a document.", "The document says that Rome is big."),
        ("He read two texts.", "According to the texts, Rome is big."),
    ],
)
def test_words_that_a_passage_has_are_no_opening(passage, text):
    claim = Claim(text, ((0, len(text)),))
    told = (*PASSAGES, Passage(passage))
    assert stated(Trace("What?", told, Generation(text)), claim, "long") == text
    assert stated(Trace("What?", PASSAGES, Generation(text)), claim, "long") != text


class ByPlace(FakeFaithfulness):
    """A passage states a claim with its own place, and contradicts one with another."""

    def nli(self, premises, hypotheses):
        rows = []
        for passage, claim in zip(premises, hypotheses, strict=True):
            place = claim.removesuffix(".").split()[-1]
            told = "made" in passage
            rows.append([0.9, 0.1, 0] if place in passage else [0, 1 - 0.95 * told, 0.95 * told])
        return np.array(rows, float).reshape(len(rows), 3)


KETTLES = (
    Passage("The Korvane K7 is a kettle. It is made in Brelstad."),
    Passage("The Dorvex D3 is a kettle. It is made in Oskarby."),
    Passage("It rains."),
)


@pytest.mark.parametrize(
    ("text", "context", "full", "contradiction"),
    [
        # Brelstad is told of the K7, and the D3's place says nothing against it; of the D3 it is
        # told wrongly, and of what no passage names either passage may speak.
        ("It is made in Brelstad.", "it: The Korvane K7", None, 0),
        ("It is made in Brelstad.", "it: The Dorvex D3", None, 0.95),
        ("It is made in Brelstad.", "it: The Palmer P9", None, 0.95),
        ("It is made in Hammerdal.", "it: The Korvane K7", None, 0.95),
        ("It is made in Brelstad.", None, None, 0.95),
        ("It is made in Brelstad.", "list: The Korvane K7", None, 0.95),
        # Read with its name, the claim is about the K7, of which the D3 is a sibling.
        ("It is made in Brelstad.", "it: The Korvane K7", "The K7 is made in Brelstad.", 0),
    ],
)
def test_a_passage_on_another_thing_does_not_contradict(text, context, full, contradiction):
    claim = Claim(text, ((0, len(text)),), context=context, full=full)
    trace = Trace("Which?", KETTLES, Generation(text))
    (stance,) = stances(ByPlace(), [trace], [claim.in_full], [claim])
    assert stance.contradiction == contradiction
    assert (stance.against is not None) == (contradiction > 0)
    # What states it is as it was: 0.9 of 0.9 + 0.
    assert (stance.entailment, stance.max_nli) == ((0, 0.5) if "Hammerdal" in text else (0.9, 1))
