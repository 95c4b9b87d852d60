"""The bundled language model as the judge of other frameworks' metrics.

A judge replies to a prompt, either freely or held to a form: then the form's brackets and names are
given, and the model writes the strings and chooses among yes and no, or 0 and 1. Servers of larger
models do the same when they are asked for a JSON schema.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

import torch

from franq_guard.language_model import load_bundled
from franq_guard.language_model.base import Prompt

Schema = dict[str, Any]

CHOICES = {"result": ("yes", "no")}
"""Strings that may only be one of these, where the framework's prompt says so, not its schema."""
ITEMS = {"truths": 4}
"""The most items of a list; one for any other, since the answers that are judged have one claim."""
KEPT = 4
"""Prompts whose reading is kept: a framework begins all its prompts of one kind alike."""
NAME = "SmolLM2-135M-Instruct"


class Judge:
    """A function from a prompt, and the JSON schema of the reply, to the text of the reply.

    Args:
        tokens: the most that a reply, or in a held reply one string, may have.
        held: whether the reply is held to the schema; otherwise the schema is not used.
    """

    def __init__(self, tokens: int, *, held: bool) -> None:
        self.tokens, self.held = tokens, held
        self.model = load_bundled()
        self.text = Text(self.model)
        self.texts = [self.text]

    def __call__(self, prompt: str, schema: Schema) -> str:
        self._begin(self.model.render(Prompt("", prompt)))
        if not self.held:
            return self.text.write(self.tokens, ())
        return json.dumps(self._filled(schema, schema.get("$defs", {}), ""))

    def _begin(self, prompt: str) -> None:
        """Go on from the text that begins most alike, or start another if none does."""
        self.text = max(self.texts, key=lambda text: text.same(prompt))
        if self.text.same(prompt) < 50 and len(self.texts) < KEPT:
            self.text = Text(self.model)
            self.texts.append(self.text)
        self.text.begin(prompt)

    def _filled(self, schema: Schema, known: dict[str, Schema], name: str) -> Any:
        """A value of the schema, written into the text as JSON."""
        if "$ref" in schema:
            return self._filled(known[schema["$ref"].rpartition("/")[2]], known, name)
        if "anyOf" in schema:
            return self._filled(schema["anyOf"][0], known, name)
        kind = schema.get("type", "string")
        if kind == "object":
            return self._object(schema, known)
        if kind == "array":
            return self._list(schema["items"], known, ITEMS.get(name, 1))
        if kind == "boolean":
            return self._chosen(("true", "false")) == "true"
        if kind in ("integer", "number"):
            return int(self._chosen(("0", "1")))
        if options := schema.get("enum") or CHOICES.get(name):
            return json.loads(self._chosen([json.dumps(option) for option in options]))
        self.text.add('"')
        written = self.text.write(self.tokens, ('"', "\n"))
        self.text.add('"')
        return written.strip()

    def _object(self, schema: Schema, known: dict[str, Schema]) -> dict[str, Any]:
        """The required properties; what may be left out is left out."""
        found: dict[str, Any] = {}
        for name in schema.get("required", schema["properties"]):
            self.text.add(f'{", " if found else "{"}"{name}": ')
            found[name] = self._filled(schema["properties"][name], known, name)
        self.text.add("}")
        return found

    def _list(self, item: Schema, known: dict[str, Schema], limit: int) -> list[Any]:
        self.text.add("[")
        found = [self._filled(item, known, "")]
        while len(found) < limit and self.text.likelier((", ", "]")) == ", ":
            self.text.add(", ")
            found.append(self._filled(item, known, ""))
        self.text.add("]")
        return found

    def _chosen(self, options: Sequence[str]) -> str:
        best = self.text.likelier(options)
        self.text.add(best)
        return best


class Text:
    """A text that the model reads and continues; what a new one begins with is not read again."""

    def __init__(self, model: Any) -> None:
        self.network, self.tokenizer = model.model, model.tokenizer
        self.end = model.eos_ids
        self.ids: list[int] = []
        self.cache: Any = None
        self.next = torch.empty(0)

    def begin(self, text: str) -> None:
        """Start a new text."""
        same = self.same(text)
        self._keep(same)
        self._read(self._ids(text)[same:])

    def same(self, text: str) -> int:
        """How many of its tokens this text begins with; its last is always read."""
        pairs = zip(self.ids, self._ids(text)[:-1], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    def add(self, text: str) -> None:
        """Continue with this."""
        self._read(self._ids(text))

    def write(self, limit: int, stops: Sequence[str]) -> str:
        """What the model writes until a stop, the end of its answer or ``limit`` tokens."""
        start = len(self.ids)
        while len(self.ids) - start < limit:
            token = int(self.next.argmax())
            if token in self.end or any(s in self.tokenizer.decode([token]) for s in stops):
                break
            self._read([token])
        return str(self.tokenizer.decode(self.ids[start:], skip_special_tokens=True))

    def likelier(self, options: Sequence[str]) -> str:
        """The option that the model would continue with, by the probability of all its tokens."""
        length, following = len(self.ids), self.next
        scores = []
        for option in options:
            score = 0.0
            for token in self._ids(option):
                score += float(self.next.log_softmax(-1)[token])
                self._read([token])
            scores.append(score)
            self._keep(length)
            self.next = following
        return options[scores.index(max(scores))]

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    @torch.inference_mode()
    def _read(self, ids: Sequence[int]) -> None:
        out = self.network(
            input_ids=torch.tensor([list(ids)]),
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.cache, self.next = out.past_key_values, out.logits[0, -1]
        self.ids += ids

    def _keep(self, length: int) -> None:
        if self.cache is not None and (extra := len(self.ids) - length) > 0:
            self.cache.crop(-extra)
        self.ids = self.ids[:length]


class Client:
    """The judge with the interface of OpenAI's client, as far as openevals uses it."""

    def __init__(self, judge: Judge) -> None:
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))
        self._judge = judge

    def _create(self, **request: Any) -> Any:
        message = SimpleNamespace(content=replied(self._judge, request))
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


@contextmanager
def served(judge: Judge) -> Iterator[str]:
    """The judge as a server of OpenAI's protocol on this machine; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": replied(judge, request)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": NAME}
            body = json.dumps({**reply, "choices": [choice], "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed for each request."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def replied(judge: Judge, request: dict[str, Any]) -> str:
    """The judge's reply to a request of OpenAI's protocol."""
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return judge("\n\n".join(m["content"] for m in request["messages"]), schema)
