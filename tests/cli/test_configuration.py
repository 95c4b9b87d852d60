"""The settings file, the options beside it, and the guard they make."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from franq_guard import Calibrator, Guard
from franq_guard.calibration.curves import Logistic
from franq_guard.cli.configuration import Configuration, configured
from franq_guard.cli.options import guard_from
from franq_guard.label_rule import LabelRule
from franq_guard.policy import Policy
from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

REPOSITORY = Path(__file__).parents[2]
PAPER = REPOSITORY / "examples" / "paper.toml"


@pytest.fixture
def at_root(monkeypatch, smollm):
    """The repository's folder, to which the paths of examples/paper.toml are relative."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(
        "franq_guard.language_model.transformers.smollm2.load_bundled", lambda: smollm
    )


def test_the_papers_configuration_runs_from_one_file(command, at_root, tmp_path, row):
    file, out = tmp_path / "rows.jsonl", tmp_path / "checked.jsonl"
    file.write_text(json.dumps(row))
    for words, methods in (
        ([], "max-probability + parametric-knowledge"),
        (["--form", "short"], "semantic-entropy:lm-polygraph + eigenvalues-entail"),
    ):
        result = command("check", file, "--config", PAPER, "--out", out, *words)
        assert result.exit_code == 0, result.stderr
        assert "not read" not in result.stderr
        # Whoever takes it for the paper's model is told, once.
        told = " ".join(result.stderr.split())
        assert told.count(f"note of {PAPER}: its AlignScore has random weights") == 1
        found = json.loads(out.read_text())
        (verdict,) = found["verdicts"]
        assert verdict["p_true"] is not None
        p, faith, unfaith = (verdict[k] for k in ("p_faithful", "uq_faith", "uq_unfaith"))
        assert verdict["p_true"] == pytest.approx(p * faith + (1 - p) * unfaith)
        said = json.loads((tmp_path / "checked.jsonl.settings.json").read_text())
        assert said["fingerprint"]["faithfulness"].startswith("alignscore:")
        assert said["fingerprint"]["methods"] == methods
        assert said["fingerprint"]["calibrator"] == found["calibrator"]
        assert said["fingerprint"]["language_model"] != "none"
        named = said["settings"]
        assert f"{named['uq_faith']} + {named['uq_unfaith']}" == methods
        assert named["calibration"] == "none"
        # Only what the form reads: no samples for claims, no claims of a short answer.
        read = {"claims"} if not words else {"samples", "temperature"}
        assert {"claims", "samples", "temperature"} & set(named) == read
        assert "note" not in named
        assert "franq-guard" in said["versions"]
        out.unlink()


