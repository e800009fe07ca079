"""Brings a game to the states of a search, in one of two ways.

`Mementos` has one game and restores the contents of its objects. `Copies` copies the game for every
action. That takes longer, but every game that the engine can copy supports it; it is used if a game
holds an object whose state cannot be read.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any, Protocol

from rhae import _mementos
from rhae.arcengine import _history

#: The minimum number of copies in cycles for which the garbage collector runs.
COLLECT_COPIES = 500

#: What was last observed: the status, the completed levels, the available actions as bits, and the
#: cells of the settled frame.
Seen = tuple[int, int, int, bytes]


class State:
    """A state of a game, with the states of the random generators that belong to it."""

    __slots__ = ("game", "key", "memento", "randomness", "seen")

    def __init__(self, seen: Seen, randomness: Any) -> None:
        self.seen = seen
        self.randomness = randomness
        self.key = b""
        #: `Copies` only: the game in this state.
        self.game: Any = None
        #: `Mementos`: the state of the game and its modules. `Copies`: the state of the modules. None
        #: if the state cannot be entered again.
        self.memento: Any = None


class Worlds(Protocol):
    """Brings a game to states."""

    #: The modules whose variables belong to a state.
    modules: list[Any]

    def root(self, play: Any) -> State:
        """Returns the state of a play, without its key."""

    def enter(self, state: State) -> Any:
        """Returns the game in a state. The caller may change it until the next call."""

    def adopt(self, after: State, game: Any) -> None:
        """Accepts a new state, which `game` is in."""

    def keep(self, after: State, before: State) -> None:
        """Makes it possible to enter the state that was adopted last. `before` led to it."""

    def discard(self, state: State) -> None:
        """Drops a state that is not needed."""


def open_worlds(host: Any, play: Any, copies: bool) -> Worlds:
    """Returns the faster way that supports a game, or copies if `copies` is set."""
    modules = host.modules_of(play)
    memento = None if copies else _mementos.RECORDER.capture(play.game, modules)
    return Copies(host, modules) if memento is None else Mementos(host, play, modules, memento)


class Mementos:
    """Restores the contents of the objects of one game.

    If that turns out to be impossible, for example because the game has created an object whose
    state cannot be read, the request is answered with IMPOSSIBLE; the program then starts a process
    that uses copies.
    """

    def __init__(self, host: Any, play: Any, modules: list[Any], memento: Any) -> None:
        self.host, self.modules = host, modules
        self.game, self.first = play.game, memento
        # The actions that this game executes belong to many plays.
        _history.forget(play.game)

    def root(self, play: Any) -> State:
        state = State(play.seen, play.randomness)
        state.memento = self.first
        return state

    def enter(self, state: State) -> Any:
        if not state.memento.restore():
            self.host.decline("an array of the game has got another shape, which cannot be restored")
        return self.game

    def adopt(self, after: State, game: Any) -> None:
        pass

    def keep(self, after: State, before: State) -> None:
        after.memento = _mementos.RECORDER.capture(self.game, self.modules, before.memento)
        if after.memento is None:
            self.host.decline("the game holds an object whose state cannot be read")

    def discard(self, state: State) -> None:
        state.memento = None


class Copies:
    """Copies the game for every action."""

    def __init__(self, host: Any, modules: list[Any]) -> None:
        self.host, self.modules = host, modules
        #: The number of copies that only the garbage collector can free, and of kept copies.
        self.garbage = self.kept = 0

    def root(self, play: Any) -> State:
        state = State(play.seen, play.randomness)
        state.game = play.game
        state.memento = _mementos.RECORDER.capture(None, self.modules)
        return state

    def enter(self, state: State) -> Any:
        state.memento.restore()
        return self.host.copy_of(state.game)

    def adopt(self, after: State, game: Any) -> None:
        after.game = game

    def keep(self, after: State, before: State) -> None:
        after.memento = before.memento
        if not before.memento.is_current():
            after.memento = _mementos.RECORDER.capture(None, self.modules, before.memento)
        self.kept += 1

    def discard(self, state: State) -> None:
        """Drops a copy and counts it if only the garbage collector can free it."""
        if state.memento is not None:
            self.kept -= 1
        game = weakref.ref(state.game)
        state.game = state.memento = None
        if game() is not None:
            self.garbage += 1
            if self.garbage >= max(COLLECT_COPIES, self.kept):
                self.garbage = 0
                gc.collect()
