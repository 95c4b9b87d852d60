"""Which language model a word names."""

import pytest


def test_each_kind_by_its_word(monkeypatch, tmp_path):
    from franq_guard.language_model import LlamaCppModel, TransformersModel, loading
    from franq_guard.language_model.server import model as server_model
    from franq_guard.language_model.transformers import smollm2

    monkeypatch.setattr(smollm2, "load_bundled", lambda notify, dtype: f"bundled {dtype}")
    monkeypatch.setattr(LlamaCppModel, "from_gguf", lambda path: ("gguf", path))
    monkeypatch.setattr(TransformersModel, "from_pretrained", lambda path, dtype: (path, dtype))
    monkeypatch.setattr(
        server_model, "ServerModel", lambda url, name, api_key: (url, name, api_key)
    )
    assert loading.language_model_from("bundled") == "bundled float32"
    assert loading.language_model_from("bundled", dtype="bfloat16") == "bundled bfloat16"
    assert loading.language_model_from("a/b.gguf") == ("gguf", "a/b.gguf")
    assert loading.language_model_from(str(tmp_path)) == (str(tmp_path), "auto")
    with pytest.raises(ValueError, match="leave out --dtype"):
        loading.language_model_from("a/b.gguf", dtype="float32")
    assert loading.language_model_from("https://x/v1#a/b", api_key="k") == (
        "https://x/v1",
        "a/b",
        "k",
    )
    assert loading.language_model_from("http://x/v1") == ("http://x/v1", None, None)
