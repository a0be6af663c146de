"""Renders the document: a self-contained HTML page, Markdown, or the document itself."""

from __future__ import annotations

import json
import re
import unicodedata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leakcheck.errors import LeakcheckError
from leakcheck.report.document import Document
from leakcheck.report.files import write_file

if TYPE_CHECKING:
    from markupsafe import Markup

_TEMPLATES = Path(__file__).parent / "templates"
_HTML, _MARKDOWN, _JSON = (".html", ".htm"), (".md", ".markdown"), (".json",)
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # controls, direction marks, lone surrogates, line separators


def write_report(file: Path, document: Document) -> None:
    """Write the document in the format that the suffix names.

    Raises
    ------
    LeakcheckError
        For an unknown suffix, a file that cannot be written, or HTML without Jinja2.
    """
    write_file(file, render(file, document))


def render(file: Path, document: Document) -> str:
    """The text of a report in the format of the file's suffix."""
    check_report(file)
    suffix = file.suffix.lower()
    if suffix in _HTML:
        return to_html(document)
    if suffix in _MARKDOWN:
        from leakcheck.report.markdown_page import to_markdown

        return to_markdown(document)
    return to_json(document)


def check_report(file: Path) -> None:
    """Refuse a report that cannot be rendered.

    Raises
    ------
    LeakcheckError
        For an unknown suffix, or HTML without Jinja2.
    """
    suffix = file.suffix.lower()
    if suffix not in (*_HTML, *_MARKDOWN, *_JSON):
        raise LeakcheckError(
            "unknown kind of report", file=str(file), expected=".html, .md or .json", found=repr(suffix)
        )
    if suffix in _HTML and find_spec("jinja2") is None:
        raise LeakcheckError("an HTML report needs Jinja2: install it with pip install 'leakcheck-lint[report]'")


def to_json(document: Document) -> str:
    """The document in ASCII, keys in their order."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def to_html(document: Document) -> str:
    """One page that needs no script, no network and no other file.

    Raises
    ------
    LeakcheckError
        If Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise LeakcheckError(
            "an HTML report needs Jinja2: install it with pip install 'leakcheck-lint[report]'"
        ) from None
    from leakcheck.report.pictures import interval_picture, pairs_picture, ranking_picture

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": shown, "number": number, "prose": prose, "place": place}
    environment.globals |= {
        "interval_picture": interval_picture,
        "pairs_picture": pairs_picture,
        "ranking_picture": ranking_picture,
    }
    return environment.get_template("report.html.j2").render(document=document)


def shown(value: Any) -> str:
    """Text with its invisible characters made visible, so that none can change how the rest is read."""
    if value is None:
        return "none"
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        character if character == "\n" or unicodedata.category(character) not in _INVISIBLE else _code_point(character)
        for character in text
    )


def prose(value: Any) -> Markup:
    """Text of a message as HTML, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(shown(value)))))


def place(value: Any) -> Markup:
    """A path that may be broken after its slashes."""
    from markupsafe import Markup, escape

    return Markup(str(escape(shown(value))).replace("/", "/<wbr>"))


def number(value: float) -> str:
    """Five significant digits."""
    return f"{value:.5g}"


def _code_point(character: str) -> str:
    return " " if character in "\t\r" else f"<U+{ord(character):04X}>"
