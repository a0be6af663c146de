"""`leakcheck rule`"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from leakcheck.cli.options import use_rules_here
from leakcheck.cli.parser import Parser
from leakcheck.errors import LeakcheckError
from leakcheck.project.config import find_config
from leakcheck.project.nearest import nearest
from leakcheck.project.paths import shown
from leakcheck.project.select import DRIVER_CODES
from leakcheck.report.ansi import Style, style_of
from leakcheck.scaffold import FAMILIES, checkout_at, new_rule_of_leakcheck, new_rule_of_project

EXAMPLES = """\
examples:
  leakcheck rule                                  list all rules
  leakcheck rule LK1                              list those whose codes start so
  leakcheck rule LK101
  leakcheck rule preprocess-before-split
  leakcheck rule --new scale-twice --family separation        in a clone of leakcheck
  leakcheck rule --new one-look --code ACME001                in your project
"""


def run(arguments: list[str]) -> int:
    """Print the page of a rule, or the list of all rules."""
    options = build_parser().parse_args(arguments)
    if options.new:
        return _start(options)
    if options.code or options.family:
        raise LeakcheckError("--code and --family belong to a new rule", expected="--new NAME")
    use_rules_here()
    style = style_of(sys.stdout, options.color)
    starting = [] if options.rule is None else _starting(options.rule)
    lines = (
        _list(starting or _rows(), style) if starting or options.rule is None else _shown(_page(options.rule), style)
    )
    for line in lines:
        print(line)
    return 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck rule",
        "[CODE]",
        "Show what a rule finds, with wrong and right examples; or start a new rule.",
        EXAMPLES,
    )
    parser.add_argument(
        "rule", nargs="?", metavar="CODE", help="a code or name; a prefix (LK1) lists its rules, nothing lists all"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(default: on terminals)")
    new = parser.add_argument_group("a new rule").add_argument
    new("--new", metavar="NAME", help="write a rule file and its page, to be edited; nothing is overwritten")
    new(
        "--family",
        choices=FAMILIES,
        help="where it belongs; in a project of yours, a family that reads the same (default: separation, code)",
    )
    new("--code", metavar="CODE", help="its code (default: the next free one)")
    return parser


def _start(options: argparse.Namespace) -> int:
    """Write a new rule and say how to go on."""
    if options.rule is not None:
        raise LeakcheckError("--new starts one rule", expected="no CODE beside it", found=options.rule)
    checkout = checkout_at(Path.cwd())
    if checkout is not None:
        new = new_rule_of_leakcheck(checkout, options.new, options.family, options.code)
        test = f"python -m pytest tests/test_rule_pages.py -k {new.name.replace('-', '_')}"
        guide = "docs/writing-rules.md"
    else:
        new = new_rule_of_project(_folder_of_rules(), options.new, options.family, options.code)
        test = "a test of yours that calls leakcheck.testing.check_page"
        guide = "the page on plugins in leakcheck's documentation"
    for file in new.write():
        print(f"wrote {shown(file)}")
    print(f"They hold together as they are. Edit the page, then the rule ({guide}); test them with:\n  {test}")
    return 0


def _folder_of_rules() -> Path:
    """The first folder that the configuration names for in-house rules."""
    config = find_config([Path.cwd()])
    for name in config.rules:
        if not name.endswith(".py"):
            return config.root / name
    raise LeakcheckError(
        "the configuration names no folder for rules",
        file=shown(config.file or "leakcheck.toml"),
        expected='a line such as rules = ["tools/leakcheck"]',
    )


def _rows() -> list[tuple[str, str, str, str]]:
    """Code, name, severity and class of every rule."""
    from leakcheck.rules import rules

    rows = [(code, name, "error" if code == "LK001" else "warning", "") for code, name in DRIVER_CODES.items()]
    return rows + [(rule.code, rule.name, rule.severity.value, rule.leak_class) for rule in rules()]


def _starting(wanted: str) -> list[tuple[str, str, str, str]]:
    """The rules whose codes go on from a prefix such as LK1; none where it is a whole code or a name."""
    prefix = wanted.upper()
    rows = [row for row in _rows() if row[0].startswith(prefix)]
    return [] if any(row[0] == prefix for row in rows) else rows


def _list(rows: Sequence[tuple[str, str, str, str]], style: Style) -> Iterator[str]:
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
