"""``franq convert-alignscore``."""

from pathlib import Path

import pytest


def test_convert_alignscore_writes_what_the_guard_can_load(run, tmp_path):
    pytest.importorskip("torch")
    from franq_guard.faithfulness import AlignScore

    fixture = Path(__file__).parents[1] / "fixtures" / "alignscore"
    words = [fixture / "tiny-align.ckpt", tmp_path / "out", "--backbone", fixture / "tiny-roberta"]
    result = run("convert-alignscore", *words)
    assert result.exit_code == 0, result.output
    assert (
        0
        <= AlignScore.from_checkpoint(tmp_path / "out").score(["Rome is big."], ["It is."])[0]
        <= 1
    )
    result = run("convert-alignscore", tmp_path / "none.ckpt", tmp_path / "out2")
    assert result.exit_code == 2
    assert "none.ckpt" in result.stderr
