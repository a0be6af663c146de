"""Scripts exported from notebooks: code that stands in a string given to a magic is put back as code."""

from __future__ import annotations

import ast
import re

from leakcheck.project.magics import blank_magics
from leakcheck.project.syntax import parse

_CALL = re.compile(r"get_ipython\(\)\s*\.\s*(?:run_cell_magic|run_line_magic|magic)\s*\(")


def inline_magic_code(text: str) -> str:
    """Replace `get_ipython().run_cell_magic("time", "", "...")` by the code it runs.

    The code goes on the line of the call, its statements joined by semicolons; code with blocks can't be put on one
    line and stays a string. A file that can't be parsed comes back as it is.
    """
    if not _CALL.search(text):
        return text
    tree = parse(text)
    if tree is None:
        return text
    lines = text.split("\n")
    for node in reversed([node for node in ast.walk(tree) if isinstance(node, ast.Expr)]):
        code = _magic_code(node.value)
        if code is None:
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        head = lines[first].encode()[: node.col_offset].decode()
        tail = lines[last].encode()[node.end_col_offset :].decode()
        lines[first : last + 1] = [head + code + tail] + [""] * (last - first)
    return "\n".join(lines)


def _magic_code(call: ast.expr) -> str | None:
    """The code that a magic call runs, on one line; None where it runs none."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    texts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    if len(texts) != len(call.args) or not all(isinstance(text, str) for text in texts) or not texts:
        return None
    words = [str(text) for text in texts]
    if call.func.attr == "run_cell_magic" and len(words) == 3:
        cell = f"%%{words[0]} {words[1]}\n{words[2]}"
    elif call.func.attr == "run_line_magic" and len(words) == 2:
        cell = f"%{words[0]} {words[1]}"
    elif call.func.attr == "magic":
        cell = f"%{words[0]}"
    else:
        return None
    tree = parse(blank_magics(cell))
    if tree is None:
        return None
    if any(hasattr(statement, "body") for statement in tree.body):
        return None
    return "; ".join(ast.unparse(statement) for statement in tree.body) or "pass"
