"""``franq dataset annotate`` and ``agree``: what they keep, print and refuse."""

import itertools
import json
import re
import socket
import subprocess
import sys

import pytest

from franq_guard.datasets.claim_set import CHOSEN, ClaimJudgement, ClaimSet
from franq_guard.language_model import asking
from franq_guard.records import Claim, Generation, Passage, Trace

FAITHFUL = '{"faithfulness": "faithful", "factuality": "true", "quote": "lies in Italy"}'
NEUTRAL = '{"faithfulness": "unfaithful-neutral", "factuality": "false", "quote": ""}'


@pytest.fixture
def folder(tmp_path):
    made = ClaimSet.create(tmp_path / "set", {})
    for i in range(6):
        text = f"Town {i} is in Italy."
        claims = (Claim(text, ((0, len(text)),)),)
        passages = (Passage(f"Town {i} lies in Italy."),)
        made.add_answer(Trace("Where?", passages, Generation(text), claims=claims, id=str(i)))
    return tmp_path / "set"


@pytest.fixture
def scripted(monkeypatch):
    """The judge's replies, by turns."""
    replies = [FAITHFUL, NEUTRAL, "no idea"] * 2

    def from_script(where, **settings):
        return asking.Asked("scripted", lambda request: replies.pop(0))

    monkeypatch.setattr(asking, "ask_from", from_script)
    return replies


def test_annotate_keeps_labels_and_says_what_was_not_judged(run, folder, scripted):
    result = run("dataset", "annotate", folder, "--judge", "m", "--json")
    assert result.exit_code == 1, result.output
    told = json.loads(result.stdout)
    assert told == {"source": "judge:scripted", "judged": 4, "not_judged": 2, "before": 0}
    assert "run the command again" in result.stderr
    scripted += [FAITHFUL] * 2
    again = run("dataset", "annotate", folder, "--judge", "m")
    assert again.exit_code == 0
    assert "2 claims judged by judge:scripted, 4 were before" in again.stdout
    labels = [said.factuality for said in ClaimSet(folder).judgements()]
    assert (labels.count("true"), labels.count("false")) == (4, 2)


