"""Reads large files a batch at a time; small ones, and what can't be read so, whole."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from leakcheck.audit.readers import NULLS, file_kind, read_table
from leakcheck.errors import LeakcheckError

WHOLE_BYTES = 32 << 20  # files of text up to this size are read whole
_COMPRESSION = 4  # times smaller that compressed text is, about
_BLOCK_BYTES = 8 << 20
_FIRST_ROWS = 256  # whose size says how many make a block
_UNREADABLE = (pa.ArrowException, UnicodeDecodeError, OSError, EOFError, zlib.error)


def read_batches(path: Path, name: str) -> Iterator[pa.Table]:
    """The rows of one file as tables with the same columns, one after another.

    Raises
    ------
    LeakcheckError
        When it can't be read, with the row where that is known.
    """
    batches = None
    if path.is_file():
        # where its types can't be told in parts, or it is broken, reading it whole says more
        with suppress(*_UNREADABLE):
            batches = _batches(path)
    if batches is None:
        yield read_table(path, name)
        return
    try:
        yield from batches
    except _UNREADABLE as error:
        read_table(path, name)
        raise LeakcheckError(f"can't be read: {str(error)[:200]}", file=name) from error


def _batches(path: Path) -> Iterator[pa.Table] | None:
    """None where the file is read whole."""
    kind, compression = file_kind(path)
    large = path.stat().st_size > (WHOLE_BYTES // _COMPRESSION if compression else WHOLE_BYTES)
    if kind in (".parquet", ".pq") and compression is None:
        return _parquet(path)
    if kind in (".arrow", ".feather", ".ipc") and compression is None:
        return _arrow(path)
    if kind in (".csv", ".tsv") and large:
        return _csv(path, compression, "\t" if kind == ".tsv" else ",")
    if kind in (".jsonl", ".ndjson") and large:
        return _json_lines(path, compression)
    return None


def _distinct(names: Iterable[str]) -> None:
    names = list(names)
    if len(set(names)) < len(names):
        raise pa.ArrowInvalid("two columns have the same name")


def _parquet(path: Path) -> Iterator[pa.Table]:
    file = pyarrow.parquet.ParquetFile(path, buffer_size=_BLOCK_BYTES, pre_buffer=False)
    _distinct(file.schema_arrow.names)

    def read() -> Iterator[pa.Table]:
        with file:
            first = next(file.iter_batches(_FIRST_ROWS), None)
            if first is None:
                yield file.schema_arrow.empty_table()
                return
            rows = max(_FIRST_ROWS, _BLOCK_BYTES * len(first) // (first.nbytes + 1))
            for batch in file.iter_batches(rows):
                batch.validate(full=True)  # nobody has looked yet whether its texts are UTF-8
                yield pa.Table.from_batches([batch])

    return read()


def _arrow(path: Path) -> Iterator[pa.Table]:
    with pa.OSFile(str(path)) as source:
        try:
            schema = pa.ipc.open_file(source).schema
            in_file = True
        except pa.ArrowInvalid:
            source.seek(0)
            schema = pa.ipc.open_stream(source).schema
            in_file = False
    _distinct(schema.names)

    def read() -> Iterator[pa.Table]:
        with pa.OSFile(str(path)) as source:
            if in_file:
                reader = pa.ipc.open_file(source)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                batches = iter(pa.ipc.open_stream(source))
            yield schema.empty_table()  # there may be no batch
            for batch in batches:
                batch.validate(full=True)
                yield pa.Table.from_batches([batch])

    return read()


# -- text files: types are those of the whole file, so it is read twice ------------------------------------------------


def _csv(path: Path, compression: str | None, delimiter: str) -> Iterator[pa.Table]:
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)

    def tables(types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
        convert = pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=NULLS, column_types=types)
        read = pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES)
        with (
            _opened(path, compression) as source,
            pyarrow.csv.open_csv(source, read_options=read, parse_options=parse, convert_options=convert) as reader,
        ):
            for batch in reader:
                yield pa.Table.from_batches([batch])

    with _opened(path, compression) as source:
        names = pyarrow.csv.open_csv(source, parse_options=parse).schema.names
    _distinct(names)
    if len(names) < 2:
        raise pa.ArrowInvalid("the delimiter may be another one")
    found: dict[str, pa.DataType] = dict.fromkeys(names, pa.null())
    for table in tables(dict.fromkeys(names, pa.string())):
        open_columns = [name for name in names if found[name] != pa.string()]
        if not open_columns:
            continue
        buffer = BytesIO()
        pyarrow.csv.write_csv(table.select(open_columns), buffer)
        inferred = pyarrow.csv.read_csv(
            BytesIO(buffer.getvalue()),
            read_options=pyarrow.csv.ReadOptions(block_size=len(buffer.getvalue()) + 1),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=NULLS),
        ).schema
        found |= {name: _csv_type(found[name], inferred.field(name).type) for name in open_columns}
    return tables(found)


def _csv_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """What Arrow would infer from the values of both.

    Raises
    ------
    pyarrow.ArrowInvalid
        When the types alone don't say.
    """
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a) or b == pa.string():
        return b
    for ladder in ([pa.int64(), pa.float64()], [pa.date32(), pa.timestamp("s"), pa.timestamp("ns")]):
        if a in ladder and b in ladder:
            return ladder[max(ladder.index(a), ladder.index(b))]
    raise pa.ArrowInvalid("the types depend on the values")


def _json_lines(path: Path, compression: str | None) -> Iterator[pa.Table]:
    def tables(schema: pa.Schema | None) -> Iterator[pa.Table]:
        for block in _lines(path, compression):
            read = pyarrow.json.ReadOptions(block_size=len(block) + 1)
            parse = pyarrow.json.ParseOptions(explicit_schema=schema)
            table = pyarrow.json.read_json(BytesIO(block), read_options=read, parse_options=parse)
            table.validate(full=True)
            yield table

    schema = pa.schema([])
    for table in tables(None):
        schema = pa.unify_schemas([schema, table.schema], promote_options="permissive")
    return tables(schema)


def _lines(path: Path, compression: str | None) -> Iterator[bytes]:
    """The file in blocks of whole lines, empty ones left out."""
    with _opened(path, compression) as source:
        rest = b""
        while block := source.read(_BLOCK_BYTES):
            cut = block.rfind(b"\n") + 1
            if not cut:
                rest += block
                continue
            whole, rest = rest + block[:cut], block[cut:]
            if whole.strip():
                yield whole
        if rest.strip():
            yield rest


def _opened(path: Path, compression: str | None) -> BinaryIO:
    if compression == "gzip":
        return cast(BinaryIO, gzip.open(path))
    if compression == "zstd":
        return cast(BinaryIO, pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")
