"""Tests of rules, rule pages and library tables, for this project and for people's own.

A rule's page is its test. `blocks` reads the fenced blocks of a page, `check_block` runs one and says what differs from
what the page states; `assert_finds` and `assert_clean` do the same for a piece of source inside a test function. The
conventions of a page stand in `docs/writing-rules.md`.

For data, `assert_no_leakage` audits two splits, and `assert_truncation_invariant` holds a function that makes features
against looking ahead. They need the extra `data`, which is loaded when one of them is first used.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Severity

if TYPE_CHECKING:
    from leakcheck.audit.asserts import assert_no_leakage as assert_no_leakage
    from leakcheck.audit.asserts import assert_truncation_invariant as assert_truncation_invariant

_OF_DATA = ("assert_no_leakage", "assert_truncation_invariant")

KNOWN_MISSES = "Known misses"

_PYTHON = ("py", "python")
_ONLY_FILE = "example.py"
_ALL_RULES = 'select = ["ALL"]\n'

_heading = re.compile(r"(#+) +(.*\S)")
_fence = re.compile(r"(`{3,})(\w*)\s*")
_file_line = re.compile(r"# file: *(\S+)\s*")
_expectation = re.compile(r'\s*# error: \[([\w-]+)\](?: "([^"]*)")?')
_code = re.compile(r"(LK\d{3})\s*(.*)")


def __getattr__(name: str) -> Any:
    if name in _OF_DATA:
        from leakcheck.audit import asserts

        return getattr(asserts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding that a comment in a block asks for; `line` counts from 1 inside the file."""

    file: str
    line: int
    name: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of a `console` block and the lines that stand below it."""

    line: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """One test of a page: files, and either the findings that comments ask for or a command with its findings.

    `section` is the last heading of the second level above the block, `line` the line of the page where it starts.
    """

    section: str
    line: int
    files: Mapping[str, str]
    expected: tuple[Expected, ...] = ()
    command: Command | None = None

    @property
    def is_clean(self) -> bool:
        """Whether nothing may be found in the block."""
        return not self.expected and (self.command is None or self.command.expected == ("no findings",))


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class _Fence:
    language: str
    line: int
    text: str

    @property
    def names_files(self) -> bool:
        return _file_line.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class _Reported:
    """One finding of a command, or one entry of its errors."""

    code: str
    severity: str
    message: str


def blocks(page: str) -> list[Block]:
    """Read the tests of a page.

    Parameters
    ----------
    page : str
        The page's Markdown.

    Returns
    -------
    list of Block
        Every `py` block, and every `console` block together with the named files above it, in the order of the page.
        Other fenced blocks are prose.

    Raises
    ------
    LeakcheckError
        If a fence is not closed, a command has no expectation, or named files have no command.
    """
    found: list[Block] = []
    section = ""
    waiting: list[_Fence] = []
    for part in [*_parts(page), _Heading(2, "")]:
        if isinstance(part, _Heading):
            found.extend(_without_command(waiting, section))
            section, waiting = part.text if part.level <= 2 else section, []
        elif part.language == "console":
            found.append(_with_command(part, [fence for fence in waiting if fence.names_files], section))
            found.extend(_without_command([fence for fence in waiting if not fence.names_files], section))
            waiting = []
        elif part.language in _PYTHON or part.names_files:
            waiting.append(part)
    return sorted(found, key=lambda block: block.line)


def check_block(block: Block, code: str) -> list[str]:
    """Run a block and compare what is found with what it asks for.

    Parameters
    ----------
    block : Block
        A block of a rule's page.
    code : str
        The page's rule. Its findings count at every severity; those of other rules count as warnings and errors, in a
        `py` block only of the families LK1xx to LK4xx.

    Returns
    -------
    list of str
        One sentence for each difference; empty where the block holds.
    """
    failures = _check_source(block, code) if block.command is None else _check_command(block, block.command, code)
    if failures and block.section == KNOWN_MISSES:
        failures.append(f"a block in {KNOWN_MISSES!r} must stay missed: when it is found, move it to the examples")
    return failures


def assert_finds(
    source: str | Mapping[str, str],
    code: str,
    line: int,
    *,
    file: str | None = None,
    message: str = "",
    apis: Sequence[str | Path] = (),
) -> None:
    """Fail unless a rule finds a fault at a line.

    Parameters
    ----------
    source : str or mapping of str to str
        Python source, or file names with their source.
    code : str
        The rule's code.
    line : int
        Where the finding must stand, from 1; any line of a statement that spans several.
    file : str, optional
        The file that holds the line; needed where `source` has several.
    message : str, default ""
        A part of the finding's message.
    apis : sequence of str or Path, default ()
        Library tables of your own.
    """
    files = _as_files(source)
    if file is None and len(files) > 1:
        raise LeakcheckError("several files are given: name the one that holds the line", expected="file=...")
    where = file or next(iter(files))
    findings = scan_files(files, apis=apis)
    hits = [finding for finding in findings if finding.code == code and _covers(finding, where, line)]
    if not any(message in finding.message for finding in hits):
        wanted = f"{code} at {where}:{line}" + (f" with {message!r}" if message else "")
        raise AssertionError(f"{wanted} is not found; found: {_listing(findings)}")


def assert_clean(source: str | Mapping[str, str], code: str | None = None, *, apis: Sequence[str | Path] = ()) -> None:
    """Fail if anything is found.

    Parameters
    ----------
    source : str or mapping of str to str
        Python source, or file names with their source.
    code : str, optional
        Look at this rule only, at every severity. By default all errors and warnings of LK1xx to LK4xx count.
    apis : sequence of str or Path, default ()
        Library tables of your own.
    """
    findings = scan_files(_as_files(source), apis=apis)
    if code is None:
        unwanted = [finding for finding in findings if _counts_in_source(finding)]
    else:
        unwanted = [finding for finding in findings if finding.code == code]
    if unwanted:
        raise AssertionError(f"nothing should be found; found: {_listing(unwanted)}")


def scan_files(files: Mapping[str, str], *, apis: Sequence[str | Path] = ()) -> tuple[Finding, ...]:
    """Scan source text as a project of its own, with all rules selected.

    Parameters
    ----------
    files : mapping of str to str
        Relative file names and their text. A configuration among them is used as it is.
    apis : sequence of str or Path, default ()
        Library tables of your own.

    Returns
    -------
    tuple of Finding
        The findings that no comment or baseline hides.
    """
    from leakcheck.run import scan

    tables = json.dumps([str(Path(table).resolve()) for table in apis], ensure_ascii=False)
    with _folder(files, configuration=f"{_ALL_RULES}apis = {tables}\n" if apis else _ALL_RULES):
        return tuple(finding for finding in scan(".").findings if finding.suppressed is None)


def _parts(page: str) -> Iterator[_Heading | _Fence]:
    """The headings and the fenced blocks of a page, in order."""
    lines = iter(enumerate(page.splitlines(), start=1))
    for number, line in lines:
        if heading := _heading.fullmatch(line):
            yield _Heading(len(heading[1]), heading[2])
        elif opening := _fence.fullmatch(line):
            body: list[str] = []
            for _, inner in lines:
                closing = _fence.fullmatch(inner)
                if closing and len(closing[1]) >= len(opening[1]) and not closing[2]:
                    break
                body.append(inner)
            else:
                raise LeakcheckError("a fenced block is not closed", place=f"line {number}")
            yield _Fence(opening[2], number, "".join(f"{inner}\n" for inner in body))


def _without_command(fences: Sequence[_Fence], section: str) -> Iterator[Block]:
    for fence in fences:
        if fence.language not in _PYTHON:
            raise LeakcheckError(
                "a block names files but no command reads them",
                place=f"line {fence.line}",
                expected="a `console` block below it, in the same section",
            )
        files, expected = _read_files(fence)
        yield Block(section, fence.line, files, tuple(expected))


def _with_command(console: _Fence, fences: Sequence[_Fence], section: str) -> Block:
    first, *rest = [line.strip() for line in console.text.splitlines() if line.strip()] or [""]
    if not first.startswith("$ leakcheck ") or not rest:
        raise LeakcheckError(
            "a console block holds one command and what it finds",
            place=f"line {console.line}",
            expected="`$ leakcheck ...`, then `LK601 part of the message`, `error: part of it` or `no findings`",
            found=first,
        )
    files: dict[str, str] = {}
    for fence in fences:
        files |= _read_files(fence)[0]
    line = min([fence.line for fence in fences], default=console.line)
    return Block(section, line, files, command=Command(first.removeprefix("$ "), tuple(rest)))


def _read_files(fence: _Fence) -> tuple[dict[str, str], list[Expected]]:
    """Cut a fenced block at its `# file:` lines, and take the expectations out of its Python files."""
    files: dict[str, list[str]] = {}
    expected: list[Expected] = []
    name = _ONLY_FILE
    for line in fence.text.splitlines():
        if named := _file_line.fullmatch(line):
            name = named[1]
            files[name] = []
            continue
        text = files.setdefault(name, [])
        if name.endswith(".py"):
            for asked in _expectation.finditer(line):
                expected.append(Expected(name, len(text) + 1, asked[1], asked[2] or ""))
            line = _expectation.sub("", line)
        text.append(line)
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in files.items()}, expected


def _check_source(block: Block, code: str) -> list[str]:
    broken = [problem for name, text in block.files.items() if (problem := _syntax_problem(name, text))]
    if broken:
        return broken
    findings = scan_files(block.files)
    failures = [
        f"not found: {asked.name} at {asked.file}:{asked.line}"
        + (f" with {asked.fragment!r}" if asked.fragment else "")
        for asked in block.expected
        if not any(_answers(finding, asked) for finding in findings)
    ]
    for finding in findings:
        counts = finding.code == code or _counts_in_source(finding)
        if counts and not any(_answers(finding, asked) for asked in block.expected):
            failures.append(f"not expected: {_listing([finding])}")
    if failures:
        failures.append(f"all that was found: {_listing(findings)}")
    return failures


def _check_command(block: Block, command: Command, code: str) -> list[str]:
    with _folder(block.files):
        status, reported, stderr = _run(command.line)
    wanted = [line for line in command.expected if line != "no findings"]
    problems = [line.removeprefix("error: ") for line in wanted if line.startswith("error: ")]
    codes = [matched.groups() for line in wanted if (matched := _code.fullmatch(line))]
    failures = [
        f"not understood: {line!r}" for line in wanted if not (line.startswith("error: ") or _code.fullmatch(line))
    ]
    failures += [f"not said on stderr: {text!r}" for text in problems if text not in stderr]
    for asked, fragment in codes:
        if not any(entry.code == asked and fragment in entry.message for entry in reported):
            failures.append(f"not found: {asked} {fragment}".rstrip())
    for entry in reported:
        counts = entry.code == code or entry.severity != Severity.NOTE.value
        if counts and not any(entry.code == asked and fragment in entry.message for asked, fragment in codes):
            failures.append(f"not expected: {entry.code} {entry.message}")
    should_fail = bool(problems) or any(asked == "LK001" for asked, _ in codes)
    if (status == 2) != should_fail:
        failures.append(
            f"exit status {status}, {'2 is' if should_fail else '0 or 1 are'} right; stderr: {stderr.strip()}"
        )
    return failures


def _run(line: str) -> tuple[int, list[_Reported], str]:
    """Run a command in this process: its exit status, findings and errors, and what it wrote to stderr."""
    from leakcheck.cli import main

    stdout, stderr = StringIO(), StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            status = int(main([*shlex.split(line)[1:], "--output-format", "json"]))
        except SystemExit as exit_:
            status = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    if not stdout.getvalue().strip():
        return status, [], stderr.getvalue()
    report = json.loads(stdout.getvalue())
    shown = [entry for entry in report["findings"] if not entry.get("suppressed")]
    reported = [_Reported(entry["code"], entry["severity"], entry["message"]) for entry in shown]
    reported += [_Reported(entry["code"], Severity.ERROR.value, entry["message"]) for entry in report.get("errors", ())]
    return status, reported, stderr.getvalue()


@contextmanager
def _folder(files: Mapping[str, str], configuration: str | None = None) -> Iterator[None]:
    """A temporary working folder with the files; the configuration is written unless they bring one."""
    with tempfile.TemporaryDirectory(prefix="leakcheck-") as name:
        folder = Path(name)
        for file, text in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        own = "leakcheck.toml" in files or "[tool.leakcheck" in files.get("pyproject.toml", "")
        if configuration is not None and not own:
            (folder / "leakcheck.toml").write_text(configuration, encoding="utf-8")
        with chdir(folder):
            yield


def _as_files(source: str | Mapping[str, str]) -> Mapping[str, str]:
    return {_ONLY_FILE: source} if isinstance(source, str) else source


def _syntax_problem(name: str, text: str) -> str | None:
    if not name.endswith(".py"):
        return None
    try:
        ast.parse(text, name)
    except SyntaxError as error:
        return f"{name}:{error.lineno} does not parse: {error.msg}"
    return None


def _counts_in_source(finding: Finding) -> bool:
    return finding.code[2] in "1234" and finding.severity is not Severity.NOTE


def _answers(finding: Finding, asked: Expected) -> bool:
    return (
        finding.name == asked.name
        and _covers(finding, asked.file, asked.line)
        and asked.fragment in finding.message
    )  # fmt: skip


def _covers(finding: Finding, file: str, line: int) -> bool:
    where = finding.location
    return Path(where.path) == Path(file) and where.line <= line <= where.end_line


def _listing(findings: Sequence[Finding]) -> str:
    return "; ".join(f"{f.location} {f.code} {f.name}: {f.message}" for f in findings) or "nothing"
