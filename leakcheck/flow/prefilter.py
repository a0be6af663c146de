"""Tell by the bytes of a file whether it can matter, before anything is parsed."""

from __future__ import annotations

import re
from functools import lru_cache

# One item of `import a.b as c, d`.
_ITEM = r"[\w.]++(?:[ \t]++as[ \t]++\w++)?"


# The modules that a line with an import may name; in a notebook a line end is spelled out.
_NAMED = re.compile(rb"(?:(?:\b|\\n)(?:from|import)[ \t]+|,[ \t]*)([A-Za-z_]\w*)")


@lru_cache(maxsize=8)
def _as_bytes(libraries: frozenset[str]) -> frozenset[bytes]:
    return frozenset(name.encode() for name in libraries)


def names_library(data: bytes, libraries: frozenset[str]) -> bool:
    """Whether a file names one of the libraries in an import.

    Parameters
    ----------
    data : bytes
        The raw file: Python in any encoding that holds ASCII, or a notebook with its source in JSON strings.
    libraries : frozenset of str
        Names of top-level modules, such as ``"sklearn"``.

    Returns
    -------
    bool
        True also for an import in a comment or a text: this only decides what is parsed.

    Examples
    --------
    >>> names_library(b"import os, pandas as pd", frozenset({"pandas"}))
    True
    >>> names_library(b"import pandas_profiling", frozenset({"pandas"}))
    False
    """
    known = _as_bytes(libraries)
    # Only lines that hold the word are looked at: a search for one fixed word is what bytes do fastest.
    place = data.find(b"import")
    while place >= 0:
        start = data.rfind(b"\n", 0, place) + 1
        end = data.find(b"\n", place)
        line = data[start : end if end >= 0 else len(data)]
        if not known.isdisjoint(_NAMED.findall(line)):
            return True
        place = data.find(b"import", end) if end >= 0 else -1
    return False


# An import where a statement can start; the names of a from-import may stand in brackets over several lines.
_IMPORT = re.compile(
    rf"""
    (?:^|[;:])[ \t]*
    (?: import[ \t]+(?P<modules>{_ITEM}(?:[ \t]*,[ \t]*{_ITEM})*)
      | from\b[ \t]*+(?P<module>\.*+[ \t]*+(?:(?!import\b)[\w.]++)?)[ \t]*+\bimport\b[ \t]*+
        (?:\((?P<bracketed>(?:[^()\#]|\#[^\n\r]*+)*+)\)|(?P<names>[^\n\r;\#]*+))
    )
    """,
    re.VERBOSE | re.MULTILINE,
)
_COMMENT = re.compile(r"#[^\n\r]*")


def imported_names(text: str) -> frozenset[str]:
    """Modules that a file imports, and what could be one.

    Parameters
    ----------
    text : str
        Python source.

    Returns
    -------
    frozenset of str
        Dotted names as written, relative ones with their dots. ``from a import b`` gives both ``a`` and ``a.b``,
        because `b` may be a module.

    Examples
    --------
    >>> sorted(imported_names("import numpy as np\\nfrom . import prep\\nfrom ..data.load import read as r"))
    ['.', '..data.load', '..data.load.read', '.prep', 'numpy']
    """
    found: set[str] = set()
    # A line that goes on after a backslash is one line.
    text = text.replace("\\\r\n", " ").replace("\\\n", " ")
    for match in _IMPORT.finditer(text):
        if match["modules"] is not None:
            found.update(item.split()[0] for item in match["modules"].split(","))
            continue
        module = re.sub(r"\s", "", match["module"])
        if not module:
            continue
        found.add(module)
        names = _COMMENT.sub("", match["bracketed"] or match["names"] or "")
        for item in names.split(","):
            name = item.split()[:1]
            if name and name[0].isidentifier():
                found.add(module + ("" if module.endswith(".") else ".") + name[0])
    return frozenset(found)
