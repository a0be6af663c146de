"""The syntax tree of a text, without noise."""

from __future__ import annotations

import ast
import warnings


def parse(text: str) -> ast.Module | None:
    """The tree, or None where the running Python can't parse the text; no warning is printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
