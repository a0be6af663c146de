"""JUnit XML, which most CI services show as test results: a suite a file, a failed test a finding."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as ET

from leakcheck.findings import Finding
from leakcheck.project.source import Problem
from leakcheck.report.formats import Results
from leakcheck.report.places import Place, Places, worded
from leakcheck.report.text import clean


def to_junit(results: Results) -> str:
    """A failure for each finding, an error for what couldn't be read, one passed test where there is neither."""
    places = Places()
    cases = [_failed(finding, places.of(finding.location)) for finding in results.findings]
    cases += [_unreadable(problem, places.of(problem.location)) for problem in results.errors]
    cases = cases or [ET.Element("testcase", name="no findings", classname="leakcheck")]
    root = ET.Element("testsuites", {"name": "leakcheck", **_counts(cases)})
    for name, group in groupby(sorted(cases, key=_suite), key=_suite):
        inside = list(group)
        suite = ET.SubElement(root, "testsuite", {"name": name, **_counts(inside)})
        suite.extend(inside)
    ET.indent(root)
    # ASCII with references for the rest, so that it is right in whatever encoding it is written.
    content: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{content.decode("ascii")}\n'


def _suite(case: ET.Element) -> str:
    return case.get("file") or case.get("classname") or ""


def _counts(cases: list[ET.Element]) -> dict[str, str]:
    tags = [child.tag for case in cases for child in case]
    return {"tests": str(len(cases)), "failures": str(tags.count("failure")), "errors": str(tags.count("error"))}


def _failed(finding: Finding, place: Place) -> ET.Element:
    case = _case(f"{finding.code} {finding.name}", place, str(finding.location))
    text = [worded(place, finding.message), *(f"{step.label}: {step.location}" for step in finding.trace), finding.help]
    _child(case, "failure", finding.severity.value, worded(place, finding.message), "\n".join(map(clean, text)))
    return case


def _unreadable(problem: Problem, place: Place) -> ET.Element:
    case = _case("LK001 unreadable-file", place, str(problem.location))
    _child(case, "error", "LK001", worded(place, problem.message), clean(f"{problem.location}: {problem.message}"))
    return case


def _case(what: str, place: Place, where: str) -> ET.Element:
    path = clean(place.path)
    case = ET.Element("testcase", name=f"{what} at {clean(where)}", classname=path, file=path)
    if place.lines is not None:
        case.set("line", str(place.lines.line))
    return case


def _child(case: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    ET.SubElement(case, tag, type=kind, message=clean(message)).text = text
