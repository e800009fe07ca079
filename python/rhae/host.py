"""Runs plays of one Python game in a separate process, for the program `rhae`.

The process speaks the binary protocol of docs/hosting.md on standard input and output. The program
`rhae` contains a copy of this file and passes it to the interpreter, so hosting does not require
this package. If the package is installed, its engine runs the game; otherwise the official package
`arcengine` does.

Usage: host.py FILE CLASS SECONDS [PATH...]

FILE is the path of the game's source. Its content precedes the messages on standard input, as a
length (4 bytes, little-endian) and that many bytes, so that all processes of a game execute the
same source even if the file changes. SECONDS limits the time that the answer to each message may
take. Each PATH is appended to `sys.path`.
"""

from __future__ import annotations

import copy
import enum
import hashlib
import inspect
import io
import os
import pickle
import random
import re
import signal
import struct
import sys
import types
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

VERSION = 1
HELLO, OPEN, ACT, FORK, SAVE, LOAD, CLOSE, STATE, EXPAND = range(1, 10)
READY, OBSERVATION, DONE, SAVED, STATED, EXPANDED, IMPOSSIBLE, FAILED = *range(0x81, 0x87), 0xFE, 0xFF
# Bits of the message STATE.
DEEP, SPRITES = 1, 2
SIZE = 64
# The official engine allows 1,000 frames per action and checks the limit one frame too late.
MAX_FRAMES = 1001
MAX_REASON_BYTES = 2000


class Impossible(Exception):
    """The request cannot be fulfilled. The play continues."""


class Refused(Exception):
    """The request is invalid, or the game produced a result that the protocol cannot carry.

    The play ends.
    """


class Play:
    """One play. It has its own module and random states, which isolate it from other plays."""

    def __init__(self, game: Any, module: types.ModuleType, randomness: Any, initial: Any) -> None:
        self.game = game
        self.module = module
        self.randomness = randomness
        # What was last observed: the status, the completed levels, the available actions as bits,
        # and the cells of the settled frame. None after LOAD.
        self.seen: tuple[int, int, int, bytes] | None = None
        # The modules whose variables belong to the play, once they are needed.
        self.modules: list[types.ModuleType] | None = None
        # The variables while another play is current, if plays share the modules.
        self.variables: Any = None
        # The variables of the module before the game was created, to which LOAD returns.
        self.initial = initial


class GameUnpickler(pickle.Unpickler):
    """Resolves the classes of the game in the module of the play that is being restored."""

    def __init__(self, data: bytes, module: types.ModuleType) -> None:
        super().__init__(io.BytesIO(data))
        self.module = module

    def find_class(self, module: str, name: str) -> Any:
        if not module.startswith(Host.MODULE):
            return super().find_class(module, name)
        found: Any = self.module
        for part in name.split("."):
            found = getattr(found, part)
        return found


