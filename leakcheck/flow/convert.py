"""Turn Python source into the steps of `leakcheck.flow.steps`.

The steps are built from the libcst tree; their spans come from the `ast` of the same text, which costs a tenth of the
libcst parse and is walked in lockstep. Where the running Python cannot read newer syntax that libcst can, libcst's own
position provider is asked instead: exact, and about three times slower.
"""

from __future__ import annotations

import ast
import gc
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import libcst as cst

from leakcheck.flow import steps
from leakcheck.flow.guard import Cut, TooMuch, check_size, cut_excess

__all__ = ["Cut", "SyntaxProblem", "TooMuch", "parse", "parse_prefix"]

# How often `parse_prefix` tries a shorter prefix before it gives up.
MAX_ATTEMPTS = 6


class SyntaxProblem(Exception):  # noqa: N818  (a notice to the user, not a fault of the program)
    """The text is not Python that can be analysed.

    Parameters
    ----------
    message : str
        One sentence that says what is wrong.
    line, column : int
        Place, both counted from 1, column in characters.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        self.message = message
        self.line = line
        self.column = column
        super().__init__(f"line {line}, column {column}: {message}")


def parse(text: str, cuts: list[Cut] | None = None) -> steps.Block:
    """Turn the source of a file or a notebook cell into steps.

    Parameters
    ----------
    text : str
        Python source, with any line ends, with or without a byte order mark.
    cuts : list of Cut, optional
        Receives what was left out because it is too long or too deep.

    Returns
    -------
    Block
        The statements. ``pass`` is dropped.

    Raises
    ------
    SyntaxProblem
        The text is not Python, or newer Python than libcst reads.
    TooMuch
        The text is too large or too deeply nested.

    Examples
    --------
    >>> (step,) = parse("y = f(x)")
    >>> type(step).__name__, step.span, step.value.span
    ('Assign', (1, 1, 1, 9), (1, 5, 1, 9))
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    collects = gc.isenabled()
    gc.disable()
    try:
        return _parse(text, cuts)
    except RecursionError:
        raise TooMuch("the code is nested too deeply to analyse", 1) from None
    finally:
        if collects:
            gc.enable()


