"""The text of a claim that the faithfulness model reads, and whose contradictions count."""

import pytest

from franq_guard.records import Claim, Generation, Passage, Trace
from franq_guard.signals.faithfulness import stated

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
        # Facts, not numbers of statements:
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
def test_what_counts_a_statement_is_not_scored(text, scored):
    claim = Claim(text, ((0, len(text)),))
    assert stated(Trace("What?", PASSAGES, Generation(text)), claim, "long") == scored
    # In the short form an answer may be such a word; it is scored with its question.
    assert stated(Trace("What?", PASSAGES, Generation(text)), claim, "short") == f"What? {text}"
