"""``franq dataset build``: make a claim set from a model's answers to questions on documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.console import bar, emit, fail, message_of, needing, say, tell, working
from franq_guard.cli.dataset.sets import resumable
from franq_guard.cli.options import JsonFlag, loaded_language_model

if TYPE_CHECKING:
    from franq_guard.datasets.building import Recipe
    from franq_guard.datasets.building.build import Planned
    from franq_guard.datasets.building.questions import MadeQuestion
    from franq_guard.datasets.building.replies import Replies
    from franq_guard.datasets.building.showing import Search
    from franq_guard.datasets.claim_set import ClaimSet
    from franq_guard.language_model.base import LanguageModel
    from franq_guard.records import Passage


DocumentsOption = Annotated[
    Path | None,
    typer.Option("--documents", help="Folder of .txt, .md, .html, .pdf and .jsonl documents."),
]
QuestionsOption = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="A .txt file with a question a line, or JSON Lines: question, answers, passages. "
        "Default: questions made from the documents.",
    ),
]
WriterOption = Annotated[
    str,
    typer.Option(
        "--language-model",
        metavar="MODEL",
        help="Who answers: yours, so that the calibrator fits it. bundled, a .gguf file, a folder, "
        "or a server (URL or URL#NAME).",
    ),
]
ShowOption = Annotated[
    str,
    typer.Option(
        "--show",
        help="mixed: half of the questions see the right passage, the others do not; "
        "retrieved: each sees what the search finds, as in your application.",
    ),
]
AskModelOption = Annotated[
    bool, typer.Option("--ask-model", help="The model writes questions, too (checked).")
]
EditsOption = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the questions with an edited statement.")
]
EditsByOption = Annotated[
    str,
    typer.Option("--edits-by", help="Who edits: rules, or model (checked to be one edit)."),
]


def build(
    out: Annotated[Path, typer.Option("--out", help="Folder of the set; resumed where it exists.")],
    documents: DocumentsOption = None,
    questions: QuestionsOption = None,
    language_model: WriterOption = "bundled",
    limit: Annotated[int, typer.Option(min=1, help="Questions at most, drawn.")] = 200,
    form: Annotated[str, typer.Option(help="long: sentences; short: a few words.")] = "long",
    k: Annotated[int, typer.Option("-k", min=1, help="Passages shown with a question.")] = 3,
    show: ShowOption = "mixed",
    words: Annotated[int, typer.Option(min=20, help="Of a passage, at most.")] = 100,
    retrieval: Annotated[str, typer.Option(help="bm25 or dense (the bundled MiniLM).")] = "bm25",
    ask_model: AskModelOption = False,
    samples: Annotated[int, typer.Option(min=0, help="More answers to each question.")] = 0,
    edits: EditsOption = 0.25,
    edits_by: EditsByOption = "rules",
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Make a claim set: questions about your documents, answered by your model, split into claims.

    Half of the questions are shown the passage that answers them, the others are not (unless --show
    says otherwise); some statements are made false on purpose. Run it again with the same options
    to go on after a stop.
    """
    if documents is None and questions is None:
        fail("what is asked about? Give --documents DIR, --questions FILE, or both")
    if ask_model and questions is not None:
        fail("--ask-model adds to questions made from the documents: leave it or --questions out")
    if out.exists() and not out.is_dir():
        fail(f"--out {out} is a file: name a folder")
    _one_of("form", form, "long", "short")
    _one_of("show", show, "mixed", "retrieved")
    _one_of("edits-by", edits_by, "rules", "model")
    _one_of("retrieval", retrieval, "bm25", "dense")
    from franq_guard.datasets.building import Recipe
    from franq_guard.datasets.building import build as write

    chosen: dict[str, Any] = {"form": form, "show": show, "edits_by": edits_by}
    recipe = Recipe(**chosen, k=k, samples=samples, edits=edits, seed=seed)
    asked = _material(documents, questions, words)
    model = _model(language_model)
    more = {"retrieval": retrieval, "ask_model": ask_model, "questions": asked.given()}
    made = _begin(out, asked, recipe, model, more)
    with needing("pip install 'franq-guard[cli]'"):
        search = _search(asked.passages, retrieval, k)
    with resumable():
        if questions is None:
            asked.make_questions(_replies(made, model) if ask_model else None, limit, recipe)
        asked.draw(limit, seed)
        planned, dropped = _planned(made, asked, search, recipe, model)
        with bar("answers") as progress:
            written = write(made, planned, asked.passages, model, recipe, progress=progress)
    _tell(made, written, dropped, as_json)
    for line in _of_a_promise(made, recipe):
        say(line)


def _one_of(option: str, value: str, first: str, second: str) -> None:
    if value not in (first, second):
        fail(f"--{option} must be {first} or {second}, not {value!r}")


@dataclass(slots=True)
class _Material:
    """The passages of the documents and the questions about them."""

    passages: list[Passage]
    questions: list[MadeQuestion]

    def given(self) -> str | None:
        """A digest of the questions of a file; None where they will be made from the documents."""
        from franq_guard.datasets.questions import digest

        told = (f"{q.id}\0{q.question}\0{q.answers}" for q in self.questions)
        return digest(0, *told)[:16] if self.questions else None

    def make_questions(self, ask: Replies | None, limit: int, recipe: Recipe) -> None:
        """Make questions by rules, preceded by a model's own for ``limit`` passages if given."""
        from franq_guard.datasets.building.questions import about, by_model, by_rules
        from franq_guard.datasets.entities import Pool
        from franq_guard.datasets.questions import digest

        common = Pool(p.text for p in self.passages).common
        made = by_rules(self.passages, common=common)
        if recipe.form == "long":
            made += about(self.passages)
        if ask is not None:
            passages = range(len(self.passages))
            ranked = sorted(passages, key=lambda i: digest(recipe.seed, "ask", str(i)))
            with working("the model writes questions"):
                made[:0] = by_model(ask, self.passages, ranked[:limit])
        # One that a rule makes, too, or that fits two passages, is asked once: the model's, or the
        # first. Two answers of one id would get each other's labels.
        self.questions = list({question.id: question for question in reversed(made)}.values())
        if not self.questions:
            fail("no question can be made from these documents: give some with --questions FILE")

    def draw(self, limit: int, seed: int) -> None:
        """Keep at most ``limit`` questions, drawn at random.

        The draw depends on each question's id alone, so a larger ``limit`` only adds questions.
        """
        from franq_guard.datasets.questions import digest

        ranked = sorted(self.questions, key=lambda q: digest(seed, "draw", q.id))
        self.questions = ranked[:limit]


