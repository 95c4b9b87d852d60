import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from franq_guard.datasets.building import Recipe, build
from franq_guard.datasets.building.build import Planned, plan, settings
from franq_guard.datasets.building.edits import Edit, one_edit
from franq_guard.datasets.building.given import read_given
from franq_guard.datasets.building.questions import MadeQuestion, about, by_model, by_rules
from franq_guard.datasets.building.replies import Replies
from franq_guard.datasets.building.rewrites import Rewrites, checked_edit
from franq_guard.datasets.building.sentences import standing_alone
from franq_guard.datasets.building.showing import showing_for, shown
from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.datasets.comparable_words import holds, texts
from franq_guard.datasets.entities import Pool
from franq_guard.datasets.grading import states
from franq_guard.datasets.search import Bm25, Dense
from franq_guard.records import Generation, Passage
from franq_guard.testing import FakeLanguageModel

PASSAGES = [
    Passage("The Arden bridge was opened in 1912. It is made of steel.", "arden.md"),
    Passage("Mira Holt designed the Arden bridge. However, she left before 1912.", "holt.md"),
    Passage("The Vell bridge was opened in 1931. It crosses the river Tarn.", "vell.md"),
    Passage("Goats eat grass and climb well. They give milk.", "goats.md"),
]


def bm25() -> Bm25:
    return Bm25([f"{p.title} {p.text}" for p in PASSAGES], k=10)


def test_sentences_that_need_others_are_left_out() -> None:
    assert [s.text for s in standing_alone(PASSAGES)] == [
        "The Arden bridge was opened in 1912.",
        "Mira Holt designed the Arden bridge.",
        "The Vell bridge was opened in 1931.",
        "Goats eat grass and climb well.",
    ]


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("The bridge was opened in 1912.", "When was the bridge opened?", "1912"),
        ("The bridge was opened on 4 July 1903.", "When was the bridge opened?", "4 July 1903"),
        (
            "Edmund Hill climbed the mountain alone.",
            "Who or what climbed the mountain alone?",
            "Edmund Hill",
        ),
        ("12 monks live in the old house.", "How many monks live in the old house?", "12"),
        (
            "The firm moved to Rome in 1980.",
            "Fill in what is missing and repeat the sentence: The firm moved to Rome in ____.",
            "1980",
        ),
    ],
)
def test_a_sentence_is_asked_about(sentence: str, question: str, answer: str) -> None:
    (made,) = by_rules([Passage(sentence)])
    assert (made.question, made.answers) == (question, (answer,))


def test_every_made_question_is_answered_by_its_passage_and_not_by_itself() -> None:
    lines = Path("tests/fixtures/invented.jsonl").read_text().splitlines()
    passages = [Passage(json.loads(line)["passage"]) for line in lines]
    made = by_rules(passages, common=Pool(p.text for p in passages).common)
    assert len(made) > 60
    for question in made:
        assert question.passage is not None
        assert question.answers[0] in passages[question.passage].text
        assert not holds(question.question, [texts(question.answers[0])])
    assert len({question.id for question in made}) == len(made)


def test_a_models_question_counts_only_if_its_answer_is_in_the_passage() -> None:
    replies = iter(
        [
            '{"question": "When was the Arden bridge opened?", "answer": "1912"}',
            '{"question": "Who designed it?", "answer": "Ada Lovelace"}',
            '{"question": "Was the Vell bridge opened in 1931?", "answer": "1931"}',
            "no JSON at all",
        ]
    )
    made = list(by_model(lambda request: next(replies), PASSAGES, range(4)))
    assert [(q.question, q.answers, q.passage) for q in made] == [
        ("When was the Arden bridge opened?", ("1912",), 0)
    ]


