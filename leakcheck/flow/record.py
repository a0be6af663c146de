"""Facts as JSON and back. What is read is of the stated types, or is refused: JSON runs no code, as a pickle would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_Reader = Callable[[Any], Any]


def to_json(value: object) -> bytes:
    """Write a dataclass of dataclasses, enums, tuples and plain values.

    Examples
    --------
    >>> from leakcheck.findings import Location
    >>> to_json(Location("a.py", None, 3, 1, 3, 9))
    b'["a.py",null,3,1,3,9]'
    """
    return json.dumps(_plain(value), separators=(",", ":")).encode("ascii")


def from_json(data: bytes, kind: type[T]) -> T:
    """Read what `to_json` wrote.

    Raises
    ------
    ValueError
        If the data is not JSON, or holds anything but what `kind` states.
    """
    try:
        return _reader(kind)(json.loads(data))  # type: ignore[no-any-return, arg-type]
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a {type(value).__name__} can't be recorded")


@cache
def _reader(kind: Any) -> _Reader:
    """What turns plain JSON into a value of a type."""
    if kind in (str, int, float, bool, NoneType):
        return _exactly(kind)
    if get_origin(kind) is tuple:
        return _tuple_reader(get_args(kind))
    if get_origin(kind) in (UnionType, Union):
        return _union_reader(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        items = _items_reader([_reader(hints[field.name]) for field in fields(kind)])
        return lambda value: kind(*items(value))
    raise TypeError(f"a {kind} can't be recorded")


def _exactly(kind: type) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
        return value

    return read


def _tuple_reader(kinds: tuple[Any, ...]) -> _Reader:
    if kinds[-1:] != (Ellipsis,):
        items = _items_reader([_reader(kind) for kind in kinds])
        return lambda value: tuple(items(value))
    item = _reader(kinds[0])

    def read(value: Any) -> Any:
        if type(value) is not list:
            raise ValueError(f"expected a list, found {type(value).__name__}")
        return tuple([item(part) for part in value])

    return read


def _items_reader(readers: list[_Reader]) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is not list or len(value) != len(readers):
            raise ValueError(f"expected a list of {len(readers)}")
        return [reader(part) for reader, part in zip(readers, value, strict=True)]

    return read


def _union_reader(kinds: tuple[Any, ...]) -> _Reader:
    """`X | None`, or a choice of plain types."""
    readers = [_reader(kind) for kind in kinds]

    def read(value: Any) -> Any:
        for reader in readers:
            try:
                return reader(value)
            except ValueError:
                continue
        raise ValueError(f"none of {len(readers)} types")

    return read
