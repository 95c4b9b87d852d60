"""A Dockerfile read into its instructions, as far as our own one goes."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """One instruction: ``stage`` counts the FROM lines, the first is 0."""

    name: str
    value: str
    stage: int


def instructions(text):
    """Comments out, continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    found, stage = [], -1
    for line in joined:
        name, _, value = line.strip().partition(" ")
        stage += name == "FROM"
        found.append(Instruction(name, re.sub(r"\s+", " ", value).strip(), stage))
    return found


def environment(found, stage):
    """What the ENV lines of a stage set, in order, later ones over earlier ones."""
    pairs = [
        pair.partition("=")
        for one in found
        if one.name == "ENV" and one.stage == stage
        for pair in one.value.split()
    ]
    return {name: value for name, _, value in pairs}
