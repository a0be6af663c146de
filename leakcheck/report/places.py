"""Places as services for code review know them: a path in the repository, and lines of the file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from leakcheck.findings import Location, Within
from leakcheck.project.notebook_raw import RawNotebook


@dataclass(frozen=True, slots=True)
class Place:
    """A place for a service.

    Attributes
    ----------
    path : str
        Relative to the repository; outside of it, to the working folder.
    lines : Location or None
        Lines and columns of the file; None for rows of data, which have none.
    words : str
        What lines can't say: ``cell 4:12``, ``row 3``.
    """

    path: str
    lines: Location | None
    words: str = ""


class Places:
    """Turns locations into places; remembers the notebooks it reads."""

    def __init__(self) -> None:
        self._root = _repository()
        self._notebooks: dict[str, RawNotebook | None] = {}

    def of(self, location: Location) -> Place:
        """The place of a location."""
        path = self._path(location.path)
        if location.within is Within.ROWS:
            return Place(path, None, f"row {location.line}")
        if location.cell is None:
            return Place(path, location)
        return Place(path, self._in_notebook(location, location.cell), f"cell {location.cell}:{location.line}")

    def _path(self, path: str) -> str:
        absolute = os.path.abspath(path)
        if absolute.startswith(os.path.join(self._root, "")):
            return os.path.relpath(absolute, self._root).replace(os.sep, "/")
        return path  # outside of it, and already with forward slashes

    def _in_notebook(self, location: Location, cell: int) -> Location:
        """The lines of the notebook's file; its first line where the cell is not there any more."""
        if location.path not in self._notebooks:
            try:
                self._notebooks[location.path] = RawNotebook(Path(location.path).read_bytes())
            except (OSError, ValueError, RecursionError):
                self._notebooks[location.path] = None
        notebook = self._notebooks[location.path]
        start = notebook.place(cell, location.line, location.column) if notebook else None
        end = notebook.place(cell, location.end_line, location.end_column) if notebook else None
        if start is None:
            return replace(location, cell=None, line=1, column=1, end_line=1, end_column=1)
        return Location(location.path, None, *start, *(end if end is not None and end >= start else start))


def worded(place: Place, message: str) -> str:
    """The message, led by what the lines of the place can't say."""
    return f"{place.words}: {message}" if place.words else message


def _repository() -> str:
    """The folder of the git repository around the working folder; the working folder where there is none."""
    here = os.getcwd()
    above: Sequence[Path] = (Path(here), *Path(here).parents)
    return str(next((folder for folder in above if (folder / ".git").exists()), here))
