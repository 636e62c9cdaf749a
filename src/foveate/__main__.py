"""`python -m foveate` is the command line."""

from foveate.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
