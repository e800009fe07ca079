"""A complete agent for `rhae run --agent-cmd "python3 examples/agent.py"`.

It reads one JSON object a line from standard input and answers every observation with one action. This one presses the key
that has most often changed the picture so far and clicks at random; replace `choose` by something better.
"""
import json
import random
import sys

changes = {}  # action id -> [times tried, times the picture changed]


def choose(observation):
    def rate(action):
        tried, changed = changes.get(action, [0, 0])
        return (changed + 1) / (tried + 1) + random.random() / 10

    return max(observation["available_actions"], key=rate)


last_picture, last_action = None, None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        random.seed(message["seed"])
    elif message["type"] == "end":
        break
    else:
        picture = message["frame"][-1]  # frame[t][y][x]; the last one is the settled picture
        if last_action is not None:
            record = changes.setdefault(last_action, [0, 0])
            record[0] += 1
            record[1] += picture != last_picture
        last_action = 0 if message["state"] == "GAME_OVER" else choose(message)
        last_picture = picture
        reply = {"action": last_action, "reasoning": f"tried so far: {changes}"}
        if last_action == 6:
            reply.update(x=random.randrange(64), y=random.randrange(64))
        print(json.dumps(reply), flush=True)
