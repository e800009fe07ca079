"""Mementos restore a game exactly, hashes depend on contents only, and caches keep no class alive."""

from __future__ import annotations

import collections
import dataclasses
import functools
import gc
import random
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from engines import NAMES, actions, game_on, ours, summary, take

from rhae import _mementos, _native
from rhae._mementos import RECORDER
from rhae.arcengine import ActionInput, ARCBaseGame, Level, Sprite


@pytest.mark.parametrize("name", NAMES)
def test_restored_game_continues_like_a_copy(name: str) -> None:
    """Restores states in random order. From each, the game plays as a copy of it did."""
    game = game_on(name, ours)
    numbers = random.Random(7)
    modules = [sys.modules[type(game).__module__]] if type(game).__module__ in sys.modules else []
    memento = RECORDER.capture(game, modules)
    if memento is None:
        pytest.fail(f"the state of {name} cannot be read")
    states = [(memento, game.clone())]
    for action in actions(numbers, 60):
        before, _ = numbers.choice(states)
        assert before.restore()
        take(game, ours, action)
        after = RECORDER.capture(game, modules, before)
        assert after is not None
        states.append((after, game.clone()))
    for memento, copy in numbers.sample(states, len(states)):
        assert memento.restore()
        assert RECORDER.digest(game, []) == RECORDER.digest(copy, [])
        for action in actions(random.Random(len(memento)), 8):
            # A copy of a game with its own random generator continues with the same numbers.
            assert summary(game, take(game, ours, action)) == summary(copy, take(copy, ours, action))


@dataclasses.dataclass(frozen=True)
class Place:
    x: int
    y: int


@dataclasses.dataclass(slots=True)
class Slotted:
    number: int
    items: list[int]


class Names(dict[str, int]):
    """A subclass of a container, with attributes."""


class Parts(ARCBaseGame):
    """Holds parts of all kinds whose contents can be restored."""

    def __init__(self, seed: int = 0) -> None:
        self.board = np.arange(16, dtype=np.int16).reshape(4, 4)
        self.window = self.board[1:3, ::-1]
        self.frozen = np.frombuffer(b"constant", dtype=np.uint8)
        self.queue = collections.deque([1, 2, 3], maxlen=5)
        self.counts = collections.Counter("aab")
        self.groups: Any = collections.defaultdict(list, {"a": [1]})
        self.places = {Place(1, 2), Place(3, 4)}
        self.by_place = {Place(1, 2): [Place(5, 6)]}
        self.slotted = Slotted(1, [2])
        self.bytes = bytearray(b"abc")
        self.names = Names(one=1)
        self.names.extra = [1]  # type: ignore[attr-defined]
        self.random = random.Random(seed)
        self.numpy_random = np.random.default_rng(seed)
        self.pair = ([1], (2, [3]))
        count = 0

        def add(amount: int, known: list[int] = []) -> int:  # noqa: B006
            nonlocal count
            count += amount
            known.append(count)
            return len(known)

        self.add = add
        self.partial = functools.partial(add, 2)
        self.bound = self.queue.append
        super().__init__("parts", [Level([Sprite([[1]], name="one")])])

    def step(self) -> None:
        numbers = random.Random(self.action.data.get("x", 0))
        changes: list[Callable[[], object]] = [
            lambda: self.board.__setitem__((numbers.randrange(4), 1), numbers.randrange(9)),
            lambda: self.window.__setitem__((0, 0), numbers.randrange(9)),
            lambda: self.bound(numbers.randrange(9)),
            lambda: self.queue.clear(),
            lambda: self.counts.update("abc"[numbers.randrange(3)]),
            lambda: self.groups["abc"[numbers.randrange(3)]].append(numbers.randrange(9)),
            lambda: self.places.add(Place(numbers.randrange(9), 0)),
            lambda: self.places.clear(),
            lambda: self.by_place.pop(Place(1, 2), None),
            lambda: self.by_place.__setitem__(Place(numbers.randrange(3), 0), [Place(0, 0)]),
            lambda: setattr(self.slotted, "number", numbers.randrange(9)),
            lambda: self.slotted.items.append(1),
            lambda: delattr(self.slotted, "number") if hasattr(self.slotted, "number") else None,
            lambda: self.bytes.extend(b"d"),
            lambda: self.names.__setitem__("two", numbers.randrange(9)),
            lambda: self.names.extra.append(2),  # type: ignore[attr-defined]
            lambda: self.random.random(),
            lambda: self.numpy_random.random(),
            lambda: self.pair[1][1].append(4),
            lambda: self.partial(),
            lambda: setattr(self, "late", [numbers.randrange(9)]),
            lambda: self.__dict__.pop("late", None),
            lambda: setattr(self, "__class__", Other),
            lambda: setattr(self, "__dict__", dict(reversed(self.__dict__.items()))),
            lambda: self.current_level._sprites.append(Sprite([[2]], name="two", x=numbers.randrange(9))),
            lambda: self.current_level._sprites.reverse(),
        ]
        for _ in range(4):
            numbers.choice(changes)()
        self.complete_action()


class Other(Parts):
    """The class that some steps give to the game."""


def contents(game: Any) -> Any:
    """Returns what the state consists of, as Python code sees it."""
    held = {
        name: value
        for name, value in vars(game).items()
        if name not in ("add", "partial", "bound", "slotted", "random", "numpy_random")
    }
    texts = {name: repr(value) for name, value in held.items() if not name.startswith("_")}
    closure = [cell.cell_contents for cell in game.add.__closure__], list(game.add.__defaults__[0])
    generators = game.random.getstate(), str(game.numpy_random.bit_generator.state)
    slots = getattr(game.slotted, "number", None), list(game.slotted.items), list(game.names.extra)
    sprites = [(sprite.name, sprite.x) for sprite in game.current_level._sprites]
    return type(game), list(vars(game)), texts, closure, generators, slots, sprites, list(game.places)


