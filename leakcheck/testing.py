"""Tests of rules, rule pages and library tables, for this project and for people's own.

A rule's page is its test. `check_page` runs a whole page and says what differs from what the page states, `blocks` and
`check_block` do it block by block; `assert_finds` and `assert_clean` look at a piece of source inside a test function.
The conventions of a page stand in `docs/writing-rules.md`.

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
from leakcheck.plugins import BUILT_IN_PREFIX
from leakcheck.rule_page import KNOWN_MISSES, ONLY_FILE, Block, Command, Expected, blocks, faults_of_form, title

__all__ = [
    "KNOWN_MISSES",
    "Block",
    "Command",
    "Expected",
    "assert_clean",
    "assert_finds",
    "assert_no_leakage",
    "assert_truncation_invariant",
    "blocks",
    "check_block",
    "check_page",
    "scan_files",
]

if TYPE_CHECKING:
    from leakcheck.audit.asserts import assert_no_leakage as assert_no_leakage
    from leakcheck.audit.asserts import assert_truncation_invariant as assert_truncation_invariant

Files = Sequence[str | Path]

_OF_DATA = ("assert_no_leakage", "assert_truncation_invariant")
_ALL_RULES = 'select = ["ALL"]\n'
_code = re.compile(r"([A-Z]{2,10}\d{3})\s*(.*)")


def __getattr__(name: str) -> Any:
    if name in _OF_DATA:
        from leakcheck.audit import asserts

        return getattr(asserts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True, slots=True)
class _Reported:
    """One finding of a command, or one entry of its errors."""

    code: str
    severity: str
    message: str


def check_page(page: str | Path, *, apis: Files = (), rules: Files = ()) -> list[str]:
    """Check a rule's page: its form, and every block.

    Parameters
    ----------
    page : str or Path
        The Markdown file; it bears the rule's name, with underscores.
    apis : sequence of str or Path, default ()
        Library tables of your own.
    rules : sequence of str or Path, default ()
        Rule files, or folders of them, of your own.

    Returns
    -------
    list of str
        One sentence for each difference, with the line of its block; empty where the page holds.
    """
    file = Path(page)
    text = file.read_text(encoding="utf-8")
    name, code = title(text)
    faults = list(faults_of_form(text))
    if file.stem != name.replace("-", "_"):
        faults.append(f"the page of {name} is named {name.replace('-', '_')}.md, not {file.name}")
    for block in blocks(text):
        faults += [f"line {block.line}: {fault}" for fault in check_block(block, code, apis=apis, rules=rules)]
    return faults


def check_block(block: Block, code: str, *, apis: Files = (), rules: Files = ()) -> list[str]:
    """Run a block and compare what is found with what it asks for.

    Parameters
    ----------
    block : Block
        A block of a rule's page.
    code : str
        The page's rule. Its findings count at every severity; those of other rules count as warnings and errors, in a
        `py` block only of the families LK1xx to LK4xx and of in-house rules.
    apis, rules : sequence of str or Path, default ()
        Library tables and rules of your own.

    Returns
    -------
    list of str
        One sentence for each difference; empty where the block holds.
    """
    if block.command is None:
        failures = _check_source(block, code, apis, rules)
    else:
        failures = _check_command(block, block.command, code, apis, rules)
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
    apis: Files = (),
    rules: Files = (),
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
    apis, rules : sequence of str or Path, default ()
        Library tables and rules of your own.
    """
    files = _as_files(source)
    if file is None and len(files) > 1:
        raise LeakcheckError("several files are given: name the one that holds the line", expected="file=...")
    where = file or next(iter(files))
    findings = scan_files(files, apis=apis, rules=rules)
    hits = [finding for finding in findings if finding.code == code and _covers(finding, where, line)]
    if not any(message in finding.message for finding in hits):
        wanted = f"{code} at {where}:{line}" + (f" with {message!r}" if message else "")
        raise AssertionError(f"{wanted} is not found; found: {_listing(findings)}")


def assert_clean(
    source: str | Mapping[str, str], code: str | None = None, *, apis: Files = (), rules: Files = ()
) -> None:
    """Fail if anything is found.

    Parameters
    ----------
    source : str or mapping of str to str
        Python source, or file names with their source.
    code : str, optional
        Look at this rule only, at every severity. By default all errors and warnings of LK1xx to LK4xx and of in-house
        rules count.
    apis, rules : sequence of str or Path, default ()
        Library tables and rules of your own.
    """
    findings = scan_files(_as_files(source), apis=apis, rules=rules)
    if code is None:
        unwanted = [finding for finding in findings if _counts_in_source(finding)]
    else:
        unwanted = [finding for finding in findings if finding.code == code]
    if unwanted:
        raise AssertionError(f"nothing should be found; found: {_listing(unwanted)}")


def scan_files(files: Mapping[str, str], *, apis: Files = (), rules: Files = ()) -> tuple[Finding, ...]:
    """Scan source text as a project of its own, with all rules selected.

    Parameters
    ----------
    files : mapping of str to str
        Relative file names and their text. A configuration among them is used as it is.
    apis, rules : sequence of str or Path, default ()
        Library tables and rules of your own.

    Returns
    -------
    tuple of Finding
        The findings that no comment or baseline hides.
    """
    from leakcheck.project.config import find_config
    from leakcheck.run import scan

    own = _own_keys(apis, rules)
    with _folder(files, configuration=_ALL_RULES):
        result = scan(".", config=find_config([Path.cwd()], overrides=own))
        if result.errors and rules:  # a rule that failed would pass for one that is silent
            raise AssertionError("; ".join(f"{problem.location}: {problem.message}" for problem in result.errors))
        return tuple(finding for finding in result.findings if finding.suppressed is None)


def _own_keys(apis: Files, rules: Files) -> list[str]:
    """The lines of a configuration that name tables and rules, wherever it stands."""
    return [
        f"{key} = {json.dumps([str(Path(file).resolve()) for file in files], ensure_ascii=False)}"
        for key, files in (("apis", apis), ("rules", rules))
        if files
    ]


def _check_source(block: Block, code: str, apis: Files, rules: Files) -> list[str]:
    broken = [problem for name, text in block.files.items() if (problem := _syntax_problem(name, text))]
    if broken:
        return broken
    findings = scan_files(block.files, apis=apis, rules=rules)
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


def _check_command(block: Block, command: Command, code: str, apis: Files, rules: Files) -> list[str]:
    with _folder(block.files, configuration="\n".join(_own_keys(apis, rules)) or None):
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
    return {ONLY_FILE: source} if isinstance(source, str) else source


def _syntax_problem(name: str, text: str) -> str | None:
    if not name.endswith(".py"):
        return None
    try:
        ast.parse(text, name)
    except SyntaxError as error:
        return f"{name}:{error.lineno} does not parse: {error.msg}"
    return None


def _counts_in_source(finding: Finding) -> bool:
    of_code = not finding.code.startswith(BUILT_IN_PREFIX) or finding.code[2] in "1234"
    return of_code and finding.severity is not Severity.NOTE


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
