"""Agents in the style of the official agents repository: ``is_done`` and ``choose_action``, and a loop around them.

An agent of that repository plays here if it takes its base class from this module::

    from rhae.agents import Agent, swarm
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from rhae.arcade import Arcade, EnvironmentScorecard, EnvironmentWrapper
from rhae.arcengine import FrameData, FrameDataRaw, GameAction, GameState

__all__ = ["Agent", "swarm"]


def _as_lists(raw: FrameDataRaw) -> FrameData:
    fields = {name: getattr(raw, name) for name in FrameData.model_fields if name != "frame"}
    return FrameData(frame=[frame.tolist() for frame in raw.frame], **fields)


class Agent(ABC):
    """Plays one environment: chooses actions until it is done or has taken ``MAX_ACTIONS``."""

    MAX_ACTIONS: ClassVar[int] = 80

    def __init__(self, game_id: str, arc_env: EnvironmentWrapper, card_id: str = "", **_unused: Any) -> None:
        self.game_id = game_id
        self.card_id = card_id
        self.arc_env = arc_env
        self.action_counter = 0
        self.frames: list[FrameData] = [FrameData(game_id=game_id)]

    @abstractmethod
    def is_done(self, frames: list[FrameData], latest_frame: FrameData) -> bool:
        """Whether to stop."""

    @abstractmethod
    def choose_action(self, frames: list[FrameData], latest_frame: FrameData) -> GameAction:
        """The next action; a click's cell is set with ``action.set_data({"x": …, "y": …})``, thoughts as ``action.reasoning``."""

    def main(self) -> None:
        """Play to the end. The first frame that the agent sees is an empty one, to which the answer is RESET."""
        while self.action_counter < self.MAX_ACTIONS and not self.is_done(self.frames, self.frames[-1]):
            action = self.choose_action(self.frames, self.frames[-1])
            frame = self.take_action(action)
            if frame is None:
                break
            self.frames.append(frame)
            self.action_counter += 1

    def take_action(self, action: GameAction) -> FrameData | None:
        """Carry out an action in the environment."""
        if action is GameAction.RESET and self.frames[-1].state is GameState.NOT_PLAYED:
            return _as_lists(self.arc_env.observation_space)
        data = action.action_data.model_dump() if action.is_complex() else {}
        raw = self.arc_env.step(action, data=data, reasoning=getattr(action, "reasoning", None))
        return None if raw is None else _as_lists(raw)


def swarm(
    agent: type[Agent], games: list[str] | None = None, arcade: Arcade | None = None, tags: list[str] | None = None, **options: Any
) -> EnvironmentScorecard:
    """Let an agent play these environments, or all, one after the other on one card, and give the card."""
    arcade = arcade or Arcade()
    games = games or [info.game_id for info in arcade.get_environments()]
    card = arcade.open_scorecard(tags=[*(tags or []), "agent", agent.__name__.lower()])
    for game in games:
        environment = arcade.make(game, scorecard_id=card)
        if environment is None:
            raise ValueError(f"there is no environment `{game}`")
        agent(game_id=game, arc_env=environment, card_id=card, **options).main()
    closed = arcade.close_scorecard(card)
    assert closed is not None, "the card was open"
    return closed
