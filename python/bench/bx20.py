"""The environment bx20 as a game for arcengine, with the same frames as the native one.

A test plays both with the same actions, and the benchmark compares their speed. The game is written
in the usual style: sprites on layers, one phase of an animation per call of ``step``.
"""

import numpy as np
from arcengine import ARCBaseGame, Camera, GameAction, Level, Sprite

SIDE = 9
CELL = 6
WALL_WIDTH = 5
ROOM_END = WALL_WIDTH + CELL * SIDE

SHUTTER_SIZE = 5

WALL, ROCK, ROCK_EDGE, POT, LIGHT, BRIGHT, WITHERED, SHUTTER = 5, 3, 2, 12, 11, 0, 2, 9
DAY = {"ground": 4, "corner": 5, "glass": LIGHT, "shutter": SHUTTER}
NIGHT = {"ground": 5, "corner": 4, "glass": 3, "shutter": BRIGHT}
PLANTS = {"A": 14, "B": 10, "C": 7, "X": 15}

# Directions, which are also the sides of the room: up, right, down, left.
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))

MAPS = [
    "+++mmmmm+++/+.........+/+.........+/+......a..+/+..^......+/+..^......m/+..^......m/+..^......m/+..A......+/+.........+/+++++++++++",
    "+++++++++++/+....B....m/+.....A...m/+.....#...m/+.....b...m/m..a......m/m.........+/m.........+/m.........n/+.........n/++++mmmm+++",
    "+++++++++++/m.........+/m.........+/m........B+/m.........+/m.....A...+/m.a.......+/m.........+/m.........+/m........b+/+++mmmmmmm+",
    "++++++mmmm+/+.....#...+/+.........m/+....A....m/+.....a#b.m/+.........m/+....B....m/+.........m/+.........+/+.........+/++++mmmmm++",
    "+++++mmm+++/+.........+/m.......A.+/m.........m/m.........m/+.......a.m/+.......X.m/+.........m/+.....x...+/+.........+/+++mmm+++++",
    "++++mmmmmm+/+.....a...+/+.........m/m.........m/m....X....m/m.........m/m.......x.+/m.........+/+.....A...+/+.........+/+++++++++++",
    "+mmmmmmmmm+/+......b..m/+.........m/+...a.....m/+.A.......m/+.........m/+......B..m/+.........m/+.C.c.....m/+.........m/++++++mmm++",
    "+++mm++++++/m.........+/m.........+/m.........+/m.a....A..+/m......x.B+/m.......#.+/m.......#b+/m.........+/m.X.......+/+mmmmmmmmm+",
]

SHAPES = {
    "place": ".1111. 1....1 1....1 1....1 1....1 .1111.",
    "round": ".1111. 111111 112211 112211 111111 .1111.",
    "rock": "222221 211111 211111 211111 211111 111111",
}


def shape(name, one, two):
    """Returns the cells of a shape in two colours; -1 is transparent."""
    colors = {".": -1, "1": one, "2": two}
    return [[colors[mark] for mark in row] for row in SHAPES[name].split()]


def corner(cell):
    x, y = cell
    return WALL_WIDTH + x * CELL, WALL_WIDTH + y * CELL


def block(width, height, color, x, y, layer):
    return Sprite(pixels=[[color] * width for _ in range(height)], x=x, y=y, layer=layer, collidable=False)


class Window:
    def __init__(self, side, first, last):
        self.side, self.first, self.last = side, first, last
        start = WALL_WIDTH + first * CELL + 1
        length = (last - first + 1) * CELL - 2
        self.area = [
            (start, 1, length, 4),
            (ROOM_END, start, 4, length),
            (start, ROOM_END, length, 4),
            (1, start, 4, length),
        ][side]

    def holds(self, x, y):
        left, top, width, height = self.area
        return left <= x < left + width and top <= y < top + height

    def covers(self, cell):
        return self.first <= cell[self.side % 2] <= self.last

    def first_cell(self, line):
        return [(line, 0), (SIDE - 1, line), (line, SIDE - 1), (0, line)][self.side]


