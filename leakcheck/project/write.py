"""Writes files whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from leakcheck.errors import LeakcheckError


def write_file(file: Path, data: bytes) -> None:
    """Write beside the file, then rename, so that nobody sees half a file and a failure leaves the old one.

    A link is followed; mode and owner of a file that is there already stay.

    Raises
    ------
    LeakcheckError
        If it can't be written.
    """
    real = Path(os.path.realpath(file))
    try:
        before = real.stat() if real.exists() else None
        if before is not None and not stat.S_ISREG(before.st_mode):  # /dev/stdout, a pipe
            real.write_bytes(data)
            return
        handle, beside = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:100]}.")
        try:
            with open(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if before is not None and hasattr(os, "chown"):
                with suppress(PermissionError):
                    os.chown(beside, before.st_uid, before.st_gid)
            os.chmod(beside, _new_file_mode() if before is None else stat.S_IMODE(before.st_mode))
            os.replace(beside, real)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as problem:
        raise LeakcheckError(f"the file cannot be written: {problem.strerror}", file=str(file)) from None


def _new_file_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
