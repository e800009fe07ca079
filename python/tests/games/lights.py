"""Switch all lights off: clicks, `get_sprite_at`, `color_remap`, replaced pixels."""

import random

import numpy as np
from arcengine import ARCBaseGame, BlockingMode, Camera, Level, RenderableUserDisplay, Sprite

ON, OFF = 11, 3
LAMP = [[-1, ON, ON, -1], [ON, ON, ON, ON], [ON, ON, ON, ON], [-1, ON, ON, -1]]


FONT = ["757", "262", "717", "717", "571", "747", "747", "711", "757", "757"]


class Counter(RenderableUserDisplay):
    """Draws the lit lamps as a bar and the clicks as a number."""

    def __init__(self):
        self.clicks = 0
        self.lit = 0
        self.all = 1

    def render_interface(self, frame):
        for x in range(64):
            frame[0, x] = 11 if x * self.all < self.lit * 64 else 4
        for place, digit in enumerate(str(self.clicks % 1000)):
            for y, row in enumerate(FONT[int(digit)]):
                for x in range(3):
                    if int(row) & (4 >> x):
                        frame[60 + y, 2 + place * 4 + x] = 15
        return frame


def level(side, presses):
    lamps = [
        Sprite(LAMP, name=f"lamp {x} {y}", x=x * 5 + 1, y=y * 5 + 1, tags=["lamp", "sys_click"])
        for y in range(side)
        for x in range(side)
    ]
    frame = Sprite(np.full((side * 5 + 1, side * 5 + 1), 2), name="plate", layer=-1, blocking=BlockingMode.BOUNDING_BOX)
    lamps.append(frame)
    return Level(lamps, grid_size=(side * 5 + 1, side * 5 + 1), data={"presses": presses, "side": side})


class Lights(ARCBaseGame):
    def __init__(self, seed=0):
        self.random = random.Random(seed)
        self.counter = Counter()
        camera = Camera(background=1, letter_box=5, interfaces=[self.counter])
        super().__init__("lights", [level(2, 1), level(3, 2), level(6, 9)], camera, available_actions=[6])

    def on_set_level(self, level):
        self.lamps = {(s.x // 5, s.y // 5): s for s in level.get_sprites_by_tag("lamp")}
        self.lit = set()
        for lamp in self.lamps.values():
            lamp.color_remap(ON, OFF)
        side = level.get_data("side")
        for _ in range(level.get_data("presses")):
            self.press(self.random.randrange(side), self.random.randrange(side))

    def press(self, x, y):
        for place in [(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]:
            lamp = self.lamps.get(place)
            if lamp is None:
                continue
            if lamp in self.lit:
                self.lit.discard(lamp)
                lamp.color_remap(ON, OFF)
            else:
                self.lit.add(lamp)
                lamp.pixels = np.where(lamp.pixels == OFF, ON, lamp.pixels)
                lamp.pixels[0, 0] = -1

    def step(self):
        if self.action.id.value == 6:
            place = self.camera.display_to_grid(self.action.data.get("x", 0), self.action.data.get("y", 0))
            if place:
                lamp = self.current_level.get_sprite_at(*place, tag="lamp")
                plate = self.current_level.get_sprite_at(place[0], place[1], ignore_collidable=True)
                if lamp is not None:
                    self.press(lamp.x // 5, lamp.y // 5)
                elif plate is not None:
                    plate.pixels[place[1] % plate.height, place[0] % plate.width] ^= 1
        self.counter.clicks += 1
        self.count()
        if not self.lit:
            self.next_level()
        self.complete_action()

    def count(self):
        """Counts the lit lamps, and the parity of lamps that pressing all of them would toggle."""
        lit = {place for place, lamp in self.lamps.items() if lamp.pixels[1, 1] == ON}
        parity = {}
        for x, y in lit:
            for place in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if place in self.lamps:
                    parity[place] = not parity.get(place, False)
        self.counter.lit = len(lit) + sum(parity.values()) % 2
        self.counter.all = len(self.lamps) + 1


Game = Lights
