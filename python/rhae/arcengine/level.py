"""Levels: sprites, the size of their grid, and what rules want to know about them."""

from __future__ import annotations

import copy
import operator
from typing import Any

from rhae import _native

from .enums import BlockingMode, PlaceableArea
from .sprites import Sprite, clones

_layer = operator.attrgetter("layer")


class Level:
    """The sprites of a level, in their order."""

    _sprites: list[Sprite]
    _sorted_sprites: list[Sprite] | None
    _grid_size: tuple[int, int] | None
    _data: dict[str, Any]
    _name: str
    _placeable_areas: list[PlaceableArea]
    _need_sort: bool

    def __init__(
        self,
        sprites: list[Sprite] | None = None,
        grid_size: tuple[int, int] | None = None,
        data: dict[str, Any] = {},  # noqa: B006  (shared between levels, as games see it in the original)
        name: str = "Level",
        placeable_areas: list[PlaceableArea] | None = None,
    ):
        """A level. Pixel-perfect sprites with the tag `sys_static` are merged into one on each layer."""
        self._sprites = []
        self._grid_size = grid_size
        self._data = data
        self._name = name
        self._placeable_areas = [] if placeable_areas is None else placeable_areas
        self._need_sort = True
        if sprites:
            self._sprites.extend(sprites)
            self._merge_sys_static_pixel_perfect_on_init()

    def _merge_sys_static_pixel_perfect_on_init(self) -> None:
        """Merges what never moves: such sprites come last, one for each layer, in the order of the layers' first ones."""
        if not self._sprites:
            return
        if _native.tagged(self._sprites, "sys_static") == []:
            return
        moving: list[Sprite] = []
        static: dict[int, list[Sprite]] = {}
        for sprite in self._sprites:
            if sprite.blocking == BlockingMode.PIXEL_PERFECT and "sys_static" in sprite.tags:
                static.setdefault(sprite.layer, []).append(sprite)
            else:
                moving.append(sprite)
        for layer, group in static.items():
            merged = group[0]
            for sprite in group[1:]:
                merged = merged.merge(sprite)
            if len(group) > 1:
                merged.set_layer(layer)
                if "sys_static" not in merged.tags:
                    merged.tags.append("sys_static")
            moving.append(merged)
        self._sprites = moving

    def remove_all_sprites(self) -> None:
        """Empties the level."""
        self._sprites = []

    def add_sprite(self, sprite: Sprite) -> None:
        """Adds a sprite as the last one."""
        self._sprites.append(sprite)
        self._need_sort = True

    def remove_sprite(self, sprite: Sprite) -> None:
        """Removes a sprite, if it is there."""
        if sprite in self._sprites:
            self._sprites.remove(sprite)

    def get_sprites(self) -> list[Sprite]:
        """All sprites, in a list of their own."""
        return self._sprites.copy()

    def get_sprites_by_name(self, name: str) -> list[Sprite]:
        """The sprites with a name."""
        found = _native.named(self._sprites, name)
        return [sprite for sprite in self._sprites if sprite.name == name] if found is NotImplemented else found

    def get_sprites_by_tag(self, tag: str) -> list[Sprite]:
        """The sprites with a tag."""
        found = _native.tagged(self._sprites, tag)
        return [sprite for sprite in self._sprites if tag in sprite.tags] if found is NotImplemented else found

    def get_sprites_by_tags(self, tags: list[str]) -> list[Sprite]:
        """The sprites that have all of these tags; none if there are no tags."""
        if not tags:
            return []
        found: list[Sprite] = _native.tagged_all(self._sprites, tags)
        if found is NotImplemented:
            return [sprite for sprite in self._sprites if all(tag in sprite.tags for tag in tags)]
        return found

    def get_sprites_by_any_tag(self, tags: list[str]) -> list[Sprite]:
        """The sprites that have any of these tags."""
        found: list[Sprite] = _native.tagged_any(self._sprites, tags)
        if found is NotImplemented:
            return [sprite for sprite in self._sprites if any(tag in sprite.tags for tag in tags)]
        return found

    def get_all_tags(self) -> set[str]:
        """Every tag that a sprite has."""
        tags: set[str] = set()
        for sprite in self._sprites:
            tags.update(sprite.tags)
        return tags

    def get_sprite_at(self, x: int, y: int, tag: str | None = None, ignore_collidable: bool = False) -> Sprite | None:
        """The collidable sprite that covers a place, with a tag if one is named: on the highest layer, of several the first.

        The order of layers is that of the first call after a sprite was added or the number of sprites changed.
        """
        if self._need_sort or self._sorted_sprites is None or len(self._sorted_sprites) != len(self._sprites):
            self._sorted_sprites = sorted(self._sprites, key=_layer, reverse=True)
            self._need_sort = False
        found = _native.sprite_at(self._sorted_sprites, x, y, tag, bool(ignore_collidable))
        return self._sprite_at_anew(x, y, tag, ignore_collidable) if found is NotImplemented else found

    def _sprite_at_anew(self, x: int, y: int, tag: str | None, ignore_collidable: bool) -> Sprite | None:
        for sprite in self._sorted_sprites or ():
            if not (ignore_collidable or sprite.is_collidable):
                continue
            if not (x >= sprite.x and y >= sprite.y and x < sprite.x + sprite.width and y < sprite.y + sprite.height):
                continue
            if sprite.blocking == BlockingMode.PIXEL_PERFECT and sprite.render()[y - sprite.y][x - sprite.x] == -1:
                continue
            if tag is None or tag in sprite.tags:
                return sprite
        return None

    def collides_with(self, sprite: Sprite, ignoreMode: bool = False) -> list[Sprite]:
        """The sprites of the level that collide with a sprite."""
        found: list[Sprite] = _native.collisions(sprite, self._sprites, bool(ignoreMode))
        if found is NotImplemented:
            return [other for other in self._sprites if sprite.collides_with(other=other, ignoreMode=ignoreMode)]
        return found

    @property
    def name(self) -> str:
        """What rules call it."""
        return self._name

    def get_data(self, key: str) -> Any:
        """What rules want to know, or None."""
        return self._data.get(key)

    @property
    def grid_size(self) -> tuple[int, int] | None:
        """The columns and rows to which the camera is set."""
        return self._grid_size

    @property
    def placeable_areas(self) -> list[PlaceableArea]:
        """Where something can be placed."""
        return self._placeable_areas

    def clone(self) -> Level:
        """A copy with its own sprites and data; the areas are shared. Always a plain level, as in the original."""
        sprites = clones(self._sprites)
        data = {} if type(self._data) is dict and not self._data else copy.deepcopy(self._data)
        return Level(
            name=self._name,
            sprites=sprites,
            grid_size=self._grid_size,
            data=data,
            placeable_areas=self._placeable_areas,
        )
