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


class History:
    """How a game came about."""

    __slots__ = ("args", "count", "game", "kwargs", "log")

    def __init__(self, game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.game = _Reference(game, _forget)
        self.game.key = id(game)
        self.args = args
        self.kwargs = kwargs
        #: Actions with their data, of which the first `count` are this game's: copies share the list until one of them
        #: goes on. None if there were too many.
        self.log: list[tuple[Any, dict[str, Any]]] | None = []
        self.count = 0

    def actions(self) -> list[tuple[Any, dict[str, Any]]] | None:
        """The actions that the game took, with their data."""
        return None if self.log is None else self.log[: self.count]


_HISTORIES: dict[int, History] = {}


def begin(game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Keeps track of a new game."""
    _HISTORIES[id(game)] = History(game, args, kwargs)


def note(game: Any, action: Any) -> None:
    """Keeps track of an action that is about to be taken."""
    history = _HISTORIES.get(id(game))
    if history is None or history.log is None:
        return
    if history.count >= MOST_ACTIONS:
        history.log = None
        return
    if len(history.log) != history.count:
        history.log = history.log[: history.count]
    data = action.data
    history.log.append((action.id, data.copy() if data else data))
    history.count += 1


def of(game: Any) -> History | None:
    """How a game came about, if that is known."""
    return _HISTORIES.get(id(game))


def inherit(game: Any, copy: Any) -> None:
    """Gives a copy the history of its original."""
    history = of(game)
    if history is None:
        _HISTORIES.pop(id(copy), None)
        return
    begin(copy, history.args, history.kwargs)
    _HISTORIES[id(copy)].log = history.log
    _HISTORIES[id(copy)].count = history.count
