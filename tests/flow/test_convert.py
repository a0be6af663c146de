"""Source text becomes steps with exact places, and no text brings the parser down."""

import ast
import contextlib
import dataclasses
import gc
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leakcheck.flow import convert, guard, steps
from leakcheck.flow.convert import Cut, SyntaxProblem, TooMuch, parse, parse_prefix


def every_node(thing: Any) -> Iterator[steps.Node]:
    if isinstance(thing, steps.Node):
        yield thing
        thing = tuple(getattr(thing, field.name) for field in dataclasses.fields(thing) if field.name != "span")
    if isinstance(thing, tuple):
        for part in thing:
            yield from every_node(part)


def outline(thing: Any) -> Any:
    """Steps without places, as nested tuples a person can read."""
    if isinstance(thing, steps.Node):
        fields = [getattr(thing, field.name) for field in dataclasses.fields(thing) if field.name != "span"]
        return (type(thing).__name__, *(outline(field) for field in fields))
    return tuple(outline(part) for part in thing) if isinstance(thing, tuple) else thing


def expression(source: str) -> Any:
    (statement,) = parse(source)
    assert isinstance(statement, steps.ExprStmt)
    return outline(statement.value)


def segment(text: str, span: steps.Span) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[span[0] - 1 : span[2]]
    lines[-1] = lines[-1][: span[3] - 1]
    lines[0] = lines[0][span[1] - 1 :]
    return "\n".join(lines)


def name(value: str) -> tuple[str, str]:
    return ("Name", value)


