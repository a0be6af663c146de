"""Every rule's page is run: its examples are found, its right ways are clean, its known misses stay missed."""

import re
from collections import Counter
from pathlib import Path

import pytest

from leakcheck.rules import rules
from leakcheck.testing import KNOWN_MISSES, Block, blocks, check_block

RULES = Path(__file__).resolve().parent.parent / "rules"
PAGES = sorted(RULES.glob("*/*.md"))
DRIVER = RULES / "driver"  # LK001 and LK002 have pages, but no rule class
SECTIONS = ["What it finds", "Why it matters", "Example", "Use instead", KNOWN_MISSES]

_title = re.compile(r"# (?P<name>[a-z][a-z0-9-]*) \((?P<code>LK\d{3})\)")


def title(page: Path) -> re.Match[str]:
    first = page.read_text(encoding="utf-8").partition("\n")[0]
    found = _title.fullmatch(first)
    assert found, f"{page}: the first line is {first!r}, not '# rule-name (LK000)'"
    return found


def page_blocks() -> list[object]:
    return [
        pytest.param(page, block, id=f"{page.relative_to(RULES).as_posix()}:{block.line}")
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("page", "block"), page_blocks())
def test_block_holds(page: Path, block: Block) -> None:
    assert check_block(block, title(page)["code"]) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_has_its_sections_and_examples(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    name = title(page)["name"]
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)

    assert page.stem == name.replace("-", "_")
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS
    failing = [block for block in found if not block.is_clean and block.section != KNOWN_MISSES]
    clean = [block for block in found if block.is_clean and block.section != KNOWN_MISSES]
    assert failing, "one failing block at least"
    assert len(clean) >= 2, "two clean blocks at least"
    assert not [block for block in found if block.section == KNOWN_MISSES and not block.is_clean]


def test_codes_and_names_are_unique() -> None:
    titles = [title(page) for page in PAGES]
    for what in ("code", "name"):
        repeated = [value for value, times in Counter(found[what] for found in titles).items() if times > 1]
        assert repeated == []


def test_every_rule_has_both_files() -> None:
    code_files = {file.relative_to(RULES).with_suffix("") for file in RULES.glob("*/*.py")}
    pages = {page.relative_to(RULES).with_suffix("") for page in PAGES if page.parent != DRIVER}
    assert pages == code_files


def test_page_names_the_rule_beside_it() -> None:
    for rule in rules():
        page = next(page for page in PAGES if page.stem == rule.name.replace("-", "_"))
        text = page.read_text(encoding="utf-8")
        header = text.split("\n\n")[1]
        assert title(page)["code"] == rule.code
        assert rule.leak_class in header, f"{page}: the line under the title names the class {rule.leak_class}"
        assert rule.severity.value in header, f"{page}: the line under the title names the severity"
