"""Expands many states of a game in one request, inside the process that runs the game.

`rhae.host` calls this module for the message EXPAND of docs/hosting.md. The program `rhae` contains
`host.py`, but this module comes from the installed package, so the message names the version of the
form that both must know.

A state is expanded by executing each action in it and computing the key of the result. `rhae._worlds`
brings the game to a state and keeps new states until the program asks to expand them.

The result of an action must depend on the state alone. State outside the game (variables of its
modules, global random generators) is saved and restored with each state. Whether anything else
matters is checked: some actions are executed twice, and a state that is rebuilt must have the key
that it had before. If a check fails, the search fails.
"""

from __future__ import annotations

import gc
import signal
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from rhae import _native, _worlds
from rhae._worlds import State

#: The version of the messages EXPAND and EXPANDED, and of the functions of `rhae.host` used here.
FORMAT = 2
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
#: In one of this many states, an action is executed twice.
CHECKED_STATES = 16

_EDGE = struct.Struct("<BBBBBHB16sI")
_STATE = struct.Struct("<IB16sI")
_HEAD = struct.Struct("<xBBBII")

#: An action as its number and the coordinates of a click.
Move = tuple[int, int, int]


class Request:
    """The body of a message EXPAND without the number of the play."""

    def __init__(self, body: bytes) -> None:
        self.identity, self.clicks, self.copies, self.keep, count = _HEAD.unpack_from(body)
        at = _HEAD.size
        self.released = struct.unpack_from(f"<{count}I", body, at)
        at += 4 * count
        (count,) = struct.unpack_from("<I", body, at)
        at += 4
        #: For each state: the copy to start from, whether it is no longer needed, the key of the
        #: state, and the actions that lead to it.
        self.states: list[tuple[int, bool, bytes, list[Move]]] = []
        for _ in range(count):
            base, take, key, length = _STATE.unpack_from(body, at)
            at += _STATE.size
            moves = list(struct.iter_unpack("<BBB", body[at : at + 3 * length]))
            at += 3 * length
            self.states.append((base, bool(take), key, moves))


