"""The Python interpreter of an agent, in a sandboxed process.

Usage: interpreter.py CPU_SECONDS MAX_OUTPUT

Messages on standard input and output are JSON objects, each after its length (4 bytes,
little-endian). The first message, {"prelude": CODE}, defines names for the agent's code. Each later
message, {"code": CODE, "update": VALUE}, calls the prelude's function `update` with the value, if
there is one, and executes the code in the same namespace. The answer is
{"done": {"output": TEXT, "error": BOOL}}. Before it, the code may call functions of the agent:
{"call": NAME, "args": VALUES} is answered by {"value": VALUE} or {"raise": TEXT}.

CPU_SECONDS limits the processor time of one execution, and MAX_OUTPUT the characters of its output.
"""

import ast
import io
import json
import os
import random
import signal
import sys
import traceback

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
# How often an execution that ignores the time limit is interrupted again, in seconds.
REPEAT_SECONDS = 0.25


class TimeLimit(BaseException):
    """The processor time of this execution is used up."""


class Output(io.TextIOBase):
    """Keeps the beginning and the end of what is written, and forgets the rest."""

    def __init__(self, limit):
        self.half = max(1, limit // 2)
        self.head = ""
        self.tail = []
        self.tail_size = 0
        self.total = 0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("only texts can be written")
        self.total += len(text)
        room = self.half - len(self.head)
        self.head += text[: max(0, room)]
        rest = text[max(0, room) :]
        if rest:
            self.tail.append(rest[-self.half :])
            self.tail_size += len(self.tail[-1])
            if self.tail_size > 8 * self.half:
                self.shorten()
        return len(text)

    def shorten(self):
        self.tail = ["".join(self.tail)[-self.half :]]
        self.tail_size = len(self.tail[0])

    def text(self):
        self.shorten()
        left_out = self.total - len(self.head) - self.tail_size
        if left_out == 0:
            return self.head + self.tail[0]
        return f"{self.head}\n[{left_out} characters are left out]\n{self.tail[0]}"


class Interpreter:
    """Executes code and exchanges messages with the agent."""

    def __init__(self, cpu_seconds, max_output):
        # The code of the model must not disturb the messages by accident, so that the standard
        # descriptors lead elsewhere.
        self.source = os.dup(0)
        self.sink = os.dup(1)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(2, 1)
        self.cpu_seconds = cpu_seconds
        self.max_output = max_output
        self.names = {"__name__": "__main__", "host": self.host}
        signal.signal(signal.SIGPROF, self.time_is_up)

    @staticmethod
    def time_is_up(_signal, _frame):
        raise TimeLimit("the processor time of this execution is used up")

    def read(self):
        size = int.from_bytes(self.read_bytes(4), "little")
        return json.loads(self.read_bytes(size))

    def read_bytes(self, size):
        parts = []
        while size:
            part = os.read(self.source, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def write(self, message):
        data = json.dumps(message).encode()
        if len(data) > MAX_MESSAGE_BYTES:
            raise ValueError("the values are too large")
        data = len(data).to_bytes(4, "little") + data
        while data:
            data = data[os.write(self.sink, data) :]

    def host(self, name, *args):
        """Calls a function of the agent."""
        # An interruption in the middle of a message would make later messages unreadable.
        signal.setitimer(signal.ITIMER_PROF, 0)
        try:
            self.write({"call": name, "args": args})
            answer = self.read()
        finally:
            self.start_timer()
        if "raise" in answer:
            raise RuntimeError(answer["raise"])
        return answer["value"]

    def start_timer(self):
        signal.setitimer(signal.ITIMER_PROF, self.cpu_seconds, REPEAT_SECONDS)

    def execute(self, code):
        """Executes code like an interactive session, which shows the value of a last expression."""
        tree = ast.parse(code, "<code>")
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, "<code>", "exec"), self.names)
        if last is not None:
            value = eval(compile(last, "<code>", "eval"), self.names)
            if value is not None:
                print(repr(value))

    def run(self, message):
        output = Output(self.max_output)
        sys.stdout = sys.stderr = output
        failed = False
        try:
            self.start_timer()
            try:
                if "update" in self.names and "update" in message:
                    self.names["update"](message["update"])
                self.execute(message["code"])
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        except BaseException as error:
            failed = True
            self.describe(error, output)
        self.write({"done": {"output": output.text(), "error": failed}})

    def describe(self, error, output):
        # The frames of this file say nothing about the model's code.
        position = error.__traceback__
        while position and position.tb_frame.f_code.co_filename != "<code>":
            position = position.tb_next
        try:
            lines = traceback.format_exception(type(error), error, position)
        except BaseException:
            lines = [f"{type(error).__name__}\n"]
        output.write("".join(lines)[-2 * self.max_output :])

    def main(self):
        random.seed(0)
        sys.stdin = io.StringIO()
        prelude = self.read()["prelude"]
        exec(compile(prelude, "<prelude>", "exec"), self.names)
        self.write({"ready": True})
        while True:
            self.run(self.read())


if __name__ == "__main__":
    Interpreter(float(sys.argv[1]), int(sys.argv[2])).main()