A, B, C, D = (name(letter) for letter in "abcd")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("(a)", A),
        ("'x' \"y\" r'\\z'", ("Const", "xy\\z")),
        ("b'x' b'y'", ("Const", b"xy")),
        ("None", ("Const", None)),
        ("...", ("Const", ...)),
        ("-1", ("Op", "-", (("Const", 1),))),
        ("a.b[c]", ("Index", ("Attr", A, "b"), C)),
        ("a[b:, ::c]", ("Index", A, ("Seq", "tuple", (("Slice", B, None, None), ("Slice", None, None, C))))),
        ("a[b,]", ("Index", A, ("Seq", "tuple", (B,)))),
        ("a[(b, c)]", ("Index", A, ("Seq", "tuple", (B, C)))),
        ("a[*b]", ("Index", A, ("Seq", "tuple", (("Star", B),)))),
        (
            "a(b, c=d, *b, **c)",
            ("Call", A, (("Arg", B, None, ""), ("Arg", D, "c", ""), ("Arg", B, None, "*"), ("Arg", C, None, "**"))),
        ),
        ("a or b or (c or d)", ("Op", "or", (A, B, ("Op", "or", (C, D))))),
        ("(a or b) or c", ("Op", "or", (("Op", "or", (A, B)), C))),
        ("a and b or c", ("Op", "or", (("Op", "and", (A, B)), C))),
        ("a < b <= c", ("Op", "<", (A, B, C))),
        ("a not in b", ("Op", "not in", (A, B))),
        ("a is not b", ("Op", "is not", (A, B))),
        ("a - b - c", ("Op", "-", (("Op", "-", (A, B)), C))),
        ("a if b else c", ("Ternary", B, A, C)),
        ("{a: b, **c}", ("Dict", ((A, B), (None, C)))),
        ("{*a, b}", ("Seq", "set", (("Star", A), B))),
        ("()", ("Seq", "tuple", ())),
        ("(a := b)", ("Named", A, B)),
        (
            "lambda a, /, b=c, *d: b",
            (
                "Lambda",
                (
                    ("Param", "a", "positional-only", None, None),
                    ("Param", "b", "normal", C, None),
                    ("Param", "d", "*", None, None),
                ),
                B,
            ),
        ),
        (
            "[a for a in b if c if d for b in a]",
            ("Comp", "list", None, A, (("Comprehension", A, B, (C, D)), ("Comprehension", B, A, ()))),
        ),
        ("{a: b for c in d}", ("Comp", "dict", A, B, (("Comprehension", C, D, ()),))),
        (
            "f'x{{{a!r:>{b}}\\t' 'y' f'{c=}'",
            ("Join", (("Const", "x{"), A, B, ("Const", "\ty"), C)),
        ),
        ("f'{a:{b}.{c}}'", ("Join", (A, B, C))),
        ("await a", ("Await", A)),
    ],
)
def test_expressions(source: str, expected: Any) -> None:
    assert expression(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b = c", [("Assign", (A, B), C)]),
        ("a, (b, *c) = d", [("Assign", (("Seq", "tuple", (A, ("Seq", "tuple", (B, ("Star", C))))),), D)]),
        ("a: b = c", [("Assign", (A,), C)]),
        ("a: b", [("Declare", A, B)]),
        ("a //= b; a @= c", [("AugAssign", A, "//", B), ("AugAssign", A, "@", C)]),
        ("del a, b", [("Delete", (A, B))]),
        ("pass", []),
        (
            "if a: b\nelif c: d\nelse: a",
            [("If", A, (("ExprStmt", B),), (("If", C, (("ExprStmt", D),), (("ExprStmt", A),)),))],
        ),
        (
            "for a in b:\n  break\nelse:\n  c",
            [("For", A, B, (("Jump", "break"),), (("ExprStmt", C),))],
        ),
        ("while a:\n  continue\nelse: b", [("While", A, (("Jump", "continue"),), (("ExprStmt", B),))]),
        ("with a as b, c: pass", [("With", ((A, B), (C, None)), ())]),
        ("with (a as b, c,): pass", [("With", ((A, B), (C, None)), ())]),
        (
            "try: a\nexcept b as e: c\nexcept: d\nelse: b\nfinally: a",
            [
                (
                    "Try",
                    (("ExprStmt", A),),
                    (("Handler", B, "e", (("ExprStmt", C),)), ("Handler", None, None, (("ExprStmt", D),))),
                    (("ExprStmt", B),),
                    (("ExprStmt", A),),
                )
            ],
        ),
        ("try: a\nexcept* b: c", [("Try", (("ExprStmt", A),), (("Handler", B, None, (("ExprStmt", C),)),), (), ())]),
        (
            "match a:\n case [x, *y, {'k': z, **w}] if b: c\n case K(p, q=r) | p as s: pass\n case _: pass",
            [
                (
                    "Match",
                    A,
                    (
                        ("Case", ("x", "y", "z", "w"), B, (("ExprStmt", C),)),
                        ("Case", ("p", "r", "s"), None, ()),
                        ("Case", (), None, ()),
                    ),
                )
            ],
        ),
        ("global a, b", [("Scope", "global", ("a", "b"))]),
        ("import a.b as c, d.e", [("Import", (("a.b", "c"), ("d.e", None)))]),
        ("from ..a.b import c as d, e", [("ImportFrom", "a.b", 2, (("c", "d"), ("e", "e")))]),
        ("from . import *", [("ImportFrom", "", 1, (("*", "*"),))]),
        ("return a", [("Return", A)]),
        ("raise a from b", [("Raise", A)]),
        ("assert a, b", [("Assert", A)]),
        ("'''doc'''", [("ExprStmt", ("Const", "doc"))]),
        ("type a[T] = b", [("Assign", (A,), B)]),
    ],
)
def test_statements(source: str, expected: Any) -> None:
    assert list(outline(parse(source))) == expected


def test_function_and_class_spans_end_at_the_colon_of_the_header() -> None:
    text = "@a\nasync def f(x: int = {1: 2},  # a: b\n      ) -> 'r: s':  # c:\n    pass\nclass A(b, k=c): d = 1\n"
    function, class_ = parse(text)
    assert isinstance(function, steps.Function)
    assert isinstance(class_, steps.Class)
    assert function.span == (2, 1, 3, 19)
    assert function.is_async
    assert outline(function.decorators) == (A,)
    assert segment(text, class_.span) == "class A(b, k=c):"
    assert outline(class_.bases) == (("Arg", B, None, ""), ("Arg", C, "k", ""))


