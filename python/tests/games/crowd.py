"""A hundred sprites, one of which moves: the engine takes almost all of the time."""

from arcengine import ARCBaseGame, Camera, Level, Sprite

SPRITES = [
    Sprite([[c % 15, -1, 3], [c % 7, c % 11, -1], [2, 2, c % 13]], name=f"s{c}", x=c % 10 * 6, y=c // 10 * 6, layer=c % 4)
    for c in range(100)
]


class Crowd(ARCBaseGame):
    def __init__(self, seed=0):
        super().__init__("crowd", [Level(SPRITES, grid_size=(64, 64))], Camera(background=0), seed=seed)

    def step(self):
        self.current_level._sprites[0]._x = self._action_count % 60
        self.complete_action()


Game = Crowd
