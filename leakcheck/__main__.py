"""Runs the command line as `python -m leakcheck`."""

import sys

if __name__ == "__main__":  # worker processes that are not forked import this module, too
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder: what lies there is the user's, and is never imported
    from leakcheck.cli import main

    raise SystemExit(main())
