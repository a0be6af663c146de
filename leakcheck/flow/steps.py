"""The small structured form of a program that the interpreter runs.

A chunk (a file, or one notebook cell) becomes a block: a tuple of statements. Expressions nest. Every node knows its
span: first line, first column, last line, column after the end, all counted from 1, columns in characters.
`leakcheck.flow.convert` makes steps from source; nothing else on the scan path sees the syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

Span: TypeAlias = tuple[int, int, int, int]


@dataclass(slots=True, eq=False)
class Node:
    """What every step has: its place in the chunk."""

    span: Span


# --- expressions ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(slots=True, eq=False)
class Const(Node):
    """A literal: str, bytes, int, float, complex, bool, None or Ellipsis (adjacent strings are joined)."""

    value: Any


@dataclass(slots=True, eq=False)
class Attr(Node):
    """`base.name`"""

    base: Expr
    name: str


@dataclass(slots=True, eq=False)
class Index(Node):
    """`base[index]`; several indices arrive as a `Seq` of kind "tuple"."""

    base: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Slice(Node):
    """`lower:upper:step` inside an index."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Arg(Node):
    """An argument of a call: positional, `keyword=`, or starred ("*" or "**")."""

    value: Expr
    keyword: str | None
    star: str


@dataclass(slots=True, eq=False)
class Call(Node):
    func: Expr
    args: tuple[Arg, ...]


@dataclass(slots=True, eq=False)
class Star(Node):
    """`*value` in a display, an assignment target or a subscript."""

    value: Expr


@dataclass(slots=True, eq=False)
class Seq(Node):
    """A tuple, list or set display (kind "tuple", "list" or "set"), also as an assignment target."""

    kind: str
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Dict(Node):
    """A dict display; an item without a key is `**value`."""

    items: tuple[tuple[Expr | None, Expr], ...]


@dataclass(slots=True, eq=False)
class Op(Node):
    """A unary, binary, boolean or comparison operation.

    `op` is the source spelling ("+", "==", "not in", "and", "~", ...). A chain of one boolean operator or a chained
    comparison (`a < b <= c`) is one step with all its operands (`op` is the first comparison's).
    """

    op: str
    operands: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Ternary(Node):
    """`body if test else orelse`"""

    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Param(Node):
    """A parameter; `kind` is "positional-only", "normal", "keyword-only", "*" or "**"."""

    name: str
    kind: str
    default: Expr | None
    annotation: Expr | None


@dataclass(slots=True, eq=False)
class Lambda(Node):
    params: tuple[Param, ...]
    body: Expr


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """One `for target in iter if tests` of a comprehension."""

    target: Expr
    iter: Expr
    tests: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Comp(Node):
    """A comprehension: kind "list", "set", "generator" or "dict" (then `key` is set and `element` is the value)."""

    kind: str
    key: Expr | None
    element: Expr
    loops: tuple[Comprehension, ...]


@dataclass(slots=True, eq=False)
class Join(Node):
    """An f-string (or t-string): its text parts as `Const` and its replacement expressions, in order."""

    parts: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Named(Node):
    """`target := value`"""

    target: Name
    value: Expr


@dataclass(slots=True, eq=False)
class Await(Node):
    value: Expr


@dataclass(slots=True, eq=False)
class Yield(Node):
    """`yield value`, or `yield from value` where `delegate` is true."""

    value: Expr | None
    delegate: bool


Expr: TypeAlias = (
    Name | Const | Attr | Index | Slice | Call | Star | Seq | Dict | Op | Ternary | Lambda | Comp | Join | Named
    | Await | Yield
)  # fmt: skip

# --- statements ----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class ExprStmt(Node):
    """An expression that stands alone; the last one of a notebook cell is shown to the reader."""

    value: Expr


@dataclass(slots=True, eq=False)
class Assign(Node):
    """`a = b = value`; an annotated assignment with a value has one target, its annotation is dropped."""

    targets: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True, eq=False)
class Declare(Node):
    """`name: annotation` without a value (dataclass and NamedTuple fields)."""

    target: Expr
    annotation: Expr


