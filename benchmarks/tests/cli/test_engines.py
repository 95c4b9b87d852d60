import pytest
import typer
from typer.testing import CliRunner

from franq_bench.cli.bench import bench
from franq_bench.cli.engines import By, Engine, checked


@pytest.mark.parametrize(
    ("given", "whole", "expected"),
    [
        ((Engine.local, None, None), True, By(Engine.local, None, None)),
        ((Engine.local, None, 1), False, By(Engine.local, None, None)),  # this process alone
        ((Engine.local, None, 3), True, By(Engine.local, None, 3)),
        ((Engine.ray, None, 1), True, By(Engine.ray, None, 1)),  # one actor
        ((Engine.ray, "auto", None), True, By(Engine.ray, "auto", None)),
    ],
)
def test_an_engine_and_its_settings(given, whole, expected):
    assert checked(*given, whole=whole) == expected


def test_help_shows_what_to_install():
    done = CliRunner().invoke(bench, ["short", "--help"])
    assert "pip install 'franq-bench[ray]'" in " ".join(done.stdout.split())
    for name in ("short", "long-form", "claims-factuality"):
        told = CliRunner().invoke(bench, [name, "--help"]).stdout
        assert "--uq-faith" in told
        assert "calibrator" not in told  # a benchmark has none


@pytest.mark.parametrize(
    ("given", "whole", "said"),
    [
        ((Engine.local, "auto", None), True, "give --engine ray, too"),
        ((Engine.ray, None, None), False, "--engine ray or --shard"),
        ((Engine.local, None, 2), False, "--workers (processes here) or --shard"),
    ],
)
def test_options_that_do_not_go_together(given, whole, said, capfd):
    with pytest.raises(typer.Exit):
        checked(*given, whole=whole)
    assert said in " ".join(capfd.readouterr().err.split())
