"""An agent that looks before it acts: it never repeats what had no effect, and prefers what worked.

    rhae run --agent-cmd "python3 examples/percept_agent.py"

docs/write-an-agent.md explains it step by step. It needs the package `rhae`.
"""

import json
import random
import sys
from collections import defaultdict

import numpy as np
from rhae import percept

KEYS = range(1, 6)
CLICK = 6


class PerceptAgent:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.bars = percept.StatusBars()
        self.level = None
        # How often the actions of a class were tried, and how often they changed the board.
        self.tried, self.worked = defaultdict(int), defaultdict(int)
        # The choices that were tried at each state of the board.
        self.seen = defaultdict(set)
        self.last = None

    def act(self, view):
        frame = np.array(view["frame"][-1], dtype=np.int8)
        self.learn(frame, view)
        if view["state"] == "GAME_OVER":
            self.bars.start_attempt()
            self.last = None
            return {"action": "RESET"}
        choice, kind = self.choose(frame, view["available_actions"])
        self.last = (frame, choice, kind)
        self.seen[self.key(frame)].add(choice)
        number, *cell = choice
        return {"action": f"ACTION{number}", **dict(zip("xy", cell))}

    def learn(self, frame, view):
        """Records whether the last action changed the board, status bars aside."""
        if self.level != view["levels_completed"]:
            self.level, self.last = view["levels_completed"], None
            self.bars.start_attempt()
            self.seen.clear()
        if self.last is None:
            return
        before, choice, kind = self.last
        if self.bars.observe(choice[0], before, frame):
            self.seen.clear()  # The mask has changed, and with it the keys of the states.
        self.tried[kind] += 1
        self.worked[kind] += self.key(before) != self.key(frame)

    def choose(self, frame, available):
        """Returns the most promising choice that was not tried here, or any if all were."""
        choices = [((number,), number) for number in available if number in KEYS]
        if CLICK in available:
            clicks = percept.click_candidates(frame, self.bars.mask)
            choices += [((CLICK, one.x, one.y), one.click_class) for one in clicks]
        choices = choices or [((number,), number) for number in available]
        self.rng.shuffle(choices)
        untried = [one for one in choices if one[0] not in self.seen[self.key(frame)]]
        promise = lambda one: (self.worked[one[1]] + 1) / (self.tried[one[1]] + 2)
        return max(untried, key=promise) if untried else self.rng.choice(choices)

    def key(self, frame):
        """Identifies the state of the board: the frame without status bars."""
        return np.where(self.bars.mask, 0, frame).tobytes()


def main():
    agent = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            agent = PerceptAgent(message["seed"])
        elif message["type"] == "observation":
            print(json.dumps(agent.act(message)), flush=True)


if __name__ == "__main__":
    main()
