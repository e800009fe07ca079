"""Rhae's environments for Gymnasium: one at a time, or many at once.

An observation is the settled frame, 64 by 64 cells of sixteen colours. The reward is 1 for each level that an action completes.
An episode ends with the game won, or with a level lost unless ``on_loss="continue"``; then only RESET does anything, as in the
official rules. RESET starts the level anew and never the whole game, so that no reward is earned twice.

Two action spaces:

* ``actions="multi"``: ``MultiDiscrete([8, 64, 64])``, the action's official number (0 is RESET) with column and row, which only
  ACTION6 looks at.
* ``actions="flat"``: ``Discrete(4104)``, 0 to 7 as above except 6, and ``8 + 64 * y + x`` for a click.

``info["action_mask"]`` says which numbers have a meaning now.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rhae import _native
from rhae.pictures import rgb

__all__ = ["Environment", "VectorEnvironment", "make", "make_vec"]

Actions = Literal["multi", "flat"]
OnLoss = Literal["end", "continue"]
Frame = NDArray[np.uint8]

#: In the flat space, numbers from here on are clicks, row by row.
FIRST_CLICK = 8
CLICK = 6
CELLS = 64 * 64


def _observation_space() -> spaces.Box:
    return spaces.Box(0, 15, (64, 64), np.uint8)


def _action_space(actions: str) -> spaces.Space[Any]:
    if actions == "multi":
        return spaces.MultiDiscrete([8, 64, 64])
    if actions == "flat":
        return spaces.Discrete(FIRST_CLICK + CELLS)
    raise ValueError(f'actions must be "multi" or "flat", found {actions!r}')


def _goes_on(on_loss: str) -> bool:
    if on_loss not in ("end", "continue"):
        raise ValueError(f'on_loss must be "end" or "continue", found {on_loss!r}')
    return on_loss == "continue"


def _flat_mask(mask: NDArray[Any]) -> NDArray[np.int8]:
    """The mask over the flat space, from one over kinds of action; the last axis grows from 8 to 4,104."""
    flat = np.zeros((*mask.shape[:-1], FIRST_CLICK + CELLS), np.int8)
    flat[..., :FIRST_CLICK] = mask
    flat[..., CLICK] = 0
    flat[..., FIRST_CLICK:] = mask[..., CLICK, None]
    return flat


class Environment(gymnasium.Env[Frame, Any]):
    """One play of an environment that ships with Rhae.

    ``info`` has ``state``, ``level`` (from 1), ``levels_completed``, ``win_levels``, ``actions`` (counted in this episode),
    ``changed``, ``action_mask`` and ``frames``: the whole animation that the action gave, the observation last.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(
        self,
        id: str,
        seed: int = 0,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode must be None or "rgb_array", found {render_mode!r}')
        self.observation_space = _observation_space()
        self.action_space = _action_space(actions)
        self.render_mode = render_mode
        self._flat = actions == "flat"
        self._goes_on = _goes_on(on_loss)
        self._level = level
        self._max_actions = max_actions
        self._seed = seed
        self._play = _native.Play(id, seed, level or 1, True)
        self._frame: Frame = self._play.look()[0][-1]
        self._over = False

    @property
    def id(self) -> str:
        """The environment's id with its version."""
        return self._play.id

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Frame, dict[str, Any]]:
        """Begin a new episode; a seed stays until another is given."""
        super().reset(seed=seed)
        if seed is not None:
            self._seed = seed
        self._play = _native.Play(self._play.id, self._seed, self._level or 1, True)
        self._over = False
        told = self._play.look()
        self._frame = told[0][-1]
        return self._frame, self._info(told)

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        """Carry out an action."""
        if self._over:
            raise RuntimeError("the episode is over: call reset()")
        before = self._play.look()[2]
        if self._flat:
            told = self._play.act_flat(int(action))
        else:
            number, x, y = (int(part) for part in action)
            told = self._play.act(number, x, y)
        self._frame = told[0][-1]
        state, completed = told[1], told[2]
        won = state == "WIN" or (self._level is not None and completed >= self._level)
        terminated = won or (state == "GAME_OVER" and not self._goes_on)
        truncated = not terminated and self._max_actions is not None and self._play.action_count >= self._max_actions
        self._over = terminated or truncated
        return self._frame, float(max(0, completed - before)), terminated, truncated, self._info(told)

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """The observation in colour, 512 by 512 pixels."""
        return rgb(self._frame, zoom=8) if self.render_mode == "rgb_array" else None

    def snapshot(self) -> _native.Play:
        """The play as it is now, for :meth:`restore`."""
        return self._play.fork()

    def restore(self, snapshot: _native.Play) -> Frame:
        """Go to the play of a snapshot, which can be used again."""
        if snapshot.id != self._play.id:
            raise ValueError(f"the snapshot is of `{snapshot.id}`, this environment is `{self._play.id}`")
        self._play = snapshot.fork()
        self._over = False
        self._frame = self._play.look()[0][-1]
        return self._frame

    def _info(self, told: _native.Told) -> dict[str, Any]:
        frames, state, completed, win_levels, available, _, _, changed = told
        mask = np.zeros(8, np.int8)
        if state == "NOT_FINISHED":
            mask[available] = 1
        mask[0] = not self._play.reset_starts_anew
        return {
            "state": state,
            "level": self._play.level,
            "levels_completed": completed,
            "win_levels": win_levels,
            "actions": self._play.action_count,
            "changed": changed,
            "frames": frames,
            "action_mask": _flat_mask(mask) if self._flat else mask,
        }


