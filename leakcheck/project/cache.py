"""A folder of results that need not be computed again. Any entry may be missing, broken or written by another run."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from leakcheck.errors import LeakcheckError
from leakcheck.project.paths import shown

FOLDER = ".leakcheck_cache"
MOST_BYTES = 64_000_000
MOST_ENTRIES = 20_000
_KEPT = 0.8  # of either, when entries are dropped
TAG = "CACHEDIR.TAG"
# The signature is that of https://bford.info/cachedir/: tools for backups pass such folders over.
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# This folder holds what leakcheck found before. It may be removed at any time.
"""
_SUFFIX = ".json"
_DIGEST = 16  # bytes


def digest(*parts: bytes) -> str:
    """A hash of some bytes, taken apart from each other."""
    state = blake2b(digest_size=_DIGEST)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


class Cache:
    """Entries by key, in a folder that several runs may use at once.

    Parameters
    ----------
    folder : Path
        Made when the first entry is written.
    stamp : bytes
        What all entries depend on; entries of another stamp are never seen.

    Attributes
    ----------
    refusal : str
        Why nothing is written, in words; empty where all is well.
    """

    def __init__(self, folder: Path, stamp: bytes) -> None:
        self.folder = folder
        # Whoever wrote the project may have put a link in our place, to write elsewhere.
        self.refusal = "it is a link" if folder.name == FOLDER and folder.is_symlink() else _unusable(folder)
        self._stamp = stamp
        self._used: set[str] = set()
        self._ready = False
        self._wrote = False

    def get(self, *key: bytes) -> bytes | None:
        """What was stored under a key; None where nothing whole is there."""
        if self.refusal:
            return None
        name = self._name(key)
        try:
            with open(self.folder / name, "rb") as file:
                check, _, data = file.read().partition(b"\n")
        except OSError:
            return None
        if check != digest(name.encode(), data).encode():
            return None
        self._used.add(name)
        return data

    def put(self, data: bytes, *key: bytes) -> None:
        """Store something; where that isn't possible the run goes on and `refusal` says why."""
        if self.refusal:
            return
        name = self._name(key)
        beside = self.folder / f"{name}.{os.getpid()}"
        try:
            self._prepare()
            beside.write_bytes(digest(name.encode(), data).encode() + b"\n" + data)
            os.replace(beside, self.folder / name)
        except OSError as error:
            self.refusal = f"it can't be written: {error.strerror or error}"
            with suppress(OSError):
                beside.unlink()
            return
        self._used.add(name)
        self._wrote = True

    def tidy(self) -> None:
        """Drop the oldest entries beyond the bounds; those that this run used go last."""
        if not self._wrote:
            return
        try:
            with os.scandir(self.folder) as listing:
                found = [(entry.name, entry.stat()) for entry in listing if _SUFFIX in entry.name]
            total = sum(stat.st_size for _, stat in found)
            if total <= MOST_BYTES and len(found) <= MOST_ENTRIES:
                return
            left = len(found)
            for name, stat in sorted(found, key=lambda entry: (entry[0] in self._used, entry[1].st_mtime_ns)):
                if total <= MOST_BYTES * _KEPT and left <= MOST_ENTRIES * _KEPT:
                    break
                (self.folder / name).unlink(missing_ok=True)
                total, left = total - stat.st_size, left - 1
        except OSError:
            return  # another run tidies, too

    def _name(self, key: tuple[bytes, ...]) -> str:
        return digest(self._stamp, *key) + _SUFFIX

    def _prepare(self) -> None:
        if self._ready:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((TAG, _TAG_TEXT), (".gitignore", "*\n")):  # the tag first: it says whose folder this is
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")
        self._ready = True


def is_cache(folder: Path) -> bool:
    """Whether a folder says of itself that it is a cache of ours."""
    try:
        return b"leakcheck" in (folder / TAG).read_bytes()
    except OSError:
        return False


def own_folder(folder: Path) -> Path:
    """A folder that the user named for the cache.

    Raises
    ------
    LeakcheckError
        If it is something else already: what we put there would lie among the user's files.
    """
    fault = _unusable(folder)
    if fault:
        raise LeakcheckError(f"no folder for the cache: {fault}", file=shown(folder))
    return folder


def _unusable(folder: Path) -> str:
    """Why a folder must not be used: what is there is not ours."""
    try:
        names = os.listdir(folder)
        if names == [TAG] and not (folder / TAG).stat().st_size:  # another run is writing it
            return ""
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        return "it is a file"
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    return "it holds other files" if names and not is_cache(folder) else ""
