"""Findings as a table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from leakcheck.report.text import count

if TYPE_CHECKING:
    from leakcheck.run import ScanResult


def findings_html(result: ScanResult) -> str:
    """The findings as an HTML table, with what couldn't be read below it."""
    rows = "".join(
        f"<tr><td>{escape(finding.code)}</td><td>{escape(finding.severity.value)}</td>"
        f"<td>{escape(str(finding.location))}</td>"
        f'<td style="text-align:left">{escape(finding.message)}<br><i>{escape(finding.help)}</i></td></tr>'
        for finding in result.findings
    )
    table = (
        "<table><thead><tr><th>rule</th><th>severity</th><th>place</th><th>what was found</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    errors = "".join(f"<li>{escape(str(error.location))}: {escape(error.message)}</li>" for error in result.errors)
    return (
        f"<p><b>leakcheck</b>: {count(len(result.findings), 'finding')} in {count(result.files, 'file')}</p>"
        + (table if rows else "")
        + (f"<p>Not read:</p><ul>{errors}</ul>" if errors else "")
    )
