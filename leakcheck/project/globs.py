"""Patterns of paths, read as .gitignore reads them, relative to one folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Globs:
    """Patterns with the meaning they have in a .gitignore file of the folder `root`.

    Parameters
    ----------
    patterns : iterable of str
        Such as ``"tests/"``, ``"*.ipynb"``, ``"/data/raw/**"``.
    root : Path
        Absolute folder that the patterns are relative to.
    """

    def __init__(self, patterns: Iterable[str], root: Path) -> None:
        self.patterns = tuple(patterns)
        self.root = str(root)

    @cached_property
    def _spec(self) -> GitIgnoreSpec:
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines(self.patterns)

    def match(self, path: str, is_folder: bool = False) -> bool:
        """Whether a path (absolute, or relative to the working folder) is meant."""
        return bool(self.decide(path, is_folder))

    def decide(self, path: str, is_folder: bool = False) -> bool | None:
        """True where a pattern names the path, False where `!pattern` takes it back, None where none speaks of it."""
        if not self.patterns:
            return None
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        if relative.startswith("../") or os.path.isabs(relative):
            return None
        return self._spec.check_file(relative + "/" if is_folder else relative).include
