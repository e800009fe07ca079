"""Random sprites, levels, cameras and operations: equal results, types and errors on both engines."""

from __future__ import annotations

import os
import types
from typing import Any

import numpy as np
import pytest
from engines import official, ours
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

settings.register_profile(
    "both",
    max_examples=5_000 if os.environ.get("RHAE_FULL") else 250,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("both")

SMALL = st.integers(-9, 9)
CELLS = st.one_of(st.integers(-1, 15), st.integers(-3, 15))
BLOCKING = st.sampled_from(["NOT_BLOCKED", "BOUNDING_BOX", "PIXEL_PERFECT"])
INTERACTION = st.sampled_from(["TANGIBLE", "INTANGIBLE", "INVISIBLE", "REMOVED"])
TAGS = st.lists(st.sampled_from(["a", "b", "c", "sys_static", "sys_click", "sys_every_pixel"]), max_size=3)


@st.composite
def cells(draw: st.DrawFn) -> Any:
    """Generates cells as games pass them: lists, arrays, views, sometimes invalid values."""
    height, width = draw(st.sampled_from([(1, 1), (2, 2), (2, 3), (4, 4), (3, 6), (6, 6), (1, 7), (0, 0), (2, 0)]))
    rows = [[draw(CELLS) for _ in range(width)] for _ in range(height)]
    kind = draw(st.sampled_from(["list", "list", "list", "int8", "int64", "uint8", "float", "strided", "turned", "odd"]))
    if kind == "list":
        return rows
    array = np.array(rows, dtype=np.int64).reshape(height, width)
    if kind == "odd":
        return draw(st.sampled_from([None, [1, 2], [[1], [2, 3]], np.zeros(3), np.zeros((1, 1, 1)), [[300]], ((1,),)]))
    if kind == "strided":
        return np.repeat(array.astype(np.int8), 2, axis=1)[:, ::2]
    if kind == "turned":
        return array.astype(np.int8).T[::-1]
    return array.astype({"int8": np.int8, "int64": np.int64, "uint8": np.uint8, "float": np.float64}[kind])


SPRITE = st.fixed_dictionaries(
    {
        "pixels": cells(),
        "name": st.sampled_from(["one", "two", "three"]),
        "x": SMALL,
        "y": SMALL,
        "layer": st.integers(-2, 2),
        "scale": st.sampled_from([1, 1, 1, 2, 3, -1, -2, 0]),
        "rotation": st.sampled_from([0, 0, 90, 180, 270, -90, 450, 45]),
        "mirror_ud": st.booleans(),
        "mirror_lr": st.booleans(),
        "blocking": BLOCKING,
        "interaction": st.one_of(st.none(), INTERACTION),
        "visible": st.booleans(),
        "collidable": st.booleans(),
        "tags": TAGS,
    }
)
NUMBER = st.one_of(SMALL, st.floats(-3, 3), st.just(np.int64(2)), st.just(True))
OPERATION = st.one_of(
    st.tuples(st.just("set_rotation"), st.sampled_from([0, 90, 180, 270, 360, -90, 30])),
    st.tuples(st.just("rotate"), st.sampled_from([90, -90, 180, 450, 10])),
    st.tuples(st.just("set_position"), NUMBER, NUMBER),
    st.tuples(st.just("move"), NUMBER, NUMBER),
    st.tuples(st.just("set_scale"), st.sampled_from([1, 2, -1, -2, 0, 1.7])),
    st.tuples(st.just("adjust_scale"), st.sampled_from([-3, -2, 2, 3, 0])),
    st.tuples(st.just("set_layer"), NUMBER),
    st.tuples(st.just("set_name"), st.sampled_from(["", "new"])),
    st.tuples(st.just("set_mirror_ud"), st.sampled_from([True, False, 1, None])),
    st.tuples(st.just("set_mirror_lr"), st.booleans()),
    st.tuples(st.just("set_visible"), st.booleans()),
    st.tuples(st.just("set_collidable"), st.booleans()),
    st.tuples(st.just("set_blocking"), st.one_of(BLOCKING, st.just("nonsense"))),
    st.tuples(st.just("set_interaction"), st.one_of(INTERACTION, st.just("nonsense"))),
    st.tuples(st.just("color_remap"), st.sampled_from([None, 1, -1]), st.sampled_from([3, -1, 200, np.int64(4)])),
    st.tuples(st.just("="), st.just("pixels"), cells()),
    st.tuples(st.just("="), st.sampled_from(["_x", "_y", "_layer"]), st.sampled_from([2, 1.5, np.int64(3), 2**70])),
    st.tuples(st.just("="), st.just("_scale"), st.sampled_from([0, 1, 2, -1])),
    st.tuples(st.just("="), st.just("rotation"), st.sampled_from([0, 90, 45, 100, -90])),
    st.tuples(st.just("="), st.just("_tags"), st.sampled_from([("a", "b"), {"a"}, ["a"], "abc", None])),
    st.tuples(st.just("="), st.just("_interaction"), st.sampled_from([None, 1])),
    st.tuples(st.just("paint"), st.integers(0, 5), st.integers(0, 5), CELLS),
)


def modes(engine: types.ModuleType, name: str, value: Any) -> Any:
    kind = {"blocking": engine.BlockingMode, "interaction": engine.InteractionMode}.get(name)
    return kind[value] if kind is not None and value in kind.__members__ else value


def make(engine: types.ModuleType, spec: dict[str, Any]) -> Any:
    made = {name: modes(engine, name, value) for name, value in spec.items()}
    made["tags"] = list(spec["tags"])
    if isinstance(made["pixels"], np.ndarray):
        made["pixels"] = _same_strides(made["pixels"])
    return engine.Sprite(**made)


def _same_strides(array: np.ndarray) -> np.ndarray:
    """Copies an array and its memory layout, so that the engines do not share cells."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    copy = base.copy()
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, copy, start, array.strides) if array.size else array.copy()


def operate(engine: types.ModuleType, sprite: Any, operation: tuple[Any, ...]) -> Any:
    name, *args = operation
    if name == "=":
        value = args[1]
        setattr(sprite, args[0], _same_strides(value) if isinstance(value, np.ndarray) else value)
        return None
    if name == "paint":
        sprite.pixels[args[0], args[1]] = args[2]
        return None
    args = [modes(engine, name.removeprefix("set_"), value) for value in args]
    result = getattr(sprite, name)(*args)
    return "itself" if result is sprite else result


def plain(value: Any) -> Any:
    """Converts a value to a form that does not depend on the engine."""
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if type(value).__name__ in ("Sprite", "Level"):
        return {name: plain(part) for name, part in vars(value).items()}
    if type(value).__name__ in ("BlockingMode", "InteractionMode"):
        return value.name
    if type(value).__name__ == "ActionInput":
        return value.model_dump_json()
    return (type(value).__name__, value)


def outcome(function: Any, *args: Any) -> Any:
    """Returns a result, or the type and text of the error."""
    try:
        with np.errstate(all="ignore"):
            return plain(function(*args))
    except Exception as error:
        return (type(error).__name__, str(error))


PROPERTIES = ["render", "width", "height", "is_visible", "is_collidable", "clone", "x", "y", "tags", "layer", "scale"]


def read_property(sprite: Any, name: str) -> Any:
    answer = getattr(sprite, name)
    return answer() if callable(answer) else answer


@pytest.mark.short_form("250 instead of 5,000 examples")
@given(SPRITE, st.lists(OPERATION, max_size=6))
def test_sprite_operations_equal_the_original(spec: dict[str, Any], operations: list[tuple[Any, ...]]) -> None:
    assert outcome(make, ours, spec) == outcome(make, official, spec)
    try:
        theirs, mine = make(official, spec), make(ours, spec)
    except Exception:
        return
    for operation in operations:
        assert outcome(operate, ours, mine, operation) == outcome(operate, official, theirs, operation), operation
        assert plain(mine) == plain(theirs), operation
        for name in PROPERTIES:
            assert outcome(read_property, mine, name) == outcome(read_property, theirs, name), (operation, name)


LEVEL = st.tuples(
    st.lists(SPRITE, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), OPERATION), max_size=6),
    st.sampled_from([None, (8, 8), (5, 9)]),
)
CAMERA = st.fixed_dictionaries(
    {
        "x": SMALL,
        "y": SMALL,
        "width": st.sampled_from([8, 16, 7, 64, 1, 0, 65, -1, 20]),
        "height": st.sampled_from([8, 16, 5, 64, 1, 33, 20]),
        "background": st.sampled_from([0, 5, 15, -1, 300, 2.5]),
        "letter_box": st.sampled_from([0, 5, 15, 300]),
    }
)


def build(engine: types.ModuleType, spec: Any) -> Any:
    """Builds a level from the valid sprites, then applies operations, some of which fail."""
    sprites = []
    for sprite in spec[0]:
        try:
            sprites.append(make(engine, sprite))
        except Exception:
            continue
    level = engine.Level(sprites, spec[2], {"key": [1]})
    for index, operation in spec[1]:
        if level._sprites:
            outcome(operate, engine, level._sprites[index % len(level._sprites)], operation)
    return level


def level_queries(engine: types.ModuleType, level: Any) -> list[Any]:
    """Returns the results of all queries that a game can make."""
    answers = [outcome(level.get_sprites_by_tag, tag) for tag in ("a", "sys_static", 3)]
    answers += [outcome(level.get_sprites_by_tags, tags) for tags in ([], ["a"], ["a", "b"], ("a",))]
    answers += [outcome(level.get_sprites_by_any_tag, tags) for tags in ([], ["a", "b"], ("c",))]
    answers += [outcome(level.get_sprites_by_name, name) for name in ("one", None)]
    answers.append(outcome(lambda: sorted(level.get_all_tags())))
    for x, y in [(0, 0), (1, 2), (-3, -2), (4, 1), (1.5, 0)]:
        for tag in (None, "a"):
            answers += [outcome(level.get_sprite_at, x, y, tag, ignore) for ignore in (False, True)]
    sprites = level.get_sprites()
    for one in sprites:
        for other in sprites:
            answers += [outcome(one.collides_with, other, ignore) for ignore in (False, True)]
        answers += [outcome(level.collides_with, one, ignore) for ignore in (False, True)]
    if len(sprites) > 1:
        # Merged tags have the arbitrary order of a set.
        answers.append(outcome(lambda: {**plain(sprites[0].merge(sprites[1])), "_tags": 0}))
    answers.append(outcome(level.clone))
    return answers


@pytest.mark.short_form("250 instead of 5,000 examples")
@given(LEVEL)
def test_level_queries_equal_the_original(spec: Any) -> None:
    theirs, mine = outcome(build, official, spec), outcome(build, ours, spec)
    assert mine == theirs
    if isinstance(theirs, dict):
        one, two = build(official, spec), build(ours, spec)
        assert level_queries(ours, two) == level_queries(official, one)
        assert sorted(vars(two)) == sorted(vars(one))


@pytest.mark.short_form("250 instead of 5,000 examples")
@given(LEVEL, CAMERA, st.lists(st.tuples(st.integers(-9, 70), st.integers(-9, 70)), max_size=4))
def test_camera_equals_the_original(spec: Any, window: dict[str, Any], places: list[tuple[int, int]]) -> None:
    def seen(engine: types.ModuleType) -> Any:
        sprites = build(engine, spec).get_sprites()
        pairs = [(sprites[0], sprites[-1])] if sprites else []
        display = engine.ToggleableUserDisplay(pairs)
        camera = engine.Camera(**window, interfaces=[display])
        answers = [
            outcome(camera.render, sprites),
            outcome(camera._raw_render, sprites),
            outcome(camera._raw_render, []),
        ]
        answers += [outcome(camera._calculate_scale_and_offset), outcome(camera._raw_render, tuple(sprites))]
        answers += [outcome(camera.display_to_grid, *place) for place in places]
        canvas = np.full((64, 64), 1, dtype=np.int8)
        if sprites:
            answers += [outcome(display.draw_sprite, canvas, sprites[0], *place) for place in places]
            answers += [outcome(display.draw_sprite, np.full((70, 64), 1), sprites[0], *place) for place in places]
            answers += [display.disabled_first_by_tag("a"), display.is_enabled(0), display.enable_first_by_tag("a")]
            answers += [outcome(display.enable, 1), outcome(display.render_interface, canvas)]
        return answers

    assert outcome(seen, ours) == outcome(seen, official)


@pytest.mark.short_form("250 instead of 5,000 examples")
@given(LEVEL, CAMERA, st.sampled_from([[1, 6], [6], [2, 5, 7]]))
def test_valid_actions_equal_the_original(spec: Any, window: dict[str, Any], actions: list[int]) -> None:
    def offered(engine: types.ModuleType) -> Any:
        game = engine.ARCBaseGame("any", [build(engine, spec)], engine.Camera(**window), available_actions=actions)
        data = outcome(lambda: game.perform_action(engine.ActionInput(id=1)).model_dump_json())
        moved = [outcome(game.try_move, name, 1, 0) for name in ("one", "none")]
        return [outcome(game._get_valid_actions), data, moved, outcome(game.get_pixels, 1, 1, 3, 3)]

    assert outcome(offered, ours) == outcome(offered, official)


def test_overridden_methods_are_called() -> None:
    """Overrides methods of displays, sprites, cameras and games, on the class or on one object."""

    def seen(engine: types.ModuleType) -> Any:
        class Doubling(engine.ToggleableUserDisplay):  # type: ignore[name-defined, misc]
            def draw_sprite(self, frame: Any, sprite: Any, start_x: int, start_y: int) -> Any:
                return super().draw_sprite(frame, sprite, start_x * 2, start_y)

        class Ghost(engine.Sprite):  # type: ignore[name-defined, misc]
            @property
            def interaction(self) -> Any:
                return engine.InteractionMode.REMOVED if self._x > 3 else engine.InteractionMode.TANGIBLE

        class Choosy(engine.ARCBaseGame):  # type: ignore[name-defined, misc]
            def _is_sprite_clickable_now(self, sprite: Any) -> bool:
                for other in self.current_level.get_sprites():
                    other.move(1, 0)
                return bool(sprite.x % 2 == 0)

        tags = ["sys_click", "sys_every_pixel"]
        sprites = [engine.Sprite([[-1, 3], [4, 5]], f"s{x}", x, 2, tags=tags[: 1 + x % 2]) for x in range(6)]
        answers: list[Any] = []
        for pair in [sprites[:2], [Ghost([[7, 7]], "g", x, 8) for x in (2, 5)], [Ghost([[9]], "g", 1, 9), sprites[4]]]:
            for display in (engine.ToggleableUserDisplay(), Doubling()):
                display._sprite_pairs = [tuple(pair), (sprites[3], sprites[5])]
                answers.append(outcome(display.render_interface, np.full((64, 64), 1, dtype=np.int8)))
                display.draw_sprite = lambda frame, sprite, x, y: frame + x  # type: ignore[method-assign]
                answers.append(outcome(display.render_interface, np.full((64, 64), 1, dtype=np.int8)))
        for kind in (engine.ARCBaseGame, Choosy):
            game = kind("any", [engine.Level(sprites, (20, 12))], available_actions=[6])
            answers.append(outcome(game._get_valid_actions))
            game.current_level.get_sprites()[0]._x = np.int64(1)
            answers.append(outcome(lambda game=game: [type(one.data["x"]).__name__ for one in game._get_valid_actions()]))
            game._is_sprite_clickable_now = lambda sprite: sprite.name == "s1"  # type: ignore[method-assign]
            answers.append(outcome(game._get_valid_actions))
        for name, value in {
            "_raw_render": lambda sprites: np.full((3, 4), len(sprites)),
            "_calculate_scale_and_offset": lambda: (2, 1, 5),
            "MAX_DIMENSION": 70,
            "note": "of the game's own",
        }.items():
            camera = engine.Camera(width=20, height=12)
            setattr(camera, name, value)
            answers.append(outcome(camera.render, sprites))
        return answers

    assert seen(ours) == seen(official)


def test_sprite_may_share_memory_with_the_display() -> None:
    """A sprite that is a view of the display is drawn with the cells from before the drawing."""

    def seen(engine: types.ModuleType) -> Any:
        frame = (np.arange(64 * 64) % 15).astype(np.int8).reshape(64, 64)
        display = engine.ToggleableUserDisplay()
        sprite = engine.Sprite(frame, "all", 3, 1)
        part = engine.Sprite(frame[10:20, 10:20], "part", 12, 11)
        display.draw_sprite(frame, sprite, 2, 1)
        display.draw_sprite(frame, part, 11, 12)
        display._sprite_pairs = [(sprite, part)]
        return [outcome(display.render_interface, frame), outcome(part.render)]

    assert seen(ours) == seen(official)
