"""A growing body: sprites added and removed in every step, a deque, seeded randomness."""

import random
from collections import deque

import numpy as np
from arcengine import ARCBaseGame, Camera, GameAction, Level, RenderableUserDisplay, Sprite

PART = Sprite([[14, 14], [14, 14]], name="part", tags=["snake"])
FOOD = Sprite([[-1, 8], [8, 8]], name="food", tags=["food"])


class Score(RenderableUserDisplay):
    def __init__(self):
        self.length = 0
        self.far = 0
        self.paint = lambda frame: frame[60:64].fill(self.length % 16)

    def render_interface(self, frame):
        if self.length > 4:
            self.paint(frame)
        for column in range(min(64, self.far * 2)):
            frame[0, column] = 11
        return frame


class Snake(ARCBaseGame):
    def __init__(self, seed=0):
        self.rng = random.Random(seed)
        self.score = Score()
        grass = [Sprite([[3, -1], [-1, 3]], name="grass", x=x, y=y, layer=-1) for x in range(0, 32, 4) for y in range(0, 30, 4)]
        for sprite in grass:
            sprite.set_collidable(False)
        levels = [Level(grass[:20], (32, 30), {"goal": 5}), Level(grass, (32, 30), {"goal": 9})]
        super().__init__("snake", levels, Camera(0, 0, 32, 30, 0, 4, [self.score]), seed=seed)

    def on_set_level(self, level):
        self.body = deque()
        self.way = (2, 0)
        for x in (10, 8, 6):
            self.grow(level, x, 10, left=False)
        self.feed(level)

    def grow(self, level, x, y, left=True):
        part = PART.clone().set_position(x, y)
        (self.body.appendleft if left else self.body.append)(part)
        level.add_sprite(part)
        self.score.length = len(self.body)

    def feed(self, level):
        for food in level.get_sprites_by_tag("food"):
            level.remove_sprite(food)
        for _ in range(6):
            level.add_sprite(FOOD.clone().set_position(self.rng.randrange(16) * 2, self.rng.randrange(15) * 2))

    def look(self, level):
        """Returns the number of moves to the nearest food."""
        body = {(part.x, part.y) for part in self.body}
        food = {(sprite.x, sprite.y) for sprite in level.get_sprites_by_tag("food")}
        edge = deque([(self.body[0].x, self.body[0].y, 0)])
        seen = set(body)
        while edge:
            x, y, far = edge.popleft()
            if (x, y) in food:
                return far
            for dx, dy in ((2, 0), (-2, 0), (0, 2), (0, -2)):
                place = (x + dx) % 32, (y + dy) % 30
                if place not in seen:
                    seen.add(place)
                    edge.append((*place, far + 1))
        return 0

    def step(self):
        level = self.current_level
        ways = {1: (0, -2), 2: (0, 2), 3: (-2, 0), 4: (2, 0)}
        way = ways.get(self.action.id.value, self.way)
        if (way[0] + self.way[0], way[1] + self.way[1]) != (0, 0):
            self.way = way
        head = self.body[0]
        x, y = (head.x + self.way[0]) % 32, (head.y + self.way[1]) % 30
        self.grow(level, x, y)
        hit = level.collides_with(self.body[0])
        if any("food" in sprite.tags for sprite in hit):
            self.feed(level)
        else:
            level.remove_sprite(self.body.pop())
            self.score.length = len(self.body)
        self.score.far = self.look(level)
        cells = np.array([(part.x, part.y) for part in self.body])
        if (cells[1:] == cells[0]).all(axis=1).any():
            self.lose()
        elif len(self.body) >= level.get_data("goal"):
            self.next_level()
        if self.action.id != GameAction.ACTION5 or self._action_count % 3 == 0:
            self.complete_action()
        elif len(self.body) > 0:
            self._action_count += 1


Game = Snake
