"""The web example in a headless chromium; run by ``make check-browser``.

Screenshots go to ``build/browser``, to be looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from .web import EXAMPLE

pytestmark = pytest.mark.browser

SHOTS = EXAMPLE.parents[1] / "build" / "browser"
LABELS = {  # P(true), P(faithful)
    "supported": (0.93, 0.88),
    "unclear": (0.67, 0.33),
    "unsupported-true": (0.71, 0.04),
    "unsupported": (0.52, 0.04),
    "doubtful": (0.38, 0.21),
    "false": (0.06, 0.02),
    "unverified": (None, None),
    "not-a-claim": (None, None),
}
EVIL = "<img src=x onerror=\"window.hit='img'\"><script>window.hit='script'</script>"
RECORD = """
window.seen = [];
const answer = document.getElementById("answer");
new MutationObserver(() => window.seen.push({
  parts: answer.querySelectorAll(".part").length,
  writing: answer.classList.contains("writing"),
})).observe(answer, { childList: true });
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The example as it is started by hand, with the bundled model."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("web") / "log"
    with log.open("wb") as out:
        command = [sys.executable, str(EXAMPLE / "app.py"), "--port", str(port)]
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            _wait_for(f"http://127.0.0.1:{port}/", process, log)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(timeout=60)
    assert "Traceback" not in log.read_text("utf-8")


def _wait_for(address, process, log, seconds=300):
    for _ in range(seconds):
        assert process.poll() is None, log.read_text("utf-8")
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(1)
    raise AssertionError(f"not started in {seconds} s: {log.read_text('utf-8')}")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    from selenium import webdriver

    found = shutil.which("chromium"), shutil.which("chromedriver")
    assert all(found), "no browser: apt-get install chromium chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    options.add_argument("--headless=new")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium refuses to run as root with it
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
    driver.set_script_timeout(30)
    yield driver
    driver.quit()


@pytest.fixture
def page(chromium, url):
    """The page, freshly loaded; nothing may have been complained about when a test is over."""
    chromium.get_log("browser")
    _look(chromium)
    chromium.get(url)
    yield chromium
    assert chromium.get_log("browser") == []


def _look(driver, *, width=1100, height=900, scheme="light"):
    """The size of the window, and light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def shoot(driver, name):
    """Screenshots of the page: wide and as on a phone, light and dark."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for size, width in (("wide", 1100), ("phone", 390)):
        for scheme in ("light", "dark"):
            _look(driver, width=width, height=844, scheme=scheme)
            time.sleep(0.6)  # claims fade in
            assert driver.execute_script(
                "return document.documentElement.scrollWidth <= window.innerWidth"
            ), f"{name} is wider than {width} px"
            driver.save_screenshot(str(SHOTS / f"{name}-{size}-{scheme}.png"))


def ask(driver, question):
    field = one(driver, "#question")
    field.clear()
    field.send_keys(question)
    one(driver, "#ask").click()


def one(driver, selector):
    return driver.find_element("css selector", selector)


def several(driver, selector):
    return driver.find_elements("css selector", selector)


def status(driver, start, *, seconds=120):
    """Wait until the status line starts so."""
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(driver, seconds, poll_frequency=0.2)
    wait.until(lambda d: one(d, "#status").text.startswith(start), f"never: {start}")
    return one(driver, "#status").text


def answers(driver, *events, code=200, whole=True):
    """Let the page's next question be answered so, without the server."""
    body = ": ping\n\n" + "".join(
        f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events
    )
    script = "const [b, s] = arguments; window.fetch = async () => new Response(b, {status: s})"
    driver.execute_script(script, body if whole else body[:-5], code)


def claim(label, text, **more):
    lead, against = f"passage 1 (About {label}) says", f"passage 2 (About {label}) says otherwise"
    known = {
        "reason": None,
        "evidence": {"lead": lead, "text": f"The passage about {label} says this much."},
        "against": {"lead": against, "text": "Another does not."} if label == "false" else None,
        "differs": ['differs: the passage has "not"'] if label == "false" else [],
    }
    known |= dict(zip(("p_true", "p_faithful"), LABELS[label], strict=True))
    return {"text": text, "label": label, **known, **more}


