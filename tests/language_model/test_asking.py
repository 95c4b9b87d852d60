import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest

from franq_guard.language_model.asking import NoAnswerError, ask_from, asked
from franq_guard.testing import FakeLanguageModel

Scripted = list[tuple[int, dict[str, str], bytes]]


@pytest.fixture
def server() -> Iterator[tuple[str, Scripted, list[dict[str, Any]]]]:
    """A real HTTP server that gives scripted replies, and the bodies it was sent."""
    script: Scripted = []
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            key = self.headers.get("authorization")
            seen.append({"path": self.path, "key": key, **json.loads(body)})
            status, headers, reply = script.pop(0)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(reply))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *args: Any) -> None:
            pass

    running = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/v1", script, seen
    running.shutdown()
    running.server_close()
    thread.join()


def chat(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def test_a_server_is_asked_greedily_with_its_key(server: Any) -> None:
    url, script, seen = server
    script.append((200, {}, chat("yes")))
    model = ask_from(f"{url}/#m", api_key="secret")
    assert model.ask("Is it?") == "yes"
    assert model.name == "m"
    assert seen == [
        {
            "path": "/v1/chat/completions",
            "key": "Bearer secret",
            "model": "m",
            "messages": [{"role": "user", "content": "Is it?"}],
            "temperature": 0,
            "max_tokens": 300,
        }
    ]


def test_a_busy_server_is_asked_again_after_the_time_it_names(server: Any) -> None:
    url, script, _ = server
    script += [(429, {"retry-after": "7"}, b""), (503, {"retry-after": "Wed"}, b"")]
    script.append((200, {}, chat("at last")))
    waited: list[float] = []
    assert ask_from(f"{url}#m", sleep=waited.append).ask("?") == "at last"
    assert waited == [7.0, 2.0]


def test_a_server_that_stays_busy_is_given_up(server: Any) -> None:
    url, script, seen = server
    script += [(429, {"retry-after": "900"}, b"")] * 2
    waited: list[float] = []
    with pytest.raises(NoAnswerError, match="/v1 is busy: status 429"):
        ask_from(f"{url}#m", tries=2, sleep=waited.append).ask("?")
    assert (len(seen), waited) == (2, [30.0])  # never longer than half a minute


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [(401, b"", "status 401"), (200, b"<html>", "no chat"), (200, b'{"choices": []}', "no chat")],
)
def test_other_errors_are_told_at_once(server: Any, status: int, body: bytes, why: str) -> None:
    url, script, seen = server
    script.append((status, {}, body))
    with pytest.raises(NoAnswerError, match=why):
        ask_from(f"{url}#m").ask("?")
    assert len(seen) == 1


def test_what_a_model_thought_is_no_reply(server: Any) -> None:
    url, script, _ = server
    drafts = "<think>First yes, then\n no.", "<think>", "Yes, I think."
    script += [(200, {}, chat(text)) for text in (f"{drafts[0]}</think>\n\nno", *drafts)]
    model = ask_from(f"{url}#m")
    assert model.ask("Is it?") == "no"
    assert [model.ask("Is it?") for _ in drafts] == ["", "", "Yes, I think."]
    thinks = "<|channel|>analysis<|message|>First yes."
    for reply, said in (
        ("a draft</think> no", "no"),
        ("[THINK]First yes.[/THINK]no", "no"),
        (f"{thinks}<|end|><|start|>assistant<|channel|>final<|message|>no", "no"),
        (thinks, ""),
    ):
        assert asked(FakeLanguageModel(answers=lambda _, reply=reply: reply)).ask("?") == said


def test_a_server_that_is_not_there_is_tried_again_and_named() -> None:
    waited: list[float] = []
    with pytest.raises(NoAnswerError, match=r"http://127\.0\.0\.1:9/v1 cannot be reached: "):
        ask_from("http://127.0.0.1:9/v1#m", tries=3, sleep=waited.append).ask("?")
    assert waited == [1.0, 1.0]


def test_a_host_that_drops_packets_is_given_up_after_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def post(url: str, *, timeout: httpx.Timeout, **_: Any) -> httpx.Response:
        assert timeout.connect is not None
        assert timeout.read is not None
        assert timeout.connect <= 10 < timeout.read
        raise httpx.ConnectTimeout("timed out")

    monkeypatch.setattr(httpx, "post", post)
    waited: list[float] = []
    with pytest.raises(NoAnswerError, match="cannot be reached: timed out"):
        ask_from("http://192.0.2.1/v1#m", sleep=waited.append).ask("?")
    assert len(waited) == 3


def test_the_model_of_a_server_must_be_named_and_others_must_exist() -> None:
    with pytest.raises(ValueError, match="Write http://host/v1#NAME"):
        ask_from("http://host/v1")
    with pytest.raises(ValueError, match="no language model 'nowhere'"):
        ask_from("nowhere")


def test_a_loaded_model_is_asked_by_its_own_template() -> None:
    model = FakeLanguageModel()
    reply = asked(model).ask("Say something.")
    (expected,) = model.generate([model.render(_prompt("Say something."))], max_new_tokens=300)
    assert reply == expected.text
    assert asked(model).name == model.fingerprint


def _prompt(text: str) -> Any:
    from franq_guard.language_model.base import Prompt

    return Prompt("", text)
