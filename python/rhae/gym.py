"""Environments for Gymnasium: one play, or many plays at once.

The observation is the settled frame: 64 x 64 cells with colours 0 to 15. The reward is 1 for each
level that an action completes. An episode terminates when the game is won or a level is lost. With
``on_loss="continue"`` the episode continues after a lost level. As in the official rules, only
RESET then has an effect. RESET restarts the level and never the whole game, so no reward is earned
twice.

There are two action spaces:

* ``actions="multi"``: ``MultiDiscrete([8, 64, 64])``: the official number of the action (0 is
  RESET), the column and the row. Only ACTION6 uses column and row.
* ``actions="flat"``: ``Discrete(4104)``: 0 to 7 are the official numbers, except that 6 is not
  used, and ``8 + 64 * y + x`` is a click.

``info["action_mask"]`` marks the actions that are offered in the current state, and RESET if it
would restart the level. It has one entry for each official number, or one for each action of the
flat space.

There are four forms of observations, all of type ``uint8``:

============ ============== ====================================================================
``"frame"``  (64, 64)       the colour of each cell
``"onehot"`` (16, 64, 64)   one plane for each colour, with 1 where a cell has the colour
``"packed"`` (64, 32)       two cells in each byte, that of the even column in the low four bits
``"rgb"``    (64, 64, 3)    red, green and blue of each cell
============ ============== ====================================================================

After ``import rhae``, the environments are also registered with Gymnasium:
``gymnasium.make("rhae/kq19-v1")`` and ``gymnasium.make_vec("rhae/kq19-v1", 64)`` take the same
arguments as :func:`make` and :func:`make_vec`. Without the import, ``gymnasium.make`` needs the
module in the name: ``"rhae:rhae/kq19-v1"``.

Examples:
    >>> import gymnasium
    >>> import rhae
    >>> env = gymnasium.make("rhae/kq19-v1", actions="flat", max_actions=100)
    >>> frame, info = env.reset()
    >>> gymnasium.make_vec("rhae/kq19-v1", 64, max_actions=100).num_envs
    64
"""

from __future__ import annotations

from collections.abc import Sequence

from gymnasium.vector import AutoresetMode

from rhae._hosting import GamesDir
from rhae._spaces import FIRST_CLICK, Actions, Observation, OnLoss
from rhae.environment import Environment
from rhae.vector_environment import VectorEnvironment

__all__ = ["FIRST_CLICK", "Actions", "Environment", "Observation", "OnLoss", "VectorEnvironment", "make", "make_vec"]


def make(
    id: str,
    seed: int = 0,
    *,
    level: int | None = None,
    max_actions: int | None = None,
    actions: Actions = "multi",
    on_loss: OnLoss = "end",
    observation: Observation = "frame",
    render_mode: str | None = None,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
) -> Environment:
    """Creates one play of an environment, for Gymnasium.

    Args:
        id: The id of the environment, such as ``"kq19"`` or ``"kq19-v1"``.
        seed: Selects a variant of the environment. Seed 0 is the canonical one, which is scored.
        level: Play only this level, counted from 1. The episode ends when it is completed.
        max_actions: Truncate an episode after this many actions; no limit if ``None``.
        actions: The action space, ``"multi"`` or ``"flat"``; see :mod:`rhae.gym`.
        on_loss: ``"end"`` terminates the episode when a level is lost. ``"continue"`` lets it
            continue with RESET.
        observation: The form of the observations; see :mod:`rhae.gym`.
        render_mode: ``"rgb_array"`` or ``"ansi"`` enables :meth:`Environment.render`.
        games_dir: A folder of hosted games, or several. ``id`` may name their games.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.

    Raises:
        ValueError: There is no such environment or level, or an argument has no such value.

    Examples:
        >>> import rhae
        >>> env = rhae.make("bx20", actions="flat", max_actions=100)
        >>> frame, info = env.reset()
        >>> click = 8 + 64 * 3 + 23  # column 23, row 3
        >>> frame, reward, terminated, truncated, info = env.step(click)
        >>> reward, terminated, truncated, info["actions"]
        (0.0, False, False, 1)
    """
    return Environment(
        id,
        seed,
        level=level,
        max_actions=max_actions,
        actions=actions,
        on_loss=on_loss,
        observation=observation,
        render_mode=render_mode,
        games_dir=games_dir,
        unsafe_host=unsafe_host,
    )


def make_vec(
    id: str | Sequence[str],
    n: int,
    seeds: int | Sequence[int] | None = None,
    *,
    level: int | None = None,
    max_actions: int | None = None,
    actions: Actions = "multi",
    on_loss: OnLoss = "end",
    observation: Observation = "frame",
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    threads: int | None = None,
    games_dir: GamesDir | None = None,
    unsafe_host: bool = False,
) -> VectorEnvironment:
    """Creates many plays of one or several environments, for Gymnasium.

    Args:
        id: The id of the environment, such as ``"kq19"`` or ``"kq19-v1"``, or a list of ids. Each
            environment of a list gets a block of consecutive plays; if they cannot be divided
            equally, the first environments get one more.
        n: The number of plays.
        seeds: One seed per play, or a number that gives play i the seed ``seeds + i``. All plays
            have the seed 0 if ``None``.
        level: Play only this level, counted from 1.
        max_actions: Truncate an episode after this many actions; no limit if ``None``.
        actions: The action space, ``"multi"`` or ``"flat"``; see :mod:`rhae.gym`.
        on_loss: ``"end"`` terminates the episode when a level is lost. ``"continue"`` lets it
            continue with RESET.
        observation: The form of the observations; see :mod:`rhae.gym`.
        autoreset_mode: What happens after the end of an episode; see :class:`VectorEnvironment`.
        threads: The number of Rust threads; one per processor if ``None``. Results do not depend
            on it.
        games_dir: A folder of hosted games, or several. ``id`` may name their games.
        unsafe_host: Run hosted games even if the system cannot fully isolate them.

    Raises:
        ValueError: There is no such environment or level, or an argument has no such value.

    Examples:
        Play 64 episodes with random keys:

        >>> import numpy as np
        >>> import rhae
        >>> vec = rhae.make_vec("kq19", 64, seeds=0, max_actions=50)
        >>> frames, info = vec.reset()
        >>> rng = np.random.default_rng(0)
        >>> actions = np.zeros((64, 3), int)
        >>> for _ in range(50):
        ...     actions[:, 0] = rng.integers(1, 5, 64)
        ...     frames, rewards, terminated, truncated, info = vec.step(actions)
        >>> bool((terminated | truncated).any())
        True
    """
    return VectorEnvironment(
        id,
        n,
        seeds,
        level=level,
        max_actions=max_actions,
        actions=actions,
        on_loss=on_loss,
        observation=observation,
        autoreset_mode=autoreset_mode,
        threads=threads,
        games_dir=games_dir,
        unsafe_host=unsafe_host,
    )
