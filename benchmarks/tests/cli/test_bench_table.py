"""The table [bench] of a settings file: defaults for the options of the benchmark's commands."""

import inspect
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from franq_bench.cli import long, short
from franq_bench.cli.bench import bench
from franq_guard.cli.configuration import BENCH, Configuration

COMMANDS = (short.short, long.claims_factuality, long.long_form)
NO_SETTINGS = {"data", "out", "cache", "as_json", "known", "runtime", "shard", "workers", "engine",
               "address", "config"}  # fmt: skip
"""What a run reads and writes, how the work is done, and what is measured besides."""


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs a command with this table up to its plan; returns the result and what was planned."""
    file, data = tmp_path / "mine.toml", tmp_path / "data.jsonl"
    data.write_text("")

    def command(name, table, *words):
        file.write_text(table)
        planned = []

        def stopped(*arguments, **_):
            planned.extend(arguments)
            raise ValueError("planned")

        monkeypatch.setattr(short, "_results", stopped)
        monkeypatch.setattr(long, "_run", stopped)
        monkeypatch.setattr("franq_bench.data.labelled_answers.read_labelled", lambda *_, **__: [])
        monkeypatch.setattr(long, "_models", lambda _, dtype: SimpleNamespace(language_model=dtype))
        given = (name, "--data", data, "--out", tmp_path / "out", "--config", file, *words)
        return CliRunner().invoke(bench, [str(word) for word in given]), planned

    return command


def test_the_table_holds_the_options_that_say_what_is_run():
    offered = {name for command in COMMANDS for name in inspect.signature(command).parameters}
    set_up = set(inspect.signature(Configuration).parameters)
    assert offered - set_up - NO_SETTINGS == set(BENCH)
    assert not set_up & set(BENCH)


def test_a_short_run_is_one_file(run, tmp_path):
    pool = tmp_path / "pool.jsonl"
    pool.write_text("")
    table = f"""[bench]
        train = 7
        test = 8
        passages = 2
        retrieval = "shuffled"
        pool = "{pool}"
        max_new_tokens = 9
        seed = 3
        dtype = "bfloat16"
    """
    result, (made, *_) = run("short", table)
    assert "planned" in result.stderr
    assert "not read" not in result.stderr
    plan = made.plan
    assert (plan.train, plan.test, plan.passages, plan.retrieval) == (7, 8, 2, "shuffled")
    assert (plan.pool, plan.seed, plan.settings.seed) == (pool, 3, 3)
    assert plan.settings.max_new_tokens == 9
    assert made.names[1] == "bfloat16"
    _, (made, *_) = run("short", table, "--train", 5, "--retrieval", "original", "--seed", 0)
    assert (made.plan.train, made.plan.retrieval, made.plan.seed) == (5, "original", 0)
    assert made.plan.test == 8


def test_a_run_on_given_claims_is_one_file(run):
    table = """[bench]
        limit = 6
        held_out = true
        train_share = 0.25
        passages = 1
        dtype = "float32"
    """
    _, (plan, _, models, *_) = run("claims-factuality", table)
    assert (plan.limit, plan.train_share, models.language_model) == (6, 0.25, "float32")
    assert (plan.more["held_out"], plan.more["passages"]) == (True, 1)
    _, (plan, *_) = run("claims-factuality", table, "--no-held-out", "--limit", 2)
    assert (plan.limit, plan.more["held_out"], plan.train_share) == (2, False, 0.25)


def test_the_sizes_of_own_answers_are_in_the_file(run, monkeypatch):
    asked = {}

    def own_answers(*_, **sizes):
        asked.update(sizes)
        raise ValueError("asked")

    monkeypatch.setattr("franq_bench.long.own.own_answers", own_answers)
    table = """[bench]
        dtype = "float32"
        prompts = 11
        questions = 2
        supported = 1
        passages = 4
        seed = 5
    """
    result, _ = run("long-form", table, "--questions", 3)
    assert "error: asked" in result.stderr
    names = ("prompts", "per_prompt", "with_passages", "k", "seed")
    assert [asked[name] for name in names] == [11, 3, 1, 4, 5]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            "[bench]\ncolour = 1",
            "unknown setting 'colour' in [bench]; known: train, test, passages",
        ),
        ("[bench]\ntrain = 'many'", "train must be a whole number, not 'many'"),
        ("[bench]\ntrain = -1", "Invalid value for '--train'"),
        ("[bench]\nretrieval = 'lost'", "Invalid value for '--retrieval'"),
        ("bench = 3", "bench is a table: [bench], and settings below it"),
        ("train = 3", "unknown setting 'train'; known: faithfulness"),
    ],
)
def test_a_wrong_table_is_named_with_the_reason(run, table, told):
    result, planned = run("short", table)
    assert (result.exit_code, planned) == (2, [])
    assert told in " ".join(result.stderr.replace("│", " ").split())


def test_what_a_command_does_not_read_of_the_table_is_said(run):
    table = "min_per_class = 0\n[bench]\nprompts = 3\ntrain = 4\nlimit = 5\n"
    result, (made, *_) = run("short", table)
    said = " ".join(result.stderr.split())
    assert "not read by this command: min_per_class, bench.prompts, bench.limit of" in said
    assert made.plan.train == 4
    assert "bench" not in made.plan.more["configuration"]


def test_who_rewrites_is_read_where_passages_are_falsified(run):
    told = "not read by this run: rewrite (give --retrieval corrupted)"
    result, (made, *_) = run("short", "rewrite = 'llm'\n")
    assert told in " ".join(result.stderr.split())
    assert made.chosen.rewrite == "rules"
    assert "rewrite" not in made.plan.more["configuration"]
    result, (made, *_) = run("short", "rewrite = 'llm'\n", "--retrieval", "corrupted")
    assert "not read" not in result.stderr
    assert made.plan.more["configuration"]["rewrite"] == "llm"
    assert "not read" not in run("short", "")[0].stderr
