"""The calls of the official toolkit's ``Arcade``, in this process and without a server.

An agent written for the toolkit runs by changing one import::

    from rhae import Arcade

Environments are those that ship with Rhae. What the toolkit reads from the network (keys, addresses) is accepted and not used.
In competition mode the rules of competitions hold: one play for each environment, RESET starts only the level anew, the card is
read after it was closed, and every environment counts.
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
from rhae.arcengine import ActionInput, FrameDataRaw, GameAction, GameState

__all__ = ["Arcade", "EnvironmentInfo", "EnvironmentScore", "EnvironmentScorecard", "EnvironmentWrapper", "OperationMode"]

Renderer = Callable[[int, FrameDataRaw], None]


class OperationMode(StrEnum):
    """The toolkit's modes. All of them play in this process; ``COMPETITION`` has stricter rules."""

    NORMAL = "normal"
    ONLINE = "online"
    OFFLINE = "offline"
    COMPETITION = "competition"


class EnvironmentInfo(BaseModel):
    """What is known of an environment before it is played."""

    model_config = ConfigDict(extra="allow")

    game_id: str
    title: str
    tags: list[str] = []
    baseline_actions: list[int] = []
    default_fps: int = 5


class EnvironmentScore(BaseModel):
    """The score of one run, or of all environments with a tag."""

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
    """An environment on a card, with all its runs."""

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
    """A scorecard, as the REST API gives it."""

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
        """The card, or one environment on it, as a dictionary."""
        if game_id is None:
            return self.model_dump()
        found = (environment for environment in self.environments if game_id in (environment.id, environment.id[:4]))
        return next((environment.model_dump() for environment in found), {})

    def __str__(self) -> str:
        return self.model_dump_json(indent=2)


class _Card:
    """A card while it is open, and after that what it came to."""

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

    def scored(self, unplayed: list[str], method: str) -> EnvironmentScorecard:
        text = _native.scorecard(json.dumps(self.facts), self.plays, unplayed, method)
        return EnvironmentScorecard.model_validate_json(text)


