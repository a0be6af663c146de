"""Tables as people have them: odd types, odd shapes. Each is audited, or refused in one line; never a traceback."""

from __future__ import annotations

import datetime
import uuid
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import leakcheck
from leakcheck.audit.columns import canonical
from leakcheck.audit.facts import Kind
from leakcheck.errors import LeakcheckError

ROWS = 60


def base(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": rng.normal(size=rows),
            "k": rng.choice(list("xyz"), rows),
            "y": rng.integers(0, 2, rows),
        }
    )


# A column made for as many rows as it is asked for; the number says from which value on, so that splits differ.
COLUMNS: dict[str, Callable[[int, int], Any]] = {
    "all missing": lambda n, first: [None] * n,
    "not a number": lambda n, first: np.full(n, np.nan),
    "not a time": lambda n, first: [pd.NaT] * n,
    "lists": lambda n, first: [[1, first + i] for i in range(n)],
    "dicts": lambda n, first: [{"a": first + i, "b": None} for i in range(n)],
    "sets": lambda n, first: [{first + i, "x"} for i in range(n)],
    "arrays": lambda n, first: [np.array([first + i, 2.0]) for i in range(n)],
    "bytes": lambda n, first: [b"%d" % (first + i) for i in range(n)],
    "huge whole numbers": lambda n, first: [10**30 + first + i for i in range(n)],
    "unsigned": lambda n, first: np.arange(first, first + n, dtype=np.uint64) + np.uint64(2**63),
    "smallest": lambda n, first: np.arange(first, first + n) + np.iinfo(np.int64).min,
    "nullable": lambda n, first: pd.array([first + i if i % 3 else None for i in range(n)], dtype="Int64"),
    "decimals": lambda n, first: [Decimal(first + i) / 7 for i in range(n)],
    "booleans": lambda n, first: [i % 2 == 0 for i in range(n)],
    "nullable booleans": lambda n, first: pd.array([None if i % 3 else True for i in range(n)], dtype="boolean"),
    "categories": lambda n, first: pd.Categorical(["x", "y"] * (n // 2)),
    "categories of numbers": lambda n, first: pd.Categorical([1, 2] * (n // 2), ordered=True),
    "durations": lambda n, first: pd.to_timedelta(range(first, first + n), unit="s"),
    "times of day": lambda n, first: [datetime.time(first // 60 % 24, i) for i in range(n)],
    "dates": lambda n, first: [datetime.date(2020, 1, 1) + datetime.timedelta(first + i) for i in range(n)],
    "far dates": lambda n, first: [datetime.date(9999, 12, 1 + i % 30) for i in range(n)],
    "mixed zones": lambda n, first: [
        pd.Timestamp("2020-01-01", tz=("UTC", "Asia/Tokyo")[i % 2]) + pd.Timedelta(days=first + i) for i in range(n)
    ],
    "periods": lambda n, first: pd.period_range("2020", periods=n, freq="D"),
    "intervals": lambda n, first: pd.cut(np.arange(n), [-1, n // 2, n]),
    "complex": lambda n, first: np.arange(n) + 1j * (first + np.arange(n)),
    "identifiers": lambda n, first: [uuid.UUID(int=first + i) for i in range(n)],
    "infinite": lambda n, first: [np.inf if i % 2 else -np.inf for i in range(n)],
    "sparse": lambda n, first: pd.arrays.SparseArray([0, 1] * (n // 2)),
    "control characters": lambda n, first: [f"a long \x00 text \x1b[31m of words {first + i}" for i in range(n)],
    "everything": lambda n, first: ([[1], {"a": 1}, None, "x", 2, 2.5, b"x", True, datetime.date(2020, 1, 1), int] * n)[
        :n
    ],
    "text and numbers": lambda n, first: [first + i if i % 2 else f"some words here {first + i}" for i in range(n)],
}
ROLES = ["text", "target", "group", "ids", "time", "prediction_time", None]


@pytest.mark.parametrize("kind", sorted(COLUMNS))
def test_a_column_of_any_kind_in_any_role(kind: str) -> None:
    train, test = base(ROWS, 1), base(20, 2)
    train["odd"], test["odd"] = COLUMNS[kind](ROWS, 0), COLUMNS[kind](20, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for role in ROLES:
            options: dict[str, Any] = {"target": "y"} if role is None else {role: "odd"}
            try:
                result = leakcheck.audit(train, test, **options)
            except LeakcheckError as error:
                assert role in ("time", "prediction_time"), error
                assert "this is no time" in str(error)
            else:
                result.to_dict()
                result.to_markdown()
                result._repr_html_()


@pytest.mark.parametrize("first", ["numbers", "text", "dates", "lists"])
@pytest.mark.parametrize("second", ["numbers", "text", "dates", "lists"])
def test_a_column_of_two_kinds(first: str, second: str) -> None:
    kinds: dict[str, Any] = {
        "numbers": lambda n: np.arange(n) * 1.37,
        "text": lambda n: [f"some words to make a text {i} of {i * 7}" for i in range(n)],
        "dates": lambda n: pd.date_range("2020-01-01", periods=n),
        "lists": lambda n: [[i] for i in range(n)],
    }
    train, test = base(ROWS, 1), base(20, 2)
    train["odd"], test["odd"] = kinds[first](ROWS), kinds[second](20)
    result = leakcheck.audit(train, test, target="y")
    said = any("holds values of different kinds" in note for note in result.facts.notes)
    assert said is (first != second)


SHAPES: dict[str, tuple[Any, Any]] = {
    "one row on each side": (base(1, 1), base(1, 2)),
    "one row of test": (base(ROWS, 1), base(1, 2)),
    "one column": (base(ROWS, 1)[["a"]], base(20, 2)[["a"]]),
    "one constant column": (pd.DataFrame({"a": [1] * 50}), pd.DataFrame({"a": [1] * 50})),
    "wide": (
        pd.DataFrame(np.random.default_rng(1).normal(size=(50, 600))),
        pd.DataFrame(np.random.default_rng(2).normal(size=(50, 600))),
    ),
    "empty texts": ([""] * 3, [""] * 3),
    "names that are no text": (base(9, 1).set_axis([0, 1.5, None, ("x", 1)], axis=1),) * 2,
    "columns of two levels": (base(9, 1).set_axis(pd.MultiIndex.from_product([["x", "y"], [1, 2]]), axis=1),) * 2,
    "an index of its own": (base(9, 1).set_axis(list("abcdefghi")), base(9, 2).set_axis([0] * 9)),
    "records": (np.zeros(9, dtype=[("a", float), ("b", int)]), np.ones(9, dtype=[("a", float), ("b", int)])),
    "pictures": (np.zeros((9, 4, 4, 3), np.uint8), np.ones((9, 4, 4, 3), np.uint8)),
    "a list of dicts": ([{"a": 1}, {"b": 2}], [{"a": 3}]),
}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_table_of_any_shape(shape: str) -> None:
    leakcheck.audit(*SHAPES[shape]).to_dict()


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "nothing": (None, None, r"two splits at least are needed \(found none\)"),
    "one split": (base(9, 1), None, r"two splits at least are needed \(found train\)"),
    "no rows": (base(0, 1), base(9, 2), "the split 'train' has no rows"),
    "no columns": (pd.DataFrame(index=range(3)), base(9, 2), "the splits share no column"),
    "other columns": (base(9, 1)[["a"]], base(9, 2)[["b"]], "expected columns of train: a, found in test: b"),
    "two columns of one name": (
        base(9, 1).set_axis(["a", "a", "k", "y"], axis=1),
        base(9, 2),
        "two columns are called 'a'",
    ),
    "two columns of one written name": (pd.DataFrame({0: [1], "0": [2]}), base(9, 2), "two columns are called '0'"),
    "a number": (3, base(9, 2), "the split 'train' can't be read as a table"),
    "a point": (np.array(3), base(9, 2), "the split 'train' can't be read as a table"),
    "columns of other lengths": ({"a": [1, 2], "b": [1]}, base(9, 2), "the split 'train' can't be read as a table"),
    "half a character": (
        pd.DataFrame({"t": pd.Series(["fine", "half \ud800"], dtype=object)}),
        pd.DataFrame({"t": ["x"]}),
        "train, row 2, column 't': the text is not Unicode",
    ),
    "an absent file": ("absent.csv", base(9, 2), "absent.csv: no data file there"),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_is_no_table_is_refused_in_one_line(what: str) -> None:
    train, test, said = REFUSED[what]
    with pytest.raises(LeakcheckError, match=said) as raised:
        leakcheck.audit(train, test)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("role", "called"), [("text", "a text"), ("group", "an entity"), ("ids", "an identifier")])
def test_the_target_has_no_other_role(role: str, called: str) -> None:
    with pytest.raises(LeakcheckError, match=f"the column 'y' can't be both the target and {called}"):
        leakcheck.audit(base(9, 1), base(9, 2), **{"target": "y", role: "y"})  # type: ignore[arg-type]


EQUAL = [
    (1, 1.0),
    (1, np.int8(1)),
    (0.5, Decimal("0.50")),
    (Decimal("1.10"), Decimal("1.1")),
    (-0.0, 0.0),
    (None, float("nan")),
    (pd.NaT, pd.NA),
    ([1, 2], np.array([1.0, 2.0])),
    ((1, None), [1.0, np.nan]),
    ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}),
    ({1, "x"}, frozenset(["x", 1])),
    (datetime.date(2020, 1, 1), pd.Timestamp("2020-01-01")),
    (pd.Timestamp("2020-01-01 12:00", tz="UTC"), pd.Timestamp("2020-01-01 13:00", tz="Europe/Berlin")),
    (np.datetime64("2020-01-01"), datetime.datetime(2020, 1, 1)),
    (np.array(3), 3),
]
DIFFERENT = [
    (1, 2),
    (0.1, 0.1 + 1e-16),
    (2**53, 2**53 + 1),
    (10**30, 10**30 + 1),
    (Decimal("0.1"), Decimal("0.1") + Decimal("1e-40")),
    ("", None),
    ("nan", float("nan")),
    ([1, 2], [2, 1]),
    ([1, [2]], [1, 2]),
    ({"a": 1}, {"a": 1, "b": None}),
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)),
    (b"a", "a"),
]


@pytest.mark.parametrize(("one", "two"), EQUAL)
def test_equal_values_are_spelled_alike(one: Any, two: Any) -> None:
    assert canonical(one) == canonical(two)


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_different_values_are_not(one: Any, two: Any) -> None:
    assert canonical(one) != canonical(two) or one == two


def shared(first: Any, second: Any) -> int:
    """Rows of test in train, when one column is kept in two ways; the others are the same."""
    train, test = base(8, 1)[["a", "b"]], base(8, 1)[["a", "b"]]
    train["odd"], test["odd"] = first, second
    return sum(one.touched for one in leakcheck.audit(train, test).facts.overlaps if one.kind is Kind.ROW)


KEPT: dict[str, tuple[Any, Any]] = {
    "booleans and 0 and 1": ([True, False] * 4, [1, 0] * 4),
    "whole numbers and floats": (range(8), np.arange(8.0)),
    "numbers and their text": (np.arange(8) / 4, [f"{i / 4:.2f}" for i in range(8)]),
    "dates and their text": (pd.date_range("2020-01-01", periods=8), [f"2020-01-0{i + 1}" for i in range(8)]),
    "dates of two resolutions": (
        pd.date_range("2020-01-01", periods=8).astype("datetime64[s]"),
        pd.date_range("2020-01-01", periods=8).astype("datetime64[ns]"),
    ),
    "time zones": (
        pd.date_range("2020-01-01", periods=8, tz="UTC"),
        pd.date_range("2020-01-01", periods=8, tz="UTC").tz_convert("Asia/Tokyo"),
    ),
    "categories and text": (pd.Categorical(list("abcdefgh")), list("abcdefgh")),
    "decimals and floats": ([Decimal(i) / 4 for i in range(8)], np.arange(8) / 4),
    "gaps of two kinds": (pd.array([1, None] * 4, dtype="Int64"), [1.0, np.nan] * 4),
    "lists and arrays": ([[i] for i in range(8)], [np.array([i]) for i in range(8)]),
}


@pytest.mark.parametrize("kept", sorted(KEPT))
def test_rows_are_equal_however_a_column_is_kept(kept: str) -> None:
    assert shared(*KEPT[kept]) == 8


def test_values_next_to_each_other_are_not_equal() -> None:
    assert shared([2**53] * 8, [2**53 + 1] * 8) == 0
    one = pd.to_datetime(["2020-01-01"] * 8)
    assert shared(one, one + pd.Timedelta(nanoseconds=1)) == 0


def test_arrow_types_without_a_pandas_type() -> None:
    def table(first: int) -> pa.Table:
        return pa.table(
            {
                "map": pa.array([[("a", first)], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
                "codes": pa.array(["x", "y"]).dictionary_encode(),
                "duration": pa.array([first, 2], pa.duration("s")),
                "nothing": pa.nulls(2),
                "price": pa.array([Decimal(first) / 10, Decimal("2.2")], pa.decimal128(9, 2)),
                "raw": pa.array([b"x", b"y"], pa.large_binary()),
                "clock": pa.array([datetime.time(1), datetime.time(first % 24)]),
                "nested": pa.array([{"a": [first]}, {"a": None}]),
            }
        )

    assert leakcheck.audit(table(1), table(7)).findings == ()
    assert leakcheck.audit(table(1), table(1)).by_code == {"LK601": 1}
