"""Runs the command line as `python -m leakcheck`."""

from leakcheck.cli import main

raise SystemExit(main())