def test_the_bundled_judge_writes_nothing(run, folder, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    for room in (loading, asking):
        monkeypatch.setattr(room, "language_model_from", lambda *w, **more: FakeLanguageModel())
    result = run("dataset", "annotate", folder, "--judge", "bundled", "--limit", 2)
    assert result.exit_code == 0, result.output
    assert "2 claims judged by judge:fake-language-model" in result.stdout
    assert all(s.version.startswith("choose.v1-") for s in ClaimSet(folder).judgements())
    words = ("--judge", "bundled", "--name", "written", "--labels-by", "reply")
    written = run("dataset", "annotate", folder, *words)
    assert written.exit_code == 1  # the fake model replies with nothing
    assert "6 claims were not judged" in written.stderr


def test_ctrl_c_keeps_what_was_judged_and_says_how_to_go_on(run, folder, monkeypatch):
    replies = [FAITHFUL, KeyboardInterrupt()]

    def ask(request):
        said = replies.pop(0)
        if isinstance(said, KeyboardInterrupt):
            raise said
        return said

    monkeypatch.setattr(asking, "ask_from", lambda where, **settings: asking.Asked("m", ask))
    result = run("dataset", "annotate", folder, "--judge", "m")
    assert result.exit_code == 130
    assert "run the same command again to go on" in result.stderr
    assert len(ClaimSet(folder).judgements()) == 1


def test_a_search_of_the_users_own_settles_what_the_passages_do_not(
    run, folder, tmp_path, monkeypatch
):
    (tmp_path / "my_search.py").write_text("def find(claim):\n    return [f'{claim} So it is.']\n")
    monkeypatch.chdir(tmp_path)
    found = '{"factuality": "true", "quote": "So it is"}'
    asked = []

    def ask(request):
        asked.append(request)
        return found if "a search found" in request else NEUTRAL

    monkeypatch.setattr(asking, "ask_from", lambda where, **settings: asking.Asked("m", ask))
    words = ("dataset", "annotate", folder, "--judge", "m")
    assert run(*words).exit_code == 0
    result = run(*words, "--search", "my_search:find")
    assert result.exit_code == 0, result.output
    assert "6 claims judged by judge:m, 0 were before" in result.stdout
    assert {s.factuality for s in ClaimSet(folder).judgements()} == {"true"}
    assert len(asked) == 18


def test_agree_shows_what_people_say_of_the_judge(run, folder):
    claims = ClaimSet(folder)
    for i, (judge, person) in enumerate(zip("ttffff", "tttffu", strict=True)):
        names = {"t": "true", "f": "false", "u": "unverifiable"}
        for source, vote in (("judge:m", judge), ("person:ada", person)):
            claims.add(ClaimJudgement(str(i), 0, source, factuality=names[vote]))
    result = run("dataset", "agree", folder, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    (found,) = [a for a in row["agreement"] if a["question"] == "factuality"]
    # 4 of 6 the same; by chance (3*2 + 2*4 + 1*0) / 36 = 14/36: (24 - 14) / (36 - 14) = 10/22.
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["kappa"] == pytest.approx(10 / 22)
    assert row["set"]["claims"] == 6
    assert {rate["label"] for rate in row["rates"]} >= {"true", "faithful"}

    # A claim that was chosen, not drawn, counts for agreement and not for rates.
    people = {rate["label"]: rate["n_people"] for rate in row["rates"]}
    assert people["true"] == 6
    claims.add(ClaimJudgement("0", 0, "person:ada", factuality="true", version=CHOSEN))
    row = json.loads(run("dataset", "agree", folder, "--json").stdout)
    assert {rate["label"]: rate["n_people"] for rate in row["rates"]}["true"] == 5
    assert [a["n"] for a in row["agreement"] if a["question"] == "factuality"] == [6]

    shown = run("dataset", "agree", folder)
    assert "kappa 0.45" in shown.stdout
    assert "corrected" in shown.stdout


def test_rates_are_of_the_models_own_answers(run, folder):
    claims = ClaimSet(folder)
    for i in range(6):
        claims.add(ClaimJudgement(str(i), 0, "judge:m", factuality="true" if i < 3 else "false"))
    for i in range(2):
        claims.add(ClaimJudgement(str(i), 0, "person:ada", factuality="true"))
    claims.add(ClaimJudgement("5", 0, "edit", factuality="false"))

    def of(*words):
        row = json.loads(run("dataset", "agree", folder, "--json", *words).stdout)
        return next(rate for rate in row["rates"] if rate["label"] == "true")

    # The judge calls 3 of 5 own claims true; the sixth was made.
    assert (of()["n_judge"], of()["judge"]) == (5, 0.6)
    assert (of("--against", "edit")["n_judge"], of("--against", "edit")["judge"]) == (6, 0.5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("agree", "SET"),
            "no claim is labelled by judge and by person; labelled by: nobody. "
            "franq dataset annotate adds a judge's labels, franq dataset review people's",
        ),
        (("agree", "SET", "--confidence", "2"), "between 0 and 1"),
        (("agree", "/nowhere"), "is not a claim set"),
        (("review", "SET", "--csv-in", "/no.csv", "--reviewer", "a"), "error: /no.csv: No such"),
        (
            ("review", "SET", "--csv-in", "a", "--csv-out", "/no/b", "--reviewer", "a"),
            "give one of",
        ),
        (("review", "SET", "--csv-out", "/no/b", "--reviewer", "a"), "whose votes --csv-in reads"),
        (("annotate", "SET", "--judge", "http://host/v1"), "Write http://host/v1#NAME"),
        (("annotate", "SET", "--judge", "nothing"), "no language model 'nothing'"),
        (("annotate", "SET", "--judge", "m", "--labels-by", "x"), "must be reply or probability"),
        (("annotate", "SET", "--judge", "bundled", "--search", "json:loads"), "writes replies"),
        (("annotate", "SET", "--judge", "m", "--search", "wiki"), "must be MODULE:FUNCTION"),
        (("annotate", "SET", "--judge", "m", "--search", "no_such:f"), "no_such:f: ModuleNotFound"),
        (("annotate", "SET", "--judge", "m", "--search", "json:nothing"), "AttributeError"),
        (("annotate", "SET", "--judge", "m", "--search", "json:__name__"), "is not a function"),
    ],
)
def test_wrong_use_says_what_to_do(run, folder, words, message):
    result = run("dataset", *(folder if word == "SET" else word for word in words))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_description_that_is_none_is_named(run, folder):
    (folder / "set.json").write_text('{"schema": "franq.cl')
    result = run("dataset", "agree", folder)
    assert result.exit_code == 2
    assert "set.json does not describe a claim set" in " ".join(result.stderr.split())


def test_a_set_without_answers_is_named(run, tmp_path):
    ClaimSet.create(tmp_path, {})
    result = run("dataset", "agree", tmp_path)
    assert result.exit_code == 2
    assert "holds no answer yet" in result.stderr


def test_a_table_goes_out_and_votes_come_in(run, folder, tmp_path):
    file = tmp_path / "votes.csv"
    assert "6 claims in" in run("dataset", "review", folder, "--csv-out", file).stdout
    lines = file.read_text("utf-8-sig").splitlines()
    file.write_text("\n".join([lines[0], lines[1][:-1] + "faithful,true", *lines[2:]]))
    assert run("dataset", "review", folder, "--csv-in", file).exit_code == 2
    result = run("dataset", "review", folder, "--csv-in", file, "--reviewer", "ada")
    assert result.exit_code == 0, result.output
    assert "1 votes of ada kept" in result.stdout
    (said,) = ClaimSet(folder).judgements()
    assert (said.source, said.faithfulness, said.factuality) == ("person:ada", "faithful", "true")
    again = run("dataset", "review", folder, "--csv-out", file)
    assert again.exit_code == 2
    assert "votes may stand in it" in again.stderr
    assert "faithful,true" in file.read_text()


