"""Who wrote an answer: a local model, the only one there is, a server, or an unseen model."""

from dataclasses import dataclass, replace

import pytest

from franq_guard import Claim, Generation, Passage, Token, Trace
from franq_guard.capture.writing import Prompts, Writers, Written, unseen, written
from franq_guard.language_model.server.tokens import ServerToken

PROMPT = "Where is it?"
TOLD = [ServerToken(b"In ", -0.5), ServerToken(b"Rome.", -1.0)]


@dataclass
class Run:
    text: str | None
    ended: bool = True
    ended_at: float = 10.0


class Model:
    """A local model that wrote one text under one prompt."""

    fingerprint = "own-model"

    def __init__(self, guard, wrote="", prompt=PROMPT, at=0.0):
        self.guard, self.at = guard, at
        half = len(wrote) // 2
        tokens = (Token(1, 0, half, -1.0), Token(2, half, len(wrote), -2.0))
        self.own = Generation(wrote, tokens, prompt, source="captured")
        self.asked = []

    def generation(self, text, prompt):
        self.asked.append(text)
        return self.own if (text, prompt) == (self.own.text, self.own.prompt) else None

    def ended_at(self, text, prompt):
        return self.at

    def recalled(self, text, parts):
        fits = text == self.own.text and all(part in self.own.prompt for part in parts)
        return self.own if fits else None


def prompts(**options):
    return Prompts(lambda model: PROMPT, lambda guard: f"{PROMPT} ({guard})", **options)


def test_the_model_that_wrote_it_reads_it():
    models = [Model("first"), Model("second", "In Rome.")]
    found = written(Writers("guard", models), Run("In Rome."), prompts(), TOLD, "In Rome.")
    assert found == Written("second", models[1].own)


@pytest.mark.parametrize(
    ("times", "wrote"),
    [
        ((8.0, 9.0), "second"),  # one after the other: the answer is the last one's
        ((9.0, 8.0), "first"),
        ((11.0, 9.0), "second"),  # the first has written it again, in another run
        ((11.0, 12.0), "second"),  # both have
    ],
)
def test_of_two_models_that_wrote_the_same_the_one_of_this_run_reads_it(times, wrote):
    models = [
        Model(name, "In Rome.", at=at) for name, at in zip(("first", "second"), times, strict=True)
    ]
    found = written(Writers("guard", models), Run("In Rome."), prompts(), [], "In Rome.")
    assert found.guard == wrote


def test_a_cut_answer_keeps_the_tokens_in_it():
    model = Model("own", "In Rome. ")
    found = written(Writers("guard", [model]), Run("In Rome. "), prompts(), [], "In Rome.")
    assert [(t.start, t.end) for t in found.generation.tokens] == [(0, 4), (4, 8)]


def test_while_it_writes_only_the_answer_so_far_is_looked_for():
    model = Model("own", "In Rome.")
    run = Run("In Rome. It is old", ended=False)
    assert written(Writers("guard", [model]), run, prompts(), [], "In Rome.").guard == "own"
    assert model.asked == ["In Rome."]
    run.ended = True
    assert written(Writers("guard", [model]), run, prompts(), [], "In Rome.").guard == "guard"
    assert model.asked[1:] == ["In Rome. It is old"]


def test_a_model_that_cannot_have_been_asked_is_passed_over():
    model = Model("own", "In Rome.")
    none = replace(prompts(), of=lambda model: None)
    assert written(Writers("guard", [model]), Run("In Rome."), none, [], "In Rome.") == Written(
        "guard", Generation("In Rome.", prompt=f"{PROMPT} (guard)")
    )
    assert model.asked == []


def test_a_wrapped_prompt_is_recalled_where_the_framework_may_wrap_it():
    model = Model("own", "In Rome.", prompt=f"<user>{PROMPT}<end>")
    writers, run = Writers("guard", [model]), Run("In Rome.")
    assert written(writers, run, prompts(), [], "In Rome.").guard == "guard"
    assert written(writers, run, prompts(wrapped=True), [], "In Rome.").guard == "own"


def test_what_a_server_told_is_used_and_read_by_the_only_model():
    writers = Writers("guard", only=Model("own"))
    found = written(writers, Run("In Rome."), prompts(), TOLD, "In Rome.")
    assert (found.guard, found.generation.source) == ("own", "server")
    assert found.generation.prompt == f"{PROMPT} (own)"
    assert found.generation.writer == "own-model"
    assert [t.logprob for t in found.generation.tokens] == [-0.5, -1.0]


@pytest.mark.parametrize("wrote", ["In Rome.", "Elsewhere."])
def test_an_echoed_prompt_is_no_part_of_the_answer(wrote):
    model = Model("own", wrote)
    same = Prompts(lambda model: PROMPT, lambda guard: PROMPT, echoed=True)
    run, answer = Run(f"{PROMPT}In Rome."), f"{PROMPT}In Rome."
    found = written(Writers("guard", [model]), run, same, TOLD, answer)
    assert (found.lead, found.generation.text) == (PROMPT, "In Rome.")
    assert found.generation.source == ("captured" if wrote == "In Rome." else "server")
    kept = written(Writers("guard", [model]), run, replace(same, echoed=False), TOLD, answer)
    assert (kept.lead, kept.generation.text) == ("", answer)


def test_what_nobody_saw_is_recalled_or_left_to_the_only_model():
    models = [Model("first"), Model("second", "In Rome.")]
    assert unseen(Writers("guard", models), "In Rome.", ["Where"]) == Written(
        "second", models[1].own
    )
    assert unseen(Writers("guard", models), "In Rome.", ["Who"]) == Written(
        "guard", Generation("In Rome.")
    )
    only = Writers("guard", models[:1], models[0])
    assert unseen(only, "In Rome.") == Written("first", Generation("In Rome."))


def test_a_trace_says_whether_the_prompt_was_seen():
    passage, claim = Passage("Rome."), Claim("In Rome.", ((0, 8),))
    made = Generation("In Rome.", prompt=PROMPT)
    assert Written("guard", made).trace(
        "Where?", [passage], claims=[claim], contrast_prompt="c", id="7"
    ) == Trace("Where?", (passage,), made, claims=(claim,), contrast_prompt="c", id="7")
    assert not Written("guard", Generation("In Rome.")).trace("Where?", []).prompt_seen
