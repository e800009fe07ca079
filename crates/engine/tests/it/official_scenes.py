"""Generates official_scenes.txt: random scenes with the results of the official engine.

    pip install arcengine==0.9.3
    python official_scenes.py SEED SCENES > official_scenes.txt

A scene is a block of lines:

    camera X Y WIDTH HEIGHT BACKGROUND LETTER_BOX
    sprite X Y LAYER SCALE ROTATION MIRROR_UD MIRROR_LR BLOCKING INTERACTION ROW/ROW/...   (cells separated by commas)
    bad SCALE ROW/ROW/...          a scale that the official engine rejects
    frame HASH                     FNV-1a, 64 bits, over the cells of the frame as bytes
    hits I-J ...                   the pairs that collide
    touches I-J ...                the pairs that collide if their modes are ignored
    merged X Y LAYER BLOCKING INTERACTION ROW/ROW/...   the first two sprites merged
    at X Y I                       the index of the sprite at a level cell, or -
    grid X Y GX GY                 the level cell at a display cell, or -
"""

import random
import sys

from arcengine import BlockingMode, Camera, InteractionMode, Level, Sprite

BLOCKING = {"none": BlockingMode.NOT_BLOCKED, "box": BlockingMode.BOUNDING_BOX, "pixel": BlockingMode.PIXEL_PERFECT}


def text(pixels):
    return "/".join(",".join(str(int(cell)) for cell in row) for row in pixels)


def key(value):
    return next(name for name, mode in BLOCKING.items() if mode is value)


def fnv(cells):
    value = 0xCBF29CE484222325
    for cell in cells:
        value = ((value ^ (int(cell) & 0xFF)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def pixels(rng, solid):
    scale = rng.choice([1, 1, 1, 2, 3, -1, -1, -2])
    block = 1 - scale if scale < 0 else 1
    largest = 7 // block + 1
    # Sometimes a side that the scale may not divide.
    stray = rng.random() < 0.05
    width, height = (rng.randint(1, largest) * block + (stray and rng.randint(0, 1)) for _ in range(2))
    cells = [-1, -1, -1, 0, 3, 7, 9, 14, rng.randint(0, 15)] + ([-2] if solid else [])
    if rng.random() < 0.04:
        width *= 12
    return scale, [[rng.choice(cells) for _ in range(width)] for _ in range(height)]


def scene(rng):
    camera = Camera(
        rng.randint(-6, 6), rng.randint(-6, 6), rng.randint(1, 64) if rng.random() < 0.3 else rng.randint(1, 24),
        rng.randint(1, 64) if rng.random() < 0.3 else rng.randint(1, 24), rng.randint(-1, 15), rng.randint(0, 15),
    )
    print("camera", camera.x, camera.y, camera.width, camera.height, camera.background, camera.letter_box)
    sprites = []
    while len(sprites) < rng.randint(2, 5):
        scale, rows = pixels(rng, rng.random() < 0.3)
        rotation, ud, lr = rng.choice([0, 90, 180, 270]), rng.random() < 0.4, rng.random() < 0.4
        blocking, interaction = rng.choice(list(BLOCKING)), rng.choice(list(InteractionMode) + [InteractionMode.TANGIBLE] * 4)
        x, y, layer = rng.randint(-8, 16), rng.randint(-8, 16), rng.randint(-2, 2)
        try:
            sprite = Sprite(rows, "s", x, y, layer, scale, rotation, ud, lr, BLOCKING[blocking], interaction)
            sprite.render()
        except ValueError:
            print("bad", scale, text(rows))
            continue
        print("sprite", x, y, layer, scale, rotation, int(ud), int(lr), blocking, interaction.name.lower(), text(rows))
        sprites.append(sprite)
    print("frame", fnv(camera.render(sprites).flatten()))
    for word, ignore in (("hits", False), ("touches", True)):
        pairs = [(i, j) for i, one in enumerate(sprites) for j, two in enumerate(sprites) if one.collides_with(two, ignore)]
        print(word, *(f"{i}-{j}" for i, j in pairs))
    merged = sprites[0].merge(sprites[1])
    print("merged", merged.x, merged.y, merged.layer, key(merged.blocking), merged.interaction.name.lower(), text(merged.pixels))
    level = Level(sprites)
    for _ in range(3):
        x, y = rng.randint(-8, 20), rng.randint(-8, 20)
        found = level.get_sprite_at(x, y)
        print("at", x, y, "-" if found is None else next(i for i, sprite in enumerate(sprites) if sprite is found))
    for _ in range(3):
        x, y = rng.randint(0, 63), rng.randint(0, 63)
        cell = camera.display_to_grid(x, y)
        print("grid", x, y, *(cell or "-"))


if __name__ == "__main__":
    source = random.Random(int(sys.argv[1]))
    for _ in range(int(sys.argv[2])):
        scene(source)
