"""Checkpoints, converted directories and the model hub."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import huggingface_hub
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors.torch import load_file

from franq_guard.faithfulness import AlignScore
from franq_guard.faithfulness.alignscore import hub as alignscore_hub
from franq_guard.faithfulness.alignscore.checkpoint import read_weights
from franq_guard.faithfulness.alignscore.convert import convert_checkpoint, main
from franq_guard.faithfulness.alignscore.files import CheckpointError
from franq_guard.faithfulness.alignscore.hub import (
    BACKBONES,
    PUBLISHED,
    HubUnreachableError,
    Published,
    checkpoint_file,
)
from franq_guard.faithfulness.loading import faithfulness_from

FIXTURE = Path(__file__).parents[1] / "fixtures/alignscore"
CHECKPOINT = FIXTURE / "tiny-align.ckpt"
BACKBONE = FIXTURE / "tiny-roberta"
PAIR = (["Chen Wei funded a mine. It closed."], ["A mine closed."])


@pytest.fixture
def content():
    return torch.load(CHECKPOINT, weights_only=True)


def saved(tmp_path, content):
    path = tmp_path / "changed.ckpt"
    torch.save(content, path)
    return path


def test_only_what_is_needed_is_read():
    weights = read_weights(CHECKPOINT)
    assert set(weights.tensors) == set(weights.config.shapes())
    assert not any("mlm_head" in name or "position_ids" in name for name in weights.tensors)


def test_conversion_is_bit_equal(tmp_path, content):
    target = convert_checkpoint(CHECKPOINT, tmp_path / "small")
    tensors = load_file(target / "model.safetensors")
    for name, tensor in tensors.items():
        assert torch.equal(tensor, content["state_dict"][name])
    assert (target / "model.safetensors").stat().st_size < CHECKPOINT.stat().st_size / 3
    original, converted = AlignScore.from_checkpoint(CHECKPOINT), AlignScore.from_checkpoint(target)
    assert converted.fingerprint == original.fingerprint
    assert converted.score(*PAIR) == original.score(*PAIR)
    again = AlignScore.from_checkpoint(target / "model.safetensors", backbone=BACKBONE)
    assert again.score(*PAIR) == original.score(*PAIR)


def test_conversion_from_the_command_line(tmp_path, capsys):
    main([str(CHECKPOINT), str(tmp_path / "small"), "--backbone", str(BACKBONE)])
    assert "model.safetensors" in capsys.readouterr().out
    main([str(CHECKPOINT), str(tmp_path / "small")])  # replaces what is there
    assert sorted(path.name for path in (tmp_path / "small").iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_unknown_keys_are_ignored(tmp_path, content):
    content["state_dict"]["something.else"] = torch.zeros(3)
    path = saved(tmp_path, content)
    assert read_weights(path, backbone=BACKBONE).digest() == read_weights(CHECKPOINT).digest()


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no AlignScore weights"):
        read_weights(tmp_path / "none.ckpt")
    with pytest.raises(FileNotFoundError, match="convert-alignscore"):
        read_weights(tmp_path)


def test_a_folder_of_no_model_is_not_taken_for_an_alignscore(tmp_path):
    with pytest.raises(ValueError, match=r"no faithfulness model .*small\.safetensors"):
        faithfulness_from(str(tmp_path))


@pytest.mark.parametrize("keep", [0, 100, 300_000])
def test_damaged_checkpoint(tmp_path, keep):
    path = tmp_path / "cut.ckpt"
    path.write_bytes(CHECKPOINT.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match="damaged"):
        read_weights(path, backbone=BACKBONE)


def test_objects_are_refused(tmp_path, content):
    content["callbacks"] = {"evil": Path("x")}
    with pytest.raises(CheckpointError, match="refused because loading them could run code"):
        read_weights(saved(tmp_path, content), backbone=BACKBONE)


@pytest.mark.parametrize("content", [[1], {"weights": {}}, {"state_dict": 3}])
def test_not_a_lightning_checkpoint(tmp_path, content):
    with pytest.raises(CheckpointError, match="no state_dict"):
        read_weights(saved(tmp_path, content), backbone=BACKBONE)


def test_needed_tensors_are_insisted_on(tmp_path, content):
    state = content["state_dict"]
    bias = state.pop("tri_layer.bias")
    with pytest.raises(CheckpointError, match=r"lacks 1 of \d+ tensors.*tri_layer\.bias"):
        read_weights(saved(tmp_path, content), backbone=BACKBONE)
    state["tri_layer.bias"] = torch.zeros(4)
    with pytest.raises(CheckpointError, match=r"tri_layer\.bias has shape \(4,\)"):
        read_weights(saved(tmp_path, content), backbone=BACKBONE)
    state["tri_layer.bias"] = bias * float("nan")
    with pytest.raises(CheckpointError, match="not finite"):
        read_weights(saved(tmp_path, content), backbone=BACKBONE)


def test_damaged_safetensors(tmp_path):
    target = convert_checkpoint(CHECKPOINT, tmp_path / "small")
    file = target / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="damaged"):
        read_weights(target)


def test_backbone_must_fit(tmp_path):
    shutil.copytree(BACKBONE, tmp_path / "b", copy_function=shutil.copyfile)
    config = json.loads((BACKBONE / "config.json").read_text())

    def refused(match, **changes):
        changed = {key: value for key, value in (config | changes).items() if value is not None}
        (tmp_path / "b/config.json").write_text(json.dumps(changed))
        with pytest.raises(CheckpointError, match=match):
            read_weights(CHECKPOINT, backbone=tmp_path / "b")

    refused("'bert'", model_type="bert")
    refused("'relu'", hidden_act="relu")
    refused("lacks layer_norm_eps", layer_norm_eps=None)
    refused("only 500", vocab_size=500)
    refused("larger backbone", num_hidden_layers=3)
    (tmp_path / "b/tokenizer.json").write_text("{}")
    refused("cannot be read")
    (tmp_path / "b/tokenizer.json").unlink()
    refused("has no tokenizer.json")


def test_backbone_by_unknown_name(tmp_path, content):
    content["hyper_parameters"]["model"] = "somebody/elses-model"
    with pytest.raises(CheckpointError, match="roberta-base, roberta-large"):
        read_weights(saved(tmp_path, content))


def test_pretrained_is_pinned_and_checked(monkeypatch):
    asked = []

    def download(repository, file, *, revision):
        asked.append((repository, file, revision))
        return str(BACKBONE / file) if repository in dict(BACKBONES.values()) else str(CHECKPOINT)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    with pytest.raises(CheckpointError, match="published is 6aedb637"):
        AlignScore.from_pretrained("base")
    digest = sha256(CHECKPOINT.read_bytes()).hexdigest()
    tiny = Published("AlignScore-base.ckpt", digest, "roberta-base")
    monkeypatch.setitem(alignscore_hub.PUBLISHED, "base", tiny)
    model = AlignScore.from_pretrained("base", mode="bin_sp")
    assert model.fingerprint == AlignScore.from_checkpoint(CHECKPOINT, mode="bin_sp").fingerprint
    assert {repository for repository, _, _ in asked} == {
        "yzha/AlignScore",
        "FacebookAI/roberta-base",
    }
    assert all(len(revision) == 40 for _, _, revision in asked)


def test_published_files_are_pinned():
    for published in PUBLISHED.values():
        assert len(published.sha256) == 64
        assert published.backbone in BACKBONES


def test_unreachable_hub_says_what_to_do(monkeypatch):
    def fail(*_, **__):
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
    with pytest.raises(HubUnreachableError, match=r"hf download .*from_checkpoint\(path, backbone"):
        AlignScore.from_pretrained("large")


def test_sizes_and_revisions():
    with pytest.raises(ValueError, match="base and large"):
        checkpoint_file("huge")
    with pytest.raises(ValueError, match="no full commit hash"):
        checkpoint_file("base", revision="main")
