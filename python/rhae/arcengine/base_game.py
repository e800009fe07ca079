"""The base class of every game: levels, actions, resets, frames."""

from __future__ import annotations

import itertools
import os
from abc import ABC
from typing import Any, final

import numpy as np
from numpy import ndarray

from rhae import _native

from . import _copying, _history, _pickling
from .camera import Camera
from .enums import ActionInput, FrameData, FrameDataRaw, GameAction, GameState
from .level import Level
from .sprites import Sprite

#: An action that shows more frames than this raises an error. As in the original, the check comes
#: one frame too late, so 1,001 frames are allowed.
MAX_FRAME_PER_ACTION: int = 1000

_RESET = GameAction.RESET
_CLICK = GameAction.ACTION6
_GIVEN = set(FrameDataRaw.model_fields) - {"guid"}


def _click_points(sprite: Sprite, zoom: int, left: int, top: int) -> list[tuple[int, int]]:
    """Returns the points of the frame at which a sprite is clicked.

    These are the point of its first visible cell or, if it has the tag `sys_every_pixel`, those of
    all visible cells.
    """
    places: list[tuple[int, int]] = _native.click_points([sprite], zoom, left, top)
    if places is not NotImplemented:
        return places
    every = "sys_every_pixel" in sprite._tags
    rows = enumerate(sprite.render().tolist())
    found = ((row, column) for row, cells in rows for column, cell in enumerate(cells) if cell >= 0)
    return [
        ((sprite._x + column) * zoom + left, (sprite._y + row) * zoom + top)
        for row, column in (found if every else itertools.islice(found, 1))
    ]


def _simple(action: int) -> ActionInput:
    """Returns an action without data, with the fields that pydantic would set."""
    values = {"id": GameAction.from_id(action), "data": {}, "reasoning": None}
    made: ActionInput = _native.new_model(ActionInput, values, {"id"}, None)
    return made


