"""Seconds to split, remove and align by length of the answer: the curve must stay near n log n.

Run: python benchmarks/speed/claims_scaling.py [--words 40000]. Prints one row per shape of text and
length, and the exponent of the growth between the last two lengths (1 is linear).
"""

import argparse
import math
import random
import time

from franq_guard.claims import RuleSplitter, align, remove_claims

SENTENCES = (
    "Marie Curie, who was born in Warsaw, won the prize in 1903 and moved to Paris.",
    "Germany borders France, Poland, and Denmark; it has 16 states.",
    "The bridge opened in 1890, making it the oldest in the town.",
    "Although the river is short, it carries a lot of water.",
    "The passages do not mention the price. Is that a problem?",
)
SHAPES = {
    "prose": lambda n, draw: " ".join(draw.choice(SENTENCES) for _ in range(n // 14)),
    "one endless sentence": lambda n, draw: "the cat and the dog, which sat, " * (n // 7),
    "sentences of 140 words": lambda n, draw: (
        ("She saw the cat and the dog, which sat, and it was and won, " * 10 + "so it ended. ")
        * (n // 143)
    ),
    "open quotes": lambda n, draw: "「a " * n,
    "list items": lambda n, draw: "- a short fact is here\n" * (n // 5),
    "table rows": lambda n, draw: "| a | b |\n|---|---|\n" + "| x | y |\n" * (n // 2),
    "one word": lambda n, draw: "a" * (5 * n),
    "open brackets": lambda n, draw: "( " * n,
    "quotes": lambda n, draw: '" a ' * (n // 2),
    "dots": lambda n, draw: "a.b. " * (n // 2),
    "blank lines": lambda n, draw: "\t\n" * n,
    "stars": lambda n, draw: "**a** " * n,
    "links": lambda n, draw: "http://a.b/c. " * n,
    "brackets of links": lambda n, draw: "[a](" * n,
    "open tool calls": lambda n, draw: '{"name": "f", "arguments": {\n' * (n // 3),
}


def seconds(text: str) -> tuple[float, float, float]:
    """CPU seconds of splitting, of removing every third claim, and of one alignment."""
    start = time.process_time()
    claims = RuleSplitter().split(text)
    split = time.process_time()
    remove_claims(text, claims, range(0, len(claims), 3))
    removed = time.process_time()
    align("Marie Curie won the prize in 1903", text)
    return split - start, removed - split, time.process_time() - removed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=40_000, help="the longest answer")
    longest = parser.parse_args().words
    print(f"{'shape':24}{'words':>8}{'split s':>9}{'remove s':>10}{'align s':>9}{'growth':>8}")
    for name, build in SHAPES.items():
        last = None
        for words in (longest // 4, longest // 2, longest):
            times = seconds(build(words, random.Random(0)))  # noqa: S311
            total = sum(times)
            growth = f"{math.log2(total / last):.2f}" if last and last > 0.02 else "-"
            print(f"{name:24}{words:8}{times[0]:9.3f}{times[1]:10.3f}{times[2]:9.3f}{growth:>8}")
            last = total


if __name__ == "__main__":
    main()
