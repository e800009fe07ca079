"""Lives and losses: toggled displays, placeable areas, valid actions, wins and full resets."""

from arcengine import (
    ARCBaseGame,
    Camera,
    GameAction,
    Level,
    PlaceableArea,
    RenderableUserDisplay,
    Sprite,
    ToggleableUserDisplay,
)

HEART = Sprite([[8, -1, 8], [8, 8, 8], [-1, 8, -1]], name="heart", tags=["life"])
HOLE = Sprite([[4, -1, 4], [4, 4, 4], [-1, 4, -1]], name="hole", tags=["life"])


class Frame(RenderableUserDisplay):
    """Draws a border with a moving light, and the distance of the nearest mine."""

    def __init__(self):
        self.at = 0
        self.near = 0

    def render_interface(self, frame):
        frame[0] = frame[-1] = 9
        self.at = (self.at + 1) % 64
        for y in range(1, 63):
            frame[y, 0] = 15 if (y + self.at) % 8 < 2 else 9
            frame[y, 63] = 8 if 62 - y < self.near * 4 else 9
        return frame


class Lives(ARCBaseGame):
    def __init__(self, seed=0):
        self.rim = Frame()
        pairs = [(HEART.clone().set_position(2 + i * 5, 2), HOLE.clone().set_position(2 + i * 5, 2)) for i in range(5)]
        self.lives = ToggleableUserDisplay(pairs)
        target = Sprite([[14, 14], [14, -1]], name="target", x=5, y=5, tags=["sys_click", "sys_every_pixel"])
        mine = Sprite([[8]], name="mine", tags=["sys_click", "mine"])
        mines = [mine.clone().set_position(x, y) for x in range(0, 14, 3) for y in range(1, 12, 4)]
        areas = [PlaceableArea(1, 1, 6, 4, 2, 1)]
        levels = [
            Level([target, *mines[:4]], (14, 14), {"goal": 2}, "easy", areas),
            Level([target, *mines], (14, 12), {"goal": 3}, "hard", areas),
        ]
        super().__init__("lives", levels, Camera(interfaces=[self.rim, self.lives]), available_actions=[5, 6], seed=seed)

    def on_set_level(self, level):
        for index in range(5):
            self.lives.enable(index)
        self.found = 0

    def measure(self, level):
        """Measures the distance from the target to the nearest mine."""
        target = level.get_sprites_by_name("target")[0]
        x, y = target.x, target.y
        nearest = 99
        for mine in level.get_sprites_by_tag("mine"):
            far = abs(mine._x - x) + abs(mine._y - y)
            if far < nearest:
                nearest = far
        self.rim.near = max(0, 14 - nearest)

    def step(self):
        level = self.current_level
        self.measure(level)
        if self.action.id == GameAction.ACTION5:
            on = self._placeable_sprite is None
            self.set_placeable_sprite(level.get_sprites_by_name("target")[0] if on else None)
            if self._action_count % 4 == 0:
                self.lives.enable_first_by_tag("life")
        elif self.action.id == GameAction.ACTION6:
            data = self.action.data
            if data["x"] % 2:
                # Half of the clicks become a valid action, so that random play makes progress.
                valid = [action.data for action in self._get_valid_actions() if action.data]
                data = valid[(data["x"] + data["y"]) % len(valid)] if valid else data
            place = self.camera.display_to_grid(data["x"], data["y"])
            sprite = level.get_sprite_at(*place) if place else None
            if sprite is None:
                pass
            elif "mine" in sprite.tags:
                sprite.set_position((sprite.x + 5) % 14, (sprite.y + 3) % 12)
                self.lives.disabled_first_by_tag("life")
            else:
                self.found += 1
                sprite.set_position((sprite.x + 4) % 11, (sprite.y + 3) % 9)
        if not any(self.lives.is_enabled(index) for index in range(5)):
            self.lose()
        elif self.found >= level.get_data("goal"):
            self.next_level()
        self.complete_action()


Game = Lives