class VectorEnvironment(VectorEnv[Frame, Any, Any]):
    """Many plays of one environment, stepped by Rust threads while Python runs on.

    Observations, rewards and everything in ``info`` are arrays that are written again by the next step: copy what is to be
    kept. A play whose episode has ended begins a new one at the next step, whatever its action (Gymnasium's ``NEXT_STEP``).
    ``info`` has ``level``, ``levels_completed``, ``actions``, ``changed`` and ``action_mask``.
    """

    def __init__(
        self,
        id: str,
        num_envs: int,
        seeds: int | Sequence[int] | None = None,
        *,
        level: int | None = None,
        max_actions: int | None = None,
        actions: Actions = "multi",
        on_loss: OnLoss = "end",
        threads: int | None = None,
    ) -> None:
        threads = os.cpu_count() or 1 if threads is None else threads
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = _observation_space()
        self.single_action_space = _action_space(actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._flat = actions == "flat"
        self._plays = _native.Vector(id, num_envs, threads, level, max_actions, _goes_on(on_loss))
        self._plays.reset(self._seeds(seeds), None)

    @property
    def id(self) -> str:
        """The environment's id with its version."""
        return self._plays.id

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Frame, dict[str, Any]]:
        """Begin new episodes: all, or those of ``options["reset_mask"]``. One number gives play i the seed ``seed + i``."""
        super().reset(seed=None if seed is None or isinstance(seed, int) else seed[0])
        chosen = None if options is None else options.get("reset_mask")
        self._plays.reset(self._seeds(seed), None if chosen is None else np.ascontiguousarray(chosen, bool))
        return self._plays.frames, self._info()

    def step(self, actions: Any) -> tuple[Frame, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Carry out one action of each play."""
        plays = self._plays
        plays.step(np.asarray(actions, np.int64))
        return plays.frames, plays.rewards, plays.terminated, plays.truncated, self._info()

    def snapshot(self) -> _native.Snapshot:
        """The states of all plays now, for :meth:`restore`."""
        return self._plays.snapshot()

    def restore(self, snapshot: _native.Snapshot, plays: Sequence[int] | None = None) -> Frame:
        """Go to the states of a snapshot; with ``plays``, play i goes to the state of play ``plays[i]`` in the snapshot."""
        self._plays.restore(snapshot, None if plays is None else list(plays))
        return self._plays.frames

    def _seeds(self, seeds: int | Sequence[int] | None) -> list[int] | None:
        if isinstance(seeds, int):
            return [seeds + index for index in range(self.num_envs)]
        return None if seeds is None else [int(seed) for seed in seeds]

    def _info(self) -> dict[str, Any]:
        plays = self._plays
        return {
            "level": plays.level,
            "levels_completed": plays.levels_completed,
            "actions": plays.action_count,
            "changed": plays.changed,
            "action_mask": _flat_mask(plays.action_mask) if self._flat else plays.action_mask,
        }


def make(id: str, seed: int = 0, **options: Any) -> Environment:
    """One environment; the options are those of :class:`Environment`."""
    return Environment(id, seed, **options)


def make_vec(id: str, n: int, seeds: int | Sequence[int] | None = None, **options: Any) -> VectorEnvironment:
    """Many plays of one environment; the options are those of :class:`VectorEnvironment`."""
    return VectorEnvironment(id, n, seeds, **options)
