"""The spaces, masks and arguments that single and vector environments share."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rhae import _native

Actions = Literal["multi", "flat"]
Observation = Literal["frame", "onehot", "packed", "rgb"]
OnLoss = Literal["end", "continue"]
Frame = NDArray[np.uint8]

#: The first click in the flat space. Clicks are numbered row by row.
FIRST_CLICK = 8
CLICK = 6
CELLS = 64 * 64

#: The highest value in an observation of a built-in environment.
_HIGHEST = {"frame": 15, "onehot": 1, "packed": 255, "rgb": 255}


def observation_space(observation: str, hosted: bool) -> spaces.Box[np.uint8]:
    """Returns the space of one observation. Frames of hosted games may contain any byte."""
    shape = tuple(_native.observation_shape(observation))
    high = 255 if hosted and observation == "frame" else _HIGHEST[observation]
    return spaces.Box(0, high, shape, np.uint8)


def action_space(actions: str) -> spaces.Space[Any]:
    """Returns the action space of one play."""
    if actions == "multi":
        return spaces.MultiDiscrete([8, 64, 64])
    if actions == "flat":
        return spaces.Discrete(FIRST_CLICK + CELLS)
    raise ValueError(f'actions must be "multi" or "flat", found {actions!r}')


def continues_after_loss(on_loss: str) -> bool:
    """Returns whether an episode continues after a lost level."""
    if on_loss not in ("end", "continue"):
        raise ValueError(f'on_loss must be "end" or "continue", found {on_loss!r}')
    return on_loss == "continue"


def check_max_actions(max_actions: int | None) -> None:
    """Raises an error if the limit is not positive."""
    if max_actions is not None and max_actions < 1:
        raise ValueError(f"max_actions must be at least 1, found {max_actions}")


def check_options(options: dict[str, Any] | None, known: str = "") -> None:
    """Raises an error if the options of ``reset`` contain anything but the known one."""
    for name in options or ():
        if name != known:
            expected = f"`{known}` is the only option" if known else "it takes no options"
            raise ValueError(f"unknown option `{name}` of reset(): {expected}")


def flat_mask(mask: NDArray[Any], out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
    """Expands a mask over official numbers to the flat space: the last axis grows to 4,104."""
    flat = np.empty((*mask.shape[:-1], FIRST_CLICK + CELLS), np.int8) if out is None else out
    flat[..., :FIRST_CLICK] = mask
    flat[..., CLICK] = 0
    flat[..., FIRST_CLICK:] = mask[..., CLICK, None]
    return flat


def policy_mask(mask: NDArray[Any], flat: bool) -> NDArray[np.bool_]:
    """Returns a mask in the form of sb3-contrib.

    For the space ``"multi"``, the masks of its three parts follow one another. Columns and rows are
    always available.
    """
    if flat:
        return flat_mask(mask).astype(np.bool_)
    cells = np.ones((*mask.shape[:-1], 2 * 64), np.bool_)
    return np.concatenate([mask.astype(np.bool_), cells], axis=-1)
