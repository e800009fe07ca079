"""Expands many states of a game in one request, inside the process that runs the game.

`rhae.host` calls this module for the message EXPAND of docs/hosting.md. The program `rhae` contains
`host.py`, but this module comes from the installed package, so the message names the version of the
form that both must know.

A state is expanded by copying the game once for each action, executing the action, and computing
the key of the result. Copies of new states are kept until the program asks to expand them.
"""

from __future__ import annotations

import gc
import signal
import struct
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from rhae import _native

#: The version of the messages EXPAND and EXPANDED, and of the functions of `rhae.host` used here.
FORMAT = 1
#: Values of the request: how states are identified, and which cells are clicked.
DEEP = 2
HIDDEN = 1
LISTED_ONLY, REPRESENTATIVE, ALL = range(3)
#: Values of the response: the clicks that were tried in a state, and what is known about a target.
NOT_OFFERED, LISTED = 0, 1
KNOWN, NEW, KEPT = range(3)
CLICK = 6
SIZE = 64
#: The maximum number of keys that are remembered. If there are more, all are forgotten; states are
#: then reported as new a second time, which costs time but does no harm.
MAX_KNOWN = 1 << 20
#: The time after which results are sent although the request is not finished.
PART_SECONDS = 0.5
#: The number of actions after which the garbage collector runs, in case that games create cycles.
COLLECT_ACTIONS = 50_000
#: The minimum number of copies in cycles for which the garbage collector runs.
COLLECT_COPIES = 500

_EDGE = struct.Struct("<BBBBBHB16sI")
_STATE = struct.Struct("<IBI")

#: An action as its number and the coordinates of a click.
Move = tuple[int, int, int]
#: What was last observed: the status, the completed levels, the available actions as bits, and the
#: cells of the settled frame.
Seen = tuple[int, int, int, bytes]


class State:
    """A game in one state, with the states of the random generators that belong to it."""

    __slots__ = ("game", "key", "randomness", "seen")

    def __init__(self, game: Any, randomness: Any, seen: Seen, key: bytes) -> None:
        self.game = game
        self.randomness = randomness
        self.seen = seen
        self.key = key


class Request:
    """The body of a message EXPAND without the number of the play."""

    def __init__(self, body: bytes) -> None:
        self.identity, self.clicks, self.keep, count = struct.unpack_from("<xBBII", body)
        at = struct.calcsize("<xBBII")
        self.released = struct.unpack_from(f"<{count}I", body, at)
        at += 4 * count
        (count,) = struct.unpack_from("<I", body, at)
        at += 4
        #: For each state: the copy to start from, whether it is no longer needed, and the actions.
        self.states: list[tuple[int, bool, list[Move]]] = []
        for _ in range(count):
            base, take, length = _STATE.unpack_from(body, at)
            at += _STATE.size
            moves = list(struct.iter_unpack("<BBB", body[at : at + 3 * length]))
            at += 3 * length
            self.states.append((base, bool(take), moves))


