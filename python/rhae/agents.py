"""Agents in the style of the official agents repository.

An agent implements ``is_done`` and ``choose_action``; :class:`Agent` contains the loop around them.
To run an agent of that repository here, import its base class from this module::

    from rhae.agents import Agent, swarm
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from rhae.arcade import Arcade, EnvironmentScorecard, EnvironmentWrapper
from rhae.arcengine import FrameData, FrameDataRaw, GameAction, GameState

__all__ = ["Agent", "swarm"]


def _as_lists(raw: FrameDataRaw) -> FrameData:
    fields = {name: getattr(raw, name) for name in FrameData.model_fields if name != "frame"}
    return FrameData(frame=[frame.tolist() for frame in raw.frame], **fields)


class Agent(ABC):
    """Plays one environment.

    :meth:`main` asks for actions until :meth:`is_done` returns true or ``MAX_ACTIONS`` actions were
    taken. The first frame that an agent receives is empty and has the state ``NOT_PLAYED``. The
    agent must respond with RESET.

    The constructor also accepts the other keyword arguments of the official base class
    (``agent_name``, ``ROOT_URL``, ``record``, ``tags``) and ignores them.

    Examples:
        >>> import rhae
        >>> from rhae.agents import Agent
        >>> from rhae.arcengine import GameAction, GameState
        >>> class Clicker(Agent):
        ...     MAX_ACTIONS = 5
        ...
        ...     def is_done(self, frames, latest_frame):
        ...         return latest_frame.state is GameState.WIN
        ...
        ...     def choose_action(self, frames, latest_frame):
        ...         if latest_frame.state is not GameState.NOT_FINISHED:
        ...             return GameAction.RESET
        ...         action = GameAction.ACTION6
        ...         action.set_data({"x": 23, "y": 3})
        ...         return action
        >>> arcade = rhae.Arcade()
        >>> agent = Clicker(game_id="bx20", arc_env=arcade.make("bx20"))
        >>> agent.main()
        >>> agent.action_counter, agent.frames[-1].state.name
        (5, 'NOT_FINISHED')
    """

    MAX_ACTIONS: ClassVar[int] = 80

    def __init__(self, game_id: str, arc_env: EnvironmentWrapper, card_id: str = "", **_ignored: Any) -> None:
        self.game_id = game_id
        self.card_id = card_id
        self.arc_env = arc_env
        self.action_counter = 0
        self.frames: list[FrameData] = [FrameData(game_id=game_id)]

    @abstractmethod
    def is_done(self, frames: list[FrameData], latest_frame: FrameData) -> bool:
        """Returns whether to stop playing."""

    @abstractmethod
    def choose_action(self, frames: list[FrameData], latest_frame: FrameData) -> GameAction:
        """Returns the next action.

        To set the cell of a click, call ``action.set_data({"x": x, "y": y})``. If
        ``action.reasoning`` is set, it is stored in the recording.
        """

    def main(self) -> None:
        """Plays until the agent is done, has taken ``MAX_ACTIONS`` actions, or an action fails."""
        while self.action_counter < self.MAX_ACTIONS and not self.is_done(self.frames, self.frames[-1]):
            action = self.choose_action(self.frames, self.frames[-1])
            frame = self.take_action(action)
            if frame is None:
                break
            self.frames.append(frame)
            self.action_counter += 1

    def take_action(self, action: GameAction) -> FrameData | None:
        """Executes an action; returns ``None`` if the environment rejects it.

        The first RESET executes no action and returns the opening frame, because ``Arcade.make``
        has already opened the play.
        """
        if action is GameAction.RESET and self.frames[-1].state is GameState.NOT_PLAYED:
            return _as_lists(self.arc_env.observation_space)
        data = action.action_data.model_dump() if action.is_complex() else {}
        raw = self.arc_env.step(action, data=data, reasoning=getattr(action, "reasoning", None))
        return None if raw is None else _as_lists(raw)


def swarm(
    agent: type[Agent],
    games: list[str] | None = None,
    arcade: Arcade | None = None,
    tags: list[str] | None = None,
    *,
    agent_options: Mapping[str, Any] | None = None,
) -> EnvironmentScorecard:
    """Lets an agent play environments one after the other on one scorecard, and returns the card.

    Args:
        agent: The class of the agent. Each play gets a new instance.
        games: The ids of the environments; all environments if ``None``.
        arcade: The arcade to play in; a new one if ``None``.
        tags: Tags of the scorecard. ``agent`` and the name of the class are added.
        agent_options: Keyword arguments for the constructor of the agent, in addition to
            ``game_id``, ``arc_env`` and ``card_id``.

    Raises:
        ValueError: There is no environment with one of the ids.

    Examples:
        >>> from rhae.agents import Agent, swarm
        >>> from rhae.arcengine import GameAction
        >>> class Resetter(Agent):
        ...     def __init__(self, limit, **kwargs):
        ...         super().__init__(**kwargs)
        ...         self.limit = limit
        ...
        ...     def is_done(self, frames, latest_frame):
        ...         return self.action_counter >= self.limit
        ...
        ...     def choose_action(self, frames, latest_frame):
        ...         return GameAction.RESET
        >>> card = swarm(Resetter, ["kq19", "bx20"], agent_options={"limit": 3})
        >>> [environment.id for environment in card.environments]
        ['kq19-v1', 'bx20-v1']
        >>> card.tags
        ['agent', 'resetter']
    """
    arcade = arcade or Arcade()
    games = games or [info.game_id for info in arcade.get_environments()]
    card = arcade.open_scorecard(tags=[*(tags or []), "agent", agent.__name__.lower()])
    for game in games:
        environment = arcade.make(game, scorecard_id=card)
        if environment is None:
            raise ValueError(f"there is no environment `{game}`")
        agent(game_id=game, arc_env=environment, card_id=card, **(agent_options or {})).main()
    closed = arcade.close_scorecard(card)
    assert closed is not None, "the card was open"
    return closed