def test_each_document_is_asked_about_as_a_whole() -> None:
    asked = [question.question for question in about(PASSAGES)]
    assert any("Mira Holt" in question for question in asked)
    assert all(not question.answers for question in about(PASSAGES))
    # As they come from a folder: a path and a number as id, and no title.
    untitled = [replace(p, title="", id=f"{p.title}#{n}") for n, p in enumerate(PASSAGES)]
    again = replace(untitled[0], text="The Tarn bridge was opened in 1899.", id="arden.md#2")
    assert [question.question for question in about([*untitled, again])] == asked


def test_what_is_shown_holds_the_answer_or_not() -> None:
    made = MadeQuestion("q", "When was the Arden bridge opened?", "fact", 0, ("1912",))
    with_gold = shown(made, PASSAGES, bm25(), "gold", k=2)
    assert 0 in with_gold
    assert len(with_gold) == 2
    assert 0 not in shown(made, PASSAGES, bm25(), "withheld", k=3)
    near = shown(made, PASSAGES, bm25(), "near", k=3)
    assert near == (2,)  # holt.md names 1912, goats.md shares no word
    assert not any(states(PASSAGES[i].text, made.answers) for i in near)


def test_half_of_many_questions_see_their_passage() -> None:
    made = [MadeQuestion(str(i), "?", "fact", 0, ("x",)) for i in range(2000)]
    drawn = [showing_for(question, seed=0) for question in made]
    # 1,000, 500 and 500 expected; three standard deviations are 67 and 58.
    assert abs(drawn.count("gold") - 1000) < 67
    assert abs(drawn.count("near") - 500) < 58
    assert drawn == [showing_for(question, seed=0) for question in made]


def test_an_edit_changes_one_stretch_for_something_new() -> None:
    pool = Pool(p.text for p in PASSAGES)
    for seed in range(20):
        edit = one_edit("Mira Holt left the Arden bridge in 1912.", pool, seed=seed)
        assert edit is not None
        assert edit.original[: edit.start] + edit.new + edit.original[edit.end :] == edit.text
        assert edit.text != edit.original
        assert edit.new.strip() not in edit.original
    negated = one_edit("The door was painted before noon.", Pool([]))
    assert negated is not None
    assert (negated.kind, negated.text) == ("negation", "The door was not painted before noon.")
    assert one_edit("Goats eat grass and climb well.", Pool([])) is None


def the_edit(kind: str, sentence: str, pool: Pool) -> Edit:
    found = (one_edit(sentence, pool, seed=seed) for seed in range(60))
    return next(edit for edit in found if edit is not None and edit.kind == kind)


@pytest.mark.parametrize(
    ("sentence", "swapped"),
    [
        ("Mira Holt designed the Arden Bridge.", "The Arden Bridge designed Mira Holt."),
        ("The Danube was crossed by Odo in May.", "Odo was crossed by the Danube in May."),
        ("Vell lies in Arden County.", "Arden County lies in Vell."),
    ],
)
def test_two_names_swap_their_places(sentence: str, swapped: str) -> None:
    edit = the_edit("roles", sentence, Pool([sentence]))
    assert edit.text == swapped
    assert not edit.adds


@pytest.mark.parametrize(
    "sentence",
    [
        "Mira Holt married Odran Vell.",  # holds both ways
        "Mira Holt and Odran Vell left.",
        "Arden is Vell.",
        "The games started in May.",  # a month is no name
        "In Arden lived Odran Vell.",
    ],
)
def test_names_that_cannot_swap_stay(sentence: str) -> None:
    edits = [one_edit(sentence, Pool([sentence]), seed=seed) for seed in range(30)]
    assert all(edit is None or edit.kind != "roles" for edit in edits)


def test_an_addition_names_a_year_that_no_document_names() -> None:
    years = [y for y in range(1700, 2000) if y != 1850]
    pool = Pool([f"It began in {year}." for year in years])
    edit = the_edit("addition", "Goats eat grass.", pool)
    assert edit.text.startswith("Goats eat grass, ")
    assert "1850" in edit.new
    assert edit.text.endswith(".")
    assert edit.adds
    everywhere = Pool([f"It began in {year}." for year in range(1700, 2000)])
    assert one_edit("Goats eat grass.", everywhere) is None


