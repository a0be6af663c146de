"""Reads data files into Arrow tables; pickles and what hides them are refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
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
_SPLITS_FILE, _STATE_FILE = "dataset_dict.json", "state.json"  # of a saved Hugging Face data set
_SAVED_FILES = {_SPLITS_FILE, _STATE_FILE, "dataset_info.json"}
SPLIT_NAMES = ("train", "training", "validation", "valid", "val", "dev", "test", "testing")  # of files and folders
_SHOWN = 80  # letters of a row that can't be read
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}  # that people use in files called .csv
NULLS = ["", "NA", "NaN", "nan"]  # what stands for a missing value in CSV
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
            files = _files_of(path, pattern)
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


def _files_of(folder: Path, name: str) -> list[Path]:
    """The files of a folder; of a saved Hugging Face data set those that it lists, not what it cached."""
    if (folder / _SPLITS_FILE).is_file():
        raise LeakcheckError("the folder holds several splits", file=name, expected="the folder of one of them")
    state = folder / _STATE_FILE
    if state.is_file():
        try:
            listed = [folder / entry["filename"] for entry in json.loads(state.read_bytes())["_data_files"]]
        except (ValueError, KeyError, TypeError) as error:
            raise LeakcheckError("no list of data files there", file=f"{name}/{_STATE_FILE}") from error
        return [_compressed(file, name) for file in listed]
    files = (f for f in folder.rglob("*") if f.is_file() and f.name not in _SAVED_FILES)
    return sorted(f for f in files if file_kind(f)[0] in TABULAR | REFUSED | MEDIA)


def _compressed(file: Path, name: str) -> Path:
    """The file, or what it is after gzip or zstd."""
    for one in (file, *(file.with_name(file.name + suffix) for suffix in COMPRESSED)):
        if one.is_file():
            return one
    raise LeakcheckError("a data file is missing", file=name, expected=file.name)


def saved_splits(folder: Path) -> tuple[dict[str, list[str]], list[str]] | None:
    """The splits of a saved Hugging Face data set, or of a folder with a folder or file a split; else None.

    Beside them stand the data files that belong to no split.

    Raises
    ------
    LeakcheckError
        When the list of splits can't be read, or one split stands there in two formats.
    """
    if not folder.is_dir():
        return None
    if (folder / _SPLITS_FILE).is_file():
        try:
            names = [str(name) for name in json.loads((folder / _SPLITS_FILE).read_bytes())["splits"]]
        except (ValueError, KeyError, TypeError) as error:
            raise LeakcheckError("no list of splits there", file=str(folder / _SPLITS_FILE)) from error
        return {name: [str(folder / name)] for name in names}, []
    parts: dict[str, list[str]] = {}
    formats: dict[str, set[str]] = {}
    others = []
    for entry in sorted(folder.iterdir()):
        name = entry.name.split(".")[0].split("-")[0].lower()
        if name in SPLIT_NAMES:
            parts.setdefault(name, []).append(str(entry))
            formats.setdefault(name, set()).add(file_kind(entry)[0])
        elif entry.is_file() and entry.name not in _SAVED_FILES and file_kind(entry)[0] in TABULAR | REFUSED:
            others.append(str(entry))
    if len(parts) < 2:
        return saved_splits(folder / "data")  # as data sets lie on the Hugging Face hub
    for name, kinds in formats.items():
        if len(kinds) > 1:
            raise LeakcheckError(
                f"the split {name!r} stands there in several formats",
                file=str(folder),
                expected="one, or --train and --test with a path each",
                found=" and ".join(sorted(kind or "a folder" for kind in kinds)),
            )
    return parts, others


def is_row(path: Path) -> bool:
    """Whether the file is read as a single row."""
    return file_kind(path)[0] in MEDIA | {".txt"}


def read_table(path: Path, name: str) -> pa.Table:
    """One file as a table; a text file is one row with the column `text`.

    Raises
    ------
    LeakcheckError
        When it can't be read, with the row where that is known.
    """
    suffix, compression = file_kind(path)
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
    except LeakcheckError as error:
        raise LeakcheckError(
            error.message, file=name, place=error.place, expected=error.expected, found=error.found
        ) from error
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LeakcheckError(f"can't be read: {first_line[:200]}", file=name) from error
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise LeakcheckError("two columns have the same name", file=name, found=repr(twice))
    return table


def _read(path: Path, suffix: str, compression: str | None) -> pa.Table:
    """The table; errors that Arrow words badly are raised with their row, without the file."""
    if suffix in (".parquet", ".pq"):
        table = pyarrow.parquet.read_table(path if compression is None else pa.BufferReader(_bytes(path, compression)))
        table.validate(full=True)  # nobody has looked yet whether its texts are UTF-8
        return table
    if suffix in (".arrow", ".feather", ".ipc"):
        with pa.memory_map(str(path)) if compression is None else pa.BufferReader(_bytes(path, compression)) as source:
            try:
                return pa.ipc.open_file(source).read_all()
            except pa.ArrowInvalid:
                source.seek(0)
                return pa.ipc.open_stream(source).read_all()
    data = _bytes(path, compression)
    if suffix == ".txt":
        _check_utf8(data)
        return pa.table({"text": [data.decode("utf-8-sig")]})
    if not data.strip():
        raise LeakcheckError("the file is empty", expected="rows")
    if suffix in (".csv", ".tsv"):
        return _read_csv(data, "\t" if suffix == ".tsv" else ",")
    if suffix == ".json" and data.lstrip()[:1] == b"[":
        return _read_json_list(data)
    return _read_json_lines(data)


def _read_csv(data: bytes, delimiter: str) -> pa.Table:
    invalid: list[pyarrow.csv.InvalidRow] = []

    def keep(row: pyarrow.csv.InvalidRow) -> str:
        invalid.append(row)
        return "error"

    def read(threads: bool) -> pa.Table:
        return pyarrow.csv.read_csv(
            BytesIO(data),
            # types are inferred from the whole file, not from its first block
            read_options=pyarrow.csv.ReadOptions(block_size=_block_size(data), use_threads=threads),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=keep
            ),
            convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=NULLS),
        )

    try:
        table = read(threads=True)
        names = table.column_names
    except (pa.ArrowInvalid, UnicodeDecodeError):
        _check_utf8(data)
        if not invalid:
            raise
        invalid.clear()
        with suppress(pa.ArrowInvalid):
            read(threads=False)  # only then are rows numbered
        row = invalid[0]
        raise LeakcheckError(
            "the row has another number of columns than the header",
            place=f"row {row.number - 1}" if row.number else None,
            expected=str(row.expected_columns),
            found=f"{row.actual_columns}: {row.text[:_SHOWN]!r}",
        ) from None
    if any(pa.types.is_binary(field.type) for field in table.schema):
        _check_utf8(data)
    if len(table) and data.count(b'"') % 2 and _open_quote(table.column(len(names) - 1)[-1].as_py(), data):
        raise LeakcheckError("a quoted value is not closed", place=f"row {len(table)}", expected='"')
    for other, called in _DELIMITERS.items():
        if len(names) == 1 and other in names[0]:
            raise LeakcheckError(f"the columns are separated by {called}", expected="commas", found=names[0][:_SHOWN])
    return table


def _open_quote(last: object, data: bytes) -> bool:
    """Whether the last value of the file begins with a quote and runs to the end."""
    return isinstance(last, str) and data.endswith(b'"' + last.encode())


def _read_json_lines(data: bytes) -> pa.Table:
    try:
        table = pyarrow.json.read_json(
            BytesIO(data), read_options=pyarrow.json.ReadOptions(block_size=_block_size(data))
        )
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        _check_utf8(data)
        said = re.sub(r"^JSON parse error: ", "", str(error).splitlines()[0])
        found = re.search(r",? in row (\d+)$", said)
        place = f"row {int(found[1]) + 1}" if found else None
        raise LeakcheckError(f"can't be read: {said[: found.start() if found else _SHOWN]}", place=place) from error
    return table


def _read_json_list(data: bytes) -> pa.Table:
    _check_utf8(data)
    try:
        rows = json.loads(data)
    except ValueError as error:
        raise LeakcheckError(f"can't be read: {error}") from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise LeakcheckError(
                "the row is no object", place=f"row {number}", expected="names with values", found=repr(row)[:_SHOWN]
            )
    return pa.Table.from_pylist(rows)


def _check_utf8(data: bytes) -> None:
    """Say in which line the text stops being UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LeakcheckError(
            "the file is not UTF-8",
            place=f"line {line}",
            found=f"the byte 0x{data[error.start]:02x}",
        ) from error


def _block_size(data: bytes) -> int:
    """The whole file, up to what Arrow can take."""
    return min(len(data) + 1, (1 << 31) - 1)


def _bytes(path: Path, compression: str | None) -> bytes:
    if compression == "gzip":
        with gzip.open(path) as file:
            return file.read()
    if compression == "zstd":
        with pa.input_stream(str(path), compression="zstd") as stream:
            return bytes(stream.read())
    return path.read_bytes()


def file_kind(path: Path) -> tuple[str, str | None]:
    """Kind of the file and how it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        return (suffixes[-2] if len(suffixes) > 1 else ".txt"), COMPRESSED[suffixes[-1]]
    return (suffixes[-1] if suffixes else ""), None