def _material(documents: Path | None, questions: Path | None, words: int) -> _Material:
    from franq_guard.datasets.building.given import read_given
    from franq_guard.datasets.documents import read_folder

    try:
        with needing("pip install 'franq-guard[documents]'", what="a PDF"):
            found = read_folder(documents, words=words) if documents else ()
        # The title is only the file's name (kept in the id); small models copy it into answers.
        passages = [replace(passage, title="") for passage in found]
        if questions is None:
            return _Material(passages, [])
        given, own = read_given(questions, after=len(passages))
    except (ValueError, OSError) as error:
        fail(message_of(error))
    if documents is None and any(question.own is None for question in given):
        fail(f"{questions} has questions without passages: give --documents DIR to search in")
    return _Material([*passages, *own], given)


def _model(where: str) -> LanguageModel:
    """The model that answers; one that cannot be had ends the program with the reason."""
    with needing("pip install 'franq-guard[offline]'"):
        try:
            return loaded_language_model(where)
        except (ValueError, OSError, RuntimeError) as error:
            fail(message_of(error))


def _search(passages: Sequence[Passage], retrieval: str, k: int) -> Search:
    from franq_guard.datasets.search import Bm25, Dense

    found_by = Bm25 if retrieval == "bm25" else Dense
    return found_by([f"{p.title} {p.text}" for p in passages], k=k + 20)


def _begin(
    out: Path, asked: _Material, recipe: Recipe, model: LanguageModel, more: Mapping[str, Any]
) -> ClaimSet:
    from franq_guard.datasets.building.build import settings
    from franq_guard.datasets.claim_set import ClaimSet

    try:
        return ClaimSet.create(out, {**settings(recipe, asked.passages, model), **more})
    except (ValueError, OSError) as error:
        fail(message_of(error))


def _replies(made: ClaimSet, model: LanguageModel) -> Replies:
    """The model as a function from a request to a reply, which is kept in the set's folder."""
    from franq_guard.datasets.building.replies import Replies
    from franq_guard.language_model.asking import asked

    return Replies(asked(model).ask, made.folder / "replies.jsonl")


def _planned(
    made: ClaimSet, asked: _Material, search: Search, recipe: Recipe, model: LanguageModel
) -> tuple[list[Planned], Counter[str]]:
    """Every answer of the set, and why edits by the model were dropped."""
    from franq_guard.datasets.building.build import plan
    from franq_guard.datasets.building.rewrites import Rewrites

    if recipe.edits_by == "rules":
        return plan(asked.questions, asked.passages, search, recipe), Counter()
    rewrites = Rewrites(_replies(made, model))
    with working("the model changes facts"):
        rows = plan(asked.questions, asked.passages, search, recipe, change=rewrites.edit)
    return rows, rewrites.dropped


def _of_a_promise(made: ClaimSet, recipe: Recipe) -> Iterator[str]:
    """What `franq calibrate --at-most-flagged` will be able to promise with these answers."""
    from franq_guard.calibration.promise import upper_bound
    from franq_guard.datasets.labelled import threshold_answers

    edited = {said.answer for said in made.judgements() if said.kind == "edit"}
    setting = threshold_answers(trace for trace in made.answers() if trace.id not in edited)
    if setting < 3:
        return
    none, two = (round(100 * upper_bound(count, setting, delta=0.1)) for count in (0, 2))
    yield (
        f"about half of your model's answers set a threshold ({setting}): at 90 % confidence at "
        f"most {none} % flagged can be promised if each has a true claim and none is flagged "
        f"whatever the threshold, {two} % if two are"
    )
    if recipe.show == "mixed":
        yield (
            "half of the questions were answered without the right passage, so that curves are "
            "fitted on bad retrieval, too; what such answers state is often flagged. For a promise "
            "about answers as your application gives them, build a set with --show retrieved"
        )


def _tell(made: ClaimSet, written: int, dropped: Counter[str], as_json: bool) -> None:
    answers, said = made.answers(), made.judgements()
    row: dict[str, Any] = {
        "folder": str(made.folder),
        "answers": len(answers),
        "written": written,
        "claims": sum(c.not_a_claim is None for t in answers for c in t.claims or ()),
        "labels": dict(Counter(f"{s.kind} {s.factuality}" for s in said)),
        "edits_dropped": dict(dropped),
    }
    if as_json:
        emit(row)
        return
    tell(
        f"{row['answers']} answers ({written} written now) with {row['claims']} claims, "
        f"in {made.folder}"
    )
    for name, count in sorted(row["labels"].items()):
        tell(f"  {count} labelled {name}")
    for why, count in dropped.most_common():
        tell(f"  {count} edits of the model dropped: {why}")
    tell(
        f"next: franq dataset annotate {made.folder} --judge MODEL; franq dataset review "
        f"{made.folder}; franq calibrate {made.folder} --out mine.json"
    )
