"""A small agent that learns a level of an environment by playing it many times at once.

It keeps a table with the value of each action for each frame it has seen: the sooner the level was
completed after the action, the higher the value. Actions that were seldom tried get a bonus. This
is enough to complete the level in every episode, with few actions.
"""

import argparse
import collections

import numpy as np

import rhae

DISCOUNT = 0.95


class Table:
    """The value of each action for each frame, and the number of times it was tried."""

    def __init__(self, kinds: list[int], seed: int) -> None:
        self.kinds = np.array(kinds)
        self.values: dict[int, np.ndarray] = collections.defaultdict(lambda: np.zeros(len(kinds)))
        self.tries: dict[int, np.ndarray] = collections.defaultdict(lambda: np.zeros(len(kinds)))
        self.rng = np.random.default_rng(seed)

    def choose(self, frame: int) -> int:
        """Returns the index of an action: the best so far, or one that was seldom tried."""
        tries = self.tries[frame]
        worth = self.values[frame] + 0.3 / np.sqrt(1 + tries) + 1e-6 * self.rng.random(len(tries))
        choice = int(worth.argmax())
        tries[choice] += 1
        return choice

    def learn(self, path: list[tuple[int, int]], reward: float) -> None:
        """Updates the values after an episode.

        The last step is worth the reward, each earlier step a little less.
        """
        worth = reward
        for frame, choice in reversed(path):
            values = self.values[frame]
            values[choice] = max(values[choice], worth)
            worth = DISCOUNT * max(worth, values.max() * DISCOUNT)


def train(
    game: str, episodes: int, seed: int = 0, level: int = 1, plays: int = 64, max_actions: int = 14
) -> list[tuple[bool, int]]:
    """Trains the agent.

    Returns, for each episode in the order in which they ended, whether the level was completed and
    the number of actions.
    """
    vector = rhae.make_vec(game, plays, level=level, max_actions=max_actions)
    frames, info = vector.reset()
    kinds = [number for number in range(1, 8) if info["action_mask"][0][number] and number != 6]
    table = Table(kinds, seed)
    paths: list[list[tuple[int, int]]] = [[] for _ in range(plays)]
    ended: list[tuple[bool, int]] = []
    actions = np.zeros((plays, 3), np.int64)
    fresh = np.zeros(plays, bool)
    while len(ended) < episodes:
        keys = [hash(frame.tobytes()) for frame in frames]
        choices = [table.choose(key) for key in keys]
        actions[:, 0] = table.kinds[choices]
        frames, rewards, terminated, truncated, info = vector.step(actions)
        for play in range(plays):
            # The step after the end of an episode only starts the next one.
            if not fresh[play]:
                paths[play].append((keys[play], choices[play]))
        fresh = terminated | truncated
        for play in np.flatnonzero(fresh).tolist():
            table.learn(paths[play], rewards[play])
            ended.append((bool(rewards[play]), len(paths[play])))
            paths[play] = []
    return ended


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="kq19", help="environment that is played with keys")
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    ended = train(arguments.game, arguments.episodes, arguments.seed, arguments.level)
    print("episodes      completed   mean actions")
    tenth = max(1, len(ended) // 10)
    for start in range(0, len(ended) - tenth + 1, tenth):
        part = ended[start : start + tenth]
        won = [actions for completed, actions in part if completed]
        mean = f"{np.mean(won):8.1f}" if won else "       -"
        print(f"{start + 1:5} to {start + tenth:5}  {len(won) / len(part):8.1%}  {mean}")


if __name__ == "__main__":
    main()
