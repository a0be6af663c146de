"""Where the results of a command go: standard output, or a file."""

from __future__ import annotations

import sys
from pathlib import Path

from leakcheck.errors import LeakcheckError
from leakcheck.report.ansi import Style, style_of

SERVICE_FORMATS = ("sarif", "github", "gitlab", "junit", "markdown", "html")
# Formats that say what couldn't be read; for all others that goes to stderr.
HOLD_ERRORS = ("json", "sarif", "github", "gitlab", "junit")
_PLAIN_WIDTH = 120  # columns where there is no terminal: output must not depend on the machine


def write_output(text: str, file: str | None) -> None:
    """Print the text, or write it to a file, whole or not at all."""
    if file is None:
        sys.stdout.write(text)
        return
    from leakcheck.report.files import write_file

    write_file(Path(file), text)


def output_style(file: str | None, colour: str) -> tuple[Style, int]:
    """Colour and width of text for standard output; a file knows no terminal."""
    if file is not None:
        return Style(colour == "always"), _PLAIN_WIDTH
    import shutil

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_WIDTH
    return style_of(sys.stdout, colour), width


def check_outputs(*, report: str | None, output_file: str | None) -> None:
    """Refuse, before any work is done, what could not be written after it.

    Raises
    ------
    LeakcheckError
        For an unknown kind of report, a missing folder, or HTML without Jinja2.
    """
    if report is not None:
        from leakcheck.report.page import check_report

        check_report(Path(report))
    for file in (report, output_file):
        if file is not None and not Path(file).parent.is_dir():
            raise LeakcheckError("the file cannot be written: there is no such folder", file=file)
        if file is not None and Path(file).is_dir():
            raise LeakcheckError("the file cannot be written: it is a folder", file=file)
