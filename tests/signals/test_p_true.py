"""P(True): the question, its options, and how all of them are asked in one call."""

from franq_guard.records import Generation, Token
from franq_guard.signals.p_true import p_true_logprobs, p_true_options, p_true_question
from franq_guard.testing import FakeLanguageModel


def test_options_as_the_model_would_write_them():
    assert p_true_options("The answer is:") == (" True", " False")
    assert p_true_options("<assistant>\n") == ("True", "False")
    assert p_true_options("") == ("True", "False")


def test_question_shares_its_beginning_between_claims():
    first = p_true_question("Who?", "Ann did.", passages="P")
    second = p_true_question("Who?", "Bob did.", passages="P")
    assert first.startswith("Context:\nP\n\nQuestion: Who?\nPossible answer: ")
    assert first.split("Ann did.")[0] == second.split("Bob did.")[0]
    assert p_true_question("", "Ann did.").startswith("Possible answer: Ann did.")


def test_p_true_reads_the_shared_beginning_once():
    seen = {}

    class Model(FakeLanguageModel):
        def score(self, prompts, answers):
            assert not seen  # one call
            seen["prompts"], seen["answers"] = list(prompts), [a.text for a in answers]
            # one token for the question's rest, one per option: log p by option
            return [self.one(a) for a in answers]

        def one(self, answer):
            cut = len(answer.text) - (5 if answer.text.endswith("True") else 6)
            value = -1.0 if answer.text.endswith("True") else -3.0
            tokens = (Token(0, 0, cut, -9.0), Token(1, cut, len(answer.text), value))
            return Generation(answer.text, tokens)

    questions = ["C\nAnn did.\nTrue?", "C\nBob did.\nTrue?"]
    got, none, other = p_true_logprobs(Model(), [questions, [], ["D\nCid did?"]])
    assert got.tolist() == [[-1, -3], [-1, -3]]
    assert (none.shape, other.tolist()) == ((0, 2), [[-1, -3]])
    # render() puts an empty system line first
    assert seen["prompts"] == ["\nC\n"] * 4 + ["\nD\n"] * 2
    assert seen["answers"][:2] == ["Ann did.\nTrue? True", "Ann did.\nTrue? False"]
    assert seen["answers"][4:] == ["Cid did? True", "Cid did? False"]


def test_nothing_to_ask():
    assert p_true_logprobs(FakeLanguageModel(), []) == []
