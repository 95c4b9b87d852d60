"""Times the check of an answer by its length: as a whole, and claim by claim while it is written.

Run: python benchmarks/speed/answer_length.py [--characters 100000]. The models are fakes that only
count words, so the guard's own work is timed: splitting, matching tokens to claims, the policy, the
stream. Each row is twice as long as the row before and has its ratio to it: about 2 means linear
time. The fake language model keeps its state between parts of an answer, as a transformers model
does. A server without sessions would be sent the whole answer with each part, so that its work
would grow with the square of the length.
"""

from __future__ import annotations

import argparse
import logging
import random
from dataclasses import replace
from time import process_time

from franq_guard import Generation, Guard, Passage, Policy, Trace
from franq_guard.calibration.store import Calibrator
from franq_guard.streaming import ClaimStream
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

PASSAGES = (Passage("The bridge opened in 1890. The river is wide, and it is slow."),)
PROMPT = f"{PASSAGES[0].text}\nWhat of the bridge?"
SENTENCES = (
    "The bridge opened in 18{n}, which made it the oldest of the town.",
    "Pier {n} is wide and slow.",
    "Although the river {n} is short, it carries a lot of water.",
    "Germany borders {n} states, France, Spain and Italy.",
)
SHAPES = {"paragraphs of five sentences": 5, "one paragraph": 10**9}


class Reader(FakeLanguageModel):
    """Reads each part of a growing answer once."""

    def session(self, prompt: str) -> Session:
        return Session(self, prompt)


class Session:
    def __init__(self, model: Reader, prompt: str) -> None:
        self.model, self.prompt = model, prompt

    def recent(self, answer: Generation, since: int) -> Generation:
        wanted = answer.since(since).tokens
        part = answer.text[wanted[0].start if wanted else len(answer.text) :]
        made = self.model.score([self.prompt], [Generation(part)])[0].tokens
        told = (replace(t, logprob=m.logprob) for t, m in zip(wanted, made, strict=False))
        return Generation(answer.text, tuple(told), source="teacher-forced")

    def close(self) -> None:
        pass


def answer(size: int, sentences: int) -> str:
    rng = random.Random(0)  # noqa: S311
    parts, length = [], 0
    while length < size:
        mark = "\n\n" if len(parts) % sentences == sentences - 1 else " "
        parts.append(rng.choice(SENTENCES).format(n=rng.randrange(1000)) + mark)
        length += len(parts[-1])
    return "".join(parts)[:size]


def seconds(text: str, policy: Policy) -> tuple[float, float]:
    """CPU seconds of ``check_trace`` and of a stream in pieces of five characters."""
    guard = Guard(
        language_model=Reader(),
        faithfulness=FakeFaithfulness(),
        policy=policy,
        franq=Calibrator.uncalibrated(form="long"),  # it asks for likelihoods
    )
    (whole,) = guard.language_model.score([PROMPT], [Generation(text, prompt=PROMPT)])

    def trace(so_far: str) -> Trace:
        tokens = replace(whole, text=so_far, source="captured").tokens
        known = len(tokens) - len(whole.since(len(so_far)).tokens)
        found = Generation(so_far, tokens[: known + 1], PROMPT, source="captured")
        return Trace("What of the bridge?", PASSAGES, found)

    began = process_time()
    guard.check_trace(trace(text))
    checked = process_time()
    stream = ClaimStream(guard, lambda so_far: (guard, trace(so_far)))
    for start in range(0, len(text), 5):
        stream.feed(text[start : start + 5])
    stream.end()
    while stream.wait() is not None:
        pass
    stream.answer()
    stream.close()
    return checked - began, process_time() - checked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", type=int, default=100_000, help="the longest answer")
    longest = parser.parse_args().characters
    logging.disable(logging.WARNING)  # uncalibrated models say so
    columns = f"{'text':30}{'action':10}{'characters':>11}{'check s':>9}{'x':>6}"
    print(columns + f"{'claims s':>10}{'x':>6}")
    for shape, sentences in SHAPES.items():
        for action in ("annotate", "filter"):
            last = (0.0, 0.0)
            for size in (longest // 16, longest // 8, longest // 4, longest // 2, longest):
                now = seconds(answer(size, sentences), Policy(action=action))
                ratios = [f"{a / b:.1f}" if b else "-" for a, b in zip(now, last, strict=True)]
                print(
                    f"{shape:30}{action:10}{size:11}{now[0]:9.2f}{ratios[0]:>6}"
                    f"{now[1]:10.2f}{ratios[1]:>6}",
                    flush=True,
                )
                last = now


if __name__ == "__main__":
    main()