def test_only_a_functions_own_yields_make_it_a_generator() -> None:
    (outer,) = parse("def f():\n def g(x=(yield)):\n  return lambda: (yield)\n def h(): yield from a\n")
    assert isinstance(outer, steps.Function)
    inner = [step for step in outer.body if isinstance(step, steps.Function)]
    assert (outer.is_generator, [step.is_generator for step in inner]) == (True, [False, True])
    (plain,) = parse("def f():\n def g(): yield\n lambda: (yield)\n")
    assert isinstance(plain, steps.Function)
    assert not plain.is_generator


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\r\ny = f(a)\r\n",
        "x = 1\ry = f(a)\r",
        "\ufeffx = 1\ny = f(a)\n",
        "x = 1\x0c\ny = f(a)\n",
        "x = '\u2028'\ny = f(a)",
    ],
)
def test_lines_are_counted_as_python_counts_them(text: str) -> None:
    assert parse(text)[1].span == (2, 1, 2, 9)


def test_columns_are_characters() -> None:
    (step,) = parse("é, y = 'ü', b['ö'].c\n")
    assert isinstance(step, steps.Assign)
    assert step.value.span == (1, 8, 1, 21)


def test_identifiers_are_compared_as_python_compares_them() -> None:
    assert expression("ﬁt") == name("fit")


def test_all_in_an_f_string_has_its_place() -> None:
    (step,) = parse("x = f'a{b.c}' \\\n  'd'\n")
    assert isinstance(step, steps.Assign)
    assert {node.span for node in every_node(step.value)} == {(1, 5, 2, 6)}


# --- places against the ast, over files nobody wrote for this test

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])
SAMPLE = [
    "argparse.py", "ast.py", "dataclasses.py", "typing.py", "unittest/mock.py", "asyncio/tasks.py", "statistics.py",
    "test/test_patma.py", "test/test_fstring.py", "test/test_named_expressions.py",
    "test/test_positional_only_arg.py", "test/test_except_star.py", "test/test_unicode_identifiers.py",
]  # fmt: skip
SAMPLED = [path for part in SAMPLE if (path := STANDARD_LIBRARY / part).exists()]


def check_places(text: str, block: steps.Block) -> None:
    for node in every_node(block):
        part = segment(text, node.span)
        if isinstance(node, steps.Name | steps.Attr | steps.Call | steps.Const) and part[:2].lower().strip("r") != "f":
            try:
                tree: Any = ast.parse(f"({part})", mode="eval").body
            except SyntaxError:
                tree = None  # in an f-string
            if isinstance(tree, ast.JoinedStr):
                continue
            assert isinstance(tree, ast.AST), (node, part)
            found: Any = None
            if isinstance(node, steps.Name):
                found, wanted = getattr(tree, "id", None), node.id
            elif isinstance(node, steps.Attr):
                found, wanted = getattr(tree, "attr", None), node.name
            elif isinstance(node, steps.Call):
                found, wanted = type(tree).__name__, "Call"
            else:
                found, wanted = repr(getattr(tree, "value", None)), repr(node.value)
            assert found == wanted, (node.span, part)


@pytest.mark.parametrize("path", SAMPLED, ids=lambda path: path.name)
def test_places_cut_out_what_the_step_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    check_places(text, parse(text))


