"""Modes and states of sprites and games, actions, and the models of inputs and results."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

import numpy as np
from pydantic import BaseModel, Field, PrivateAttr, field_validator

#: The maximum size of a client's reasoning as JSON.
MAX_REASONING_BYTES = 16 * 1024


class BlockingMode(Enum):
    """Which part of a sprite collides: nothing, its rectangle, or its visible cells."""

    NOT_BLOCKED = auto()
    BOUNDING_BOX = auto()
    PIXEL_PERFECT = auto()


class InteractionMode(Enum):
    """Whether a sprite is visible and whether it collides.

    `TANGIBLE` is both, `INTANGIBLE` only visible, `INVISIBLE` only collidable, `REMOVED` neither.
    """

    TANGIBLE = auto()
    INTANGIBLE = auto()
    INVISIBLE = auto()
    REMOVED = auto()


class GameState(str, Enum):  # noqa: UP042  (a `StrEnum` would print differently)
    """The state of a play."""

    NOT_PLAYED = "NOT_PLAYED"
    NOT_FINISHED = "NOT_FINISHED"
    WIN = "WIN"
    GAME_OVER = "GAME_OVER"


class SimpleAction(BaseModel):
    """The data of an action without a position."""

    game_id: str = ""


class ComplexAction(BaseModel):
    """The data of an action at a position of the display."""

    game_id: str = ""
    x: int = Field(0, ge=0, le=63)
    y: int = Field(0, ge=0, le=63)


class GameAction(Enum):
    """The actions of the ARC-AGI-3 API. The value of a member is its official number."""

    RESET = (0, SimpleAction)
    ACTION1 = (1, SimpleAction)
    ACTION2 = (2, SimpleAction)
    ACTION3 = (3, SimpleAction)
    ACTION4 = (4, SimpleAction)
    ACTION5 = (5, SimpleAction)
    ACTION6 = (6, ComplexAction)
    ACTION7 = (7, SimpleAction)

    action_type: type[SimpleAction] | type[ComplexAction]
    action_data: SimpleAction | ComplexAction

    def __init__(self, action_id: int, action_type: type[SimpleAction] | type[ComplexAction]) -> None:
        self._value_ = action_id
        self.action_type = action_type
        self.action_data = action_type()

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[[str], GameAction], tuple[str]]:
        # By default an `Enum` member is pickled by its value, but here the member cannot be looked
        # up by its value.
        return GameAction.from_name, (self._name_,)

    def is_simple(self) -> bool:
        """Returns whether the action has no position."""
        return self.action_type is SimpleAction

    def is_complex(self) -> bool:
        """Returns whether the action has a position."""
        return self.action_type is ComplexAction

    def validate_data(self, data: dict[str, Any]) -> bool:
        """Returns true for valid data; otherwise raises pydantic's `ValidationError`."""
        self.action_type.model_validate(data)
        return True

    def set_data(self, data: dict[str, Any]) -> SimpleAction | ComplexAction:
        """Stores data on the enum member itself, so all users of the action share the data."""
        made = self.action_data = self.action_type(**data)
        return made

    @classmethod
    def from_id(cls, action_id: int) -> GameAction:
        """Returns the action with an official number."""
        try:
            return _BY_ID[action_id]
        except (KeyError, TypeError):
            raise ValueError(f"No GameAction with id {action_id}") from None

    @classmethod
    def from_name(cls, name: str) -> GameAction:
        """Returns the action with a name, ignoring case."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise ValueError(f"No GameAction with name '{name}'") from None

    @classmethod
    def all_simple(cls) -> list[GameAction]:
        """Returns the actions without a position."""
        return [action for action in cls if action.is_simple()]

    @classmethod
    def all_complex(cls) -> list[GameAction]:
        """Returns the actions with a position."""
        return [action for action in cls if action.is_complex()]


_BY_ID: dict[int, GameAction] = {action.value: action for action in GameAction}


class ActionInput(BaseModel):
    """An action with its data and the client's reasoning."""

    id: GameAction = GameAction.RESET
    data: dict[str, Any] = {}
    reasoning: Any | None = Field(default=None, description="Opaque client-supplied blob; stored & echoed back verbatim.")

    @field_validator("reasoning")
    @classmethod
    def _check_reasoning(cls, reasoning: Any) -> Any:
        if reasoning is None:
            return None
        try:
            size = len(json.dumps(reasoning, separators=(",", ":")).encode())
        except (TypeError, ValueError):
            raise ValueError("reasoning must be JSON-serialisable") from None
        if size > MAX_REASONING_BYTES:
            raise ValueError(f"reasoning exceeds {MAX_REASONING_BYTES} bytes")
        return reasoning


class FrameData(BaseModel):
    """The result of an action, with frames as lists."""

    game_id: str = ""
    frame: list[list[list[int]]] = []
    state: GameState = GameState.NOT_PLAYED
    levels_completed: int = Field(0, ge=0, le=254)
    win_levels: int = Field(0, ge=0, le=254)
    action_input: ActionInput = Field(default_factory=lambda: ActionInput())
    guid: str | None = None
    full_reset: bool = False
    available_actions: list[int] = []

    def is_empty(self) -> bool:
        """Returns whether there are no frames."""
        return len(self.frame) == 0

    def __str__(self) -> str:
        return self.model_dump_json(indent=2)


class FrameDataRaw(BaseModel):
    """The result of an action, with frames as arrays, which are not part of the model's data."""

    game_id: str = ""
    state: GameState = GameState.NOT_PLAYED
    levels_completed: int = 0
    win_levels: int = 0
    action_input: ActionInput = Field(default_factory=ActionInput)
    guid: str | None = None
    full_reset: bool = False
    available_actions: list[int] = Field(default_factory=list)

    _frame: list[np.ndarray] = PrivateAttr(default_factory=list)

    @property
    def frame(self) -> list[np.ndarray]:
        """The frames; the last one is the settled frame."""
        return self._frame

    @frame.setter
    def frame(self, value: list[np.ndarray]) -> None:
        self._frame = value

    def is_empty(self) -> bool:
        """Returns whether there are no frames."""
        return len(self._frame) == 0

    def __str__(self) -> str:
        return self.model_dump_json(indent=2)


class PlaceableArea:
    """A rectangle of a level in which a sprite can be placed.

    Positions repeat every `x_scale` columns and `y_scale` rows.
    """

    x: int = 0
    y: int = 0
    width: int = 0
    height: int = 0
    x_scale: int = 1
    y_scale: int = 1

    def __init__(self, x: int, y: int, width: int, height: int, x_scale: int = 1, y_scale: int = 1):
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.x_scale = x_scale
        self.y_scale = y_scale


# The standard `value` and `name` of enum members run Python code, which is slow, and games read
# them in every step. These properties are implemented in C.
for _enum in (BlockingMode, InteractionMode, GameAction, GameState):
    type.__setattr__(_enum, "value", property(operator.attrgetter("_value_")))
    type.__setattr__(_enum, "name", property(operator.attrgetter("_name_")))