def test_config_prints_the_same_as_json(command, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('uq_faith = "sar"\nform = "short"\n[bench]\ntrain = 20\n')
    told = json.loads(command("config", "--config", file, "--json").stdout)
    written = command("config", "--config", file).stdout
    assert told["settings"]["nli"] is None
    named = {key: value for key, value in told["settings"].items() if value is not None}
    assert named == tomllib.loads(written)
    assert f"# franq-guard {told['versions']['franq-guard']}\n" in written


def test_config_prints_what_is_in_force_as_a_file(command, tmp_path):
    result = command("config", "--config", PAPER, "--form", "short", "--uq-faith", "sar")
    assert result.exit_code == 0
    assert "# franq-guard " in result.stdout
    file = tmp_path / "again.toml"
    file.write_text(result.stdout)
    wanted = Configuration.read(PAPER)
    assert Configuration.read(file).form == "short"
    assert Configuration.read(file).uq_faith == "sar"
    assert Configuration.read(file).faithfulness == wanted.faithfulness
    assert tomllib.loads(Configuration().toml()) == {
        "faithfulness": "small", "claims": "rules", "form": "long",
        "strict": False, "samples": 10, "temperature": 0.5, "min_per_class": 5,
        "grader": "alias", "rewrite": "rules",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1", "unknown setting 'colour'; known: faithfulness"),
        ("policy = 'block'", "grader, rewrite, note; and the tables [long], [short], [bench]"),
        ("form = 3", "form must be text, not 3"),
        ("claims = 'llm:'", "claims: write where the model is after llm:"),
        ("form = 'medium'", "form must be one of long, short, auto"),
        ("calibration = 'other'", "calibration must be one of none, global, condition, learned"),
        ("[short]\ncolour = 1", "unknown setting 'colour'"),
        ("short = 1", "short is a table: [short], and settings below it"),
        ("[bench]\ncolour = 1", "unknown setting 'colour' in [bench]; known: train, test,"),
        ("[bench]\nheld_out = 1", "held_out must be true or false, not 1"),
        ("grader = 'gpt'", "grader must be alias, llm or llm:WHERE"),
        ("claims = 'gpt'", "claims must be rules, llm or llm:WHERE"),
        ("strict = 1", "strict must be true or false, not 1"),
        ("min_per_class = 0.5", "min_per_class must be a whole number, not 0.5"),
        ("samples = 1", "samples must be 2 or more"),
        ("temperature = 0", "temperature must be a number above 0"),
        ("min_per_class = -1", "min_per_class must be 0 or more"),
        ("unread = 'claims'", "unknown setting 'unread'"),
        ("form = 'auto'\n[short]\nuq_faith = 'sar'", "leave out [short], or give --form long"),
        ("threshold_faithful = true", "threshold_faithful must be a number"),
        ("threshold_faithful = 1.0", "between 0 and 1"),
        ("form = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_named_with_the_reason(command, tmp_path, text, message):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    result = command("config", "--config", file)
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "wrong.toml" in told.replace(" ", "")
    assert message in told
    assert command("config", "--config", tmp_path / "none.toml").exit_code == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], '# uq_faith = "max-probability"  (default of franq calibrate; franq check: see'),
        ([], "# calibrator = (shipped: any writer + small faithfulness model, long form, methods"),
        (["--form", "short"], '# uq_unfaith = "eigenvalues-entail"  (default of franq calibrate'),
        (["--form", "short"], "any writer + small faithfulness model, short form, methods none;"),
        (["--form", "auto"], "# uq_faith =\n"),
        (["--uq-faith", "ccp"], '# uq_unfaith = "parametric-knowledge"  (default)'),
        (["--uq-faith", "ccp"], "none shipped for these methods: P(true) is uncalibrated"),
        (
            ["--uq-faith", "max-token-entropy", "--uq-unfaith", "max-token-entropy"],
            "# calibrator = (shipped: smollm2 + small faithfulness model, long form, methods max",
        ),
        (["--claims", "llm"], "none shipped for these models: the passages alone decide, and P"),
        (["--calibration", "none"], "# calibrator = (none: the formula without a calibrator)"),
        (["--calibration", "global"], "# calibrator = (franq check needs one)"),
    ],
)
def test_config_says_what_is_used_where_nothing_is_set(command, words, told):
    printed = command("config", *words).stdout
    assert told in printed
    unset = {"uq_faith", "uq_unfaith", "calibrator"} - {w[2:].replace("-", "_") for w in words}
    assert not unset & set(tomllib.loads(printed))  # comments


def test_config_names_the_calibrators_beside_a_models_weights(command, tmp_path):
    (tmp_path / "small.json").write_text("{}")
    told = command("config", "--faithfulness", tmp_path).stdout
    assert "none shipped for these models" in told
    replace(Calibrator.evidence(), name="of my own model").save(tmp_path / "any-writer-long.json")
    told = command("config", "--faithfulness", tmp_path).stdout
    assert "of the faithfulness model's folder, where one fits: of my own model" in told
    assert "none shipped" in command("config", "--faithfulness", tmp_path, "--form", "short").stdout


