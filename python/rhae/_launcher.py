"""`python -m rhae._launcher`: enters the sandbox of a hosted game and becomes its process."""

import sys

from rhae import _native

if __name__ == "__main__":
    sys.exit(_native.launch(sys.argv[1:]))
