"""A model that is given, or is loaded when it is first needed."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Lazy(Generic[T]):
    """A model, or a function that loads it; loaded once for all that share this object.

    A given model is recognised by its ``score`` method, since models may be callable like a loader.
    A class has that method, too, but is a loader: calling it makes the model.
    """

    def __init__(self, given: T | Callable[[], T]) -> None:
        self._given = given
        self._first = given
        self._ready = hasattr(given, "score") and not isinstance(given, type)
        self._lock = threading.Lock()

    @property
    def loaded(self) -> T | None:
        """The model if it was given or is loaded already; else None. Loads nothing."""
        return cast("T", self._given) if self._ready else None

    def __call__(self) -> T:
        """The model, loaded now if necessary; a failed load is tried again at the next call."""
        with self._lock:
            if not self._ready:
                self._given, self._ready = cast("Callable[[], T]", self._given)(), True
            return cast("T", self._given)

    def __deepcopy__(self, memo: object) -> Lazy[T]:
        """The same object, so that copies of a guard share its models."""
        return self

    def __reduce__(self) -> tuple[type[Lazy[T]], tuple[T | Callable[[], T]]]:
        """Pickles what was given: a loader is pickled unloaded, and loads after unpickling.

        Raises:
            TypeError: if that cannot be pickled; the message says what can.
        """
        try:
            pickle.dumps(self._first)
        except Exception as error:
            raise TypeError(
                f"{self._first!r} cannot be pickled ({error}): give the guard a function or class "
                "method that loads the model, defined in a module"
            ) from error
        return type(self), (self._first,)


def check_kind(name: str, value: object, method: str, *, loader: bool) -> None:
    """Reject an argument that can never work, such as a name or a class in the place of an object.

    Raises:
        TypeError: if ``value`` is no object with such a method and (with ``loader``) not callable.
    """
    # A string has .split(), and a splitter's class has it, too, but neither is a splitter.
    fits = hasattr(value, method) and not isinstance(value, str | type)
    if not (fits or (loader and callable(value))):
        wanted = f"an object with .{method}()" + (" or a function returning one" * loader)
        raise TypeError(f"{name} must be {wanted}, not {value!r}")
