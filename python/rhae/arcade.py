"""The interface of the official toolkit's ``Arcade``, in this process and without a server.

To run an agent that was written for the toolkit, change one import::

    from rhae import Arcade

The environments are those that ship with Rhae, or the games of a folder (``environments_dir``),
which run in sandboxed processes. Nothing is sent to a server: the toolkit's arguments for one (key,
base URL) raise an error.

In competition mode the competition rules apply: each environment can be played once, RESET restarts
only the level, the scorecard cannot be read before it is closed, and environments that were not
played count as 0.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rhae import _native
from rhae._hosting import games_request
from rhae.arcengine import ActionInput, FrameDataRaw, GameAction, GameState

__all__ = ["Arcade", "EnvironmentInfo", "EnvironmentScore", "EnvironmentScorecard", "EnvironmentWrapper", "OperationMode"]

Renderer = Callable[[int, FrameDataRaw], None]


class OperationMode(StrEnum):
    """The modes of the toolkit.

    All of them play without a server. ``COMPETITION`` applies the competition rules; the others are
    equivalent, and ``ONLINE`` logs a warning.
    """

    NORMAL = "normal"
    ONLINE = "online"
    OFFLINE = "offline"
    COMPETITION = "competition"


class EnvironmentInfo(BaseModel):
    """An entry of the list of environments."""

    model_config = ConfigDict(extra="allow")

    game_id: str
    title: str
    tags: list[str] = []
    baseline_actions: list[int] = []
    default_fps: int = 5


class EnvironmentScore(BaseModel):
    """The score of one run of an environment, or of all environments with a tag."""

    model_config = ConfigDict(extra="allow")

    id: str
    score: float
    levels_completed: int
    actions: int
    guid: str | None = None
    state: str | None = None
    completed: bool | None = None
    level_scores: list[float] = []
    level_actions: list[int] = []
    level_baseline_actions: list[int] = []
    message: str | None = None


class EnvironmentScoreList(BaseModel):
    """An environment on a scorecard, with all its runs."""

    model_config = ConfigDict(extra="allow")

    id: str
    score: float
    actions: int
    levels_completed: int
    completed: bool
    level_count: int
    resets: int
    runs: list[EnvironmentScore]


class EnvironmentScorecard(BaseModel):
    """A scorecard, with the fields of the REST API."""

    model_config = ConfigDict(extra="allow")

    card_id: str
    score: float
    method: str
    environments: list[EnvironmentScoreList]
    tags_scores: list[EnvironmentScore] = []
    tags: list[str] = []
    source_url: str | None = None
    opaque: Any = None
    competition_mode: bool | None = None
    total_environments: int
    total_environments_completed: int
    total_levels: int
    total_levels_completed: int
    total_actions: int

    def get(self, game_id: str | None = None) -> dict[str, Any]:
        """Returns the card, or one environment on it, as a dictionary.

        The dictionary is empty if the card has no such environment.
        """
        if game_id is None:
            return self.model_dump()
        found = (environment for environment in self.environments if game_id in (environment.id, environment.id[:4]))
        return next((environment.model_dump() for environment in found), {})

    def __str__(self) -> str:
        return self.model_dump_json(indent=2)


class _Card:
    """A scorecard: its plays and, once it is closed, the final card."""

    def __init__(self, source_url: str | None, tags: list[str], opaque: Any, competition: bool) -> None:
        self.id = str(uuid.uuid4())
        if "agent" not in tags and "human" not in tags:
            tags = [*tags, "agent"]
        self.facts = {
            "card_id": self.id,
            "source_url": source_url,
            "tags": tags,
            "opaque": opaque,
            "competition_mode": competition,
        }
        self.competition = competition
        self.plays: list[tuple[_native.Play, str]] = []
        self.closed: EnvironmentScorecard | None = None

    def scored(self, expected: _native.GameSet | None, method: str) -> EnvironmentScorecard:
        text = _native.scorecard(json.dumps(self.facts), self.plays, expected, method)
        return EnvironmentScorecard.model_validate_json(text)


class EnvironmentWrapper:
    """One play, with the interface of the toolkit's wrappers. :meth:`Arcade.make` creates it.

    :meth:`step` and :meth:`reset` return the observation. If the action is not possible, they log
    an error and return ``None``.
    """

    def __init__(
        self,
        environment_info: EnvironmentInfo,
        card: _Card,
        play: _native.Play,
        logger: logging.Logger,
        recording: Path | None,
        include_frame_data: bool,
        renderer: Renderer | None,
    ) -> None:
        self.environment_info = environment_info
        self.logger = logger
        self.scorecard_id = card.id
        self._card = card
        self._guid = str(uuid.uuid4())
        self._play = play
        self._recording = recording and recording / f"{environment_info.game_id}-{self._guid}.jsonl"
        self._include_frame_data = include_frame_data
        self._renderer = renderer
        self._steps = 0
        card.plays.append((self._play, self._guid))
        self._last: FrameDataRaw = self._observation(ActionInput(id=GameAction.RESET), self._play.observe())

    @property
    def observation_space(self) -> FrameDataRaw:
        """The observation that the last action returned."""
        return self._last

    @property
    def action_space(self) -> list[GameAction]:
        """The actions that are available now."""
        return [GameAction.from_id(number) for number in self._last.available_actions]

    @property
    def info(self) -> EnvironmentInfo:
        """The entry of the environment in the list of environments."""
        return self.environment_info

    def reset(self) -> FrameDataRaw | None:
        """Restarts the level.

        If no action was taken since the last reset, this restarts the whole game, except in
        competition mode.
        """
        return self.step(GameAction.RESET)

    def step(self, action: GameAction | int, data: dict[str, Any] | None = None, reasoning: Any = None) -> FrameDataRaw | None:
        """Executes an action.

        Args:
            action: The action or its official number.
            data: ``x`` and ``y``, from 0 to 63, for ACTION6.
            reasoning: Any JSON value, which is stored in the recording.

        Returns:
            The observation, or ``None`` if the scorecard is closed, if the game is over and the
            action is not RESET, if the cell of ACTION6 is missing or invalid, or if a hosted game
            fails. In these cases the reason is logged.
        """
        if self._card.closed is not None:
            self.logger.error("the scorecard %s is closed", self.scorecard_id)
            return None
        action = GameAction.from_id(action) if isinstance(action, int) else action
        given = ActionInput(id=action, data=data or {}, reasoning=reasoning)
        if action is not GameAction.RESET and self._last.state is not GameState.NOT_FINISHED:
            self.logger.error("the game is over (%s): only RESET is possible", self._last.state.name)
            return None
        try:
            x, y = (int(given.data[axis]) for axis in "xy") if action is GameAction.ACTION6 else (0, 0)
            result = self._play.act(action.value, x, y)
        except (KeyError, TypeError, ValueError) as error:
            self.logger.error("ACTION6 needs x and y from 0 to 63, found %s (%s)", given.data, error)
            return None
        except RuntimeError as error:
            self.logger.error("`%s` failed: %s", self.environment_info.game_id, error)
            return None
        self._last = self._observation(given, result)
        return self._last

    def _observation(self, given: ActionInput, result: _native.StepResult) -> FrameDataRaw:
        observation = FrameDataRaw(
            game_id=self.environment_info.game_id,
            state=GameState[result.state],
            levels_completed=result.levels_completed,
            win_levels=result.win_levels,
            action_input=given,
            guid=self._guid,
            full_reset=result.full_reset,
            available_actions=result.available_actions,
        )
        observation.frame = list(result.frames.astype("int8"))
        self._steps += 1
        if self._recording is not None:
            self._record(self._recording, observation)
        if self._renderer is not None:
            self._renderer(self._steps, observation)
        return observation

    def _record(self, path: Path, observation: FrameDataRaw) -> None:
        line = {
            "game_id": observation.game_id,
            "state": observation.state.name,
            "levels_completed": observation.levels_completed,
            "win_levels": observation.win_levels,
            "action_input": {
                "id": observation.action_input.id.name,
                "data": observation.action_input.data,
                "reasoning": observation.action_input.reasoning,
            },
            "guid": observation.guid,
            "full_reset": observation.full_reset,
            "available_actions": observation.available_actions,
        }
        if self._include_frame_data:
            line["frame"] = [frame.tolist() for frame in observation.frame]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            json.dump({"timestamp": datetime.now(UTC).isoformat(), "data": line}, file)
            file.write("\n")


class Arcade:
    """The environments and the scorecards of their plays.

    Plays without a scorecard id belong to a default card, which is opened when it is first needed.

    Args:
        arc_api_key: Must be empty: nothing is sent to a server.
        arc_base_url: Must be empty: nothing is sent to a server.
        operation_mode: ``OperationMode.COMPETITION`` applies the competition rules.
        environments_dir: A folder of games in the toolkit's layout. If it is given, its games are
            the environments; otherwise they are the built-in ones.
        recordings_dir: The folder for recordings, in one folder per scorecard.
        logger: Receives the reason when a call returns ``None``; the logger ``rhae`` if ``None``.
        method: The scoring method; the default method if ``None``.

        unsafe_host: Run the games of ``environments_dir`` even if the system cannot fully isolate
            them.

    Raises:
        ValueError: A key or base URL is given, there is no such scoring method, or
            ``environments_dir`` is not a folder of games.
        RuntimeError: The system cannot run hosted games.

    Examples:
        >>> from rhae import Arcade
        >>> from rhae.arcengine import GameAction
        >>> arcade = Arcade()
        >>> env = arcade.make("bx20")
        >>> env.action_space
        [<GameAction.ACTION6: 6>, <GameAction.ACTION7: 7>]
        >>> for x, y in [(2, 2)] + [(61, 38)] * 4 + [(32, 3)] * 2:
        ...     observation = env.step(GameAction.ACTION6, data={"x": x, "y": y})
        >>> observation.state.name, observation.levels_completed
        ('NOT_FINISHED', 1)
        >>> card = arcade.close_scorecard()
        >>> card.total_actions, card.total_levels_completed
        (7, 1)
    """

    def __init__(
        self,
        arc_api_key: str = "",
        arc_base_url: str = "",
        operation_mode: OperationMode | str = OperationMode.NORMAL,
        environments_dir: str | Path = "",
        recordings_dir: str | Path = "recordings",
        logger: logging.Logger | None = None,
        method: str | None = None,
        *,
        unsafe_host: bool = False,
    ) -> None:
        for name, value in (("arc_api_key", arc_api_key), ("arc_base_url", arc_base_url)):
            if value:
                raise ValueError(
                    f"rhae.Arcade plays without a server and takes no {name}; "
                    "to play on a server, use arc_agi.Arcade, or rhae.run with `server`"
                )
        self.operation_mode = OperationMode(operation_mode)
        self.recordings_dir = Path(recordings_dir)
        self.logger = logger or logging.getLogger("rhae")
        self.method = method or _native.methods()[0]
        if self.method not in _native.methods():
            raise ValueError(f"there is no scoring method `{self.method}`; there are {', '.join(_native.methods())}")
        if self.operation_mode is OperationMode.ONLINE:
            self.logger.warning("ONLINE has no effect: rhae.Arcade plays without a server")
        folder = environments_dir or None
        self._games = _native.GameSet(games_request(folder, unsafe_host=unsafe_host))
        self.available_environments = [EnvironmentInfo.model_validate(game) for game in json.loads(self._games.list())]
        self._cards: dict[str, _Card] = {}
        self._default: str | None = None

    def get_environments(self) -> list[EnvironmentInfo]:
        """Returns the list of environments."""
        return self.available_environments

    def make(
        self,
        game_id: str,
        seed: int = 0,
        scorecard_id: str | None = None,
        save_recording: bool = False,
        include_frame_data: bool = True,
        render_mode: str | None = None,
        renderer: Renderer | None = None,
    ) -> EnvironmentWrapper | None:
        """Starts a play of an environment.

        Args:
            game_id: The id, such as ``"kq19"`` or ``"kq19-v1"``.
            seed: Selects a variant of the environment. Seed 0 is the canonical one.
            scorecard_id: The card of the play; the default card if ``None``.
            save_recording: Write a recording below ``recordings_dir``.
            include_frame_data: Store frames in the recording.
            render_mode: Not supported; must be ``None`` unless a renderer is given.
            renderer: Called with the number of the observation and the observation.

        Returns:
            The play, or ``None`` if there is no such environment, if there is no such open card, if
            the environment was already played in a competition, or if a hosted game does not start.
            In these cases the reason is logged.

        Raises:
            ValueError: ``render_mode`` is given without a renderer.
        """
        if render_mode is not None and renderer is None:
            raise ValueError("render_mode is not supported here: pass a renderer, or watch a recording with `rhae replay show`")
        known = (info for info in self.available_environments if game_id in (info.game_id, info.game_id[:4]))
        info = next(known, None)
        if info is None:
            self.logger.error("there is no environment `%s`", game_id)
            return None
        card = self._card(scorecard_id)
        if card is None or card.closed is not None:
            self.logger.error("there is no open scorecard %s", scorecard_id)
            return None
        if card.competition and any(play.id == info.game_id for play, _ in card.plays):
            self.logger.error("`%s` was already played: a competition allows one play of each environment", info.game_id)
            return None
        recording = self.recordings_dir / card.id if save_recording else None
        try:
            play = self._games.open(info.game_id, seed, card.competition)
        except RuntimeError as error:
            self.logger.error("`%s` does not start: %s", info.game_id, error)
            return None
        return EnvironmentWrapper(info, card, play, self.logger, recording, include_frame_data, renderer)

    def create_scorecard(self, source_url: str | None = None, tags: list[str] | None = None, opaque: Any | None = None) -> str:
        """Opens a scorecard and returns its id.

        The tag ``agent`` is added unless the tags contain ``agent`` or ``human``.
        """
        competition = self.operation_mode is OperationMode.COMPETITION
        card = _Card(source_url, list(tags or []), opaque, competition)
        self._cards[card.id] = card
        return card.id

    open_scorecard = create_scorecard

    def get_scorecard(self, scorecard_id: str | None = None) -> EnvironmentScorecard | None:
        """Returns a scorecard in its current state; the default card if no id is given.

        Returns ``None`` if there is no such card, or if it is an open card of a competition.
        """
        card = self._card(scorecard_id)
        if card is None:
            return None
        if card.closed is None and card.competition:
            self.logger.error("the scorecard of a competition can be read only after it is closed")
            return None
        return card.closed or card.scored(None, self.method)

    def close_scorecard(self, scorecard_id: str | None = None) -> EnvironmentScorecard | None:
        """Closes a scorecard permanently and returns it; the default card if no id is given.

        Returns ``None`` if there is no such open card.
        """
        card = self._cards.get(scorecard_id or self._default or "")
        if card is None or card.closed is not None:
            return None
        card.closed = card.scored(self._games if card.competition else None, self.method)
        if card.id == self._default:
            self._default = None
        return card.closed

    def _card(self, scorecard_id: str | None) -> _Card | None:
        if scorecard_id is None:
            if self._default is None:
                self._default = self.create_scorecard()
            scorecard_id = self._default
        return self._cards.get(scorecard_id)
