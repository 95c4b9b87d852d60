"""What guarded engines have in common: how they are copied and pickled."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from llama_index_franq._call import Watch

if TYPE_CHECKING:
    from franq_guard import Guard

E = TypeVar("E")


class GuardedEngine(Generic[E]):
    """A query or chat engine and its watch; can be deep-copied and pickled if the engine can.

    A copy has its own engine and shares the guard.
    """

    _made_by: ClassVar[Callable[..., Any]]  # the public function that guards such an engine

    def __init__(self, engine: E, watch: Watch) -> None:
        self._engine, self._watch = engine, watch

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (type(self)._made_by, self._engine, self._watch.guard, self._watch.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        engine = deepcopy(self._engine, memo)
        made: Self = again(type(self)._made_by, engine, self._watch.guard, self._watch.options)
        return made


def again(make: Callable[..., Any], engine: Any, guard: Guard, options: dict[str, Any]) -> Any:
    """Guard a copied or unpickled engine again, since locks and recorders cannot be copied."""
    return make(engine, guard, **options)
