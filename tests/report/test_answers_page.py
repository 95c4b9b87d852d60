"""The page of many answers: what stands in it, what may run in it."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from franq_guard.policy import Policy
from franq_guard.records import Claim, GuardedAnswer, Verdict
from franq_guard.report.answers_page import AnswersPage

EVIL = "</script><script>alert(1)</script>"


def answer_of(*labels, p_true=0.5, **more):
    verdicts = tuple(
        Verdict(Claim("x", ((0, 1),)), p_true, 0.5, 0.5, 0.5, {}, label) for label in labels
    )
    return GuardedAnswer("x", "x", verdicts, "ok", **more)


def page_of(tmp_path, *answers, title="Answers"):
    file = tmp_path / "page.html"
    with AnswersPage(file, title=title, policy=Policy()) as page:
        for answer in answers:
            page.add(answer)
        page.add_error(EVIL)
    return file.read_text("utf-8")


def test_every_answer_has_what_the_filter_and_the_order_need(tmp_path):
    html = page_of(
        tmp_path,
        answer_of("false", "supported", p_true=0.25, id="one"),
        answer_of("unverified", p_true=None),
    )
    found = re.findall(r'<article class="franq" data-labels="(.*?)" data-score="(.*?)">', html)
    assert found == [("false supported", "0.2500"), ("unverified", ""), ("", "")]
    boxes = re.findall(r'<input type="checkbox" value="(.*?)">', html)
    assert boxes == ["supported", "false", "unverified"]
    assert "Answers: 3. Claims: 3, of which 1 are flagged." in html
    assert "1. one" in html


def test_only_its_own_script_may_run_and_nothing_is_loaded(tmp_path):
    html = page_of(tmp_path, answer_of("supported", question=EVIL, id=EVIL), title=EVIL)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in html
    assert "alert(1)</script>" not in html
    assert not re.search(r"\b(?:src|href)=|url\(|@import", html)


def test_without_a_script_the_controls_are_not_shown(tmp_path):
    assert '<form id="controls" hidden>' in page_of(tmp_path, answer_of("supported"))


def test_a_run_that_fails_leaves_the_page_of_what_was_done(tmp_path):
    file = tmp_path / "page.html"

    def broken():
        with AnswersPage(file, title="A", policy=Policy()) as page:
            page.add(answer_of("supported"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert file.read_text("utf-8").count("<article") == 1


def test_on_paper_all_of_an_answer_stands_open_and_the_form_is_left_out(tmp_path):
    html = page_of(tmp_path, answer_of("false"))
    (answers, form) = re.findall(r"@media print \{(.*?\})\s*\}", html, flags=re.DOTALL)
    assert "details::details-content { content-visibility: visible; }" in answers
    assert "#controls { display: none; }" in form
