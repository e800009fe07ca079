"""An example of a game in Python: one of two figures moves mirrored; move both onto the marks."""

from arcengine import ARCBaseGame, Camera, GameAction, Level, RenderableUserDisplay, Sprite

#: The budget of moves and the map of each level. `a` moves as the key says, `b` with left and right
#: exchanged, `x` is a mark, `#` a wall. After the first level, random keys win less than once in
#: 10,000 plays.
LEVELS = [
    (
        48,
        """
        #########
        #.......#
        #a..#..b#
        #...#...#
        #...#...#
        #..x#x..#
        #########
        """,
    ),
    (
        24,
        """
        #########
        #..a..x##
        #.#..b..#
        #....#..#
        #.......#
        ##.#x.#.#
        #########
        """,
    ),
    (
        28,
        """
        #########
        #..a..#.#
        ###..b.x#
        #.......#
        ###.....#
        #..#.x..#
        #########
        """,
    ),
    (
        36,
        """
        ###########
        #....#..b##
        #.##...x..#
        #...#.....#
        #.........#
        #a.#.#.#..#
        #...#....x#
        ###########
        """,
    ),
    (
        42,
        """
        ###########
        #..a.##x..#
        #.........#
        #.#.#.....#
        #...#####.#
        #......#..#
        #..x...b.##
        ###########
        """,
    ),
    (
        54,
        """
        ###########
        #...#.....#
        #.#.......#
        #..##.#...#
        #...#.#..##
        ##.a##...##
        #...#.b.x.#
        #.##.....x#
        ###########
        """,
    ),
]
MOVES = {
    GameAction.ACTION1: (0, -1),
    GameAction.ACTION2: (0, 1),
    GameAction.ACTION3: (-1, 0),
    GameAction.ACTION4: (1, 0),
}
CELL = 3
FIGURE = [[-1, 9, -1], [9, 1, 9], [9, -1, 9]]
WALL = [[4, 4, 3], [4, 3, 4], [3, 4, 4]]
MARK = [[14, -1, 14], [-1, -1, -1], [14, -1, 14]]


def read(budget: int, text: str) -> Level:
    """Returns the level of a map."""
    looks = {"#": (WALL, "wall", 0), "x": (MARK, "mark", 1), "a": (FIGURE, "figure", 2), "b": (FIGURE, "mirrored", 2)}
    sprites = []
    rows = text.split()
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            if sign in looks:
                cells, name, layer = looks[sign]
                solid = name != "mark"
                sprite = Sprite(cells, name, x * CELL, y * CELL, layer, collidable=solid, tags=[name])
                sprites.append(sprite.color_remap(9, 8) if sign == "b" else sprite)
    return Level(sprites, grid_size=(len(rows[0]) * CELL, len(rows) * CELL), data={"budget": budget})


class Budget(RenderableUserDisplay):
    """Draws the remaining moves as a line at the bottom."""

    def __init__(self) -> None:
        self.left = 0

    def render_interface(self, frame):
        frame[63, :] = 3
        frame[63, : self.left] = 11
        return frame


class Rv52(ARCBaseGame):
    def __init__(self, seed: int = 0) -> None:
        self.budget = Budget()
        camera = Camera(background=0, letter_box=5, interfaces=[self.budget])
        super().__init__("rv52", [read(*level) for level in LEVELS], camera, available_actions=[1, 2, 3, 4], seed=seed)

    def on_set_level(self, level: Level) -> None:
        self.budget.left = level.get_data("budget")
        self.figures = [level.get_sprites_by_name(name)[0] for name in ("figure", "mirrored")]
        self.marks = {(mark.x, mark.y) for mark in level.get_sprites_by_tag("mark")}

    def step(self) -> None:
        if self.action.id in MOVES:
            dx, dy = MOVES[self.action.id]
            figure, mirrored = self.figures
            self.try_move_sprite(figure, dx * CELL, dy * CELL)
            self.try_move_sprite(mirrored, -dx * CELL, dy * CELL)
            self.budget.left -= 1
            if {(sprite.x, sprite.y) for sprite in self.figures} == self.marks:
                self.next_level()
            elif self.budget.left <= 0:
                self.lose()
        self.complete_action()
