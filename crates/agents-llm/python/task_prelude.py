"""Names for the code of the agents that solve static tasks with programs."""

import signal

# The processor time of a program for one grid, in seconds.
GRID_SECONDS = 5
# The wrong cells that a result lists.
MAX_CELLS = 20

task = {"train": [], "test": []}


class GridTimeLimit(BaseException):
    """A program took too long for one grid."""


def _time_is_up(_signal, _frame):
    raise GridTimeLimit(f"the program took more than {GRID_SECONDS} s")


def update(news):
    """Sets the task, before the first execution."""
    if "task" in news:
        task.update(news["task"])


def _grid(value):
    """Returns an output as lists of numbers. NumPy arrays and numbers are converted."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    rows = [[int(cell) for cell in row] for row in value]
    sizes = {len(row) for row in rows}
    if not 1 <= len(rows) <= 30 or len(sizes) != 1 or not 1 <= sizes.pop() <= 30:
        raise ValueError("the output is not a grid of 1 to 30 rows of 1 to 30 cells")
    if any(not 0 <= cell <= 9 for row in rows for cell in row):
        raise ValueError("the output has a cell that is not from 0 to 9")
    return rows


def _apply(transform, grid):
    """Returns the output of a program and None, or None and the problem."""
    signal.signal(signal.SIGVTALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, GRID_SECONDS)
    try:
        return _grid(transform([list(row) for row in grid])), None
    except (Exception, GridTimeLimit) as error:
        return None, f"{type(error).__name__}: {error}"[:500]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _compare(output, expected):
    """Returns the share of equal cells, and what is wrong."""
    size, expected_size = ([len(grid), len(grid[0])] for grid in (output, expected))
    if size != expected_size:
        return 0.0, f"the size is {size}, but should be {expected_size}"
    cells = [
        (row, column, cell, right)
        for row, (cells, rights) in enumerate(zip(output, expected))
        for column, (cell, right) in enumerate(zip(cells, rights))
    ]
    wrong = [cell for cell in cells if cell[2] != cell[3]]
    shown = [f"({row}, {column}) is {cell}, not {right}" for row, column, cell, right in wrong]
    share = 1 - len(wrong) / len(cells)
    return share, f"{len(wrong)} wrong cells: {'; '.join(shown[:MAX_CELLS])}" if wrong else None


def check(transform):
    """Returns for each training pair whether a program is right."""
    results = []
    for pair in task["train"]:
        output, problem = _apply(transform, pair["input"])
        share = 0.0
        if problem is None:
            share, problem = _compare(output, pair["output"])
        results.append({"exact": problem is None, "share": round(share, 4), "problem": problem})
    return results


def judge(code):
    """Executes a program on all pairs and tests, and passes the result to the agent."""
    names = {"__name__": "program"}
    try:
        exec(compile(code, "<code>", "exec"), names)
        transform = names["transform"]
    except KeyError:
        host("judged", {"problem": "the program does not define the function `transform`"})
        return
    except Exception as error:
        host("judged", {"problem": f"{type(error).__name__}: {error}"[:500]})
        return
    tests = []
    for grid in task["test"]:
        output, problem = _apply(transform, grid)
        tests.append({"grid": output, "problem": problem})
    host("judged", {"train": check(transform), "test": tests})
