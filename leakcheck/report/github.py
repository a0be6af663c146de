"""Workflow commands of GitHub Actions: each finding becomes an annotation of its lines."""

from __future__ import annotations

from leakcheck.findings import Location, Severity
from leakcheck.report.formats import Results
from leakcheck.report.places import Place, Places, worded
from leakcheck.report.text import clean

# https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def to_commands(results: Results) -> str:
    """One command a finding, then one for each file that couldn't be read."""
    places = Places()
    lines = []
    for finding in results.findings:
        place = places.of(finding.location)
        message = f"{worded(place, finding.message)}\n{finding.help}"
        lines.append(_command(_COMMANDS[finding.severity], place, f"{finding.code} {finding.name}", message))
    for problem in results.errors:
        place = places.of(problem.location)
        lines.append(_command("error", place, "LK001 unreadable-file", worded(place, problem.message)))
    return "".join(f"{line}\n" for line in lines)


def _command(name: str, place: Place, title: str, message: str) -> str:
    properties = {"file": place.path, **(_span(place.lines) if place.lines else {}), "title": title}
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {shown}::{_data(message)}"


def _span(lines: Location) -> dict[str, int]:
    """Columns are shown within one line only."""
    span = {"line": lines.line, "endLine": lines.end_line}
    if lines.end_line == lines.line and lines.end_column > lines.column:
        span |= {"col": lines.column, "endColumn": lines.end_column}
    return span


def _data(text: str) -> str:
    lines = "\n".join(clean(line) for line in text.split("\n"))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
