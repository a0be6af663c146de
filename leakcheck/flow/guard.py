"""Keep from the parser what would crash it or hold it up: text too large, nested too deep, chains or displays too long.

The native parser recurses on the machine's stack (300 brackets or 90 blocks overflow one of 2 MB, and nothing catches
that), is quadratic in the length of a chain of operators and takes 50 microseconds for a number in a list. A chain or
nest over the limit is cut out of the text, in place, and `None` stands for it; a long display loses its end. So the
rest of the file is still analysed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_CHARACTERS = 5_000_000
MAX_BRACKETS = 60
MAX_BLOCKS = 30
MAX_ELIFS = 200
MAX_ITEMS = 1000
# Adjacent strings join cheaply and count one; an operator, an attribute or a call counts five.
OPERATOR_WEIGHT = 5
MAX_WEIGHT = 200 * OPERATOR_WEIGHT
# No text shorter than this holds brackets or operators over the limits.
SHORTEST = 2 * MAX_BRACKETS

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
# A replacement field of an f-string with room for what is over a limit.
_LONG_FIELD = re.compile(rf"(?<!\{{)\{{[^{{}}]{{{SHORTEST},}}")
_BLOCK = re.compile(r"^([ \t]*)(?:async|if|for|while|with|try|def|class|match|case)\b", re.MULTILINE)
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
    items: int = 0
    rest: int = 0  # where the items over the limit start


def check_size(text: str) -> None:
    """Refuse text over `MAX_CHARACTERS`.

    Raises
    ------
    TooMuch
    """
    if len(text) > MAX_CHARACTERS:
        raise TooMuch(f"the file has more than {MAX_CHARACTERS:,} characters", 1)


def cut_excess(text: str, tree: ast.Module | None) -> tuple[str, tuple[Cut, ...]]:
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
    if tree is not None:
        regions = list(_long_statements(text, tree))
    else:
        _check_blocks(text)
        regions = [(0, len(text))]
    cuts: list[Cut] = []
    pieces: list[str] = []
    done, line = 0, 1
    for start, end in regions:
        for found in _excesses(text, start, end):
            line += text.count("\n", done, found.start)
            cuts.append(Cut(line, found.message))
            piece = text[found.start : found.end]
            line += piece.count("\n")
            pieces += [text[done : found.start], _blank(piece, found.stand_in)]
            done = found.end
    if not cuts:
        return text, ()
    return "".join([*pieces, text[done:]]), tuple(cuts)


def _check_blocks(text: str) -> None:
    """Refuse blocks nested too deep in a text without a syntax tree, by the indentation of lines."""
    if len(_ELIF.findall(text)) > MAX_ELIFS:
        raise TooMuch(f"more than {MAX_ELIFS} elif branches", 1)
    indents: list[int] = []
    for match in _BLOCK.finditer(text):
        indent = len(match[1].expandtabs())
        while indents and indents[-1] >= indent:
            indents.pop()
        indents.append(indent)
        if len(indents) > MAX_BLOCKS:
            raise TooMuch(f"blocks nested more than {MAX_BLOCKS} deep", text.count("\n", 0, match.start()) + 1)


def _long_statements(text: str, tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Offsets of the simple statements and headers with room for what is over a limit, by whole lines."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    done = 0
    # A statement, how many blocks it is in, and of how many `if` it is the `elif`.
    stack: list[tuple[Any, int, int]] = [(node, 0, 0) for node in reversed(tree.body)]
    while stack:
        node, depth, elifs = stack.pop()
        if elifs > MAX_ELIFS:
            raise TooMuch(f"more than {MAX_ELIFS} elif branches", node.lineno)
        if depth > MAX_BLOCKS:
            raise TooMuch(f"blocks nested more than {MAX_BLOCKS} deep", node.lineno)
        body: list[Any] = getattr(node, "body", [])
        last: int = node.end_lineno
        if body and not lines[body[0].lineno - 1][: body[0].col_offset].strip():
            last = _first_line(body[0]) - 1
        start, end = max(done, starts[_first_line(node) - 1]), starts[last] - 1
        if end - start > SHORTEST:
            yield start, end
            done = end
        if not body and not isinstance(node, ast.Match):
            continue
        orelse: list[Any] = getattr(node, "orelse", [])
        if isinstance(node, ast.If) and len(orelse) == 1 and isinstance(orelse[0], ast.If):
            is_elif = orelse[0].col_offset == node.col_offset
            later = [(orelse[0], depth + (not is_elif), elifs + 1 if is_elif else 0)]
        else:
            later = [(inner, depth + 1, 0) for inner in orelse]
        later += [(inner, depth + 1, 0) for inner in getattr(node, "finalbody", [])]
        inside = [*body, *getattr(node, "handlers", [])]
        for case in getattr(node, "cases", []):
            inside += case.body
        stack += reversed([*((inner, depth + 1, 0) for inner in inside), *later])


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Excess:
    """A piece of text over a limit, and what is put in its place (blanks where that is empty)."""

    start: int
    end: int
    stand_in: str
    message: str


def _excesses(text: str, start: int, end: int) -> list[_Excess]:
    """What is over a limit in a piece of text, outermost only."""
    found: list[_Excess] = []
    frames = [_Frame(start)]
    above = 0  # weight of the frames around the current one

    def add(excess: _Excess) -> None:
        while found and found[-1].start >= excess.start:
            found.pop()
        found.append(excess)

    def end_chain(frame: _Frame, at: int) -> None:
        if frame.weight > MAX_WEIGHT:
            left = frame.start
            if frame is frames[0] and (keyword := _KEYWORD.match(text, left, at)):
                left = keyword.end()
            add(_Excess(left, at, "None", "an expression too long or too deep is left out of the analysis"))

    for match in _TOKEN.finditer(text, start, end):
        kind = match.lastgroup
        if kind is None:
            continue
        frame = frames[-1]
        if kind == "string":
            frame.weight += 1
            if match.end() - match.start() > SHORTEST and text[match.start() - 1] in "fFtTrR":
                for field in _LONG_FIELD.finditer(text, match.start(), match.end()):
                    if _excesses(text, field.start() + 1, field.end()):
                        frame.weight = MAX_WEIGHT + 1
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
                end_chain(frame, match.start())
                if frame.rest:
                    message = f"only the first {MAX_ITEMS:,} items between these brackets are analysed"
                    add(_Excess(frame.rest, match.start(), "", message))
                frames.pop()
                above -= frames[-1].weight
        elif kind == "comma" or kind == "stop":
            end_chain(frame, match.start())
            frame.start = match.end()
            frame.weight = 0
            if kind == "comma":
                frame.lambdas = 0
                frame.items += 1
                if frame.items == MAX_ITEMS:
                    frame.rest = match.end()
        elif len(frames) == 1 or kind == "statement":
            end_chain(frames[0], match.start())
            frames = [_Frame(match.end())]
            above = 0
    if len(frames) > 1 and frames[0].weight > MAX_WEIGHT:
        raise TooMuch("brackets nested too deep, or never closed", text.count("\n", 0, frames[0].start) + 1)
    end_chain(frames[0], end)
    return found


def _blank(piece: str, stand_in: str) -> str:
    """Blanks as long as the piece and with its line ends; the stand-in goes in brackets on the first line with room."""
    blank = re.sub(r"[^\n]", " ", piece)
    if not stand_in:
        return blank
    start = len(piece) - len(piece.lstrip())
    end = len(piece.rstrip())
    inside = re.sub(" " * len(stand_in), stand_in, blank[start + 1 : end - 1], count=1)
    return piece[:start] + "(" + inside + ")" + piece[end:]
