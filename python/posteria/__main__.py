"""The command line: ``python -m posteria``, and ``posteria`` where the package is installed."""

import sys

from ._posteria import main as run


def main() -> None:
    """Run the command line with the arguments of this process."""
    sys.exit(run(["posteria", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
