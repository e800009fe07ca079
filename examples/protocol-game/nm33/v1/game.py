"""A whole game that speaks the hosting protocol itself, without any package (see docs/hosting.md).

Fill the bar with ACTION1; ACTION2 empties it by one. Level 1 takes 3 steps, level 2 takes 5.
"""
import struct
import sys

HELLO, OPEN, ACT, FORK, SAVE, LOAD, CLOSE = range(1, 8)
READY, OBSERVATION, DONE, SAVED, FAILED = 0x81, 0x82, 0x83, 0x84, 0xFF
LEVELS = [3, 5]
plays = {}  # number of a play: [level, bar, whether an action was taken on this level]


def picture(level, bar):
    row = bytes([14 if x < 8 * bar else 5 for x in range(64)])
    return row * 60 + bytes([level + 8]) * 256


def act(play, action):
    full_reset = action == 0 and (not play[2] or play[0] == len(LEVELS))
    if full_reset:
        play[:] = [0, 0, False]
    elif action == 0:
        play[1:] = [0, False]
    else:
        play[1] = max(0, play[1] + {1: 1, 2: -1}.get(action, 0))
        play[2] = True
    frames = [picture(play[0], play[1])]
    if play[1] == LEVELS[play[0]]:
        play[:] = [play[0] + 1, 0, False]
        frames.append(picture(play[0], 0))
    won = play[0] == len(LEVELS)
    head = struct.pack("<BBBBBH", won, play[0], len(LEVELS), 0b110, full_reset, len(frames))
    return OBSERVATION, head + b"".join(frames)


def answer(kind, body):
    if kind == HELLO:
        return READY, struct.pack("<H", 1) + b"nm33"
    number, rest = struct.unpack_from("<I", body)[0], body[4:]
    if kind == OPEN:
        plays[number] = [0, 0, False]
        return act(plays[number], 0)
    if kind == ACT:
        return act(plays[number], rest[0])
    if kind == FORK:
        plays[struct.unpack("<I", rest)[0]] = list(plays[number])
    elif kind == SAVE:
        return SAVED, bytes(plays[number])
    elif kind == LOAD:
        plays[number] = [rest[0], rest[1], bool(rest[2])]
    elif kind == CLOSE:
        return plays.pop(number, None) and None
    return DONE, b""


while head := sys.stdin.buffer.read(4):
    message = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    if reply := answer(message[0], message[1:]):
        sys.stdout.buffer.write(struct.pack("<IB", len(reply[1]) + 1, reply[0]) + reply[1])
        sys.stdout.buffer.flush()
