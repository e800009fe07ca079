"""What each game was made of and which actions it took, so that it can be played again.

Kept outside the games, whose attributes are theirs and are walked, compared and pickled by others.
"""

from __future__ import annotations

import weakref
from typing import Any

#: A game that took more actions is no longer kept track of.
MOST_ACTIONS = 100_000


class _Reference(weakref.ref[Any]):
    """A weak reference that knows what it is filed under."""

    __slots__ = ("key",)
    key: int


def _forget(reference: Any) -> None:
    _HISTORIES.pop(reference.key, None)
    _LOGS.pop(reference.key, None)


class History:
    """How a game came about."""

    __slots__ = ("args", "count", "earlier", "game", "kwargs")

    def __init__(self, game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.game = _Reference(game, _forget)
        self.game.key = id(game)
        self.args = args
        self.kwargs = kwargs
        #: What was taken before copies were made, which they share: the actions before the last copy, and what came before these.
        self.earlier: tuple[list[Any], Any] | None = None
        #: How many that were.
        self.count = 0

    def actions(self) -> list[tuple[Any, dict[str, Any]]] | None:
        """The actions that the game took, with their data; None if there were too many."""
        log = _LOGS.get(self.game.key)
        if log is None or self.count + len(log) > MOST_ACTIONS:
            return None
        parts, earlier = [log], self.earlier
        while earlier is not None:
            part, earlier = earlier
            parts.append(part)
        return [one if isinstance(one, tuple) else (one, {}) for part in reversed(parts) for one in part]


_HISTORIES: dict[int, History] = {}
#: Actions since a game began or was last copied, those with data beside their data; none for games that took too many.
_LOGS: dict[int, list[Any]] = {}


def begin(game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Keeps track of a new game."""
    _HISTORIES[id(game)] = History(game, args, kwargs)
    _LOGS[id(game)] = []


def note(game: Any, action: Any) -> None:
    """Keeps track of an action that is about to be taken."""
    log = _LOGS.get(id(game))
    if log is None:
        return
    data = action.data
    log.append((action.id, data.copy()) if data else action.id)
    if len(log) > MOST_ACTIONS:
        del _LOGS[id(game)]


def of(game: Any) -> History | None:
    """How a game came about, if that is known."""
    return _HISTORIES.get(id(game))


def inherit(game: Any, copy: Any) -> None:
    """Gives a copy the history of its original."""
    history, log = of(game), _LOGS.get(id(game))
    if history is None or log is None or history.count + len(log) > MOST_ACTIONS:
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
