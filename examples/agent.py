"""An agent that prefers actions that often changed the frame: `rhae run --agent-cmd "python3 examples/agent.py"`."""
import json
import random
import sys

tried, changed = {}, {}  # by action id: how often it was taken, how often the frame changed
last_action, last_picture = None, None


def rate(action):
    return (changed.get(action, 0) + 1) / (tried.get(action, 0) + 1) + random.random() / 10


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        random.seed(message["seed"])
    elif message["type"] == "observation":
        picture = message["frame"][-1]  # frame[t][y][x]; the last one is the settled frame
        if last_action is not None:
            tried[last_action] = tried.get(last_action, 0) + 1
            changed[last_action] = changed.get(last_action, 0) + (picture != last_picture)
        lost = message["state"] == "GAME_OVER"  # then only RESET, action 0, has an effect
        last_action = 0 if lost else max(message["available_actions"], key=rate)
        last_picture = picture
        reply = {"action": last_action, "reasoning": f"tried so far: {tried}"}
        if last_action == 6:
            reply |= {"x": random.randrange(64), "y": random.randrange(64)}
        print(json.dumps(reply), flush=True)
