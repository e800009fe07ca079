"""Stores the constructor arguments and actions of each game, so that it can be replayed.

The history is stored outside the games, because games iterate over, compare and pickle their own
attributes.
"""

from __future__ import annotations

import weakref
from typing import Any

#: The maximum length of a history. Games that take more actions are no longer tracked.
MAX_ACTIONS = 100_000


class _Reference(weakref.ref[Any]):
    """A weak reference to a game, with the key of its history."""

    __slots__ = ("key",)
    key: int


def _forget(reference: Any) -> None:
    _HISTORIES.pop(reference.key, None)
    _LOGS.pop(reference.key, None)


class History:
    """The constructor arguments and actions of a game."""

    __slots__ = ("args", "count", "earlier", "game", "kwargs")

    def __init__(self, game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.game = _Reference(game, _forget)
        self.game.key = id(game)
        self.args = args
        self.kwargs = kwargs
        #: The actions before the last copy, as a linked list that a game shares with its copies.
        #: Each element is a part of the log and a reference to the element with the earlier parts.
        self.earlier: tuple[list[Any], Any] | None = None
        #: The number of actions in `earlier`.
        self.count = 0

    def actions(self) -> list[tuple[Any, dict[str, Any]]] | None:
        """Returns the actions of the game with their data; None if there were too many."""
        log = _LOGS.get(self.game.key)
        if log is None or self.count + len(log) > MAX_ACTIONS:
            return None
        parts, earlier = [log], self.earlier
        while earlier is not None:
            part, earlier = earlier
            parts.append(part)
        return [one if isinstance(one, tuple) else (one, {}) for part in reversed(parts) for one in part]


_HISTORIES: dict[int, History] = {}
#: For each game, the actions since it was created or last copied. An action with data is stored as
#: a pair of the action and its data. A game that took too many actions has no entry.
_LOGS: dict[int, list[Any]] = {}


def begin(game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Starts the history of a new game."""
    _HISTORIES[id(game)] = History(game, args, kwargs)
    _LOGS[id(game)] = []


def note(game: Any, action: Any) -> None:
    """Records an action before the game executes it."""
    log = _LOGS.get(id(game))
    if log is None:
        return
    data = action.data
    log.append((action.id, data.copy()) if data else action.id)
    if len(log) > MAX_ACTIONS:
        del _LOGS[id(game)]


def forget(game: Any) -> None:
    """Ends the history of a game, which can then no longer be replayed."""
    _HISTORIES.pop(id(game), None)
    _LOGS.pop(id(game), None)


def of(game: Any) -> History | None:
    """Returns the history of a game, or None if it has none."""
    return _HISTORIES.get(id(game))


def inherit(game: Any, copy: Any) -> None:
    """Gives a copy the history of its original.

    The copy gets no history if the original has none or one that is longer than `MAX_ACTIONS`.
    """
    history, log = of(game), _LOGS.get(id(game))
    if history is None or log is None or history.count + len(log) > MAX_ACTIONS:
        _HISTORIES.pop(id(copy), None)
        _LOGS.pop(id(copy), None)
        return
    if log:
        history.earlier = (log, history.earlier)
        history.count += len(log)
        _LOGS[id(game)] = []
    begin(copy, history.args, history.kwargs)
    of_copy = _HISTORIES[id(copy)]
    of_copy.earlier, of_copy.count = history.earlier, history.count
