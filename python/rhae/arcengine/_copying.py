"""Copies games. If a part of a game cannot be copied, its actions are replayed instead."""

from __future__ import annotations

import collections
import copy
import random
import types
from typing import Any

import numpy as np

from rhae import _native

from . import _history
from .enums import ActionInput


class CloneError(RuntimeError):
    """Raised for a game that can neither be copied nor replayed to the same state."""


def clone(game: Any, memo: Any) -> Any:
    """Returns a copy of a game. `memo` belongs to an enclosing `copy.deepcopy`, or is `None`."""
    if isinstance(memo, _native.Copier):
        return memo.copy(game)
    copier = _native.Copier({} if memo is None else memo, _ours(), _HANDLERS, _with_deepcopy)
    try:
        copied = copier.copy(game)
    except Exception as error:  # a part may raise anything when it is copied
        return _replay(game, error)
    _history.inherit(game, copied)
    if memo is not None:
        copier.report()
    return copied


def _ours() -> tuple[type, ...]:
    global _OURS
    if _OURS is None:
        from .base_game import ARCBaseGame

        _OURS = (ARCBaseGame,)
    return _OURS


_OURS: tuple[type, ...] | None = None


def _with_deepcopy(thing: Any, copier: Any) -> Any:
    made = copy.deepcopy(thing, copier)
    copier.remember(thing, made)
    return made


def _array(array: np.ndarray, copier: Any) -> np.ndarray:
    """Copies an array. A view of another array becomes a view of that array's copy."""
    part = part_of(array)
    if part is not None:
        base, *place = part
        made = view(copier.copy(base), *place)
    elif array.dtype.hasobject:
        made = array.__deepcopy__(copier)
    else:
        made = array.copy(order="K")
    copier.remember(array, made)
    return made


def part_of(array: np.ndarray) -> tuple[Any, ...] | None:
    """Returns the base of a view and the arguments with which `view` recreates it.

    Returns `None` if the array is not a view, or if its base is not a contiguous array of numbers.
    """
    base = array.base
    if type(base) is not np.ndarray or base.dtype.hasobject or not (base.flags.c_contiguous or base.flags.f_contiguous):
        return None
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return base, array.shape, array.dtype, start, array.strides, array.flags.writeable


def view(base: np.ndarray, shape: Any, dtype: Any, start: int, strides: Any, writeable: bool) -> np.ndarray:
    """Returns a view at an offset of an array's memory.

    Pickles of games refer to this function by name.
    """
    memory = (base if base.flags.c_contiguous else base.T).reshape(-1).view(np.uint8)
    made: np.ndarray = np.ndarray(shape, dtype, memory, offset=start, strides=strides)
    made.flags.writeable = writeable
    return made


def _function(function: types.FunctionType, copier: Any) -> types.FunctionType:
    """Copies a closure together with the values that it captures.

    A function without captured values, or at module level, is shared.
    """
    cells = function.__closure__
    if not cells or function.__globals__.get(function.__qualname__) is function:
        return function
    made_cells = []
    fresh = []
    for cell in cells:
        made_cell = copier.get(id(cell))
        if made_cell is None:
            made_cell = types.CellType()
            copier.remember(cell, made_cell)
            fresh.append((cell, made_cell))
        made_cells.append(made_cell)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(made_cells)
    )
    copier.remember(function, made)
    for cell, made_cell in fresh:
        try:
            content = cell.cell_contents
        except ValueError:
            continue  # the captured variable is not bound yet
        made_cell.cell_contents = copier.copy(content)
    made.__defaults__ = copier.copy(function.__defaults__)
    made.__kwdefaults__ = copier.copy(function.__kwdefaults__)
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__dict__.update(copier.copy(function.__dict__))
    return made


def _method(method: types.MethodType, copier: Any) -> types.MethodType:
    made = types.MethodType(method.__func__, copier.copy(method.__self__))
    copier.remember(method, made)
    return made


def _deque(items: collections.deque[Any], copier: Any) -> collections.deque[Any]:
    made: collections.deque[Any] = collections.deque(maxlen=items.maxlen)
    copier.remember(items, made)
    made.extend([copier.copy(item) for item in items])
    return made


def _defaultdict(items: Any, copier: Any) -> Any:
    made: Any = collections.defaultdict(copier.copy(items.default_factory))
    copier.remember(items, made)
    for key, value in list(items.items()):
        made[copier.copy(key)] = copier.copy(value)
    return made


def _mapping(items: Any, copier: Any) -> Any:
    made = type(items)()
    copier.remember(items, made)
    for key, value in list(items.items()):
        made[copier.copy(key)] = copier.copy(value)
    return made


def _random(generator: random.Random, copier: Any) -> random.Random:
    made = random.Random.__new__(random.Random)
    made.setstate(generator.getstate())
    copier.remember(generator, made)
    return made


def _action_input(action: ActionInput, copier: Any) -> ActionInput:
    made: ActionInput = _native.new_model(
        ActionInput, {}, set(action.__pydantic_fields_set__), copier.copy(action.__pydantic_private__)
    )
    copier.remember(action, made)
    made.__dict__.update(copier.copy(action.__dict__))
    return made


#: The functions that copy instances of these classes; None for classes whose instances are shared.
_HANDLERS: dict[type, Any] = {
    np.ndarray: _array,
    types.FunctionType: _function,
    types.MethodType: _method,
    collections.deque: _deque,
    collections.defaultdict: _defaultdict,
    collections.OrderedDict: _mapping,
    collections.Counter: _mapping,
    random.Random: _random,
    ActionInput: _action_input,
    **dict.fromkeys(
        (
            type(None),
            bool,
            int,
            float,
            complex,
            str,
            bytes,
            range,
            type,
            type(...),
            type(NotImplemented),
            types.BuiltinFunctionType,
            types.ModuleType,
            types.CodeType,
            property,
        )
    ),
}


def _replay(game: Any, error: Exception) -> Any:
    """Creates a new game and repeats the actions. `error` is the reason why copying failed."""
    history = _history.of(game)
    why = f"{type(error).__name__}: {error}"
    actions = history.actions() if history is not None else None
    if history is None or actions is None:
        raise CloneError(
            f"the game cannot be copied ({why}), and it cannot be replayed because its actions are unknown"
        ) from error
    copied = type(game)(*history.args, **history.kwargs)
    for action, data in actions:
        copied.perform_action(ActionInput(id=action, data=data), raw=True)
    if _summary(copied) != _summary(game):
        raise CloneError(
            f"the game cannot be copied ({why}), and replaying it leads to another state: "
            "it depends on something other than its actions, or other code changed it"
        ) from error
    return copied


def _summary(game: Any) -> Any:
    """Returns the values that two games in the same state must have in common."""
    counts = (game._state, game._score, game._current_level_index, game._action_count, game._full_reset)
    camera = game.camera
    window = (camera.x, camera.y, camera.width, camera.height)
    sprites = [
        [
            (sprite._x, sprite._y, sprite._layer, sprite.rotation, sprite._scale, sprite._interaction, sprite._blocking)
            + (list(sprite._tags), sprite.pixels.shape, sprite.pixels.tobytes())
            for sprite in level._sprites
        ]
        for level in game._levels
    ]
    return counts, window, sprites