class Plan:
    """The fixed parts of a level."""

    def __init__(self, text):
        rows = text.split("/")
        where = {}
        for y, row in enumerate(rows[1:-1]):
            for x, mark in enumerate(row[1:-1]):
                where.setdefault(mark, []).append((x, y))
        self.rocks = set(where.get("#", []))
        letters = [letter for letter in PLANTS if letter in where]
        self.pots = [where[letter][0] for letter in letters]
        grown = {cell: STEPS["^>v<".index(mark)] for mark in "^>v<" for cell in where.get(mark, [])}
        self.stems = [self.grow(pot, grown) for pot in self.pots]
        self.places = [where[letter.lower()][0] for letter in letters]
        self.shy = [letter == "X" for letter in letters]
        self.colors = [PLANTS[letter] for letter in letters]
        walls = [rows[0][1:-1], [row[-1] for row in rows[1:-1]], rows[-1][1:-1], [row[0] for row in rows[1:-1]]]
        self.windows = []
        for side, wall in enumerate(walls):
            runs = []
            for line, mark in enumerate(wall):
                if mark == "+":
                    continue
                if runs and runs[-1][1] + 1 == line and wall[line - 1] == mark:
                    runs[-1][1] = line
                else:
                    runs.append([line, line])
            self.windows += [Window(side, first, last) for first, last in runs]

    @staticmethod
    def grow(pot, grown):
        """Returns the cells of a plant that has grown along the direction signs of the map."""
        stem = [pot]
        while True:
            x, y = stem[-1]
            ahead = [(x + dx, y + dy) for dx, dy in STEPS if grown.get((x + dx, y + dy)) == (dx, dy)]
            if not ahead or ahead[0] in stem:
                return stem
            stem.append(ahead[0])

    def background(self, shades):
        picture = np.full((64, 64), WALL, np.int8)
        picture[:SHUTTER_SIZE, :SHUTTER_SIZE] = shades["shutter"]

        def stamp(cell, pixels):
            x, y = corner(cell)
            pixels = np.array(pixels)
            part = picture[y : y + CELL, x : x + CELL]
            part[pixels >= 0] = pixels[pixels >= 0]

        for y in range(SIDE):
            for x in range(SIDE):
                left, top = corner((x, y))
                picture[top : top + CELL, left : left + CELL] = shades["ground"]
                if x > 0 and y > 0:
                    picture[top, left] = shades["corner"]
                if (x, y) in self.rocks:
                    stamp((x, y), shape("rock", ROCK, ROCK_EDGE))
        for window in self.windows:
            left, top, width, height = window.area
            picture[top : top + height, left : left + width] = shades["glass"]
        for pot, place, color in zip(self.pots, self.places, self.colors, strict=True):
            stamp(place, shape("place", color, color))
            stamp(pot, shape("round", POT, color))
        return picture


