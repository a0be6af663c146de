"""The page of a rule, by its code."""

from __future__ import annotations

import re
from pathlib import Path


def page_of(code: str) -> Path | None:
    """The Markdown file of a rule, or of a code of the driver; None where there is none."""
    from leakcheck.project.select import DRIVER_CODES
    from leakcheck.rules import folders, page, rules

    if code in DRIVER_CODES:
        name = f"{DRIVER_CODES[code].replace('-', '_')}.md"
        pages = [folder / "driver" / name for folder in folders()]
    else:
        pages = [page(rule) for rule in rules() if rule.code == code]
    return next((file for file in pages if file.is_file()), None)


def section(markdown: str, title: str) -> str:
    """The text below a heading, up to the next one; empty where there is no such heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", markdown, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def plain(markdown: str) -> str:
    """Markdown without its marks, for viewers that know none."""
    text = re.sub(r"^```.*\n?", "", markdown, flags=re.MULTILINE)
    text = re.sub(r"^#+ ", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<!\w)[*`]+|[*`]+(?!\w)", "", text).strip()
