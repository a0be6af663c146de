"""Paths as people see them."""

from __future__ import annotations

import os
from pathlib import Path


def shown(path: Path | str) -> str:
    """A path as people see it: relative to the working folder, with forward slashes."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = str(path)
    return relative.replace(os.sep, "/")
