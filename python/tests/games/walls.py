"""Push a box onto its mark: merged static walls, `try_move`, undo, a step bar drawn in place."""

import numpy as np
from arcengine import (
    ActionInput,
    ARCBaseGame,
    BlockingMode,
    Camera,
    GameAction,
    InteractionMode,
    Level,
    RenderableUserDisplay,
    Sprite,
)

WALL = Sprite([[3] * 4] * 4, name="wall", tags=["sys_static", "wall"])
PLAYER = Sprite([[-1, 9, 9, -1], [9, 1, 1, 9], [9, 9, 9, 9], [-1, 9, 9, -1]], name="player", layer=2, tags=["player"])
BOX = Sprite([[12] * 4, [12, 8, 8, 12], [12, 8, 8, 12], [12] * 4], name="box", layer=1, tags=["box", "heavy"])
MARK = Sprite([[-1] * 4, [-1, 14, 14, -1], [-1, 14, 14, -1], [-1] * 4], name="mark", tags=["mark"])
MAPS = [
    ["########", "#......#", "#.P.BM.#", "#......#", "#..##..#", "########"],
    ["########", "#P.....#", "#.B..#.#", "#....M.#", "#.#....#", "########"],
]
MOVES = {
    GameAction.ACTION1: (0, -4),
    GameAction.ACTION2: (0, 4),
    GameAction.ACTION3: (-4, 0),
    GameAction.ACTION4: (4, 0),
}


def level(rows, name):
    sprites = []
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            kind = {"#": WALL, "P": PLAYER, "B": BOX, "M": MARK}.get(cell)
            if kind is not None:
                sprites.append(kind.clone().set_position(x * 4, y * 4))
    for sprite in sprites:
        if sprite.name == "mark":
            sprite.set_blocking(BlockingMode.NOT_BLOCKED)
    return Level(sprites, grid_size=(32, 24), data={"steps": 40, "rows": rows}, name=name)


class Bar(RenderableUserDisplay):
    def __init__(self, game):
        self.game = game

    def render_interface(self, frame):
        left = self.game.left
        frame[63, :] = 4
        frame[63, : max(0, left)] = 11
        if left < 5:
            frame[0:2, 0:64:3] = 8
        for index in range(len(self.game.reached)):
            frame[61 - index // 32, index % 32 * 2] = 14
        return frame


class Walls(ARCBaseGame):
    def __init__(self, seed=0):
        self.left = 40
        self.past = []
        self.reached = set()
        camera = Camera(0, 0, 32, 24, background=0, letter_box=4, interfaces=[Bar(self)])
        levels = [level(rows, f"level {index}") for index, rows in enumerate(MAPS)]
        super().__init__("walls", levels, camera, available_actions=[1, 2, 3, 4, 7], seed=seed)

    def on_set_level(self, level):
        self.left = level.get_data("steps")
        self.past = []
        self.player = level.get_sprites_by_name("player")[0]
        self.floor = {(x, y) for y, row in enumerate(level.get_data("rows")) for x, cell in enumerate(row) if cell != "#"}
        self.walk([])

    def walk(self, boxes):
        """Computes the cells that the player can reach."""
        blocked = {(box.x // 4, box.y // 4) for box in boxes}
        start = (self.player.x // 4, self.player.y // 4)
        self.reached = {start}
        edge = [start]
        while edge:
            x, y = edge.pop()
            for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if place in self.floor and place not in blocked and place not in self.reached:
                    self.reached.add(place)
                    edge.append(place)

    def step(self):
        if self.action.id == GameAction.ACTION7:
            if self.past:
                for sprite, x, y in self.past.pop():
                    sprite.set_position(x, y)
        elif self.action.id in MOVES:
            self.left -= 1
            boxes = self.current_level.get_sprites_by_tag("box")
            self.past.append([(s, s.x, s.y) for s in [self.player, *boxes]])
            dx, dy = MOVES[self.action.id]
            hit = self.try_move("player", dx, dy)
            if len(hit) == 1 and "box" in hit[0].tags and not self.try_move_sprite(hit[0], dx, dy):
                self.player.move(dx, dy)
        marks = self.current_level.get_sprites_by_tags(["mark"])
        boxes = self.current_level.get_sprites_by_any_tag(["heavy", "none"])
        self.walk(boxes)
        if all(any((m.x, m.y) == (b.x, b.y) for b in boxes) for m in marks):
            for mark in marks:
                mark.set_interaction(InteractionMode.REMOVED)
            self.next_level()
        elif self.left <= 0:
            self.lose()
        self.complete_action()

    def _get_hidden_state(self):
        return np.array([[self.left]], dtype=np.int8)

    def _get_valid_actions(self):
        return [ActionInput(id=action) for action in MOVES]


Game = Walls
