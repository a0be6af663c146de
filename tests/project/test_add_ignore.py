"""Comments written into files and notebooks: where they go, and that nothing else changes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import leakcheck
from leakcheck.errors import LeakcheckError
from leakcheck.project.add_ignore import Added, add_ignores
from leakcheck.run import ScanResult

ROOT = Path(__file__).parents[2]
HEAD = """\
import pandas as pd
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
X = pd.read_csv("a.csv")
y = X.pop("y")
"""
TAIL = """
X_tr, X_te, y_tr, y_te = train_test_split(Xs, y, random_state=0)
clf = LogisticRegression().fit(X_tr, y_tr)
print(clf.score(X_te, y_te))
"""
FIT = "Xs = StandardScaler().fit_transform(X)"
NEW = "# leakcheck: ignore[LK101] known"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    return tmp_path


def silence(name: str = "a.py", reason: str = "known") -> tuple[ScanResult, Added]:
    result = leakcheck.scan(name)
    return result, add_ignores(result.findings, result.sources, reason)


def is_clean(name: str = "a.py") -> bool:
    result = leakcheck.scan(name)
    return not result.findings and not result.errors and bool(result.suppressed)


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        (FIT, f"{FIT}  {NEW}"),
        (f"{FIT} ", f"{FIT}  {NEW}"),
        (f"{FIT}\t\t", f"{FIT}\t\t{NEW}"),
        (f"{FIT}  # noqa: E501", f"{FIT}  # noqa: E501  {NEW}"),
        (f"{FIT}; z = 1", f"{FIT}; z = 1  {NEW}"),
        ("Xs = \\\n    StandardScaler().fit_transform(X)", f"Xs = \\\n    StandardScaler().fit_transform(X)  {NEW}"),
        (
            "Xs = StandardScaler().fit_transform( \\\n    X)",
            f"Xs = StandardScaler().fit_transform( \\\n    X)  {NEW}",
        ),
        (
            "Xs = StandardScaler().fit_transform(\n    X,\n)",
            f"Xs = StandardScaler().fit_transform(  {NEW}\n    X,\n)",
        ),
        (
            'Xs, s = StandardScaler().fit_transform(X), """a\n# no comment\n"""',
            f'Xs, s = StandardScaler().fit_transform(X), """a\n# no comment\n"""  {NEW}',
        ),
        (
            'Xs, s = StandardScaler().fit_transform(X), f"""a{\n1}\n"""',
            f'Xs, s = StandardScaler().fit_transform(X), f"""a{{\n1}}\n"""  {NEW}',
        ),
        ("if True:\n\t" + FIT, f"if True:\n\t{FIT}  {NEW}"),
        (f"if True: {FIT}", f"if True: {FIT}  {NEW}"),
        (
            f"{FIT}  # leakcheck: ignore[LK504] old",
            f"{FIT}  # leakcheck: ignore[LK504, LK101] old; known",
        ),
        (f"{FIT}  # leakcheck: ignore[LK504,]", f"{FIT}  # leakcheck: ignore[LK504, LK101] known"),
        (
            f"{FIT}  # leakcheck: ignore[LK504]: known  # noqa",
            f"{FIT}  # leakcheck: ignore[LK504, LK101]: known  # noqa",
        ),
        (
            f"# leakcheck: ignore[LK504] above\n{FIT}",
            f"# leakcheck: ignore[LK504, LK101] above; known\n{FIT}",
        ),
        (f"{FIT}  # leakcheck: exploratory", f"{FIT}  # leakcheck: exploratory  {NEW}"),
    ],
)
def test_where_the_comment_goes(project: Path, line: str, silenced: str) -> None:
    (project / "a.py").write_text(HEAD + line + TAIL, encoding="utf-8")
    _, added = silence()
    assert (len(added.silenced), added.left, added.files, added.failures) == (1, (), 1, ())
    assert (project / "a.py").read_text(encoding="utf-8") == HEAD + silenced + TAIL
    after = leakcheck.scan("a.py")
    assert [finding.code for finding in after.suppressed] == ["LK101"]
    assert after.findings == ()


