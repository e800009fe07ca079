"""Starts workers on a Ray cluster. A command with `--on ray` writes and starts this program.

The first line of standard input has the settings, as JSON. The program ends when standard input
closes. It writes a line `ended NAME` when a worker failed, and `lost NAME` when its node was lost.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import uuid

import ray


@ray.remote(num_cpus=1, max_retries=0)
def work(settings, name):
    """Runs a worker until it ends, and returns its exit code."""
    with tempfile.TemporaryDirectory(prefix="rhae-work-") as folder:
        token = os.path.join(folder, "token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(settings["token"])
        command = [settings["program"], "work", "--join", settings["url"], "--token-file", token, "--name", name]
        command += ["--scratch", folder, "--until-stdin-closes", *settings["arguments"]]
        # Paths are relative to the folder in which the command was started.
        start_folder = settings["folder"] if os.path.isdir(settings["folder"]) else None
        # The worker ends when this process ends, because its standard input closes.
        process = subprocess.Popen(
            command,
            cwd=start_folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in process.stderr:
            print(f"{name}: {line}", end="", flush=True)
        return process.wait()


def connect(address):
    """Connects to a cluster, or starts one on this machine."""
    try:
        # Without an address, Ray would look for a cluster of an earlier `ray start`, which may have ended.
        ray.init(address=address or "local", logging_level="warning")
    except Exception as error:
        # `ray start` requires a token if the machine has one. A driver with an address sends none.
        hint = "" if "RAY_AUTH_MODE" in os.environ else "; if the cluster requires a token, set RAY_AUTH_MODE=token"
        sys.exit(f"cannot use Ray: {error}{hint}")


def end_with_input():
    sys.stdin.read()
    os._exit(0)


def main():
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_input, daemon=True).start()
    # What workers print goes to the log of the driver, which is standard error here.
    report = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings["folder"] = os.getcwd()
    connect(settings["address"])
    # Each worker is a task that needs a CPU, so the autoscaler adds nodes for as many units as are open.
    count = settings["workers"] or max(1, int(ray.cluster_resources().get("CPU", 1)))
    count = min(count, max(1, settings["units"]))
    running = {}
    failures = 0
    while True:
        while len(running) < count:
            name = f"ray-{uuid.uuid4()}"
            running[work.remote(settings, name)] = name
        done, _ = ray.wait(list(running), num_returns=1)
        name = running.pop(done[0])
        try:
            code = ray.get(done[0])
        except ray.exceptions.RayError as error:
            # The node or its process was lost, which says nothing about the worker.
            print(f"{name}: {error}".splitlines()[0], file=sys.stderr)
            code = None
        if code == 0:
            # The coordinator has no unit for this worker. One that is idle stays until the end.
            count -= 1
            if count == 0:
                break
            continue
        failures = 0 if code is None else failures + 1
        print(f"{'lost' if code is None else 'ended'} {name}", file=report, flush=True)
        if failures == 10:
            sys.exit("10 workers in succession failed; their messages are above")
    ray.shutdown()


main()
