"""Names for the code of the agents of `orchestrator`."""

# The cells between two changed cells that belong to the same region.
MARGIN = 2


class Frame:
    """A board: 64 lists of 64 numbers."""

    def __init__(self, rows):
        self.rows = [[int(cell, 16) for cell in row] for row in rows]

    def find(self, *colors):
        """Returns the cells of some colours as (row, column)."""
        return [
            (row, column)
            for row, cells in enumerate(self.rows)
            for column, cell in enumerate(cells)
            if cell in colors
        ]

    def box(self, *colors):
        """Returns the smallest box around some colours: top, left, bottom, right."""
        cells = self.find(*colors)
        if not cells:
            return None
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        return min(rows), min(columns), max(rows), max(columns)

    def counts(self):
        """Returns the number of cells of each colour."""
        found = {}
        for cells in self.rows:
            for cell in cells:
                found[cell] = found.get(cell, 0) + 1
        return dict(sorted(found.items()))

    def text(self, top=0, left=0, bottom=63, right=63):
        """Returns a part of the board as lines of hexadecimal digits."""
        lines = self.rows[top : bottom + 1]
        return "\n".join("".join(f"{cell:x}" for cell in row[left : right + 1]) for row in lines)

    def diff(self, other):
        """Returns the regions in which another board differs, each with its box and changes."""
        changed = {
            (row, column)
            for row in range(64)
            for column in range(64)
            if self.rows[row][column] != other.rows[row][column]
        }
        regions = []
        while changed:
            region, waiting = [], [changed.pop()]
            while waiting:
                row, column = waiting.pop()
                region.append((row, column))
                near = {
                    (row + down, column + right)
                    for down in range(-MARGIN, MARGIN + 1)
                    for right in range(-MARGIN, MARGIN + 1)
                } & changed
                changed -= near
                waiting.extend(sorted(near))
            changes = {}
            for row, column in region:
                key = f"{self.rows[row][column]:x}>{other.rows[row][column]:x}"
                changes[key] = changes.get(key, 0) + 1
            rows, columns = [row for row, _ in region], [column for _, column in region]
            box = (min(rows), min(columns), max(rows), max(columns))
            regions.append({"box": box, "cells": len(region), "changes": changes})
        return sorted(regions, key=lambda region: region["box"])

    def __eq__(self, other):
        return isinstance(other, Frame) and self.rows == other.rows

    def __hash__(self):
        return hash(self.text())

    def __repr__(self):
        return f"<board with the colours {list(self.counts())}>"


class Step:
    """A step of the play, or the start of an attempt, whose action is None."""

    def __init__(self, entry):
        self.number = entry["number"]
        self.action = entry["action"]
        self.status = entry["status"]
        self.level = entry["level"]
        self.frame = Frame(entry["rows"])
        winning = entry.get("winning_rows")
        self.winning_frame = Frame(winning) if winning else None

    def __repr__(self):
        return f"<step {self.number}: {self.action} on level {self.level}, {self.status}>"


history = []
frame = None


def update(news):
    """Adds what happened since the last call."""
    global frame
    if news.get("restart"):
        history.clear()
    history.extend(Step(entry) for entry in news["entries"])
    if history:
        frame = history[-1].frame
