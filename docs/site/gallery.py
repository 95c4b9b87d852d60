"""Writes the gallery: answers of the demo as readers see them, and a few given ones.

    python docs/site/gallery.py docs/gallery/demo.html

Nothing is chosen or mended: the questions are the first six of ``franq demo``, the bundled model
answers them, and the guard says what it says. The given answers show labels that the demo has not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from franq_guard import Guard, GuardedAnswer, Passage
from franq_guard.datasets.demo import corpus, questions
from langchain_franq.local import guarded_local_rag

BRIDGE = Passage(
    "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss.",
    title="Golden Gate Bridge",
)
NO_DOGS = Passage("Dogs are not allowed in the park.", title="Rules of the park")
DOGS = Passage("Dogs are allowed in the park.", title="An old sign")
RACE = Passage("Anna won the race in 2001. Ben came second.", title="Results")
# What is shown, the question, the passages, the answer.
GIVEN = (
    (
        "A greeting, a wrong name, and a fact that the passage does not hold",
        "Who built the Golden Gate Bridge, and where is it?",
        [BRIDGE],
        "Glad you asked! Its chief engineer was Gustave Eiffel. It is in San Francisco.",
    ),
    ("A passage says otherwise", "Are dogs allowed?", [NO_DOGS], "Dogs are allowed in the park."),
    (
        "The passages contradict each other",
        "Are dogs allowed?",
        [NO_DOGS, DOGS],
        "Dogs are allowed in the park.",
    ),
    (
        "A mistake of the guard: who did what is swapped, and it does not see it",
        "Who won the race?",
        [RACE],
        "Ben won the race in 2001. Anna came second.",
    ),
    (
        "Nothing was found to check against",
        "When did the Golden Gate Bridge open?",
        [],
        "The Golden Gate Bridge opened on 27 May 1937.",
    ),
    (
        "Another language than the guard was trained on",
        "Wann wurde die Golden Gate Bridge eröffnet?",
        [BRIDGE],
        "Die Golden Gate Bridge wurde am 27. Mai 1937 eröffnet und steht in San Francisco.",
    ),
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Gallery: answers checked by franq_guard</title>
<style>
body {{ margin: 0 auto; padding: 1rem; max-width: 48rem; font: 1rem/1.5 system-ui, sans-serif;
  background: Canvas; color: CanvasText; }}
h1 {{ font-size: 1.5rem; }}
h2 {{ margin-top: 2rem; font-size: 1.05rem; }}
</style>
</head>
<body><article>
<h1>Answers checked by franq_guard</h1>
{answers}
</article></body>
</html>
"""


def main(out: Path) -> None:
    """Answer, check, and write the page."""
    guard = Guard.offline()
    shown = [f"<h2>{title}</h2>\n{answer.to_html()}" for title, answer in checked(guard)]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(PAGE.format(answers="\n".join(shown)), encoding="utf-8")


def checked(guard: Guard) -> Iterator[tuple[str, GuardedAnswer]]:
    """The titles and the checked answers, in the order of the page."""
    ask = guarded_local_rag(corpus(), guard)
    for number, question in enumerate(questions()[:6], start=1):
        yield f"Written by the bundled model ({number})", ask(question.question).answer
    for title, question, passages, answer in GIVEN:
        yield title, guard.check(question, passages, answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
