"""Names for the code of the agent `duck`."""


class Frame:
    """A frame of the game, in letters."""

    shape = (64, 64)

    def __init__(self, data):
        self.ascii = data["ascii"]
        self.step = data["step"]
        self.level = data["level"]
        self.segmentation = data.get("segmentation")

    def rows(self):
        return self.ascii.split("\n")

    def diff(self, other):
        """Returns the cells in which another frame differs: row, column, letter, other letter."""
        return [
            (row, column, letter, there)
            for row, (mine, theirs) in enumerate(zip(self.rows(), other.rows()))
            for column, (letter, there) in enumerate(zip(mine, theirs))
            if letter != there
        ]

    def __repr__(self):
        return f"<frame of step {self.step}, level {self.level}>"


history = []
transitions = []
valid_actions = []
last_animation = []
last_action_result = None
last_transition = None
previous_frame = None
current_frame = None


def update(news):
    """Adds what happened since the last call."""
    global current_frame, previous_frame, last_transition, last_animation
    if news.get("restart"):
        history.clear()
        transitions.clear()
    for entry in news["entries"]:
        frame = Frame(entry)
        if entry["action"] is not None and history:
            result = {key: entry[key] for key in ("board_changed", "level_completed", "game_over")}
            transitions.append((history[-1], entry["action"], result, frame))
        history.append(frame)
        last_animation = [Frame({**entry, "ascii": text}) for text in entry["animation"]]
    valid_actions[:] = news["valid_actions"]
    if history:
        current_frame = history[-1]
        current_frame.segmentation = news["segmentation"]
        previous_frame = history[-2] if len(history) > 1 else None
    last_transition = transitions[-1] if transitions else None


def action(names):
    """Executes actions and returns what happened."""
    global last_action_result
    if isinstance(names, str):
        names = [names]
    answer = host("action", [str(name) for name in names])
    update(answer["news"])
    last_action_result = answer["result"]
    return last_action_result