class Search:
    """The states that this process knows and keeps for one play, whose state is the start."""

    def __init__(self, host: Any, play: Any, identity: int) -> None:
        self.host, self.identity = host, identity
        self.levels = play.seen[1]
        #: The random states that the global generators have now.
        self.active: Any = None
        self.root = State(play.game, play.randomness, play.seen, b"")
        self.root.key = self.key_of(self.root)
        self.known = {self.root.key}
        self.kept: dict[int, State] = {}
        self.copies = self.garbage = self.actions = 0
        self.records = bytearray()
        self.sent = 0.0
        self.send: Callable[[bytes], None] | None = None

    def expand(self, request: Request, send: Callable[[bytes], None]) -> bytes:
        """Expands the states of a request and returns the last part of the response.

        The earlier parts are passed to `send`.
        """
        self.send, self.sent = send, time.monotonic()
        for copy in request.released:
            self.kept.pop(copy, None)
        for base, take, moves in request.states:
            state, owned = self.state_at(base, take, moves)
            self.known.add(state.key)
            self.expand_state(state, owned, request)
        return self.part(last=True)

    def part(self, last: bool) -> bytes:
        """Returns the results since the last part."""
        part = struct.pack("<B16s", last, self.root.key) + bytes(self.records)
        self.records.clear()
        self.sent = time.monotonic()
        return part

    def state_at(self, base: int, take: bool, moves: list[Move]) -> tuple[State, bool]:
        """Returns a state, and whether it can be changed because no other use needs it."""
        if base == 0:
            found, owned = self.root, False
        else:
            found, owned = (self.kept.pop(base) if take else self.kept[base]), take
        if not moves:
            return found, owned
        if not owned:
            found = self.copy(found)
        for move in moves:
            self.act(found, move)
        found.key = self.key_of(found)
        return found, True

    def expand_state(self, state: State, owned: bool, request: Request) -> None:
        moves, tried = self.moves(state, request.clicks)
        clicks_all = tried == ALL + 1
        for index, move in enumerate(moves):
            last = owned and not clicks_all and index + 1 == len(moves)
            # The last action may change the state itself, which saves a copy.
            after = state if last else self.copy(state)
            self.act(after, move)
            after.key = self.key_of(after)
            self.add_edge(move, 0, after, request.keep)
        if clicks_all:
            self.click_all(state, request.keep)
        self.records += bytes((0, tried))

    def moves(self, state: State, rule: int) -> tuple[list[Move], int]:
        """Returns the actions to try in a state, and the kind of clicks among them.

        If all cells are clicked, `click_all` does that.
        """
        offered = state.seen[2]
        moves: list[Move] = [(action, 0, 0) for action in range(1, CLICK) if offered >> action & 1]
        if not offered >> CLICK & 1:
            return moves, NOT_OFFERED
        if rule == ALL:
            return moves, ALL + 1
        listed = self.host.clicks(state.game)
        if listed is not None or rule == LISTED_ONLY:
            moves.extend((CLICK, x, y) for x, y in listed or ())
            return moves, LISTED
        cells = _native.representative_clicks(state.seen[3], self.host.sprite_cells(state.game))
        moves.extend((CLICK, x, y) for x, y in cells)
        return moves, REPRESENTATIVE + 1

    def click_all(self, state: State, keep: int) -> None:
        """Clicks every cell. Cells with the same result become one edge."""
        results: dict[bytes, tuple[Move, State]] = {}
        counts: dict[bytes, int] = {}
        for y, x in every_cell():
            after = self.copy(state)
            self.act(after, (CLICK, x, y))
            after.key = self.key_of(after)
            counts[after.key] = counts.get(after.key, 0) + 1
            if after.key not in results:
                results[after.key] = ((CLICK, x, y), after)
        for key, (move, after) in results.items():
            self.add_edge(move, counts[key], after, keep)

    def add_edge(self, move: Move, cells: int, after: State, keep: int) -> None:
        """Adds the result of an action to the response. Keeps the state if it is new."""
        status, levels = after.seen[:2]
        outcome = 1 if levels > self.levels else 2 if status == 2 else 0
        target, copy, key = KNOWN, 0, after.key
        if key not in self.known:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            self.known.add(key)
            target = NEW
            if outcome == 0 and len(self.kept) < keep:
                self.copies += 1
                target, copy = KEPT, self.copies
                self.kept[copy] = after
        self.records += _EDGE.pack(1, *move, outcome, cells, target, key, copy)
        if target != KEPT:
            self.discard(after)

    def copy(self, state: State) -> State:
        # Each copy and each action may take the time limit of one action.
        signal.setitimer(signal.ITIMER_REAL, self.host.seconds)
        return State(self.host.copy_of(state.game), state.randomness, state.seen, state.key)

    def act(self, state: State, move: Move) -> None:
        """Executes an action. After the end of the play it has no effect, as in a play."""
        action, x, y = move
        host = self.host
        if state.seen[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, host.seconds)
            if not host.may_use_random:
                state.seen = host.perform(state.game, action, x, y)
            else:
                if state.randomness is not self.active:
                    host.set_randomness(state.randomness)
                self.active = None
                state.seen = host.perform(state.game, action, x, y)
                state.randomness = self.active = self.randomness_after(state.randomness)
            self.actions += 1
            if self.actions >= COLLECT_ACTIONS:
                self.collect()
        if self.send is not None and time.monotonic() - self.sent > PART_SECONDS:
            self.send(self.part(last=False))

    def key_of(self, state: State) -> bytes:
        status, levels, _, cells = state.seen
        hidden = None
        if self.identity in (HIDDEN, DEEP):
            if self.identity == DEEP and state.randomness is not self.active:
                self.host.set_randomness(state.randomness)
                self.active = state.randomness
            hidden = self.host.hidden_key(state.game, self.identity == DEEP)
        key: bytes = _native.state_key(cells, levels, status, hidden)
        return key

    def randomness_after(self, before: Any) -> Any:
        """Returns the states of the global generators: `before` itself if they are unchanged."""
        now = self.host.randomness()
        (ours, numpys), (our_now, numpy_now) = before, now
        same = our_now == ours and numpy_now[2:] == numpys[2:] and bool((numpy_now[1] == numpys[1]).all())
        return before if same else now

    def discard(self, state: State) -> None:
        """Drops a copy and counts it if only the garbage collector can free it."""
        if state is self.root:
            return
        game = weakref.ref(state.game)
        state.game = None
        if game() is not None:
            self.garbage += 1
            if self.garbage >= max(COLLECT_COPIES, len(self.kept)):
                self.collect()

    def collect(self) -> None:
        self.garbage = self.actions = 0
        gc.collect()


def every_cell() -> Iterator[tuple[int, int]]:
    """Yields the row and the column of every cell of a frame, row by row."""
    return ((y, x) for y in range(SIZE) for x in range(SIZE))


def prepare_process() -> None:
    """Disables automatic garbage collection.

    The collector would traverse all kept copies again and again. `Search` calls it when it is
    needed. The objects that exist now, such as modules, are never traversed.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
