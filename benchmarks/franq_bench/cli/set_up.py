"""The set-up of a benchmark: the options of ``franq check`` that have a meaning here, and two more.

A benchmark fits every calibration and shows them side by side, and its form is the command's: what
is about a calibrator is no option of it. A settings file may name it, and a line says that it is
not read. The file's table ``[bench]`` has defaults for the other options of these commands.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.configuration import Configuration
from franq_guard.cli.set_up import with_set_up

if TYPE_CHECKING:
    from franq_bench.store.cache import Cache
    from franq_guard.datasets.grading import Grade, Grader
    from franq_guard.datasets.rewriting import CheckedRewrite
    from franq_guard.language_model.base import LanguageModel

__all__ = ["Asking", "in_long_form", "in_short_form", "of_given_claims", "said"]

_NOT_HERE = ("calibration", "calibrator", "strict", "min_per_class")
LanguageModelOption = Annotated[
    str | None, typer.Option(help="bundled (default), a .gguf file, or a model folder.")
]
GraderOption = Annotated[
    str | None,
    typer.Option(
        metavar="alias|llm|llm:WHERE",
        help="What decides whether an answer is right. llm: the model of --language-model; WHERE: "
        "another one, a folder, a .gguf file or URL#NAME of an OpenAI-compatible server.",
    ),
]
RewriteOption = Annotated[
    str | None,
    typer.Option(
        metavar="rules|llm|llm:WHERE",
        help="What falsifies passages with --retrieval corrupted. Where a model's reply is no "
        "changed passage, the rules stand in.",
    ),
]

UqFaithOption = Annotated[
    str | None, typer.Option(help="Method of UQ_faith, see franq methods. Default: the paper's.")
]
UqUnfaithOption = Annotated[str | None, typer.Option(help="Method of UQ_unfaith, likewise.")]
FaithfulAboveOption = Annotated[
    float | None,
    typer.Option(help="P(faithful) above which a row is faithful for the two curves. Default: 0.5"),
]

_EVERYWHERE = {
    "language_model": LanguageModelOption,
    "uq_faith": UqFaithOption,
    "uq_unfaith": UqUnfaithOption,
    "threshold_faithful": FaithfulAboveOption,
}
_ASKED = {"grader": GraderOption, "rewrite": RewriteOption}
_of_the_benchmark = partial(with_set_up, bench=True)
in_short_form = partial(
    _of_the_benchmark, but=(*_NOT_HERE, "claims"), form="short", more={**_EVERYWHERE, **_ASKED}
)
_SHORT_ALONE = (*_ASKED, "samples", "temperature")
in_long_form = partial(
    _of_the_benchmark, but=(*_NOT_HERE, *_SHORT_ALONE), form="long", more=_EVERYWHERE
)
of_given_claims = partial(
    _of_the_benchmark, but=(*_NOT_HERE, *_SHORT_ALONE, "claims"), form="long", more=_EVERYWHERE
)


def said(chosen: Configuration) -> dict[str, Any]:
    """What the command read of the set-up, for the settings of a result."""
    return {"configuration": chosen.recorded()}


class Asking:
    """The language models that grade answers and rewrite passages; replies are kept on disk.

    Args:
        chosen: names them.
        own: the language model that is measured, for "llm".
        cache: folder of the replies (they contain text of the data).
        part: of the run, which writes a file of its own there.
    """

    def __init__(
        self, chosen: Configuration, own: LanguageModel, cache: Path, *, part: str = "1-of-1"
    ) -> None:
        self._chosen, self._own = chosen, own
        self._cache, self._part = cache, part

    def grader(self) -> Grader | None:
        """None: by alias."""
        from franq_guard.datasets.judge import LLMGrader, TextGrader
        from franq_guard.language_model.asking import ask_from
        from franq_guard.language_model.loading import language_model_from

        if (named := self._chosen.grader) == "alias":
            return None
        where = named.partition(":")[2]
        if where.startswith(("http://", "https://")):
            asked = ask_from(where, api_key=_key(), max_new_tokens=16)
            return _kept(TextGrader(asked.ask), asked.name, self._store("grades"))
        model = language_model_from(where) if where else self._own
        return _kept(LLMGrader(model), model.fingerprint, self._store("grades"))

    def rewrite(self) -> CheckedRewrite | None:
        """None: by the rules."""
        from franq_guard.datasets.rewriting import CheckedRewrite
        from franq_guard.language_model.asking import ask_from, asked

        if (named := self._chosen.rewrite) == "rules":
            return None
        where = named.partition(":")[2]
        if where:
            model = ask_from(where, api_key=_key(), max_new_tokens=400)
        else:
            model = asked(self._own, max_new_tokens=400)
        return CheckedRewrite(model.ask, kept=_OfModel(self._store("rewritten"), model.name))

    def _store(self, what: str) -> Cache:
        from franq_bench.store.cache import Cache

        return Cache(self._cache / what, part=self._part)


class _OfModel:
    """Replies of one model in a cache that others use, too."""

    def __init__(self, cache: Cache, model: str) -> None:
        self._cache, self._model = cache, model

    def _key(self, key: str) -> str:
        from franq_bench.store.cache import content_key

        return content_key(self._model, key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._key(key) in self._cache

    def __getitem__(self, key: str) -> str:
        return str(self._cache[self._key(key)])

    def __setitem__(self, key: str, reply: str) -> None:
        self._cache[self._key(key)] = reply


def _kept(grader: Callable[..., Grade], name: str, cache: Cache) -> Grader:
    from franq_bench.store.cache import content_key

    def graded(question: str, answer: str, aliases: Any) -> Grade:
        key = content_key("grade", name, question, answer, list(aliases))
        if key not in cache:
            cache[key] = grader(question, answer, aliases)
        found: Grade = cache[key]
        return found

    return graded


def _key() -> str | None:
    return os.environ.get("FRANQ_API_KEY")
