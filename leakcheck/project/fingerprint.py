"""Fingerprints: the identity of a finding that survives moved lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from leakcheck.findings import Finding, Location

_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_LENGTH = 16  # hex digits: 64 bits


def with_fingerprints(
    findings: Iterable[Finding], text_of: Callable[[Location], str | None], file_key: Callable[[str], str]
) -> list[Finding]:
    """Give each finding its fingerprint.

    It is a hash of the rule, the file, the enclosing function or class, the source lines with their blanks evened out,
    and how many equal ones came before.

    Parameters
    ----------
    findings : iterable of Finding
        In the order of output.
    text_of : callable
        The text of the file or cell of a location; None where there is none.
    file_key : callable
        Turns a shown path into one that doesn't depend on the working folder.
    """
    from hashlib import sha256

    seen: Counter[tuple[str, ...]] = Counter()
    marked = []
    for finding in findings:
        if finding.fingerprint:  # a leg that knows better than lines, such as a pair of data rows
            marked.append(finding)
            continue
        where = finding.location
        text = text_of(where)
        if text is None:
            content = ("", finding.message)
        else:
            lines = text.split("\n")
            span = lines[where.line - 1 : where.end_line]
            content = (_enclosing(lines, where.line), " ".join(_without_comment(line) for line in span))
        key = (finding.code, file_key(where.path), *content)
        digest = sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "replace")).hexdigest()
        seen[key] += 1
        marked.append(replace(finding, fingerprint=digest[:_LENGTH]))
    return marked


def _without_comment(line: str) -> str:
    """The line with even blanks, and without a trailing comment of ours, so that adding one changes nothing."""
    return " ".join(re.sub(r"#\s*leakcheck:.*", "", line).split())


def _enclosing(lines: list[str], line: int) -> str:
    """Dotted name of the functions and classes around a line."""
    if line > len(lines):
        return ""
    names: list[str] = []
    indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
    for above in reversed(lines[: line - 1]):
        if indent == 0:
            break
        found = _DEFINITION.match(above)
        if found and len(found[1]) < indent:
            names.append(found[2])
            indent = len(found[1])
    return ".".join(reversed(names))
