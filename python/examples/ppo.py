"""Proximal policy optimisation in one file, in the style of CleanRL, for PyTorch.

    pip install './python[gym]' torch
    python python/examples/ppo.py --seeds 1 2 3

The agent sees one plane for each colour and chooses among the available keys. All plays are stepped
at once by `rhae.make_vec`; PyTorch reads the observations without a copy.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import level
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


@dataclass(frozen=True)
class Settings:
    """The hyperparameters."""

    steps: int = 65_536
    plays: int = 16
    rollout: int = 128
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 1e-3
    discount: float = 0.97
    trace: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5


def cells(planes: torch.Tensor) -> torch.Tensor:
    """Returns every fourth cell of each side, which shows the whole board of the level."""
    return planes[..., 2::4, 2::4]


class Agent(nn.Module):
    """A network with a head for the keys and one for the value."""

    def __init__(self, planes: int, keys: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(planes, 32, kernel_size=2, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 8 * 8, 128),
            nn.ReLU(),
        )
        self.policy = nn.Linear(128, keys)
        self.critic = nn.Linear(128, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.zeros_(self.policy.bias)

    def forward(self, planes: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """Returns the distribution over the available keys, and the value."""
        hidden = self.body(planes.float())
        logits = self.policy(hidden).masked_fill(~mask, -1e8)
        return Categorical(logits=logits), self.critic(hidden).squeeze(-1)


@dataclass
class Rollout:
    """The steps of all plays between two updates. The first axis is the step."""

    planes: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    values: torch.Tensor
    rewards: torch.Tensor
    ended: torch.Tensor

    @staticmethod
    def empty(settings: Settings, shape: tuple[int, ...], keys: int) -> Rollout:
        """Returns a buffer for the steps."""
        size = (settings.rollout, settings.plays)
        return Rollout(
            planes=torch.zeros(*size, *shape, dtype=torch.uint8),
            masks=torch.zeros(*size, keys, dtype=torch.bool),
            actions=torch.zeros(size, dtype=torch.long),
            log_probs=torch.zeros(size),
            values=torch.zeros(size),
            rewards=torch.zeros(size),
            ended=torch.zeros(size),
        )

    def advantages(self, next_values: torch.Tensor, settings: Settings) -> torch.Tensor:
        """Returns the generalised advantage of each step."""
        advantages = torch.zeros_like(self.rewards)
        following = torch.zeros_like(next_values)
        for step in reversed(range(settings.rollout)):
            running = 1 - self.ended[step]
            error = self.rewards[step] + settings.discount * next_values * running - self.values[step]
            following = error + settings.discount * settings.trace * running * following
            advantages[step] = following
            next_values = self.values[step]
        return advantages


def update(agent: Agent, optimiser: torch.optim.Optimizer, rollout: Rollout, last: torch.Tensor, settings: Settings) -> None:
    """Improves the agent with the steps of a rollout."""
    advantages = rollout.advantages(last, settings).flatten()
    targets = advantages + rollout.values.flatten()
    planes, masks = rollout.planes.flatten(0, 1), rollout.masks.flatten(0, 1)
    actions, before = rollout.actions.flatten(), rollout.log_probs.flatten()
    for _ in range(settings.epochs):
        for part in torch.randperm(len(actions)).chunk(settings.minibatches):
            policy, values = agent(planes[part], masks[part])
            ratio = (policy.log_prob(actions[part]) - before[part]).exp()
            gain = advantages[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.min(gain * ratio, gain * clipped).mean()
            value_loss = (values - targets[part]).square().mean()
            loss = policy_loss + settings.value * value_loss - settings.entropy * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def train(seed: int, settings: Settings) -> level.Returns:
    """Trains an agent and returns the returns of its episodes."""
    torch.manual_seed(seed)
    plays = level.many(settings.plays)
    observations, info = plays.reset()
    # The environment overwrites its observations, and so the tensor that shares them.
    planes = cells(torch.from_dlpack(observations))
    masks = torch.from_numpy(level.keys(info["action_mask"]))
    agent = Agent(planes.shape[1], masks.shape[1])
    optimiser = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate)
    rollout = Rollout.empty(settings, tuple(planes.shape[1:]), masks.shape[1])
    returns = level.Returns()
    for _ in range(settings.steps // (settings.plays * settings.rollout)):
        for step in range(settings.rollout):
            with torch.no_grad():
                policy, values = agent(planes, masks)
            actions = policy.sample()
            rollout.planes[step], rollout.masks[step] = planes, masks
            rollout.actions[step], rollout.values[step] = actions, values
            rollout.log_probs[step] = policy.log_prob(actions)
            # The first key is ACTION1.
            _, rewards, terminated, truncated, info = plays.step(actions.numpy() + 1)
            ended = terminated | truncated
            returns.add(rewards, ended)
            rollout.rewards[step] = torch.from_numpy(rewards)
            rollout.ended[step] = torch.from_numpy(ended.astype(np.float32))
            masks = torch.from_numpy(level.keys(info["action_mask"]))
        with torch.no_grad():
            last = agent(planes, masks)[1]
        update(agent, optimiser, rollout, last, settings)
    return returns


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a level with PPO.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=Settings.steps)
    arguments = parser.parse_args()
    for seed in arguments.seeds:
        print(f"seed {seed}: {train(seed, Settings(steps=arguments.steps))}", flush=True)


if __name__ == "__main__":
    main()
