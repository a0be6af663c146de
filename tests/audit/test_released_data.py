"""Data sets as they are released: conversations, pictures in columns, names only, indices, folders of a hub."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import leakcheck
from leakcheck.audit.columns import canonical
from leakcheck.audit.facts import Kind, Overlap
from leakcheck.audit.long_texts import strings
from leakcheck.audit.readers import saved_splits
from leakcheck.audit.result import AuditResult
from leakcheck.audit.shingles import normalise, words
from leakcheck.cli.audit import run
from leakcheck.errors import LeakcheckError

WORDS = [first + last for first in ("ba", "ce", "di", "fo", "gu", "ha") for last in ("rst", "lan", "mek", "pod", "vix")]
RNG = np.random.default_rng(5)


def sentence(length: int = 12) -> str:
    return " ".join(RNG.choice(WORDS, length))


def found(result: AuditResult, kind: Kind) -> Overlap | None:
    return next((overlap for overlap in result.facts.overlaps if overlap.kind is kind), None)


def messages(rows: int) -> list[list[dict[str, str]]]:
    return [
        [{"role": "user", "content": sentence()}, {"role": "assistant", "content": sentence()}] for _ in range(rows)
    ]


def test_conversations_are_compared_as_texts(tmp_path: Path) -> None:
    training, held_out = messages(80), messages(20)
    held_out[3] = training[7]
    held_out[9] = [*training[50][:1], {"role": "assistant", "content": training[50][1]["content"] + " indeed"}]
    for name, rows in (("train", training), ("test", held_out)):
        pa.parquet.write_table(pa.table({"messages": rows}), tmp_path / f"{name}.parquet")
    result = leakcheck.audit(str(tmp_path / "train.parquet"), str(tmp_path / "test.parquet"))
    equal, near = found(result, Kind.ROW), found(result, Kind.NEAR_TEXT)
    assert equal is not None and near is not None
    assert (equal.touched, equal.examples[0].first.row, equal.examples[0].second.row) == (1, 4, 8)
    assert (near.touched, near.examples[0].first.row, near.examples[0].second.row) == (1, 10, 51)
    assert result.by_code == {"LK601": 1, "LK602": 1}


def test_long_lists_of_tokens_are_read_to_their_end() -> None:
    """numpy writes three dots for the middle of a long array."""
    one, two = (["same"] * 10 + list(RNG.choice(WORDS, 3000)) + ["same"] * 10 for _ in range(2))
    spelled = strings(pd.Series([np.array(one, object), np.array(two, object)])).to_pylist()
    assert spelled == [" ".join(one), " ".join(two)]


def pictures(rows: int) -> list[dict[str, Any]]:
    return [{"bytes": RNG.bytes(60), "path": f"{RNG.integers(1 << 40)}.png"} for _ in range(rows)]


def test_a_picture_is_its_bytes_and_not_its_name() -> None:
    training, held_out = pictures(60), pictures(20)
    held_out[4] = {**training[11], "path": "renamed.png"}
    labels = [0, 1] * 30
    tables = [
        pa.table({"image": training, "label": labels}),
        pa.table({"image": held_out, "label": [1 - labels[11]] * 20}),
    ]
    result = leakcheck.audit(*tables, target="label")
    equal = found(result, Kind.TEXT)
    assert equal is not None and (equal.what, equal.touched) == ("image", 1)
    assert (equal.examples[0].first.row, equal.examples[0].second.row) == (5, 12)
    assert result.by_code == {"LK601": 1, "LK604": 1}  # and its label is another one


def test_names_of_files_are_not_taken_for_what_is_in_them() -> None:
    training = pd.DataFrame({"image": [f"train/{i}.jpg" for i in range(60)], "label": [0, 1] * 30})
    held_out = pd.DataFrame({"image": [f"test/{i}.jpg" for i in range(60)], "label": [0, 1] * 30})
    result = leakcheck.audit(training, held_out, target="label")
    assert not result.findings
    assert "column 'image' holds names of files: what is in them was not compared" in result.facts.notes


def test_a_table_of_names_alone_is_compared_by_them() -> None:
    training, held_out = [f"compound-{i}" for i in range(100)], [f"compound-{i}" for i in range(90, 150)]
    result = leakcheck.audit(pd.DataFrame({"name": training}), pd.DataFrame({"name": held_out}))
    equal = found(result, Kind.ROW)
    assert equal is not None and equal.touched == 10
    assert result.by_code == {"LK601": 1}  # where the names begin does not tell the splits apart


def test_equal_rows_that_chance_explains_are_said() -> None:
    rng = np.random.default_rng(0)
    splits = [pd.DataFrame({"stars": rng.integers(1, 6, n), "sex": rng.choice(["f", "m"], n)}) for n in (100, 40)]
    result = leakcheck.audit(*splits)
    assert result.exit_status == 0
    assert any("40 rows of test have an equal one, no more than chance" in check for check in result.facts.checks)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_an_index_that_starts_again_in_each_split_is_no_value(name: str) -> None:
    rows = np.random.default_rng(1).normal(size=(200, 3))
    splits = [pd.DataFrame(part, columns=list("abc")) for part in (rows[:160], np.r_[rows[160:], rows[:4]])]
    for frame in splits:
        frame.insert(0, name, range(len(frame)))
    equal = found(leakcheck.audit(*splits), Kind.ROW)
    assert equal is not None and equal.touched == 4


def test_short_texts_do_not_hide_that_all_else_is_equal() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc")).assign(name=rng.choice(WORDS, 100))
    result = leakcheck.audit(frame[:80], pd.concat([frame[80:], frame[5:6]]), text="name")
    equal = found(result, Kind.ROW)
    assert equal is not None and equal.touched == 1 and result.exit_status == 1


def test_decimals_can_be_a_target() -> None:
    rng = np.random.default_rng(3)
    cents = rng.integers(0, 10**6, 200)
    frame = pd.DataFrame({"net": cents * 0.5, "noise": rng.normal(size=200), "price": [Decimal(int(c)) for c in cents]})
    assert "LK703" in leakcheck.audit(frame[:150], frame[150:], target="price").by_code


def test_rows_are_called_as_the_table_calls_them() -> None:
    frame = pd.DataFrame({"text": [sentence() for _ in range(40)]})
    training, held_out = frame.sample(30, random_state=0), frame.drop(frame.sample(30, random_state=0).index)
    held_out = pd.concat([held_out, training.iloc[[4]]])
    result = leakcheck.audit(training, held_out)
    (example,) = result.facts.overlaps[0].examples
    assert example.second.row == 5
    assert example.first_key == example.second_key == f"index={training.index[4]}"


def test_levels_of_an_index_can_be_declared() -> None:
    index = pd.MultiIndex.from_product([["north", "south"], range(20)], names=["site", "visit"])
    frame = pd.DataFrame({"value": np.random.default_rng(4).normal(size=40)}, index=index)
    result = leakcheck.audit(frame[:30], frame[30:], group="site", time="visit")
    assert result.by_code == {"LK701": 1, "LK702": 1}
    assert result.facts.overlaps[0].examples[0].first_text == "south"


def test_one_mapping_may_hold_all_splits() -> None:
    rows = [sentence() for _ in range(30)]
    splits = {"train": rows[:20], "validation": rows[20:], "test": [*rows[25:], rows[0]]}
    pairs = [(one.training, one.held_out, one.touched) for one in leakcheck.audit(splits).facts.overlaps]
    assert sorted(pairs) == [("train", "test", 1), ("validation", "test", 5)]


def test_a_folder_as_it_lies_on_a_hub_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"):
        pa.parquet.write_table(pa.table({"text": [sentence()]}), tmp_path / "data" / f"{name}.parquet")
    (tmp_path / "README.md").write_text("# A data set\n")
    saved = saved_splits(tmp_path)
    assert saved is not None
    assert {name: len(files) for name, files in saved[0].items()} == {"test": 1, "train": 2}


def test_a_folder_without_splits_is_told_what_they_are_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fold1.csv").write_text("a\n1\n")
    with pytest.raises(LeakcheckError, match="files or folders called train, training, validation"):
        run([str(tmp_path)])


@pytest.mark.parametrize(
    "text", ["It's 5 o'clock", "\tTabs\x1cand\x0bothers ", "", "under_score-dash", "A" * 9, " \n "]
)
def test_plain_ascii_is_read_as_other_letters_are(text: str) -> None:
    """The quick way for ASCII agrees with the slow one: a letter beyond ASCII is put in and taken out."""
    assert normalise(f"{text} é") == f"{normalise(text)} é".strip()
    assert words(f"{text} é") == [*words(text), "é"]


def test_bytes_of_a_picture_are_told_apart() -> None:
    assert canonical({"bytes": b"ab", "path": "x.png"}) == canonical({"bytes": b"ab", "path": "y.png"})
    assert canonical({"bytes": None, "path": "x.png"}) != canonical({"bytes": None, "path": "y.png"})
