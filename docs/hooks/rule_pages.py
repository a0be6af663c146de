"""Puts into the site what stands elsewhere in the repository: the rules' pages with their index, CONTRIBUTING.md and
CHANGELOG.md, and each command's help. Links between them lead to the same place on the site as in the repository.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the help is that of this checkout

FAMILIES = {
    "separation": "Separation of train and test",
    "selection": "Reuse of the test set",
    "time": "Time and groups",
    "features": "Illegitimate features",
    "hygiene": "Evaluation hygiene",
    "duplicates": "Duplicates in data",
    "shortcuts": "Shortcuts in data",
    "claims": "Claimed comparisons",
    "driver": "Files and comments",
}
OTHER_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "README.md": "index.md"}
HELP_WIDTH = "80"

_title = re.compile(r"# ([a-z0-9-]+) \((LK\d{3})\)")
_header = re.compile(r"^(?:Class (.+?), s|S)everity (.+?)\.$", re.MULTILINE)
_finds = re.compile(r"## What it finds\n\n(.+?)(?:\.\s|\n\n)", re.DOTALL)
_link = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_help = re.compile(r"^<!-- help: (\w+) -->$", re.MULTILINE)
_fenced = re.compile(r"^(`{3,}).*?^\1`*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class RulePage:
    """One page of rules/, as the index shows it."""

    source: str  # in the repository
    family: str
    code: str
    name: str
    leak_class: str
    severity: str
    finds: str

    @property
    def uri(self) -> str:
        return f"rules/{self.code}.md"


def read_pages() -> list[RulePage]:
    """The rules' pages by code."""
    pages = []
    for file in sorted((ROOT / "rules").glob("*/*.md")):
        text = file.read_text(encoding="utf-8")
        title, header, finds = _title.match(text), _header.search(text), _finds.search(text)
        if not (title and header and finds):
            raise ValueError(f"{file}: expected a title, a line with the severity, and what it finds")
        pages.append(
            RulePage(
                source=file.relative_to(ROOT).as_posix(),
                family=file.parent.name,
                code=title[2],
                name=title[1],
                leak_class=header[1] or "",
                severity=header[2],
                finds=" ".join(finds[1].split()),
            )
        )
    return sorted(pages, key=lambda page: page.code)


PAGES = read_pages()
PLACES = {page.source: page.uri for page in PAGES} | OTHER_PAGES  # where a file of the repository stands on the site
SOURCES = {uri: source for source, uri in PLACES.items() if source != "README.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the rules below their index."""
    assert config.nav is not None
    for entry in config.nav:
        if isinstance(entry, dict) and "Rules" in entry:
            for family, title in FAMILIES.items():
                listed = [{f"{page.code} {page.name}": page.uri} for page in PAGES if page.family == family]
                entry["Rules"].append({title: listed})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from elsewhere."""
    for uri, source in SOURCES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, "rules/index.md", content=index()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links to files of the repository into links of the site, and put in the help of commands."""
    here = page.file.src_uri
    source = SOURCES.get(here, f"docs/{here}")

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        uri = PLACES.get(target)
        if uri is None and target.startswith("docs/"):
            uri = target.removeprefix("docs/")
        if uri is None or here == "rules/index.md":
            return match[0]
        return f"{match[1]}{posixpath.relpath(uri, posixpath.dirname(here) or '.')}{match[3]}"

    parts, end = [], 0
    for block in _fenced.finditer(markdown):
        parts += [_link.sub(moved, markdown[end : block.start()]), block[0]]
        end = block.end()
    parts.append(_link.sub(moved, markdown[end:]))
    return _help.sub(lambda match: f"```text\n{command_help(match[1])}\n```", "".join(parts))


def index() -> str:
    """The list of all rules."""
    lines = ["# Rules", ""]
    lines.append(
        "Severity says how much a fault usually inflates a score: an *error* means that the score can't be trusted, a "
        "*warning* that it is biased, usually a little; a *note* is a habit that experts argue over, and is shown with "
        "`--select ALL` or when it is named. Classes are those of Kapoor and Narayanan (2023): L1 no clean separation "
        "of train and test, L2 illegitimate features, L3 a test set that is not from the distribution of interest; S "
        "is for selection and statistics. `leakcheck rule CODE` shows the same pages."
    )
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}", "", "| rule | severity | what it finds |", "|---|---|---|"]
        lines += [
            f"| [{page.code}]({page.code}.md) {page.name} | {page.severity.partition(';')[0]} | {page.finds} |"
            for page in PAGES
            if page.family == family
        ]
    return "\n".join(lines) + "\n"


def command_help(command: str) -> str:
    """What `leakcheck COMMAND --help` prints."""
    os.environ |= {"COLUMNS": HELP_WIDTH, "NO_COLOR": "1"}
    text: str = import_module(f"leakcheck.cli.{command}").build_parser().format_help()
    return text.rstrip()
