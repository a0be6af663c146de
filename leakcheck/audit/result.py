"""What an audit gives back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from leakcheck import __version__
from leakcheck.audit.facts import AuditFacts, Carrier
from leakcheck.audit.splits import Options, Split
from leakcheck.findings import Finding, Severity
from leakcheck.report.page import shown

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
    options: Options | None = field(repr=False, default=None)

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
                "parameters": self.options.parameters if self.options else {},
                "checks": list(self.facts.checks),
                "notes": list(self.facts.notes),
                "scores": _scores(self.facts),
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
        if self.options:
            told = (
                f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
                for name, value in self.options.parameters.items()
            )
            lines += ["", f"Declared: {_cell('; '.join(told))}."]
        lines += ["", "What was compared:", "", *(f"- {_cell(check)}" for check in self.facts.checks), ""]
        if self.facts.notes:
            lines += ["Left out:", "", *(f"- {_cell(note)}" for note in self.facts.notes), ""]
        if not self.findings:
            return "\n".join([*lines, "Nothing was found by these methods.", ""])
        lines += [f"What was found ({len(self.findings)}; rows count from 1, the header not among them):", ""]
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
            f"<td>{escape(shown(f.location.path))} row {f.location.line}</td>"
            f'<td style="text-align:left">{escape(shown(f.message))}<br><i>{escape(f.help)}</i></td></tr>'
            for f in self.findings
        )
        head = "<tr><th>rule</th><th>severity</th><th>place</th><th>what was found</th></tr>"
        told = ", ".join(f"{escape(shown(name))}: {n} rows" for name, n in self.rows.items())
        table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>" if rows else ""
        return f"<p><b>leakcheck audit</b>: {len(self.findings)} findings ({told})</p>{table}"


def _content(split: Split) -> list[dict[str, Any]]:
    found = []
    for i, (name, path) in enumerate(zip(split.files, split.paths, strict=False)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found.append({"path": name, "rows": int((split.file_of == i).sum()), "sha256": digest})
    return found


def _scores(facts: AuditFacts) -> list[dict[str, Any]]:
    """Every score with its interval and chance, whether or not a rule speaks of it."""
    records: list[dict[str, Any]] = []
    for single in facts.singles:
        code = "LK703" if single.carrier in (Carrier.COLUMN, Carrier.ABSENCE) else "LK704"
        others = asdict(single.others) if single.others else None
        records.append({"code": code, "of": single.carrier.value, "name": single.name, "score": asdict(single.score)})
        records[-1] |= {"all_other_columns": others, "looks": single.looks}
    for ablation in facts.ablations:
        records.append({"code": "LK705", "of": ablation.part.value, "name": ", ".join(ablation.kept)})
        records[-1] |= {"score": asdict(ablation.score), "all_of_the_input": asdict(ablation.full)}
        records[-1] |= {"margin": ablation.margin, "judged": ablation.judged, "looks": ablation.looks}
    for told in facts.distinguishable:
        records.append({"code": "LK706", "of": "splits", "name": f"{told.training}, {told.held_out}"})
        records[-1] |= {"score": asdict(told.score), "margin": told.margin}
    return records


def _cell(text: str) -> str:
    """One line of a table: names in backticks as code, and no other character with a meaning for Markdown or HTML."""
    line = shown(" ".join(text.split()))
    parts = re.split(r"`([^`]+)`", line)  # every second one stood in backticks
    return "".join(
        "`" + part.replace("|", r"\|") + "`" if number % 2 else _escaped(part) for number, part in enumerate(parts)
    )


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", escape(text, quote=False))
