"""The level that the training examples learn, and the measure of what they have learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import rhae
from rhae.gym import Environment, VectorEnvironment
from rhae.wrappers import MaskedObservation

#: Level 1 of ny40, which is played with keys. Random play completes it in about a third of the episodes.
GAME, LEVEL, MAX_ACTIONS = "ny40", 1, 40


def single(seed: int = 0) -> Environment:
    """Returns one play of the level, with one plane for each colour."""
    return rhae.make(GAME, seed, level=LEVEL, max_actions=MAX_ACTIONS, actions="flat", observation="onehot")


def many(plays: int) -> VectorEnvironment:
    """Returns many plays of the level. Actions are numbers, as in the flat space."""
    return rhae.make_vec(GAME, plays, level=LEVEL, max_actions=MAX_ACTIONS, observation="onehot", autoreset_mode="SAME_STEP")


def keys(mask: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns the available keys from action masks: the numbers 1 to 5."""
    return mask[..., 1:6].astype(np.bool_)


class Keys(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The level for libraries without convolutions: five keys, and a vector of every fourth cell."""

    def __init__(self, env: gymnasium.Env[NDArray[np.uint8], Any]) -> None:
        super().__init__(env)
        self.action_space = spaces.Discrete(5)
        self.observation_space = spaces.Box(0, 1, (16 * 16 * 16,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Starts an episode."""
        planes, info = self.env.reset(seed=seed, options=options)
        return self._vector(planes), self._info(info)

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], Any, bool, bool, dict[str, Any]]:
        """Presses a key. Key 0 is ACTION1."""
        planes, reward, terminated, truncated, info = self.env.step(action + 1)
        return self._vector(planes), reward, terminated, truncated, self._info(info)

    @staticmethod
    def _vector(planes: NDArray[np.uint8]) -> NDArray[np.float32]:
        return planes[:, 2::4, 2::4].astype(np.float32).reshape(-1)

    @staticmethod
    def _info(info: dict[str, Any]) -> dict[str, Any]:
        return info | {"action_mask": keys(info["action_mask"])}


def masked() -> MaskedObservation:
    """Returns one play of the level with masks in its observations."""
    return MaskedObservation(Keys(single()))


@dataclass
class Returns:
    """The return of each episode, in the order in which the episodes ended.

    A completed episode is shorter than a truncated one, so the first episodes to end are completed
    ones. A tenth must contain several episodes of each play, so that this does not matter.
    """

    values: list[float] = field(default_factory=list)

    def add(self, rewards: NDArray[np.float64], ended: NDArray[np.bool_]) -> None:
        """Adds the episodes that ended in a step. In this level only the last step has a reward."""
        self.values.extend(rewards[ended].tolist())

    def tenths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the first and the last tenth of the returns."""
        size = len(self.values) // 10
        if size < 2:
            raise ValueError(f"expected at least 20 episodes, found {len(self.values)}")
        values = np.array(self.values)
        return values[:size], values[-size:]

    def improvement(self) -> float:
        """Returns the gain from the first tenth to the last, in standard errors."""
        first, last = self.tenths()
        error = np.sqrt(first.var(ddof=1) / len(first) + last.var(ddof=1) / len(last))
        gain = last.mean() - first.mean()
        return float(gain / error) if error > 0 else float(np.sign(gain)) * np.inf

    def __str__(self) -> str:
        first, last = self.tenths()
        gain = f"{self.improvement():.1f} standard errors"
        return f"{len(self.values)} episodes; mean return {first.mean():.3f} at first, {last.mean():.3f} at last ({gain})"
