"""Writes `# leakcheck: ignore[...]` comments into files and notebooks, and changes no other byte."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Suppressed
from leakcheck.project.insert import Insertion, insert, inserted_text
from leakcheck.project.modules import Modules
from leakcheck.project.read import Loaded, load
from leakcheck.project.suppress import SEPARATORS, Suppression, directives, read_comments
from leakcheck.project.write import write_file


@dataclass(frozen=True)
class Added:
    """What was done.

    Attributes
    ----------
    silenced : tuple of Finding
        The findings that a comment silences now.
    left : tuple of Finding
        Those that stand in no code, and those of `failures`.
    files : int
        Files that were written.
    failures : tuple of LeakcheckError
        Files that could not be; nothing in them has changed.
    """

    silenced: tuple[Finding, ...]
    left: tuple[Finding, ...]
    files: int
    failures: tuple[LeakcheckError, ...]


def add_ignores(findings: Sequence[Finding], sources: Modules, reason: str) -> Added:
    """Silence findings by comments in their files.

    The comment goes to the end of the finding's line, or of its statement where that line can't have one; where a
    comment silences another rule there, it is extended. A file is written whole or not at all, and only if it still
    holds what was scanned.

    Parameters
    ----------
    findings : sequence of Finding
        In the order of output.
    sources : Modules
        The files that were read.
    reason : str
        Stands in each comment.

    Raises
    ------
    LeakcheckError
        If no comment can hold the reason.
    """
    reason = _checked(reason)
    codes = _codes_in_code()
    silenced: list[Finding] = []
    left: list[Finding] = []
    failures: list[LeakcheckError] = []
    files = 0
    for path, group in groupby(findings, key=lambda finding: finding.location.path):
        inside = list(group)
        loaded = sources.loaded(path)
        meant = [finding for finding in inside if finding.code in codes and loaded is not None]
        left += [finding for finding in inside if finding not in meant]
        if not meant or loaded is None:
            continue
        try:
            _write_comments(loaded, meant, reason)
        except LeakcheckError as failure:
            failures.append(failure)
            left += meant
        else:
            files += 1
            silenced += [replace(finding, suppressed=Suppressed("comment", reason)) for finding in meant]
    return Added(tuple(silenced), tuple(sorted(left, key=Finding.sort_key)), files, tuple(failures))


def _checked(reason: str) -> str:
    text = reason.strip(SEPARATORS)
    written = next(directives(f"# leakcheck: ignore[LK101] {text}"))
    if not text or not text.isprintable() or written.reason != text:
        expected = "a reason: one line of text that holds no comment for a tool, such as '# noqa'"
        raise LeakcheckError("--add-ignore", expected=expected, found=repr(reason))
    return text


def _codes_in_code() -> frozenset[str]:
    """The rules that comments can silence."""
    from leakcheck.flow import ProgramFacts
    from leakcheck.rules import rules

    return frozenset(rule.code for rule in rules() if rule.facts_type is ProgramFacts)


def _write_comments(scanned: Loaded, findings: Sequence[Finding], reason: str) -> None:
    path, file = scanned.source.path, scanned.source.file
    before, data = _read(file, path)
    fresh = load(data, path, file)
    if fresh != scanned:
        raise LeakcheckError("the file has changed since it was scanned; nothing was written, scan again", file=path)
    insertions = [
        insertion
        for cell, group in groupby(findings, key=lambda finding: finding.location.cell)
        for insertion in _insertions(fresh, cell, list(group), reason)
    ]
    changed = insert(data, fresh, insertions)
    written = load(changed, path, file)
    comments = read_comments(written.source)
    if written.originals != inserted_text(fresh.originals, insertions) or not all(
        comments.suppressed_by(finding) is not None for finding in findings
    ):
        raise LeakcheckError("no comment can be placed here; nothing was written", file=path)
    if _state(file, path) != before:
        raise LeakcheckError("the file has changed since it was read; nothing was written, scan again", file=path)
    write_file(Path(path), changed)


def _read(file: Path, path: str) -> tuple[tuple[int, int, int], bytes]:
    state = _state(file, path)
    try:
        if not os.access(file, os.W_OK) or not file.stat().st_mode & 0o222:
            raise LeakcheckError("the file is read-only; nothing was written", file=path)
        return state, file.read_bytes()
    except OSError as error:
        raise LeakcheckError(f"the file can't be read again: {error.strerror}", file=path) from None


def _state(file: Path, path: str) -> tuple[int, int, int]:
    """What changes when somebody else writes the file."""
    try:
        status = file.stat()
    except OSError as error:
        raise LeakcheckError(f"the file can't be read again: {error.strerror}", file=path) from None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _insertions(loaded: Loaded, cell: int | None, findings: Sequence[Finding], reason: str) -> Iterator[Insertion]:
    """What to insert into the text, as written, of a file or cell."""
    original = loaded.original(cell)
    assert original is not None
    lines = original.split("\n")
    # Of a cell only the text without magics is Python; its lines are those of the original.
    code = original if cell is None else next(c.text for c in loaded.source.chunks if c.cell == cell)
    statements = list(_statements(code))
    existing = [s for s in read_comments(loaded.source).suppressions if s.codes and not s.whole_file]
    new: dict[int, set[str]] = {}
    more: dict[tuple[int, int], set[str]] = {}
    for finding in findings:
        above = (s for s in existing if s.covers(finding.location))
        place = next(filter(None, (_comment_place(s, code.split("\n"), lines) for s in above)), None)
        if place is not None:
            more.setdefault(place, set()).add(finding.code)
            continue
        statement = next((s for s in statements if s.first <= finding.location.line <= s.last), None)
        if statement is None:
            raise LeakcheckError(
                "no comment can be placed here; nothing was written", file=loaded.source.path,
                place=f"line {finding.location.line}",
            )  # fmt: skip
        line = finding.location.line
        new.setdefault(line if line in statement.open_ends else statement.last, set()).add(finding.code)
    for line, codes in new.items():
        text = lines[line - 1]
        gap = " " * max(0, 2 - (len(text) - len(text.rstrip(" \t"))))
        comment = f"# leakcheck: ignore[{', '.join(sorted(codes))}] {reason}"
        yield Insertion(cell, line, len(text) + 1, gap + comment)
    for (line, column), codes in more.items():
        for offset, text in _extended(lines[line - 1][column - 1 :], sorted(codes), reason):
            yield Insertion(cell, line, column + offset, text)


@dataclass(frozen=True)
class _Statement:
    """A logical line: its first and last line, and the lines at whose end a comment may stand."""

    first: int
    last: int
    open_ends: frozenset[int]


def _statements(code: str) -> Iterator[_Statement]:
    first = strings = 0
    ends: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            name = tokenize.tok_name[token.type]
            if name in ("FSTRING_START", "TSTRING_START"):
                strings += 1
            elif name in ("FSTRING_END", "TSTRING_END"):
                strings -= 1
            elif token.type in (tokenize.NL, tokenize.NEWLINE) and not strings:
                ends.add(token.start[0])
            if token.type == tokenize.NEWLINE:
                yield _Statement(first, token.start[0], frozenset(ends))
                first = 0
                ends = set()
            elif not first and name not in ("NL", "COMMENT", "INDENT", "DEDENT", "ENDMARKER"):
                first = token.start[0]
                ends = set()
    except (tokenize.TokenError, SyntaxError):
        return  # what stands below has no statement


def _comment_place(suppression: Suppression, code: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """Line and column, in the text as written, of a comment; magics may have moved it in the code."""
    where = suppression.location
    rest = code[where.line - 1][where.column - 1 :] if where.line <= len(code) else ""
    original = lines[where.line - 1]
    return (where.line, len(original) - len(rest) + 1) if rest and original.endswith(rest) else None


def _extended(comment: str, codes: Iterable[str], reason: str) -> Iterator[tuple[int, str]]:
    """What to insert where into the text of a comment so that it silences more codes."""
    directive = next(directives(comment))
    yield directive.codes_end, "".join(f"{' ' if directive.ends_in_comma else ', '}{code}" for code in codes)
    if not directive.reason:
        yield directive.end, f" {reason}"
    elif reason not in directive.reason:
        yield directive.end, f"; {reason}"
