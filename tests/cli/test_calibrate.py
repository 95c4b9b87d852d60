"""``franq calibrate``: what it fits, writes, refuses."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest


def labelled(count):
    for i in range(count):
        true = i % 2 == 0
        answer = f"Town {i} is in Italy." if true else f"Town {i} is on the moon."
        claims = [{"text": answer, "spans": [[0, len(answer)]], "is_true": true}]
        row = {"id": str(i), "question": "Where?", "passages": [f"Town {i} is in Italy."]}
        yield json.dumps(row | {"answer": answer, "claims": claims})


def test_calibrate_fits_stores_and_reports(run, tmp_path):
    from franq_guard import Calibrator

    file, out, plot = tmp_path / "rows.jsonl", tmp_path / "mine.json", tmp_path / "plot.svg"
    file.write_text("\n".join([*labelled(140), "{broken"]))
    result = run("calibrate", file, "--out", out, "--plot", plot, "--at-most-flagged", 0.2)
    assert result.exit_code == 1, result.output
    assert "line 141" in result.stderr
    assert "1 row(s) could not be read and were left out" in result.stderr
    assert "auroc" in result.stdout
    said = " ".join(result.stdout.split())
    assert "at most 20 % of the true claims are flagged, at 90 % confidence" in said
    assert plot.read_text().startswith("<svg")
    fitted = Calibrator.load(out)
    assert fitted.fingerprint["language_model"] == "fake-language-model"
    assert fitted.fingerprint["n_train"] + fitted.promise["n"] + fitted.promise["others"] == 140
    # the fakes tell the two kinds apart without error
    assert fitted.figures["auroc"] == 1.0
    assert fitted.promise["data"] == "rows.jsonl"
    assert f"threshold {fitted.labels.threshold:.3f}" in said


CLASSIFIERS = ["fit", "fitting", "holding", "classifier", "mixture", "true_or_false"]


@pytest.fixture
def without_scikit_learn(monkeypatch):
    for name in CLASSIFIERS:
        monkeypatch.delitem(sys.modules, f"franq_guard.calibration.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.isotonic", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)


@pytest.mark.parametrize("wish", ["--out", "--check"])
def test_calibrate_without_scikit_learn_says_what_to_install(
    run, without_scikit_learn, tmp_path, wish
):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(20)))
    result = run("calibrate", file, wish, tmp_path / "mine.json")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: this command needs scikit-learn: pip install 'franq-guard[fit]'\n"
    )


def test_a_calibrators_promise_is_told_without_scikit_learn(tmp_path):
    """``franq check --calibrator`` does so; only fitting needs scikit-learn."""
    code = (
        "import sys; sys.modules['sklearn'] = None; "
        "from franq_guard.calibration.defaults import shipped; "
        "from franq_guard.report.figures import promise_line; "
        "print(promise_line(shipped()[0].promise))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "at most 10 % of the claims that the passages state are flagged" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--calibration", "bogus"], "calibration must be one of none, global, condition, learned"),
        (["--at-most-flagged", "20"], "--at-most-flagged must lie between 0 and 1, not 20"),
        (["--confidence", "1"], "--confidence must lie between 0 and 1, not 1"),
        (["--promise", "all"], "--promise must be true or stated, not 'all'"),
        (["--promise", "stated"], "need --at-most-flagged: give that, too"),
        (["--confidence", "0.8"], "need --at-most-flagged: give that, too"),
        (["--slopes-from", "x.jsonl"], "--slopes-from needs --calibration learned"),
        (["--weight", "judge"], "--weight must be SOURCE=NUMBER, such as judge=0.5, not 'judge'"),
        (["--weight", "nobody=1"], "a source is gold, edit, judge, person"),
        (["--weight", "judge=-1"], "a weight 0 or more"),
        (["--weight", "judge=0.5"], "--labels and --weight are for claim sets"),
        (["--labels", "judge"], "--labels and --weight are for claim sets"),
        (["--plot", "absent/plot.svg"], "no folder absent"),
        (["--out", "absent/mine.json"], "no folder absent"),
        (["--out", "."], "it is a folder"),
        (["--out", "rows.jsonl"], "rows.jsonl is read by this command"),
        (["--report", "mine.json"], "mine.json is named for two outputs"),
    ],
)
def test_calibrate_finds_a_wrong_option_before_any_model_runs(
    command, monkeypatch, tmp_path, words, message
):
    from franq_guard import Guard

    def no_model(**settings):
        raise AssertionError("a guard was made")

    monkeypatch.setattr(Guard, "offline", no_model)
    monkeypatch.chdir(tmp_path)
    result = command("calibrate", "rows.jsonl", "--out", "mine.json", *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_that_may_not_be_written_to_is_said_before_hours_of_scoring(
    unscored, tmp_path, monkeypatch
):
    # As root, who may write anywhere, tests cannot make such a folder.
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path / "shared")
    (tmp_path / "shared").mkdir()
    (tmp_path / "rows.jsonl").write_text("\n".join(labelled(20)))
    out = tmp_path / "shared" / "mine.json"
    result = unscored("calibrate", tmp_path / "rows.jsonl", "--out", out)
    assert result.exit_code == 2
    assert "mine.json: permission denied" in result.stderr


def test_claims_that_could_not_be_measured_are_counted(run, offline, tmp_path):
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    class FailsOnOne(FakeFaithfulness):
        def score(self, contexts, claims):
            if any("Town 7 " in claim for claim in claims):
                raise RuntimeError("no server")
            return super().score(contexts, claims)

    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(140)))
    words = ("calibrate", file, "--out", tmp_path / "mine.json")
    offline(Guard(language_model=FakeLanguageModel(), faithfulness=FailsOnOne()))
    fitted = run(*words)
    assert "1 of 140 labelled claims could not be measured" in fitted.stderr
    assert re.search("^n +139$", fitted.stdout, re.M)
    offline(Guard(faithfulness=FakeFaithfulness()))  # no model, so no probabilities at all
    refused = run(*words)
    assert refused.exit_code == 1
    assert "140 of 140 labelled claims could not be measured" in refused.stderr


@pytest.mark.parametrize(("same_id", "warned"), [(False, True), (True, False)])
def test_several_answers_to_one_question_are_warned_of(run, tmp_path, same_id, warned):
    rows = [json.loads(row) for row in labelled(40)]
    again = [row | ({} if same_id else {"id": f"{row['id']}, again"}) for row in rows[:6]]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows + again)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json")
    assert result.exit_code == 0, result.output
    assert ("6 row(s) ask an earlier one's question" in result.stderr) is warned
    assert ("6 row(s) have the id of an earlier one" in result.stderr) is same_id


@pytest.mark.parametrize("writers", [("a",), ("a", None), ("a", "b")])
def test_a_mixture_of_writers_is_warned_of(run, tmp_path, writers):
    from franq_guard import Calibrator

    rows = [json.loads(row) for row in labelled(20)]
    for i, row in enumerate(rows):
        if (writer := writers[i % len(writers)]) is not None:
            row["writer"] = writer
    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(map(json.dumps, rows)))
    result = run("calibrate", file, "--out", out)
    assert result.exit_code == 0, result.output
    assert Calibrator.load(out).writer == ("a" if writers == ("a",) else None)
    assert ("the answers are of 2 models" in result.stderr) is (writers == ("a", "b"))


def test_calibrate_of_readable_rows_exits_0(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(60)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["auroc"] == 1.0
    assert json.loads(result.stdout)["promise"] is None


def test_calibrate_refuses_with_the_reason_when_there_are_too_few_labels(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(6)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json")
    assert result.exit_code == 1
    assert "3 true and 3 false claims" in " ".join(result.stderr.split())
    assert not (tmp_path / "mine.json").exists()


@pytest.fixture
def unscored(command, offline):
    """Runs the command on a guard that must score nothing."""

    class NoScores:
        @property
        def fingerprint(self):
            raise AssertionError("a model was asked")

    offline(NoScores())
    return command


@pytest.mark.parametrize(
    ("count", "words", "code", "message"),
    [
        (8, [], 1, "4 true and 4 false claims from 8 answers"),
        (130, ["--at-most-flagged", "0.01"], 1, "at least 230 are needed"),
        (0, [], 2, "no readable claim in"),
    ],
)
def test_too_few_labels_are_said_before_anything_is_scored(
    unscored, tmp_path, count, words, code, message
):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(count)))
    result = unscored("calibrate", file, "--out", tmp_path / "mine.json", *words)
    assert result.exit_code == code, result.output
    assert message in " ".join(result.stderr.split())


def test_labels_of_weight_0_are_not_counted_before_anything_is_scored(unscored, tmp_path):
    folder = a_set(tmp_path / "set", 60, voter="judge:m")
    words = ("--out", tmp_path / "mine.json", "--weight", "judge=0")
    result = unscored("calibrate", folder, *words)
    assert result.exit_code == 1, result.output
    assert "0 true and 0 false claims" in " ".join(result.stderr.split())


def test_a_weight_of_a_voice_by_which_no_label_counts_is_refused(unscored, tmp_path):
    folder, out = a_set(tmp_path / "set", 60, voter="judge:m"), tmp_path / "mine.json"
    for weight in ("judge:m=0.5", "judge:other=0.5"):
        result = unscored("calibrate", folder, "--out", out, "--weight", weight)
        assert result.exit_code == 2, result.output
        told = f"--weight {weight[:-4]}: no label is counted under this name, but under judge."
        assert told in " ".join(result.stderr.split())


def test_a_promise_that_cannot_be_kept_tells_how_many_answers_set_the_threshold(unscored, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(130)))
    words = ("--out", tmp_path / "mine.json", "--at-most-flagged", "0.01")
    result = unscored("calibrate", file, *words)
    assert "Half of the labelled answers" in " ".join(result.stderr.split())


def test_a_label_of_the_row_counts_for_its_answer(run, tmp_path):
    rows = [json.loads(line) for line in labelled(60)]
    for row in rows:
        (claim,) = row.pop("claims")
        row["is_true"] = claim["is_true"]
        row["user_input"] = row.pop("question")
    by_row, by_claim = tmp_path / "by_row.jsonl", tmp_path / "by_claim.jsonl"
    by_row.write_text("\n".join(map(json.dumps, rows)))
    by_claim.write_text("\n".join(labelled(60)))
    figures = []
    for file in (by_row, by_claim):
        result = run("calibrate", file, "--out", tmp_path / "mine.json", "--json")
        assert result.exit_code == 0, result.output
        figures.append(json.loads(result.stdout))
    assert figures[0] == figures[1]


def test_figures_to_doubt_are_said(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(labelled(60)))
    said = run("calibrate", file, "--out", tmp_path / "mine.json").stderr
    assert "warning: AUROC 1.0: true and false claims are told apart without an error" in said
    assert "warning: fitted on 60 claims only" in said


def test_an_auroc_below_chance_is_warned_of():
    from franq_guard.report.calibration_words import warnings_of

    figures = {"n": 500, "share_true": 0.5, "auroc_se": 0.05}
    (said,) = warnings_of(figures | {"auroc": 0.2})
    assert "AUROC 0.20: below chance" in said
    assert not list(warnings_of(figures | {"auroc": 0.45}))


def shifted(count, *, by):
    """Rows of which the first ``by`` have a claim of something else."""
    for i, line in enumerate(labelled(count)):
        row = json.loads(line)
        row["claims"][0].pop("spans")
        if i < by:
            row["claims"][0]["text"] = "A museum opened in 1915."
        yield json.dumps(row)


@pytest.mark.parametrize("wish", ["--out", "--check"])
def test_claims_that_are_not_in_their_answers_are_refused_or_counted(run, tmp_path, wish):
    file, mine = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(labelled(60)))
    assert run("calibrate", file, "--out", mine).exit_code == 0
    for wrong, code in ((0, 0), (3, 0), (50, 2)):
        file.write_text("\n".join(shifted(60, by=wrong)))
        result = run("calibrate", file, wish, mine)
        assert result.exit_code == code, result.output
        told = f"{wrong} of 60 labelled claims of {file} are not found in their answer"
        assert (told in " ".join(result.stderr.split())) == bool(wrong)
    assert "such as 'A museum opened in 1915.' of 0" in result.stderr


@pytest.mark.parametrize("wish", ["--out", "--check"])
@pytest.mark.parametrize("labels", ["persn,gold", "foo", "", "person:bob"])
def test_labels_of_a_source_that_there_is_not_are_refused(run, tmp_path, labels, wish):
    folder, out = a_set(tmp_path / "set", 60), tmp_path / "mine.json"
    assert run("calibrate", folder, "--out", out, "--labels", "person:ada,gold").exit_code == 0
    result = run("calibrate", folder, wish, out, "--labels", labels)
    assert result.exit_code == 2
    told = "but by person:ada" if ":" in labels else "a source is gold, edit, judge, person"
    assert told in " ".join(result.stderr.split())
    if ":" not in labels:
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(labelled(60)))
        assert run("calibrate", file, wish, out, "--labels", labels).exit_code == 2


def test_labels_from_documents_alone_are_warned_of():
    from franq_guard.report.calibration_words import warnings_of

    figures = {"auroc": 0.9, "n": 500, "share_true": 0.5, "sources": {"edit": {}}}
    (said,) = warnings_of(figures)
    assert "Vote on 30 of them" in said
    assert "an ECE of .36; .33 with condition" in said
    assert not list(warnings_of(figures | {"sources": {"edit": {}, "person": {}}}))


def test_public_data_set_slopes_and_nothing_else(run, tmp_path):
    from franq_guard import Calibrator

    folder, out = a_set(tmp_path / "set", 40), tmp_path / "mine.json"
    public = [json.loads(line) for line in labelled(60)]
    for row in public[1::2]:
        row["claims"][0]["is_true"] = True  # nearly all is true there
    (tmp_path / "public.jsonl").write_text("\n".join(map(json.dumps, public)))
    words = ("--calibration", "learned", "--slopes-from", tmp_path / "public.jsonl")
    result = run("calibrate", folder, "--out", out, *words)
    assert result.exit_code == 0, result.output
    fitted = Calibrator.load(out)
    assert (fitted.figures["n"], fitted.fingerprint["n_train"]) == (40, 100)
    assert fitted.figures["share_true"] == 0.5
    assert fitted.figures["sources"]["public"]["share_true"] == 1.0


def test_too_few_labels_beside_public_data_are_refused_before_anything_is_scored(
    run, tmp_path, monkeypatch
):
    from franq_guard.testing import FakeFaithfulness

    def refuse(*args):
        raise AssertionError("scored")

    monkeypatch.setattr(FakeFaithfulness, "score", refuse)
    folder, public = a_set(tmp_path / "set", 12), tmp_path / "public.jsonl"
    public.write_text("\n".join([*labelled(60), "{broken"]))
    words = ("--calibration", "learned", "--slopes-from", public)
    result = run("calibrate", folder, "--out", tmp_path / "mine.json", *words)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert "no calibrator: 12 labels of real answers: the level of P(true) needs 30" in " ".join(
        result.stderr.split()
    )
    assert result.stderr.count("line 61") == 1


def test_figures_as_they_ought_to_be_have_no_warning():
    from franq_guard.report.calibration_words import warnings_of

    assert list(warnings_of({"auroc": 0.93, "n": 200, "share_true": 0.5})) == []


def a_set(folder, count, *, voter="person:ada", **settings):
    """A claim set of one-claim answers, labelled by one voice."""
    from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
    from franq_guard.rows import trace_from_dict

    made = ClaimSet.create(folder, settings)
    for line in labelled(count):
        row = json.loads(line)
        made.add_answer(trace_from_dict(row))
        vote = "true" if row["claims"][0]["is_true"] else "false"
        made.add(ClaimJudgement(row["id"], 0, voter, factuality=vote))
    return folder


@pytest.mark.parametrize(("built", "form"), [("long", "short"), ("short", "long")])
def test_a_claim_set_is_not_calibrated_on_in_another_form(command, tmp_path, built, form):
    folder = a_set(tmp_path / "set", 40, form=built)
    result = command("calibrate", folder, "--out", tmp_path / "mine.json", "--form", form)
    assert result.exit_code == 2, result.output
    assert f"was built with --form {built}" in result.stderr


def test_a_claim_set_is_calibrated_on_with_a_promise_from_people(run, tmp_path):
    from franq_guard import Calibrator

    folder, out = a_set(tmp_path / "set", 140, form="long"), tmp_path / "mine.json"
    result = run("calibrate", folder, "--out", out, "--at-most-flagged", 0.2)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stderr.split())
    assert "140 labels that a promise may rest on" in said
    assert (
        "answers with a true claim set the threshold, a claim of each: at most 0.2 can be" in said
    )
    assert said.index("set the threshold") < said.index("written to")
    fitted = Calibrator.load(out)
    assert fitted.promise["data"] == "set"
    assert fitted.fingerprint["n_train"] + fitted.promise["n"] + fitted.promise["others"] == 140


def test_a_calibrator_can_be_written_to_a_pipe(run, tmp_path):
    from franq_guard import Calibrator

    file, pipe = tmp_path / "rows.jsonl", tmp_path / "pipe"
    file.write_text("\n".join(labelled(20)))
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        assert run("calibrate", file, "--out", pipe).exit_code == 0
        assert Calibrator.from_json(read.result()).fingerprint["n_train"] == 20
    assert {one.name for one in tmp_path.iterdir()} == {"rows.jsonl", "pipe"}


@pytest.mark.parametrize(
    ("option", "name", "message"),
    [
        ("--out", "set.json", "is read by this command: name another file"),
        ("--out", "signals.jsonl", "is read by this command: name another file"),
        ("--plot", "answers.jsonl", "is read by this command: name another file"),
        ("--report", "labels.jsonl", "is read by this command: name another file"),
        ("--out", "notes.json", "is there already and is no calibrator: name another file"),
    ],
)
def test_calibrate_overwrites_nothing_but_calibrators(unscored, tmp_path, option, name, message):
    folder = a_set(tmp_path / "set", 60)
    (folder / "notes.json").write_text("mine")
    before = {file: file.read_text() for file in folder.iterdir()}
    words = ["--out", tmp_path / "mine.json", option, folder / name]
    result = unscored("calibrate", folder, *words)
    assert result.exit_code == 2, result.output
    assert f"{name} {message}" in " ".join(result.stderr.split())
    assert {file: file.read_text() for file in folder.iterdir()} == before


def test_a_calibrator_or_an_empty_file_is_replaced(run, tmp_path):
    from franq_guard import Calibrator

    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(labelled(20)))
    out.touch()
    for count in (20, 24):
        file.write_text("\n".join(labelled(count)))
        assert run("calibrate", file, "--out", out).exit_code == 0
        assert Calibrator.load(out).fingerprint["n_train"] == count


def test_a_set_is_scored_once_whatever_is_asked_of_it_afterwards(run, offline, tmp_path):
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    folder, out = a_set(tmp_path / "set", 40), tmp_path / "mine.json"
    assert run("calibrate", folder, "--out", out).exit_code == 0
    first = json.loads(out.read_text())["figures"]

    def no_model():
        raise AssertionError("a model was asked")

    model = FakeLanguageModel(fail=no_model)
    offline(Guard(language_model=model, faithfulness=FakeFaithfulness(fail=no_model)))
    assert run("calibrate", folder, "--out", out).exit_code == 0
    assert json.loads(out.read_text())["figures"] == first
    assert run("calibrate", folder, "--check", out).exit_code == 0


def test_edits_alone_promise_nothing_and_fit_only_where_asked(run, tmp_path):
    folder, out = a_set(tmp_path / "set", 140, voter="edit"), tmp_path / "mine.json"
    refused = run("calibrate", folder, "--out", out)
    assert refused.exit_code == 2
    assert "nothing to fit on" in refused.stderr
    asked = ("calibrate", folder, "--out", out, "--labels", "person,edit")
    assert run(*asked, "--at-most-flagged", 0.2).exit_code == 1  # no label to promise with
    assert run(*asked).exit_code == 0


def test_fields_of_rows_are_not_mapped_in_a_claim_set(unscored, tmp_path):
    folder, out = a_set(tmp_path / "set", 20), tmp_path / "mine.json"
    result = unscored("calibrate", folder, "--out", out, "--map", "question=asked")
    assert result.exit_code == 2
    assert "--map is for rows" in result.stderr


def test_a_calibrator_that_is_piped_in_is_checked(run, tmp_path):
    """A pipe can be read once, as that of ``--check <(zcat mine.json.gz)``."""
    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(labelled(60)))
    assert run("calibrate", file, "--out", out).exit_code == 0
    read, write = os.pipe()
    with os.fdopen(write, "w") as pipe:
        pipe.write(out.read_text())
    result = run("calibrate", file, "--check", f"/dev/fd/{read}")
    os.close(read)
    assert result.exit_code == 0, result.output


def test_a_calibrator_is_checked_on_new_labels(run, tmp_path):
    folder, out = a_set(tmp_path / "set", 140), tmp_path / "mine.json"
    assert run("calibrate", folder, "--out", out, "--at-most-flagged", 0.2).exit_code == 0
    holds = run("calibrate", folder, "--check", out)
    assert holds.exit_code == 0, holds.output
    assert "not contradicted" in holds.stdout
    assert "claims      140, one of each answer\n" in holds.stdout
    assert "of 70 true claims, one of each answer with any: at most" in holds.stdout
    assert "It is drawn twice" in holds.stdout

    from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet

    turned = ClaimSet(folder)  # everybody changes their mind
    for trace, label in [(t, t.labels[0]) for t in turned.labelled()]:
        vote = "false" if label.is_true else "true"
        turned.add(ClaimJudgement(trace.id, 0, "person:ada", factuality=vote))
    broken = run("calibrate", folder, "--check", out, "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["fit_again"] is True


def test_a_calibrator_is_not_checked_on_other_signals(run, offline, tmp_path):
    from dataclasses import replace

    from franq_guard import Calibrator, Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    folder, out = a_set(tmp_path / "set", 60), tmp_path / "mine.json"
    assert run("calibrate", folder, "--out", out).exit_code == 0
    fitted = Calibrator.load(out)
    short = tmp_path / "short.json"
    replace(fitted, form="short").save(short)
    for words, message in (
        ([short], "form: fitted for 'short', used with 'long'. Give the options that it was fitted "
         "with (--form)"),
        ([out, "--threshold-faithful", "0.9"], "fitted for 0.5, used with 0.9"),
    ):  # fmt: skip
        result = run("calibrate", folder, "--check", *words)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())
        assert result.stdout == ""
    drawn = tmp_path / "drawn.json"
    sampled = {**fitted.fingerprint, "samples": "20 at temperature 1.0"}
    replace(fitted, fingerprint=sampled, form="short").save(drawn)
    both = {"language_model": FakeLanguageModel(), "faithfulness": FakeFaithfulness()}
    offline(Guard(**both, form="short"))
    result = run("calibrate", folder, "--check", drawn)
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "samples: fitted for '20 at temperature 1.0', used with '10 at temperature 0.5'" in told
    assert "--samples and --temperature)" in told
    offline(Guard(faithfulness=FakeFaithfulness()))  # no model reads
    result = run("calibrate", folder, "--check", out)
    assert result.exit_code == 2
    assert "used with 'none'. Give the options that it was fitted with (--language-model)" in (
        " ".join(result.stderr.split())
    )


def test_a_check_writes_nothing_and_counts_unreadable_rows(run, tmp_path):
    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(labelled(140)))
    assert run("calibrate", file, "--out", out).exit_code == 0
    assert run("calibrate", file, "--check", out).exit_code == 0
    files = [(option, tmp_path / "x") for option in ("--out", "--plot", "--report")]
    others = [("--at-most-flagged", 0.1), ("--weight", "judge=0"), ("--slopes-from", file)]
    others += [("--confidence", 0.8), ("--promise", "stated")]
    for option, value in files + others:
        result = run("calibrate", file, "--check", out, option, value)
        assert result.exit_code == 2
        assert "leave out --out, --plot, --report, --weight," in result.stderr
    result = run("calibrate", file, "--check", out, "--labels", "judge")
    assert result.exit_code == 2
    assert "--labels and --weight are for claim sets" in result.stderr
    file.write_text("\n".join([*labelled(140), "{broken"]))
    result = run("calibrate", file, "--check", out)
    assert result.exit_code == 1
    assert "no test failed" in result.stdout
    assert "1 row(s) could not be read and were left out" in result.stderr


def test_models_that_cannot_be_loaded_are_said_before_any_claim(run, offline, tmp_path):
    from franq_guard import Guard

    def broken():
        raise OSError("no such weights")

    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(labelled(60)))
    assert run("calibrate", file, "--out", out).exit_code == 0
    offline(Guard(faithfulness=broken))
    for words in ("--out", tmp_path / "new.json"), ("--check", out):
        result = run("calibrate", file, *words)
        assert result.exit_code == 2
        assert "the models cannot be loaded: OSError: no such weights" in result.stderr


def test_rows_of_one_id_are_one_answer_and_that_is_said(run, tmp_path):
    file = tmp_path / "rows.jsonl"
    rows = [json.loads(line) | {"id": "my-data"} for line in labelled(20)]
    file.write_text("\n".join(map(json.dumps, rows)))
    result = run("calibrate", file, "--out", tmp_path / "mine.json")
    assert result.exit_code == 1
    assert "19 row(s) have the id of an earlier one" in result.stderr
    assert "from 1 answers" in result.stderr


def test_to_fit_or_to_check_is_said(run, tmp_path):
    result = run("calibrate", a_set(tmp_path / "set", 2))
    assert result.exit_code == 2
    assert "give --out FILE to write a calibrator, or --check MINE.json" in result.stderr
    result = run("calibrate", tmp_path / "set", "--check", tmp_path / "nowhere.json")
    assert result.exit_code == 2
    assert "cannot read" in result.stderr


def test_the_report_is_one_page_with_the_worst_mistakes(run, tmp_path):
    file, page = tmp_path / "rows.jsonl", tmp_path / "report.html"
    wrong = [json.loads(line) | {"id": f"w{i}"} for i, line in enumerate(labelled(4))]
    for row in wrong:
        row["question"] = "Where, again?"
        row["claims"][0]["is_true"] ^= True
        row["claims"][0]["text"] += "<script>"
    file.write_text("\n".join([*labelled(140), *map(json.dumps, wrong)]))
    result = run("calibrate", file, "--out", tmp_path / "mine.json", "--report", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "<script>" not in text
    worst = text[text.index("Worst mistakes</h2>") :]
    # The four claims with a wrong label come first.
    assert set(re.findall(r"Town (\d+)", worst)[:4]) == {"0", "1", "2", "3"}
    assert "432 more labelled answers would halve it" in text
    # Its title says what was fitted on what and when, and its first paragraph what was found.
    assert re.search(
        r"<h1>Calibrator mine, for \S+, fitted on rows.jsonl, \d{4}-\d\d-\d\d</h1>", text
    )
    claims = json.loads((tmp_path / "mine.json").read_text())["figures"]["n"]
    (first,) = re.findall(r"In short</h2><p>([^<]*)</p>", text)
    assert first.startswith(f"{claims} labelled claims of 144 answers, ")
    assert "PRR: how much is gained" in text
    # A warning that the command prints is a banner of the page.
    warned = [line[9:] for line in result.stderr.splitlines() if line.startswith("warning: ")]
    banners = re.findall(r'class="banner"[^>]*><b>Mind:</b> ([^<]*)</p>', text)
    assert [unescape(banner) for banner in banners] == warned != []
    assert "evidence" in text.lower() or "any writer" in text.lower()


def test_the_report_weighs_the_labels_as_the_fit_did(run, tmp_path):
    """So the first row of its comparison has the figures of the calibrator."""
    from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet

    out, page = tmp_path / "mine.json", tmp_path / "r.html"
    folder = a_set(tmp_path / "set", 60, voter="judge:m")
    for i in range(0, 60, 3):  # a person says the opposite of some
        vote = "false" if i % 2 == 0 else "true"
        ClaimSet(folder).add(ClaimJudgement(str(i), 0, "person:ada", factuality=vote))
    words = ("--out", out, "--weight", "person=0.01", "--report", page)
    result = run("calibrate", folder, *words)
    assert result.exit_code == 0, result.output
    figures = json.loads(out.read_text())["figures"]
    (row,) = re.findall(r"on answers it did not see</td>(.*?)</tr>", page.read_text())
    shown = [float(cell) for cell in re.findall(r">(\.\d\d)<", row)]
    assert shown[:2] == [round(figures["auroc"], 2), round(figures["ece"], 2)]


def test_learned_curves_are_written_compared_and_used_by_a_guard(run, tmp_path):
    from dataclasses import replace

    from franq_guard import Calibrator, Guard
    from franq_guard.datasets.claim_set import ClaimJudgement, ClaimSet
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    folder, out = a_set(tmp_path / "set", 60, voter="judge:m"), tmp_path / "mine.json"
    for i in range(20):
        vote = "true" if i % 2 == 0 else "false"
        ClaimSet(folder).add(ClaimJudgement(str(i), 0, "person:ada", factuality=vote))
    words = ("--out", out, "--calibration", "learned", "--weight", "judge=0.5")
    result = run("calibrate", folder, *words, "--report", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line]
    ways = [line[0] for line in lines if line[0] in ("none", "global", "condition", "learned")]
    assert ways == ["none", "global", "condition", "learned"]
    assert ["judge", "1.000"] in [line[:2] for line in lines]
    assert "The other calibrations" in (tmp_path / "r.html").read_text()
    fitted = Calibrator.load(out)
    assert fitted.calibration == "learned"
    assert fitted.figures["sources"]["judge"]["weight"] == 0.5
    said = json.loads((tmp_path / "mine.json.settings.json").read_text())["settings"]
    assert (said["labels"], said["weight"]) == ("person,gold,judge", {"judge": 0.5})
    assert fitted.figures["sources"]["person"]["n"] == 20

    def verdict_of(calibrator, **settings):
        parts = {"language_model": FakeLanguageModel(), "faithfulness": FakeFaithfulness()}
        guard = Guard(**parts, franq=calibrator, **settings)
        return guard.check("Where is Rome?", ["Rome is in Italy."], "Rome is in Italy.").verdicts[0]

    verdict = verdict_of(fitted, strict=True)
    values = (verdict.p_faithful, verdict.raw["uq_faith"], verdict.raw["uq_unfaith"])
    assert verdict.p_true == fitted.apply(*([value] for value in values))[0][0]
    # A calibrator of another model is refused where the guard is strict.
    other = replace(fitted, fingerprint={**fitted.fingerprint, "language_model": "another"})
    refused = verdict_of(other, strict=True)
    assert (refused.label, refused.p_true) == ("unverified", None)
