"""``franq methods``."""

import json


def test_methods_lists_every_method(run):
    from franq_guard.uncertainty.methods import methods

    found = [json.loads(line) for line in run("methods", "--json").stdout.splitlines()]
    assert {row["name"] for row in found} >= {m.name for m in methods()}
    assert all(row["level"] and row["cost"] and row["source"] for row in found)


def test_a_terminal_of_80_columns_shows_for_which_answers_each_is(run):
    table = [line.split() for line in run("methods").stdout.splitlines()]
    assert all(len(line) <= 80 for line in run("methods").stdout.splitlines())
    of = {words[0]: words[1] for words in table if len(words) > 1}
    assert of["max-probability"] == "both"
    assert (of["semantic-entropy"], of["ccp-fact-preference"]) == ("short", "long")