class Host:
    """The plays of one game."""

    MODULE = "rhae_hosted_game_"

    def __init__(self, file: str, source: bytes, class_name: str, seconds: float) -> None:
        self.file, self.source, self.class_name, self.seconds = file, source, class_name, seconds
        self.plays: dict[int, Play] = {}
        self.current: int | None = None
        self.modules = 0
        self.engine, self.name = load_engine()
        self.actions = list(self.engine.GameAction)
        import numpy

        self.numpy = numpy
        self.code: types.CodeType | None = None
        self.search: tuple[int, Any] | None = None
        self.mementos = load_mementos() if self.supports_copies() else None
        self.send: Callable[[int, bytes], None] | None = None

    # One method per message.

    def open(self, play: int, seed: int) -> bytes:
        self.suspend()
        self.current = None
        random.seed(seed)
        self.numpy.random.seed(seed % 2**32)
        module, initial = self.new_module()
        game_class = getattr(module, self.class_name, None)
        if not isinstance(game_class, type) or not issubclass(game_class, self.engine.ARCBaseGame):
            raise Refused(f"the file has no class `{self.class_name}` that extends ARCBaseGame")
        arguments = {"seed": seed} if "seed" in inspect.signature(game_class).parameters else {}
        self.plays[play] = Play(game_class(**arguments), module, None, initial)
        self.current = play
        return self.act(play, 0, 0, 0)

    def act(self, play: int, action: int, x: int, y: int) -> bytes:
        entered = self.enter(play)
        data = entered.game.perform_action(self.action_input(action, x, y), raw=True)
        body, entered.seen = self.observation(data)
        return body

    def fork(self, play: int, other: int) -> None:
        original = self.enter(play)
        copied = Play(self.copy_of(original.game), original.module, self.randomness(), original.initial)
        copied.seen = original.seen
        if self.mementos is not None:
            # From now on, the variables of the module are saved and restored with each of the two.
            copied.variables = original.variables = self.variables_of(original)
            copied.modules = original.modules
        self.plays[other] = copied

    def save(self, play: int) -> bytes:
        entered = self.enter(play)
        if not self.supports_copies():
            raise Impossible("games on the official engine cannot be pickled")
        if entered.initial is not None and not entered.initial.is_current():
            raise Impossible("the game keeps state in variables of its module, which pickles omit")
        try:
            return pickle.dumps((entered.game, self.randomness()), protocol=5)
        except Exception as error:
            raise Impossible(reason(error, self.file)) from error

    def load(self, play: int, data: bytes) -> None:
        self.suspend()
        self.current = None
        module, initial = self.new_module()
        game, randomness = GameUnpickler(data, module).load()
        self.plays[play] = Play(game, module, randomness, initial)

    def state(self, play: int, flags: int) -> bytes:
        """Returns a key that distinguishes states with identical frames, and the listed clicks.

        If the game lists no clicks, returns one cell per sprite if `flags` asks for that.
        """
        entered = self.enter(play)
        game = entered.game
        key = self.deep_key_or_none(entered) if flags & DEEP else self.hidden_key(game)
        cells, listed = self.clicks(game), 1
        if cells is None:
            cells, listed = (self.sprite_cells(game), 2) if flags & SPRITES else ([], 0)
        head = struct.pack("<B16sBH", key is not None, key or bytes(16), listed, len(cells))
        return head + bytes(part for cell in cells for part in cell)

    def expand(self, play: int, body: bytes) -> bytes:
        """Expands states of a search that starts at a play. See `rhae._expansion`.

        A request without states only finds out whether that is possible.
        """
        if not self.supports_copies():
            raise Impossible("copies of games on the official engine are not always independent")
        try:
            from rhae import _expansion
        except ImportError as error:
            raise Impossible("the installed package `rhae` has no module for searches") from error
        if body[0] != _expansion.FORMAT:
            raise Impossible(f"the installed package `rhae` uses version {_expansion.FORMAT} of searches, not {body[0]}")
        request = _expansion.Request(body)
        start = self.enter(play)
        if start.seen is None:
            raise Impossible("the frame of the play is unknown")
        # A search switches between the random states of many states.
        self.suspend()
        self.current = None
        if not request.states:
            key: bytes = _expansion.probe(self, start, request)
            return key
        if self.search is None or self.search[0] != play:
            search = _expansion.Search(self, start, request)
            _expansion.prepare_process()
            self.search = (play, search)
        send = self.send
        assert send is not None, "`main` sets it"
        part: bytes = self.search[1].expand(request, lambda part: send(EXPANDED, part))
        return part

    def close(self, play: int) -> None:
        closed = self.plays.pop(play, None)
        if self.current == play:
            self.current = None
        if closed is not None and all(other.module is not closed.module for other in self.plays.values()):
            sys.modules.pop(closed.module.__name__, None)

    # Shared by the messages.

    def supports_copies(self) -> bool:
        return self.name.startswith("rhae")

    def new_module(self) -> tuple[types.ModuleType, Any]:
        """Returns a new module of the game, and its variables."""
        if self.code is None:
            # The source is compiled here rather than in the constructor, so that an error is reported
            # as a failure of the play.
            self.code = compile(self.source, self.file, "exec")
        self.modules += 1
        module = types.ModuleType(f"{self.MODULE}{self.modules}")
        module.__file__ = self.file
        # Data classes and pickles look the module up by its name.
        sys.modules[module.__name__] = module
        exec(self.code, module.__dict__)
        return module, None if self.mementos is None else self.mementos.RECORDER.capture(None, [module])

    def action_input(self, action: int, x: int, y: int) -> Any:
        data = {"x": x, "y": y} if action == 6 else {}
        return self.engine.ActionInput(id=self.actions[action], data=data)

    def perform(self, game: Any, action: int, x: int, y: int) -> tuple[int, int, int, bytes]:
        """Executes an action and returns what was observed, with the last frame only."""
        data = game.perform_action(self.action_input(action, x, y), raw=True)
        status, levels, offered = self.facts(data)
        cells = b""
        for index, frame in enumerate(data.frame):
            cells = self.cells(index, frame)
        return status, levels, offered, cells

    def copy_of(self, game: Any) -> Any:
        clone = getattr(game, "clone", None)
        if not self.supports_copies():
            raise Impossible("copies of games on the official engine are not always independent")
        try:
            return clone() if clone else copy.deepcopy(game)
        except Exception as error:
            raise Impossible(reason(error, self.file)) from error

    def refuse(self, reason: str) -> None:
        """Ends the play for a reason that `rhae._expansion` has found."""
        raise Refused(reason)

    def decline(self, reason: str) -> None:
        """Answers a request of `rhae._expansion` with IMPOSSIBLE."""
        raise Impossible(reason)

    def deep_key(self, game: Any, modules: list[types.ModuleType]) -> bytes:
        """Returns a key of all Python state of a play: its game, modules and random generators."""
        state = (game, self.randomness())
        if self.mementos is None:
            return Digest(self.numpy).of(state)
        key: bytes = self.mementos.RECORDER.digest(state, modules)
        return key

    def deep_key_or_none(self, play: Play) -> bytes | None:
        try:
            return self.deep_key(play.game, self.modules_of(play))
        except Exception:
            return None

    def hidden_key(self, game: Any) -> bytes | None:
        """Returns a key of the state that `_get_hidden_state` reports, or None if it is unknown."""
        try:
            if type(game)._get_hidden_state is self.engine.ARCBaseGame._get_hidden_state:
                return None
            return Digest(self.numpy).of(self.numpy.asarray(game._get_hidden_state()))
        except Exception:
            return None

    def clicks(self, game: Any) -> list[tuple[int, int]] | None:
        """Returns the cells where the game says that a click may have an effect, or None."""
        base = self.engine.ARCBaseGame
        try:
            valid = game._get_valid_actions() if 6 in game._available_actions else []
            clicks = [(int(action.data["x"]), int(action.data["y"])) for action in valid if int(action.id.value) == 6]
        except Exception:
            return None
        clicks = [(x, y) for x, y in clicks if 0 <= x < SIZE and 0 <= y < SIZE]
        lists = ("_get_valid_actions", "_get_valid_clickable_actions")
        own = any(getattr(type(game), name) is not getattr(base, name) for name in lists)
        # If a game does not override these methods, its list may be empty only because it uses no
        # tags. Such a list does not mean that clicks have no effect.
        return clicks[: 2**16 - 1] if own or clicks else None

    def sprite_cells(self, game: Any) -> list[tuple[int, int]]:
        """Returns the first cell of each visible sprite that is inside the frame."""
        cells = []
        try:
            camera = game.camera
            zoom, left, top = camera._calculate_scale_and_offset()
            for sprite in game.current_level.get_sprites():
                if not sprite.is_visible:
                    continue
                rows, columns = self.numpy.nonzero(self.numpy.asarray(sprite.render()) >= 0)
                columns, rows = columns + int(sprite.x) - camera.x, rows + int(sprite.y) - camera.y
                inside = (columns >= 0) & (columns < camera.width) & (rows >= 0) & (rows < camera.height)
                first = int(inside.argmax()) if inside.any() else None
                if first is not None:
                    cell = int(columns[first]) * zoom + left, int(rows[first]) * zoom + top
                    if 0 <= cell[0] < SIZE and 0 <= cell[1] < SIZE:
                        cells.append(cell)
        except Exception:
            return []
        return cells[: 2**16 - 1]

    def randomness(self) -> Any:
        return random.getstate(), self.numpy.random.get_state()

    def set_randomness(self, randomness: Any) -> None:
        ours, numpys = randomness
        random.setstate(ours)
        self.numpy.random.set_state(numpys)

    def suspend(self) -> None:
        """Saves the state of the current play that is not in its game object."""
        if self.current in self.plays:
            play = self.plays[self.current]
            play.randomness = self.randomness()
            if play.variables is not None and not play.variables.is_current():
                play.variables = self.variables_of(play)

    def variables_of(self, play: Play) -> Any:
        """Returns the variables of a play's modules."""
        assert self.mementos is not None
        return self.mementos.RECORDER.capture(None, self.modules_of(play), play.variables)

    def modules_of(self, play: Play) -> list[types.ModuleType]:
        """Returns the modules whose variables belong to a play."""
        if play.modules is None:
            play.modules = [] if self.mementos is None else self.mementos.modules_of(play.module)
        return play.modules

    def enter(self, play: int) -> Play:
        """Makes a play the current one and restores its state that is not in its game object."""
        found = self.plays.get(play)
        if found is None:
            raise Refused(f"there is no play {play}")
        if play != self.current:
            self.suspend()
            self.set_randomness(found.randomness)
            if found.variables is not None:
                found.variables.restore()
            self.current = play
        return found

    def observation(self, seen: Any) -> tuple[bytes, tuple[int, int, int, bytes]]:
        """Returns the body of an OBSERVATION, and what the play remembers of it."""
        state, levels, offered = self.facts(seen)
        frames = [self.cells(index, frame) for index, frame in enumerate(seen.frame)]
        head = struct.pack("<BBBBBH", state, levels, int(seen.win_levels), offered, bool(seen.full_reset), len(frames))
        return head + b"".join(frames), (state, levels, offered, frames[-1])

    def facts(self, seen: Any) -> tuple[int, int, int]:
        """Returns the status, the completed levels and the available actions as bits."""
        states = self.engine.GameState
        state = {states.WIN: 1, states.GAME_OVER: 2}.get(seen.state, 0)
        levels = (int(seen.levels_completed), int(seen.win_levels))
        if not all(0 <= level <= 254 for level in levels):
            raise Refused(f"the game reported {levels[0]} of {levels[1]} levels: expected 0 to 254")
        frames = seen.frame
        if not 1 <= len(frames) <= MAX_FRAMES:
            raise Refused(f"the action returned {len(frames)} frames: expected 1 to {MAX_FRAMES}")
        offered = 0
        for action in seen.available_actions:
            offered |= 1 << int(action) if 0 <= int(action) <= 7 else 0
        return state, levels[0], offered

    def cells(self, index: int, frame: Any) -> bytes:
        array = self.numpy.asarray(frame)
        if array.shape != (SIZE, SIZE):
            raise Refused(f"frame {index + 1} has the shape {array.shape}: expected 64 x 64")
        if array.dtype != self.numpy.int8:
            small = array.astype(self.numpy.int8)
            if (small != array).any():
                raise Refused(f"frame {index + 1} has cells outside -128 to 127")
            array = small
        return array.tobytes()

    def answer(self, kind: int, body: bytes) -> tuple[int | None, bytes]:
        """Executes a message and returns the kind and body of the answer."""
        if kind == HELLO:
            return READY, struct.pack("<H", VERSION) + self.name.encode()
        (play,) = struct.unpack_from("<I", body)
        rest = body[4:]
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            if kind == OPEN:
                return OBSERVATION, self.open(play, *struct.unpack("<Q", rest))
            if kind == ACT:
                return OBSERVATION, self.act(play, *struct.unpack("<BBB", rest))
            if kind == FORK:
                self.fork(play, *struct.unpack("<I", rest))
                return DONE, b""
            if kind == SAVE:
                return SAVED, self.save(play)
            if kind == LOAD:
                self.load(play, rest)
                return DONE, b""
            if kind == STATE:
                return STATED, self.state(play, *struct.unpack("<B", rest))
            if kind == EXPAND:
                return EXPANDED, self.expand(play, rest)
            if kind == CLOSE:
                self.close(play)
                return None, b""
            raise Refused(f"message {kind} is unknown")
        except Impossible as error:
            return IMPOSSIBLE, str(error).encode(errors="replace")[:MAX_REASON_BYTES]
        except BaseException as error:  # a game may raise anything, and only its own play must end
            text = reason(error, self.file).encode(errors="replace")[:MAX_REASON_BYTES]
            self.close(play)
            return FAILED, text
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


