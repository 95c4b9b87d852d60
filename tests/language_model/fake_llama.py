"""A ``llama_cpp`` of Python: the calls LlamaCppModel makes, answered by a model of transformers."""

from types import SimpleNamespace

import numpy as np
import torch


class FakeLlama:
    """Has what ``llama_cpp.Llama`` documents: eval, reset, scores, tokenize, chat handlers."""

    def __init__(self, net, tokenizer, *, logits_all=True, n_ctx=256, template=None, path="none"):
        self.net, self.hf = net, tokenizer
        self._logits_all = logits_all
        self._window = n_ctx
        self.scores = np.zeros((n_ctx if logits_all else 8, len(tokenizer)), dtype=np.single)
        self.metadata = {"general.name": "fake"}
        if template:
            self.metadata["tokenizer.chat_template"] = template
        self.model_path = str(path)
        self.model, self.ctx = self, self
        self.chat_handler, self.chat_format = None, "chat_template.default"
        self._chat_handlers = {"chat_template.default": self._handler}
        self.evaluated = []
        self.seen, self.n_tokens = [], 0
        self.recurrent = False

    def n_ctx(self):
        return self._window

    def n_vocab(self):
        return len(self.hf)

    def token_bos(self):
        return self.hf.bos_token_id

    def token_eos(self):
        return self.hf.eos_token_id

    def tokenize(self, text, add_bos=True, special=False):
        return self.hf(text.decode(), add_special_tokens=False).input_ids

    def reset(self):
        self.n_tokens = 0
        self.seen = []

    def eval(self, tokens):
        """Appends to what was read, as llama.cpp does: n_tokens says how much of it counts."""
        if self.n_tokens + len(tokens) > self._window:
            raise RuntimeError("llama_decode returned 1")
        self.evaluated.append(list(tokens))
        self.seen = [*self.seen[: self.n_tokens], *tokens]
        with torch.no_grad():
            logits = self.net(input_ids=torch.tensor([self.seen])).logits[0]
        self.scores[self.n_tokens : len(self.seen)] = logits[self.n_tokens :].numpy()
        self.n_tokens = len(self.seen)

    def _handler(self, *, llama, messages, **_):
        """As llama_cpp's own handlers: the prompt is made, then tokenised, then completed."""
        if messages[0]["role"] == "system" and "no system" in self.metadata.get(
            "tokenizer.chat_template", ""
        ):
            raise ValueError("System role not supported")
        text = "".join(f"<s>{m['role']}: {m['content']}\n" for m in messages)
        llama.tokenize((text + "assistant: ").encode(), add_bos=False, special=True)
        raise AssertionError("nothing may be generated to learn a prompt")


def library(llama_class=FakeLlama):
    """What ``import llama_cpp`` gives."""

    def piece(llama, token, room, size, _strip, _special):
        text = llama.hf.decode([token]).encode()
        known = llama.hf.convert_ids_to_tokens(token)
        if token not in llama.hf.all_special_ids:
            table = _alphabet()
            text = bytes(table[c] for c in known)
        if len(text) > size:
            return -len(text)
        room[: len(text)] = text
        return len(text)

    def remove(llama, _sequence, start, _end):
        return not llama.recurrent and start <= llama.n_tokens

    return SimpleNamespace(
        Llama=llama_class,
        llama_model_get_vocab=lambda model: model,
        llama_vocab_is_control=lambda llama, i: i in llama.hf.all_special_ids,
        llama_vocab_is_eog=lambda llama, i: i == llama.hf.eos_token_id,
        llama_token_to_piece=piece,
        llama_get_memory=lambda context: context,
        llama_memory_seq_rm=remove,
    )


def _alphabet():
    from franq_guard.language_model.tokens import _byte_table

    return _byte_table()