class EnvironmentWrapper:
    """One play. ``step`` and ``reset`` give what the toolkit's wrappers give, or ``None`` if nothing can be done."""

    def __init__(
        self,
        environment_info: EnvironmentInfo,
        card: _Card,
        seed: int,
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
        self._play = _native.Play(environment_info.game_id, seed, 1, card.competition)
        self._recording = recording and recording / f"{environment_info.game_id}-{self._guid}.jsonl"
        self._include_frame_data = include_frame_data
        self._renderer = renderer
        self._steps = 0
        card.plays.append((self._play, self._guid))
        self._last: FrameDataRaw = self._told(ActionInput(id=GameAction.RESET), self._play.look())

    @property
    def observation_space(self) -> FrameDataRaw:
        """What the last command gave."""
        return self._last

    @property
    def action_space(self) -> list[GameAction]:
        """The actions that are offered now."""
        return [GameAction.from_id(number) for number in self._last.available_actions]

    @property
    def info(self) -> EnvironmentInfo:
        """What is known of the environment."""
        return self.environment_info

    def reset(self) -> FrameDataRaw | None:
        """Start the level anew; the game, if nothing was done since the last reset (not in competitions)."""
        return self.step(GameAction.RESET)

    def step(
        self, action: GameAction | int, data: dict[str, Any] | None = None, reasoning: Any = None
    ) -> FrameDataRaw | None:
        """Carry out an action; ``data`` has ``x`` and ``y`` for ACTION6."""
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
            told = self._play.act(action.value, x, y)
        except (KeyError, TypeError, ValueError) as error:
            self.logger.error("ACTION6 needs x and y from 0 to 63, found %s (%s)", given.data, error)
            return None
        self._last = self._told(given, told)
        return self._last

    def _told(self, given: ActionInput, told: _native.Told) -> FrameDataRaw:
        frames, state, completed, win_levels, available, full_reset, _, _ = told
        answer = FrameDataRaw(
            game_id=self.environment_info.game_id,
            state=GameState[state],
            levels_completed=completed,
            win_levels=win_levels,
            action_input=given,
            guid=self._guid,
            full_reset=full_reset,
            available_actions=available,
        )
        answer.frame = list(frames.astype("int8"))
        self._steps += 1
        if self._recording is not None:
            self._record(self._recording, answer)
        if self._renderer is not None:
            self._renderer(self._steps, answer)
        return answer

    def _record(self, path: Path, answer: FrameDataRaw) -> None:
        line = {
            "game_id": answer.game_id,
            "state": answer.state.name,
            "levels_completed": answer.levels_completed,
            "win_levels": answer.win_levels,
            "action_input": {
                "id": answer.action_input.id.name,
                "data": answer.action_input.data,
                "reasoning": answer.action_input.reasoning,
            },
            "guid": answer.guid,
            "full_reset": answer.full_reset,
            "available_actions": answer.available_actions,
        }
        if self._include_frame_data:
            line["frame"] = [frame.tolist() for frame in answer.frame]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            json.dump({"timestamp": datetime.now(UTC).isoformat(), "data": line}, file)
            file.write("\n")


class Arcade:
    """All environments, and the cards of their plays."""

    def __init__(
        self,
        arc_api_key: str = "",
        arc_base_url: str = "",
        operation_mode: OperationMode | str = OperationMode.NORMAL,
        environments_dir: str = "",
        recordings_dir: str | Path = "recordings",
        logger: logging.Logger | None = None,
        method: str | None = None,
    ) -> None:
        self.operation_mode = OperationMode(operation_mode)
        self.recordings_dir = Path(recordings_dir)
        self.logger = logger or logging.getLogger("rhae")
        self.method = method or _native.methods()[0]
        if self.method not in _native.methods():
            raise ValueError(f"there is no scoring method `{self.method}`; there are {', '.join(_native.methods())}")
        self.available_environments = [EnvironmentInfo.model_validate(game) for game in json.loads(_native.games())]
        self._cards: dict[str, _Card] = {}
        self._default: str | None = None

    def get_environments(self) -> list[EnvironmentInfo]:
        """All environments."""
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
        """Begin a play; ``None`` if there is no such environment or card, or a second play in a competition."""
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
            self.logger.error("`%s` was played: a competition allows one play of each environment", info.game_id)
            return None
        recording = self.recordings_dir / card.id if save_recording else None
        return EnvironmentWrapper(info, card, seed, self.logger, recording, include_frame_data, renderer)

    def create_scorecard(
        self, source_url: str | None = None, tags: list[str] | None = None, opaque: Any | None = None
    ) -> str:
        """Open a card and give its id."""
        competition = self.operation_mode is OperationMode.COMPETITION
        card = _Card(source_url, list(tags or []), opaque, competition)
        self._cards[card.id] = card
        return card.id

    open_scorecard = create_scorecard

    def get_scorecard(self, scorecard_id: str | None = None) -> EnvironmentScorecard | None:
        """The card as it stands; the default one if no id is given."""
        card = self._card(scorecard_id)
        if card is None:
            return None
        if card.closed is None and card.competition:
            self.logger.error("a competition's scorecard is read after it was closed")
            return None
        return card.closed or card.scored([], self.method)

    def close_scorecard(self, scorecard_id: str | None = None) -> EnvironmentScorecard | None:
        """Close the card for good and give it."""
        card = self._cards.get(scorecard_id or self._default or "")
        if card is None or card.closed is not None:
            return None
        everything = [info.game_id for info in self.available_environments] if card.competition else []
        card.closed = card.scored(everything, self.method)
        if card.id == self._default:
            self._default = None
        return card.closed

    def _card(self, scorecard_id: str | None) -> _Card | None:
        if scorecard_id is None:
            if self._default is None:
                self._default = self.create_scorecard()
            scorecard_id = self._default
        return self._cards.get(scorecard_id)
