"""What each game was made of and which actions it took, so that it can be played again.

Kept outside the games, whose attributes are theirs and are walked, compared and pickled by others.
"""

from __future__ import annotations

import weakref
from typing import Any

#: A game that took more actions is no longer kept track of.
MOST_ACTIONS = 100_000


class History:
    """How a game came about."""

    __slots__ = ("actions", "args", "game", "kwargs")

    def __init__(self, game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        key = id(game)
        self.game = weakref.ref(game, lambda _: _HISTORIES.pop(key, None))
        self.args = args
        self.kwargs = kwargs
        #: Actions with their data; None if there were too many.
        self.actions: list[tuple[Any, dict[str, Any]]] | None = []


_HISTORIES: dict[int, History] = {}


def begin(game: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Keeps track of a new game."""
    _HISTORIES[id(game)] = History(game, args, kwargs)


def note(game: Any, action: Any) -> None:
    """Keeps track of an action that is about to be taken."""
    history = _HISTORIES.get(id(game))
    if history is not None and history.actions is not None:
        if len(history.actions) < MOST_ACTIONS:
            data = action.data
            history.actions.append((action.id, data.copy() if data else data))
        else:
            history.actions = None


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
    _HISTORIES[id(copy)].actions = None if history.actions is None else history.actions.copy()