@pytest.mark.parametrize("path", SAMPLED[:4], ids=lambda path: path.name)
def test_places_of_newer_syntax_agree_with_those_of_the_ast(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    fast = parse(text)
    monkeypatch.setattr(convert, "_syntax_tree", lambda text: (None, SyntaxError("newer syntax")))
    slow = parse(text)
    assert outline(slow) == outline(fast)
    kinds = steps.Name | steps.Attr | steps.Call | steps.Function | steps.Class
    places = [
        [node.span for node in every_node(tuple(s for s in block)) if isinstance(node, kinds)] for block in (fast, slow)
    ]
    inside = {node.span for node in every_node(fast) if isinstance(node, steps.Join)}
    assert [a for a in places[0] if a not in inside] == [
        b for a, b in zip(places[0], places[1], strict=True) if a not in inside
    ]


def test_newer_syntax_than_the_running_python_keeps_its_places() -> None:
    text = "import a\ntype T = list[int]\ndef g[K: int](x: K) -> K:\n    return h(x, (1, 2))\n"
    block = parse(text)
    function = block[2]
    assert isinstance(function, steps.Function)
    assert segment(text, function.span) == "def g[K: int](x: K) -> K:"
    (back,) = function.body
    assert isinstance(back, steps.Return)
    assert isinstance(back.value, steps.Call)
    assert segment(text, back.value.args[1].span) == "(1, 2)"


ATOMS = st.sampled_from(["a", "é", "'ß'", "1", "None", "f'{a}'", "...", "'x' 'y'"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("({}).b".format, inner),
        st.builds("a({}, *{}, k={}, **{})".format, inner, inner, inner, inner),
        st.builds("a[{}:{}, {}]".format, inner, inner, inner),
        st.builds("({} not in {} < {})".format, inner, inner, inner),
        st.builds("({} or {} or not {})".format, inner, inner, inner),
        st.builds("({}\n + {})".format, inner, inner),
        st.builds("(lambda x={}, *y, z={}: {})".format, inner, inner, inner),
        st.builds("[{} for a in ({}) if {}]".format, inner, inner, inner),
        st.builds("{{{}: {}, **{}}}".format, inner, inner, inner),
        st.builds("(a := {})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS)
def test_places_of_any_expression(source: str) -> None:
    text = f"x = ({source})\n"
    check_places(text, parse(text))


# --- what can't be parsed


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\nprint 'a'\n", 2),
        ("try:\n    pass\nexcept ValueError, e:\n    print e\n", 3),
        ("x = `a`\n", 1),
        ("exec 'a'\n", 1),
        ("if a <> b: pass\n", 1),
        ("x = 0777\n", 1),
        ("raise ValueError, 'a'\n", 1),
    ],
)
def test_python_2_is_called_by_its_name(text: str, line: int) -> None:
    with pytest.raises(SyntaxProblem, match="Python 2") as caught:
        parse(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("x = 1\ny = (\n", "never closed", 2),
        ("x = 1\n  y = 2\n", "indent", 2),
        ("if a:\n\tb\n        c\n", "tabs and spaces", 3),
        ("x = 1\ny = '\0'\n", "NUL", 2),
        ("x = 1\ny = '\udc80'\n", "Unicode", 2),
        ("x = = 1\n", "not valid Python", 1),
        ("x = df[df.day > '2020-01-01'\n", "never closed", 1),
        ("Use `fit` before `score`.\n", "not valid Python", 1),
        ("y = 1\n(x): int\n", "parser doesn't know", 2),
    ],
)
def test_problems_say_what_and_where(text: str, message: str, line: int) -> None:
    with pytest.raises(SyntaxProblem, match=message) as caught:
        parse(text)
    assert caught.value.line == line
    assert "Python 2" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a = 1\nb = 2\nc = (\n", 2),
        ("a = 1\nif a:\n    b\n  c\nd = 1\n", 1),
        ("a = 1\n@d\ndef f(:\n    pass\n", 1),
        ("a = f(1,\n      2)\nb = ''' x\n y\n z\n", 1),
        ("a = 1\r\nb = = 2\r\nc = 3\r\n", 1),
        ("a = = 1\n", 0),
        ("a = 1\nb = 2\n", 2),
    ],
)
def test_the_statements_before_the_broken_one_are_kept(text: str, count: int) -> None:
    block, problem = parse_prefix(text)
    assert len(block) == count
    assert (problem is None) == (text == "a = 1\nb = 2\n")


