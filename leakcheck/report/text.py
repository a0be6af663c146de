"""Findings for people: `full` with source lines and traces, `concise` with a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from leakcheck.findings import Confidence, Finding, Location, Severity, TraceStep
from leakcheck.project.source import Problem
from leakcheck.report.ansi import Style
from leakcheck.report.excerpt import excerpt

# Findings in prose, requirements, data and claims: they follow no links through code, of which one could be assumed.
_WITHOUT_LINKS = ("LK504", "LK505", "LK6", "LK7", "LK8")

TextOf = Callable[[Location], str | None]


def full(findings: Sequence[Finding], text_of: TextOf, style: Style, width: int) -> Iterator[str]:
    """Each finding with its source line, every step of its trace, and what to do.

    Parameters
    ----------
    findings : sequence of Finding
    text_of : callable
        The text of the file or cell of a location; None where there is none to show.
    style : Style
    width : int
        Columns of the terminal.
    """
    for finding in findings:
        yield from _full(finding, text_of, style, width)
        yield ""


def _full(finding: Finding, text_of: TextOf, style: Style, width: int) -> Iterator[str]:
    paint = severity_style(finding.severity, style)
    title = paint(f"{finding.severity.value}[{_code(finding.code, style)}]")
    yield f"{title} {style.bold(finding.name)}: {clean(finding.message)}"
    steps = list(finding.trace)
    label = ""
    for step in steps:
        if step.location == finding.location:  # the trace speaks of the place itself: its label goes under the marks
            label = step.label
            steps.remove(step)
            break
    places = [finding.location, *(step.location for step in steps)]
    gutter = max(len(str(place.line)) for place in places) + 1
    bar = style.blue(" " * gutter + "|")
    frame = _frame(finding.location, "^", label, text_of, paint, style, gutter, width)
    unframed = f": {clean(label)}" if label and not frame else ""  # a row of data has no source line to mark
    yield style.blue(" " * (gutter - 1) + "--> ") + _place(finding.location, style) + unframed
    if frame:
        yield bar
        yield from frame
    for before, step in zip(places, steps, strict=False):
        yield from _step(before, step, text_of, style, gutter, width, bar)
    yield bar
    if finding.confidence is Confidence.LIKELY and not finding.code.startswith(_WITHOUT_LINKS):
        yield style.blue(" " * gutter + "=") + f" {style.bold('likely')}: one link is a convention, not resolved"
    yield from _help(finding.help, style, gutter, width)


def _step(
    before: Location, step: TraceStep, text_of: TextOf, style: Style, gutter: int, width: int, bar: str
) -> Iterator[str]:
    """One step of the trace; its place is written out where the file or cell changes."""
    place = step.location
    frame = _frame(place, "-", step.label, text_of, style.blue, style, gutter, width)
    elsewhere = style.blue(" " * (gutter - 1) + "::: ") + _place(place, style)
    if not frame:
        yield f"{elsewhere}: {clean(step.label)}"
        return
    if (place.path, place.cell) != (before.path, before.cell):
        yield elsewhere
    yield bar
    yield from frame


def _help(text: str, style: Style, gutter: int, width: int) -> Iterator[str]:
    """What to do, wrapped to the width."""
    lead = " " * gutter + "= help: "
    lines = wrap(clean(text), max(20, width - len(lead)), break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield (
            style.blue(" " * gutter + "=") + f" {style.bold('help')}: {line}" if number == 0 else " " * len(lead) + line
        )


def _frame(
    place: Location,
    mark: str,
    label: str,
    text_of: TextOf,
    paint: Callable[[str], str],
    style: Style,
    gutter: int,
    width: int,
) -> list[str]:
    """A source line and the marks under its span; of a span over several lines, the first."""
    text = text_of(place)
    lines = text.split("\n") if text is not None else []
    if not 1 <= place.line <= len(lines):
        return []
    source = lines[place.line - 1]
    end = place.end_column if place.end_line == place.line else len(source.rstrip()) + 1
    shown, indent, marked = excerpt(source, place.column, end, max(20, width - gutter - 2))
    note = f" {clean(label)}" if label else ""
    return [
        style.blue(f"{place.line:>{gutter - 1}} |") + f" {shown}".rstrip(),
        style.blue(" " * gutter + "|") + " " * (indent + 1) + paint(mark * marked + note),
    ]


def concise(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """One line a finding: ``path:line:column: code [severity] message``."""
    for finding in findings:
        paint = severity_style(finding.severity, style)
        place = style.bold(_place(finding.location, style))
        yield f"{place}: {paint(_code(finding.code, style))} [{finding.severity.value}] {clean(finding.message)}"


def problem_line(problem: Problem, style: Style) -> str:
    """One line for what couldn't be read."""
    return f"{style.bold(_place(problem.location, style))}: {style.red('LK001')} [error] {clean(problem.message)}"


def summary(
    findings: Sequence[Finding], errors: int, files: int, suppressed: int, style: Style, accepted: int = 0
) -> str:
    """The last line of the output; `suppressed` findings are silenced by comments, `accepted` ones by the baseline."""
    numbers = {"by comments": suppressed, "by the baseline": accepted}
    counted = [f"{number} {by}" for by, number in numbers.items() if number]
    hidden = f" ({', '.join(counted)})".replace(" by", " suppressed by", 1) if counted else ""
    if not findings:
        if errors:
            return f"No findings in what could be read; {count(errors, 'error')}{hidden}."
        return style.green("All checks passed") + f": {count(files, 'file')}{hidden}."
    kinds = []
    for severity in Severity:
        number = sum(finding.severity is severity for finding in findings)
        if number:
            kinds.append(count(number, severity.value))
    places = len({finding.location.path for finding in findings})
    # Modules that checked files import, and data, may hold findings without being among the files.
    where = f"{places} of {count(files, 'file')}" if places <= files else count(places, "file")
    return f"Found {count(len(findings), 'finding')} ({', '.join(kinds)}) in {where}{hidden}" + (
        f"; {count(errors, 'file or cell', 'files or cells')} could not be read." if errors else "."
    )


def severity_style(severity: Severity, style: Style) -> Callable[[str], str]:
    """The colour of a severity."""
    return {Severity.ERROR: style.red, Severity.WARNING: style.yellow, Severity.NOTE: style.cyan}[severity]


def _place(place: Location, style: Style) -> str:
    """A place, in a terminal with links one to its file."""
    if not style.links:
        return clean(str(place))
    from leakcheck.report.links import place_url

    return style.link(place_url(place), clean(str(place)))


def _code(code: str, style: Style) -> str:
    """A code, in a terminal with links one to its rule's page."""
    if not style.links:
        return code
    from leakcheck.report.links import rule_url

    return style.link(rule_url(code), code)


def clean(text: str) -> str:
    """Text of the user without control characters, which a terminal would obey."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def count(number: int, what: str, several: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{number} {what}" if number == 1 else f"{number} {several or what + 's'}"
