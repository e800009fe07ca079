"""Pickles games, including games whose file was executed rather than imported.

Pickles refer to the functions `revive` and `find` by name, so these functions must not be renamed.
"""

from __future__ import annotations

import io
import pickle
import sys
import types
import weakref
from typing import Any

import numpy as np

from . import _copying

#: For each module that defines games, by name: one of its functions, whose globals are the namespace
#: of the module. The official toolkit executes game files without an entry in `sys.modules`. The
#: reference is weak, so that a module is freed when it is unloaded.
_FUNCTIONS: weakref.WeakValueDictionary[str, types.FunctionType] = weakref.WeakValueDictionary()


def note(cls: type) -> None:
    """Registers the namespace in which the class of a game was defined."""
    for value in vars(cls).values():
        if isinstance(value, types.FunctionType) and value.__globals__.get("__name__") == cls.__module__:
            known = _FUNCTIONS.get(cls.__module__)
            if known is None or known.__globals__ is not value.__globals__:
                _FUNCTIONS[cls.__module__] = value
            return


def _namespace(module: str) -> dict[str, Any] | None:
    function = _FUNCTIONS.get(module)
    return None if function is None else function.__globals__


def reduce(game: Any) -> tuple[Any, tuple[bytes]]:
    """Returns the value of `__reduce_ex__` for a game: `revive` and a nested pickle of the game.

    Raises:
        pickle.PicklingError: A part of the game cannot be pickled. The message names the part.
    """
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, protocol=5).dump(game)
    except Exception as error:
        place = _culprit(game, "game", set())
        raise pickle.PicklingError(f"the game cannot be pickled: {place or error}") from error
    return revive, (buffer.getvalue(),)


def revive(data: bytes) -> Any:
    """Restores a game from the pickle that `reduce` wrote."""
    return pickle.loads(data)


def find(module: str, name: str) -> Any:
    """Returns an object, by qualified name, of a module that was executed rather than imported."""
    space = _namespace(module)
    if space is None:
        raise pickle.UnpicklingError(f"the game's module `{module}` is not loaded: load its file first")
    found = _named(space, name)
    if found is None:
        raise pickle.UnpicklingError(f"the game's module `{module}` has no `{name}`")
    return found


def _named(space: dict[str, Any], name: str) -> Any:
    first, *rest = name.split(".")
    found = space.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


class _Pickler(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        from .base_game import ARCBaseGame

        if isinstance(thing, ARCBaseGame):
            return object.__reduce_ex__(thing, 5) if type(thing).__reduce__ is object.__reduce__ else NotImplemented
        if type(thing) is np.ndarray:
            part = _copying.part_of(thing)
            return NotImplemented if part is None else (_copying.view, part)
        if isinstance(thing, type | types.FunctionType):
            module = getattr(thing, "__module__", None)
            space = _namespace(module) if module and module not in sys.modules else None
            if space is not None and _named(space, thing.__qualname__) is thing:
                return find, (module, thing.__qualname__)
        return NotImplemented


def _pickles(thing: Any) -> bool:
    try:
        _Pickler(io.BytesIO(), protocol=5).dump(thing)
    except Exception:
        return False
    return True


def _culprit(thing: Any, place: str, seen: set[int]) -> str | None:
    """Describes the innermost part that cannot be pickled and the path that leads to it."""
    if id(thing) in seen or len(seen) > 100_000:
        return None
    seen.add(id(thing))
    parts: list[tuple[str, Any]] = []
    if isinstance(thing, dict):
        parts = [(f"{place}[{key!r}]", value) for key, value in thing.items()]
        parts += [(f"a key of {place}", key) for key in thing]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts = [(f"{place}[{index}]", value) for index, value in enumerate(thing)]
    elif not isinstance(thing, type | types.FunctionType | types.ModuleType) and hasattr(thing, "__dict__"):
        parts = [(f"{place}.{name}", value) for name, value in vars(thing).items()]
    for inner, part in parts:
        if not _pickles(part):
            found = _culprit(part, inner, seen)
            if found:
                return found
    if place == "game":
        return None
    what = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    kind = "function" if isinstance(thing, types.FunctionType) else type(thing).__name__
    return f"`{place}` holds the {kind} `{what}`, which cannot be pickled or has no importable name"
