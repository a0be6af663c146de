"""Comments that silence findings: `# leakcheck: ignore[LK101] reason`, `ignore-file[...]` and `exploratory`.

In Markdown they stand as `<!-- leakcheck: ignore[LK504] reason -->`.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

from leakcheck.findings import Finding, Location
from leakcheck.project.nearest import nearest
from leakcheck.project.source import Chunk, Source

MARK = "leakcheck:"
# A reason may hold `#`, as in "see #12"; it ends where the comment of a tool begins.
_NEXT_COMMENT = (
    r"\s*#\s*(?:leakcheck:|noqa\b|nosec\b|nopycln\b|type:|(?:pylint|pyright|mypy|ruff|flake8|fmt|isort|yapf|pragma):)"
)
_COMMENT = re.compile(
    rf"#\s*leakcheck:\s*([A-Za-z][\w-]*)[ \t]*(?:\[([^\]#]*)\])?((?:(?!{_NEXT_COMMENT}).)*)", re.IGNORECASE
)
_MARKDOWN_COMMENT = re.compile(r"(?<!`)<!--\s*(leakcheck:.*?)-->", re.IGNORECASE)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
SEPARATORS = " \t-:\u2013\u2014"  # between the codes and the reason
_DIRECTIVES = ("ignore", "ignore-file", "exploratory")
# What people write who come from other linters.
_FOREIGN = ("disable", "noqa", "skip", "skip-file", "nosec", "disable-file")


@dataclass(slots=True)
class Suppression:
    """One comment; `used` collects the selectors that silenced something."""

    location: Location
    codes: tuple[str, ...]
    reason: str
    whole_file: bool
    lines: tuple[int, int]  # the statement it silences, first and last line
    used: set[str] = field(default_factory=set)

    def covers(self, location: Location) -> bool:
        if self.whole_file:
            return location.path == self.location.path
        first, last = self.lines
        return (
            location.path == self.location.path
            and location.cell == self.location.cell
            and first <= location.line <= last
        )

    def silences(self, finding: Finding) -> bool:
        """Whether the finding is meant; remembers that it was."""
        if not self.covers(finding.location):
            return False
        if not self.codes:
            self.used.add("")
            return True
        for code in self.codes:
            if code in (finding.code, finding.name):
                self.used.add(code)
                return True
        return False


@dataclass(slots=True)
class Comments:
    """What the comments of a file say."""

    suppressions: list[Suppression] = field(default_factory=list)
    mistakes: list[tuple[Location, str]] = field(default_factory=list)
    exploratory: bool = False

    def add(self, other: Comments) -> None:
        """Take in what is silenced, and what is at fault, in the Markdown of the same file."""
        self.suppressions += other.suppressions
        self.mistakes += other.mistakes

    def suppressed_by(self, finding: Finding) -> str | None:
        """The reason of the first comment that silences a finding; every comment that does counts as used."""
        meant = [suppression for suppression in self.suppressions if suppression.silences(finding)]
        return meant[0].reason if meant else None


def read_comments(source: Source) -> Comments:
    """Read the `# leakcheck:` comments of a file; text inside strings is no comment."""
    comments = Comments()
    for chunk in source.chunks:
        if MARK in chunk.text:
            _read_chunk(source.path, chunk, comments)
    return comments


def read_markdown_comments(path: str, text: str, cell: int | None = None) -> Comments:
    """Read the `<!-- leakcheck: ... -->` comments of a Markdown text; those in code are text.

    A comment means the paragraph that it stands in, or where it stands alone, the next one.
    """
    comments = Comments()
    if MARK not in text:
        return comments
    lines = text.split("\n")
    for number, line in enumerate(without_fences(text)):
        is_code = line.startswith(("    ", "\t"))
        for found in () if is_code else _MARKDOWN_COMMENT.finditer(line):
            is_alone = not _MARKDOWN_COMMENT.sub("", line).strip()
            place = Location(path, cell, number + 1, found.start() + 1, number + 1, found.end() + 1)
            directive = _COMMENT.match(f"# {found[1].strip()}")
            if directive and directive[1].lower() == "exploratory":
                comments.mistakes.append((place, "a file is marked in its code: # leakcheck: exploratory"))
            elif directive:
                _take(directive, place, _paragraph(lines, number, is_alone), is_alone, comments)
    return comments


def without_fences(text: str) -> Iterator[str]:
    """The lines of a Markdown text; blank where they are fenced code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            yield ""
        else:
            yield "" if fence else line


def _paragraph(lines: list[str], number: int, is_alone: bool) -> tuple[int, int]:
    """First and last line, from 1, of the paragraph around a line or, for one that stands alone, after it."""
    first = last = number
    while first and not is_alone and lines[first - 1].strip():
        first -= 1
    while is_alone and last + 1 < len(lines) and not lines[last + 1].strip():
        last += 1
    while last + 1 < len(lines) and lines[last + 1].strip():
        last += 1
    return first + 1, last + 1


