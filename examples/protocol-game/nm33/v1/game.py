"""A complete game that implements the hosting protocol without any package: ACTION1 fills the bar, ACTION2 empties it."""
import struct
import sys

HELLO, OPEN, ACT, FORK, SAVE, LOAD, CLOSE = range(1, 8)
READY, OBSERVATION, DONE, SAVED = range(0x81, 0x85)
LEVELS = [3, 5]  # how full the bar must be
plays = {}  # number of a play: [level, bar, whether an action was taken on this level]


def picture(level, bar):
    return bytes(14 if x < 8 * bar else 5 for x in range(64)) * 60 + bytes([level + 8]) * 256


def act(play, action):
    full_reset = action == 0 and (not play[2] or play[0] == len(LEVELS))
    if action == 0:
        play[:] = [0 if full_reset else play[0], 0, False]
    else:
        play[1:] = [max(0, play[1] + {1: 1, 2: -1}.get(action, 0)), True]
    frames = [picture(*play[:2])]
    if play[1] == LEVELS[play[0]]:
        play[:] = [play[0] + 1, 0, False]
        frames.append(picture(*play[:2]))
    won = play[0] == len(LEVELS)
    return OBSERVATION, struct.pack("<5BH", won, play[0], len(LEVELS), 0b110, full_reset, len(frames)) + b"".join(frames)


def answer(kind, body):
    if kind == HELLO:
        return READY, struct.pack("<H", 1) + b"nm33"
    number, rest = int.from_bytes(body[:4], "little"), body[4:]
    if kind in (OPEN, LOAD):
        plays[number] = list(rest) if kind == LOAD else [0, 0, False]
    if kind in (OPEN, ACT):
        return act(plays[number], 0 if kind == OPEN else rest[0])
    if kind == FORK:
        plays[int.from_bytes(rest, "little")] = list(plays[number])
    elif kind == CLOSE:
        return plays.pop(number) and None
    return (SAVED, bytes(plays[number])) if kind == SAVE else (DONE, b"")


while head := sys.stdin.buffer.read(4):
    message = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    if reply := answer(message[0], message[1:]):
        sys.stdout.buffer.write(struct.pack("<IB", len(reply[1]) + 1, reply[0]) + reply[1])
        sys.stdout.buffer.flush()
