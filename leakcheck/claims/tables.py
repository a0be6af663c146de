"""Reads result files into one table type. Numbers keep the digits they were written with."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from leakcheck.errors import LeakcheckError

# Prefixes that experiment trackers put before the names people gave.
_TRACKER_PREFIXES = ("metrics.", "params.", "tags.", "config.", "summary.", "config/", "summary/")

_LARGEST_EXPONENT = 100  # the sums of squares of such values still are floats


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one file. A cell is text, a number, a truth value or None; `places` says where each row stands."""

    path: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    places: tuple[str, ...]

    def find(self, name: str) -> int | None:
        """Index of the column `name`, also under a tracker's prefix or in other case."""
        if name in self.columns:
            return self.columns.index(name)
        plain = [_plain(column) for column in self.columns]
        for names in (plain, [column.casefold() for column in plain]):
            wanted = name if names is plain else name.casefold()
            if names.count(wanted) == 1:
                return names.index(wanted)
        return None

    def require(self, name: str, purpose: str) -> int:
        """Index of the column `name`, or an error that lists the columns there are."""
        index = self.find(name)
        if index is None:
            raise LeakcheckError(
                f"the column {name!r} ({purpose}) is missing", file=self.path, place="header", found=self.header()
            )
        return index

    def header(self) -> str:
        shown = ", ".join(repr(column) for column in self.columns[:12])
        return shown + (f" and {len(self.columns) - 12} more" if len(self.columns) > 12 else "")

    def text(self, row: int, column: int) -> str:
        """The cell as a name (an id, a method); blank cells are an error."""
        value = self.rows[row][column]
        text = "" if value is None else str(value).strip()
        if text == "" or text.casefold() == "nan":
            raise LeakcheckError(f"the {self.columns[column]!r} is blank", file=self.path, place=self.places[row])
        if isinstance(value, float) and value.is_integer():
            return str(int(value))  # a seed column with a gap elsewhere is read as floats
        return text

    def number(self, row: int, column: int, who: str) -> Decimal:
        """The cell as a finite number; `who` names the row for people (its id)."""
        try:
            return to_decimal(self.rows[row][column])
        except ValueError as problem:
            raise LeakcheckError(
                f"the value of {self.columns[column]!r} for {who} is not usable",
                file=self.path,
                place=self.places[row],
                expected="a finite number",
                found=str(problem),
            ) from None


