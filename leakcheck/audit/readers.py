"""Reads data files into Arrow tables; pickles and what hides them are refused."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Sequence
from glob import glob, has_magic
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet

from leakcheck.errors import LeakcheckError

REFUSED = {".pkl", ".pickle", ".joblib", ".npz", ".npy", ".pt", ".pth", ".dill"}
TABULAR = {".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".txt"}
MEDIA = {
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".bmp",
    ".webp",
    ".tif",
    ".tiff",
    ".wav",
    ".mp3",
    ".flac",
    ".ogg",
    ".mp4",
    ".pdf",
}
COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


def find_files(patterns: Sequence[str], root: Path) -> list[Path]:
    """The files that the paths, folders and globs name, each once, in order.

    Raises
    ------
    LeakcheckError
        When one names nothing.
    """
    found: list[Path] = []
    for pattern in patterns:
        path = root / pattern
        if path.is_dir():
            files = sorted(f for f in path.rglob("*") if f.is_file() and _suffix(f)[0] in TABULAR | REFUSED | MEDIA)
            files = [f for f in files if f.name not in ("dataset_info.json", "state.json", "dataset_dict.json")]
        elif path.exists():
            files = [path]
        elif has_magic(pattern):
            files = sorted(Path(name) for name in glob(str(path), recursive=True) if Path(name).is_file())
        else:
            files = []
        if not files:
            raise LeakcheckError(
                "no data file there", file=pattern, expected="a file, a folder or a glob of data files"
            )
        found += [file for file in files if file not in found]
    return found


def saved_splits(folder: Path) -> dict[str, list[str]] | None:
    """The splits of a saved Hugging Face data set, or of a folder with a folder or file a split; else None."""
    if not folder.is_dir():
        return None
    parts: dict[str, list[str]] = {}
    for entry in sorted(folder.iterdir()):
        name = entry.name.split(".")[0].split("-")[0].lower()
        if name in ("train", "validation", "valid", "val", "dev", "test"):
            parts.setdefault(name, []).append(str(entry))
    return parts if len(parts) > 1 else None


def read_table(path: Path, name: str) -> pa.Table:
    """One file as a table; a text file is one row with the column `text`.

    Raises
    ------
    LeakcheckError
        When it can't be read, with the row where that is known.
    """
    suffix, compression = _suffix(path)
    if suffix in REFUSED:
        raise LeakcheckError(
            "pickled objects can run code when they are read, so they are refused",
            file=name,
            expected="CSV, TSV, JSON Lines, Parquet, Arrow or text",
            found=suffix,
        )
    if suffix in MEDIA:
        # a picture or a recording is a row that holds the hash of its bytes; its name says nothing
        return pa.table({"content": [hashlib.sha256(path.read_bytes()).hexdigest()]})
    if suffix not in TABULAR:
        raise LeakcheckError("unknown kind of data file", file=name, expected=", ".join(sorted(TABULAR)), found=suffix)
    try:
        table = _read(path, suffix, compression)
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LeakcheckError(f"can't be read: {first_line[:200]}", file=name) from error
    for field in table.schema:
        if pa.types.is_binary(field.type) and suffix in (".csv", ".tsv"):
            raise LeakcheckError("the file is not UTF-8", file=name, place=f"column {field.name!r}")
    if len(set(table.column_names)) < len(table.column_names):
        raise LeakcheckError("two columns have the same name", file=name)
    return table


def _read(path: Path, suffix: str, compression: str | None) -> pa.Table:
    if suffix in (".parquet", ".pq"):
        return pyarrow.parquet.read_table(path)
    if suffix in (".arrow", ".feather", ".ipc"):
        with pa.memory_map(str(path)) as source:
            try:
                return pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                return pa.ipc.open_stream(source).read_all()
    data = _bytes(path, compression)
    if suffix == ".txt":
        return pa.table({"text": [data.decode("utf-8-sig")]})
    if not data.strip():
        raise LeakcheckError("the file is empty", file=str(path.name), expected="rows")
    size = len(data) + 1  # types are inferred from the whole file, not from its first block
    if suffix in (".csv", ".tsv"):
        return pyarrow.csv.read_csv(
            BytesIO(data),
            read_options=pyarrow.csv.ReadOptions(block_size=min(size, (1 << 31) - 1)),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=["", "NA", "NaN", "nan"]),
        )
    if suffix == ".json" and data.lstrip()[:1] == b"[":
        import json

        return pa.Table.from_pylist(json.loads(data))
    return pyarrow.json.read_json(
        BytesIO(data), read_options=pyarrow.json.ReadOptions(block_size=min(size, (1 << 31) - 1))
    )


def _bytes(path: Path, compression: str | None) -> bytes:
    if compression == "gzip":
        with gzip.open(path) as file:
            return file.read()
    if compression == "zstd":
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    return path.read_bytes()


def _suffix(path: Path) -> tuple[str, str | None]:
    """Kind of the file and how it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        return (suffixes[-2] if len(suffixes) > 1 else ".txt"), COMPRESSED[suffixes[-1]]
    return (suffixes[-1] if suffixes else ""), None
