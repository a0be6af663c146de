"""Project modules: which file an import means, and one `Source` for each file of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from leakcheck.findings import Location
from leakcheck.project.cache import digest
from leakcheck.project.config import Config
from leakcheck.project.discover import Found
from leakcheck.project.paths import shown
from leakcheck.project.read import Loaded, load
from leakcheck.project.source import Problem, Source


class Modules:
    """Reads files, each once, and resolves imports between them.

    An absolute import is looked up as Python would for a script in the importer's place: in its folder, in each folder
    above it up to the project's root, and in the `src` folders. The standard library and installed packages are never
    looked at.

    Parameters
    ----------
    config : Config
        Its `root` and `src` are the project's import roots.
    unsaved : mapping of str to bytes, optional
        What stands in place of the files' bytes on disk, by real path.
    """

    def __init__(self, config: Config, unsaved: Mapping[str, bytes] | None = None) -> None:
        self._root = os.path.realpath(config.root)
        folders = [config.root / name for name in (config.src or ("src",))]
        self._source_roots = [os.path.realpath(folder) for folder in folders if folder.is_dir()]
        self._unsaved = unsaved or {}
        self._loaded: dict[str, Loaded] = {}  # by real path
        self._by_path: dict[str, Loaded] = {}  # by shown path
        self._digests: dict[str, str] = {}  # by shown path
        self._shown: dict[str, str] = {}  # by real path
        self._listings: dict[str, frozenset[str]] = {}

    def name(self, files: Iterable[Found]) -> None:
        """Tell how files are shown that an import may reach before the run does."""
        self._shown.update((found.real, found.path) for found in files)

    def shown(self, real: str) -> str:
        """How a file is shown: one file has one name, whichever import reaches it first."""
        return self._shown.get(real) or shown(real)

    def load(self, found: Found, data: bytes | None = None) -> Loaded:
        """The file's text; a file under several spellings is one source."""
        loaded = self._loaded.get(found.real)
        if loaded is None:
            data = self.read(found.real) if data is None else data
            loaded = load(data, found.path, Path(found.real))
            self._loaded[found.real] = self._by_path[found.path] = loaded
            self._digests[found.path] = digest(data)
        return loaded

    def read(self, real: str) -> bytes:
        """The bytes of a file, as they are to be checked."""
        unsaved = self._unsaved.get(real)
        return read_bytes(real) if unsaved is None else unsaved

    def text(self, location: Location) -> str | None:
        """The text, as written, of the file or cell of a location; None for files that were not read."""
        loaded = self._by_path.get(location.path)
        return loaded.original(location.cell) if loaded else None

    def code(self, location: Location) -> str | None:
        """As `text`, but as the analysis sees it: without magics; None for prose, too."""
        loaded = self._by_path.get(location.path)
        chunks = loaded.source.chunks if loaded else ()
        return next((chunk.text for chunk in chunks if chunk.cell == location.cell), None)

    def loaded(self, path: str) -> Loaded | None:
        """A file that was read, by its shown path."""
        return self._by_path.get(path)

    def digest(self, path: str) -> str:
        """The hash of the bytes of a file that was read, by its shown path."""
        return self._digests[path]

    def find_module(self, module: str, level: int, importer: Source) -> Source | None:
        """The project file that an import means.

        Parameters
        ----------
        module : str
            Dotted name; empty for ``from . import name``.
        level : int
            Number of leading dots.
        importer : Source
            Where the import stands.

        Returns
        -------
        Source or None
            None for what isn't a file of the project: installed packages, the standard library, and folders without
            ``__init__.py`` (ask for the module inside them).
        """
        file = self.find_file(module, level, str(importer.file))
        if file is None:
            return None
        real = os.path.realpath(file)
        try:
            loaded = self.load(Found(self.shown(real), real, False))
        except OSError:
            return None
        return loaded.source

    def find_file(self, module: str, level: int, importer: str) -> str | None:
        """As `find_module`, for absolute paths of files."""
        parts = module.split(".") if module else []
        folder = os.path.dirname(importer)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, parts)
        if not parts or parts[0] in sys.stdlib_module_names:
            return None
        for root in self.import_roots(folder):
            if parts[0] in self.names(root):
                found = self._file(root, parts)
                if found is not None:
                    return found if os.path.realpath(found) != os.path.realpath(importer) else None
        return None

    def import_roots(self, folder: str) -> Sequence[str]:
        """The importer's folder, those above it inside the project, then the `src` folders."""
        roots = [folder]
        while folder != self._root and folder.startswith(self._root + os.sep):
            folder = os.path.dirname(folder)
            roots.append(folder)
        if roots[-1] != self._root:  # the importer lies outside of the project
            roots = [roots[0], self._root]
        return [*roots, *self._source_roots]

    def _file(self, folder: str, parts: list[str]) -> str | None:
        for part in parts[:-1]:
            folder = os.path.join(folder, part)
        name = parts[-1] if parts else ""
        package = os.path.join(folder, name) if name else folder
        if (not name or name in self.names(folder)) and "__init__.py" in self.names(package):
            return os.path.join(package, "__init__.py")
        if name and name + ".py" in self.names(folder):
            return os.path.join(folder, name + ".py")
        return None

    def names(self, folder: str) -> frozenset[str]:
        """The names of a folder's files, with and without `.py`, and of its folders."""
        names = self._listings.get(folder)
        if names is None:
            try:
                files = os.listdir(folder)
            except OSError:
                files = []
            names = frozenset(files) | frozenset(name[:-3] for name in files if name.endswith(".py"))
            self._listings[folder] = names
        return names


def read_bytes(file: str) -> bytes:
    """The bytes of a file (a plain read: it is the cost of most files of a project)."""
    with open(file, "rb", buffering=0) as handle:
        return handle.read()


def unreadable_problem(path: str, error: OSError) -> Problem:
    """The problem of a file that the system won't let us read."""
    return Problem(f"the file can't be read: {error.strerror or error}", Location(path, None, 1, 1, 1, 1))
