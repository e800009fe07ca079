"""The timeline and the world model of the agent `world-model`.

The agent keeps the timeline: episodes, each with the first frame of an attempt at a level and the
steps that followed. The model's code is executed in a namespace of its own. A frame is a list of 64
lists of 64 numbers.
"""

from collections import deque

# The largest number of cells that a counterexample lists.
MAX_CELLS = 40
# The largest number of cells that a model may leave unpredicted, a quarter of the frame.
MAX_IGNORED = 1024

episodes = []
model_code = ""
model = None


def update(news):
    """Adds what happened since the last call, and replaces the model's code if it has changed."""
    global model_code, model
    if news.get("restart"):
        episodes.clear()
    for entry in news["entries"]:
        frame = [[int(cell, 16) for cell in row] for row in entry["rows"]]
        if entry["action"] is None or not episodes:
            episodes.append({"level": entry["level"], "first": frame, "steps": []})
        else:
            step = {"number": entry["number"], "action": entry["action"], "frame": frame}
            step["status"] = entry["status"]
            episodes[-1]["steps"].append(step)
            if entry["status"] == "LEVEL_COMPLETED":
                # The frame shows the next level.
                episodes.append({"level": entry["level"] + 1, "first": frame, "steps": []})
    if news["code"] != model_code or model is None:
        model_code = news["code"]
        model = None


def load():
    """Executes the model's code and returns its names."""
    global model
    if model is None:
        names = {"__name__": "world_model"}
        exec(compile(model_code, "<code>", "exec"), names)
        for name in ("decode", "step", "render", "is_goal"):
            if not callable(names.get(name)):
                raise NameError(f"the world model does not define the function `{name}`")
        model = names
    return model


def ignored_cells(names):
    """Returns the cells that the model does not predict, such as a bar that counts actions."""
    return {(int(row), int(column)) for row, column in names.get("IGNORED", ())}


def differences(expected, actual, ignored):
    found = []
    for row in range(64):
        if expected[row] == actual[row]:
            continue
        for column in range(64):
            if expected[row][column] != actual[row][column] and (row, column) not in ignored:
                found.append((row, column, expected[row][column], actual[row][column]))
    return found


def parse(text):
    """Returns an action as the model's functions get it: a name, or a name with row and column."""
    name, _, numbers = text.partition("(")
    if not numbers:
        return name
    row, column = (int(number) for number in numbers.rstrip(")").split(","))
    return (name, row, column)


def predict(names, state, action):
    state, status = names["step"](state, parse(action))
    if status not in ("RUNNING", "LEVEL_COMPLETED", "GAME_OVER"):
        raise ValueError(f"`step` returned the status {status!r}")
    return state, status


def describe(error):
    return f"{type(error).__name__}: {error}"


def backtest():
    """Replays the whole timeline in the model. Returns the first step that it does not predict."""
    names = load()
    ignored = ignored_cells(names)
    if len(ignored) > MAX_IGNORED:
        problem = f"`IGNORED` has {len(ignored)} cells; at most {MAX_IGNORED} are allowed"
        return {"green": False, "checked": 0, "problem": problem}
    checked = 0
    for episode in episodes:
        try:
            state = names["decode"](episode["first"])
            wrong = differences(names["render"](state), episode["first"], ignored)
        except Exception as error:
            problem = f"decode or render: {describe(error)}"
            return counterexample(checked, episode, None, problem, [])
        if wrong:
            return counterexample(checked, episode, None, "render(decode(frame))", wrong)
        for step in episode["steps"]:
            try:
                state, status = predict(names, state, step["action"])
                frame = None if status != "RUNNING" else names["render"](state)
            except Exception as error:
                return counterexample(checked, episode, step, describe(error), [])
            if status != step["status"]:
                problem = f"the model predicts {status}, but it was {step['status']}"
                return counterexample(checked, episode, step, problem, [])
            # The frame after a completed level shows the next one, and a lost level is restarted.
            if frame is not None:
                wrong = differences(frame, step["frame"], ignored)
                if wrong:
                    return counterexample(checked, episode, step, "the frame differs", wrong)
            checked += 1
    return {"green": True, "checked": checked, "ignored": len(ignored)}


def counterexample(checked, episode, step, problem, wrong):
    result = {"green": False, "checked": checked, "level": episode["level"], "problem": problem}
    if step is not None:
        result["step"] = step["number"]
        result["action"] = step["action"]
    if wrong:
        result["different_cells"] = len(wrong)
        result["cells"] = [
            {"row": row, "col": column, "predicted": predicted, "actual": actual}
            for row, column, predicted, actual in wrong[:MAX_CELLS]
        ]
    return result


def current():
    """Returns the state of the model at the end of the timeline."""
    names = load()
    episode = episodes[-1]
    state = names["decode"](episode["first"])
    for step in episode["steps"]:
        state, _ = predict(names, state, step["action"])
    return names, state


def plan(offered, max_depth, max_nodes):
    """Searches a shortest sequence of actions to a goal, breadth first."""
    names, start = current()
    candidates = names.get("candidates")
    seen = {start}
    queue = deque([(start, ())])
    expanded = 0
    while queue:
        state, path = queue.popleft()
        if len(path) >= max_depth:
            continue
        if expanded >= max_nodes:
            reason = f"{max_nodes} nodes were expanded"
            return {"found": False, "reason": reason, "expanded": expanded}
        expanded += 1
        actions = [text(action) for action in candidates(state)] if candidates else offered
        for action in actions:
            following, status = predict(names, state, action)
            if status == "GAME_OVER" or following in seen:
                continue
            if status == "LEVEL_COMPLETED" or names["is_goal"](following):
                actions = list(path + (action,))
                return {"found": True, "actions": actions, "expanded": expanded}
            seen.add(following)
            queue.append((following, path + (action,)))
    return {"found": False, "reason": f"no goal within {max_depth} actions", "expanded": expanded}


def text(action):
    return action if isinstance(action, str) else f"{action[0]}({action[1]}, {action[2]})"


def predictions(actions):
    """Returns the frame and the status that the model predicts after each action."""
    names, state = current()
    found = []
    for action in actions:
        state, status = predict(names, state, action)
        rows = None
        if status == "RUNNING":
            rows = ["".join(f"{cell:x}" for cell in row) for row in names["render"](state)]
        found.append({"status": status, "rows": rows})
        if status != "RUNNING":
            break
    return {"predictions": found, "ignored": sorted(ignored_cells(names))}
