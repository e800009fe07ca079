"""MaskablePPO of sb3-contrib, which chooses only available actions.

    pip install './python[gym]' sb3-contrib
    python python/examples/maskable_ppo.py --seeds 1 2 3

MaskablePPO calls `action_masks()` of the environments itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import level
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

PLAYS = 16


class Planes(BaseFeaturesExtractor):
    """Features of frames with one plane for each colour."""

    def __init__(self, space: gymnasium.spaces.Box) -> None:
        super().__init__(space, features_dim=128)
        self.layers = nn.Sequential(
            nn.Conv2d(space.shape[0], 32, kernel_size=2, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 8 * 8, 128),
            nn.ReLU(),
        )

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Returns the features."""
        # Every fourth cell of each side shows the whole board of the level.
        features: torch.Tensor = self.layers(planes[..., 2::4, 2::4])
        return features


class Collect(BaseCallback):
    """Collects the returns of the episodes."""

    def __init__(self) -> None:
        super().__init__()
        self.returns = level.Returns()

    def _on_step(self) -> bool:
        self.returns.add(np.asarray(self.locals["rewards"], float), np.asarray(self.locals["dones"]))
        return True


def train(seed: int, steps: int) -> level.Returns:
    """Trains an agent and returns the returns of its episodes."""
    plays = DummyVecEnv([level.single] * PLAYS)
    network: dict[str, Any] = {"features_extractor_class": Planes, "net_arch": [], "normalize_images": False}
    agent = MaskablePPO(
        "MlpPolicy",
        plays,
        n_steps=64,
        batch_size=256,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=0.97,
        ent_coef=0.01,
        policy_kwargs=network,
        seed=seed,
        device="cpu",
    )
    collected = Collect()
    agent.learn(steps, callback=collected)
    return collected.returns


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a level with MaskablePPO.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=65_536)
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        print(f"seed {seed}: {train(seed, arguments.steps)}", flush=True)


if __name__ == "__main__":
    main()
