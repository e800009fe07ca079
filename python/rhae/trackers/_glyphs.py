"""A bitmap font for the labels of pictures, so that drawing needs no other package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: The height of a line of text in pixels, without space.
LINE_HEIGHT = 14
_SCALE = 2
_WIDTH = 5

#: The seven rows of each glyph from top to bottom, two hexadecimal digits each. The lowest bit of a
#: row is its right pixel.
_ROWS = {
    "a": "00000e010f110f",
    "b": "10101e1111111e",
    "c": "00000e1010110e",
    "d": "01010f1111110f",
    "e": "00000e111f100e",
    "f": "0609081c080808",
    "g": "000f11110f010e",
    "h": "10101619111111",
    "i": "04000c0404040e",
    "k": "10101214181412",
    "l": "0c04040404040e",
    "m": "00001a15151111",
    "n": "00001619111111",
    "o": "00000e1111110e",
    "p": "00001e111e1010",
    "r": "00001619101010",
    "s": "00000e100e011e",
    "t": "08081c08080906",
    "u": "0000111111130d",
    "v": "00001111110a04",
    "w": "0000111115150a",
    "x": "0000110a040a11",
    "y": "000011110f010e",
    "z": "00001f0204081f",
    "0": "0e11131519110e",
    "1": "040c040404040e",
    "2": "0e11010204081f",
    "3": "1f02040201110e",
    "4": "02060a121f0202",
    "5": "1f101e0101110e",
    "6": "0608101e11110e",
    "7": "1f010204080808",
    "8": "0e11110e11110e",
    "9": "0e11110f01020c",
    " ": "00000000000000",
}


def text_width(text: str) -> int:
    """Returns the width of a text in pixels."""
    return max(len(text) * (_WIDTH + 1) - 1, 0) * _SCALE


def text_mask(text: str) -> NDArray[np.bool_]:
    """Returns the pixels of a text in lower case, with shape (``LINE_HEIGHT``, ``text_width(text)``)."""
    glyphs = [[int(_ROWS[letter][row : row + 2], 16) for row in range(0, 14, 2)] for letter in text]
    bits = [
        [bool(glyph[row] >> (_WIDTH - 1 - column) & 1) if column < _WIDTH else False for glyph in glyphs for column in range(6)]
        for row in range(7)
    ]
    mask = np.array(bits, dtype=np.bool_)[:, : max(len(text) * 6 - 1, 0)]
    return mask.repeat(_SCALE, axis=0).repeat(_SCALE, axis=1)
