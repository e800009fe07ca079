"""Sprites that are rotated, mirrored and scaled over several frames of one action."""

from arcengine import ARCBaseGame, Camera, GameAction, InteractionMode, Level, RenderableUserDisplay, Sprite

ARROW = [
    [-1, -1, 8, -1, -1, -1],
    [-1, 8, 8, 8, -1, -1],
    [8, -1, 8, -1, 8, -1],
    [-1, -1, 8, -1, -1, 7],
    [-1, -1, 8, -1, -1, 7],
    [-1, -1, 8, 6, 6, 7],
]


class Sparks(RenderableUserDisplay):
    """Draws sparks that move over the frame and bounce off its border."""

    def __init__(self):
        self.sparks = [[x * 7 % 64, x * 13 % 64, x % 3 + 1, x % 5 - 2] for x in range(60)]

    def render_interface(self, frame):
        for number, spark in enumerate(self.sparks):
            x, y, dx, dy = spark
            if not 0 <= x + dx < 64:
                dx = spark[2] = -dx
            if not 0 <= y + dy < 64:
                dy = spark[3] = -dy
            spark[0] = x = x + dx
            spark[1] = y = y + dy
            frame[y, x] = number % 16
        return frame


def level(count):
    sprites = []
    for index in range(count):
        x, y = index % 6 * 10, index // 6 * 10
        sprites.append(Sprite(ARROW, name=f"a{index}", x=x, y=y, layer=index % 3, rotation=index % 4 * 90))
    return Level(sprites, grid_size=(60, 50), name=f"{count} arrows")


class Movie(ARCBaseGame):
    def __init__(self, seed=0):
        self.shown = 0
        super().__init__("movie", [level(4), level(12), level(30)], Camera(0, 0, 60, 50, 0, 2, [Sparks()]), seed=seed)

    def step(self):
        self.shown += 1
        sprites = self.current_level.get_sprites()
        kind = self.action.id
        for index, sprite in enumerate(sprites):
            # The arrows change colour alternately.
            sprite.pixels[sprite.pixels == 7 + index % 2] = 7 + (index + self.shown) % 2
            if (index + self._action_count) % 3:
                continue
            if kind == GameAction.ACTION1:
                sprite.rotate(-90)
            elif kind == GameAction.ACTION2:
                sprite.set_mirror_ud(not sprite.mirror_ud)
            elif kind == GameAction.ACTION3:
                sprite.set_mirror_lr(not sprite.mirror_lr).rotate(90)
            elif kind == GameAction.ACTION4:
                scales = [1, 2, -1, 3, -2]
                sprite.set_scale(scales[(scales.index(sprite.scale) + 1) % len(scales)])
            elif kind == GameAction.ACTION5:
                sprite.set_visible(not sprite.is_visible)
        if kind == GameAction.ACTION6:
            for sprite in sprites:
                sprite.set_rotation(0).set_scale(1).set_interaction(InteractionMode.TANGIBLE)
            if self._action_count > 6:
                self.next_level()
            self.complete_action()
        elif self.shown % 4 == 0:
            self.complete_action()


Game = Movie
