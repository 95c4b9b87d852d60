"""The counts at the end of a run of ``franq check``."""

from franq_guard import Claim, GuardedAnswer, Policy, Verdict
from franq_guard.cli.resuming import Done
from franq_guard.cli.rows import Checked
from franq_guard.cli.tally import Tally
from franq_guard.rows import RowError


def test_claims_that_could_not_be_checked_are_counted_apart_even_if_the_policy_acts_against_them():
    policy = Policy(on_error="closed")
    claim = Claim("It is.", ((0, 6),))
    lost = Verdict(claim, None, None, None, None, {}, "unverified", "error")
    answer = GuardedAnswer("It is.", "It is.", (lost,), "unverified", weak=policy.acts_against)
    tally = Tally(policy)
    tally.add(Checked(answer))
    first, second = tally.lines()
    assert "flagged" not in first
    assert second == "1 claim: 1 unverified; 0 flagged"


def test_why_no_row_could_be_read_is_said_once():
    tally = Tally(Policy())
    for line in (1, 2):
        tally.add(Checked(RowError(line, "'answer' is missing")))
    first, *_ = tally.lines()
    assert first == "no row could be read: line 1: 'answer' is missing"
    resumed = Tally(Policy(), [Done("a", "In Italy.", failed=False)])
    resumed.add(Checked(RowError(2, "'answer' is missing")))
    first, *_ = resumed.lines()
    assert first == "no other row could be read: line 2: 'answer' is missing"
    tally.add(Checked(GuardedAnswer("", "", (), "unverified")))
    assert not any("could be read" in line for line in tally.lines())
