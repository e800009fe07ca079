"""Wrappers for the environments of :mod:`rhae.gym`.

=============================== ================================================================
:class:`VectorFrameStack`       observations that consist of the last frames
:class:`EfficiencyReward`       rewards by the scoring method instead of 1 for each level
:class:`VectorEfficiencyReward` the same for a vector environment
:class:`MaskedObservation`      observations with the action mask, as RLlib expects them
=============================== ================================================================

For a single environment, Gymnasium has its own ``gymnasium.wrappers.FrameStackObservation``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rhae import _native
from rhae.environment import Environment

__all__ = ["EfficiencyReward", "MaskedObservation", "VectorEfficiencyReward", "VectorFrameStack"]

_Array = NDArray[Any]
if TYPE_CHECKING:
    _VectorWrapper = VectorWrapper[_Array, Any, _Array, Any, _Array]
else:
    # The class has no type parameters before Gymnasium 1.3.
    _VectorWrapper = VectorWrapper
_VectorStep = tuple[_Array, _Array, _Array, _Array, dict[str, Any]]


class VectorFrameStack(_VectorWrapper):
    """Observations that consist of the last ``size`` observations, the newest last.

    At the start of an episode the first observation fills the whole stack. The array is overwritten
    by the next step, like those of the environment.

    Examples:
        >>> import numpy as np
        >>> import rhae
        >>> from rhae.wrappers import VectorFrameStack
        >>> vec = VectorFrameStack(rhae.make_vec("kq19", 8), 4)
        >>> stack, info = vec.reset()
        >>> stack.shape
        (8, 4, 64, 64)
    """

    def __init__(self, env: VectorEnv[_Array, Any, _Array], size: int) -> None:
        super().__init__(env)
        if size < 1:
            raise ValueError(f"size must be at least 1, found {size}")
        single = env.single_observation_space
        if not isinstance(single, spaces.Box):
            raise ValueError(f"the observations must be arrays, found the space {single}")
        low, high = (np.repeat(bound[None], size, axis=0) for bound in (single.low, single.high))
        self.single_observation_space = spaces.Box(low, high, dtype=cast(Any, single.dtype).type)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)
        self._stack = np.zeros((env.num_envs, size, *single.shape), single.dtype)
        self._ended = np.zeros(env.num_envs, np.bool_)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[_Array, dict[str, Any]]:
        """Starts new episodes; see :meth:`VectorEnvironment.reset`."""
        observations, info = self.env.reset(seed=seed, options=options)
        chosen = (options or {}).get("reset_mask")
        self._fill(observations, np.ones(self.num_envs, np.bool_) if chosen is None else np.asarray(chosen, np.bool_))
        return self._stack, info

    def step(self, actions: Any) -> _VectorStep:
        """Executes one action per play."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        mode = self.metadata["autoreset_mode"]
        ended = terminated | truncated
        if mode is AutoresetMode.SAME_STEP and "final_obs" in info:
            final = info["final_obs"].copy()
            for play in np.flatnonzero(ended):
                final[play] = np.concatenate([self._stack[play, 1:], info["final_obs"][play][None]])
            info = info | {"final_obs": final}
        self._stack[:, :-1] = self._stack[:, 1:]
        self._stack[:, -1] = observations
        self._fill(observations, ended if mode is AutoresetMode.SAME_STEP else self._ended)
        self._ended = ended if mode is AutoresetMode.NEXT_STEP else np.zeros_like(ended)
        return self._stack, rewards, terminated, truncated, info

    def _fill(self, observations: _Array, chosen: NDArray[np.bool_]) -> None:
        """Fills the stacks of the plays that have started an episode."""
        self._stack[chosen] = observations[chosen][:, None]
        self._ended = self._ended & ~chosen


def _method(method: str | None) -> str:
    known = _native.methods()
    if method is not None and method not in known:
        raise ValueError(f"there is no scoring method `{method}`; there are {', '.join(known)}")
    return known[0] if method is None else method


def _check_baselines(id: str, baselines: list[int]) -> None:
    if not baselines:
        raise ValueError(f"`{id}` has no baselines, so its efficiency is unknown")


class EfficiencyReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards each completed level with its score instead of 1.

    The score compares the number of actions on the level with its baseline, by a scoring method:
    1 for as many actions as the baseline, less for more actions, and up to the method's maximum for
    fewer. Like on scorecards, RESET counts as an action.

    Args:
        env: An environment of :func:`rhae.make` or ``gymnasium.make``.
        method: The scoring method; the default method if ``None``.

    Raises:
        ValueError: The environment has no baselines, or there is no such method.

    Examples:
        Level 1 of bx20 has a baseline of 14 actions and takes at least seven:

        >>> import rhae
        >>> from rhae.wrappers import EfficiencyReward
        >>> env = EfficiencyReward(rhae.make("bx20", level=1), method="draft-2025")
        >>> _ = env.reset()
        >>> for click in [(6, 32, 32)] * 21 + [(6, 2, 2)] + [(6, 61, 38)] * 4 + [(6, 32, 3)] * 2:
        ...     _, reward, _, _, _ = env.step(click)
        >>> reward
        0.5
    """

    def __init__(self, env: gymnasium.Env[Any, Any], method: str | None = None) -> None:
        super().__init__(env)
        self._method = _method(method)
        play = env.unwrapped
        if not isinstance(play, Environment):
            raise ValueError(f"expected an environment of rhae, found {play}")
        self._baselines = play.baselines
        _check_baselines(play.id, self._baselines)
        self._level_start = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts a new episode."""
        self._level_start = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Executes an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if float(reward) > 0:
            baseline = self._baselines[info["levels_completed"] - 1]
            taken = info["actions"] - self._level_start
            reward = _native.level_score(self._method, baseline, taken)
            self._level_start = info["actions"]
        return observation, float(reward), terminated, truncated, info


class VectorEfficiencyReward(_VectorWrapper):
    """:class:`EfficiencyReward` for a vector environment.

    Examples:
        >>> import rhae
        >>> from rhae.wrappers import VectorEfficiencyReward
        >>> vec = VectorEfficiencyReward(rhae.make_vec(["kq19", "bx20"], 64, max_actions=200))
        >>> frames, info = vec.reset()
    """

    def __init__(self, env: VectorEnv[_Array, Any, _Array], method: str | None = None) -> None:
        super().__init__(env)
        self._method = _method(method)
        plays: Any = env.unwrapped
        if not hasattr(plays, "baselines"):
            raise ValueError(f"expected a vector environment of rhae, found {plays}")
        self._baselines: list[list[int]] = plays.baselines
        for id, baselines in zip(plays.ids, self._baselines, strict=True):
            _check_baselines(id, baselines)
        #: The number of actions of the episode when its current level started.
        self._level_start = np.zeros(env.num_envs, np.int64)
        self._rewards = np.zeros(env.num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[_Array, dict[str, Any]]:
        """Starts new episodes; see :meth:`VectorEnvironment.reset`."""
        observations, info = self.env.reset(seed=seed, options=options)
        self._level_start[info["actions"] == 0] = 0
        return observations, info

    def step(self, actions: Any) -> _VectorStep:
        """Executes one action per play."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        self._rewards[:] = 0
        final = info.get("_final_info", np.zeros(self.num_envs, np.bool_))
        for play in np.flatnonzero(rewards > 0):
            last = info["final_info"] if final[play] else info
            taken = int(last["actions"][play] - self._level_start[play])
            baseline = self._baselines[play][int(last["levels_completed"][play]) - 1]
            self._rewards[play] = _native.level_score(self._method, baseline, taken)
            self._level_start[play] = last["actions"][play]
        # An episode that has just started has no actions.
        self._level_start[info["actions"] == 0] = 0
        return observations, self._rewards, terminated, truncated, info


class MaskedObservation(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Observations with the action mask, as RLlib's action-masking modules expect them.

    An observation is a dictionary with ``observations`` and ``action_mask``. The environment must
    have been made with ``actions="flat"``, because the modules mask a single discrete action.

    Examples:
        >>> import rhae
        >>> from rhae.wrappers import MaskedObservation
        >>> env = MaskedObservation(rhae.make("kq19", actions="flat"))
        >>> observation, info = env.reset()
        >>> {name: array.shape for name, array in observation.items()}
        {'action_mask': (4104,), 'observations': (64, 64)}
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.action_space, spaces.Discrete):
            raise ValueError('the mask of a single discrete action is needed: make the environment with actions="flat"')
        mask = spaces.Box(0.0, 1.0, (int(env.action_space.n),), np.float32)
        self.observation_space = spaces.Dict({"action_mask": mask, "observations": env.observation_space})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, _Array], dict[str, Any]]:
        """Starts a new episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._masked(observation, info), info

    def step(self, action: Any) -> tuple[dict[str, _Array], Any, bool, bool, dict[str, Any]]:
        """Executes an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._masked(observation, info), reward, terminated, truncated, info

    def _masked(self, observation: _Array, info: dict[str, Any]) -> dict[str, _Array]:
        return {"action_mask": info["action_mask"].astype(np.float32), "observations": observation}