def of_one_part(made):
    parts = [{"text": made["text"], "claims": [0]}, {"text": " ", "claims": []}]
    return "claim", {"parts": parts, "claims": [made]}


DONE = ("done", {"status": "ok", "seconds": 0.3})


def test_claims_of_the_real_model_appear_one_after_another(page):
    shoot(page, "start")
    _look(page)
    page.execute_script(RECORD)
    ask(page, "What are the two moons of Mars called, and why does Mars look red?")
    status(page, "Writing and checking ...")
    said = status(page, "Done: ", seconds=300)
    seen = page.execute_script("return window.seen")
    first = next(s for s in seen if s["parts"])
    assert first["writing"]
    assert first["parts"] < seen[-1]["parts"]

    parts = several(page, "#answer .part")
    labels = [part.get_attribute("class").split()[1] for part in parts]
    assert set(labels) <= set(LABELS)
    assert f"{len(parts)} claim" in said or len(parts) > 1
    parts[0].click()
    assert "on" in parts[0].get_attribute("class").split()
    cards = several(page, "#detail article")
    assert cards[0].text.count("P(true)\n0.") == 1
    assert "P(faithful)\n0." in cards[0].text
    assert one(page, "#detail blockquote").text in page.execute_script(
        "return document.getElementById('sources').textContent"
    )
    shoot(page, "answer")


def test_every_label_has_its_colour(page):
    made = [claim(label, f"This claim is {label}.") for label in LABELS]
    released = [of_one_part(c) for c in made]
    passages = ("passages", {"passages": [{"title": "About", "text": "Much."}]})
    answers(page, passages, *released, DONE)
    ask(page, "All of them?")
    assert "3 flagged, 1 not verified" in status(page, "Done: 7 claims")
    for scheme in ("light", "dark"):
        _look(page, scheme=scheme)
        colours = page.execute_script(
            "return [...document.querySelectorAll('.part')].map("
            "(part) => getComputedStyle(part).textDecorationColor)"
        )
        assert len(set(colours)) == len(LABELS)
    legend = [item.get_attribute("class") for item in several(page, "#legend li")]
    assert legend == list(LABELS)
    for part, label in zip(several(page, ".part"), LABELS, strict=True):
        part.click()
        assert one(page, "#detail article").get_attribute("class") == label
    several(page, ".part")[list(LABELS).index("false")].click()
    assert (
        'says otherwise:\nAnother does not.\ndiffers: the passage has "not"'
        in one(page, "#detail article").text
    )
    shoot(page, "labels")


def test_claims_are_read_and_opened_without_a_mouse(page):
    from selenium.webdriver.common.keys import Keys

    made = [claim("supported", "The sky is blue."), claim("false", "The sky is old.")]
    answers(page, *map(of_one_part, made), DONE)
    ask(page, "How is the sky?")
    status(page, "Done: 2 claims, 1 flagged")
    first, second = several(page, ".part")
    assert second.get_attribute("aria-label") == "The sky is old. (Likely false)"
    for key in (Keys.ENTER, Keys.SPACE):
        page.execute_script("arguments[0].focus()", second)
        second.send_keys(Keys.ESCAPE)
        assert second.get_attribute("aria-expanded") == "false"
        second.send_keys(key)
        assert second.get_attribute("aria-expanded") == "true"
        assert one(page, "#detail h2").text == "✗ Likely false"
    second.send_keys(Keys.SHIFT + Keys.TAB)
    assert one(page, "#detail h2").text == "✓ Supported"
    assert first.get_attribute("aria-expanded") == "true"
    titles = [term.get_attribute("title") for term in several(page, "#detail dt")]
    assert len(titles) == 2
    assert all(titles)


