"""Keep from the parser what would crash it or hold it up: text too large, nested too deep, chains too long.

The native parser recurses on the machine's stack (300 brackets overflow one of 2 MB, and nothing catches that) and is
quadratic in the length of a chain of operators. A chain or nest over the limit is cut out of the text, in place, and
`None` stands for it, so that the rest of the file is still analysed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHARACTERS = 5_000_000
MAX_BRACKETS = 100
MAX_ELIFS = 200
# Adjacent strings join cheaply and count one; an operator, an attribute or a call counts five.
OPERATOR_WEIGHT = 5
MAX_WEIGHT = 200 * OPERATOR_WEIGHT

_STRING = (
    r"""'{3}(?:[^\\']|\\.|'(?!''))*+'{3}|"{3}(?:[^\\"]|\\.|"(?!""))*+"{3}|'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+\""""
)
# No line inside brackets starts with one of these words: a scan that lost count of the brackets recovers there.
_STATEMENT_WORD = r"(?:class|def|import|with|while|try|return|assert|raise|pass|del|global)\b"
_TOKEN = re.compile(
    rf"""
    (?P<string>{_STRING})
    | \#[^\n]* | \\.
    | (?P<open>[(\[{{])
    | (?P<close>[)\]}}])
    | (?P<statement>\n[ \t]*(?={_STATEMENT_WORD}))
    | (?P<line>\n)
    | (?P<operator>[=<>!]= | -> | (?:\*\*|//|<<|>>|[-+*/%@&|^~<>])(?!=) | \.(?=\s*[^\W\d])
        | \b(?:and|or|not|in|is|if|else|for|await)\b)
    | (?P<nested>\blambda\b)
    | (?P<comma>,)
    | (?P<stop>[:;=])
    """,
    re.VERBOSE | re.DOTALL,
)
# What opens a statement and must stay when the expression behind it is cut.
_KEYWORD = re.compile(
    r"\s*(?:(?:if|elif|while|return|assert|raise|with|yield|del|await|(?:async\s+)?for\b[^\n]*?\bin)\b\s*)?"
)
_ELIF = re.compile(r"\n[ \t]*elif\b")


class TooMuch(Exception):  # noqa: N818  (a limit, not a fault of the program)
    """The text passes a limit of the analysis.

    Parameters
    ----------
    message : str
        One sentence that names the limit.
    line : int
        Line, counted from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        self.message = message
        self.line = line
        super().__init__(f"line {line}: {message}")


@dataclass(frozen=True, slots=True)
class Cut:
    """An expression that was left out of the analysis: the line where it starts and why."""

    line: int
    message: str


@dataclass(slots=True)
class _Frame:
    """What is counted between two brackets since the last comma, colon or equals sign."""

    start: int
    weight: int = 0
    lambdas: int = 0


def cut_chains(text: str, tree: ast.Module | None) -> tuple[str, tuple[Cut, ...]]:
    """Replace expressions that are too long or too deep for the parser by ``None``.

    Parameters
    ----------
    text : str
        Python source with ``\\n`` as line ends.
    tree : ast.Module, optional
        Its syntax tree where there is one: then only statements long enough to matter are read.

    Returns
    -------
    text : str
        Text of the same length with the same line ends.
    cuts : tuple of Cut
        What was left out.

    Raises
    ------
    TooMuch
        The text passes a limit and nothing in it can be cut.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooMuch(f"the file has more than {MAX_CHARACTERS:,} characters", 1)
    if tree is not None:
        regions = list(_long_statements(text, tree))
    else:
        regions = [(0, len(text))]
        if len(_ELIF.findall(text)) > MAX_ELIFS:
            raise TooMuch(f"the file has more than {MAX_ELIFS} elif branches", 1)
    cuts = []
    for start, end in regions:
        for left, right in _chains(text, start, end):
            cuts.append(Cut(text.count("\n", 0, left) + 1, "an expression too long or too deep to analyse is left out"))
            text = text[:left] + _blank(text[left:right]) + text[right:]
    return text, tuple(cuts)


def _long_statements(text: str, tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Offsets of simple statements and headers with room for a chain over the limit, by whole lines."""
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    starts.append(len(text) + 1)
    shortest = 2 * MAX_BRACKETS
    stack: list[ast.AST] = list(reversed(tree.body))
    elifs: dict[ast.AST, int] = {}
    done = 0
    while stack:
        node = stack.pop()
        body: list[ast.stmt] | None = getattr(node, "body", None)
        decorators = getattr(node, "decorator_list", None)
        first: int = decorators[0].lineno if decorators else node.lineno  # type: ignore[attr-defined]
        last: int = body[0].lineno if body else node.end_lineno  # type: ignore[attr-defined]
        start = max(done, starts[first - 1])
        end = starts[last] - 1
        if end - start > shortest:
            yield start, end
            done = end
        if body:
            orelse = getattr(node, "orelse", ())
            if type(node) is ast.If and len(orelse) == 1 and type(orelse[0]) is ast.If:
                elifs[orelse[0]] = elifs.get(node, 0) + 1
                if elifs[orelse[0]] > MAX_ELIFS:
                    raise TooMuch(f"more than {MAX_ELIFS} elif branches", node.lineno)
            stack += reversed([*body, *getattr(node, "handlers", ()), *orelse, *getattr(node, "finalbody", ())])
        for case in reversed(getattr(node, "cases", ())):
            stack += reversed(case.body)


def _chains(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Offsets of the expressions over the limit in a piece of text, outermost only."""
    found: list[tuple[int, int]] = []
    frames = [_Frame(start)]
    above = 0  # weight of the frames around the current one

    def close(frame: _Frame, at: int, depth: int) -> None:
        if frame.weight <= MAX_WEIGHT:
            return
        left = frame.start
        if depth == 1 and (keyword := _KEYWORD.match(text, left, at)):
            left = keyword.end()
        while found and found[-1][0] >= left:
            found.pop()
        found.append((left, at))

    for match in _TOKEN.finditer(text, start, end):
        kind = match.lastgroup
        if kind is None:
            continue
        frame = frames[-1]
        if kind == "string":
            frame.weight += 1
        elif kind == "operator":
            frame.weight += OPERATOR_WEIGHT
        elif kind == "nested":
            frame.lambdas += 1
            if frame.lambdas > MAX_BRACKETS:
                frames[0].weight = MAX_WEIGHT + 1
        elif kind == "open":
            frame.weight += OPERATOR_WEIGHT
            above += frame.weight
            frames.append(_Frame(match.end()))
            if len(frames) > MAX_BRACKETS or above > 2 * MAX_WEIGHT:
                frames[0].weight = MAX_WEIGHT + 1
        elif kind == "close":
            if len(frames) > 1:
                close(frame, match.start(), len(frames))
                frames.pop()
                above -= frames[-1].weight
        elif kind == "comma" or kind == "stop":
            close(frame, match.start(), len(frames))
            frame.start = match.end()
            frame.weight = 0
            if kind == "comma":
                frame.lambdas = 0
        elif len(frames) == 1 or kind == "statement":
            close(frames[0], match.start(), 1)
            frames = [_Frame(match.end())]
            above = 0
    close(frames[0], end, 1)
    return found


def _blank(piece: str) -> str:
    """`(None)` and blanks, as long as the piece and with its line ends (`()` where no line has room for the name)."""
    core = piece.strip()
    at = piece.index(core)
    inside = re.sub(r"[^\n]", " ", core[1:-1])
    inside = re.sub(" {4}", "None", inside, count=1)
    return piece[:at] + "(" + inside + ")" + piece[at + len(core) :]
