"""``franq methods``."""

import json


def test_methods_lists_every_method(run):
    from franq_guard.uncertainty.methods import methods

    found = [json.loads(line) for line in run("methods", "--json").stdout.splitlines()]
    assert {row["name"] for row in found} >= {m.name for m in methods()}
    assert all(row["level"] and row["cost"] and row["source"] for row in found)
    assert "semantic-entropy" in run("methods").stdout
