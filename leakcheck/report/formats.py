"""The formats for services and pages; a format's module is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakcheck.findings import Finding
from leakcheck.project.source import Problem

if TYPE_CHECKING:
    from leakcheck.report.document import Document


@dataclass(frozen=True)
class Results:
    """What a command found, for any format.

    Attributes
    ----------
    findings : sequence of Finding
        In the order of output.
    document : callable
        Gives the document behind Markdown and HTML.
    suppressed : sequence of Finding
        What comments and the baseline silence.
    errors : sequence of Problem
        What couldn't be read.
    notices : sequence of str
        What was passed over or cut short.
    """

    findings: Sequence[Finding]
    document: Callable[[], Document]
    suppressed: Sequence[Finding] = ()
    errors: Sequence[Problem] = ()
    notices: Sequence[str] = ()


def render(name: str, results: Results) -> str:
    """The results in one of the formats, with a line end at the end of what is not empty."""
    if name == "sarif":
        from leakcheck.report.sarif import to_sarif

        return to_sarif(results)
    if name == "github":
        from leakcheck.report.github import to_commands

        return to_commands(results)
    if name == "gitlab":
        from leakcheck.report.gitlab import to_code_quality

        return to_code_quality(results)
    if name == "junit":
        from leakcheck.report.junit import to_junit

        return to_junit(results)
    if name == "markdown":
        from leakcheck.report.markdown_page import to_markdown

        return to_markdown(results.document())
    from leakcheck.report.page import to_html

    # References for what is not ASCII, so that the page is right in whatever encoding it is printed.
    return to_html(results.document()).encode("ascii", "xmlcharrefreplace").decode("ascii")