@dataclass(frozen=True, slots=True)
class Directive:
    """Places, counted from 0, inside the text of a comment: the end of its list of codes and of its reason."""

    codes_end: int
    ends_in_comma: bool
    end: int
    reason: str


def directives(comment: str) -> Iterator[Directive]:
    """The directives with codes in the text of a comment."""
    for found in _COMMENT.finditer(comment):
        if found[2] is not None:
            codes = found[2].rstrip()
            end = found.start() + len(found[0].rstrip())
            yield Directive(found.start(2) + len(codes), codes.endswith(","), end, found[3].strip(SEPARATORS))


def _read_chunk(path: str, chunk: Chunk, comments: Comments) -> None:
    for line, column, text, statement, is_alone in _comments(chunk.text):
        for found in _COMMENT.finditer(text):
            start = column + found.start()
            end = column + len(found[0].rstrip())
            place = Location(path, chunk.cell, line, start, line, max(end, start))
            _take(found, place, statement, is_alone, comments)


def _take(found: re.Match[str], place: Location, covered: tuple[int, int], is_alone: bool, comments: Comments) -> None:
    """Add what one comment says; it silences the `covered` lines."""
    directive, codes, reason = found[1].lower(), found[2], found[3].strip(SEPARATORS)
    if directive == "exploratory":
        comments.exploratory = True
    elif directive in ("ignore", "ignore-file"):
        whole_file = directive == "ignore-file"
        names = tuple(code.strip() for code in codes.split(",") if code.strip()) if codes is not None else ()
        if codes is not None and not names:
            comments.mistakes.append((place, f"the comment names no code: {found[0].strip()!r}"))
        elif whole_file and not is_alone:
            comments.mistakes.append((place, "ignore-file must stand on a line of its own"))
        else:
            comments.suppressions.append(Suppression(place, names, reason, whole_file, covered))
    elif directive in _FOREIGN:
        comments.mistakes.append((place, f"unknown directive {directive!r}; did you mean 'ignore'?"))
    elif codes is not None or len(reason) == 0:  # prose after the colon is no directive
        hint = nearest(directive, _DIRECTIVES)
        if hint:
            comments.mistakes.append((place, f"unknown directive {directive!r}{hint}"))


def _comments(text: str) -> Iterator[tuple[int, int, str, tuple[int, int], bool]]:
    """Each comment: line, column, text, first and last line of its statement, and whether it stands alone.

    A comment that stands alone between statements belongs to the next one.
    """
    waiting: list[tuple[int, int, str]] = []  # alone, before their statement
    inside: list[tuple[int, int, str]] = []  # within the statement
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line, column = token.start
            if token.type == tokenize.COMMENT:
                if MARK in token.string:
                    (inside if first else waiting).append((line, column + 1, token.string))
            elif token.type == tokenize.NEWLINE:
                for comment in waiting:
                    yield *comment, (first, line), True
                for comment in inside:
                    yield *comment, (first, line), False
                waiting, inside, first = [], [], 0
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER) and not first:
                first = line
    except (tokenize.TokenError, SyntaxError):
        pass  # the file is reported as broken; comments up to there hold
    for comment in (*waiting, *inside):
        yield *comment, (comment[0], comment[0]), True


def unused(
    comments: Comments, known: dict[str, str], ran: frozenset[str], require_reason: bool
) -> Iterator[tuple[Location, str]]:
    """Each fault of a file's comments: what silences nothing, names no rule, or gives no reason.

    Parameters
    ----------
    comments : Comments
        After every finding of the file was offered to them.
    known : dict
        Every code with its name.
    ran : frozenset of str
        The codes that were looked for; what others would have found nobody knows.
    require_reason : bool
        Whether a comment must say why.
    """
    yield from comments.mistakes
    names = {name: code for code, name in known.items()}
    for suppression in comments.suppressions:
        if any(names.get(code, code) == "LK002" for code in suppression.codes):
            continue
        idle = []
        for code in suppression.codes:
            if code not in known and code not in names:
                yield suppression.location, f"unknown rule {code!r} in the comment{nearest(code, [*known, *names])}"
            elif code not in suppression.used and names.get(code, code) in ran:
                idle.append(code)
        if idle:
            yield suppression.location, f"the comment silences nothing: no finding of {', '.join(idle)} here"
        elif not suppression.codes and not suppression.used:
            yield suppression.location, "the comment silences nothing: there is no finding here"
        elif require_reason and not suppression.reason:
            yield suppression.location, "the comment gives no reason, and require-reason is on"
