"""Time and entities across splits, in the forms in which people write dates and names."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import leakcheck
from leakcheck.audit.facts import Kind, TimeOverlap
from leakcheck.audit.result import AuditResult
from leakcheck.errors import LeakcheckError


def frame(times: Any, **more: Any) -> pd.DataFrame:
    """Rows with these times, and values of their own."""
    values = np.random.default_rng(len(times)).normal(size=len(times))
    return pd.DataFrame({"t": times, "value": values, **more})


def audit(train: pd.DataFrame, test: pd.DataFrame, **options: Any) -> AuditResult:
    return leakcheck.audit(train=train, test=test, **{"time": "t", **options})


def overlap(train: Any, test: Any, **options: Any) -> TimeOverlap | None:
    times = audit(frame(train), frame(test), **options).facts.times
    return times[0] if times else None


SPELLINGS = {
    "datetimes": pd.to_datetime,
    "seconds only": lambda days: pd.to_datetime(days).astype("datetime64[s]"),
    "text": list,
    "text with hours": lambda days: [f"{day} 00:00" for day in days],
    "the year last, day first": lambda days: pd.to_datetime(days).strftime("%d/%m/%Y"),
    "the year last, month first": lambda days: pd.to_datetime(days).strftime("%m/%d/%Y"),
    "short years": lambda days: pd.to_datetime(days).strftime("%d.%m.%y"),
    "month in letters": lambda days: pd.to_datetime(days).strftime("%d %b %Y"),
    "dates": lambda days: [datetime.date.fromisoformat(day) for day in days],
    "categories": lambda days: pd.Categorical(days),
    "periods": lambda days: pd.PeriodIndex(days, freq="D"),
    "durations": lambda days: pd.to_datetime(days) - pd.Timestamp("2023-01-01"),
    "nanoseconds since 1970": lambda days: pd.to_datetime(days).astype("datetime64[ns]").astype("int64"),
    "seconds since 1970": lambda days: pd.to_datetime(days).astype("datetime64[s]").astype("int64"),
    "unsigned": lambda days: pd.to_datetime(days).astype("datetime64[s]").astype("int64").astype("uint64"),
    "fractions of years": lambda days: 2023 + pd.to_datetime(days).day_of_year / 365,
}
TRAIN, TEST = ["2023-01-14", "2023-02-11", "2023-05-02", "2023-06-30"], ["2023-05-02", "2023-07-19"]


@pytest.mark.parametrize("spelling", sorted(SPELLINGS))
def test_every_way_to_write_a_time_gives_the_same(spelling: str) -> None:
    found = overlap(SPELLINGS[spelling](TRAIN), SPELLINGS[spelling](TEST))
    assert found is not None
    assert (found.touched, found.total, found.missing) == (2, 4, 0)
    assert (found.example.second.row, found.example.first.row) == (4, 1)
    assert overlap(SPELLINGS[spelling](TRAIN[:2]), SPELLINGS[spelling](TEST)) is None


def test_kinds_of_dates_may_differ_between_and_inside_splits() -> None:
    mixed = [pd.Timestamp("2023-06-01"), "2023-01-14", "11 Feb 2023", datetime.date(2023, 3, 1)]
    found = overlap(pd.Series(mixed, dtype=object), pd.to_datetime(TEST))
    assert found is not None
    assert found.touched == 1


def test_day_and_month_are_told_apart_by_the_whole_column() -> None:
    # 03/04 alone says nothing; 25/12 in the other split says that days come first
    found = overlap(["01/02/2023", "03/04/2023"], ["02/03/2023", "25/12/2023"])
    assert found is not None
    assert (found.touched, found.held_out_range) == (1, ("2023-03-02", "2023-12-25"))
    result = audit(frame(["01/02/2023"]), frame(["02/03/2023"]))
    assert any("01/02/2023 is read month first" in note for note in result.facts.notes)
    with pytest.raises(LeakcheckError, match="put the day first in some rows and the month first in others"):
        overlap(["13/04/2023"], ["04/13/2023"])


def test_time_zones_are_one_axis() -> None:
    # 23:30 in New York is after midnight in London
    train = pd.to_datetime(["2023-01-01 23:30"]).tz_localize("America/New_York")
    test = pd.to_datetime(["2023-01-02 03:00", "2023-01-05 00:00"]).tz_localize("Europe/London")
    assert overlap(train, test) is not None
    assert overlap(train, test + pd.Timedelta("2h")) is None
    assert overlap(["2023-01-01T23:30:00-05:00"], ["2023-01-02T03:00:00+00:00"]) is not None
    objects = pd.Series([pd.Timestamp("2023-01-01 23:30", tz="America/New_York"), None], dtype=object)
    found = overlap(objects, test)
    assert found is not None
    assert found.missing == 1


def test_a_missing_time_zone_counts_as_utc_and_is_said() -> None:
    result = audit(frame(pd.to_datetime(["2023-01-01"]).tz_localize("UTC")), frame(pd.to_datetime(["2023-01-02"])))
    assert result.facts.times == ()
    assert "`t` has a time zone in train and none in test: read as UTC there" in result.facts.notes


def test_missing_times_are_left_out_and_counted() -> None:
    found = overlap(["2023-06-30", None, "", "2023-01-01"], ["2023-05-02", None])
    assert found is not None
    assert (found.touched, found.total, found.missing) == (1, 4, 3)
    assert overlap([None, None], ["2023-05-02"]) is None


def test_far_dates_are_dates() -> None:
    # 9999-12-31 stands for "open" in many databases
    found = overlap(["9999-12-31", "0001-01-01"], ["2023-05-02"])
    assert found is not None
    assert (found.touched, found.training_range) == (1, ("0001-01-01", "9999-12-31"))


@pytest.mark.parametrize(
    ("gap", "touched"), [("0s", 1), ("1d", 1), ("2d", 2), ("47h", 1), ("48h", 2), ("1 day 24 hours", 2), ("1w", 3)]
)
def test_the_gap_is_taken_off(gap: str, touched: int) -> None:
    found = overlap(["2023-04-26", "2023-04-30", "2023-05-02"], ["2023-05-02"], gap=gap)
    assert found is not None
    assert found.touched == touched


def test_the_gap_of_numbers_is_a_number() -> None:
    found = overlap([2017, 2019], [2020], gap="1")
    assert found is not None
    assert found.touched == 1
    assert overlap([2017, 2018], [2020], gap="1") is None


BAD = [
    (["2023-01-01", "soon"], {}, r"train, row 2, column 't': this is no time \(expected a date .*, found 'soon'\)"),
    (["12:30"], {}, "found '12:30'"),
    (["now"], {}, "found 'now'"),
    (["2023-02-30"], {}, "found '2023-02-30'"),
    ([[1]], {}, r"found \[1\]"),
    ([True], {}, "found True"),
    ([5], {}, "holds numbers in train and dates in test"),
    (["2023-01-01"], {"gap": "7"}, r"can't read the gap \(expected a duration such as 7d or 12h, found '7'\)"),
    (["2023-01-01"], {"gap": "soon"}, "can't read the gap"),
    (["2023-01-01"], {"gap": "-7d"}, r"expected 0 or more, found '-7d'"),
    (["2023-01-01"], {"gap": "7d", "time": None}, "a gap needs the time column"),
]


@pytest.mark.parametrize(("train", "options", "said"), BAD)
def test_what_is_no_time_is_said_with_its_row(train: list[Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(LeakcheckError, match=said):
        audit(frame(pd.Series(train, dtype=object)), frame(["2023-05-02"]), **options)


def test_every_pair_of_splits_is_held_in_order() -> None:
    splits = {
        "train": frame(["2023-01-01", "2023-03-01"]),
        "validation": frame(["2023-02-01", "2023-05-01"]),
        "test": frame(["2023-04-01", "2023-06-01"]),
    }
    times = leakcheck.audit(splits=splits, time="t").facts.times
    assert [(o.training, o.held_out, o.touched) for o in times] == [
        ("train", "validation", 1),
        ("validation", "test", 1),
    ]


def test_the_picture_shows_the_two_ranges() -> None:
    found = overlap(["2023-01-01", "2023-01-21"], ["2023-01-11", "2023-01-31"])
    assert found is not None
    train, test = found.picture
    assert len(train) == len(test)
    assert (train[0], train[-1], test[0], test[-1]) == ("=", ".", ".", "=")
    (finding,) = audit(frame(["2023-01-01", "2023-01-21"]), frame(["2023-01-11", "2023-01-31"])).findings
    assert [step.label.strip() for step in finding.trace] == [
        f"[{train}] train, 2023-01-01 to 2023-01-21",
        f"[{test}] test, 2023-01-11 to 2023-01-31",
    ]


def days(*numbers: int) -> list[pd.Timestamp]:
    return [pd.Timestamp("2023-01-01") + pd.Timedelta(days=number) for number in numbers]


def test_the_last_rows_of_each_entity_are_in_order_inside_it() -> None:
    """As in data sets of recommendations: other users' later rows are in training, one's own are not."""
    train = frame(days(1, 2, 11, 12), user=["a", "a", "b", "b"])
    test = frame(days(3, 13), user=["a", "b"])
    result = audit(train, test, group="user")
    (order,) = result.facts.orders
    assert (order.touched, order.shared) == (0, 2)
    (finding,) = [one for one in result.findings if one.code == "LK701"]
    assert "2 of 4 rows of train (50.0 %)" in finding.message
    assert "inside each `user` the order holds" in finding.message


def test_rows_of_an_entity_out_of_order_are_a_finding_of_their_own() -> None:
    train = frame(days(1, 5, 11, 12, 30), user=["a", "a", "b", "b", "c"])
    test = frame(days(3, 13), user=["a", "b"])
    result = audit(train, test, group="user")
    (order,) = result.facts.orders
    assert (order.touched, order.total, order.entities, order.shared) == (1, 5, 1, 2)
    assert (order.examples[0].second.row, order.examples[0].first.row) == (2, 1)
    assert order.worst == "a"
    messages = [one.message for one in result.findings if one.code == "LK701"]
    assert any(
        "1 of 5 rows of train (20.0 %) have `t` at or after the first row in test of their own `user`: "
        "1 of the 2 on both sides" in message
        for message in messages
    )
    # with a gap of a day b is too close as well
    (wider,) = audit(train, test, group="user", gap="1d").facts.orders
    assert (wider.touched, wider.entities) == (2, 2)


def test_a_split_by_entity_has_no_order_inside_entities() -> None:
    result = audit(frame(days(1, 20), user=["a", "a"]), frame(days(3, 13), user=["b", "b"]), group="user")
    assert result.facts.orders == ()
    assert [one.code for one in result.findings] == ["LK701"]


def test_redacted_orders_name_no_entity() -> None:
    train, test = frame(days(5), user=["Alice"]), frame(days(3), user=["Alice"])
    for redact in (False, True):
        result = audit(train, test, group="user", redact=redact)
        assert ("Alice" in str(result.to_dict())) is not redact


def entities(train: list[Any], test: list[Any], **options: Any) -> tuple[int, int, int] | None:
    """Rows touched, distinct entities on both sides, distinct entities of the test side."""
    sides = [frame(range(len(side)), g=pd.Series(side, dtype=object)) for side in (train, test)]
    result = leakcheck.audit(train=sides[0], test=sides[1], group="g", **options)
    found = [one for one in result.facts.overlaps if one.kind is Kind.ENTITY]
    return (found[0].touched, found[0].distinct, found[0].distinct_total) if found else None


def test_entities_are_weighted_by_rows() -> None:
    # one patient of five, but 6 of 10 rows
    assert entities(["a"], ["a"] * 6 + ["b", "c", "d", "e"]) == (6, 1, 5)
    result = leakcheck.audit(
        train=frame([0], g=["a"]), test=frame(range(10), g=["a"] * 6 + ["b", "c", "d", "e"]), group="g"
    )
    (finding,) = result.findings
    assert finding.message.startswith("6 of 10 rows of test (60.0 %")
    assert finding.message.endswith("1 of 5 distinct")


def test_equal_entities_are_equal_values() -> None:
    assert entities([7, 8], ["7", "9"]) == (1, 1, 2)
    assert entities([7.0], [7]) == (1, 1, 1)
    assert entities([" a "], ["a"]) == (1, 1, 1)
    assert entities(["a"], ["A"]) is None
    assert entities([None, np.nan, ""], [None, "", "a"]) is None
    assert entities([[1, 2]], [[1, 2]]) == (1, 1, 1)


def test_each_group_column_is_checked() -> None:
    train = frame([0, 1], patient=["a", "b"], site=["x", "y"])
    test = frame([2, 3], patient=["c", "a"], site=["z", "z"])
    result = leakcheck.audit(train=train, test=test, group=["patient", "site"])
    assert [(one.what, one.touched) for one in result.facts.overlaps if one.kind is Kind.ENTITY] == [("patient", 1)]
    test["site"] = "y"
    result = leakcheck.audit(train=train, test=test, group=["patient", "site"])
    assert {one.what for one in result.facts.overlaps if one.kind is Kind.ENTITY} == {"patient", "site"}


def later(column: Any, prediction: Any = ("2023-01-05 10:00", "2023-01-06 10:00")) -> list[tuple[str, int]]:
    train = frame([0, 1], asked=list(prediction), seen=column)
    test = frame([2, 3], asked=list(prediction), seen=["2023-01-01 10:00", None])
    result = leakcheck.audit(train=train, test=test, prediction_time="asked")
    return [(one.split, one.touched) for one in result.facts.late]


def test_timestamps_after_the_prediction_are_counted() -> None:
    assert later(["2023-01-05 10:01", "2023-01-06 10:00"]) == [("train", 1)]
    assert later(pd.to_datetime(["2023-01-05 09:00", "2023-01-07 00:00"])) == [("train", 1)]
    assert later(["2023-01-05 09:00", None]) == []
    assert later(["2023-01-05 09:30+00:00", "2023-01-06 09:30-05:00"]) == [("train", 1)]


def test_a_prediction_without_a_time_of_day_stands_for_its_day() -> None:
    assert later(["2023-01-05 23:59", "2023-01-06"], ("2023-01-05", "2023-01-06")) == []
    assert later(["2023-01-06 00:00", "2023-01-06"], ("2023-01-05", "2023-01-06")) == [("train", 1)]


def test_what_cannot_be_held_against_the_prediction_is_said() -> None:
    train = frame([0, 1], asked=["2023-01-05", "2023-01-06"], seen=["2023-01-05", "2023-02-30"])
    test = frame([2], asked=["2023-01-07"], seen=["2023-01-01"])
    notes = leakcheck.audit(train=train, test=test, prediction_time="asked").facts.notes
    assert any(note.startswith("`seen` was not held against `asked`: train, row 2") for note in notes)
    notes = leakcheck.audit(train=frame([0, 1]), test=frame([2]), prediction_time="t").facts.notes
    assert any("`t` holds numbers, no dates" in note for note in notes)
