"""Reads and writes the weight file: int8 layers with one scale per output channel.

Its checksum is verified before it is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from franq_guard.basics.files import sha256
from franq_guard.faithfulness.small.blend import Blend
from franq_guard.faithfulness.small.encoder import Encoder, load_embeddings
from franq_guard.faithfulness.small.minilm import WeightsError, load_minilm

FORMAT: Final = "franq.small-faithfulness/2"
FOLDER: Final = Path(__file__).parent / "weights"
FILE: Final = "small.safetensors"
MANIFEST: Final = "small.json"


def save(folder: Path, tensors: dict[str, Tensor], blend: Blend) -> str:
    """Write weight file and manifest into `folder`; returns the SHA-256.

    Args:
        folder: created if missing.
        tensors: trained tensors of `Encoder` by name, without the embeddings.
        blend: stored in the file's metadata.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.startswith("layers.") and tensor.dim() == 2:
            stored[f"{name}.int8"], stored[f"{name}.scale"] = quantise(tensor)
        else:
            stored[name] = tensor.to(
                torch.float16 if tensor.dim() == 2 else torch.float32
            ).contiguous()
    return _write(folder, stored, blend)


def with_blend(folder: Path, out: Path, blend: Blend) -> str:
    """Write the weights of `folder` with another blend into `out`; returns the SHA-256.

    Raises:
        WeightsError: a file of `folder` is missing or damaged.
    """
    path, _ = check(folder)
    out.mkdir(parents=True, exist_ok=True)
    # Copy the tensors: they are views of the file, which is overwritten if `out` is `folder`.
    stored = {name: tensor.clone() for name, tensor in load_file(path).items()}
    return _write(out, stored, blend)


def _write(folder: Path, stored: dict[str, Tensor], blend: Blend) -> str:
    path = folder / FILE
    # A single entry, because the library does not keep the order of several and the digest would
    # change from run to run.
    save_file(stored, path, metadata={FORMAT: blend.to_json()})
    path.chmod(0o644)
    digest = sha256(path)
    manifest = {"format": FORMAT, "file": FILE, "sha256": digest, "bytes": path.stat().st_size}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return digest


def quantise(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return `weight` (out, in) as int8 and scale (out, 1); each row's maximum becomes 127."""
    scale = weight.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
    return torch.round(weight / scale).to(torch.int8), scale.to(torch.float32)


def check(folder: Path) -> tuple[Path, str]:
    """Return the weight file and its SHA-256 after checking it against the manifest.

    Raises:
        WeightsError: a file is missing or damaged.
    """
    path = folder / FILE
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        digest = sha256(path)
    except (OSError, ValueError) as error:
        raise WeightsError(
            f"The small faithfulness model's {error.__class__.__name__} at {folder.name}/: "
            f"the weights are not readable. {_advice(folder)}"
        ) from error
    if digest != manifest.get("sha256"):
        raise WeightsError(f"{FILE} is damaged (SHA-256 differs). {_advice(folder)}")
    return path, digest


def load(folder: Path) -> tuple[Encoder, Blend, str]:
    """Return the network in float32, its blend and the SHA-256 of the weight file.

    Raises:
        WeightsError: a file is missing, damaged or of another version.
    """
    path, digest = check(folder)
    network, blend = _read(path)
    return network, Blend.from_json(blend), digest


def load_network(folder: Path) -> Encoder:
    """Return the network in float32, even if its blend was fitted for another version of the code.

    Raises:
        WeightsError: a file is missing, damaged or of another version.
    """
    return _read(check(folder)[0])[0]


def blend_weights(folder: Path) -> dict[str, float]:
    """Return the weights of the stored blend by the names of their inputs, of whatever version.

    Raises:
        WeightsError: a file is missing, damaged or of another version.
    """
    blend = json.loads(_read(check(folder)[0])[1])
    return dict(zip(blend["inputs"], blend["weights"], strict=True))


def _read(path: Path) -> tuple[Encoder, str]:
    with safe_open(path, framework="pt") as stored:
        metadata = stored.metadata() or {}
        if FORMAT not in metadata:
            raise WeightsError(
                f"{FILE} has format {[*metadata]}, expected {FORMAT!r}. {_advice(path.parent)}"
            )
        tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    with torch.device("meta"):
        network = Encoder().float()  # whatever the application's default is
    network = network.to_empty(device="cpu")
    state = {
        n.removesuffix(".int8"): _full(n, t, tensors)
        for n, t in tensors.items()
        if not n.endswith(".scale")
    }
    missing, unknown = network.load_state_dict(state, strict=False)
    if unknown or set(missing) != {"word.weight", "position.weight"}:
        raise WeightsError(
            f"{FILE} does not fit this version of franq-guard. {_advice(path.parent)}"
        )
    load_embeddings(network, load_minilm()[0])
    return network.eval(), metadata[FORMAT]


def _advice(folder: Path) -> str:
    if folder == FOLDER:
        return "Put it right with: pip install --force-reinstall --no-deps franq-guard"
    return f"Copy {FILE} and {MANIFEST} there again as training wrote them, or train the model anew"


def _full(name: str, tensor: Tensor, tensors: dict[str, Tensor]) -> Tensor:
    if name.endswith(".int8"):
        return tensor.to(torch.float32) * tensors[f"{name.removesuffix('.int8')}.scale"]
    return tensor.to(torch.float32)
