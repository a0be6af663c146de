"""Writes the evaluation splits without what leaks: beside, then renamed, never over the input."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from leakcheck import __version__
from leakcheck.audit.readers import read_table
from leakcheck.audit.splits import Split
from leakcheck.errors import LeakcheckError


def check_new(folder: Path) -> None:
    """Refuse a folder that holds something.

    Raises
    ------
    LeakcheckError
        When the folder exists and is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LeakcheckError("the folder for the clean splits must be new", file=str(folder))


def write_clean(splits: Sequence[Split], leaking: dict[str, set[int]], folder: Path) -> None:
    """Write every split as Parquet into a new folder, held-out rows that leak left out, with `manifest.json`.

    The folder appears whole or not at all.

    Raises
    ------
    LeakcheckError
        When the folder exists and is not empty, or the files of a split don't fit together.
    """
    check_new(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        manifest = []
        for split, name in zip(splits, _file_names(splits), strict=True):
            dropped = sorted(leaking.get(split.name, ()))
            kept = np.setdiff1d(np.arange(len(split)), dropped)
            file = beside / name
            pyarrow.parquet.write_table(_rows(split, kept), file)
            manifest.append(
                {
                    "split": split.name,
                    "file": file.name,
                    "rows": len(kept),
                    "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
                    "sources": list(split.files),
                    "dropped": [{"file": split.place(row).path, "row": split.place(row).row} for row in dropped],
                }
            )
        text = json.dumps({"tool": f"leakcheck {__version__}", "splits": manifest}, indent=2) + "\n"
        (beside / "manifest.json").write_text(text, encoding="utf-8")
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(0o777 & ~umask)  # a temporary folder is its maker's alone
        if folder.exists():
            folder.rmdir()
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _rows(split: Split, rows: NDArray[np.int64]) -> pa.Table:
    """Rows of a split as its files have them: pandas would turn whole numbers with gaps into floats."""
    parts = []
    for i, (path, name) in enumerate(zip(split.paths, split.files, strict=True)):
        of_file = rows[split.file_of[rows] == i]
        table = read_table(path, name)
        table = table.select([column for column in table.column_names if column in split.frame])  # no split column
        parts.append(table.take(pa.array(split.row_in_file[of_file])))
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise LeakcheckError(
            f"the files of the split {split.name!r} don't fit together: {error}", file=", ".join(split.files)
        ) from error


def _file_names(splits: Sequence[Split]) -> list[str]:
    """A file name for each split, also where the split's own name would be none, or stand in another folder."""
    names: list[str] = []
    for split in splits:
        plain = re.sub(r"[^\w-]", "_", split.name) or "_"
        taken = {name.lower() for name in names}
        tries = (f"{plain}{suffix}.parquet" for suffix in ("", *(f"-{n}" for n in range(2, len(splits) + 2))))
        names.append(next(name for name in tries if name.lower() not in taken))
    return names
