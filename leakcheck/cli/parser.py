"""An argument parser that names the nearest option for a misspelt one."""

from __future__ import annotations

import argparse
import re
import shutil
from textwrap import fill
from typing import NoReturn

from leakcheck.project.nearest import nearest


class Parser(argparse.ArgumentParser):
    """`argparse` without abbreviations, with suggestions, and with examples below its help."""

    def __init__(self, prog: str, arguments: str, description: str, examples: str) -> None:
        super().__init__(
            prog=prog,
            usage=f"{prog} [OPTIONS] {arguments}",
            description=fill(description, _width()),
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Print the message with the nearest known option and leave with status 2."""
        unknown = re.match(r"unrecognized arguments: (--?[\w-]+)", message)
        if unknown:
            message += nearest(unknown[1], self._option_string_actions)
        self.exit(2, f"{self.prog}: {message}\n")


def _width() -> int:
    """The columns that argparse itself fills."""
    return shutil.get_terminal_size().columns - 2


def code_list(text: str) -> list[str]:
    """Codes separated by commas."""
    return [code.strip() for code in text.split(",") if code.strip()]


def some_codes(text: str) -> list[str]:
    """Codes separated by commas, one at least: an empty variable would select nothing, and all would pass.

    Raises
    ------
    argparse.ArgumentTypeError
        If there is none.
    """
    codes = code_list(text)
    if not codes:
        raise argparse.ArgumentTypeError(f"names no rule: {text!r}")
    return codes


def per_file_ignores(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Pairs ``pattern:code`` separated by commas; a code without a pattern belongs to the one before.

    Raises
    ------
    argparse.ArgumentTypeError
        If the first code has no pattern.
    """
    pairs: list[tuple[str, tuple[str, ...]]] = []
    for part in code_list(text):
        pattern, colon, code = part.rpartition(":")
        if colon:
            pairs.append((pattern.strip(), (code.strip(),)))
        elif pairs:
            pairs[-1] = (pairs[-1][0], (*pairs[-1][1], part))
        else:
            raise argparse.ArgumentTypeError(f"expected PATTERN:CODE, found {part!r}")
    return pairs


def process_count(text: str) -> int:
    """A number of processes.

    Raises
    ------
    argparse.ArgumentTypeError
        If it is no whole number of one or more.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of 1 or more, found {text!r}")
    return int(text)
