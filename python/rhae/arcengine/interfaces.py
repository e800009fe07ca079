"""Displays, which are drawn last onto the finished 64 x 64 frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy import ndarray

from rhae import _native

from .enums import InteractionMode
from .sprites import Sprite


class RenderableUserDisplay(ABC):
    """The base class of displays, which draw onto the finished frame."""

    @abstractmethod
    def render_interface(self, frame: ndarray) -> ndarray:
        """Draws on the frame, in place or on a copy, and returns it for the next display."""
        return frame

    def draw_sprite(self, frame: ndarray, sprite: Sprite, start_x: int, start_y: int) -> ndarray:
        """Draws a sprite with its upper left corner at (`start_x`, `start_y`) of the frame.

        The position of the sprite itself is ignored.
        """
        drawn = _native.draw_sprite(frame, sprite, start_x, start_y)
        return self._draw_sprite_python(frame, sprite, start_x, start_y) if drawn is NotImplemented else drawn

    def _draw_sprite_python(self, frame: ndarray, sprite: Sprite, x: int, y: int) -> ndarray:
        cells = sprite.render()
        height, width = cells.shape
        if x < 64 and y < 64 and x + width > 0 and y + height > 0:
            rows = slice(max(0, -y), height - max(0, y + height - 64))
            columns = slice(max(0, -x), width - max(0, x + width - 64))
            shown = cells[rows, columns]
            under = frame[max(0, y) : min(64, y + height), max(0, x) : min(64, x + width)]
            frame[max(0, y) : min(64, y + height), max(0, x) : min(64, x + width)] = np.where(shown >= 0, shown, under)
        return frame


class ToggleableUserDisplay(RenderableUserDisplay):
    """Pairs of sprites.

    The first one is shown while the pair is enabled, otherwise the second one.
    """

    _sprite_pairs: list[tuple[Sprite, Sprite]]

    def __init__(self, sprite_pairs: list[tuple[Sprite, Sprite]] = []):  # noqa: B006
        """Creates a display with copies of these pairs."""
        self._sprite_pairs = []
        if sprite_pairs:
            for pair in sprite_pairs:
                self._sprite_pairs.append((pair[0].clone(), pair[1].clone()))

    def clone(self) -> ToggleableUserDisplay:
        """Returns a copy with its own sprites.

        The copy of a subclass is a plain display, as in the original.
        """
        return ToggleableUserDisplay([(pair[0].clone(), pair[1].clone()) for pair in self._sprite_pairs])

    def _check_index(self, index: int) -> None:
        if index < 0 or index >= len(self._sprite_pairs):
            raise ValueError(f"Index {index} is out of bounds")

    def is_enabled(self, index: int) -> bool:
        """Returns whether a pair is enabled, which means that its first sprite is not removed."""
        pairs = self._sprite_pairs
        if index < 0 or index >= len(pairs):
            raise ValueError(f"Index {index} is out of bounds")
        return pairs[index][0].interaction != _REMOVED

    def enable(self, index: int) -> None:
        """Enables a pair."""
        self._check_index(index)
        self._enable_sprite_pair(self._sprite_pairs[index])

    def disable(self, index: int) -> None:
        """Disables a pair."""
        self._check_index(index)
        self._disable_sprite_pair(self._sprite_pairs[index])

    def enable_all_by_tag(self, tag: str) -> None:
        """Enables every pair whose first sprite has this tag."""
        for pair in self._find_sprites_by_tag(tag):
            self._enable_sprite_pair(pair)

    def disabled_all_by_tag(self, tag: str) -> None:
        """Disables every pair whose first sprite has this tag."""
        for pair in self._find_sprites_by_tag(tag):
            self._disable_sprite_pair(pair)

    def enable_first_by_tag(self, tag: str) -> bool:
        """Enables the first disabled pair with this tag. Returns whether one was found."""
        for pair in self._find_sprites_by_tag(tag):
            if pair[0].interaction == InteractionMode.REMOVED:
                self._enable_sprite_pair(pair)
                return True
        return False

    def disabled_first_by_tag(self, tag: str) -> bool:
        """Disables the first pair with this tag whose first sprite is intangible.

        Returns whether one was found. Enabling a pair makes its first sprite intangible. A pair that
        was never enabled is usually tangible and is skipped.
        """
        for pair in self._find_sprites_by_tag(tag):
            if pair[0].interaction == InteractionMode.INTANGIBLE:
                self._disable_sprite_pair(pair)
                return True
        return False

    def _find_sprites_by_tag(self, tag: str) -> list[tuple[Sprite, Sprite]]:
        return [pair for pair in self._sprite_pairs if tag in pair[0].tags]

    def _enable_sprite_pair(self, sprite_pair: tuple[Sprite, Sprite]) -> None:
        shown, hidden = sprite_pair
        shown.set_interaction(InteractionMode.INTANGIBLE)
        hidden.set_interaction(InteractionMode.REMOVED)

    def _disable_sprite_pair(self, sprite_pair: tuple[Sprite, Sprite]) -> None:
        hidden, shown = sprite_pair
        hidden.set_interaction(InteractionMode.REMOVED)
        shown.set_interaction(InteractionMode.INTANGIBLE)

    def render_interface(self, frame: ndarray) -> ndarray:
        """Draws every sprite that is not removed, at its own position."""
        plain = getattr(self.draw_sprite, "__func__", None) is _DRAW_SPRITE
        drawn = _native.draw_pairs(frame, self._sprite_pairs) if plain else NotImplemented
        return self._render_interface_python(frame) if drawn is NotImplemented else drawn

    def _render_interface_python(self, frame: ndarray) -> ndarray:
        for sprite in [sprite for pair in self._sprite_pairs for sprite in pair]:
            if sprite.interaction != _REMOVED:
                frame = self.draw_sprite(frame, sprite, sprite.x, sprite.y)
        return frame


_REMOVED = InteractionMode.REMOVED
_DRAW_SPRITE: Any = RenderableUserDisplay.draw_sprite
