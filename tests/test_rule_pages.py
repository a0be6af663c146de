"""Every rule's page is run: its examples are found, its right ways are clean, its known misses stay missed."""

from collections import Counter
from pathlib import Path

import pytest

from leakcheck.rule_page import faults_of_form, title
from leakcheck.rules import rules
from leakcheck.testing import Block, blocks, check_block

RULES = Path(__file__).resolve().parent.parent / "rules"
PAGES = sorted(RULES.glob("*/*.md"))
DRIVER = RULES / "driver"  # LK001 and LK002 have pages, but no rule class


def name_and_code(page: Path) -> tuple[str, str]:
    return title(page.read_text(encoding="utf-8"))


def page_blocks() -> list[object]:
    return [
        pytest.param(page, block, id=f"{page.relative_to(RULES).as_posix()}:{block.line}")
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(("page", "block"), page_blocks())
def test_block_holds(page: Path, block: Block) -> None:
    assert check_block(block, name_and_code(page)[1]) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_has_its_sections_and_examples(page: Path) -> None:
    assert page.stem == name_and_code(page)[0].replace("-", "_")
    assert list(faults_of_form(page.read_text(encoding="utf-8"))) == []


def test_codes_and_names_are_unique() -> None:
    for values in zip(*map(name_and_code, PAGES), strict=True):
        assert [value for value, times in Counter(values).items() if times > 1] == []


def test_every_rule_has_both_files() -> None:
    code_files = {file.relative_to(RULES).with_suffix("") for file in RULES.glob("*/*.py")}
    pages = {page.relative_to(RULES).with_suffix("") for page in PAGES if page.parent != DRIVER}
    assert pages == code_files


def test_page_names_the_rule_beside_it() -> None:
    for rule in rules():
        page = next(page for page in PAGES if page.stem == rule.name.replace("-", "_"))
        text = page.read_text(encoding="utf-8")
        header = text.split("\n\n")[1]
        assert name_and_code(page)[1] == rule.code
        assert rule.leak_class in header, f"{page}: the line under the title names the class {rule.leak_class}"
        assert rule.severity.value in header, f"{page}: the line under the title names the severity"
