"""Clones, deep copies and pickles continue like the original and are independent of it."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from engines import NAMES, actions, game_on, ours, summary, take

from rhae.arcengine import ActionInput, ARCBaseGame, CloneError, GameAction, Level, Sprite


def played(name: str, count: int = 120) -> Any:
    game = game_on(name, ours)
    for action in actions(random.Random(5), count):
        take(game, ours, action)
    return game


def continue_play(game: Any, seed: int, count: int = 80) -> list[Any]:
    return [summary(game, take(game, ours, action)) for action in actions(random.Random(seed), count)[1:]]


WAYS: dict[str, Callable[[Any], Any]] = {
    "clone": lambda game: game.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
}
#: Games that hold a function without an importable name, which cannot be pickled.
UNPICKLABLE = {"snake": "game.score.paint", "kin": "game._levels[1]._sprites"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_copy_continues_like_the_original_and_independently(name: str, way: str) -> None:
    game = played(name)
    try:
        twin = WAYS[way](game)
    except pickle.PicklingError as error:
        assert way == "pickle" and name in UNPICKLABLE, error
        return
    control = WAYS[way](game)
    continue_play(twin, seed=1)
    assert continue_play(game, seed=2) == continue_play(control, seed=2)


@pytest.mark.parametrize("name", NAMES)
def test_copy_shares_no_mutable_objects(name: str) -> None:
    game = played(name)
    twin = game.clone()
    mine, its = list(reachable(game)), {id(thing) for thing in reachable(twin)}
    shared = [thing for thing in mine if id(thing) in its]
    assert not shared, shared[:3]


def reachable(thing: Any, seen: set[int] | None = None) -> Any:
    """Yields all mutable objects that are reachable from a game."""
    seen = set() if seen is None else seen
    if id(thing) in seen or isinstance(thing, type | str | bytes | int | float | None):
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray | list | dict | set) or type(thing).__name__ in ("Sprite", "Level", "Camera"):
        yield thing
    inside: list[Any] = []
    if isinstance(thing, dict):
        inside = [*thing, *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside = list(thing)
    elif type(thing).__module__.split(".")[0] in ("rhae", "games_on_rhae_arcengine"):
        inside = list(getattr(thing, "__dict__", {}).values())
        if type(thing).__name__ in ("GameAction", "BlockingMode", "InteractionMode", "GameState"):
            return
    # Clones of a level share its placeable areas, but clones of the game do not.
    for part in inside:
        yield from reachable(part, seen)


class Parts(ARCBaseGame):
    """Holds parts that are hard to copy: views, closures, bound methods, shared sprites."""

    def __init__(self, seed: int = 0) -> None:
        self.board = np.zeros((4, 4), dtype=np.int8)
        self.window = self.board[1:3, ::-1]
        self.count = 0

        def add(amount: int) -> int:
            self.count += amount
            return self.count

        self.add = add
        self.bound = self.complete_action
        self.both = {"sprite": Sprite(self.window, name="window")}
        super().__init__("parts", [Level([Sprite([[1]], name="one")])])
        self.current_level.add_sprite(self.both["sprite"])

    def step(self) -> None:
        self.add(1)
        self.board[1, 1] = self.count % 16
        self.bound()


def test_closures_views_and_bound_methods_belong_to_the_copy() -> None:
    game = Parts()
    for twin in (game.clone(), copy.deepcopy(game), copy.deepcopy((game, 1))[0]):
        twin.perform_action(ActionInput(id=1), raw=True)
        assert (twin.count, game.count) == (1, 0)
        assert twin.window[0, 2] == 1 and not game.board.any()
        assert twin.current_level._sprites[1].pixels[0, 2] == 1
        assert twin.both["sprite"] is twin.current_level._sprites[1]


def test_deepcopy_of_a_container_copies_game_and_parts_together() -> None:
    game = Parts()
    sprite, twin, level = copy.deepcopy((game.both["sprite"], game, game.current_level))
    assert twin.current_level is level and twin.both["sprite"] is sprite


class Stream(ARCBaseGame):
    """Holds a generator, which cannot be copied."""

    def __init__(self, start: int, seed: int = 0) -> None:
        self.numbers = (start + number for number in range(1000))
        super().__init__("stream", [Level([Sprite([[1]], name="one")])])

    def step(self) -> None:
        self.current_level._sprites[0].set_position(next(self.numbers), 0)
        self.complete_action()


def test_game_with_an_uncopyable_part_is_replayed() -> None:
    game = Stream(5)
    for _ in range(3):
        game.perform_action(ActionInput(id=1), raw=True)
    for twin in (game.clone(), copy.deepcopy(game).clone()):
        assert twin.current_level._sprites[0].x == game.current_level._sprites[0].x == 7
        twin.perform_action(ActionInput(id=1), raw=True)
        assert twin.current_level._sprites[0].x == 8
    assert game.current_level._sprites[0].x == 7
    game.current_level._sprites[0]._x = 40
    with pytest.raises(CloneError, match="another state"):
        game.clone()


class Late(ARCBaseGame):
    """Can be copied until a click stores a generator in it."""

    def __init__(self, seed: int = 0) -> None:
        self.numbers: Any = None
        super().__init__("late", [Level([Sprite([[1]], name="one")])])

    def step(self) -> None:
        if self.action.id == GameAction.ACTION6:
            far = self.action.data["x"]
            self.numbers = (far for _ in range(9))
        self.current_level._sprites[0].move(1 if self.numbers is None else next(self.numbers), 0)
        self.complete_action()


def test_replay_includes_actions_before_earlier_copies() -> None:
    game = Late()
    games = [game]
    for click in (10, 20, 30):
        game.perform_action(ActionInput(id=2), raw=True)
        game = game.clone()
        games.append(game)
        games[-2].perform_action(ActionInput(id=6, data={"x": click, "y": 0}), raw=True)
    for number, game in enumerate(games[:3], 1):
        data = game.action.data
        twin = game.clone()
        data["x"] = 50
        assert twin.current_level._sprites[0].x == game.current_level._sprites[0].x == number + number * 10
        twin.perform_action(ActionInput(id=1), raw=True)
        assert twin.clone().current_level._sprites[0].x == number + number * 20


def test_pickling_error_names_the_part() -> None:
    with pytest.raises(pickle.PicklingError, match=r"`game\.add` holds the function `Parts\.__init__\.<locals>\.add`"):
        pickle.dumps(Parts())
    with pytest.raises(pickle.PicklingError, match=r"`game\.numbers` holds the generator"):
        pickle.dumps(Stream(1))


def test_actions_are_pickled_by_name() -> None:
    for action in GameAction:
        assert pickle.loads(pickle.dumps(action)) is action
    taken = ActionInput(id=6, data={"x": 1, "y": 2})
    assert pickle.loads(pickle.dumps(taken)) == taken