def test_config_says_where_a_calibrator_uses_no_methods(command, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(f"calibrator = '{tmp_path / 'mine.json'}'\n")
    assert '"max-probability"  (default)\n' in command("config", "--config", file).stdout
    Calibrator.evidence().save(tmp_path / "mine.json")
    assert "franq check reads none: the calibrator uses none" in (
        command("config", "--config", file).stdout
    )


def test_config_says_which_methods_come_with_a_calibrator(command, tmp_path):
    file, mine = tmp_path / "mine.toml", tmp_path / "mine.json"
    file.write_text(f"calibrator = '{mine}'\n")
    made = replace(Calibrator.uncalibrated(), fingerprint={"methods": "perplexity + ccp"})
    made.save(mine)
    printed = command("config", "--config", file).stdout
    for key, name in (("uq_faith", "perplexity"), ("uq_unfaith", "ccp")):
        assert (
            f'# {key} = "{name}"  (of the calibrator; franq calibrate: the paper\'s)\n' in printed
        )
    # one by name, and a calibrator of another form: the commands that use it refuse that
    assert '"ccp"  (of the c' in command("config", "--config", file, "--uq-faith", "pmi").stdout
    printed = command("config", "--config", file, "--form", "short").stdout
    assert '# uq_faith = "semantic-entropy"  (default)\n' in printed


def test_a_calibrator_file_that_is_not_there_is_named(command, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "Who?", "passages": ["Ada."], "answer": "Ada."}\n')
    result = command("check", rows, "--calibrator", tmp_path / "mine.json")
    assert result.exit_code == 2
    assert "mine.json: No such file" in " ".join(result.stderr.split())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])  # of Notepad, of PowerShell's >
def test_a_file_that_windows_wrote_is_read(command, tmp_path, encoding):
    file = tmp_path / "mine.toml"
    file.write_bytes('form = "short"\r\nsamples = 4\r\n'.encode(encoding))
    result = command("config", "--config", file)
    assert result.exit_code == 0, result.stderr
    assert 'form = "short"' in result.stdout
    assert "samples = 4" in result.stdout


def test_config_prints_the_table_of_the_benchmark(command, tmp_path):
    file, again = tmp_path / "mine.toml", tmp_path / "again.toml"
    file.write_text("seed = 1\n")
    assert command("config", "--config", file).exit_code == 2  # the table is missing
    file.write_text("form = 'short'\n[bench]\ntrain = 50\nheld_out = true\ntrain_share = 0.25\n")
    result = command("config", "--config", file)
    assert "\n\n[bench]\ntrain = 50\nheld_out = true\ntrain_share = 0.25\n" in result.stdout
    again.write_text(result.stdout)
    read = Configuration.read(again)
    assert read.bench == {"train": 50, "held_out": True, "train_share": 0.25}
    assert (read.form, read.ordinary) == ("short", False)
    assert Configuration(bench=read.bench).ordinary  # it is no part of a guard


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("uq_faith = 'semantik'", [], "no method 'semantik'"),
        ("uq_faith = 'sar'", [], "'sar' does not apply to long-form answers"),
        ("uq_faith = 'sar'", ["--form", "auto"], "leave out uq_faith, or give --form long"),
        ("calibration = 'none'", ["--form", "auto"], "leave out calibration"),
        ("form = 'auto'\ncalibrator = 'mine.json'", [], "leave out calibrator"),
        (PAPER.read_text(), ["--form", "auto"], "leave out [long], [short]"),
    ],
)
def test_config_refuses_what_check_refuses(command, rows, tmp_path, text, words, message):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    for name in (["config"], ["check", rows]):
        result = command(*name, "--config", file, *words)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


def test_a_calibrator_beside_form_auto_is_refused(command, rows):
    result = command("check", rows, "--form", "auto", "--calibrator", "mine.json")
    assert result.exit_code == 2
    assert "leave out calibrator, or give --form long" in " ".join(result.stderr.split())


