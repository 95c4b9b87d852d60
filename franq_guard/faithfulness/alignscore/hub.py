"""Downloads AlignScore's published files, pinned to revisions and checksums.

The commit of ``yzha/AlignScore`` and the SHA-256 of its two checkpoints are those that several
independent public repositories record; we could not compute them from the files ourselves. A file
with another checksum is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from franq_guard.basics.files import sha256
from franq_guard.faithfulness.alignscore.files import (
    CONFIG_FILE,
    TOKENIZER_FILE,
    CheckpointError,
)

REPOSITORY: Final = "yzha/AlignScore"
REVISION: Final = "8509e78d25bb914939fc585c626500c9b2944249"


@dataclass(frozen=True, slots=True)
class Published:
    """One published checkpoint; `sha256` is the checksum of the file at `REVISION`."""

    file: str
    sha256: str
    backbone: str


PUBLISHED: Final = {
    "base": Published(
        "AlignScore-base.ckpt",
        "6aedb637f0596ab29baef91e94466a57f032e02feea654978518919fe0981607",
        "roberta-base",
    ),
    "large": Published(
        "AlignScore-large.ckpt",
        "ff4336312b377edcbcdad5694a2d09d73dc4225422c0422d810aa7e78485e32d",
        "roberta-large",
    ),
}
BACKBONES: Final = {
    "roberta-base": ("FacebookAI/roberta-base", "e2da8e2f811d1448a5b465c236feacd80ffbac7b"),
    "roberta-large": ("FacebookAI/roberta-large", "722cf37b1afa9454edce342e7895e588b6ff1d59"),
}


class HubUnreachableError(ConnectionError):
    """A file is not in the local cache and cannot be downloaded; the message says what to do."""


def checkpoint_file(size: str, *, revision: str | None = None) -> Path:
    """The published checkpoint ``"base"`` or ``"large"``, downloaded (with progress) if necessary.

    Args:
        size: which one.
        revision: a full commit hash; default `REVISION`, whose files are checked by SHA-256.

    Raises:
        ValueError: unknown size, or `revision` is not a commit hash.
        HubUnreachableError: the hub cannot be reached and the file is not in its cache.
        CheckpointError: the checksum differs from that of the published file.
    """
    if size not in PUBLISHED:
        raise ValueError(
            f"AlignScore is published as {' and '.join(PUBLISHED)}, not {size!r}; a checkpoint of "
            "your own is read by AlignScore.from_checkpoint(path)"
        )
    if revision is not None and not _is_commit(revision):
        raise ValueError(
            f"revision {revision!r} is no full commit hash (40 hex digits): branches and tags move"
        )
    published = PUBLISHED[size]
    path = _download(REPOSITORY, published.file, revision or REVISION)
    if revision in (None, REVISION):
        found = sha256(path)
        if found != published.sha256:
            raise CheckpointError(
                f"{path} has SHA-256 {found}, published is {published.sha256}: delete it and "
                "download it again"
            )
    return path


def backbone_directory(name: str) -> Path:
    """A directory with config and tokenizer of ``"roberta-base"`` or ``"roberta-large"``.

    Raises:
        CheckpointError: any other name; only these two are pinned.
        HubUnreachableError: the hub cannot be reached and the files are not in its cache.
    """
    if name not in BACKBONES:
        raise CheckpointError(
            f"{name!r} is neither a directory nor a known backbone; give backbone= one of "
            f"{', '.join(BACKBONES)} or a directory with {CONFIG_FILE} and {TOKENIZER_FILE}"
        )
    repository, revision = BACKBONES[name]
    files = [_download(repository, file, revision) for file in (CONFIG_FILE, TOKENIZER_FILE)]
    return files[0].parent


def _download(repository: str, file: str, revision: str) -> Path:
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ImportError(
            "the model hub needs huggingface_hub: pip install 'franq-guard[alignscore]'"
        ) from error
    try:
        return Path(hf_hub_download(repository, file, revision=revision))
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError) as error:
        raise HubUnreachableError(
            f"cannot get {file} of {repository} at {revision} from the model hub ({error}). "
            f"On a machine with access run `hf download {repository} {file} --revision {revision}`,"
            " bring the file here, and use AlignScore.from_checkpoint(path, backbone=directory), "
            f"where the directory holds {CONFIG_FILE} and {TOKENIZER_FILE} of the RoBERTa"
        ) from error


def _is_commit(revision: str) -> bool:
    return len(revision) == 40 and all(c in "0123456789abcdef" for c in revision)