class Digest:
    """A hash of Python objects by their contents.

    Generated names (UUIDs) differ between plays, so their order of appearance is hashed instead.
    Attributes in which the engine stores action counts and the last action are not hashed.
    """

    GENERATED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    LEFT_OUT: ClassVar = {"_action", "_action_count", "_action_complete", "_full_reset"}

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy
        self.hash = hashlib.blake2b(digest_size=16)
        self.seen: dict[int, tuple[int, Any]] = {}
        self.names: dict[str, int] = {}

    def of(self, value: Any) -> bytes:
        self.add(value)
        return self.hash.digest()

    def put(self, tag: str, text: str = "") -> None:
        self.hash.update(f"{tag}{len(text)}:{text}".encode())

    def add(self, value: Any) -> None:
        if value is None or (isinstance(value, (bool, int, float, complex)) and not isinstance(value, enum.Enum)):
            self.put("v", repr(value))
        elif isinstance(value, enum.Enum):
            self.put("e", f"{type(value).__qualname__}.{value.name}")
        elif isinstance(value, str):
            if self.GENERATED.fullmatch(value):
                self.put("g", str(self.names.setdefault(value, len(self.names))))
            else:
                self.put("s", value)
        elif isinstance(value, bytes):
            self.put("b", value.hex())
        elif id(value) in self.seen:
            self.put("r", str(self.seen[id(value)][0]))
        else:
            # Keep the object alive so that its address stays unique.
            self.seen[id(value)] = (len(self.seen), value)
            self.add_new(value)

    def add_new(self, value: Any) -> None:
        if isinstance(value, self.numpy.ndarray) and value.dtype != object:
            self.put("a", f"{value.dtype}{value.shape}")
            self.hash.update(self.numpy.ascontiguousarray(value).tobytes())
        elif isinstance(value, self.numpy.generic):
            self.put("n", f"{value.dtype}{value!r}")
        elif isinstance(value, (list, tuple, self.numpy.ndarray)):
            self.put("l", f"{type(value).__qualname__}{len(value)}")
            for item in value:
                self.add(item)
        elif isinstance(value, (set, frozenset)):
            # The order of a set is arbitrary, so the hashes of its items are sorted.
            self.put("t", str(len(value)))
            for item in sorted(Digest(self.numpy).of(item) for item in value):
                self.hash.update(item)
        elif isinstance(value, dict):
            self.put("d", str(len(value)))
            for key, item in value.items():
                self.add(key)
                self.add(item)
        elif isinstance(value, random.Random):
            self.put("m")
            self.add(value.getstate())
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
            self.put("c", getattr(value, "__qualname__", value.__name__))
        elif isinstance(value, types.MethodType):
            self.put("f", value.__qualname__)
            self.add(value.__self__)
        elif isinstance(value, types.FunctionType):
            self.put("f", value.__qualname__)
            self.add([cell.cell_contents for cell in value.__closure__ or ()])
        else:
            self.put("o", type(value).__qualname__)
            slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if isinstance(name, str)]
            held = {name: getattr(value, name) for name in slots if hasattr(value, name) and not name.startswith("__")}
            held.update(getattr(value, "__dict__", {}))
            for name in sorted(held):
                if name not in self.LEFT_OUT:
                    self.put("k", name)
                    self.add(held[name])


