"""How many findings of each code there are, in place of the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding

FORMATS = ("full", "concise", "json", "json-lines", "markdown")


def require_statistics(output_format: str) -> None:
    """Check that a format can hold statistics.

    Raises
    ------
    LeakcheckError
        If it has no place for them.
    """
    if output_format not in FORMATS:
        raise LeakcheckError(
            "--statistics has no such output format", expected=", ".join(FORMATS), found=repr(output_format)
        )


def statistics_records(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Code, name and number, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"code": code, "name": name, "count": count} for (code, name), count in ordered]


def statistics_text(findings: Sequence[Finding], output_format: str) -> str:
    """Lines of text, of JSON or of a Markdown table."""
    records = statistics_records(findings)
    if output_format == "json-lines":
        import json

        return "".join(f"{json.dumps(record)}\n" for record in records)
    if output_format == "markdown":
        rows = "".join(f"| {one['count']} | {one['code']} | {one['name']} |\n" for one in records)
        return f"| count | code | name |\n|---|---|---|\n{rows}"
    width = max((len(str(one["count"])) for one in records), default=1)
    return "".join(f"{one['count']:>{width}}  {one['code']}  {one['name']}\n" for one in records)
