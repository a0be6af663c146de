"""Writes files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from leakcheck.errors import LeakcheckError


def write_file(file: Path, text: str) -> None:
    """Write UTF-8 text beside the file, then rename, so that nobody sees half a file.

    Raises
    ------
    LeakcheckError
        If it cannot be written.
    """
    try:
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(beside, 0o666 & ~umask)
            os.replace(beside, file)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as problem:
        raise LeakcheckError(f"the file cannot be written: {problem.strerror}", file=str(file)) from None
