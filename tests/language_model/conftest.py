"""Small tokenisers and random models made here, and the bundled model, each once per session."""

import json

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

CORPUS = [
    "The river rises in the northern hills and runs for ninety miles to the sea.",
    "Many people live in the old town; some of them came there by ship, others on foot.",
    "How long is the river? Nobody has measured it since 1907, they say.",
    "Ein Fluß fließt durch die Städte, où l'été est très chaud et l'hiver froid.",
    "日本語の文章 と 中文 文本 и русский текст",
] * 4


def _fast(tokenizer, **special):
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def _byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _fast(tokenizer, bos_token="<s>", eos_token="</s>")


def _sentencepiece():
    """Llama's way: spaces as U+2581 with one in front, unknown characters as <0xE2> bytes."""
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizer
    specials = ["<unk>", "<s>", "</s>"]
    trained.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=300, special_tokens=specials, show_progress=False)
    )
    model = json.loads(trained.to_str())["model"]
    vocab = model["vocab"] | {f"<0x{b:02X}>": len(model["vocab"]) + b for b in range(256)}
    merges = [tuple(pair) for pair in model["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab, merges, byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizer
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)])
    return _fast(tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def _unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=150,
        special_tokens=["<unk>", "</s>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _fast(tokenizer, unk_token="<unk>", eos_token="</s>")


def _wordpiece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=["[UNK]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _fast(tokenizer, unk_token="[UNK]", sep_token="[SEP]")


def _word_level():
    """No decoder at all: words joined by spaces, everything else unknown."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return _fast(tokenizer, unk_token="<unk>")


_MAKERS = {
    "byte-level": _byte_level,
    "sentencepiece": _sentencepiece,
    "unigram": _unigram,
    "wordpiece": _wordpiece,
    "word-level": _word_level,
}


@pytest.fixture(scope="session", params=list(_MAKERS))
def any_tokenizer(request):
    return _MAKERS[request.param]()


@pytest.fixture(scope="session")
def byte_level():
    return _byte_level()


@pytest.fixture(scope="session")
def sentencepiece():
    return _sentencepiece()


@pytest.fixture(scope="session")
def wordpiece():
    return _wordpiece()


def _llama(tokenizer, window=256, **more):
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window,
        initializer_range=0.3,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **more,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def make_llama(byte_level):
    """A function that makes a random Llama for the byte-level tokeniser: window, configuration."""
    return lambda window=256, **more: _llama(byte_level, window, **more)


@pytest.fixture(scope="session")
def make_gpt2(byte_level):
    def make(window=64):
        torch.manual_seed(8)
        config = GPT2Config(
            vocab_size=len(byte_level),
            n_positions=window,
            n_embd=32,
            n_layer=2,
            n_head=4,
            initializer_range=0.3,
            bos_token_id=byte_level.bos_token_id,
            eos_token_id=byte_level.eos_token_id,
        )
        return GPT2LMHeadModel(config).eval()

    return make


@pytest.fixture(scope="session")
def reference():
    """Log-probabilities (T, V) of each position of an answer: one plain forward pass, float64."""

    def log_probs(model, prompt, answer):
        ids = torch.tensor([[*prompt, *answer]], device=model.device)
        with torch.no_grad():
            logits = model(input_ids=ids).logits[0].double()
        return torch.log_softmax(logits, dim=-1)[len(prompt) - 1 : -1]

    return log_probs