@dataclass(slots=True, eq=False)
class AugAssign(Node):
    """`target op= value`; `op` without the equals sign."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Delete(Node):
    targets: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class If(Node):
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class For(Node):
    target: Expr
    iter: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class While(Node):
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class With(Node):
    """`with item as target, ...`; a target may be missing."""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block


@dataclass(slots=True, eq=False)
class Handler(Node):
    type: Expr | None
    name: str | None
    body: Block


@dataclass(slots=True, eq=False)
class Try(Node):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


@dataclass(slots=True, eq=False)
class Case(Node):
    """One case of a match: the names its pattern binds, its guard, its body."""

    names: tuple[str, ...]
    guard: Expr | None
    body: Block


@dataclass(slots=True, eq=False)
class Match(Node):
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(slots=True, eq=False)
class Function(Node):
    """A function; its span is that of its header (`def` to the colon)."""

    name: str
    params: tuple[Param, ...]
    body: Block
    decorators: tuple[Expr, ...]
    is_async: bool
    is_generator: bool


@dataclass(slots=True, eq=False)
class Class(Node):
    """A class; its span is that of its header."""

    name: str
    bases: tuple[Arg, ...]
    body: Block
    decorators: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Return(Node):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise(Node):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Assert(Node):
    test: Expr


@dataclass(slots=True, eq=False)
class Jump(Node):
    """`break` or `continue`."""

    kind: str


@dataclass(slots=True, eq=False)
class Scope(Node):
    """`global` or `nonlocal`."""

    kind: str
    names: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Import(Node):
    """`import module as name`: (dotted module, bound name or None); without `as` the first part is bound."""

    modules: tuple[tuple[str, str | None], ...]


@dataclass(slots=True, eq=False)
class ImportFrom(Node):
    """`from module import name as bound`; `level` counts leading dots; a star import has the single name "*"."""

    module: str
    level: int
    names: tuple[tuple[str, str], ...]


Stmt: TypeAlias = (
    ExprStmt | Assign | Declare | AugAssign | Delete | If | For | While | With | Try | Match | Function | Class
    | Return | Raise | Assert | Jump | Scope | Import | ImportFrom
)  # fmt: skip
Block: TypeAlias = tuple[Stmt, ...]


_PRINTING = frozenset({"print", "display", "debug", "info", "warning", "log", "write", "set_description"})
_FORMATTING = frozenset({"format", "str", "repr", "round", "int"})


def mentions(tree: object, name: str) -> bool:
    """Whether a name stands anywhere in a tree of steps, other than in what is only printed."""
    if isinstance(tree, ExprStmt) and isinstance(tree.value, Call):
        called = tree.value.func
        if _called(called) in _PRINTING:
            return any(_computes_with(arg, name) for arg in tree.value.args)
    if isinstance(tree, tuple):
        return any(mentions(part, name) for part in tree)
    if isinstance(tree, Name):
        return tree.id == name
    return isinstance(tree, Node) and any(mentions(part, name) for part in _parts(tree))


@lru_cache(maxsize=64)  # a loop inside another is met in each of its rounds
def given(tree: object, name: str) -> tuple[frozenset[str], tuple[tuple[Name, int], ...]]:
    """What a name is given for in calls: the keywords, and the functions called by name with its place there.

    `Tree(random_state=i)` gives `i` for random_state, `run(data, i)` gives it to `run` at 1.
    """
    keywords: set[str] = set()
    places: list[tuple[Name, int]] = []
    for node in walk(tree):
        if not isinstance(node, Call):
            continue
        starred = False
        for place, arg in enumerate(node.args):
            starred = starred or bool(arg.star)
            if not isinstance(arg.value, Name) or arg.value.id != name:
                continue
            if arg.keyword:
                keywords.add(arg.keyword)
            elif isinstance(node.func, Name) and not starred:
                places.append((node.func, place))
    return frozenset(keywords), tuple(places)


def picks_with(tree: object, name: str) -> bool:
    """Whether a name stands as a subscript: `frame[name]`."""
    return any(isinstance(n, Index) and isinstance(n.index, Name) and n.index.id == name for n in walk(tree))


def calls_method(tree: object, name: str) -> bool:
    return any(isinstance(n, Call) and isinstance(n.func, Attr) and n.func.name == name for n in walk(tree))


def takes_out(body: Block, name: str) -> bool:
    """Whether all that a body does is to take a column of that name out of tables: `del X[name]`, `X.pop(name)`."""
    for statement in body:
        if isinstance(statement, Delete):
            done = picks_with(statement.targets, name)
        else:
            call = statement.value if isinstance(statement, ExprStmt | Assign) else None
            done = isinstance(call, Call) and _called(call.func) in ("drop", "pop") and mentions(call.args, name)
        if not done:
            return False
    return True


def repeated_appends(body: Block) -> Iterator[Span]:
    """The calls that append once more what the same round has appended: `a.append(x)`, then `a.append(flip(x))`."""
    before: dict[str, set[str]] = {}
    for statement in body:
        call = statement.value if isinstance(statement, ExprStmt) else None
        if not isinstance(call, Call) or len(call.args) != 1:
            continue
        func, value = call.func, call.args[0].value
        if (
            isinstance(func, Attr)
            and func.name == "append"
            and isinstance(func.base, Name)
            and isinstance(value, Name | Call)
        ):
            names = {node.id for node in walk(value) if isinstance(node, Name)}
            if names & before.setdefault(func.base.id, set()):
                yield call.span
            before[func.base.id] |= {value.id} if isinstance(value, Name) else set()


def walk(tree: object) -> Iterator[Node]:
    """All steps of a tree, in order."""
    waiting = [tree]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting += reversed(found)
        elif isinstance(found, Node):
            yield found
            waiting += reversed(_parts(found))


def _parts(node: Node) -> list[object]:
    """What a step holds, but for its span."""
    names: tuple[str, ...] = node.__match_args__
    return [getattr(node, name) for name in names[1:]]


def _computes_with(tree: object, name: str) -> bool:
    """Whether something is called with a name in what is printed: `print(make(c).score(X, y))`."""
    if isinstance(tree, Call) and _called(tree.func) not in _FORMATTING:
        return mentions(tree, name)
    if isinstance(tree, tuple):
        return any(_computes_with(part, name) for part in tree)
    return isinstance(tree, Node) and any(_computes_with(part, name) for part in _parts(tree))


def _called(func: Expr) -> str:
    return func.id if isinstance(func, Name) else getattr(func, "name", "")