# --- what would bring the parser down


def long_chain(operator: str) -> str:
    return operator.join(["a"] * 5000)


@pytest.mark.parametrize(
    ("statement", "step", "line_after"),
    [
        (f"x = {long_chain(' + ')}", "Assign", 3),
        ("x = (" + long_chain(" +\n  ") + ")", "Assign", 5002),
        ("x = " + long_chain(" + \\\n"), "Assign", 5002),
        (f"x = g(b, [{long_chain(' ** ')}], c)", "Assign", 3),
        (f"x += {long_chain(' | ')}", "AugAssign", 3),
        (f"if {long_chain(' and ')}: pass", "If", 3),
        (f"for i in {long_chain(' + ')}: pass", "For", 3),
        (f"x = a{'.b()' * 3000}", "Assign", 3),
        (f"x = {'f(' * 300}1{')' * 300}", "Assign", 3),
        (f"x = {'not ' * 3000}a", "Assign", 3),
        (f"x = f'{{{long_chain(' + ')}}}'", "Assign", 3),
        (f"x = [{'1, ' * 100_000}]", "Assign", 3),
    ],
    ids=lambda value: str(value)[:12],
)
def test_what_is_too_long_is_cut_out_and_said(statement: str, step: str, line_after: int) -> None:
    cuts: list[Cut] = []
    block = parse(f"y = 1\n{statement}\nz = 2\n", cuts)
    assert [type(part).__name__ for part in block] == ["Assign", step, "Assign"]
    assert block[2].span == (line_after, 1, line_after, 6)
    assert [cut.line for cut in cuts] == [2]


def test_what_stands_beside_a_long_chain_is_kept() -> None:
    (step,) = parse(f"x = g(b, [{long_chain(' + ')}], c)")
    assert isinstance(step, steps.Assign)
    arg = ("Arg", ("Seq", "list", (("Const", None),)), None, "")
    assert outline(step.value) == ("Call", name("g"), (("Arg", B, None, ""), arg, ("Arg", C, None, "")))


def test_long_but_reasonable_code_is_left_alone() -> None:
    cuts: list[Cut] = []
    chain = " + ".join(["a"] * 150)
    strings = "\n".join(["f'{a}'"] * 900)
    text = f"x = {chain}\ny = ({strings})\nz = {'f(' * 50}1{')' * 50}\n"
    block = parse(text, cuts)
    assert cuts == []
    assert isinstance(block[1], steps.Assign)
    assert isinstance(block[1].value, steps.Join)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * (guard.MAX_CHARACTERS // 6 + 1),
        "[" * 5000,
        "x = f(\n" * 400,
        "if a: pass\n" + "elif b: pass\n" * 1000,
        "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "pass\n",
        "type X = int\n" + "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "pass\n",
        "x = " + "lambda: " * 3000 + "1",
    ],
    ids=["size", "brackets", "unclosed", "elif", "blocks", "blocks of newer syntax", "lambda"],
)
def test_what_cannot_be_cut_is_refused(text: str) -> None:
    with pytest.raises(TooMuch):
        parse(text)


@pytest.mark.parametrize("text", ["x = 1", "x = (", "[" * 5000])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(text: str, enabled: bool) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with contextlib.suppress(SyntaxProblem, TooMuch):
            parse(text)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_a_cell_that_is_indented_as_a_whole_keeps_its_places() -> None:
    block, problem = parse_prefix("\n    # as pasted\n    größe = scale(x)\n    for row in rows:\n        use(row)\n")
    assert problem is None
    assert [statement.span for statement in block] == [(3, 5, 3, 21), (4, 5, 5, 17)]


def test_an_indent_that_python_and_notebooks_refuse_is_reported() -> None:
    _, problem = parse_prefix("x = 1\n    y = 2\n")
    assert problem is not None and problem.line == 2
