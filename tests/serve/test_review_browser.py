"""The review page in a headless chromium; run by ``make check-browser``.

Screenshots go to ``build/browser``, to be looked at.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
from franq_guard.records import Claim, Generation, Passage, Trace

pytestmark = pytest.mark.browser

SHOTS = Path(__file__).parents[2] / "build" / "browser"
EVIL = "<img src=x onerror=\"window.hit='img'\">\U0001f600 Rome is old. It is big."
# What Python counts as one character JavaScript counts as two: the mark must not slip.
SPAN = (EVIL.index("Rome"), EVIL.index(" It"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    claims = ClaimSet.create(tmp_path / "set", {})
    passages = (Passage("\U0001f600 The town of Rome is old. It has hills.", "Rome & co"),)
    for i in range(6):
        stated = (Claim("Rome is old.", (SPAN,), full="The town of Rome is old."),)
        trace = Trace(f"How is Rome? {i}", passages, Generation(EVIL), claims=stated, id=f"a{i}")
        claims.add_answer(trace)
        claims.add(ClaimJudgement(f"a{i}", 0, "judge:m", "faithful", "true"))
    return tmp_path / "set"


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "franq_guard.cli", "dataset", "review", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait(timeout=60)
    process.stdout.close()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    from selenium import webdriver

    found = shutil.which("chromium"), shutil.which("chromedriver")
    assert all(found), "no browser: apt-get install chromium chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for word in ("--headless=new", f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium refuses to run as root with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
    driver.implicitly_wait(10)
    yield driver
    driver.quit()


def shot(browser: Any, name: str) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(SHOTS / f"review-{name}.png"))


def wait(browser: Any, text: str, where: str = "count") -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(
        lambda b: text in b.find_element("id", where).text, f"{text!r} never came in #{where}"
    )


def test_a_person_votes_with_three_keys_undoes_and_goes_on(
    browser: Any, address: str, folder: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.set_window_size(1100, 1100)
    browser.get(address)
    browser.find_element("id", "name").send_keys("Ada", Keys.ENTER)
    wait(browser, "0 of 6 claims")
    assert browser.find_element("id", "claim").text == "The town of Rome is old."
    (stated,) = browser.find_elements("css selector", "#text mark")
    assert stated.text == "Rome is old."
    (evidence,) = browser.find_elements("css selector", "#passages mark")
    assert evidence.text.endswith("The town of Rome is old.")
    assert browser.find_element("id", "said").text == ""  # blind: the judge is not shown yet
    assert not browser.execute_script("return window.hit")  # the answer's markup is text
    shot(browser, "claim")

    keys = browser.find_element("tag name", "body")
    keys.send_keys("1")
    wait(browser, "2. Is it true?", "asked")
    keys.send_keys("2")
    wait(browser, "1 of 6 claims")
    wait(browser, "judge:m: They state it, True", "said")
    (said,) = [s for s in ClaimSet(folder).judgements() if s.kind == "person"]
    assert (said.source, said.faithfulness, said.factuality) == ("person:Ada", "faithful", "false")
    shot(browser, "voted")

    keys.send_keys("u")
    wait(browser, "0 of 6 claims")
    assert [s for s in ClaimSet(folder).judgements() if s.kind == "person"] == []

    for number in range(1, 7):
        keys.send_keys("3")
        wait(browser, "2. Is it true?", "asked")
        keys.send_keys("3")
        wait(browser, f"{number} of 6 claims")
    assert "Thank you" in browser.find_element("id", "done").text
    votes = [s.factuality for s in ClaimSet(folder).judgements() if s.kind == "person"]
    assert votes == ["unverifiable"] * 6

    browser.get(address)  # closed and opened: all is still there
    browser.find_element("id", "name").send_keys("Ada", Keys.ENTER)
    wait(browser, "6 of 6 claims")
    assert browser.get_log("browser") == []


def test_on_a_phone_nothing_sticks_out(browser: Any, address: str) -> None:
    from selenium.webdriver.common.keys import Keys

    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    browser.get(address)
    browser.find_element("id", "name").send_keys("Ada", Keys.ENTER)
    wait(browser, "0 of 6 claims")
    shot(browser, "phone")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


def test_without_the_secret_the_page_is_not_shown(browser: Any, address: str) -> None:
    browser.get(address.partition("?")[0])
    assert "open the address" in browser.page_source