def to_decimal(value: Any) -> Decimal:
    """A finite number with the digits it was written with; ValueError says what stood there instead.

    Floats give their shortest decimal form: 0.03, not 0.0299999999999999988897769753748.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError("a blank")
    if isinstance(value, (bool, int)):
        return Decimal(int(value))
    text = str(value).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(repr(_short(text))) from None
    # Decimal takes underscores and digits of every script; a results file has neither on purpose.
    if not text.isascii() or "_" in text:
        raise ValueError(repr(_short(text)))
    if number.is_nan():
        raise ValueError("NaN")
    if not number.is_finite():
        raise ValueError(_short(text))
    if number and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(
            f"{_short(text)}, which is too {'large' if number.adjusted() > 0 else 'small'} to compute with"
        )
    return number


def read_table(file: Path, path: str) -> Table:
    """Read a results file by its suffix.

    Parameters
    ----------
    file : Path
        On disk.
    path : str
        As shown to people.

    Raises
    ------
    LeakcheckError
        If the file is missing, of an unknown kind, empty, or broken; with the place.
    """
    suffix = file.suffix.lower()
    if not file.exists():
        raise LeakcheckError("the results file does not exist", file=path)
    if file.is_dir():
        raise LeakcheckError("a results file was expected, this is a folder", file=path)
    if suffix in (".pkl", ".pickle", ".joblib"):
        raise LeakcheckError(
            "pickles are not read, since loading one runs its code; save the results as CSV", file=path
        )
    if suffix == ".parquet":
        table = _read_parquet(file, path)
    elif suffix in (".jsonl", ".ndjson"):
        table = _from_objects(path, _json_lines(file, path))
    elif suffix == ".json":
        table = _read_json(file, path)
    elif suffix in (".csv", ".tsv", ".txt"):
        table = _read_csv(file, path)
    else:
        raise LeakcheckError(
            "this kind of file is not read",
            file=path,
            expected="CSV, TSV, Parquet, JSON, JSON Lines, or Markdown with a model-index",
            found=repr(file.suffix) if file.suffix else "no suffix",
        )
    if not table.rows:
        raise LeakcheckError("the file holds no results", file=path)
    return table


def read_text(file: Path, path: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise LeakcheckError(
            "the file is not UTF-8 text",
            file=path,
            place=f"byte {problem.start}",
            found=hex(problem.object[problem.start]),
        ) from None
    except OSError as problem:
        raise LeakcheckError(f"the file cannot be read: {problem.strerror}", file=path) from None


def parse_json(text: str, path: str, place: str | None = None) -> Any:
    """JSON with the digits of its numbers kept."""
    try:
        return json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError as problem:
        where = place or f"line {problem.lineno}"
        raise LeakcheckError(f"not JSON: {problem.msg}", file=path, place=where) from None
    except RecursionError:
        raise LeakcheckError("the JSON is nested too deeply", file=path, place=place) from None


def _read_csv(file: Path, path: str) -> Table:
    text = read_text(file, path)
    first = text.split("\n", 1)[0]
    delimiter = next((mark for mark in (",", "\t", ";") if mark in first), ",")
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    rows: list[tuple[str, ...]] = []
    places: list[str] = []
    columns: tuple[str, ...] = ()
    try:
        for fields in reader:
            if not any(field.strip() for field in fields):
                if columns and len(fields) > 1:
                    raise LeakcheckError("all cells of the row are blank", file=path, place=f"line {reader.line_num}")
                continue
            if not columns:
                columns = tuple(field.strip() for field in fields)
                continue
            if len(fields) != len(columns):
                raise LeakcheckError(
                    "the row has another number of cells than the header",
                    file=path,
                    place=f"line {reader.line_num}",
                    expected=str(len(columns)),
                    found=str(len(fields)),
                )
            rows.append(tuple(fields))
            places.append(f"line {reader.line_num}")
    except csv.Error as problem:
        raise LeakcheckError(f"not CSV: {problem}", file=path, place=f"line {reader.line_num}") from None
    repeated = sorted({column for column in columns if columns.count(column) > 1})
    if repeated:
        raise LeakcheckError(f"the column {repeated[0]!r} stands twice in the header", file=path, place="line 1")
    return Table(path, columns, tuple(rows), tuple(places))


def _read_parquet(file: Path, path: str) -> Table:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise LeakcheckError("reading Parquet needs: pip install 'leakcheck-lint[data]'", file=path) from None
    from pyarrow import ArrowException

    try:
        table = parquet.read_table(file)
    except (ArrowException, OSError) as problem:
        raise LeakcheckError(f"not Parquet: {str(problem).splitlines()[0]}", file=path) from None
    columns = [column.to_pylist() for column in table.columns]
    rows = tuple(zip(*columns, strict=True))
    return Table(path, tuple(table.column_names), rows, tuple(f"row {index}" for index in range(1, len(rows) + 1)))


def _json_lines(file: Path, path: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_text(file, path).split("\n"), start=1):
        if line.strip():
            yield f"line {number}", parse_json(line, path, f"line {number}")


def _read_json(file: Path, path: str) -> Table:
    data = parse_json(read_text(file, path), path)
    if isinstance(data, list):
        return _from_objects(path, ((f"item {index}", item) for index, item in enumerate(data, start=1)))
    if isinstance(data, dict) and data and all(isinstance(value, list) for value in data.values()):
        lengths = {len(value) for value in data.values()}
        if len(lengths) == 1:  # columns, as in cv_results_
            rows = tuple(zip(*data.values(), strict=True))
            return Table(path, tuple(data), rows, tuple(f"item {index}" for index in range(1, len(rows) + 1)))
    if isinstance(data, dict):
        return _from_metrics(path, data)
    raise LeakcheckError("the JSON holds no table", file=path, expected="a list of objects, or an object of columns")


def _from_objects(path: str, objects: Iterator[tuple[str, Any]]) -> Table:
    columns: dict[str, None] = {}
    places: list[str] = []
    items: list[dict[str, Any]] = []
    for place, item in objects:
        if not isinstance(item, dict):
            raise LeakcheckError("the item is not an object", file=path, place=place, found=type(item).__name__)
        columns.update(dict.fromkeys(item))
        items.append(item)
        places.append(place)
    rows = tuple(tuple(item.get(column) for column in columns) for item in items)
    return Table(path, tuple(columns), rows, tuple(places))


def _from_metrics(path: str, data: dict[str, Any]) -> Table:
    """One run's metrics (DVC and others): a row whose columns are the dotted names of the numbers."""
    flat = dict(_numbers(data, ""))
    if not flat:
        raise LeakcheckError("the JSON holds no numbers", file=path)
    return Table(path, tuple(flat), (tuple(flat.values()),), ("the file",))


def _numbers(data: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key}.")
        elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            yield f"{prefix}{key}", value


def _plain(column: str) -> str:
    for prefix in _TRACKER_PREFIXES:
        if column.startswith(prefix):
            return column.removeprefix(prefix).removeprefix("mlflow.")
    return column


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