BEFORE = "Mira Holt designed the Arden bridge in 1912."


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("Mira Holt designed the Arden bridge in 1921.", ("1912.", "1921.")),
        ("Mira Holt never designed the Arden bridge in 1912.", ("", "never ")),
        ("Ada Vell designed the Arden bridge in 1912.", ("Mira Holt", "Ada Vell")),
    ],
)
def test_a_models_edit_is_one_stretch(said: str, changed: tuple[str, str]) -> None:
    edit = checked_edit(BEFORE, "Sure: " + json.dumps({"sentence": said}))
    assert isinstance(edit, Edit)
    assert (edit.original[edit.start : edit.end], edit.new, edit.text) == (*changed, said)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I cannot do that.", "no JSON"),
        ('{"sentence": ["a"]}', "no JSON"),
        (json.dumps({"sentence": BEFORE}), "nothing was changed"),
        (json.dumps({"sentence": BEFORE.lower()}), "nothing was changed"),
        (json.dumps({"sentence": "Ada Vell designed the Arden bridge in 1921."}), "more than one"),
        (json.dumps({"sentence": BEFORE.replace("designed", "planned")}), "no number, name, date"),
        (json.dumps({"sentence": BEFORE.replace("in 1912", "in the year 1912")}), "no number"),
        (json.dumps({"sentence": "Mira Holt designed the bridge in 1912."}), "no number, name"),
    ],
)
def test_a_models_edit_that_may_still_be_true_is_dropped(reply: str, why: str) -> None:
    assert str(checked_edit(BEFORE, reply)).startswith(why)


