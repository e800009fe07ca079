"""Names for the analyzer of the agent `rgb`."""

log = ""


def update(text):
    """Adds the new part of the log."""
    global log
    log += text


def boards():
    """Returns the boards of the log, oldest first."""
    found = []
    entry = None
    rows = None
    for line in log.splitlines():
        if line.startswith("=== "):
            fields = [field.strip() for field in line.strip("= ").split("|")]
            number, _, name = fields[0].removeprefix("ACTION ").partition(":")
            entry = {"action": int(number), "name": name.strip(), "state": fields[-1]}
            for field in fields[1:-1]:
                key, _, value = field.partition(" ")
                entry[key] = int(value) if value.isdigit() else value
        elif line == "[BOARD]":
            rows = []
        elif rows is not None:
            rows.append([int(cell, 16) for cell in line])
            if len(rows) == 64:
                found.append({**entry, "grid": rows})
                rows = None
    return found


def diff(a, b):
    """Returns the cells in which two grids differ: row, column, old and new colour."""
    return [
        (row, column, a[row][column], b[row][column])
        for row in range(64)
        for column in range(64)
        if a[row][column] != b[row][column]
    ]
