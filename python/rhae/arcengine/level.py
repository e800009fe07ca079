"""Levels: sprites, the size of the grid, and data for the rules."""

from __future__ import annotations

import copy
import operator
from typing import Any

from rhae import _native

from .enums import BlockingMode, PlaceableArea
from .sprites import Sprite, clones

_layer = operator.attrgetter("layer")


class Level:
    """A list of sprites with a grid size, a name, data for the rules, and placeable areas."""

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
        """Creates a level.

        Pixel-perfect sprites with the tag `sys_static` are merged into one per layer.
        """
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
        """Merges pixel-perfect sprites with the tag `sys_static` into one per layer.

        The merged sprites follow all other sprites, in the order in which their layers first occur.
        """
        if not self._sprites:
            return
        if _native.sprites_with_tag(self._sprites, "sys_static") == []:
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
        """Removes all sprites."""
        self._sprites = []

    def add_sprite(self, sprite: Sprite) -> None:
        """Appends a sprite."""
        self._sprites.append(sprite)
        self._need_sort = True

    def remove_sprite(self, sprite: Sprite) -> None:
        """Removes a sprite if the level contains it."""
        if sprite in self._sprites:
            self._sprites.remove(sprite)

    def get_sprites(self) -> list[Sprite]:
        """Returns a new list of all sprites."""
        return self._sprites.copy()

    def get_sprites_by_name(self, name: str) -> list[Sprite]:
        """Returns the sprites with this name."""
        found = _native.sprites_with_name(self._sprites, name)
        return [sprite for sprite in self._sprites if sprite.name == name] if found is NotImplemented else found

    def get_sprites_by_tag(self, tag: str) -> list[Sprite]:
        """Returns the sprites with this tag."""
        found = _native.sprites_with_tag(self._sprites, tag)
        return [sprite for sprite in self._sprites if tag in sprite.tags] if found is NotImplemented else found

    def get_sprites_by_tags(self, tags: list[str]) -> list[Sprite]:
        """Returns the sprites that have all of these tags; an empty list if `tags` is empty."""
        if not tags:
            return []
        found: list[Sprite] = _native.sprites_with_all_tags(self._sprites, tags)
        if found is NotImplemented:
            return [sprite for sprite in self._sprites if all(tag in sprite.tags for tag in tags)]
        return found

    def get_sprites_by_any_tag(self, tags: list[str]) -> list[Sprite]:
        """Returns the sprites that have any of these tags."""
        found: list[Sprite] = _native.sprites_with_any_tag(self._sprites, tags)
        if found is NotImplemented:
            return [sprite for sprite in self._sprites if any(tag in sprite.tags for tag in tags)]
        return found

    def get_all_tags(self) -> set[str]:
        """Returns the tags of all sprites."""
        tags: set[str] = set()
        for sprite in self._sprites:
            tags.update(sprite.tags)
        return tags

    def get_sprite_at(self, x: int, y: int, tag: str | None = None, ignore_collidable: bool = False) -> Sprite | None:
        """Returns the collidable sprite at a cell, with this tag if one is given, or None.

        If there are several, returns the one on the highest layer, and within a layer the first
        one. As in the original, sprites are sorted by layer only after one was added or their
        number changed, so a later change of a layer may be missed.
        """
        if self._need_sort or self._sorted_sprites is None or len(self._sorted_sprites) != len(self._sprites):
            self._sorted_sprites = sorted(self._sprites, key=_layer, reverse=True)
            self._need_sort = False
        found = _native.sprite_at(self._sorted_sprites, x, y, tag, bool(ignore_collidable))
        return self._sprite_at_python(x, y, tag, ignore_collidable) if found is NotImplemented else found

    def _sprite_at_python(self, x: int, y: int, tag: str | None, ignore_collidable: bool) -> Sprite | None:
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
        """Returns the sprites of the level that collide with a sprite."""
        found: list[Sprite] = _native.collisions(sprite, self._sprites, bool(ignoreMode))
        if found is NotImplemented:
            return [other for other in self._sprites if sprite.collides_with(other=other, ignoreMode=ignoreMode)]
        return found

    @property
    def name(self) -> str:
        """The name by which rules find the level."""
        return self._name

    def get_data(self, key: str) -> Any:
        """Returns the value of a key of the level's data, or None."""
        return self._data.get(key)

    @property
    def grid_size(self) -> tuple[int, int] | None:
        """The columns and rows to which the camera is resized, or None."""
        return self._grid_size

    @property
    def placeable_areas(self) -> list[PlaceableArea]:
        """The areas in which a sprite can be placed."""
        return self._placeable_areas

    def clone(self) -> Level:
        """Returns a copy with its own sprites and data. The areas are shared.

        The copy of a subclass is a plain level, as in the original.
        """
        sprites = clones(self._sprites)
        data = {} if type(self._data) is dict and not self._data else copy.deepcopy(self._data)
        return Level(
            name=self._name,
            sprites=sprites,
            grid_size=self._grid_size,
            data=data,
            placeable_areas=self._placeable_areas,
        )
