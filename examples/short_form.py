"""Check short answers by sampling: five further samples show how certain the model is.

    python examples/short_form.py

An answer of a few words is treated as one claim. UQ_faith is the Semantic Entropy of the samples,
UQ_unfaith their Sum of Eigenvalues (arXiv 2505.21072, section 3); the prompt is processed only
once for all samples. If no methods are named, no samples are drawn: the passages alone decide.
"""

from franq_guard import Guard, GuardedAnswer, Passage, Trace
from franq_guard.datasets.demo import corpus
from franq_guard.language_model import rag_prompt

ASKED = (
    ("In which year did the Golden Gate Bridge open? Answer with the year only.", "Golden Gate"),
    ("Through which capital does the Thames flow? Answer with the name only.", "Thames"),
)


def answer(guard: Guard, question: str, passages: tuple[Passage, ...]) -> GuardedAnswer:
    """One greedy answer of the guard's own model, checked."""
    model = guard.language_model
    assert model is not None
    (made,) = model.generate([model.render(rag_prompt(question, passages))], max_new_tokens=16)
    return guard.check_trace(Trace(question, passages, made))


def main() -> list[GuardedAnswer]:
    """Answer every question from the passages that name its subject."""
    guard = Guard.offline(
        form="short", uq_faith="semantic-entropy", uq_unfaith="eigenvalues-entail", n_samples=5
    )
    answers = []
    for question, subject in ASKED:
        passages = tuple(p for p in corpus() if subject in p.text)[:2]
        checked = answer(guard, question, passages)
        answers.append(checked)
        print(f"{question}\n  {checked.text}")
        for verdict in checked.verdicts:
            print(f"  {verdict.label}, P(true) {verdict.p_true}, {dict(verdict.raw)}")
        print(f"  seconds: {dict(checked.timings)}")
    return answers


if __name__ == "__main__":
    main()