def parse_prefix(text: str, cuts: list[Cut] | None = None) -> tuple[steps.Block, SyntaxProblem | None]:
    """Turn as many whole statements from the start of the text into steps as can be parsed.

    Parameters
    ----------
    text, cuts
        As for `parse`.

    Returns
    -------
    block : Block
        The statements before the first broken one; empty if it isn't found in a few attempts.
    problem : SyntaxProblem or None
        What is wrong with the whole text.

    Raises
    ------
    TooMuch
        As for `parse`.
    """
    try:
        return parse(text, cuts), None
    except SyntaxProblem as caught:
        first = problem = caught
    if text[:1] in " \t\n" and (block := _parse_indented(text)) is not None:
        return block, None
    lines = _lines(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    for _ in range(MAX_ATTEMPTS):
        # A statement starts where a line starts with something that can't continue the one before.
        line = min(problem.line, len(lines))
        while line > 1 and not _TOP_LEVEL.match(lines[line - 1]):
            line -= 1
        while line > 1 and lines[line - 2].startswith("@"):
            line -= 1
        lines = lines[: line - 1]
        if not lines:
            break
        try:
            return parse("\n".join(lines) + "\n", cuts), first
        except SyntaxProblem as caught:
            problem = caught
    return (), first


def _parse_indented(text: str) -> steps.Block | None:
    """A cell that is indented as a whole, which notebooks run as if it weren't; None where that isn't the fault."""
    lines = _lines(text.replace("\r\n", "\n").replace("\r", "\n"))
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    if first[:1] not in (" ", "\t"):
        return None
    # Below a line of its own it is a block; the line is taken off the places again.
    wrapped = "\n".join(["if True:", *lines])
    tree, _ = _syntax_tree(wrapped)
    if tree is None or len(tree.body) != 1 or cut_excess(wrapped, tree)[1]:
        return None
    try:
        check_size(wrapped)
        module = cst.parse_module(wrapped)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    ast.increment_lineno(tree, -1)
    return _Converter("\n".join(lines), None).block(module.body[0].body.body, tree.body[0].body)  # type: ignore[union-attr, attr-defined]


_TOP_LEVEL = re.compile(r"(?!(?:else|elif|except|finally|case)\b)[^\s#)\]}]")


def _lines(text: str) -> list[str]:
    """Lines as Python counts them: form feeds and Unicode separators don't end one."""
    return text.split("\n")


def _parse(text: str, cuts: list[Cut] | None) -> steps.Block:
    if "\0" in text:
        before = text[: text.index("\0")]
        raise SyntaxProblem("the text holds a NUL character", before.count("\n") + 1, len(before) - before.rfind("\n"))
    check_size(text)
    tree, refusal = _syntax_tree(text)
    whole = text
    text, made = cut_excess(text, tree)
    if made:
        tree, refusal = _syntax_tree(text)
    if isinstance(refusal, TabError):
        # libcst may take it, but no Python runs it.
        raise _problem(text, refusal, None)
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        if made:
            raise TooMuch("an expression is too long or too deep to analyse", made[0].line) from None
        raise _problem(whole, refusal, error) from None
    except UnicodeEncodeError as error:
        before = text[: error.start]
        raise SyntaxProblem(
            "the text holds a character that is not valid Unicode", before.count("\n") + 1,
            len(before) - before.rfind("\n"),
        ) from None  # fmt: skip
    if cuts is not None:
        cuts += made
    if tree is None:
        return _Converter(text, _positions(module)).block(module.body, _Same((1, 1, 1, 1)))
    return _Converter(text, None).block(module.body, tree.body)


def _syntax_tree(text: str) -> tuple[ast.Module | None, Exception | None]:
    """The `ast` of the text, or why the running Python refuses it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text), None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return None, error


def _positions(module: cst.Module) -> Mapping[cst.CSTNode, Any]:
    """The exact place of every node, by libcst (slow)."""
    from libcst.metadata import MetadataWrapper, PositionProvider

    return MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)


# --- what is wrong with the text -----------------------------------------------------------------------------------

_PYTHON_2 = (
    re.compile(r"^\s*(?:print|exec)[ \t]+(?![=(,.)\]])\S"),
    re.compile(r"^\s*print[ \t]*>>"),
    re.compile(r"^\s*except\b[^:#]*,\s*[A-Za-z_]\w*\s*:"),
    re.compile(r"^\s*raise\s+[\w.]+\s*,"),
    re.compile(r"[=(,+]\s*`[^`]+`"),
    re.compile(r"\w\s*<>\s*\w"),
    re.compile(r"[=(,+]\s*(?:0[xX])?[0-9a-fA-F]+[lL]\b"),
    re.compile(r"[=(,+]\s*[uU][rR]['\"]"),
)
_PYTHON_2_REASON = re.compile("leading zeros in decimal integer")
# Only this much of a line is searched for signs of Python 2.
_LINE_START = 500
# The parser's own message is right about the place where its fields are not.
_ERROR_PLACE = re.compile(r"error at (\d+):(\d+)")


def _problem(text: str, refusal: Exception | None, error: cst.ParserSyntaxError | None) -> SyntaxProblem:
    """The notice for a text that can't be parsed, in the words of the running Python where it has some."""
    lines = _lines(text)
    if isinstance(refusal, SyntaxError):
        line = min(refusal.lineno or 1, len(lines))
        column = max(refusal.offset or 1, 1)
        reason = refusal.msg
    elif error is not None:
        line, column = error.raw_line, error.raw_column + 1
        if place := _ERROR_PLACE.search(error.message):
            line, column = int(place[1]), int(place[2]) + 1
        line = min(max(line, 1), len(lines))
        reason = "newer or unusual syntax that the parser doesn't know" if refusal is None else "invalid syntax"
    else:
        line, column, reason = 1, 1, "invalid syntax"
    source = lines[line - 1][:_LINE_START]
    if isinstance(refusal, TabError):
        return SyntaxProblem("indented with tabs and spaces mixed, so the blocks can't be told apart", line, 1)
    if _PYTHON_2_REASON.search(reason) or any(pattern.search(source) for pattern in _PYTHON_2):
        return SyntaxProblem("looks like Python 2, which is not analysed", line, column)
    return SyntaxProblem(f"not valid Python: {reason}", line, column)


# --- conversion ----------------------------------------------------------------------------------------------------


class _Same:
    """Stands for any `ast` node or list of them where everything in it is given one place."""

    def __init__(self, span: steps.Span) -> None:
        self.span = span

    def __getattr__(self, name: str) -> _Same:
        return self

    def __iter__(self) -> Iterator[_Same]:
        return repeat(self)


Tree: TypeAlias = Any  # an `ast` node or list of them, or a `_Same` in its place


class _Converter:
    """One walk over the libcst tree with the `ast` beside it.

    Parameters
    ----------
    text : str
        The source, with ``\\n`` as line ends.
    places : mapping of libcst node to code range, optional
        Places by libcst itself, used instead of the `ast`.
    """

    def __init__(self, text: str, places: Mapping[cst.CSTNode, Any] | None) -> None:
        self.lines = _lines(text)
        self.places = places
        self.is_ascii = text.isascii()
        self.columns: dict[int, list[int]] = {}  # line -> column in characters of every byte of a line
        self.statement: Tree = _Same((1, 1, 1, 1))
        self.yields = False

    # --- places

    def span(self, node: cst.CSTNode, tree: Tree) -> steps.Span:
        """The place of a libcst node whose `ast` partner is `tree`."""
        if type(tree) is _Same:
            return tree.span if self.places is None else self.place(node, tree)
        if self.is_ascii:
            return (tree.lineno, tree.col_offset + 1, tree.end_lineno, tree.end_col_offset + 1)
        return (
            tree.lineno, self.column(tree.lineno, tree.col_offset),
            tree.end_lineno, self.column(tree.end_lineno, tree.end_col_offset),
        )  # fmt: skip

    def place(self, node: cst.CSTNode, tree: _Same) -> steps.Span:
        """The place of a node by libcst, with the brackets that the `ast` counts in and no others."""
        first = last = node
        if type(node) in (cst.Tuple, cst.GeneratorExp) and node.lpar:  # type: ignore[attr-defined]
            first, last = node.lpar[-1], node.rpar[0]  # type: ignore[attr-defined]
        elif type(node) is cst.Param:
            first = node.name
        assert self.places is not None
        if first not in self.places or last not in self.places:
            return tree.span
        start, end = self.places[first].start, self.places[last].end
        return (start.line, start.column + 1, end.line, end.column + 1)

    def column(self, line: int, offset: int) -> int:
        """The column in characters, counted from 1, of a byte offset in a line."""
        text = self.lines[line - 1]
        if text.isascii():
            return offset + 1
        columns = self.columns.get(line)
        if columns is None:
            columns = [column for column, mark in enumerate(text, 1) for _ in mark.encode()]
            self.columns[line] = columns
        return columns[offset] if offset < len(columns) else len(text) + 1

    def header(self, node: cst.CSTNode, tree: Tree, inside: Iterable[steps.Node]) -> steps.Span:
        """The span from `def` or `class` to the colon, which is the first one behind everything in the header."""
        first, left, last, _ = self.span(node, tree)
        line, column = max(((step.span[2], step.span[3]) for step in inside), default=(first, left))
        column -= 1
        while line <= min(last, len(self.lines)):
            if match := _HEADER_END.match(self.lines[line - 1], column):
                return (first, left, line, match.end() + 1)
            line, column = line + 1, 0
        return (first, left, first, len(self.lines[first - 1]) + 1)

    def same(self) -> _Same:
        """Where a node has no partner: the statement it is in."""
        return _Same(self.span(_NOWHERE, self.statement))

    def pairs(self, nodes: Sequence[Any], trees: Tree) -> Iterator[tuple[Any, Tree]]:
        """Nodes with their partners, in order."""
        if type(trees) is _Same:
            return zip(nodes, trees, strict=False)
        if type(trees) is not list or len(nodes) != len(trees):
            return zip(nodes, self.same(), strict=False)
        return zip(nodes, trees, strict=True)

    # --- statements

    def block(self, body: Sequence[cst.CSTNode], trees: Tree) -> steps.Block:
        """The statements of a block."""
        nodes: list[cst.CSTNode] = []
        for line in body:
            if type(line) is cst.SimpleStatementLine:
                nodes += line.body
            else:
                nodes.append(line)
        found: list[steps.Stmt] = []
        outer = self.statement
        for node, tree in self.pairs(nodes, trees):
            handler, kinds = _STATEMENTS.get(type(node), _NO_STATEMENT)
            if type(tree) not in kinds:
                tree = self.same()
            self.statement = tree if self.places is None else _Same(self.span(node, tree))
            step = handler(self, node, tree)
            if step is not None:
                found.append(step)
        self.statement = outer
        return tuple(found)

    def suite(self, owner: Any, trees: Tree) -> steps.Block:
        """The statements behind the colon of a statement or clause, none where there is no clause."""
        return () if owner is None else self.block(owner.body.body, trees)

    def expression_statement(self, node: cst.Expr, tree: Tree) -> steps.Stmt:
        return steps.ExprStmt(self.span(node, tree), self.expr(node.value, tree.value))

    def assign(self, node: cst.Assign, tree: Tree) -> steps.Stmt:
        targets = tuple(self.expr(target.target, partner) for target, partner in self.pairs(node.targets, tree.targets))
        return steps.Assign(self.span(node, tree), targets, self.expr(node.value, tree.value))

    def annotated(self, node: cst.AnnAssign, tree: Tree) -> steps.Stmt:
        target = self.expr(node.target, tree.target)
        if node.value is None:
            return steps.Declare(self.span(node, tree), target, self.expr(node.annotation.annotation, tree.annotation))
        return steps.Assign(self.span(node, tree), (target,), self.expr(node.value, tree.value))

    def type_alias(self, node: cst.TypeAlias, tree: Tree) -> steps.Stmt:
        target = self.expr(node.name, tree.name)
        return steps.Assign(self.span(node, tree), (target,), self.expr(node.value, tree.value))

    def augmented(self, node: cst.AugAssign, tree: Tree) -> steps.Stmt:
        target = self.expr(node.target, tree.target)
        operator = _OPERATORS[type(node.operator)]
        return steps.AugAssign(self.span(node, tree), target, operator, self.expr(node.value, tree.value))

    def delete(self, node: cst.Del, tree: Tree) -> steps.Stmt:
        target = node.target
        # `del a, b` is a bare tuple for libcst, `del (a, b)` a tuple for both.
        if type(target) is cst.Tuple and not target.lpar:
            targets = self.items(target.elements, tree.targets)
        else:
            targets = tuple(self.expr(node, partner) for node, partner in self.pairs([target], tree.targets))
        return steps.Delete(self.span(node, tree), targets)

    def return_(self, node: cst.Return, tree: Tree) -> steps.Stmt:
        return steps.Return(self.span(node, tree), self.optional(node.value, tree.value))

    def raise_(self, node: cst.Raise, tree: Tree) -> steps.Stmt:
        return steps.Raise(self.span(node, tree), self.optional(node.exc, tree.exc))

    def assert_(self, node: cst.Assert, tree: Tree) -> steps.Stmt:
        return steps.Assert(self.span(node, tree), self.expr(node.test, tree.test))

    def pass_(self, node: cst.Pass, tree: Tree) -> None:
        return None

    def jump(self, node: cst.Break | cst.Continue, tree: Tree) -> steps.Stmt:
        return steps.Jump(self.span(node, tree), "break" if type(node) is cst.Break else "continue")

    def scope(self, node: cst.Global | cst.Nonlocal, tree: Tree) -> steps.Stmt:
        names = tuple(_identifier(item.name.value) for item in node.names)
        return steps.Scope(self.span(node, tree), "global" if type(node) is cst.Global else "nonlocal", names)

    def import_(self, node: Any, tree: Tree) -> steps.Stmt:
        modules = tuple((_dotted(alias.name), _bound(alias)) for alias in node.names)
        return steps.Import(self.span(node, tree), modules)

    def import_from(self, node: Any, tree: Tree) -> steps.Stmt:
        names: tuple[tuple[str, str], ...] = (("*", "*"),)
        if type(node.names) is not cst.ImportStar:
            names = tuple((name := _dotted(alias.name), _bound(alias) or name) for alias in node.names)
        module = "" if node.module is None else _dotted(node.module)
        return steps.ImportFrom(self.span(node, tree), module, len(node.relative), names)

    def if_(self, node: cst.If, tree: Tree) -> steps.Stmt:
        test = self.expr(node.test, tree.test)
        body = self.suite(node, tree.body)
        orelse = node.orelse
        branch: steps.Block = ()
        if type(orelse) is cst.If:
            branch = self.block([orelse], tree.orelse)
        elif orelse is not None:
            branch = self.suite(orelse, tree.orelse)
        return steps.If(self.span(node, tree), test, body, branch)

    def for_(self, node: cst.For, tree: Tree) -> steps.Stmt:
        target = self.expr(node.target, tree.target)
        over = self.expr(node.iter, tree.iter)
        body = self.suite(node, tree.body)
        orelse = self.suite(node.orelse, tree.orelse)
        return steps.For(self.span(node, tree), target, over, body, orelse)

    def while_(self, node: cst.While, tree: Tree) -> steps.Stmt:
        test = self.expr(node.test, tree.test)
        body = self.suite(node, tree.body)
        return steps.While(self.span(node, tree), test, body, self.suite(node.orelse, tree.orelse))

    def with_(self, node: cst.With, tree: Tree) -> steps.Stmt:
        items = tuple(
            (
                self.expr(item.item, partner.context_expr),
                self.optional(item.asname and item.asname.name, partner.optional_vars),
            )
            for item, partner in self.pairs(node.items, tree.items)
        )
        return steps.With(self.span(node, tree), items, self.suite(node, tree.body))

    def try_(self, node: cst.Try | cst.TryStar, tree: Tree) -> steps.Stmt:
        body = self.suite(node, tree.body)
        handlers = tuple(
            steps.Handler(
                self.span(handler, partner),
                self.optional(handler.type, partner.type),
                None if handler.name is None else _identifier(handler.name.name.value),
                self.suite(handler, partner.body),
            )
            for handler, partner in self.pairs(node.handlers, tree.handlers)
        )
        orelse = self.suite(node.orelse, tree.orelse)
        final = self.suite(node.finalbody, tree.finalbody)
        return steps.Try(self.span(node, tree), body, handlers, orelse, final)

    def match(self, node: cst.Match, tree: Tree) -> steps.Stmt:
        subject = self.expr(node.subject, tree.subject)
        cases = []
        for case, partner in self.pairs(node.cases, tree.cases):
            names = tuple(_pattern_names(case.pattern))
            pattern = self.span(case.pattern, partner.pattern)
            guard = self.optional(case.guard, partner.guard)
            span = pattern if guard is None else _joined(pattern, guard.span)
            cases.append(steps.Case(span, names, guard, self.suite(case, partner.body)))
        return steps.Match(self.span(node, tree), subject, tuple(cases))

    def function(self, node: cst.FunctionDef, tree: Tree) -> steps.Stmt:
        decorators = self.decorators(node.decorators, tree.decorator_list)
        params = self.params(node.params, tree.args)
        inside: list[steps.Node] = list(params)
        for param in params:
            inside += [step for step in (param.default, param.annotation) if step is not None]
        if node.returns is not None:
            inside.append(self.expr(node.returns.annotation, tree.returns))
        inside += self.type_params(node.type_parameters, tree)
        span = self.header(node, tree, inside)
        outer = self.yields
        self.yields = False
        body = self.suite(node, tree.body)
        is_generator = self.yields
        self.yields = outer
        is_async = node.asynchronous is not None
        return steps.Function(span, _identifier(node.name.value), params, body, decorators, is_async, is_generator)

    def class_(self, node: cst.ClassDef, tree: Tree) -> steps.Stmt:
        decorators = self.decorators(node.decorators, tree.decorator_list)
        bases = self.args((*node.bases, *node.keywords), tree.bases, tree.keywords)
        span = self.header(node, tree, [*bases, *self.type_params(node.type_parameters, tree)])
        return steps.Class(span, _identifier(node.name.value), bases, self.suite(node, tree.body), decorators)

    def decorators(self, nodes: Sequence[cst.Decorator], trees: Tree) -> tuple[steps.Expr, ...]:
        return tuple(self.expr(node.decorator, partner) for node, partner in self.pairs(nodes, trees))

    def type_params(self, node: cst.TypeParameters | None, tree: Tree) -> list[steps.Node]:
        """Where the type parameters are; what they say doesn't matter."""
        if node is None:
            return []
        return [steps.Node(self.span(param, partner)) for param, partner in self.pairs(node.params, tree.type_params)]

    def params(self, node: cst.Parameters, tree: Tree) -> tuple[steps.Param, ...]:
        """The parameters of a function or lambda, in source order."""
        first: Tree = tree.posonlyargs
        second: Tree = tree.args
        early: Tree = tree.defaults
        late: Tree = early
        if type(tree) is not _Same:
            # The defaults belong to the last of the positional parameters.
            defaults = [None] * (len(first) + len(second) - len(early)) + early
            early, late = defaults[: len(first)], defaults[len(first) :]
        groups: list[tuple[str, Sequence[cst.Param], Tree, Tree]] = [
            ("positional-only", node.posonly_params, first, early),
            ("normal", node.params, second, late),
        ]
        if type(node.star_arg) is cst.Param:
            groups.append(("*", [node.star_arg], [tree.vararg], [None]))
        groups.append(("keyword-only", node.kwonly_params, tree.kwonlyargs, tree.kw_defaults))
        if node.star_kwarg is not None:
            groups.append(("**", [node.star_kwarg], [tree.kwarg], [None]))
        found = []
        for kind, params, partners, values in groups:
            for (param, partner), (_, value) in zip(
                self.pairs(params, partners), self.pairs(params, values), strict=False
            ):
                found.append(
                    steps.Param(
                        self.span(param, partner),
                        _identifier(param.name.value),
                        kind,
                        self.optional(param.default, value),
                        self.optional(param.annotation and param.annotation.annotation, partner.annotation),
                    )
                )
        return tuple(found)

    # --- expressions

    def expr(self, node: cst.CSTNode, tree: Tree) -> steps.Expr:
        """The step of an expression."""
        handler, kinds = _EXPRESSIONS.get(type(node), _NO_EXPRESSION)
        if type(tree) not in kinds:
            tree = self.same()
        return handler(self, node, tree)  # type: ignore[no-any-return]

    def optional(self, node: cst.CSTNode | None, tree: Tree) -> steps.Expr | None:
        return None if node is None else self.expr(node, tree)

    def items(self, elements: Sequence[cst.BaseElement], trees: Tree) -> tuple[steps.Expr, ...]:
        """The elements of a display."""
        return tuple(
            self.expr(element.value if type(element) is cst.Element else element, partner)
            for element, partner in self.pairs(elements, trees)
        )

    def name(self, node: cst.Name, tree: Tree) -> steps.Expr:
        span = self.span(node, tree)
        value = node.value
        if value in _NAMED_CONSTANTS:
            return steps.Const(span, _NAMED_CONSTANTS[value])
        return steps.Name(span, _identifier(value))

    def ellipsis(self, node: cst.Ellipsis, tree: Tree) -> steps.Expr:
        return steps.Const(self.span(node, tree), ...)

    def literal(self, node: cst.Integer | cst.Float | cst.Imaginary | cst.SimpleString, tree: Tree) -> steps.Expr:
        value = tree.value if type(tree) is ast.Constant else _literal(node.value)
        return steps.Const(self.span(node, tree), value)

    def concatenated(self, node: cst.ConcatenatedString, tree: Tree) -> steps.Expr:
        leaves: list[cst.CSTNode] = []
        rest: cst.CSTNode = node
        while type(rest) is cst.ConcatenatedString:
            leaves.append(rest.left)
            rest = rest.right
        leaves.append(rest)
        if any(type(leaf) is not cst.SimpleString for leaf in leaves):
            return self.join(node, leaves, tree)
        if type(tree) is ast.Constant:
            return steps.Const(self.span(node, tree), tree.value)
        return steps.Const(self.span(node, tree), _literal(" ".join(leaf.value for leaf in leaves)))  # type: ignore[attr-defined]

    def formatted(self, node: cst.FormattedString | cst.TemplatedString, tree: Tree) -> steps.Expr:
        return self.join(node, [node], tree)

    def join(self, node: cst.CSTNode, leaves: Sequence[Any], tree: Tree) -> steps.Expr:
        """An f-string and the strings beside it; all that is in it has its span."""
        span = self.span(node, tree)
        inside = _Same(span)
        parts: list[steps.Expr] = []
        text: list[str] = []

        def end_text() -> None:
            if text:
                parts.append(steps.Const(span, "".join(text)))
                text.clear()

        for leaf in leaves:
            if type(leaf) is cst.SimpleString:
                value = _literal(leaf.value)
                if isinstance(value, str):
                    text.append(value)
                continue
            for part in leaf.parts:
                if type(part) in _TEXT_PARTS:
                    text.append(_replacement_text(part.value, leaf.start))
                else:
                    end_text()
                    parts += self.replacement(part, inside)
        end_text()
        return steps.Join(span, tuple(parts))

    def replacement(self, part: Any, inside: _Same) -> Iterator[steps.Expr]:
        """The expression of a replacement field, then those of its format."""
        yield self.expr(part.expression, inside)
        for inner in part.format_spec or ():
            if type(inner) not in _TEXT_PARTS:
                yield from self.replacement(inner, inside)

    def attribute(self, node: cst.Attribute, tree: Tree) -> steps.Expr:
        base = self.expr(node.value, tree.value)
        return steps.Attr(self.span(node, tree), base, _identifier(node.attr.value))

    def call(self, node: cst.Call, tree: Tree) -> steps.Expr:
        func = self.expr(node.func, tree.func)
        return steps.Call(self.span(node, tree), func, self.args(node.args, tree.args, tree.keywords))

    def args(self, nodes: Sequence[cst.Arg], positional: Tree, keywords: Tree) -> tuple[steps.Arg, ...]:
        """Arguments in source order; the `ast` keeps those with a keyword (or `**`) apart."""
        if not nodes:
            return ()
        positional, keywords = iter(positional), iter(keywords)
        found = []
        for node in nodes:
            keyword, star = node.keyword, node.star
            if keyword is not None or star == "**":
                partner = next(keywords, None) or self.same()
                value = self.expr(node.value, partner.value)
                span = self.span(node, partner)
            elif star:
                partner = next(positional, None) or self.same()
                value = self.expr(node.value, partner.value)
                span = self.span(node, partner)
            else:
                value = self.expr(node.value, next(positional, None))
                span = value.span
            found.append(steps.Arg(span, value, None if keyword is None else _identifier(keyword.value), star))
        return tuple(found)

    def subscript(self, node: cst.Subscript, tree: Tree) -> steps.Expr:
        base = self.expr(node.value, tree.value)
        elements = node.slice
        first = elements[0]
        index: steps.Expr
        if len(elements) == 1 and type(first.comma) is not cst.Comma and not getattr(first.slice, "star", None):
            index = self.index(first.slice, tree.slice)
        else:
            partners = tree.slice.elts if type(tree.slice) is ast.Tuple else self.inherited(tree)
            items = tuple(self.index(element.slice, partner) for element, partner in self.pairs(elements, partners))
            index = steps.Seq(_joined(items[0].span, items[-1].span), "tuple", items)
        return steps.Index(self.span(node, tree), base, index)

    def inherited(self, tree: Tree) -> _Same:
        return tree if type(tree) is _Same else self.same()

    def index(self, node: cst.BaseSlice, tree: Tree) -> steps.Expr:
        """What stands between the brackets, or one part of it."""
        if type(node) is cst.Slice:
            if type(tree) is not ast.Slice:
                tree = self.inherited(tree)
            return steps.Slice(
                self.span(node, tree),
                self.optional(node.lower, tree.lower),
                self.optional(node.upper, tree.upper),
                self.optional(node.step, tree.step),
            )
        assert type(node) is cst.Index
        if node.star:
            if type(tree) is not ast.Starred:
                tree = self.inherited(tree)
            return steps.Star(self.span(node, tree), self.expr(node.value, tree.value))
        return self.expr(node.value, tree)

    def starred(self, node: cst.StarredElement, tree: Tree) -> steps.Expr:
        return steps.Star(self.span(node, tree), self.expr(node.value, tree.value))

    def sequence(self, node: cst.Tuple | cst.List | cst.Set, tree: Tree) -> steps.Expr:
        return steps.Seq(self.span(node, tree), _KINDS[type(node)], self.items(node.elements, tree.elts))

    def dict(self, node: cst.Dict, tree: Tree) -> steps.Expr:
        items = []
        for (element, key), (_, value) in zip(
            self.pairs(node.elements, tree.keys), self.pairs(node.elements, tree.values), strict=True
        ):
            starred = type(element) is cst.StarredDictElement
            items.append((None if starred else self.expr(element.key, key), self.expr(element.value, value)))
        return steps.Dict(self.span(node, tree), tuple(items))

    def unary(self, node: cst.UnaryOperation, tree: Tree) -> steps.Expr:
        operand = self.expr(node.expression, tree.operand)
        return steps.Op(self.span(node, tree), _OPERATORS[type(node.operator)], (operand,))

    def binary(self, node: cst.BinaryOperation, tree: Tree) -> steps.Expr:
        left = self.expr(node.left, tree.left)
        right = self.expr(node.right, tree.right)
        return steps.Op(self.span(node, tree), _OPERATORS[type(node.operator)], (left, right))

    def boolean(self, node: cst.BooleanOperation, tree: Tree) -> steps.Expr:
        operator = type(node.operator)
        operands = [node.right]
        left = node.left
        while type(left) is cst.BooleanOperation and not left.lpar and type(left.operator) is operator:
            operands.append(left.right)
            left = left.left
        operands.append(left)
        operands.reverse()
        values = tuple(self.expr(operand, partner) for operand, partner in self.pairs(operands, tree.values))
        return steps.Op(self.span(node, tree), _OPERATORS[operator], values)

    def comparison(self, node: cst.Comparison, tree: Tree) -> steps.Expr:
        operands = [self.expr(node.left, tree.left)]
        for target, partner in self.pairs(node.comparisons, tree.comparators):
            operands.append(self.expr(target.comparator, partner))
        operator = _OPERATORS[type(node.comparisons[0].operator)]
        return steps.Op(self.span(node, tree), operator, tuple(operands))

    def ternary(self, node: cst.IfExp, tree: Tree) -> steps.Expr:
        body = self.expr(node.body, tree.body)
        test = self.expr(node.test, tree.test)
        return steps.Ternary(self.span(node, tree), test, body, self.expr(node.orelse, tree.orelse))

    def lambda_(self, node: cst.Lambda, tree: Tree) -> steps.Expr:
        params = self.params(node.params, tree.args)
        outer = self.yields
        body = self.expr(node.body, tree.body)
        self.yields = outer
        return steps.Lambda(self.span(node, tree), params, body)

    def comprehension(self, node: Any, tree: Tree) -> steps.Expr:
        loops = []
        nodes = []
        inner = node.for_in
        while inner is not None:
            nodes.append(inner)
            inner = inner.inner_for_in
        for loop, partner in self.pairs(nodes, tree.generators):
            target = self.expr(loop.target, partner.target)
            over = self.expr(loop.iter, partner.iter)
            tests = tuple(self.expr(test.test, each) for test, each in self.pairs(loop.ifs, partner.ifs))
            last = tests[-1] if tests else over
            loops.append(steps.Comprehension(_joined(target.span, last.span), target, over, tests))
        span = self.span(node, tree)
        if type(node) is cst.DictComp:
            key, element = self.expr(node.key, tree.key), self.expr(node.value, tree.value)
            return steps.Comp(span, "dict", key, element, tuple(loops))
        return steps.Comp(span, _KINDS[type(node)], None, self.expr(node.elt, tree.elt), tuple(loops))

    def named(self, node: cst.NamedExpr, tree: Tree) -> steps.Expr:
        target = self.expr(node.target, tree.target)
        assert isinstance(target, steps.Name)
        return steps.Named(self.span(node, tree), target, self.expr(node.value, tree.value))

    def await_(self, node: cst.Await, tree: Tree) -> steps.Expr:
        return steps.Await(self.span(node, tree), self.expr(node.expression, tree.value))

    def yield_(self, node: cst.Yield, tree: Tree) -> steps.Expr:
        self.yields = True
        value = node.value
        if type(value) is cst.From:
            return steps.Yield(self.span(node, tree), self.expr(value.item, tree.value), True)
        return steps.Yield(self.span(node, tree), self.optional(value, tree.value), False)

    def unknown(self, node: cst.CSTNode, tree: Tree) -> steps.Expr:
        """An expression newer than this converter: a value nothing is known of."""
        return steps.Const(self.span(node, tree), ...)

    def unknown_statement(self, node: cst.CSTNode, tree: Tree) -> None:
        return None


# --- small parts of nodes ------------------------------------------------------------------------------------------

_HEADER_END = re.compile(r"[^:#]*:")
_NOWHERE = cst.Pass()
_NAMED_CONSTANTS = {"None": None, "True": True, "False": False}
_TEXT_PARTS = (cst.FormattedStringText, cst.TemplatedStringText)
_KINDS: dict[type, str] = {
    cst.Tuple: "tuple", cst.List: "list", cst.Set: "set",
    cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator",
}  # fmt: skip
_OPERATORS: dict[type, str] = {
    cst.Plus: "+", cst.Minus: "-", cst.BitInvert: "~", cst.Not: "not", cst.And: "and", cst.Or: "or",
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.LeftShift: "<<", cst.RightShift: ">>", cst.BitOr: "|", cst.BitAnd: "&", cst.BitXor: "^",
    cst.MatrixMultiply: "@",
    cst.LessThan: "<", cst.GreaterThan: ">", cst.Equal: "==", cst.LessThanEqual: "<=", cst.GreaterThanEqual: ">=",
    cst.NotEqual: "!=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is", cst.IsNot: "is not",
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/", cst.ModuloAssign: "%", cst.BitAndAssign: "&", cst.BitOrAssign: "|", cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<", cst.RightShiftAssign: ">>", cst.PowerAssign: "**", cst.FloorDivideAssign: "//",
}  # fmt: skip


def _joined(first: steps.Span, last: steps.Span) -> steps.Span:
    return (first[0], first[1], last[2], last[3])


def _identifier(name: str) -> str:
    """A name as Python compares it."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _dotted(node: cst.CSTNode) -> str:
    parts = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    assert type(node) is cst.Name
    parts.append(node.value)
    return ".".join(_identifier(part) for part in reversed(parts))


def _bound(alias: cst.ImportAlias) -> str | None:
    if alias.asname is None:
        return None
    assert type(alias.asname.name) is cst.Name
    return _identifier(alias.asname.name.value)


def _literal(source: str) -> Any:
    """The value of a literal that has no partner in the `ast` (`...` where Python refuses it)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(source)
    except (SyntaxError, ValueError, MemoryError):
        return ...


def _replacement_text(source: str, start: str) -> str:
    """The text between replacement fields, without escapes."""
    source = source.replace("{{", "{").replace("}}", "}")
    if "\\" not in source or "r" in start.lower():
        return source
    value = _literal(start.lower().replace("f", "").replace("t", "") + source + start.lstrip("fFtTrRbBuU"))
    return value if isinstance(value, str) else source


def _pattern_names(pattern: Any) -> Iterator[str]:
    """The names a pattern of a match statement binds, in source order."""
    kind = type(pattern)
    if kind is cst.MatchAs:
        if pattern.pattern is not None:
            yield from _pattern_names(pattern.pattern)
        if pattern.name is not None:
            yield _identifier(pattern.name.value)
    elif kind is cst.MatchStar:
        if pattern.name is not None:
            yield _identifier(pattern.name.value)
    elif kind in (cst.MatchList, cst.MatchTuple):
        for item in pattern.patterns:
            yield from _pattern_names(item if type(item) is cst.MatchStar else item.value)
    elif kind is cst.MatchMapping:
        for item in pattern.elements:
            yield from _pattern_names(item.pattern)
        if pattern.rest is not None:
            yield _identifier(pattern.rest.value)
    elif kind is cst.MatchClass:
        for item in pattern.patterns:
            yield from _pattern_names(item.value)
        for item in pattern.kwds:
            yield from _pattern_names(item.pattern)
    elif kind is cst.MatchOr and pattern.patterns:
        # Every alternative binds the same names.
        yield from _pattern_names(pattern.patterns[0].pattern)


# --- which method handles which node, and what its `ast` partner may be ---------------------------------------------

_Handler: TypeAlias = Callable[..., Any]


def _table(*rows: tuple[str, _Handler, str]) -> dict[type[cst.CSTNode], tuple[_Handler, frozenset[type]]]:
    """Rows of libcst class names, handler and `ast` class names; classes that an older version lacks are left out."""
    table = {}
    for nodes, handler, trees in rows:
        kinds = frozenset([_Same, *(getattr(ast, tree) for tree in trees.split() if hasattr(ast, tree))])
        for node in nodes.split():
            if hasattr(cst, node):
                table[getattr(cst, node)] = (handler, kinds)
    return table


_EXPRESSIONS = _table(
    ("Name", _Converter.name, "Name Constant"),
    ("Ellipsis", _Converter.ellipsis, "Constant"),
    ("Integer Float Imaginary SimpleString", _Converter.literal, "Constant"),
    ("ConcatenatedString", _Converter.concatenated, "Constant JoinedStr TemplateStr"),
    ("FormattedString TemplatedString", _Converter.formatted, "JoinedStr TemplateStr"),
    ("Attribute", _Converter.attribute, "Attribute"),
    ("Call", _Converter.call, "Call"),
    ("Subscript", _Converter.subscript, "Subscript"),
    ("StarredElement", _Converter.starred, "Starred"),
    ("Tuple", _Converter.sequence, "Tuple"),
    ("List", _Converter.sequence, "List"),
    ("Set", _Converter.sequence, "Set"),
    ("Dict", _Converter.dict, "Dict"),
    ("UnaryOperation", _Converter.unary, "UnaryOp"),
    ("BinaryOperation", _Converter.binary, "BinOp"),
    ("BooleanOperation", _Converter.boolean, "BoolOp"),
    ("Comparison", _Converter.comparison, "Compare"),
    ("IfExp", _Converter.ternary, "IfExp"),
    ("Lambda", _Converter.lambda_, "Lambda"),
    ("ListComp", _Converter.comprehension, "ListComp"),
    ("SetComp", _Converter.comprehension, "SetComp"),
    ("GeneratorExp", _Converter.comprehension, "GeneratorExp"),
    ("DictComp", _Converter.comprehension, "DictComp"),
    ("NamedExpr", _Converter.named, "NamedExpr"),
    ("Await", _Converter.await_, "Await"),
    ("Yield", _Converter.yield_, "Yield YieldFrom"),
)
_STATEMENTS = _table(
    ("Expr", _Converter.expression_statement, "Expr"),
    ("Assign", _Converter.assign, "Assign"),
    ("AnnAssign", _Converter.annotated, "AnnAssign"),
    ("TypeAlias", _Converter.type_alias, "TypeAlias"),
    ("AugAssign", _Converter.augmented, "AugAssign"),
    ("Del", _Converter.delete, "Delete"),
    ("Return", _Converter.return_, "Return"),
    ("Raise", _Converter.raise_, "Raise"),
    ("Assert", _Converter.assert_, "Assert"),
    ("Pass", _Converter.pass_, "Pass"),
    ("Break", _Converter.jump, "Break"),
    ("Continue", _Converter.jump, "Continue"),
    ("Global", _Converter.scope, "Global"),
    ("Nonlocal", _Converter.scope, "Nonlocal"),
    ("Import LazyImport", _Converter.import_, "Import"),
    ("ImportFrom LazyImportFrom", _Converter.import_from, "ImportFrom"),
    ("If", _Converter.if_, "If"),
    ("For", _Converter.for_, "For AsyncFor"),
    ("While", _Converter.while_, "While"),
    ("With", _Converter.with_, "With AsyncWith"),
    ("Try", _Converter.try_, "Try"),
    ("TryStar", _Converter.try_, "TryStar"),
    ("Match", _Converter.match, "Match"),
    ("FunctionDef", _Converter.function, "FunctionDef AsyncFunctionDef"),
    ("ClassDef", _Converter.class_, "ClassDef"),
)
_NO_EXPRESSION: tuple[_Handler, frozenset[type]] = (_Converter.unknown, frozenset([_Same]))
_NO_STATEMENT: tuple[_Handler, frozenset[type]] = (_Converter.unknown_statement, frozenset([_Same]))
