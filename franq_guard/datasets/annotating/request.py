"""The prompts for the judge, in our own wording; a digest of the wording is their version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from franq_guard.basics.text import filled
from franq_guard.records import Passage


def judging_request(question: str, passages: Sequence[Passage], claim: str) -> str:
    """The prompt that asks for the faithfulness and the factuality of a claim."""
    return _about_claim("judge.v1", question, passages, claim)


def choosing_request(question: str, passages: Sequence[Passage], claim: str) -> str:
    """The prompt for a model whose labels are chosen by their probability."""
    return _about_claim("choose.v1", question, passages, claim)


def search_request(claim: str, found: Sequence[Passage]) -> str:
    """The prompt that asks for the factuality of a claim, given what a search found for it."""
    return _fenced("found.v1", passages=_numbered("Found", found), claim=claim)


@cache
def version(*names: str) -> str:
    """Identifies the wording of the prompts; judgements with another version are made again.

    Without ``names`` of prompts: those that ask for a written reply.
    """
    used = names or ("judge.v1", "found.v1")
    digest = hashlib.sha256("".join(map(_template, used)).encode())
    return f"{used[0]}-{digest.hexdigest()[:8]}"


def shown_text(passage: Passage) -> str:
    """A passage as the judge reads it, its title first."""
    return f"{passage.title.strip()}\n{passage.text}" if passage.title.strip() else passage.text


def _about_claim(name: str, question: str, passages: Sequence[Passage], claim: str) -> str:
    shown = _numbered("Passage", passages) or "(no passages)"
    return _fenced(name, question=question, passages=shown, claim=claim)


def _numbered(word: str, passages: Sequence[Passage]) -> str:
    return "\n\n".join(f"{word} {i}: {shown_text(p)}" for i, p in enumerate(passages, start=1))


def _fenced(name: str, **material: str) -> str:
    # The delimiter is a digest of the material, so that no passage can contain it.
    digest = hashlib.sha256("\0".join(material.values()).encode("utf-8", "replace")).hexdigest()
    return filled(_template(name), fence=f"==== {digest[:16]} ====", **material)


@cache
def _template(name: str) -> str:
    return (files("franq_guard.datasets.annotating") / f"{name}.txt").read_text(encoding="utf-8")