class ARCBaseGame(ABC):
    """The base class of games.

    A subclass implements its rules in `step`. The engine calls `step` once per frame until the
    rules call `complete_action`.
    """

    _game_id: str
    _levels: list[Level]
    _clean_levels: list[Level]
    _current_level_index: int
    _camera: Camera
    _debug: bool
    _action: ActionInput
    _action_complete: bool
    _action_count: int
    _state: GameState
    _score: int
    _next_level: bool
    _full_reset: bool
    _win_score: int
    _available_actions: list[int]
    _placeable_sprite: Sprite | None
    _seed: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        game = super().__new__(cls)
        _history.begin(game, args, kwargs)
        return game

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _pickling.note(cls)

    def __init__(
        self,
        game_id: str,
        levels: list[Level],
        camera: Camera | None = None,
        debug: bool = False,
        win_score: int = 1,
        available_actions: list[int] = [1, 2, 3, 4, 5, 6],  # noqa: B006  (shared, as in the original)
        seed: int = 0,
    ) -> None:
        """Creates a game with copies of these levels.

        The game is won after `win_score` levels if that is more than 1, otherwise after all levels.
        """
        if not levels:
            raise ValueError("Game must have at least one level")
        self._game_id = game_id
        self._levels = [level.clone() for level in levels]
        self._clean_levels = [level.clone() for level in levels]
        self._current_level_index = 0
        self._debug = debug
        self._camera = Camera() if camera is None else camera
        self._state = GameState.NOT_PLAYED
        self._score = 0
        self._next_level = False
        self._action = ActionInput()
        self._action_complete = False
        self._action_count = 0
        self._full_reset = False
        self._win_score = win_score if win_score > 1 else len(levels)
        self.set_level(0)
        self._available_actions = available_actions
        self._placeable_sprite = None
        self._seed = seed

    def clone(self) -> Any:
        """Returns an independent copy in the same state.

        The result is the same as that of `copy.deepcopy` on the original engine, except that
        closures and array views in the copy refer to the copy instead of the original game. Copying
        is also faster. If a part cannot be copied (a generator, an open file), a new game is
        created and the actions are replayed. State outside the game object, such as module
        variables, is not copied.

        Raises:
            CloneError: A part cannot be copied, and the replay leads to another state or needs more
                than 100,000 actions.

        Examples:
            >>> from rhae.arcengine import ActionInput, ARCBaseGame, Level, Sprite
            >>> class Walker(ARCBaseGame):
            ...     def step(self):
            ...         self.current_level.get_sprites()[0].move(1, 0)
            ...         self.complete_action()
            >>> game = Walker("walker", [Level([Sprite([[9]])])])
            >>> copy = game.clone()
            >>> _ = copy.perform_action(ActionInput(id=1))
            >>> game.current_level.get_sprites()[0].x, copy.current_level.get_sprites()[0].x
            (0, 1)
        """
        return _copying.clone(self, None)

    def __deepcopy__(self, memo: Any) -> Any:
        return _copying.clone(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _pickling.reduce(self)

    def debug(self, message: str) -> None:
        """Prints a message if the game was created with `debug=True`."""
        if self._debug:
            print(message)

    @property
    @final
    def current_level(self) -> Level:
        """The current level."""
        return self._levels[self._current_level_index]

    @property
    @final
    def camera(self) -> Camera:
        """The camera that draws the level."""
        return self._camera

    @property
    @final
    def game_id(self) -> str:
        """The id that the subclass passed to the constructor."""
        return self._game_id

    @property
    @final
    def win_score(self) -> int:
        """The number of levels that must be completed to win."""
        return self._win_score

    @final
    def set_level(self, index: int) -> None:
        """Switches to a level in its current state.

        Resizes the camera to the level's grid, resets the action count, and calls `on_set_level`.
        """
        if not 0 <= index < len(self._levels):
            raise IndexError(f"Level index {index} out of range [0, {len(self._levels)})")
        self._current_level_index = index
        self._action_count = 0
        level = self.current_level
        if level.grid_size:
            self.camera.resize(level.grid_size[0], level.grid_size[1])
        self.on_set_level(level)

    def set_level_by_name(self, name: str) -> None:
        """Switches to the first level with this name."""
        for index, level in enumerate(self._levels):
            if level.name == name:
                return self.set_level(index)
        raise ValueError(f"Level with name {name} not found")

    @property
    @final
    def level_index(self) -> int:
        """The index of the current level, from 0."""
        return self._current_level_index

    @final
    def perform_action(self, action_input: ActionInput, raw: bool = False) -> FrameData | FrameDataRaw:
        """Executes an action: calls `step` and draws a frame until the action is complete.

        Frames are arrays if `raw`, otherwise lists. After a win or a loss every action except RESET
        has no effect and returns no frame.
        """
        _history.note(self, action_input)
        self._full_reset = False
        if action_input.id == _RESET:
            self.handle_reset()
        elif self._state == GameState.GAME_OVER or self._state == GameState.WIN:
            # The original passes the score under an outdated field name, so its result always has
            # the score 0.
            return FrameData(
                game_id=self._game_id,
                state=self._state,
                frame=[],
                action_input=action_input,
                available_actions=self._available_actions,
            )
        self._set_action(action_input)
        frames: list[Any] = []
        count = 0
        while not self.is_action_complete():
            if count > MAX_FRAME_PER_ACTION:
                raise ValueError("Action took too many frames")
            count += 1
            if self._next_level:
                self._really_set_next_level()
            else:
                self.step()
            frame = self.camera.render(self.current_level.get_sprites())
            frames.append(frame if raw else frame.tolist())
        return _native.frame_data(FrameDataRaw, _GIVEN, self, action_input, frames) if raw else self._data(action_input, frames)

    def _data(self, action_input: ActionInput, frames: list[list[list[int]]]) -> FrameData:
        return FrameData(
            game_id=self._game_id,
            frame=frames,
            state=self._state,
            levels_completed=self._score,
            win_levels=self._win_score,
            action_input=action_input,
            full_reset=self._full_reset,
            available_actions=self._available_actions,
        )

    @property
    @final
    def action(self) -> ActionInput:
        """The current action, or the last one."""
        return self._action

    @final
    def _set_action(self, action_input: ActionInput) -> None:
        self._state = GameState.NOT_FINISHED
        self._action = action_input
        self._action_complete = False
        if action_input.id != _RESET:
            self._action_count += 1

    @final
    def complete_action(self) -> None:
        """Ends the action after the next frame is drawn."""
        self._action_complete = True

    @final
    def is_action_complete(self) -> bool:
        """Returns whether the action has ended and no switch to the next level is pending."""
        return not self._next_level and self._action_complete

    @final
    def win(self) -> None:
        """Ends the game as won."""
        self._state = GameState.WIN

    @final
    def lose(self) -> None:
        """Ends the game as lost."""
        self._state = GameState.GAME_OVER

    def handle_reset(self) -> None:
        """Restarts the game if it is won or no action was taken on the level, otherwise the level.

        With the environment variable `ONLY_RESET_LEVELS=true`, a game that is not won always
        restarts the level only.
        """
        won = self._state == GameState.WIN
        if not won and os.getenv("ONLY_RESET_LEVELS") == "true":
            self.level_reset()
        elif won or self._action_count == 0:
            self.full_reset()
        else:
            self.level_reset()

    def full_reset(self) -> None:
        """Restarts the game at the first level."""
        self._levels = [level.clone() for level in self._clean_levels]
        self._score = 0
        self._action_count = 0
        self._full_reset = True
        self.set_level(0)
        self._state = GameState.NOT_FINISHED

    def level_reset(self) -> None:
        """Restarts the current level."""
        index = self._current_level_index
        self._levels[index] = self._clean_levels[index].clone()
        self.set_level(self._current_level_index)
        self._state = GameState.NOT_FINISHED

    def step(self) -> None:
        """Implements the rules. The engine calls this once per frame.

        Subclasses override it and call `complete_action` in the last call of an action.
        """
        self.complete_action()

    def try_move(self, sprite_name: str, dx: int, dy: int) -> list[Sprite]:
        """Moves the first sprite with this name; see `try_move_sprite`."""
        named = self.current_level.get_sprites_by_name(sprite_name)
        if not named:
            raise ValueError(f"No sprite found with name: {sprite_name}")
        return self.try_move_sprite(named[0], dx, dy)

    def try_move_sprite(self, sprite: Sprite, dx: int, dy: int) -> list[Sprite]:
        """Moves a sprite unless it would collide.

        Returns the sprites with which it would collide.
        """
        x, y = sprite.x, sprite.y
        sprite.move(dx, dy)
        others = self.current_level.get_sprites()
        hit: list[Sprite] = _native.collisions(sprite, others, False)
        if hit is NotImplemented:
            hit = [other for other in others if sprite.collides_with(other)]
        if hit:
            sprite.set_position(x, y)
        return hit

    def is_last_level(self) -> bool:
        """Returns whether the current level is the last one."""
        return self._current_level_index == len(self._levels) - 1

    def next_level(self) -> None:
        """Completes the level.

        The engine switches to the next level in the next frame. Completing the last level wins the
        game.
        """
        self._score += 1
        if self.is_last_level():
            self.win()
        else:
            self._next_level = True

    def _really_set_next_level(self) -> None:
        self.set_level(self._current_level_index + 1)
        self._next_level = False

    def on_set_level(self, level: Level) -> None:
        """Called after a switch to a level. Subclasses override it to prepare the level."""

    def get_pixels_at_sprite(self, sprite: Sprite) -> ndarray:
        """Returns the cells of the camera's view at the position and size of a sprite."""
        return self.get_pixels(sprite.x - self.camera.x, sprite.y - self.camera.y, sprite.width, sprite.height)

    def get_pixels(self, x: int, y: int, width: int, height: int) -> ndarray:
        """Returns the cells of a rectangle of the camera's view."""
        view = self.camera._raw_render(self.current_level.get_sprites())
        return view[y : y + height, x : x + width]

    def set_placeable_sprite(self, sprite: Sprite | None) -> None:
        """Selects the sprite that clicks place, or none."""
        self._placeable_sprite = sprite

    def _get_graph_location(self) -> tuple[float, float, float] | None:
        """Returns the position of this state in a drawing of the state graph, or None."""
        return None

    def _get_hidden_state(self) -> ndarray:
        """Returns an array that distinguishes states with identical frames."""
        return np.zeros((4, 4), dtype=np.int8)

    def _get_valid_actions(self) -> list[ActionInput]:
        """Returns the actions that may have an effect in this state."""
        valid: list[ActionInput] = []
        for action in self._available_actions:
            if action in (1, 2, 3, 4, 5):
                valid.append(_simple(action))
            elif action == 6:
                valid.extend(
                    self._get_valid_placeble_actions() if self._placeable_sprite else self._get_valid_clickable_actions()
                )
        return valid

    def _get_valid_placeble_actions(self) -> list[ActionInput]:
        """Returns a click for every cell of the placeable areas."""
        zoom, left, top = self.camera._calculate_scale_and_offset()
        places = [
            (x * zoom + left, y * zoom + top)
            for area in self.current_level.placeable_areas
            for y in range(area.y, area.y + area.height, area.y_scale)
            for x in range(area.x, area.x + area.width, area.x_scale)
        ]
        return _native.click_inputs(ActionInput, _CLICK, places)

    def _get_valid_clickable_actions(self) -> list[ActionInput]:
        """Returns a click on every sprite with the tag `sys_click` or `sys_place`.

        A sprite with the tag `sys_every_pixel` gets a click on each visible cell.
        """
        level = self.current_level
        sprites = level.get_sprites_by_tag("sys_click")
        sprites.extend(level.get_sprites_by_tag("sys_place"))
        zoom, left, top = self.camera._calculate_scale_and_offset()
        clickable = self._is_sprite_clickable_now
        always = getattr(clickable, "__func__", None) is _ALWAYS_CLICKABLE
        places: list[tuple[int, int]] = _native.click_points(sprites, zoom, left, top) if always else NotImplemented
        if places is NotImplemented:
            places = [
                place
                for sprite in sprites
                if self._is_sprite_clickable_now(sprite)
                for place in _click_points(sprite, zoom, left, top)
            ]
        return _native.click_inputs(ActionInput, _CLICK, places)

    def _is_sprite_clickable_now(self, sprite: Sprite) -> bool:
        """Returns whether a clickable sprite can be clicked in this state.

        Subclasses may override it.
        """
        return True


_ALWAYS_CLICKABLE: Any = ARCBaseGame._is_sprite_clickable_now
