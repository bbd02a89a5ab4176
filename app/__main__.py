"""`python -m app`: reads the command line and hands over to the composition root."""

import sys


def main() -> int:
    from app.ui.shared.pyside_features import read_no_sources

    read_no_sources()  # before anything else is imported
    from app.bootstrap import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
