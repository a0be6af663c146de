"""What an audit gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from leakcheck import __version__
from leakcheck.audit.facts import AuditFacts
from leakcheck.audit.splits import Split
from leakcheck.findings import Finding, Severity

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT_VERSION = 1


@dataclass(frozen=True)
class AuditResult:
    """Findings, the facts behind them, and the rows of each split.

    Attributes
    ----------
    findings : tuple of Finding
    facts : AuditFacts
    rows : mapping of split to number of rows
    """

    findings: tuple[Finding, ...]
    facts: AuditFacts
    rows: Mapping[str, int]
    splits: tuple[Split, ...] = field(repr=False, default=())
    leaking: Mapping[str, set[int]] = field(repr=False, default_factory=dict)  # held-out rows, by split

    @property
    def by_code(self) -> dict[str, int]:
        """Number of findings of each code."""
        codes = sorted({finding.code for finding in self.findings})
        return {code: sum(finding.code == code for finding in self.findings) for code in codes}

    @property
    def exit_status(self) -> int:
        """1 where something leaks; notes alone are no failure."""
        return int(any(finding.severity is not Severity.NOTE for finding in self.findings))

    def to_dict(self) -> dict[str, Any]:
        """The report as `--output-format json` prints it."""
        from leakcheck.project.fingerprint import fingerprints_without_code
        from leakcheck.report.json import finding_record

        return {
            "version": FORMAT_VERSION,
            "tool": {"name": "leakcheck", "version": __version__},
            "summary": {
                "files": sum(len(split.files) for split in self.splits),
                "skipped": 0,
                "findings": len(self.findings),
                "by_code": self.by_code,
            },
            "findings": [finding_record(finding) for finding in fingerprints_without_code(self.findings)],
            "errors": [],
            "audit": {
                "splits": [{"name": s.name, "rows": len(s), "files": _content(s)} for s in self.splits],
                "checks": list(self.facts.checks),
                "notes": list(self.facts.notes),
            },
        }

    def to_frame(self) -> DataFrame:
        """The findings as a pandas frame, one a row."""
        from leakcheck.report.frame import findings_frame

        return findings_frame(self.findings)

    def to_markdown(self) -> str:
        """A section for a data set card: what was checked, how, on which contents, and what was found."""
        lines = [
            "## Leakage audit",
            "",
            f"Audited with leakcheck {__version__}.",
            "",
            "| split | file | rows | SHA-256 |",
        ]
        lines.append("|---|---|---|---|")
        for split in self.splits:
            for entry in _content(split) or [{"path": split.name, "rows": len(split), "sha256": "(in memory)"}]:
                lines.append(
                    f"| {_cell(split.name)} | {_cell(entry['path'])} | {entry['rows']} | `{entry['sha256']}` |"
                )
        lines += ["", "What was compared:", "", *(f"- {_cell(check)}" for check in self.facts.checks), ""]
        if self.facts.notes:
            lines += ["Left out:", "", *(f"- {_cell(note)}" for note in self.facts.notes), ""]
        if not self.findings:
            return "\n".join([*lines, "Nothing was found by these methods.", ""])
        lines += ["| rule | severity | place | found |", "|---|---|---|---|"]
        lines += [
            f"| {f.code} {f.name} | {f.severity.value} | {_cell(f.location.path)} row {f.location.line} "
            f"| {_cell(f.message)} |"
            for f in self.findings
        ]
        return "\n".join([*lines, ""])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(f.code)}</td><td>{escape(f.severity.value)}</td>"
            f"<td>{escape(f.location.path)} row {f.location.line}</td>"
            f'<td style="text-align:left">{escape(f.message)}<br><i>{escape(f.help)}</i></td></tr>'
            for f in self.findings
        )
        head = "<tr><th>rule</th><th>severity</th><th>place</th><th>what was found</th></tr>"
        told = ", ".join(f"{escape(name)}: {n} rows" for name, n in self.rows.items())
        table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>" if rows else ""
        return f"<p><b>leakcheck audit</b>: {len(self.findings)} findings ({told})</p>{table}"


def _content(split: Split) -> list[dict[str, Any]]:
    found = []
    for i, (name, path) in enumerate(zip(split.files, split.paths, strict=False)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"path": name, "rows": int((split.file_of == i).sum()), "sha256": digest})
    return found


def _cell(text: str) -> str:
    return escape(" ".join(text.split()), quote=False).replace("|", "\\|")
