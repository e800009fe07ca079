"""`python -m rhae._verify [--games-dir DIR]... [--unsafe-host] FILE`: verifies a recording.

:func:`rhae.validate` runs it to replay a play in a new process.
"""

import argparse
import sys

from rhae.results import verify

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--games-dir", action="append", default=[])
    parser.add_argument("--unsafe-host", action="store_true")
    parser.add_argument("file")
    arguments = parser.parse_args()
    verified = verify(arguments.file, games_dir=arguments.games_dir, unsafe_host=arguments.unsafe_host)
    if not verified.ok:
        sys.exit(f"at entry {verified.entry} {verified.difference}")