def test_only_what_is_chosen_changes_the_guard(offline):
    usual = object()
    offline(usual)
    assert guard_from(chosen=Configuration()) is usual
    chosen = Configuration(form="short", uq_faith="sar", faithfulness="small", strict=True)
    guard = guard_from(chosen=chosen, language_model=FakeLanguageModel())
    assert (guard.form, guard.strict) == ("short", True)
    assert guard.components.uq_faith == "sar"


def test_calibration_says_which_calibrator_is_wanted():
    none = Configuration(calibration="none", threshold_faithful=0.7).options(None)["franq"]
    assert none.calibration == "none"
    assert none.labels.supported_from == 0.7
    with pytest.raises(ValueError, match="needs a calibrator: fit one"):
        Configuration(calibration="condition").options(None)
    with pytest.raises(
        ValueError, match="is 'none', the settings say 'global': give --calibration none, or"
    ):
        Configuration(calibration="global").options(Calibrator())
    curve = Logistic(0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    own = Calibrator(calibration="learned", faith=curve, unfaith=curve)
    assert Configuration(calibration="learned").options(own)["franq"] is own


def test_another_threshold_than_the_calibrators_voids_its_promise(tmp_path, capsys):
    file = tmp_path / "mine.json"
    promise = {"at_most_flagged": 0.2, "of": "true claims"}
    rule = LabelRule(supported_from=0.75)
    Calibrator(name="mine", labels=rule, promise=promise, form="long").save(file)

    def guard(**given):
        model = {"language_model": FakeLanguageModel()}
        return guard_from(chosen=Configuration(calibrator=str(file), **given), **model)

    for given in ({}, {"threshold_faithful": 0.75}):
        own = guard(**given)
        assert own.choice.franq.labels.supported_from == 0.75
        assert own.choice.franq.promise == promise
        assert "at most 20 %" in " ".join(capsys.readouterr().err.split())
    other = guard(threshold_faithful=0.5)  # it is given, though it is what others start from
    assert (other.choice.franq.labels.supported_from, other.choice.franq.promise) == (0.5, None)
    said = " ".join(capsys.readouterr().err.split())
    assert "fitted with --threshold-faithful 0.75; with 0.5 it promises nothing" in said
    assert "at most" not in said
    with pytest.raises(typer.Exit):
        guard(threshold_faithful=0.5, strict=True)
    told = "0.75, not 0.5: leave out the option --threshold-faithful, or fit it again"
    assert told in " ".join(capsys.readouterr().err.split())
    settings = tmp_path / "mine.toml"
    settings.write_text("threshold_faithful = 0.5\nstrict = true\n")
    fitted = Calibrator.load(file)
    with pytest.raises(ValueError, match=r"leave out threshold_faithful in .*mine\.toml, or fit"):
        configured(settings).options(fitted)
    with pytest.raises(ValueError, match="leave out the option --threshold-faithful, or fit"):
        configured(settings, threshold_faithful=0.6).options(fitted)


def test_a_threshold_that_changes_nothing_is_said(capsys):
    assert Configuration(threshold_faithful=0.7).options(None)["franq"] is None
    assert "no effect on the shipped calibrators" in capsys.readouterr().err


def test_claims_by_the_model_in_use_or_another_one(monkeypatch):
    from franq_guard.language_model.asking import Asked, asked

    assert Configuration().splitter(lambda: None) is None
    own = Configuration(claims="llm").splitter(lambda: asked(FakeLanguageModel()))
    assert "fake-language-model" in own.fingerprint
    places = []

    def other(where, api_key):
        places.append(where)
        return Asked("other", str)

    monkeypatch.setattr("franq_guard.language_model.asking.ask_from", other)
    named = Configuration(claims="llm:http://host/v1#gpt").splitter(lambda: None)
    assert places == ["http://host/v1#gpt"]
    assert ":other:" in named.fingerprint


def test_a_model_that_splits_nothing_is_said_once(monkeypatch, capsys):
    from franq_guard.language_model.asking import Asked

    def dead(prompt):
        raise OSError("no route")

    def ask_from(where, api_key):
        return Asked("gpt", dead)

    monkeypatch.setattr("franq_guard.language_model.asking.ask_from", ask_from)
    splitter = Configuration(claims="llm:http://host/v1#gpt").splitter(lambda: None)
    assert [claim.text for claim in splitter.split("Rome is old. Ann left.")] == [
        "Rome is old.", "Ann left.",
    ]  # fmt: skip
    splitter.split("Bob left.")
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("gave no usable reply (error: no route): the rules split in its place") == 1
    assert (splitter.sentences, splitter.by_rules) == (3, 3)


def test_who_split_is_in_the_settings(command, monkeypatch, tmp_path, row):
    from franq_guard.cli.told_splitter import ToldSplitter

    def offline(policy, franq, **others):
        splitter = ToldSplitter(lambda prompt: "no idea", name="gpt")
        return Guard(faithfulness=FakeFaithfulness(), claims=splitter, policy=policy)

    monkeypatch.setattr(Guard, "offline", offline)
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_text(json.dumps(row))
    result = command("check", file, "--out", out)
    assert result.exit_code == 0, result.output
    assert "(broken_json): the rules split in its place" in " ".join(result.stderr.split())
    said = json.loads((tmp_path / "out.jsonl.settings.json").read_text())["settings"]
    assert said["split_by_rules"] == "1 of 1 sentences"
    assert command("check", file, "--out", out, "--resume").exit_code == 0


def test_a_calibrator_of_another_pair_warns_or_is_an_error_and_says_what_to_do(caplog):
    def guard(strict):
        model = FakeFaithfulness()
        mine = Calibrator.evidence()
        other = {**mine.fingerprint, "faithfulness": "another"}
        from dataclasses import replace

        fitted = replace(mine, fingerprint=other, name="mine")
        return Guard(faithfulness=model, franq=fitted, policy=Policy(), strict=strict)

    assert guard(False).calibrator.name == "mine"
    assert "franq calibrate" in caplog.text
    with pytest.raises(
        ValueError, match=r"calibrator mine: faithfulness: fitted for 'another'.*`franq"
    ):
        _ = guard(True).calibrator


def test_what_another_command_reads_of_the_file_is_neither_warned_of_nor_recorded(
    run, rows, tmp_path
):
    file, out = tmp_path / "mine.toml", tmp_path / "out.jsonl"
    file.write_text("grader = 'llm'\nrewrite = 'llm'\nmin_per_class = 0\n[bench]\ntrain = 3\n")
    result = run("check", rows, "--config", file, "--out", out)
    assert "not read" not in result.stderr
    recorded = json.loads((tmp_path / "out.jsonl.settings.json").read_text())["settings"]
    assert not {"grader", "rewrite", "min_per_class", "bench", "unread"} & set(recorded)
    assert {"faithfulness", "claims", "form", "calibration", "calibrator", "strict"} <= set(
        recorded
    )


def test_calibrate_fits_by_the_file_and_says_all_that_was_in_force(run, tmp_path):
    file, out = tmp_path / "mine.toml", tmp_path / "mine.json"
    file.write_text(
        "calibration = 'global'\nmin_per_class = 0\ncalibrator = 'x.json'\ngrader = 'llm'\n"
    )
    answers = tmp_path / "rows.jsonl"
    answers.write_text("\n".join(_labelled(24)))
    beside = tmp_path / "mine.json.settings.json"

    def fitted(*words):
        result = run("calibrate", answers, "--out", out, *words)
        assert result.exit_code == 0, result.stderr
        return result, json.loads(beside.read_text())["settings"]

    result, said = fitted("--config", file, "--map", "question=question")
    assert "not read by this command: calibrator of" in " ".join(result.stderr.split())
    assert Calibrator.load(out).calibration == "global"
    assert (said["calibration"], said["min_per_class"]) == ("global", 0)
    assert (said["data"], said["weight"], said["map"]) == (str(answers), {}, ["question=question"])
    assert (said["confidence"], said["at_most_flagged"], said["promise"]) == (0.9, None, "true")
    assert said["slopes_from"] is None
    assert not {"strict", "calibrator", "grader", "rewrite"} & set(said)
    words = ("--calibration", "condition", "--min-per-class", "3")
    assert fitted("--config", file, *words)[1]["calibration"] == "condition"
    assert Calibrator.load(out).figures["min_per_class"] == 3
    assert fitted()[1]["calibration"] == "condition"
    assert run("calibrate", answers, "--out", out, "--strict").exit_code == 2


@pytest.mark.parametrize("form", ["long", "short"])
def test_calibrate_fits_for_the_form_and_models_chosen(command, monkeypatch, tmp_path, form):
    """What README says of a short-form guard and of another faithfulness model."""
    monkeypatch.setattr(
        "franq_guard.faithfulness.loading.faithfulness_from", lambda *_, **__: FakeFaithfulness()
    )
    monkeypatch.setattr(
        "franq_guard.language_model.transformers.smollm2.load_bundled", lambda: FakeLanguageModel()
    )
    file, out = tmp_path / "rows.jsonl", tmp_path / "mine.json"
    file.write_text("\n".join(_labelled(24)))
    words = ["--faithfulness", "alignscore-base", "--form", form, "--threshold-faithful", "0.6"]
    method = "discrete-semantic-entropy" if form == "short" else "perplexity"
    result = command("calibrate", file, "--out", out, *words, "--uq-faith", method)
    assert result.exit_code == 0, result.stderr
    fitted = Calibrator.load(out)
    assert fitted.form == form
    assert fitted.log_space is (form == "long")
    assert fitted.fingerprint["faithfulness"] == FakeFaithfulness().fingerprint
    # The rows bring samples of their own, which the options do not describe.
    assert fitted.fingerprint.get("samples") == (None if form == "long" else "any")
    assert "only 12 claims of the rarer label" in " ".join(result.stderr.split())
    assert (tmp_path / "mine.json.settings.json").is_file()
    for named in (method, None):  # without a name the methods are the calibrator's
        chosen = Configuration(
            faithfulness="alignscore-base", form=form, uq_faith=named, strict=True
        )
        guard = guard_from(calibrator=fitted, chosen=chosen)
        assert guard.calibrator.name == "mine"  # strict: it fits this set-up
        assert guard.components.uq_faith == method
    held = command("calibrate", file, "--check", out, *words)  # brings its methods here, too
    assert held.exit_code == 0, held.stderr
    assert command("calibrate", file, "--out", out, "--form", "auto").exit_code == 2


def _labelled(count):
    for i in range(count):
        answer = f"Town {i} is in Italy." if i % 2 else f"Town {i} is on the moon."
        row = {"id": str(i), "question": "Where?", "passages": [f"Town {i} is in Italy."]}
        samples = [{"text": f"Town {i + k} is in Italy."} for k in range(3)]
        yield json.dumps(row | {"answer": answer, "is_true": i % 2 == 1, "samples": samples})


def test_a_table_holds_for_its_form_alone(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("claims = 'rules'\nuq_faith = 'sar'\n[short]\nuq_faith = 'perplexity'\n")
    assert Configuration.read(file).uq_faith == "sar"  # the form is long where nothing says it
    read = Configuration.read(file, form="short")
    assert (read.form, read.uq_faith, read.claims) == ("short", "perplexity", "rules")
    file.write_text("form = 'short'\n[short]\nuq_faith = 'perplexity'\n")
    assert Configuration.read(file).uq_faith == "perplexity"
    assert Configuration.read(file, form="long").uq_faith is None


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ('form = "x"', r"form must stand above the tables, not in \[short\]"),
        ('calibration = "x"', "calibration"),
    ],
)
def test_a_table_of_the_other_form_is_looked_at_too(tmp_path, table, told):
    file = tmp_path / "franq.toml"
    file.write_text(f"[short]\n{table}\n")
    with pytest.raises(ValueError, match=told):
        Configuration.read(file, form="long")
