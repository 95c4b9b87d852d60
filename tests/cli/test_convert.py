"""``franq convert-alignscore``."""

import subprocess
import sys
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


def test_without_torch_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['torch'] = None; from franq_guard.cli import main; main()"
    words = ["convert-alignscore", "x.ckpt", tmp_path]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: this command needs torch: pip install 'franq-guard[offline]'\n"
