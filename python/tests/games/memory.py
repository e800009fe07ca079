"""Undo by saving every attribute of every sprite; attributes set before `super().__init__`."""

import copy

import numpy as np
from arcengine import ARCBaseGame, Camera, GameAction, Level, RenderableUserDisplay, Sprite


def attributes(thing):
    found = dict(thing.__dict__)
    for base in type(thing).__mro__:
        for name in getattr(base, "__slots__", ()):
            if hasattr(thing, name):
                found[name] = getattr(thing, name)
    return found


class Count(RenderableUserDisplay):
    def __init__(self):
        self.number = 0

    def render_interface(self, frame):
        for bit in range(8):
            frame[1:3, 2 + bit * 3 : 4 + bit * 3] = 11 if self.number >> bit & 1 else 4
        return frame


class Memory(ARCBaseGame):
    def __init__(self, seed=0):
        self.stack = []
        self.count = Count()
        self._seen = set()
        blocks = [
            Sprite([[c, c], [c, -1]], name=f"b{c}", x=c * 3 % 17, y=c * 7 % 15, layer=c % 3, tags=["block"])
            for c in range(1, 14)
        ]
        super().__init__(
            "memory",
            [Level(blocks, grid_size=(20, 18)), Level(blocks[::2], grid_size=(10, 18))],
            Camera(interfaces=[self.count]),
            available_actions=[1, 2, 3, 4, 5, 7],
            seed=seed,
        )

    def on_set_level(self, level):
        self.stack.clear()

    def step(self):
        blocks = self.current_level.get_sprites_by_tag("block")
        if self.action.id == GameAction.ACTION7:
            if self.stack:
                for sprite, before in zip(blocks, self.stack.pop(), strict=True):
                    for name, value in before.items():
                        setattr(sprite, name, value)
        else:
            self.stack.append([copy.deepcopy(attributes(sprite)) for sprite in blocks])
            self.stack = self.stack[-5:]
            one = blocks[self._action_count % len(blocks)]
            self._seen.add(one)
            kind = self.action.id.value
            if kind == 5:
                one.pixels[0, 1] = (one.pixels[0, 1] + 1) % 16
                one.tags.append("touched") if "touched" not in one.tags else None
            elif kind:
                one.set_position(one.x + (kind - 2) * 2, one.y + (kind - 3))
                one.rotate(90)
        self.count.number = len(self._seen) + len(self.current_level.get_sprites_by_tag("touched")) * 16
        if len(self.current_level.get_sprites_by_tag("touched")) > 6:
            self._seen = set()
            self.next_level()
        self.complete_action()

    def _get_hidden_state(self):
        return np.array([[len(self.stack)]], dtype=np.int8)


Game = Memory