def test_a_models_edits_are_asked_for_once_and_dropped_ones_counted(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(request: str) -> str:
        asked.append(request)
        changed = "Mira Holt designed the Arden bridge in 1931."
        return json.dumps({"sentence": changed}) if BEFORE in request else "no"

    for _ in range(2):  # the second time after a stop
        rewrites = Rewrites(Replies(ask, tmp_path / "replies.jsonl"))
        edit = rewrites.edit(BEFORE)
        assert edit is not None
        assert (edit.kind, edit.new) == ("rewrite", "1931.")
        assert rewrites.edit("Goats eat grass.") is None
        assert rewrites.dropped == {"no JSON with one sentence": 1}
    assert len(asked) == 2


def test_passages_can_be_shown_as_the_search_finds_them() -> None:
    recipe = Recipe(show="retrieved", k=2, edits=0)
    for row in planned(recipe):
        found = [i for i, _ in bm25().best(row.question.question)[:2]]
        assert row.passages == tuple(found)
        assert row.showing == "retrieved"


def planned(recipe: Recipe) -> list[Planned]:
    common = Pool(p.text for p in PASSAGES).common
    return plan(by_rules(PASSAGES, common=common), PASSAGES, bm25(), recipe)


def answer(prompt: str) -> str:
    return "The bridge was opened in 1912. It is tall."


def test_a_set_holds_answers_claims_and_labels_and_goes_on(tmp_path: Path) -> None:
    recipe, model = Recipe(edits=1.0), FakeLanguageModel(answers=answer)
    rows = planned(recipe)
    made = ClaimSet.create(tmp_path, settings(recipe, PASSAGES, model))
    assert build(made, rows[:2], PASSAGES, model, recipe) == 2
    shown_progress: list[tuple[int, int]] = []
    left = build(
        made, rows, PASSAGES, model, recipe, progress=lambda *at: shown_progress.append(at)
    )
    assert left == len(rows) - 2
    assert shown_progress[-1] == (left, left)
    traces = {trace.id: trace for trace in made.answers()}
    assert set(traces) == {row.id for row in rows}
    for row in rows:
        trace = traces[row.id]
        assert [p.text for p in trace.passages] == [PASSAGES[i].text for i in row.passages]
        if row.given is None:
            assert trace.generation.tokens  # the writer's own log-probabilities are kept
            assert trace.generation.writer == model.fingerprint
            assert "Passages:" in (trace.generation.prompt or "")
            assert "Passages:" not in (trace.contrast_prompt or "Passages:")
    said = {(s.answer, s.claim): s for s in made.judgements()}
    opened = next(r for r in rows if r.given is None and "Arden" in r.question.question)
    assert said[opened.id, 0].factuality == "true"
    assert said[opened.id, 0].source == "gold"
    vell = next(r for r in rows if r.given is None and "Vell" in r.question.question)
    assert said[vell.id, 0].factuality == "false"
    changed = [s for s in said.values() if s.answer.endswith("-changed")]
    assert changed
    assert {s.factuality for s in changed} == {"false"}
    assert {s.faithfulness for s in changed} <= {"unfaithful-contra", "unfaithful-neutral"}
    assert {s.factuality for s in said.values() if s.answer.endswith("-stated")} == {"true"}


def test_answers_are_written_together_the_same_ones_after_a_stop(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    class Counting(FakeLanguageModel):
        def generate(self, prompts: Sequence[str], **options: Any) -> list[Generation]:
            asked.append(list(prompts))
            return super().generate(prompts, **options)

    recipe, model = Recipe(edits=0), Counting(answers=answer)
    rows = [replace(row, id=f"{row.id}-{n}") for n in range(5) for row in planned(recipe)]
    made = ClaimSet.create(tmp_path, {})
    build(made, rows[:9], PASSAGES, model, recipe)
    assert [len(prompts) for prompts in asked] == [8, 1]
    asked.clear()
    build(made, rows, PASSAGES, model, recipe)
    assert [len(prompts) for prompts in asked] == [7, 4]  # the eighth was there, of 20
    assert [trace.id for trace in made.answers()] == [row.id for row in rows]


def test_short_answers_are_one_claim_with_samples(tmp_path: Path) -> None:
    recipe, model = Recipe(form="short", samples=3, edits=0), FakeLanguageModel(answers=answer)
    made = ClaimSet.create(tmp_path, {})
    build(made, planned(recipe), PASSAGES, model, recipe)
    for trace in made.answers():
        assert len(trace.samples) == 3
        (claim,) = trace.claims or ()
        assert claim.text == trace.generation.text


def test_short_answers_are_labelled_by_the_right_ones(tmp_path: Path) -> None:
    recipe, said = Recipe(form="short", edits=0), iter(["1912", "I do not know.", "1912."])
    model = FakeLanguageModel(answers=lambda prompt: next(said))
    made = ClaimSet.create(tmp_path, {})
    rows = planned(recipe)[:3]
    assert [row.question.answers[0] for row in rows] == ["1912", "Mira Holt", "1931"]
    build(made, rows, PASSAGES, model, recipe)
    labels = {one.answer: (one.source, one.factuality) for one in made.judgements()}
    assert labels == {rows[0].id: ("gold", "true"), rows[2].id: ("gold", "false")}


def test_other_documents_or_options_do_not_go_on(tmp_path: Path) -> None:
    model = FakeLanguageModel()
    ClaimSet.create(tmp_path, settings(Recipe(), PASSAGES, model))
    with pytest.raises(ValueError, match=r"other settings \(documents\)"):
        ClaimSet.create(tmp_path, settings(Recipe(), PASSAGES[:2], model))
    with pytest.raises(ValueError, match=r"other settings \(k\)"):
        ClaimSet.create(tmp_path, settings(Recipe(k=5), PASSAGES, model))


def test_questions_of_a_file_keep_their_own_passages(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    own = [{"text": "It is red."}, {"text": "It is blue.", "is_gold": True}]
    rows = [
        {"question": "Plain?"},
        {"id": 7, "question": "Own?", "answers": ["blue"], "passages": own},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    (plain, mine), passages = read_given(file, after=4)
    assert (plain.own, plain.answers) == (None, ())
    assert (mine.id, mine.own, mine.passage, mine.answers) == ("7", (4, 5), 5, ("blue",))
    assert [p.text for p in passages] == ["It is red.", "It is blue."]
    assert shown(mine, [*PASSAGES, *passages], bm25(), showing_for(mine, 0), k=1) == (4, 5)

    (tmp_path / "q.txt").write_text("One?\n\nTwo?\nOne?\n")
    assert [q.question for q in read_given(tmp_path / "q.txt", after=0)[0]] == ["One?", "Two?"]


def test_an_answer_under_another_name_is_not_lost_in_silence(tmp_path: Path, caplog: Any) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "One?", "answer": "1"}\n{"question": "Two?", "answer": "2"}\n')
    assert [question.answers for question in read_given(file, after=0)[0]] == [(), ()]
    assert caplog.messages == [
        f"'answer' is not read in {file}: correct answers go in a list 'answers'"
    ]
    caplog.clear()
    file.write_text('{"question": "One?", "answer": "of a model", "answers": ["1"]}\n')
    read_given(file, after=0)
    assert not caplog.messages


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ('{"question": " "}', "row 1: a question needs"),
        ('{"question": "A?", "answers": "x"}', "row 1: 'answers' must be a list"),
        ('{"question": "A?", "passages": [1]}', "row 1: a passage must be"),
        ('{"question": "A?", "passages": "It is red."}', "row 1: 'passages' must be a list"),
        ("[]", "line 1: expected a JSON object"),
        ("", "holds no question"),
        ('{"id": "a", "question": "A?"}\n{"id": "a", "question": "B?"}', "'a' occurs twice"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, row: str, why: str) -> None:
    (tmp_path / "q.jsonl").write_text(row)
    with pytest.raises(ValueError, match=re.escape(why)):
        read_given(tmp_path / "q.jsonl", after=0)


def test_dense_search_finds_by_meaning_what_the_embedding_says() -> None:
    def embed(texts: list[str]) -> object:
        import numpy as np

        return np.array([[1.0, 0.0] if "cat" in t else [0.6, 0.8] for t in texts])

    search = Dense(["a dog", "a cat"], k=1, embed=embed)  # type: ignore[arg-type]
    assert search.best("cat?") == [(1, 1.0)]
    with pytest.raises(ValueError, match="at least one text"):
        Dense([], k=1, embed=embed)  # type: ignore[arg-type]


_SLOW_BUILD = """
import sys, time
from dataclasses import replace
from pathlib import Path
from franq_guard.datasets.building import Recipe, build
from franq_guard.datasets.claim_set import ClaimSet
from franq_guard.datasets.comparable_words import holds, texts
from franq_guard.testing import FakeLanguageModel
sys.path.insert(0, sys.argv[2])
from test_building import PASSAGES, planned
def answer(prompt):
    time.sleep(0.01)
    return "The bridge was opened in 1912. It is tall."
recipe = Recipe(edits=1.0)
made = ClaimSet.create(Path(sys.argv[1]), {})
rows = planned(recipe)
many = [replace(row, id=f"{row.id}-{n}") for n in range(20) for row in rows]
build(made, many, PASSAGES, FakeLanguageModel(answers=answer), recipe)
"""


def test_a_kill_loses_at_most_the_answers_in_work(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SLOW_BUILD, str(tmp_path / "set"), str(Path(__file__).parent)]
    kept = tmp_path / "set" / "answers.jsonl"
    process = subprocess.Popen(command)
    while not kept.exists() or kept.read_bytes().count(b"\n") < 5:
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.005)
    before = kept.read_bytes().count(b"\n")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(ClaimSet(tmp_path / "set").answers()) >= before
    subprocess.run(command, check=True)
    made = ClaimSet(tmp_path / "set")
    ids = [json.loads(line)["id"] for line in kept.read_text().splitlines() if line.endswith("}")]
    assert len(ids) == len(set(ids)) == len(made.answers()) == 20 * len(planned(Recipe(edits=1.0)))
