"""Check an answer that you already have, without any framework.

python examples/check_an_answer.py
"""

from franq_guard import Guard, GuardedAnswer

QUESTION = "When did the Golden Gate Bridge open, and where is it?"
PASSAGES = ["The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss."]
ANSWER = "The Golden Gate Bridge opened in 1951. It is in San Francisco."


def main() -> GuardedAnswer:
    """Check the answer and print the guard's verdict on each claim."""
    result = Guard.offline().check(QUESTION, PASSAGES, ANSWER)
    print(result.text)
    for verdict in result.verdicts:
        print(f"{verdict.label:16} P(true) {verdict.p_true:.2f}  {verdict.claim.text}")
    return result


if __name__ == "__main__":
    main()
