"""The harness itself, with a stand-in for the engine: it finds `BAD` in Python files and `bad` in a data file."""

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import leakcheck.cli
from leakcheck.errors import LeakcheckError
from leakcheck.findings import Confidence, Finding, Location, Severity, Suppressed
from leakcheck.testing import assert_clean, assert_finds, blocks, check_block

PAGE = """\
# no-bad-name (LK199)

## Example

```py
x = 1
x = BAD(  # error: [no-bad-name] "BAD"
    x
)
```

## Use instead

```py
x = GOOD()
```

```toml
not = "a test"
```
"""


def finding(path: str, line: int, end_line: int, code: str = "LK199", severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        code=code,
        name="no-bad-name" if code == "LK199" else "other-name",
        leak_class="L1.1",
        severity=severity,
        confidence=Confidence.SURE,
        message=f"`BAD` of {path} is bad",
        help="",
        location=Location(path, None, line, 1, end_line, 1),
    )


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a tiny engine and command line in place of the real ones."""

    def scan(folder: str, **options: object) -> SimpleNamespace:
        assert "ALL" in Path(folder, "leakcheck.toml").read_text()
        found = []
        for file in sorted(Path(folder).rglob("*.py")):
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                end = number + 2 if line.endswith("(") else number
                if "BAD" in line:
                    found.append(finding(file.as_posix(), number, end))
                if "HUSHED" in line:
                    hushed = finding(file.as_posix(), number, end)
                    found.append(Finding(**{**fields(hushed), "suppressed": Suppressed("comment", "")}))
                if "NOTE" in line:
                    found.append(finding(file.as_posix(), number, end, "LK501", Severity.NOTE))
        return SimpleNamespace(findings=found, errors=[])

    def main(arguments: list[str]) -> int:
        command, path, *_ = arguments
        assert command == "audit"
        if not Path(path).exists():
            raise SystemExit(2)
        bad = [line for line in Path(path).read_text().splitlines() if "bad" in line]
        rows = [{"code": "LK601", "severity": "error", "message": f"row {row!r}", "suppressed": None} for row in bad]
        print(json.dumps({"findings": rows, "errors": []}))
        return int(bool(rows))

    engine = ModuleType("leakcheck.run")
    engine.scan = scan  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "leakcheck.run", engine)
    monkeypatch.setattr(leakcheck.cli, "main", main, raising=False)


def fields(found: Finding) -> dict[str, object]:
    return {name: getattr(found, name) for name in Finding.__dataclass_fields__}


def only_block(body: str, section: str = "Example", language: str = "py") -> list[str]:
    (block,) = blocks(f"## {section}\n\n```{language}\n{body}\n```\n")
    return check_block(block, "LK199")


def test_a_page_gives_its_py_blocks_with_their_sections_and_lines() -> None:
    failing, clean = blocks(PAGE)
    assert (failing.section, failing.line, failing.is_clean) == ("Example", 5, False)
    assert (clean.section, clean.line, clean.is_clean) == ("Use instead", 14, True)
    assert "error:" not in failing.files["example.py"]
    assert check_block(failing, "LK199") == check_block(clean, "LK199") == []


def test_a_comment_without_a_finding_fails() -> None:
    assert only_block("x = 1  # error: [no-bad-name]")[0].startswith("not found: no-bad-name at example.py:1")


def test_a_finding_without_a_comment_fails() -> None:
    assert only_block("x = BAD()")[0].startswith("not expected: example.py:1:1 LK199")


def test_another_message_than_the_comment_says_fails() -> None:
    assert only_block('x = BAD()  # error: [no-bad-name] "worse"')[0].startswith("not found")


def test_a_comment_may_stand_on_any_line_of_the_statement() -> None:
    assert only_block("x = BAD(\n    1,\n)  # error: [no-bad-name]") == []


def test_suppressed_findings_and_notes_of_other_rules_do_not_count() -> None:
    assert only_block("x = HUSHED()\ny = NOTE()") == []


def test_a_block_that_does_not_parse_fails_rather_than_passing_as_clean() -> None:
    assert "does not parse" in only_block("x = (")[0]


def test_a_known_miss_that_is_found_is_to_be_moved() -> None:
    assert "move it" in only_block("x = BAD()", section="Known misses")[-1]


def test_a_heading_of_the_third_level_stays_in_its_section() -> None:
    (block,) = blocks("## Known misses\n\n### Another way\n\n```py\nx = 1\n```\n")
    assert block.section == "Known misses"


def test_one_block_holds_several_files_and_lines_count_inside_each() -> None:
    body = "# file: pkg/prep.py\nx = 1\ny = BAD()  # error: [no-bad-name]\n# file: train.py\nimport pkg.prep"
    (block,) = blocks(f"## Example\n```py\n{body}\n```\n")
    assert list(block.files) == ["pkg/prep.py", "train.py"]
    assert (block.expected[0].file, block.expected[0].line) == ("pkg/prep.py", 2)
    assert check_block(block, "LK199") == []


def data_page(csv: str, console: str) -> str:
    return f"## Example\n\n```csv\n# file: train.csv\n{csv}\n```\n\n```console\n{console}\n```\n"


@pytest.mark.parametrize(
    ("csv", "console"),
    [
        ("a,bad", "$ leakcheck audit train.csv\nLK601 a,bad"),
        ("a,bad\nb,bad", "$ leakcheck audit train.csv\nLK601 a,bad\nLK601 b,bad"),
        ("a,good", "$ leakcheck audit train.csv\nno findings"),
    ],
)
def test_a_command_is_run_on_the_files_above_it(csv: str, console: str) -> None:
    (block,) = blocks(data_page(csv, console))
    assert block.files == {"train.csv": f"{csv}\n"}
    assert block.is_clean == console.endswith("no findings")
    assert check_block(block, "LK601") == []


@pytest.mark.parametrize(
    ("csv", "console", "said"),
    [
        ("a,good", "$ leakcheck audit train.csv\nLK601", "not found: LK601"),
        ("a,bad", "$ leakcheck audit train.csv\nno findings", "not expected: LK601"),
        ("a,good", "$ leakcheck audit other.csv\nno findings", "exit status 2"),
        ("a,good", "$ leakcheck audit train.csv\nerror: row 3", "not said on stderr"),
        ("a,good", "$ leakcheck audit train.csv\nnothing at all", "not understood"),
    ],
)
def test_a_command_that_gives_something_else_fails(csv: str, console: str, said: str) -> None:
    (block,) = blocks(data_page(csv, console))
    assert any(said in failure for failure in check_block(block, "LK601"))


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```py\nx = 1\n", "not closed"),
        ("```csv\n# file: a.csv\n1\n```\n## Next\n", "no command"),
        ("```console\n$ ls\nno findings\n```\n", "one command"),
        ("```console\n$ leakcheck audit a.csv\n```\n", "one command"),
    ],
)
def test_a_page_that_would_test_nothing_is_refused(page: str, said: str) -> None:
    with pytest.raises(LeakcheckError, match=said):
        blocks(page)


def test_a_longer_fence_holds_a_shorter_one() -> None:
    file = "````md\n# file: README.md\n```py\nnot a test\n```\n````\n"
    (block,) = blocks(f"{file}```console\n$ leakcheck audit README.md\nno findings\n```\n")
    assert block.files == {"README.md": "```py\nnot a test\n```\n"}


def test_assert_finds_and_assert_clean() -> None:
    assert_finds("x = 1\ny = BAD()\n", "LK199", 2, message="is bad")
    assert_finds({"a.py": "x = 1\n", "b.py": "y = BAD()\n"}, "LK199", 1, file="b.py")
    assert_clean("x = GOOD()\n")
    assert_clean("x = BAD()\n", "LK101")
    with pytest.raises(AssertionError, match="is not found; found: example"):
        assert_finds("x = 1\ny = BAD()\n", "LK199", 1)
    with pytest.raises(AssertionError, match="nothing should be found"):
        assert_clean("x = BAD()\n")


def test_assert_finds_asks_which_of_several_files() -> None:
    with pytest.raises(LeakcheckError, match="file="):
        assert_finds({"a.py": "", "b.py": "y = BAD()\n"}, "LK199", 1)
