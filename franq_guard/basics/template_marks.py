"""Marks of a model's chat template in a raw answer, read as tags: ``<think>`` and ``<br>``.

Where a server does not take them out, an answer has them: marks of another model around what it
thinks (Mistral's ``[THINK]``, the channels of gpt-oss), and marks around what it says
(``<|im_end|>``). These count only at the beginning or end of a line, and beside a word: one that a
sentence names ("It ends with <|im_end|>.") is a word of it.
"""

from __future__ import annotations

import re

_CHANNEL = (
    r"(?:<\|(?:end|call)\|>)?(?:(?:<\|start\|>)?assistant(?P<asked>[^<>\n]{0,80}))?"
    r"<\|channel\|>(?P<channel>[a-z]+)(?P<asks>[^<>\n]{0,80})(?:<\|constrain\|>\w{0,20})?"
    r"<\|message\|>"
)
"""What gpt-oss writes before each of its parts; " to=..." in it names the tool that it is for."""
FIRST = "analysis"
"""What begins an answer of which the marks of its first channel were taken out."""
_SIGNS = ("|>", "<|", "｜>", "THINK]", "think▷", "_of_turn>")
_SPECIAL = r"<[|｜][\w▁]{1,40}[|｜]>"
_MARK = re.compile(
    rf"(?P<header>{_CHANNEL})"
    # What is left of two of them without their marks: "analysisThe user ... assistantfinalIt is".
    rf"|(?P<first>\A{FIRST}(?=[A-Z][\w'’]*\s))|(?P<last>assistantfinal)"
    r"|(?P<opens>\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>"
    r"|<\|channel>thought(?=\n))"
    r"|(?P<closes>\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<channel\|>)"
    r"|^(?:<\|im_start\|>|<start_of_turn>|<\|turn>)(?:assistant|model|user|system)[ \t]*$"
    r"|^<\|start_header_id\|>\w{1,20}<\|end_header_id\|>"
    rf"|(?:^|(?<=\|>)|(?<=▷))(?:{_SPECIAL})+(?=[^\s:<`]|$)"
    rf"|(?<=[^\s`<>])(?:(?:{_SPECIAL})+|<end_of_turn>|<turn\|>)(?=[ \t]*$)",
    re.M,
)
_END = re.compile(r"</think *>")


def as_tags(answer: str) -> str:
    """The answer with a tag of the same length for each mark, with blanks in it: ``<think   >``."""
    if not any(sign in answer for sign in _SIGNS) and not answer.startswith(FIRST):
        return answer  # as nearly all are
    opened, parts, at = "", list[str](), 0
    for mark in _MARK.finditer(answer):
        tag = _tag(mark, opened)
        if tag is not None:
            if tag != "<br":
                opened = "" if tag == "</think" else mark.group()
            parts += answer[at : mark.start()], tag.ljust(len(mark.group()) - 1), ">"
            at = mark.end()
    return "".join((*parts, answer[at:]))


def after_thoughts(reply: str) -> str:
    """What follows the last end of what a model thought, or the whole reply where none ends."""
    said = _END.split(as_tags(reply))[-1]
    return reply[len(reply) - len(said) :]


def _tag(mark: re.Match[str], opened: str) -> str | None:
    """The tag for a mark, without its end; None where it says nothing new.

    ``opened``: the mark of what the model thinks there, or empty.
    """
    if mark["header"]:
        is_asked = " to=" in f"{mark['asked'] or ''}{mark['asks']}"
        if mark["channel"] == "analysis" or is_asked:
            return None if opened else "\n<think"  # which counts without an end, too
        return "</think" if opened.endswith("<|message|>") else "<br"
    if mark["last"]:
        return "</think" if opened == FIRST else None
    if mark["first"] or mark["opens"]:
        return "<think"
    return "</think" if mark["closes"] else "<br"