class Search:
    """The states that this process knows and keeps for one play, whose state is the start."""

    def __init__(self, host: Any, play: Any, request: Request) -> None:
        self.host, self.identity = host, request.identity
        self.levels = play.seen[1]
        #: Whether actions use the global random generators, as far as known. While they do not, all
        #: states have the random states of the start.
        self.uses_random = False
        #: The random states that the global generators have now.
        self.active: Any = play.randomness
        host.set_randomness(play.randomness)
        self.worlds: _worlds.Worlds = _worlds.open_worlds(host, play, bool(request.copies))
        self.root = self.worlds.root(play)
        self.root.key = key_of(host, self.identity, play.game, play.seen, self.worlds.modules)
        self.known = {self.root.key}
        self.kept: dict[int, State] = {}
        self.copies = self.actions = 0
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
        for base, take, key, moves in request.states:
            state = self.state_at(base, take, key, moves)
            self.known.add(state.key)
            self.expand_state(state, request)
        return self.part(last=True)

    def part(self, last: bool) -> bytes:
        """Returns the results since the last part."""
        part = struct.pack("<B16s", last, self.root.key) + bytes(self.records)
        self.records.clear()
        self.sent = time.monotonic()
        return part

    def state_at(self, base: int, take: bool, key: bytes, moves: list[Move]) -> State:
        """Returns a kept state, or the state after actions that start at a kept state."""
        state = self.root if base == 0 else self.kept.pop(base) if take else self.kept[base]
        for move in moves:
            state = self.alone(self.successor, state, move)
        if state.key != key:
            self.host.refuse("the game is not deterministic: the same actions led to a different state when they were repeated")
        return state

    def successor(self, state: State, move: Move) -> State:
        after = self.act(state, move)
        self.worlds.keep(after, state)
        return after

    def alone(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function that executes actions.

        If it turns out that they use the global random generators, whose states were not restored,
        the function is called again.
        """
        done = work(*arguments)
        if self.random_was_used():
            self.uses_random, self.active = True, None
            done = work(*arguments)
        return done

    def random_was_used(self) -> bool:
        """Returns whether an action has used the global random generators for the first time."""
        start = self.root.randomness
        return not self.uses_random and self.random_states(start) is not start

    def expand_state(self, state: State, request: Request) -> None:
        tried, edges = self.alone(self.edges_of, state, request)
        for move, cells, after in edges:
            self.add_edge(move, cells, after, request.keep)
        self.records += bytes((0, tried))

    def edges_of(self, state: State, request: Request) -> tuple[int, list[tuple[Move, int, State]]]:
        """Returns the clicks that were tried, and the edges of a state: action, cells, result."""
        moves, tried = self.moves(state, request.clicks)
        found: set[bytes] = set()
        edges = [(move, 0, self.result(state, move, found)) for move in moves]
        if edges and state.key[0] % CHECKED_STATES == 0:
            move, _, after = edges[state.key[1] % len(edges)]
            again = self.act(state, move)
            self.worlds.discard(again)
            if (again.key, again.seen) != (after.key, after.seen) and not self.random_was_used():
                name = f"ACTION{move[0]}" + (f" at {move[1:]}" if move[0] == CLICK else "")
                self.host.refuse(f"the game is not deterministic: {name} had two different results in the same state")
        if tried == ALL + 1:
            edges.extend(self.click_all(state, found))
        return tried, edges

    def result(self, state: State, move: Move, found: set[bytes]) -> State:
        """Executes an action. The result is prepared to be kept if it is new."""
        after = self.act(state, move)
        if self.outcome(after) == 0 and after.key not in self.known and after.key not in found:
            found.add(after.key)
            self.worlds.keep(after, state)
        else:
            self.worlds.discard(after)
        return after

    def outcome(self, state: State) -> int:
        status, levels = state.seen[:2]
        return 1 if levels > self.levels else 2 if status == 2 else 0

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
        self.prepare_action(state)
        game = self.worlds.enter(state)
        listed = self.host.clicks(game)
        if listed is not None or rule == LISTED_ONLY:
            moves.extend((CLICK, x, y) for x, y in listed or ())
            return moves, LISTED
        cells = _native.representative_clicks(state.seen[3], self.host.sprite_cells(game))
        moves.extend((CLICK, x, y) for x, y in cells)
        return moves, REPRESENTATIVE + 1

    def click_all(self, state: State, found: set[bytes]) -> list[tuple[Move, int, State]]:
        """Clicks every cell. Cells with the same result become one edge."""
        results: dict[bytes, tuple[Move, State]] = {}
        counts: dict[bytes, int] = {}
        for y, x in every_cell():
            after = self.result(state, (CLICK, x, y), found)
            counts[after.key] = counts.get(after.key, 0) + 1
            results.setdefault(after.key, ((CLICK, x, y), after))
        return [(move, counts[key], after) for key, (move, after) in results.items()]

    def add_edge(self, move: Move, cells: int, after: State, keep: int) -> None:
        """Adds the result of an action to the response. Keeps the state if it is new."""
        target, copy, key = KNOWN, 0, after.key
        if key not in self.known:
            if len(self.known) >= MAX_KNOWN:
                self.known.clear()
            self.known.add(key)
            target = NEW
            if len(self.kept) < keep and after.memento is not None:
                self.copies += 1
                target, copy = KEPT, self.copies
                self.kept[copy] = after
        if target != KEPT and after.memento is not None:
            self.worlds.discard(after)
        self.records += _EDGE.pack(1, *move, self.outcome(after), cells, target, key, copy)

    def prepare_action(self, state: State) -> None:
        """Restarts the time limit and sets the random states. Sends results if it is time."""
        signal.setitimer(signal.ITIMER_REAL, self.host.seconds)
        if self.uses_random and state.randomness is not self.active:
            self.host.set_randomness(state.randomness)
            self.active = state.randomness
        if self.send is not None and time.monotonic() - self.sent > PART_SECONDS:
            self.send(self.part(last=False))

    def act(self, state: State, move: Move) -> State:
        """Executes an action in a state and returns the result, which `worlds` can keep.

        After the end of the play an action has no effect, as in a play.
        """
        self.prepare_action(state)
        game = self.worlds.enter(state)
        after = State(state.seen, state.randomness)
        if state.seen[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, self.host.seconds)
            after.seen = self.host.perform(game, *move)
            if self.uses_random:
                after.randomness = self.active = self.random_states(state.randomness)
            self.actions += 1
            if self.actions >= COLLECT_ACTIONS:
                self.actions = 0
                gc.collect()
        after.key = key_of(self.host, self.identity, game, after.seen, self.worlds.modules)
        self.worlds.adopt(after, game)
        return after

    def random_states(self, before: Any) -> Any:
        """Returns the states of the global generators: `before` itself if they are unchanged."""
        now = self.host.randomness()
        (ours, numpys), (our_now, numpy_now) = before, now
        same = our_now == ours and numpy_now[2:] == numpys[2:] and bool((numpy_now[1] == numpys[1]).all())
        return before if same else now


def key_of(host: Any, identity: int, game: Any, seen: _worlds.Seen, modules: list[Any]) -> bytes:
    """Returns the key of the state that a game is in."""
    status, levels, _, cells = seen
    hidden = None
    if identity == DEEP:
        hidden = host.deep_key(game, modules)
    elif identity == HIDDEN:
        hidden = host.hidden_key(game)
    key: bytes = _native.state_key(cells, levels, status, hidden)
    return key


def probe(host: Any, play: Any, request: Request) -> bytes:
    """Answers a request without states, which finds out whether a play can be searched."""
    host.set_randomness(play.randomness)
    host.copy_of(play.game)
    key = key_of(host, request.identity, play.game, play.seen, host.modules_of(play))
    return struct.pack("<B16s", True, key)


def every_cell() -> Iterator[tuple[int, int]]:
    """Yields the row and the column of every cell of a frame, row by row."""
    return ((y, x) for y in range(SIZE) for x in range(SIZE))


def prepare_process() -> None:
    """Disables automatic garbage collection.

    The collector would traverse all kept states again and again. `Search` calls it when it is
    needed. The objects that exist now, such as modules, are never traversed.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