def test_every_kind_of_part_is_restored() -> None:
    game = Parts()
    numbers = random.Random(11)
    memento = RECORDER.capture(game, [])
    assert memento is not None
    states = [(memento, contents(game), RECORDER.digest(game, []))]
    for _ in range(400):
        before, expected, digest = numbers.choice(states)
        assert before.restore()
        assert contents(game) == expected
        assert RECORDER.digest(game, []) == digest
        game.perform_action(ActionInput(id=6, data={"x": numbers.randrange(10**6), "y": 0}), raw=True)
        after = RECORDER.capture(game, [], before)
        assert after is not None
        states.append((after, contents(game), RECORDER.digest(game, [])))


def test_object_whose_state_cannot_be_read_is_declined() -> None:
    game = Parts()
    memento = RECORDER.capture(game, [])
    assert memento is not None
    for unreadable in (
        iter([1, 2]),
        (number for number in range(3)),
        collections.OrderedDict(a=1),
        np.array([[]], dtype=object),
    ):
        game.unreadable = unreadable  # type: ignore[attr-defined]
        assert RECORDER.capture(game, []) is None
        assert RECORDER.capture(game, [], memento) is None
        assert memento.restore() and not hasattr(game, "unreadable")


def test_array_with_another_shape_is_not_restored() -> None:
    game = Parts()
    numbers = np.zeros(4)
    game.numbers = numbers  # type: ignore[attr-defined]
    memento = RECORDER.capture(game, [])
    assert memento is not None
    numbers.resize(8, refcheck=False)
    assert not memento.is_current() and not memento.restore()


MODULE = """
import logging, random
from rhae.arcengine import ARCBaseGame, Level, Sprite
COUNT, LOG, ITEMS, RANDOM = 0, logging.getLogger("game"), {"a": [1]}, random.Random(4)
STREAM = iter([1, 2, 3])
class Kept:
    total = 0
    names = []
def remember(known={}):
    known[len(known)] = COUNT
class Game(ARCBaseGame):
    def __init__(self, seed=0):
        super().__init__("module", [Level([Sprite([[1]])])])
    def step(self):
        global COUNT, FRESH
        COUNT += 1
        FRESH = COUNT
        ITEMS["a"].append(COUNT)
        Kept.total, Kept.extra = COUNT, [COUNT]
        Kept.names.append(RANDOM.random())
        remember()
        remember.calls = COUNT
        self.complete_action()
"""


def load_module(name: str = "game_with_variables") -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(MODULE, "game.py", "exec"), module.__dict__)
    return module


def test_variables_of_a_module_are_restored_and_hashed() -> None:
    module = load_module()
    game = module.Game()
    memento = RECORDER.capture(None, [module])
    assert memento is not None
    digests = {RECORDER.digest(None, [module])}
    for _ in range(3):
        game.perform_action(ActionInput(id=1), raw=True)
        digests.add(RECORDER.digest(None, [module]))
    assert len(digests) == 4 and not memento.is_current()
    assert memento.restore()
    assert (module.COUNT, module.ITEMS, module.Kept.total, module.Kept.names) == (0, {"a": [1]}, 0, [])
    assert not hasattr(module, "FRESH") and not hasattr(module.Kept, "extra") and not hasattr(module.remember, "calls")
    assert module.remember.__defaults__ == ({},) and module.RANDOM.random() == random.Random(4).random()


def test_hash_does_not_depend_on_addresses_and_generated_names() -> None:
    def made(extra: int) -> Any:
        sprites = [Sprite([[number]], x=number) for number in range(4)]
        return sprites, {"set": {sprite.x for sprite in sprites}, "last": sprites[-1]}, (1, "a", 2.5, None, extra)

    assert RECORDER.digest(made(1), []) == RECORDER.digest(made(1), [])
    assert RECORDER.digest(made(1), []) != RECORDER.digest(made(2), [])
    one, other = [1], [1]
    assert RECORDER.digest([one, one], []) != RECORDER.digest([one, other], [])


def test_classes_of_unloaded_games_are_freed() -> None:
    """Loads and unloads a game many times. Its classes are freed, and the caches do not grow."""
    classes: list[weakref.ref[Any]] = []
    sizes = []
    for number in range(40):
        module = load_module(f"unloaded_game_{number}")
        game = module.Game()
        copy = game.clone()
        assert RECORDER.capture(copy, [module]) is not None
        RECORDER.digest(copy, [module])
        classes += [weakref.ref(module.Game), weakref.ref(module.Kept)]
        del sys.modules[module.__name__], module, game, copy
        gc.collect()
        sizes.append((_native.cached_classes(), RECORDER.cached_classes()))
    assert [found() for found in classes] == [None] * len(classes)
    assert sizes[-1] == sizes[5], sizes


def test_only_modules_of_the_same_folder_belong_to_a_game(tmp_path: Any) -> None:
    module, helper, other = (types.ModuleType(name) for name in ("one_game", "its_helper", "another_game"))
    module.__file__, helper.__file__ = str(tmp_path / "game.py"), str(tmp_path / "helper.py")
    other.__file__ = str(tmp_path / "other" / "game.py")
    for one in (module, helper, other):
        sys.modules[one.__name__] = one
    try:
        assert _mementos.modules_of(module) == [module, helper]
    finally:
        for one in (module, helper, other):
            del sys.modules[one.__name__]
