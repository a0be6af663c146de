"""Reads a rule's page: its title and sections, and the fenced blocks that are its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from leakcheck.errors import LeakcheckError

KNOWN_MISSES = "Known misses"
SECTIONS = ("What it finds", "Why it matters", "Example", "Use instead", KNOWN_MISSES)
ONLY_FILE = "example.py"  # the name of a block's file that is not named

_PYTHON = ("py", "python")

_title = re.compile(r"# (?P<name>[a-z][a-z0-9-]*) \((?P<code>[A-Z]{2,10}\d{3})\)")
_heading = re.compile(r"(#+) +(.*\S)")
_fence = re.compile(r"(`{3,})(\w*)\s*")
_file_line = re.compile(r"# file: *(\S+)\s*")
_expectation = re.compile(r'\s*# error: \[([\w-]+)\](?: "([^"]*)")?')


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


def title(page: str) -> tuple[str, str]:
    """The rule's name and code, from the first line of a page.

    Raises
    ------
    LeakcheckError
        If the line is not ``# rule-name (LK000)``.
    """
    first = page.partition("\n")[0]
    found = _title.fullmatch(first)
    if not found:
        raise LeakcheckError(
            "a page starts with its rule", place="line 1", expected="# rule-name (LK000)", found=repr(first)
        )
    return found["name"], found["code"]


def faults_of_form(page: str) -> Iterator[str]:
    """What a page lacks: a section, a failing block, or one of two clean ones; known misses don't count."""
    headings = [part.text for part in _parts(page) if isinstance(part, _Heading) and part.level == 2]
    found = [heading for heading in headings if heading in SECTIONS]
    if found != list(SECTIONS):
        yield f"the sections are {', '.join(SECTIONS)}, in this order; found: {', '.join(found) or 'none'}"
    tests = blocks(page)
    counted = [block for block in tests if block.section != KNOWN_MISSES]
    clean = sum(block.is_clean for block in counted)
    if clean == len(counted):
        yield "no block that must be found: at least one is needed"
    if clean < 2:
        yield f"at least two blocks must be clean, found {clean}"
    for block in tests:
        if block.section == KNOWN_MISSES and not block.is_clean:
            yield f"line {block.line}: a block in {KNOWN_MISSES!r} asks for a finding"


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
    name = ONLY_FILE
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
