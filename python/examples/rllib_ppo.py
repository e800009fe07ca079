"""PPO of RLlib with action masks.

    pip install './python[gym]' 'ray[rllib]' torch
    python python/examples/rllib_ppo.py

`rhae.wrappers.MaskedObservation` gives observations the form that RLlib's module for action masks
expects.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import level
import numpy as np
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

NAME = "rhae-level"


def environment(config: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """Returns the environment of one of RLlib's runners."""
    return level.masked()


def train(seed: int, steps: int) -> level.Returns:
    """Trains an agent and returns the returns of its episodes."""
    returns = level.Returns()

    class Collect(RLlibCallback):
        def on_episode_end(self, *, episode: Any, **_: Any) -> None:
            returns.add(np.array([episode.get_return()]), np.array([True]))

    register_env(NAME, environment)
    network = {"head_fcnet_hiddens": [128], "head_fcnet_activation": "relu", "fcnet_hiddens": [128]}
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=network)
    config: Any = (
        PPOConfig()
        .environment(NAME)
        # The runner in this process collects the returns.
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .rl_module(rl_module_spec=module)
        .training(train_batch_size_per_learner=1024, minibatch_size=256, num_epochs=4, lr=1e-3, gamma=0.97)
        .callbacks(Collect)
        .debugging(seed=seed)
    )
    algorithm: Any = config.build_algo()
    while algorithm.metrics.peek(("env_runners", "num_env_steps_sampled_lifetime"), default=0) < steps:
        algorithm.train()
    algorithm.stop()
    return returns


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a level with RLlib.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=65_536)
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        print(f"seed {seed}: {train(seed, arguments.steps)}", flush=True)


if __name__ == "__main__":
    main()
