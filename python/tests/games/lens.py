"""A subclass of the camera that changes the raw view, scrolls, and darkens distant cells."""

import numpy as np
from arcengine import ARCBaseGame, Camera, GameAction, Level, Sprite


class Lens(Camera):
    def __init__(self, *args, **kwargs):
        self.center = (8, 8)
        super().__init__(*args, **kwargs)

    def _raw_render(self, sprites):
        view = super()._raw_render(sprites)
        rows, columns = np.ogrid[: view.shape[0], : view.shape[1]]
        far = (rows - self.center[1]) ** 2 + (columns - self.center[0]) ** 2 > 36
        view[far & (view == 0)] = 4
        return view


def level(seed):
    rng = np.random.default_rng(seed)
    trees = [
        Sprite([[-1, 14, -1], [14, 14, 14], [-1, 13, -1]], name="tree", x=int(x), y=int(y), tags=["tree"])
        for x, y in rng.integers(4, 60, (30, 2))
    ]
    return Level([*trees, Sprite([[9, 9], [9, 9]], name="hero", x=1, y=1, layer=3)], grid_size=(16, 16), data={"n": seed})


class Walk(ARCBaseGame):
    def __init__(self, seed=0):
        super().__init__("lens", [level(1), level(2), level(3)], Lens(0, 0, 16, 16, 0, 3), seed=seed)

    def on_set_level(self, level):
        self.hero = level.get_sprites_by_name("hero")[0]
        self.camera.x = self.camera.y = 0

    def step(self):
        dx, dy = {1: (0, -3), 2: (0, 3), 3: (-3, 0), 4: (3, 0)}.get(self.action.id.value, (0, 0))
        for tree in self.try_move_sprite(self.hero, dx, dy):
            tree.color_remap(14, 8)
        if self.action.id == GameAction.ACTION5:
            self.camera.move(1, 0)
        if self.action.id == GameAction.ACTION6:
            scale, left, top = self.camera._calculate_scale_and_offset()
            self.camera.center = ((self.action.data["x"] - left) // scale, (self.action.data["y"] - top) // scale)
            seen = self.get_pixels_at_sprite(self.hero)
            self.hero.pixels[0, 0] = (int(seen.sum()) if seen.size else 0) % 16
        else:
            self.camera.x = self.hero.x - 7
            self.camera.y = self.hero.y - 7
            self.camera.center = (8, 8)
        if self.hero.x + self.hero.y > 18:
            self.next_level()
        self.complete_action()


Game = Walk
