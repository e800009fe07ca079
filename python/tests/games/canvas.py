"""Sprites that are views of one array: strided, shared, reversed and changed in place."""

import numpy as np
from arcengine import ARCBaseGame, BlockingMode, Camera, Level, RenderableUserDisplay, Sprite


class Border(RenderableUserDisplay):
    def __init__(self):
        self.pen = Sprite([[15, -1], [-1, 15]], name="pen")
        self.at = 0

    def render_interface(self, frame):
        self.at = (self.at + 3) % 70
        frame = self.draw_sprite(frame, self.pen, self.at - 3, 61)
        frame[:, 63] = frame[::-1, 0]
        return frame.copy() if self.at % 2 else frame


class Histogram(RenderableUserDisplay):
    """Draws the frequency of each colour of the board as bars along the left edge."""

    def __init__(self, board):
        self.board = board

    def render_interface(self, frame):
        counts = [0] * 16
        for row in self.board.tolist():
            for cell in row:
                counts[cell % 16] += 1
        most = max(counts)
        for color, count in enumerate(counts):
            length = count * 6 // most
            if length:
                frame[color * 4 + 1 : color * 4 + 3, :length] = color
        return frame


class Canvas(ARCBaseGame):
    def __init__(self, seed=0):
        self.board = np.zeros((24, 24), dtype=np.int8)
        self.board[::3, :] = 4
        level = Level([Sprite([[7, 7], [7, 7]], name="dot", x=20, y=20, layer=9)], grid_size=(32, 32))
        super().__init__("canvas", [level, level], Camera(0, 0, 32, 32, 1, 0, [Border(), Histogram(self.board)]), seed=seed)

    def on_set_level(self, level):
        board = self.board
        parts = [board[:8, :8], board[::2, ::2], board[::-1, 8:16], board.T[4:9], np.broadcast_to(board[3], (4, 24))]
        for index, part in enumerate(parts):
            level.add_sprite(Sprite(part, name=f"part {index}", x=index * 6, y=index * 5, layer=index % 2))
        self.dot = level.get_sprites_by_name("dot")[0]

    def step(self):
        kind = self.action.id.value
        board = self.board
        if kind == 1:
            board[:] = np.roll(board, 1, axis=0)
        elif kind == 2:
            board[::2] += 1
            board %= 16
        elif kind == 3:
            self.current_level.get_sprites_by_name("part 0")[0].pixels[2:5, 2:5] = self._action_count % 16
        elif kind == 4:
            self.dot.pixels = board[5:9, 3:11:2]
        elif kind == 5:
            self.dot.pixels = np.array([[self._action_count % 16] * 3] * 2)
        elif kind == 6:
            part = self.current_level.get_sprites()[-1]
            part.set_blocking(BlockingMode.BOUNDING_BOX)
            if self.dot.collides_with(part):
                self.dot.move(-1, -1)
                part.pixels = part.pixels.copy()
                part.pixels[part.pixels == 4] = -1
            else:
                self.dot.move(3, 2)
            if self.dot.x > 40:
                self.dot.set_position(0, 0)
                self.next_level()
        self.complete_action()


Game = Canvas
