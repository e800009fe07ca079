"""All interaction and blocking modes, changed at random, with counted collisions."""

import random

from arcengine import ARCBaseGame, BlockingMode, Camera, InteractionMode, Level, Sprite

SHAPES = [[[1, -1, 1], [-1, 1, -1], [1, -1, 1]], [[2, 2], [2, 2]], [[-1, 3], [3, -2]], [[6, 6, 6, 6, 6]]]


class Modes(ARCBaseGame):
    def __init__(self, seed=0):
        self.rng = random.Random(seed + 7)
        blockings, interactions = list(BlockingMode), list(InteractionMode)
        levels = []
        for count in (10, 25):
            sprites = [
                Sprite(
                    SHAPES[index % 4],
                    name=f"s{index % 7}",
                    x=index * 3 % 20,
                    y=index * 5 % 18,
                    layer=index % 5 - 2,
                    blocking=blockings[index % 3],
                    interaction=interactions[index % 4],
                    tags=[f"t{index % 3}"],
                )
                for index in range(count)
            ]
            levels.append(Level(sprites, grid_size=(24, 20)))
        self.hits = 0
        super().__init__("modes", levels, Camera(0, 0, 24, 20, 0, 15), win_score=2, seed=seed)

    @staticmethod
    def closest(places):
        """Returns the smallest distance between two sprites at different positions."""
        least = 99
        for index, (x, y) in enumerate(places):
            for other_x, other_y in places[:index]:
                far = abs(x - other_x) + abs(y - other_y)
                if 0 < far < least:
                    least = far
        return least

    def step(self):
        level = self.current_level
        sprites = level.get_sprites()
        one = sprites[self.rng.randrange(len(sprites))]
        kind = self.action.id.value
        if kind == 1:
            one.set_interaction(self.rng.choice(list(InteractionMode)))
        elif kind == 2:
            one.set_blocking(self.rng.choice(list(BlockingMode)))
        elif kind == 3:
            one.set_visible(self.rng.random() < 0.5).set_collidable(self.rng.random() < 0.5)
        elif kind == 4:
            one.move(self.rng.randint(-3, 3), self.rng.randint(-3, 3))
            one.set_layer(self.rng.randint(-3, 3))
        elif kind == 5:
            level.remove_sprite(one)
            level.add_sprite(one.clone(f"copy of {one.name}"[:12]).rotate(90))
        elif kind == 6:
            place = self.camera.display_to_grid(self.action.data["x"], self.action.data["y"])
            found = place and level.get_sprite_at(*place, tag=self.rng.choice([None, "t0", "t1"]))
            if found:
                self.hits += 1
                found.set_position(self.hits % 20, self.hits % 17)
        self.hits += len(level.collides_with(one)) + len(level.collides_with(one, ignoreMode=True))
        self.hits += self.closest([(sprite.x, sprite.y) for sprite in sprites])
        one.pixels[0, 0] = self.hits % 16
        if self.hits % 41 == 0:
            self.next_level()
        elif self.hits % 29 == 0:
            self.lose()
        self.complete_action()


Game = Modes