def test_build_asks_about_documents_and_goes_on(run, tmp_path, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    model = FakeLanguageModel(answers=lambda prompt: "The bridge was opened in 1912.")
    monkeypatch.setattr(loading, "language_model_from", lambda *where, **settings: model)
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.md").write_text("# Arden\n\nThe Arden bridge was opened in 1912.\n")
    (documents / "b.txt").write_text("The Vell bridge was opened in 1931. Mira Holt designed it.")
    words = ("dataset", "build", "--documents", documents, "--out", tmp_path / "set", "--edits", 1)
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    assert row["answers"] == row["written"] > 4
    assert row["labels"]["edit false"] > 0
    again = json.loads(run(*words, "--json").stdout)
    assert (again["answers"], again["written"]) == (row["answers"], 0)
    other = run(*words, "-k", 1)
    assert other.exit_code == 2
    assert "other settings (k)" in other.stderr
    (tmp_path / "asked.txt").write_text("Who designed the Vell bridge?")
    for option, setting in (
        (("--retrieval", "dense"), "retrieval"),
        (("--questions", tmp_path / "asked.txt"), "questions"),
        (("--ask-model",), "ask_model"),
    ):
        other = run(*words, *option)
        assert other.exit_code == 2
        assert f"other settings ({setting})" in other.stderr
    assert len(ClaimSet(tmp_path / "set").answers()) == row["answers"]


def test_a_server_that_goes_away_while_it_answers_is_no_traceback(run, tmp_path, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.language_model.server.completions import Completions
    from franq_guard.testing import FakeLanguageModel

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        gone = Completions(url, "m", api_key=None, timeout=60, retries=0)
    answers = itertools.chain(["The bridge was opened in 1912."] * 8, iter(lambda: None, 0))

    def answer(prompt):
        return next(answers) or gone.complete(prompt, max_tokens=1)

    model = FakeLanguageModel(answers=answer)
    monkeypatch.setattr(loading, "language_model_from", lambda *where, **settings: model)
    (tmp_path / "docs").mkdir()
    text = " ".join(f"The bridge of town {n} was opened in {1900 + n}." for n in range(20))
    (tmp_path / "docs" / "a.txt").write_text(text)
    words = ("--documents", tmp_path / "docs", "--out", tmp_path / "set", "--edits", 0)
    result = run("dataset", "build", *words)
    assert result.exit_code == 1, result.output
    assert "error: no answer from http://127.0.0.1:" in result.stderr
    assert "what was done is kept; run the same command again to go on" in result.stderr
    assert len(ClaimSet(tmp_path / "set").answers()) == 8


def test_a_full_disk_is_said_with_the_way_to_go_on(folder):
    words = ("dataset", "annotate", folder, "--judge", "bundled", "--name", "n" * 100)
    code = (
        "import resource, sys; from franq_guard.cli.app import main; from franq_guard.testing "
        "import FakeLanguageModel; from franq_guard.language_model import loading; "
        "loading.language_model_from = lambda *where, **settings: FakeLanguageModel(); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)); main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True
    )
    assert ended.returncode == 1, ended.stderr
    assert "error: File too large" in ended.stderr
    assert "what was done is kept; run the same command again to go on" in ended.stderr
    assert 0 < len(ClaimSet(folder).judgements()) < 6


def test_build_says_what_its_answers_can_promise(run, tmp_path, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    model = FakeLanguageModel(answers=lambda prompt: "The bridge was opened in 1912.")
    monkeypatch.setattr(loading, "language_model_from", lambda *where, **settings: model)
    names = ("Arden", "Vell", "Tarn", "Holt", "Mira", "Corvo", "Denn", "Elst")
    text = "".join(f"The {name} bridge was opened in 19{i}2.\n\n" for i, name in enumerate(names))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.txt").write_text(text)
    words = ("dataset", "build", "--documents", tmp_path / "documents", "--edits", 0)
    mixed = " ".join(run(*words, "--out", tmp_path / "m").stderr.split())
    found = re.search(r"set a threshold \((\d+)\): at 90 % confidence at most (\d+) %", mixed)
    assert found is not None
    setting, share = map(int, found.groups())
    assert 3 <= setting <= 9
    # With none of n flagged the bound b solves (1 - b)^n = .1.
    assert share == round(100 * (1 - 0.1 ** (1 / setting)))
    assert "build a set with --show retrieved" in mixed
    alike = run(*words, "--out", tmp_path / "r", "--show", "retrieved").stderr
    assert "set a threshold" in alike
    assert "--show retrieved" not in alike


def test_build_asks_a_models_question_once_that_a_rule_makes_too(run, tmp_path, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    made = '{"question": "When was the Arden bridge opened?", "answer": "1912"}'
    model = FakeLanguageModel(answers=lambda prompt: made if "JSON" in prompt else "In 1912.")
    monkeypatch.setattr(loading, "language_model_from", lambda *where, **settings: model)
    (tmp_path / "a.md").write_text("The Arden bridge was opened in 1912.\n")
    words = ("--documents", tmp_path, "--out", tmp_path / "set", "--edits", 0, "--ask-model")
    result = run("dataset", "build", *words, "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    asked = [trace.question for trace in ClaimSet(tmp_path / "set").answers()]
    assert asked.count("When was the Arden bridge opened?") == 1
    assert row["written"] == row["answers"] == len(asked)


@pytest.mark.parametrize("form", ["long", "short"])
def test_build_asks_for_long_answers_only_in_the_long_form(run, tmp_path, monkeypatch, form):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    monkeypatch.setattr(loading, "language_model_from", lambda *where, **_: FakeLanguageModel())
    (tmp_path / "a.md").write_text("The Arden bridge was opened in 1912.\n")
    words = ("--documents", tmp_path, "--out", tmp_path / "set", "--edits", 0, "--form", form)
    assert run("dataset", "build", *words).exit_code == 0
    asked = [trace.question for trace in ClaimSet(tmp_path / "set").answers()]
    assert any("What is known about" in question for question in asked) is (form == "long")


def test_build_counts_the_models_edits_that_were_dropped(run, tmp_path, monkeypatch):
    from franq_guard.language_model import loading
    from franq_guard.testing import FakeLanguageModel

    model = FakeLanguageModel(answers=lambda prompt: "The bridge was opened in 1912.")
    monkeypatch.setattr(loading, "language_model_from", lambda *where, **settings: model)
    (tmp_path / "a.md").write_text("The Arden bridge was opened in 1912.\n")
    words = ("--documents", tmp_path, "--out", tmp_path / "set", "--edits", 1)
    result = run("dataset", "build", *words, "--edits-by", "model")
    assert result.exit_code == 0, result.output
    assert "1 edits of the model dropped: no JSON with one sentence" in result.stdout
    assert "labelled edit" not in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give --documents DIR"),
        (("--documents", "/nowhere"), "is not a folder"),
        (("--documents", "DOCS", "--form", "tall"), "--form must be long or short"),
        (("--documents", "DOCS", "--show", "all"), "--show must be mixed or retrieved"),
        (("--questions", "FILE"), "questions without passages"),
        (("--questions", "FILE", "--documents", "DOCS", "--ask-model"), "leave it or --questions"),
        (("--questions", "/nowhere.txt"), "error: /nowhere.txt: No such file or directory"),
        (("--documents", "DOCS", "--out", "FILE"), "a.txt is a file: name a folder"),
        (("--documents", "DOCS", "--language-model", "nothing"), "no language model 'nothing'"),
    ],
)
def test_a_build_that_cannot_work_says_why(run, tmp_path, words, message):
    (tmp_path / "a.txt").write_text("Where is Rome?")
    given = {"DOCS": tmp_path, "FILE": tmp_path / "a.txt"}
    named = [given.get(word, word) for word in words]
    result = run("dataset", "build", "--out", tmp_path / "set", *named)
    assert result.exit_code == 2
    assert "Errno" not in result.stderr
    assert message in " ".join(result.stderr.split())


def test_a_judge_that_cannot_be_reached_is_said_once(run, folder, monkeypatch):
    from franq_guard.language_model.asking import Asked

    def refuse(request):
        raise ConnectionError("http://localhost:9/v1 cannot be reached: refused")

    asked = Asked("m", refuse)
    monkeypatch.setattr("franq_guard.language_model.asking.ask_from", lambda *a, **k: asked)
    result = run("dataset", "annotate", folder, "--judge", "http://localhost:9/v1#m")
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert said.count("stopped: ConnectionError: http://localhost:9/v1 cannot be reached") == 1


@pytest.mark.parametrize("name", ["build", "annotate"])
def test_without_torch_a_local_model_says_what_to_install(folder, tmp_path, name):
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.txt").write_text("Rome is in Italy.")
    code = "import sys; sys.modules['torch'] = None; from franq_guard.cli import main; main()"
    words = {
        "build": ["--documents", documents, "--out", tmp_path / "other"],
        "annotate": [folder, "--judge", "bundled"],
    }[name]
    command = [sys.executable, "-c", code, "dataset", name, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: this command needs torch: pip install 'franq-guard[offline]'\n"