def test_what_is_pressed_is_large_enough_for_a_finger(page):
    answers(page, of_one_part(claim("supported", "Blue.")), DONE)
    ask(page, "How is the sky?")
    status(page, "Done: ")
    _look(page, width=390)
    sizes = page.execute_script(
        "return [...document.querySelectorAll('button, input, summary, .part')]"
        ".filter((e) => e.checkVisibility()).map((e) => [e.tagName, e.getBoundingClientRect()])"
    )
    small = {tag: box["height"] for tag, box in sizes if box["height"] < 24}  # WCAG 2.2, 2.5.8
    assert sizes
    assert small == {}


def test_claims_that_share_words_take_the_worst_colour_and_show_both(page):
    made = [claim("supported", "The sky is blue."), claim("false", "The sky is old.")]
    parts = [("The sky is", [0, 1]), (" blue", [0]), (" and ", []), ("old.", [1])]
    parts = [{"text": text, "claims": of} for text, of in parts]
    answers(page, ("claim", {"parts": parts, "claims": made}), DONE)
    ask(page, "How is the sky?")
    status(page, "Done: 2 claims, 1 flagged")
    assert one(page, "#answer").text == "The sky is blue and old."
    classes = [part.get_attribute("class") for part in several(page, ".part")]
    assert classes == ["part false", "part supported", "part false"]
    several(page, ".part")[0].click()
    assert len(several(page, "#detail article")) == 2
    one(page, "h1").click()
    assert several(page, "#detail article, .part.on") == []


def test_markup_is_shown_as_text_wherever_it_comes_from(page):
    evil = claim("doubtful", EVIL, reason=EVIL, evidence={"lead": EVIL, "text": EVIL})
    passages = ("passages", {"passages": [{"title": EVIL, "text": EVIL}]})
    answers(page, passages, of_one_part(evil), ("error", {"message": EVIL}))
    ask(page, EVIL)
    assert status(page, "<img") == EVIL
    one(page, ".part").click()
    one(page, "#sources summary").click()
    assert one(page, "#asked").text == EVIL
    assert one(page, "#answer").text == EVIL
    assert one(page, "#sources li").text == f"{EVIL} {EVIL}"
    assert one(page, "#detail article").text.count(EVIL) == 4
    assert page.execute_script("return window.hit ?? null") is None
    assert several(page, "main img, main script") == []


def test_markup_in_a_question_to_the_real_model_is_shown_as_text(page):
    ask(page, f"{EVIL} Who carried out the first human heart transplant?")
    status(page, "Done: ", seconds=300)
    assert one(page, "#asked").text.startswith(EVIL)
    assert page.execute_script("return window.hit ?? null") is None
    assert several(page, "main img, main script") == []


def test_stopping_and_asking_again(page):
    ask(page, "Tell me about the Golden Gate Bridge.")
    status(page, "Writing")
    one(page, "#stop").click()
    assert status(page, "Stopped.") == "Stopped."
    assert not one(page, "#stop").is_displayed()
    ask(page, "Tell me about the Golden Gate Bridge.")
    one(page, "#examples button").click()  # the first one is given up
    status(page, "Done: ", seconds=300)
    assert one(page, "#asked").text == one(page, "#examples button").text
    assert "bridge" not in one(page, "#answer").text.lower()
    _look(page, width=390)
    several(page, ".part")[-1].click()
    shoot(page, "mixed")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (422, "The question must have"),
        (503, "Too many questions"),
        (500, "The server answered 500"),
    ],
)
def test_refusals_are_told(page, code, said):
    answers(page, code=code)
    ask(page, "Why?")
    assert status(page, said)
    assert "error" in one(page, "#status").get_attribute("class")


def test_an_answer_that_breaks_off_is_told(page):
    answers(page, of_one_part(claim("supported", "So far.")), DONE, whole=False)
    ask(page, "Why?")
    assert status(page, "The connection was lost")
    assert one(page, "#answer").text == "So far."
    shoot(page, "lost")


def test_a_server_that_is_gone_is_told(page):
    page.execute_script("window.fetch = async () => { throw new TypeError('Failed to fetch') }")
    ask(page, "Why?")
    assert status(page, "The server cannot be reached.")
