"""Saves and restores the state of a game without copying it, for searches in a game's process.

The state of a game consists of all mutable objects that are reachable from the game, the variables
of its modules, and the attributes of the classes that these define. `rhae._native.Recorder` reads
it; this module defines which objects have no state and how random generators are saved.

State elsewhere is not seen: inside objects that are written in C and unknown here, in other
packages, in files and clocks. If a game holds an unknown object, it is copied instead. If its
behaviour depends on anything else, `rhae._expansion` notices that repeated actions differ.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import functools
import logging
import os
import random
import re
import sys
import types
import weakref
from typing import Any

import numpy as np

from rhae import _native

#: Classes whose instances are immutable, or have no state that belongs to a game.
_ATOMIC: frozenset[type] = frozenset(
    (
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        range,
        slice,
        type(...),
        type(NotImplemented),
        types.CodeType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
        types.WrapperDescriptorType,
        types.MethodWrapperType,
        types.GenericAlias,
        types.UnionType,
        re.Pattern,
        weakref.ref,
        decimal.Decimal,
        datetime.date,
        datetime.time,
        datetime.datetime,
        datetime.timedelta,
        random.SystemRandom,
        np.ufunc,
    )
)
_ATOMIC_BASES = (type, enum.Enum, types.ModuleType, np.generic, np.dtype, logging.Logger)
#: Classes whose instances refer to other objects through members that do not change.
_REFERRING = [
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    property,
    staticmethod,
    classmethod,
    collections.defaultdict,
]
#: Packages whose objects are followed if a module of a game refers to them.
_PACKAGES = ["builtins", "collections", "functools", "numpy", "random", "rhae", "arcengine"]
#: Attributes of the engine that do not belong to a state: the last action, and counts of actions.
_LEFT_OUT = ["_action", "_action_count", "_action_complete", "_full_reset"]


def _set_random(generator: random.Random, state: Any) -> None:
    generator.setstate(state)


def _set_numpy(generator: Any, state: Any) -> None:
    generator.set_state(state)


def _state_of(generator: Any) -> Any:
    return generator.bit_generator.state


def _set_state_of(generator: Any, state: Any) -> None:
    generator.bit_generator.state = state


def _own_state(generator: Any) -> Any:
    return generator.state


def _set_own_state(generator: Any, state: Any) -> None:
    generator.state = state


_BIT_GENERATORS = (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
#: The functions that return and set the state of a random generator.
_GENERATORS: dict[type, tuple[Any, Any]] = {
    random.Random: (random.Random.getstate, _set_random),
    np.random.RandomState: (np.random.RandomState.get_state, _set_numpy),
    np.random.Generator: (_state_of, _set_state_of),
    **dict.fromkeys(_BIT_GENERATORS, (_own_state, _set_own_state)),
}

RECORDER = _native.Recorder(_ATOMIC, _ATOMIC_BASES, _GENERATORS, _REFERRING, _PACKAGES, _LEFT_OUT)


def modules_of(module: types.ModuleType) -> list[types.ModuleType]:
    """Returns the module of a game and the modules that it has imported from its own folder."""
    found = [module]
    own = getattr(module, "__file__", None)
    if not own:
        return found
    folder = os.path.dirname(os.path.abspath(own))
    for other in list(sys.modules.values()):
        file = getattr(other, "__file__", None)
        # Other plays of the game have modules with the same file.
        if isinstance(file, str) and file != own and os.path.dirname(os.path.abspath(file)) == folder:
            found.append(other)
    return found
