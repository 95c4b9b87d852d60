"""Modes of streaming, and remarks behind a text that was shown."""

from dataclasses import replace

import pytest

from franq_guard import Claim, Guard, Verdict
from franq_guard.capture.outlet import (
    STREAM_MODES,
    check_stream_mode,
    only_buffered,
    remarks,
)
from franq_guard.records import CitationFinding
from franq_guard.testing import FakeFaithfulness


def test_modes(fake_guard):
    assert STREAM_MODES == ("buffer", "claims", "tail")
    for mode in STREAM_MODES:
        check_stream_mode(fake_guard, mode, None)
    check_stream_mode(fake_guard, "claims", print)
    with pytest.raises(ValueError, match=r"one of \('buffer', 'claims', 'tail'\), not 'words'"):
        check_stream_mode(fake_guard, "words", None)
    with pytest.raises(ValueError, match=r"on_claim .* needs stream='claims', not 'tail'"):
        check_stream_mode(fake_guard, "tail", print)


def test_claims_need_a_guard_that_can():
    short = Guard(faithfulness=FakeFaithfulness(), form="short")
    check_stream_mode(short, "buffer", None)
    with pytest.raises(ValueError, match="form='long'"):
        check_stream_mode(short, "claims", None)


def test_a_step_takes_whole_answers():
    only_buffered("step", "buffer", instead="ask another")
    with pytest.raises(ValueError, match=r"step streams whole .* not 'tail'.*; ask another"):
        only_buffered("step", "tail", instead="ask another")


def test_remarks_name_what_is_weak():
    labels = ["supported", "false", "not-a-claim", "unverified", "doubtful", "unsupported-true"]
    claims = [Claim(f"Claim {i}.", ()) for i in range(len(labels))]
    verdicts = [
        Verdict(claim, None, None, None, None, {}, label)
        for claim, label in zip(claims, labels, strict=True)
    ]
    assert remarks(verdicts) == (
        "\n[likely false] Claim 1.\n[unverified] Claim 3.\n[doubtful] Claim 4."
    )
    assert remarks([]) == ""
    assert remarks(verdicts, ("false",)) == "\n[likely false] Claim 1."


def test_remarks_name_wrong_citations():
    wrong = CitationFinding("2", (9, 12), 1, 0.1, "wrong passage")
    cited = Verdict(Claim("Claim.", ()), 0.9, 0.9, 0.9, 0.5, {}, "supported", citations=(wrong,))
    assert remarks([cited]) == "\n[passage 2 does not say this] Claim."
    right = replace(cited, citations=(replace(wrong, finding="right"),))
    assert remarks([right]) == ""
