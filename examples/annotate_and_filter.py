"""Check one answer under two policies: mark weak claims, or remove them.

    python examples/annotate_and_filter.py

Prints the example of docs/start.md. One name in the answer is wrong, and one fact is not in the
passage.
"""

from franq_guard import Guard, GuardedAnswer, Policy

QUESTION = "Tell me about the Golden Gate Bridge."
PASSAGES = [
    "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss. "
    "The main span is 1,280 metres long."
]
ANSWER = (
    "The Golden Gate Bridge opened on 27 May 1937 and its chief engineer was Gustave Eiffel. "
    "It is in San Francisco. Its main span is 1,280 metres long."
)


def main() -> dict[str, GuardedAnswer]:
    """Check the answer under both policies and print the two texts."""
    results = {}
    for action in ("annotate", "filter"):
        guard = Guard.offline(policy=Policy(action=action))
        results[action] = guard.check(QUESTION, PASSAGES, ANSWER)
        print(f"{action}: {results[action].text}")
    return results


if __name__ == "__main__":
    main()