def test_two_rules_on_one_statement_share_a_comment(project: Path) -> None:
    source = HEAD + "Xs = StandardScaler().fit_transform(X)\n" + (
        "best = max(range(3), key=lambda d: 0)\n"
        "X_tr, X_te, y_tr, y_te = train_test_split(Xs, y, random_state=0)\n"
        "for c in (1, 10):\n    print(LogisticRegression(C=c).fit(X_tr, y_tr).score(X_te, y_te))\n"
    )  # fmt: skip
    (project / "a.py").write_text(source, encoding="utf-8")
    result, added = silence()
    assert len(result.findings) > 1
    assert added.left == ()
    assert is_clean()


@pytest.mark.parametrize(
    ("before", "codec"),
    [
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xef\xbb\xbf# -*- coding: utf-8-sig -*-\r\n", "utf-8"),
        (b"# -*- coding: latin-1 -*-\n", "latin-1"),
        (b"# coding: shift_jis\n", "shift_jis"),
        (b"# coding: iso2022_jp\n", "iso2022_jp"),
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_encodings_marks_and_line_ends_stay(project: Path, before: bytes, codec: str, end: bytes) -> None:
    word = "é" if codec in ("utf-8", "latin-1") else "名"
    text = f'name = "{word}"\n{HEAD}{FIT}; name = "{word}"{TAIL}'.rstrip("\n")  # and no line end at the end
    data = before + text.encode(codec).replace(b"\n", end)
    (project / "a.py").write_bytes(data)
    _, added = silence()
    assert added.failures == ()
    changed = (project / "a.py").read_bytes()
    comment = f"  {NEW}".encode(codec)
    assert changed.count(comment) == 1
    assert changed.replace(comment, b"") == data
    assert is_clean()


def test_a_reason_that_the_encoding_lacks_is_an_error(project: Path) -> None:
    data = (f"# coding: latin-1\n{HEAD}{FIT}{TAIL}").encode("latin-1")
    (project / "a.py").write_bytes(data)
    _, added = silence(reason="原因")
    (failure,) = added.failures
    assert str(failure) == "a.py: the file's encoding latin-1 has no '原'; nothing was written"
    assert (project / "a.py").read_bytes() == data


@pytest.mark.parametrize("reason", ["", "  ", "-", "two\nlines", "a # noqa", "a # type: b", "esc\x1b[0m", "a\u2028b"])
def test_a_reason_that_no_comment_can_hold_is_an_error(project: Path, reason: str) -> None:
    (project / "a.py").write_text(HEAD + FIT + TAIL, encoding="utf-8")
    with pytest.raises(LeakcheckError, match="--add-ignore"):
        silence(reason=reason)


def test_mode_and_link_stay(project: Path) -> None:
    (project / "real").mkdir()
    (project / "real/a.py").write_text(HEAD + FIT + TAIL, encoding="utf-8")
    (project / "real/a.py").chmod(0o751)
    (project / "a.py").symlink_to("real/a.py")
    silence()
    assert (project / "a.py").is_symlink()
    assert (project / "real/a.py").stat().st_mode & 0o777 == 0o751
    assert is_clean()
    assert sorted(os.listdir(project / "real")) == ["a.py"]


# Notebooks


def notebook(project: Path, *cells: list[str] | str, **how: Any) -> bytes:
    content = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
            *(
                {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": [{"text": ["1\n"]}], "source": s}
                for s in cells
            ),
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    data = json.dumps(content, **how).encode()
    (project / "n.ipynb").write_bytes(data)
    return data


@pytest.mark.parametrize("how", [{"indent": 1, "ensure_ascii": False}, {"indent": None}, {"indent": "\t"}])
@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_notebook_keeps_every_other_byte(project: Path, how: Any, joined: bool, line_end: str) -> None:
    code = f"s = '😀'; {FIT}; t = 'é'"
    text = f"{HEAD}%matplotlib inline\n{code}{TAIL}".rstrip("\n").replace("\n", line_end)
    data = notebook(project, text if joined else text.splitlines(keepends=True), **how)
    _, added = silence("n.ipynb")
    assert added.failures == ()
    changed = (project / "n.ipynb").read_bytes()
    assert changed.replace(f"  {NEW}".encode(), b"") == data
    source = json.loads(changed)["cells"][1]["source"]
    assert f"{code}  {NEW}{line_end}" in "".join(source)
    assert is_clean("n.ipynb")


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        (FIT, f"{FIT}  {NEW}"),  # the last line of a cell
        (f"%time {FIT}", f"%time {FIT}  {NEW}"),
        (f"%%time\n{FIT}", f"%%time\n{FIT}  {NEW}"),
        (f"{FIT};", f"{FIT};  {NEW}"),
        (f"%time {FIT}  # leakcheck: ignore[LK504] a", f"%time {FIT}  # leakcheck: ignore[LK504, LK101] a; known"),
        (
            f"%time for _ in range(1): {FIT}  # leakcheck: ignore[LK504] a",
            f"%time for _ in range(1): {FIT}  # leakcheck: ignore[LK504, LK101] a; known",
        ),
    ],
)
def test_magics_and_cells(project: Path, line: str, silenced: str) -> None:
    notebook(project, HEAD, line, TAIL)
    _, added = silence("n.ipynb")
    assert (added.failures, added.left) == ((), ())
    assert json.loads((project / "n.ipynb").read_bytes())["cells"][2]["source"] == silenced


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_reason_is_written_as_the_notebook_writes_text(project: Path, ascii_only: bool) -> None:
    notebook(project, HEAD, f"s = 'é'; {FIT}", TAIL, ensure_ascii=ascii_only)
    silence("n.ipynb", 'said "ça" \\ 😀')
    data = (project / "n.ipynb").read_bytes()
    assert data.isascii() == ascii_only
    assert json.loads(data)["cells"][2]["source"].endswith('ignore[LK101] said "ça" \\ 😀')


def test_a_script_exported_from_a_notebook(project: Path) -> None:
    call = f"get_ipython().run_cell_magic('time', '', {FIT!r})"
    (project / "a.py").write_text(HEAD + call + TAIL, encoding="utf-8")
    silence()
    assert f"{call}  {NEW}\n" in (project / "a.py").read_text(encoding="utf-8")
    assert is_clean()


# What is left alone


def test_findings_outside_of_code_are_left(project: Path) -> None:
    (project / "a.py").write_text(HEAD + FIT + "  # leakcheck: ignore[LK110]" + TAIL, encoding="utf-8")
    (project / "README.md").write_text("Our model beats the baseline by 3.2 points (0.812 to 0.844).\n")
    result = leakcheck.scan(".")
    assert {finding.code for finding in result.findings} == {"LK002", "LK101", "LK504"}
    added = add_ignores(result.findings, result.sources, "known")
    assert [finding.code for finding in added.silenced] == ["LK101"]
    assert [finding.code for finding in added.left] == ["LK504", "LK002"]
    assert (project / "README.md").read_text().count("leakcheck") == 0


def test_a_changed_file_is_left_alone(project: Path) -> None:
    (project / "a.py").write_text(HEAD + FIT + TAIL, encoding="utf-8")
    result = leakcheck.scan("a.py")
    (project / "a.py").write_text("\n" + HEAD + FIT + TAIL, encoding="utf-8")
    added = add_ignores(result.findings, result.sources, "known")
    assert "has changed since it was scanned" in str(added.failures[0])
    assert [finding.code for finding in added.left] == ["LK101"]
    assert "known" not in (project / "a.py").read_text(encoding="utf-8")


def test_a_read_only_and_a_missing_file(project: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(HEAD + FIT + TAIL, encoding="utf-8")
    result = leakcheck.scan(".")
    (project / "a.py").chmod(0o444)
    (project / "b.py").unlink()
    added = add_ignores(result.findings, result.sources, "known")
    assert [str(failure) for failure in added.failures] == [
        "a.py: the file is read-only; nothing was written",
        "b.py: the file can't be read again: No such file or directory",
    ]
    assert (added.files, len(added.left)) == (1, 2)
    assert is_clean("c.py")


def test_a_full_disk_loses_nothing(project: Path) -> None:
    source = HEAD + FIT + TAIL + "# " + "x" * 100_000 + "\n"
    (project / "a.py").write_text(source, encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    run = subprocess.run(
        [sys.executable, "-B", "-m", "leakcheck", "scan", "--no-cache", "a.py", "--add-ignore", "known"],
        capture_output=True, text=True, check=False, preexec_fn=limit, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.splitlines() == [
        "leakcheck: a.py: the file cannot be written: File too large",
        "Silenced 0 findings in 0 files.",
    ]
    assert "warning[LK101]" in run.stdout
    assert (project / "a.py").read_text(encoding="utf-8") == source
    assert sorted(os.listdir(project)) == [".git", "a.py"]