def load_engine() -> tuple[Any, str]:
    """Returns the engine and its name: `rhae.arcengine` if installed, otherwise `arcengine`."""
    try:
        import rhae.arcengine as ours
    except ModuleNotFoundError as error:
        if error.name not in ("rhae", "rhae.arcengine"):
            raise
    else:
        ours.install()
        return ours, "rhae.arcengine"
    import arcengine

    return arcengine, "arcengine"


def load_mementos() -> Any:
    """Returns the module that reads the state of games, or None if the package has none."""
    try:
        from rhae import _mementos
    except ImportError:
        return None
    return _mementos


def reason(error: BaseException, file: str) -> str:
    """Describes an error, with the innermost line of the game's file that was executing."""
    if isinstance(error, Refused):
        return str(error)
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            place = f" ({os.path.basename(file)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    try:
        text = f": {error}" if str(error) else ""
    except Exception:
        text = ""
    return f"the game raised {type(error).__name__}{text}{place}"


def read_exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        # The parent process closed the pipe, so no answer can be sent.
        os._exit(0)
    return data


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def main(arguments: list[str]) -> None:
    file, class_name, seconds, *paths = arguments
    sys.path.extend(path for path in paths if path not in sys.path)
    # The pipes carry only messages. What the game prints goes to standard error, and its standard
    # input is empty.
    messages, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    empty, closed = os.pipe()
    os.close(closed)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    (length,) = struct.unpack("<I", read_exactly(messages, 4))
    source = read_exactly(messages, length)
    host = Host(file, source, class_name, float(seconds))

    def send(kind: int, body: bytes) -> None:
        write_all(answers, struct.pack("<IB", len(body) + 1, kind) + body)

    host.send = send
    while True:
        (length,) = struct.unpack("<I", read_exactly(messages, 4))
        message = read_exactly(messages, length)
        kind, body = host.answer(message[0], message[1:])
        if kind is not None:
            send(kind, body)


if __name__ == "__main__":
    main(sys.argv[1:])
