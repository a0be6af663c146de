"""`leakcheck rule`"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from leakcheck.cli.options import use_rules_here
from leakcheck.cli.parser import Parser
from leakcheck.errors import LeakcheckError
from leakcheck.project.nearest import nearest
from leakcheck.project.select import DRIVER_CODES
from leakcheck.report.ansi import Style, wants_colour

EXAMPLES = """\
examples:
  leakcheck rule                                  list all rules
  leakcheck rule LK101
  leakcheck rule preprocess-before-split
"""


def run(arguments: list[str]) -> int:
    """Print the page of a rule, or the list of all rules."""
    options = build_parser().parse_args(arguments)
    use_rules_here()
    style = Style(wants_colour(sys.stdout, options.color))
    lines = _list(style) if options.rule is None else _shown(_page(options.rule), style)
    for line in lines:
        print(line)
    return 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck rule", "[CODE]", "Show what a rule finds, why it matters, and right and wrong examples.", EXAMPLES
    )
    parser.add_argument("rule", nargs="?", metavar="CODE", help="a code or name; lists all rules without it")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: on terminals)")
    return parser


def _list(style: Style) -> Iterator[str]:
    from leakcheck.rules import rules

    rows = [(code, name, "error" if code == "LK001" else "warning", "") for code, name in DRIVER_CODES.items()]
    rows += [(rule.code, rule.name, rule.severity.value, rule.leak_class) for rule in rules()]
    width = max(len(name) for _, name, _, _ in rows)
    for code, name, severity, leak_class in rows:
        yield f"{style.bold(code)}  {name:<{width}}  {severity:<7}  {leak_class}".rstrip()


def _page(wanted: str) -> Path:
    """The page of a code or name."""
    from leakcheck.rules import folders, page, rules

    pages = {}
    for code, name in DRIVER_CODES.items():
        pages[code] = pages[name] = _driver_page(folders(), name)
    for rule in rules():
        pages[rule.code] = pages[rule.name] = page(rule)
    by_lower = {key.lower(): path for key, path in pages.items()}
    path = by_lower.get(wanted.lower())
    if path is None:
        raise LeakcheckError(f"unknown rule {wanted!r}{nearest(wanted, pages)}")
    if not path.is_file():
        raise LeakcheckError(f"the page of {wanted} is missing from this installation", file=str(path))
    return path


def _driver_page(folders: list[Path], name: str) -> Path:
    files = [folder / "driver" / f"{name.replace('-', '_')}.md" for folder in folders]
    return next((file for file in files if file.is_file()), files[0])


def _shown(page: Path, style: Style) -> Iterator[str]:
    """The Markdown of a page, its headings set off and its fences taken away on a terminal."""
    in_code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            in_code = not in_code
            yield style.dim(line)
        elif in_code:
            comment = line.find("# error:")
            yield line if comment < 0 else line[:comment] + style.red(line[comment:])
        elif line.startswith("#"):
            yield style.bold(line)
        else:
            yield line
