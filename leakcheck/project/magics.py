"""IPython syntax in a cell, blanked in place: what remains is Python with the same lines and columns."""

from __future__ import annotations

import ast
import re

# Cell magics whose body runs as code of this notebook. Of all others (bash, html, writefile, sql, R, cython, script,
# python3 in a process of its own ...) the body is not.
_PYTHON_CELL_MAGICS = frozenset(
    ("time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "memray_flamegraph", "snakeviz", "pyinstrument",
     "scalene", "heat", "wandb", "notify", "debug", "profile", "tqdm", "local", "px", "autopx", "ipytest", "run_pytest",
     "cudf.pandas.profile", "cudf.pandas.line_profile", "chime", "skip_if_run", "cache", "measure", "codecarbon")
)  # fmt: skip

# Line magics whose argument is code of this notebook, with those of their options that take a value.
_CODE_LINE_MAGICS = {"time": "", "timeit": "nrp", "prun": "slTD", "memit": "rti", "mprun": "fTc", "lprun": "fmTDsuz",
                     "snakeviz": "fT", "pyinstrument": ""}  # fmt: skip

# First words that IPython takes as a magic or alias without a `%`.
_AUTOMAGICS = frozenset(
    ("pip", "pip3", "conda", "mamba", "uv", "ls", "cd", "cat", "mkdir", "rm", "rmdir", "cp", "mv", "less",
     "more", "man", "pwd", "ll", "lf", "ldir", "clear", "env", "load", "load_ext", "reload_ext", "matplotlib",
     "pylab", "run", "time", "timeit", "who", "whos", "history", "pinfo", "pdb", "autoreload", "config",
     "reset", "store", "git", "wget", "echo", "python", "python3", "head", "tail", "unzip", "apt", "apt-get",
     "colors", "precision", "tensorboard")
)  # fmt: skip

_COMPOUND = ("for ", "with ", "while ", "if ", "try:", "def ", "class ", "async ", "@", "match ")
_SUSPECT = re.compile(
    r"^[ \t]*(?:[%!?]|\S.*\?[ \t]*(?:#.*)?$|[^#\n]*=[ \t]*[%!]|(?:"
    + "|".join(map(re.escape, sorted(_AUTOMAGICS)))
    + r")\b)",
    re.MULTILINE,
)
_HELP = re.compile(r"^\??\??[%\w.*\[\]'\"]+\?{1,2}[ \t]*(?:#.*)?$")
_ASSIGNED = re.compile(r"^([ \t]*(?:[\w., \t*]|\[[^\]]*\]|\([^)]*\))+=[ \t]*)[%!](?!=)")
_CELL_MAGIC = re.compile(r"^%%[ \t]*([\w.]+)")
_LINE_MAGIC = re.compile(r"^%[ \t]*([\w.]+)[ \t]*")


def blank_magics(text: str) -> str:
    """Blank the IPython syntax of a cell.

    A magic alone becomes an empty line (`pass` where it is indented, so that its block keeps a body); the code after
    `%time` and its like stays in its columns; `x = %magic` and `x = !command` become `x = get_ipython()`, whose value
    nobody knows. The body of a cell magic that isn't this notebook's code is blanked whole.

    Parameters
    ----------
    text : str
        A cell, with ``\\n`` line ends.
    """
    if not _SUSPECT.search(text):
        return text
    lines = text.split("\n")
    start = 0
    while True:  # cell magics may be stacked
        while start < len(lines) and not lines[start].strip():
            start += 1
        magic = _CELL_MAGIC.match(lines[start].lstrip()) if start < len(lines) else None
        if magic is None:
            break
        if magic[1] not in _PYTHON_CELL_MAGICS:
            return "\n" * (len(lines) - 1)
        lines[start] = ""
    nested = _Nesting()
    index = start
    while index < len(lines):
        line = lines[index]
        if nested.at_statement:
            blanked = _blank_line(line)
            if blanked is not None:
                keep, code = blanked
                last = index
                if not code:  # a shell line or magic goes on after a backslash
                    while lines[last].rstrip().endswith("\\") and last + 1 < len(lines):
                        last += 1
                        lines[last] = ""
                lines[index] = line = keep
                index = last
        nested.feed(line)
        index += 1
    return "\n".join(lines)


def _blank_line(line: str) -> tuple[str, bool] | None:
    """The line without its magic, and whether code remained; None where it is plain Python."""
    body = line.strip()
    if not body:
        return None
    indent = line[: len(line) - len(line.lstrip())]
    nothing = indent + "pass" if indent else ""
    if body[0] == "%":
        magic = _LINE_MAGIC.match(body)
        if magic and magic[1] in _CODE_LINE_MAGICS:
            return _keep_code(indent, body, magic.end(), _CODE_LINE_MAGICS[magic[1]], nothing)
        return nothing, False
    if body[0] in "!?" or _HELP.match(body):
        return nothing, False
    if ("%" in line or "!" in line) and (assigned := _ASSIGNED.match(line)):
        return assigned[1] + "get_ipython()", False
    word = re.match(r"[\w-]+", body)
    if word and word[0] in _AUTOMAGICS and not _is_python(body):
        if word[0] in _CODE_LINE_MAGICS:
            return _keep_code(indent, body, word.end(), _CODE_LINE_MAGICS[word[0]], nothing)
        return nothing, False
    return None


def _keep_code(indent: str, body: str, start: int, valued: str, nothing: str) -> tuple[str, bool]:
    """Keep what follows a magic and its options, in its columns."""
    option = re.compile(rf"[ \t]*-(?:[{valued}][ \t]*[^\s-]\S*|-?[A-Za-z][\w-]*)(?:[ \t]+|$)" if valued
                        else r"[ \t]*--?[A-Za-z][\w-]*(?:[ \t]+|$)")  # fmt: skip
    while found := option.match(body, start):
        start = found.end()
    code = body[start:].lstrip()
    if not code or code.startswith("#"):
        return nothing, False
    if code.startswith(_COMPOUND):  # can't follow a semicolon: its columns shift
        return indent + code, True
    start = len(body) - len(code)
    return indent + "0;".ljust(start) + code, True


def _is_python(line: str) -> bool:
    """Whether a line could be (the start of) a Python statement."""
    try:
        ast.parse(line)
    except SyntaxError as error:
        # An open bracket or a block header goes on in the next line.
        return "was never closed" in (error.msg or "") or line.endswith((":", "\\", "(", "[", "{", ","))
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


class _Nesting:
    """Whether the next line starts a statement: outside brackets, strings and continued lines."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def at_statement(self) -> bool:
        return not self._quote and self._depth == 0 and not self._continued

    _TOKEN = re.compile(r"\\.|'''|\"\"\"|['\"#()\[\]{}]")

    def feed(self, line: str) -> None:
        for token in self._TOKEN.finditer(line):
            mark = token[0]
            if self._quote:
                if mark == self._quote:
                    self._quote = ""
            elif mark == "#":
                self._continued = False
                return
            elif mark in ("'''", '"""', "'", '"'):
                self._quote = mark
            elif mark in "([{":
                self._depth += 1
            elif mark in ")]}":
                self._depth = max(0, self._depth - 1)
        self._continued = line.endswith("\\")
        if len(self._quote) == 1 and not self._continued:
            self._quote = ""  # a one-line string that nobody closed