class Bx20(ARCBaseGame):
    def __init__(self, seed=0):
        self.plans = [Plan(text) for text in MAPS]
        levels = []
        for plan in self.plans:
            day = Sprite(pixels=plan.background(DAY), name="day", layer=0, collidable=False)
            night = Sprite(pixels=plan.background(NIGHT), name="night", layer=0, visible=False, collidable=False)
            levels.append(Level(sprites=[day, night], grid_size=(64, 64)))
        super().__init__("bx20-v1", levels, Camera(width=64, height=64), available_actions=[6, 7], seed=seed)

    def on_set_level(self, level):
        self.plan = self.plans[self.level_index]
        self.day = level.get_sprites_by_name("day")[0]
        self.night = level.get_sprites_by_name("night")[0]
        self.stems = [list(stem) for stem in self.plan.stems]
        self.history = []
        self.shown = []
        self.phases = []
        self.show(self.plants(self.stems))

    def step(self):
        if not self.phases:
            self.phases = self.answer()
        phase = self.phases.pop(0)
        phase()
        if not self.phases:
            if self.action.id == GameAction.ACTION6 and self.in_flower():
                self.next_level()
            self.complete_action()

    def in_flower(self):
        return all(stem[-1] == place for stem, place in zip(self.stems, self.plan.places, strict=True))

    def answer(self):
        """Executes the action and returns functions that draw its frames, one after the other."""
        pictures = []
        if self.action.id == GameAction.ACTION6:
            x, y = self.action.data["x"], self.action.data["y"]
            window = next((window for window in self.plan.windows if window.holds(x, y)), None)
            before = [list(stem) for stem in self.stems]
            if window is not None:
                pictures += self.open(window)
            elif x < SHUTTER_SIZE and y < SHUTTER_SIZE:
                pictures += self.darken()
            else:
                spot = self.outline(min(max(x - 1, 0), 60), min(max(y - 1, 0), 60))
                pictures.append(lambda: self.show([*self.plants(self.stems), *spot]))
            if self.stems != before:
                self.history.append(before)
            if self.in_flower():
                for petals in (BRIGHT, LIGHT, BRIGHT, LIGHT):
                    pictures.append(lambda petals=petals: self.show(self.plants(self.stems, petals)))
        elif self.action.id == GameAction.ACTION7:
            if self.history:
                self.stems = self.history.pop()
            else:
                everyone = range(len(self.stems))
                pictures.append(lambda: self.show([*self.plants(self.stems), *self.hearts(self.stems, everyone)]))
        pictures.append(lambda: self.show(self.plants(self.stems)))
        return pictures

    @staticmethod
    def outline(x, y):
        sides = [(4, 1, 0, 0), (4, 1, 0, 3), (1, 4, 0, 0), (1, 4, 3, 0)]
        return [block(width, height, WITHERED, x + dx, y + dy, 20) for width, height, dx, dy in sides]

    @staticmethod
    def hearts(stems, plants):
        sprites = []
        for plant in plants:
            x, y = corner(stems[plant][-1])
            sprites.append(block(2, 2, LIGHT, x + 2, y + 2, 21))
        return sprites

    def open(self, window):
        plan = self.plan
        before = [list(stem) for stem in self.stems]
        opaque = plan.rocks | {cell for stem in before for cell in stem}
        lit, strained = [], []
        for plant, stem in enumerate(before):
            tip = stem[-1]
            if not window.covers(tip) or self.shaded(tip, window.side, opaque):
                continue
            direction = window.side ^ 2 if plan.shy[plant] else window.side
            ahead = (tip[0] + STEPS[direction][0], tip[1] + STEPS[direction][1])
            lit.append(plant)
            if tip == plan.places[plant] or ahead in opaque or not (0 <= ahead[0] < SIDE and 0 <= ahead[1] < SIDE):
                strained.append((plant, direction))
            else:
                self.stems[plant].append(ahead)

        def scene(part):
            left, top, width, height = window.area
            glass = block(width, height, BRIGHT, left, top, 20)
            return [*self.plants(before), glass, *self.beams(window, opaque, part)]

        def strains():
            sprites = []
            for plant, direction in strained:
                x, y = corner(before[plant][-1])
                dx, dy = STEPS[direction]
                sprites += self.bud(x + dx, y + dy, plant, 21)
            return sprites

        pictures = [lambda: self.show(scene(2)), lambda: self.show(scene(1) + self.hearts(before, lit))]
        if strained:
            pictures.append(lambda: self.show(scene(1) + strains()))
        return pictures

    @staticmethod
    def shaded(cell, side, opaque):
        x, y = cell
        dx, dy = STEPS[side]
        x, y = x + dx, y + dy
        while 0 <= x < SIDE and 0 <= y < SIDE:
            if (x, y) in opaque:
                return True
            x, y = x + dx, y + dy
        return False

    @staticmethod
    def beams(window, opaque, part):
        sprites = []
        dx, dy = STEPS[window.side ^ 2]
        for line in range(window.first, window.last + 1):
            first = window.first_cell(line)
            x, y = first
            length = 0
            while 0 <= x < SIDE and 0 <= y < SIDE and (x, y) not in opaque:
                length += CELL
                x, y = x + dx, y + dy
            length //= part
            if length == 0:
                continue
            x, y = corner(first)
            if window.side == 0:
                sprites.append(block(2, length, LIGHT, x + 2, y, 20))
            elif window.side == 1:
                sprites.append(block(length, 2, LIGHT, x + CELL - length, y + 2, 20))
            elif window.side == 2:
                sprites.append(block(2, length, LIGHT, x + 2, y + CELL - length, 20))
            else:
                sprites.append(block(length, 2, LIGHT, x, y + 2, 20))
        return sprites

    def darken(self):
        before = [list(stem) for stem in self.stems]
        for stem in self.stems:
            if len(stem) > 1:
                stem.pop()

        def withering():
            sprites = self.plants(before)
            for stem in before:
                if len(stem) > 1:
                    x, y = corner(stem[-1])
                    sprites.append(block(4, 4, WITHERED, x + 1, y + 1, 20))
            return sprites

        return [
            lambda: self.show(withering(), dark=True),
            lambda: self.show(self.plants(self.stems), dark=True),
        ]

    def plants(self, stems, petals=BRIGHT):
        sprites = []
        for plant, stem in enumerate(stems):
            color = self.plan.colors[plant]
            for cell, back in zip(stem[1:], stem, strict=False):
                x, y = corner(cell)
                match (back[0] - cell[0], back[1] - cell[1]):
                    case (0, -1):
                        sprites.append(block(2, 8, color, x + 2, y - 4, plant + 1))
                    case (1, 0):
                        sprites.append(block(8, 2, color, x + 2, y + 2, plant + 1))
                    case (0, 1):
                        sprites.append(block(2, 8, color, x + 2, y + 2, plant + 1))
                    case _:
                        sprites.append(block(8, 2, color, x - 4, y + 2, plant + 1))
            x, y = corner(stem[-1])
            if stem[-1] == self.plan.places[plant]:
                sprites.append(Sprite(pixels=shape("place", petals, petals), x=x, y=y, layer=plant + 1, collidable=False))
            sprites += self.bud(x, y, plant, plant + 1)
        return sprites

    def bud(self, x, y, plant, layer):
        heart = WALL if self.plan.shy[plant] else BRIGHT
        return [
            block(4, 4, self.plan.colors[plant], x + 1, y + 1, layer),
            block(2, 2, heart, x + 2, y + 2, layer),
        ]

    def show(self, sprites, dark=False):
        level = self.current_level
        for sprite in self.shown:
            level.remove_sprite(sprite)
        for sprite in sprites:
            level.add_sprite(sprite)
        self.shown = sprites
        self.day.set_visible(not dark)
        self.night.set_visible(dark)
