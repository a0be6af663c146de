"""Writes the evaluation splits without what leaks: beside, then renamed, never over the input."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from leakcheck import __version__
from leakcheck.audit.splits import Split
from leakcheck.errors import LeakcheckError


def check_folder(folder: Path) -> None:
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
        When the folder exists and is not empty.
    """
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        manifest = []
        for split in splits:
            dropped = sorted(leaking.get(split.name, ()))
            kept = split.frame.drop(index=dropped)
            file = beside / f"{split.name}.parquet"
            pyarrow.parquet.write_table(pa.Table.from_pandas(kept, preserve_index=False), file)
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
        if folder.exists():
            folder.rmdir()
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
