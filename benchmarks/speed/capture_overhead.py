"""Measures the cost of capturing, re-scoring and sampling relative to plain generation.

    python benchmarks/speed/capture_overhead.py [--tokens 64] [--repeats 3]

Uses the bundled model. Prints CPU seconds and the ratio to plain generation. CPU time is less
affected by other programs than wall time; the smallest of the repeats is reported.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import torch

from franq_guard.language_model import Recorder, load_bundled, question_prompt, rag_prompt
from franq_guard.records import Generation, Passage

QUESTION = "How long is the river Aldwen, and what was carried on it?"
SENTENCES = (
    "The Aldwen rises at Corrie Loch and runs for 94 miles to the bay. Barges carried slate down "
    "it until the railway came in 1911, and the lock at Pennant is still worked by hand. ",
    "The Pennant quarry roofed half of the county; in 1880 it employed 310 men and boys. When it "
    "closed in 1934 the village lost two thirds of its people within ten years. ",
    "Herons nest along the lower river every spring, and the warden counts the nests from a boat "
    "in the first week of April. The count has fallen in most of the years since it began. ",
)
PASSAGES = tuple(Passage(sentence * 3) for sentence in SENTENCES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tokens", type=int, default=64, help="length of the answer")
    parser.add_argument("--short", type=int, default=16, help="length of a short answer")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = load_bundled()
    prompt = model.render(rag_prompt(QUESTION, PASSAGES))
    bare = model.render(question_prompt(QUESTION))
    inputs = model.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)

    def generate(tokens: int) -> torch.Tensor:
        out: torch.Tensor = model.model.generate(
            **inputs, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False
        )
        return out

    def recorded(tokens: int) -> None:
        recorder = Recorder.attach(model.model, model.tokenizer)
        generate(tokens)
        recorder.detach()

    def best(*works: Callable[[], object]) -> list[float]:
        """Least CPU seconds of each work; they take turns, so that load affects all alike."""
        rounds = [[_cpu_seconds(work) for work in works] for _ in range(given.repeats)]
        return [min(column) for column in zip(*rounds, strict=True)]

    generate(2)
    ids = generate(given.tokens)[0, inputs["input_ids"].shape[1] :]
    text = model.tokenizer.decode(ids, skip_special_tokens=True)
    [answer] = model.score([bare], [Generation(text)])
    print(f"prompt {inputs['input_ids'].shape[1]} tokens, answer {given.tokens} tokens, float32")
    names = ("plain generation", "the same, recorded", "re-scored", "re-scored without evidence")
    seconds = best(
        lambda: generate(given.tokens),
        lambda: recorded(given.tokens),
        lambda: model.score([prompt], [answer]),
        lambda: model.score([bare], [answer]),
    )
    _report(names, seconds)
    seconds = best(
        lambda: generate(given.short),
        lambda: model.sample([prompt], n=10, max_new_tokens=given.short),
    )
    _report((f"plain generation, {given.short} tokens", "10 samples of that length"), seconds)


def _cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _report(names: Sequence[str], seconds: Sequence[float]) -> None:
    for name, taken in zip(names, seconds, strict=True):
        print(f"{name:28s} {taken:7.2f} s {taken / seconds[0]:7.3f}")


if __name__ == "__main__":
    main()
