"""The training examples learn, and PyTorch and JAX read observations without a copy.

`cargo xtask test --full` runs these tests, because the libraries weigh gigabytes. The environment
side of the examples is tested by `tests/test_examples.py`.
"""

from collections.abc import Callable
from typing import Any

import maskable_ppo
import numpy as np
import ppo
import pytest
import rllib_ppo
import torch

import rhae

SEEDS = [1, 2, 3]


def improvement(train: Callable[..., Any], seed: int, *arguments: Any) -> float:
    returns = train(seed, *arguments)
    print(f"seed {seed}: {returns}")
    return float(returns.improvement())


@pytest.mark.parametrize("seed", SEEDS)
def test_ppo_learns_a_level(seed: int) -> None:
    assert improvement(ppo.train, seed, ppo.Settings()) > 3


@pytest.mark.parametrize("seed", SEEDS)
def test_maskable_ppo_learns_a_level(seed: int) -> None:
    assert improvement(maskable_ppo.train, seed, 65_536) > 3


def test_rllib_learns_a_level() -> None:
    assert improvement(rllib_ppo.train, 1, 65_536) > 3


def test_pytorch_shares_the_observations() -> None:
    plays = rhae.make_vec("kq19", 4)
    frames, _ = plays.reset()
    tensor = torch.from_dlpack(frames)
    assert tensor.data_ptr() == frames.ctypes.data
    plays.step(np.full((4, 3), 4))
    assert np.array_equal(tensor.numpy(), frames)


def test_jax_shares_the_observations() -> None:
    import jax

    plays = rhae.make_vec("kq19", 4)
    frames, _ = plays.reset()
    array = jax.dlpack.from_dlpack(frames, copy=False)
    assert array.unsafe_buffer_pointer() == frames.ctypes.data
    assert np.array_equal(np.asarray(array), frames)
