"""What the groups of operations have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from leakcheck.flow.values import Value

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Interpreter


class Operations:
    """A group of operations; `i` is the interpreter, through which the groups reach each other."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.i = interpreter
        self.heap = interpreter.heap


def handlers(prefix: str, *groups: Operations) -> dict[str, Callable[..., Value]]:
    """The methods of the groups whose names start with the prefix, by the rest of the name."""
    return {
        name[len(prefix) :]: getattr(group, name)
        for group in groups
        for name in vars(type(group))
        if name.startswith(prefix)
    }
