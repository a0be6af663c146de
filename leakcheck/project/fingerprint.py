"""Fingerprints: the identity of a finding that survives moved and reformatted lines."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from leakcheck.findings import Finding, Location
from leakcheck.project.syntax import parse

if TYPE_CHECKING:
    from leakcheck.project.cache import Cache

TextOf = Callable[[Location], str | None]

_LENGTH = 16  # hex digits: 64 bits
# Fields of a statement that are no part of its own line.
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
# Fields that say nothing, or that only some versions of Python know.
_UNSAID = ("ctx", "kind", "type_comment", "type_params")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def with_fingerprints(
    findings: Iterable[Finding], code_of: TextOf, file_key: Callable[[str], str], cache: Cache | None = None
) -> tuple[Finding, ...]:
    """Give each finding its fingerprint: a hash of its file, its content and how many equal ones came before.

    Parameters
    ----------
    findings : iterable of Finding
        In the order of output.
    code_of : callable
        The Python text of the file or cell of a location; None where there is none.
    file_key : callable
        Turns a shown path into one that doesn't depend on the working folder.
    cache : Cache, optional
        Knows the content of findings in texts that didn't change, so that these need not be parsed.
    """
    seen: Counter[tuple[str, str]] = Counter()
    content_of = content_fingerprints(code_of, cache)
    marked = []
    for finding in findings:
        key = (file_key(finding.location.path), content_of(finding))
        marked.append(replace(finding, fingerprint=_hash(*key, str(seen[key]))))
        seen[key] += 1
    return tuple(marked)


def fingerprints_without_code(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """As `with_fingerprints`, for findings of data and claims by themselves."""
    return with_fingerprints(findings, lambda _: None, lambda path: path)


def content_fingerprints(code_of: TextOf, cache: Cache | None = None) -> Callable[[Finding], str]:
    """A function that gives the fingerprint of a finding's content, whatever its file and line.

    It is a hash of the rule, the enclosing functions and classes, and the statement: its syntax, so that line breaks,
    quotes, commas, brackets and comments don't count. A place that isn't in a statement (a comment, a docstring, a
    file that can't be parsed) goes by its text, and one without text (data, claims, prose) by the message.
    """

    @functools.cache
    def tree_of(path: str, cell: int | None, text: str) -> ast.Module | None:
        return parse(text)

    def content(finding: Finding) -> str:
        where = finding.location
        text = code_of(where)
        if text is None:
            return _hash(finding.code, "", finding.message)
        if cache is None:
            return of_code(finding.code, where, text)
        span = f"{where.line}:{where.column}:{where.end_line}:{where.end_column}"
        key = (b"content", finding.code.encode(), span.encode(), text.encode("utf-8", "surrogatepass"))
        known = cache.get(*key)
        if known is not None and len(known) == _LENGTH and known.isalnum():
            return known.decode("ascii")
        made = of_code(finding.code, where, text)
        cache.put(made.encode(), *key)
        return made

    def of_code(code: str, where: Location, text: str) -> str:
        tree = tree_of(where.path, where.cell, text)
        if tree is not None:
            found = _statement(tree, text, where)
            if found is not None:
                return _hash(code, *found)
        return _hash(code, "", " ".join(_span(text, where).split()))

    return content


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def _statement(tree: ast.Module, text: str, where: Location) -> tuple[str, str] | None:
    """The scopes around the innermost statement at a place, and its syntax; None where no code stands there."""
    lines = text.split("\n")
    if where.line > len(lines):
        return None
    # Columns of `ast` count bytes.
    place = (where.line, len(lines[where.line - 1][: where.column - 1].encode("utf-8", "replace")))
    scopes: list[str] = []
    found: ast.AST | None = None
    node: ast.AST = tree
    while True:
        inner = next((child for child in _statements(node) if _start(child) <= place < _end(child)), None)
        if inner is None:
            break
        if isinstance(node, _Scope):
            scopes.append(node.name)
        found = node = inner
    if found is None or (isinstance(found, ast.Expr) and isinstance(found.value, ast.Constant)):
        return None  # of a docstring only the sentence counts
    first = next(_statements(found), None)
    if first is not None and place >= _start(first):
        return None  # between the statements of a block
    try:
        return ".".join(scopes), "".join(_syntax(found, skip=_BODIES))
    except RecursionError:
        return None


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases right inside a node."""
    for name in _BODIES:
        inside = getattr(node, name, ())
        if isinstance(inside, list):
            yield from inside


def _start(node: ast.AST) -> tuple[int, int]:
    """First line and column, decorators included."""
    if isinstance(node, ast.match_case):
        node = node.pattern
    first: ast.AST = min(getattr(node, "decorator_list", ()) or (node,), key=lambda one: one.lineno)
    assert isinstance(first, (ast.stmt, ast.expr, ast.excepthandler, ast.pattern))
    return first.lineno, first.col_offset


def _end(node: ast.AST) -> tuple[int, int]:
    """Last line and the column after it."""
    if isinstance(node, ast.match_case):
        node = node.body[-1]
    assert isinstance(node, (ast.stmt, ast.excepthandler))
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _syntax(value: object, skip: tuple[str, ...] = ()) -> Iterator[str]:
    """A tree in words that are the same for every version of Python."""
    if isinstance(value, ast.AST):
        yield f"({type(value).__name__}"
        for name, field in ast.iter_fields(value):
            if name not in skip and name not in _UNSAID and field is not None and field != []:
                yield f" {name}="
                yield from _syntax(field)
        yield ")"
    elif isinstance(value, list):
        for item in value:
            yield from _syntax(item)
            yield ","
    else:
        yield repr(value)


def _span(text: str, where: Location) -> str:
    """The text of a place; its whole first line where the place has no end."""
    lines = text.split("\n")[where.line - 1 : max(where.end_line, where.line)]
    if not lines:
        return ""
    if (where.end_line, where.end_column) <= (where.line, where.column):
        return lines[0]
    if where.end_column > 1:
        lines[-1] = lines[-1][: where.end_column - 1]
    lines[0] = lines[0][where.column - 1 :]
    return "\n".join(lines)
