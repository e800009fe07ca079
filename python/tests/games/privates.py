"""A game that reads and writes private names of the engine, switches levels and changes counts."""

from arcengine import (
    ARCBaseGame,
    BlockingMode,
    Camera,
    GameAction,
    InteractionMode,
    Level,
    RenderableUserDisplay,
    Sprite,
)


class Map(RenderableUserDisplay):
    """Draws a small map of how many sprites cover each cell."""

    def __init__(self):
        self.covered = {}

    def render_interface(self, frame):
        for y in range(12):
            for x in range(16):
                frame[y, 48 + x] = min(15, self.covered.get((x, y), 0) * 3)
        return frame


def level(color, count):
    sprites = [Sprite([[color, c % 16]], name=f"p{c}", x=c, y=c, tags=["p", f"c{c}"]) for c in range(count)]
    return Level(sprites, (16, 12), {"color": color}, f"L{color}")


class Privates(ARCBaseGame):
    def __init__(self, seed=0):
        self.keys_before = 0
        self.map = Map()
        camera = Camera(0, 0, 16, 12, 0, 6, [self.map])
        super().__init__("privates", [level(c, 4 + 4 * c) for c in range(1, 5)], camera, seed=seed)
        self._available_actions = [1, 2, 3, 4, 5, 6]
        self.keys_before = len(self.__dict__)

    def step(self):
        level = self._levels[self._current_level_index]
        kind = self.action.id.value
        for index, sprite in enumerate(level._sprites):
            if (index + self._action_count) % 4:
                continue
            if kind == 1:
                sprite._x, sprite._y = (sprite._x + 1) % 16, (sprite._y + 2) % 12
            elif kind == 2:
                sprite._layer = (sprite._layer + 1) % 3
                level._need_sort = True
            elif kind == 3:
                sprite._blocking = BlockingMode.NOT_BLOCKED if index % 2 else BlockingMode.PIXEL_PERFECT
                sprite._interaction = InteractionMode.INTANGIBLE if index % 3 else InteractionMode.TANGIBLE
            elif kind == 4:
                sprite._tags = [*sprite._tags, "late"][-3:]
                sprite._scale = 1 + index % 2
            elif kind == 5:
                sprite.rotation = (sprite.rotation + 90) % 360
                sprite._mirror_lr = not sprite._mirror_lr
        covered = self.map.covered = {}
        for sprite in level._sprites:
            rows, columns = sprite.pixels.shape
            for y in range(sprite._y, sprite._y + rows):
                for x in range(sprite._x, sprite._x + columns):
                    covered[x, y] = covered.get((x, y), 0) + 1
        if kind == 6:
            self._camera._background = (self._camera._background + 1) % 16
            self._camera._x = (self._camera._x + 1) % 3
            found = level.get_sprite_at(self.action.data["x"] // 4, self.action.data["y"] // 5)
            if found is not None:
                level._sprites.remove(found)
                level._sprites.insert(0, found)
                found.pixels[:] = found.pixels[:, ::-1]
        self._available_actions = [1, 2, 3, 4, 5, 6][: 3 + len(level.get_sprites_by_tag("late")) % 4]
        if self._action_count > 15:
            self._clean_levels[self._current_level_index]._sprites[0].pixels[0, 0] = self._score % 16
            self.next_level()
        if self.action.id == GameAction.ACTION5 and self._action_count == 9:
            self.set_level_by_name("L2")
        self.complete_action()


Game = Privates
