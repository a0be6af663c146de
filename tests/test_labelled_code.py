"""The scanner against the labelled scripts, notebooks and projects of `fixtures/code`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from leakcheck.findings import Finding, Location, Severity
from leakcheck.run import scan

FOLDER = Path(__file__).parent.parent / "fixtures" / "code"
REPORTED = ("LK1", "LK2", "LK3", "LK4", "LK502")


@dataclass(frozen=True)
class Label:
    """One row of `labels.tsv`: a leak with its codes and places, or a clean case, with the codes it is a trap for."""

    case: str
    leak: bool
    codes: frozenset[str]
    places: frozenset[str]  # file:line, or file:cell:line
    note: str

    def __str__(self) -> str:
        return f"{self.case}-{'+'.join(sorted(self.codes))}" if self.leak else self.case


def read_labels() -> list[Label]:
    labels = []
    for line in (FOLDER / "labels.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            case, verdict, codes, places, note = line.split("\t")
            alternatives = frozenset(places.split("|")) if places else frozenset()
            named = frozenset(codes.split("|")) if codes else frozenset()
            labels.append(Label(case, verdict == "leak", named, alternatives, note))
    return labels


LABELS = read_labels()
LEAKS = [label for label in LABELS if label.leak]
CLEAN = [label for label in LABELS if not label.leak]


@cache
def findings_of(case: str) -> tuple[Finding, ...]:
    """All findings in a case, notes too; the only place that knows how a scan is called."""
    return scan(FOLDER / case, select=["ALL"], isolated=True).findings


def reported(case: str) -> tuple[Finding, ...]:
    """The errors and warnings about code."""
    return tuple(
        finding
        for finding in findings_of(case)
        if finding.code.startswith(REPORTED) and finding.severity is not Severity.NOTE
    )


def place(location: Location) -> str:
    """The place as `labels.tsv` writes it: the file's own name, the cell in a notebook, the line."""
    cell = f"{location.cell}:" if location.cell is not None else ""
    return f"{Path(location.path).name}:{cell}{location.line}"


def places(finding: Finding) -> set[str]:
    return {place(finding.location), *(place(step.location) for step in finding.trace)}


def shown(findings: tuple[Finding, ...]) -> str:
    return "; ".join(f"{finding.code} at {place(finding.location)}" for finding in findings) or "nothing"


@pytest.mark.parametrize("label", LEAKS, ids=str)
def test_leak_is_found(label: Label) -> None:
    found = findings_of(label.case)
    assert any(finding.code in label.codes and places(finding) & label.places for finding in found), (
        f"{label.note}: expected {sorted(label.codes)} at {sorted(label.places)}, got {shown(found)}"
    )


@pytest.mark.parametrize("label", CLEAN, ids=str)
def test_clean_case_is_silent(label: Label) -> None:
    false = reported(label.case)
    assert not false, f"{label.note}: got {shown(false)}"


@pytest.mark.parametrize("label", [label for label in CLEAN if label.codes], ids=str)
def test_clean_case_has_no_note_of_the_code_it_looks_guilty_of(label: Label) -> None:
    notes = tuple(finding for finding in findings_of(label.case) if finding.code in label.codes)
    assert not notes, f"{label.note}: got {shown(notes)}"


@pytest.mark.parametrize("case", sorted({label.case for label in LEAKS}))
def test_leak_case_has_no_other_finding(case: str) -> None:
    """Every leak of a case is labelled, so a finding of another code is a false alarm."""
    labelled = {code for label in LEAKS if label.case == case for code in label.codes}
    other = tuple(finding for finding in reported(case) if finding.code not in labelled)
    assert not other, shown(other)


def test_every_case_has_a_label() -> None:
    cases = {entry.name for entry in FOLDER.iterdir()} - {"labels.tsv", "__pycache__"}
    assert cases == {label.case for label in LABELS}


def test_every_place_names_a_file_of_its_case() -> None:
    """A label that points beside the code could never be met."""
    for label in LEAKS:
        case = FOLDER / label.case
        names = {file.name for file in case.rglob("*")} if case.is_dir() else {case.name}
        assert label.places, label
        assert {where.split(":")[0] for where in label.places} <= names, label
