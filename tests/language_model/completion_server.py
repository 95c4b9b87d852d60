"""A completions server over real HTTP that scores with a model of this process, and may lie."""

import json
import threading
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch


class Scorer:
    """What a server computes, from plain forward passes; remembered, so that lies cost nothing."""

    def __init__(self, model):
        self.model = model
        self.busy = threading.Lock()
        self.values = lru_cache(maxsize=None)(self._values)
        self.last_values = lru_cache(maxsize=None)(self._last_values)
        self.write = lru_cache(maxsize=None)(self._write)

    def ids(self, text):
        return self.model.encoder.ids(text)

    def pieces(self, ids):
        """As servers do: each id on its own, so parts of a character become U+FFFD."""
        return [self.model.tokenizer.decode([i]) for i in ids]

    def _values(self, ids):
        """One log-probability per id, none for the first."""
        with self.busy, torch.no_grad():
            rows = self.model.model(input_ids=torch.tensor([ids])).logits[0].double()
        rows = torch.log_softmax(rows, dim=-1)
        return [None, *(float(rows[i - 1, ids[i]]) for i in range(1, len(ids)))]

    def _last_values(self, windows):
        """Of each window of ids, all of one length, the log-probability of the last."""
        ids = torch.tensor(windows)
        with self.busy, torch.no_grad():
            rows = self.model.model(input_ids=ids, logits_to_keep=2).logits[:, 0].double()
        return torch.log_softmax(rows, dim=-1).gather(1, ids[:, -1:])[:, 0].tolist()

    def late_values(self, ids):
        with self.busy, torch.no_grad():
            rows = self.model.model(input_ids=torch.tensor([ids])).logits[0].double()
        return torch.log_softmax(rows, dim=-1).gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()

    def _write(self, prompt, size, temperature, seed):
        if size == 1:  # requested with every scoring, but not used
            return " x", self.ids(" x"), [-1.0]
        with self.busy:
            if temperature == 0:
                [made] = self.model.generate([prompt], max_new_tokens=size)
            else:
                [[made]] = self.model.sample(
                    [prompt], n=1, max_new_tokens=size, temperature=temperature, seed=seed
                )
        return made.text, [t.id for t in made.tokens], [t.logprob for t in made.tokens]


def honest(ids, values, scorer):
    return ids, values


def wrong(ids, values, scorer):
    """Numbers of no token."""
    return ids, [None, *(-8.0 - (i * 7 % 11) for i in range(1, len(values)))]


def late(ids, values, scorer):
    """As llama-cpp-python 0.3.36 with echo: each token's probability where the next one stands."""
    return ids, [None, *scorer.late_values(tuple(ids))[1:]]


def shifted(ids, values, scorer):
    return ids, [*values[1:], -1.0]


def without_first(ids, values, scorer):
    return ids[1:], values[1:]


def nothing_known(ids, values, scorer):
    return ids, [None] * len(values)


def blind(ids, values, scorer):
    """Looks back no further than four tokens."""
    windows = tuple(tuple(ids[i - 4 : i + 1]) for i in range(4, len(ids)))
    return ids, [*values[:4], *scorer.last_values(windows)]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scorer, lie, protocols, names):
        super().__init__(("127.0.0.1", 0), Handler)
        self.scorer, self.lie, self.protocols, self.names = scorer, lie, protocols, names
        self.requests, self.keys, self.answer_instead = [], [], None
        self.start = []  # what the tokenizer puts before a text

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # a connection ends with its reply, and so with the server

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._reply(200, {"data": [{"id": name} for name in self.server.names]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.keys.append(self.headers.get("Authorization"))
        if self.server.answer_instead:
            return self._reply(*self.server.answer_instead)
        if self.path == "/tokenize" and "prompt_logprobs" in self.server.protocols:
            start = self.server.start if body["add_special_tokens"] else []
            return self._reply(200, {"tokens": start + self.server.scorer.ids(body["prompt"])})
        if len(body["prompt"]) > 4000:
            return self._reply(400, {"error": {"message": "maximum context length is 900 tokens"}})
        return self._reply(200, {"choices": [self._choice(body)]})

    def _choice(self, body):
        scorer, kinds = self.server.scorer, self.server.protocols
        size, prompt = body["max_tokens"], body["prompt"]
        prompt = tuple(prompt) if isinstance(prompt, list) else prompt
        text, ids, values = scorer.write(prompt, size, body["temperature"], body.get("seed", 0))
        choice = {"index": 0, "text": text, "logprobs": None}
        if "prompt_logprobs" in body and "prompt_logprobs" in kinds:
            given, told = self._forced(prompt)
            places = [
                {str(i): {"logprob": v, "rank": 1, "decoded_token": piece}}
                for i, piece, v in zip(given, scorer.pieces(given), told, strict=True)
            ]
            choice["prompt_logprobs"] = [None, *places[1:]]
        elif body.get("logprobs") and "none" not in kinds:
            if body.get("echo") and "echo" in kinds:
                given, told = self._forced(prompt)
                choice["text"] = prompt + text
                ids, values = [*given, *ids], [*told, *values]
            choice["logprobs"] = {"tokens": scorer.pieces(ids), "token_logprobs": values}
        return choice

    def _forced(self, prompt):
        ids = self.server.scorer.ids(prompt) if isinstance(prompt, str) else list(prompt)
        return self.server.lie(ids, self.server.scorer.values(tuple(ids)), self.server.scorer)

    def _reply(self, code, body):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(scorer, *, lie=honest, protocols=("prompt_logprobs",), names=("smol",)):
    server = Server(scorer, lie, protocols, names)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
