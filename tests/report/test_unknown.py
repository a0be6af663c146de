"""What `--show-unknown` and `--verbose` say."""

from pathlib import Path

import pytest

from leakcheck.cli import main
from leakcheck.findings import Location
from leakcheck.flow.facts import Unknown, UnknownKind
from leakcheck.report.unknown import unknown_lines
from leakcheck.run import scan


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


TRAIN = """\
import os
import acme
import matplotlib.pyplot as plt
import pandas as pd
from prep import clean, gone
from .absent import more

df = pd.read_csv("d.csv")
df = acme.scale(acme.scale(df))
acme.load(os.path.join("a", "b"))
plt.plot(df["x"].str.lower())
gone(df)
registry["step"](df)
pd.read_csv("e.csv").to_acme(3)
"""


def unknown(*paths: str) -> dict[tuple[str, str], list[str]]:
    return {(one.kind.value, one.name): [str(place) for place in one.places] for one in scan(*paths).unknown}


def test_what_was_not_followed_is_found_at_its_places() -> None:
    Path("train.py").write_text(TRAIN)
    Path("prep.py").write_text("import acme\n\ndef clean(frame):\n    return acme.scale(frame)\n")
    assert unknown("train.py") == {
        ("import", "gone from prep.py"): ["train.py:5:1"],
        ("import", ".absent"): ["train.py:6:1"],
        ("callable", "acme.scale"): ["train.py:9:17", "train.py:9:6"],
        ("callable", "acme.load"): ["train.py:10:1"],
        ("value", "gone"): ["train.py:12:1"],
        ("value", "the result of a call"): ["train.py:13:1"],
        ("method", ".to_acme"): ["train.py:14:1"],
    }


def test_a_place_counts_once_whoever_comes_by() -> None:
    Path("prep.py").write_text("import pandas as pd, acme\n\ndef clean(frame):\n    return acme.scale(frame)\n")
    for name in ("a.py", "b.py"):
        Path(name).write_text("import pandas as pd\nfrom prep import clean\nclean(pd.read_csv('d'))\nclean(1)\n")
    assert unknown(".") == {("callable", "acme.scale"): ["prep.py:4:12"]}


def test_what_a_limit_cut_short_is_listed() -> None:
    loops = "".join(f"{'    ' * depth}for i{depth} in x{depth}:\n" for depth in range(9))
    Path("deep.py").write_text(f"import pandas as pd\n{loops}{'    ' * 9}y = 1\n")
    ((kind, _),) = unknown("deep.py")
    assert kind == "limit"


def test_the_most_frequent_come_first_with_their_first_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(TRAIN)
    main(["scan", "--show-unknown", "-q", "--no-cache"])
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    start = lines.index("  callables of libraries that no table describes:")
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["2", "acme.scale", "train.py:9:6"],
        ["1", "acme.load", "train.py:10:1"],
    ]


def test_a_long_list_says_how_many_more_there_are() -> None:
    place = Location("a.py", None, 1, 1, 1, 2)
    many = [Unknown(UnknownKind.CALLABLE, f"acme.f{number:03}", (place,)) for number in range(60)]
    lines = list(unknown_lines(many))
    assert sum("acme.f" in line for line in lines) == 25
    assert "and 35 more" in lines[-2]


def test_where_all_is_known_one_line_says_so() -> None:
    assert list(unknown_lines(())) == ["everything was followed"]


def test_each_file_is_told_with_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {
        "train.py": "import sklearn\nfrom prep import f\nfrom tools import g\n",
        "prep.py": "import pandas\nf = 1\n",
        "tools.py": "g = 1\n",
        "other.py": "x = 1\n",
        "bad.py": "import pandas\nx = (\n",
        "old/x.py": "",
        "venv/lib.py": "",
        "env/pyvenv.cfg": "",
        "private.py": "",
        ".gitignore": "private.py\n",
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    for done in ("a program", "a program, from the cache"):
        main(["scan", "--verbose", "--exclude", "old/"])
        told = dict(line.split(": ", 1) for line in capsys.readouterr().err.splitlines() if ": " in line)
        assert {name: told.get(name) for name in ("train.py", "prep.py", "tools.py", "other.py")} == {
            "train.py": done,
            "prep.py": f"{done}; followed from train.py",
            "tools.py": "followed from train.py",
            "other.py": "names no machine-learning library",
        }
        assert told["bad.py"].startswith(f"{done}; ")
        assert told["old/"] == "left out by the configuration or an option"
        assert told["venv/"] == "left out by default"
        assert told["env/"] == "left out as a virtual environment"
        assert told["private.py"] == "left out by .gitignore"
        assert told["cache"] == ".leakcheck_cache"
