"""Runs the command line as `python -m leakcheck`."""

from leakcheck.cli import main

if __name__ == "__main__":  # worker processes that are not forked import this module, too
    raise SystemExit(main())
