"""Subclasses of sprites and levels, sprites as keys, methods overridden on one object."""

from arcengine import ARCBaseGame, BlockingMode, Camera, GameAction, Level, Sprite


class Blinker(Sprite):
    def __init__(self, *args, phase=0, **kwargs):
        self.phase = phase
        super().__init__(*args, **kwargs)

    def render(self):
        cells = super().render()
        if self.phase % 2:
            cells[cells >= 0] = 15
        return cells

    def clone(self, new_name=None):
        twin = Blinker(self.pixels.copy(), new_name or self.name, self.x, self.y, self.layer, phase=self.phase)
        twin._tags = list(self.tags)
        return twin


class Quiet(Sprite):
    """Overrides nothing that drawing uses."""

    def greet(self):
        return f"I am {self.name}"


class Shy(Sprite):
    @property
    def is_visible(self):
        return self._x % 4 != 0


class Room(Level):
    def get_sprites(self):
        return list(reversed(super().get_sprites()))

    def clone(self):
        return Room([s.clone() for s in self._sprites], self._grid_size, dict(self._data), self._name)


class Kin(ARCBaseGame):
    def __init__(self, seed=0):
        blinkers = [Blinker([[c, c], [-1, c]], f"b{c}", c * 2, c, 1, phase=c, tags=["blink"]) for c in range(1, 6)]
        room = Room([*blinkers, Sprite([[8] * 9], name="floor", y=9)], (24, 16), {"a": [1, 2]}, "room")
        plain = Level([Quiet([[5, 6]], name="quiet", x=3, y=3), Shy([[7], [7]], name="shy", x=5)], (12, 12))
        super().__init__("kin", [room, plain], Camera(0, 0, 24, 16, 2, 3), seed=seed)

    def on_set_level(self, level):
        self.touched = set()
        self.when = {}
        if level.name != "room":
            for sprite in [Quiet([[5, 6]], name="quiet", x=3, y=3), Shy([[7], [7]], name="shy", x=5)]:
                level.add_sprite(sprite)
            odd = Sprite([[4, 4], [4, 4]], name="odd", x=8, y=8, blocking=BlockingMode.BOUNDING_BOX)
            odd.render = lambda: odd.pixels[:, ::-1].copy() + (self._action_count % 3)
            level.add_sprite(odd)

    def step(self):
        sprites = self.current_level.get_sprites()
        kind = self.action.id.value
        one = sprites[self._action_count % len(sprites)]
        self.touched.add(one)
        self.when[one] = self._action_count
        if isinstance(one, Blinker):
            one.phase += 1
        if kind in (1, 2, 3, 4):
            dx, dy = [(0, -1), (0, 1), (-1, 0), (1, 0)][kind - 1]
            if self.try_move_sprite(one, dx, dy):
                one.color_remap(None, (one.pixels.max() + 1) % 16)
        elif kind == 5:
            one.x, one.y  # noqa: B018
            clone = one.clone()
            clone.set_position(one.x + 2, one.y + 1)
            if len(sprites) < 14:
                self.current_level.add_sprite(clone)
        elif self.action.id == GameAction.ACTION6:
            place = self.camera.display_to_grid(self.action.data["x"], self.action.data["y"])
            found = self.current_level.get_sprite_at(*place) if place else None
            if found is not None and found in self.touched:
                self.current_level.remove_sprite(found)
        if len(self.touched) > 12 or len(self.current_level._sprites) < 2:
            self.next_level()
        self.complete_action()


Game = Kin
