"""Notebooks: JSON -> the code cells, in document order, as Python text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leakcheck.findings import Location
from leakcheck.project.magics import blank_magics
from leakcheck.project.read import DecodeProblem, Loaded, unify_line_ends, unreadable
from leakcheck.project.source import Chunk, Problem, Source

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
# Kernels that name no language; any other kernel name without one is taken as Python (people name them freely).
_OTHER_KERNELS = ("ir", "julia", "scala", "spark", "toree", "almond", "bash", "octave", "matlab", "sas", "stata",
                  "javascript", "jslab", "deno", "rust", "evcxr", "xcpp", "gophernotes", "java", "kotlin", "ruby",
                  "iruby", "haskell", "ihaskell", "sbcl", "clojure", "perl", ".net-", "sql",
                  "xsql", "lua", "wolfram")  # fmt: skip
_PYTHON_LANGUAGES = ("python", "ipython", "pyspark", "xpython")


def load_notebook(data: bytes, path: str, file: Path) -> Loaded:
    """Read a notebook of format 3 or 4.

    Cells are counted from 1 over all cells. Another language, no cells or a Git LFS pointer give one notice; broken
    JSON and cells that are no cells are errors.
    """
    if not data.strip():
        return _passed_over("an empty file, not a notebook", path, file)
    if data.startswith(_LFS_POINTER):
        return _passed_over("a Git LFS pointer, not the notebook itself; run `git lfs pull`", path, file)
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}"
        return unreadable(DecodeProblem(message, line), path, file)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        return unreadable(DecodeProblem(message, error.lineno, error.colno), path, file)
    except RecursionError:
        return unreadable(DecodeProblem("not a notebook: JSON nested too deeply"), path, file)
    except ValueError as error:
        return unreadable(DecodeProblem(f"not valid JSON: {error}"), path, file)
    if not isinstance(content, dict):
        return _passed_over(f"not a notebook: expected an object, found {_kind(content)}", path, file)
    language = _other_language(content)
    if language:
        return _passed_over(f"the notebook's language is {language}, not Python", path, file)
    cells = list(_cells(content))
    if not cells:
        return _passed_over("the notebook has no cells", path, file)
    return _load_cells(cells, path, file)


def _load_cells(cells: list[Any], path: str, file: Path) -> Loaded:
    chunks: list[Chunk] = []
    originals: list[Chunk] = []
    problems: list[Problem] = []
    for number, cell in enumerate(cells, 1):
        try:
            text = _code(cell)
        except DecodeProblem as problem:
            place = Location(path, number, problem.line, problem.column, problem.line, problem.column)
            problems.append(Problem(problem.message, place))
            continue
        if text is not None:
            count = cell.get("execution_count", cell.get("prompt_number"))
            count = count if isinstance(count, int) else None
            originals.append(Chunk(text, number, count))
            chunks.append(Chunk(blank_magics(text), number, count))
    return Loaded(Source(path, file, tuple(chunks), tuple(problems)), tuple(originals))


def _passed_over(message: str, path: str, file: Path) -> Loaded:
    notice = Problem(f"{message}; skipped", Location(path, None, 1, 1, 1, 1), error=False)
    return Loaded(Source(path, file, (), (notice,)), ())


def _cells(content: dict[str, Any]) -> Iterator[Any]:
    """All cells, of format 4 or of the worksheets of format 3."""
    cells = content.get("cells")
    if isinstance(cells, list):
        yield from cells
        return
    worksheets = content.get("worksheets")
    for sheet in worksheets if isinstance(worksheets, list) else ():
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            yield from sheet["cells"]


def _code(cell: Any) -> str | None:
    """The Python text of a code cell; None for cells that hold none."""
    if not isinstance(cell, dict):
        raise DecodeProblem(f"not a notebook cell: expected an object, found {_kind(cell)}")
    if cell.get("cell_type") != "code" or not _is_python_cell(cell):
        return None
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise DecodeProblem(f"the cell's source must be text or a list of lines, found {_kind(source)}")
    text = unify_line_ends(source)
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise DecodeProblem("expected Python text, found a NUL character", line, nul - text.rfind("\n", 0, nul))
    if not text.isascii():  # half of a surrogate pair is no text, but JSON lets it pass
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def _is_python_cell(cell: dict[str, Any]) -> bool:
    """False for cells that an editor or format 3 marks as another language."""
    language = cell.get("language")
    metadata = cell.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("vscode"), dict):
        language = metadata["vscode"].get("languageId", language)
    return not isinstance(language, str) or language.lower().startswith(_PYTHON_LANGUAGES)


def _other_language(content: dict[str, Any]) -> str:
    """The name of the notebook's language where it is not Python, else ""."""
    metadata = content.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    kernel, info = metadata.get("kernelspec"), metadata.get("language_info")
    kernel = kernel if isinstance(kernel, dict) else {}
    info = info if isinstance(info, dict) else {}
    for language in (kernel.get("language"), info.get("name")):
        if isinstance(language, str) and language.strip():
            return "" if language.lower().startswith(_PYTHON_LANGUAGES) else language
    name = kernel.get("name")
    if isinstance(name, str) and "python" not in name.lower():
        plain = name.lower()
        if any(plain == other or plain.startswith((other + "-", other + "_")) for other in _OTHER_KERNELS):
            return name
    return ""


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, (int, float)):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
