"""`leakcheck scan --add-ignore`"""

from __future__ import annotations

import sys
from dataclasses import replace

from leakcheck.findings import Finding
from leakcheck.report.text import clean
from leakcheck.run import ScanResult


def write_ignores(result: ScanResult, reason: str, quiet: bool) -> tuple[ScanResult, bool]:
    """Write the comments, say on stderr what was done, and return what is left and whether a file could not be written.

    Raises
    ------
    LeakcheckError
        If no comment can hold the reason.
    """
    from leakcheck.project.add_ignore import add_ignores

    added = add_ignores(result.findings, result.sources, reason)
    for failure in added.failures:
        print(f"leakcheck: {clean(str(failure))}", file=sys.stderr)
    if not quiet:
        failed = {failure.file for failure in added.failures}
        for finding in added.left:
            if finding.location.path not in failed:
                print(f"note: {clean(str(finding.location))}: {finding.code} {_why_left(finding)}", file=sys.stderr)
        silenced, files = len(added.silenced), added.files
        print(
            f"Silenced {silenced} finding{'' if silenced == 1 else 's'} in {files} file{'' if files == 1 else 's'}.",
            file=sys.stderr,
        )
    suppressed = sorted((*result.suppressed, *added.silenced), key=Finding.sort_key)
    return replace(result, findings=added.left, suppressed=tuple(suppressed)), bool(added.failures)


def _why_left(finding: Finding) -> str:
    if finding.code == "LK002":
        return "is about a comment; mend or remove that"
    return "is not about code, so no comment was written; a baseline can accept it"
