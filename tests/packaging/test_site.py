"""The documentation's site builds without a warning, holds every rule, and needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="MkDocs is not installed (it is in the docs extra)")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; broken links and pages that no menu leads to fail the build."""
    out = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_rule_has_its_page_and_stands_in_the_index(site: Path) -> None:
    from leakcheck.project.select import known_codes

    index = (site / "rules/index.html").read_text(encoding="utf-8")
    for code, name in known_codes().items():
        page = (site / "rules" / code / "index.html").read_text(encoding="utf-8")
        assert f"{name} ({code})" in page
        assert f'href="{code}/"' in index


def test_every_command_shows_its_help(site: Path) -> None:
    from leakcheck.cli import COMMANDS

    for command in COMMANDS:
        page = (site / "commands" / command / "index.html").read_text(encoding="utf-8")
        assert f"usage: leakcheck {command}" in page


def test_links_of_the_repository_lead_to_pages_of_the_site(site: Path) -> None:
    contributing = (site / "contributing/index.html").read_text(encoding="utf-8")
    assert 'href="../writing-rules/"' in contributing
    assert 'href="rules/LK101/"' in (site / "index.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+href=["']?(?:https?:)?//""")
    styles = re.compile(r"""(?:@import|url\()\s*["']?(?:https?:)?//""")
    for file in site.rglob("*.html"):
        assert not loads.search(file.read_text(encoding="utf-8")), file
    for file in site.rglob("*.css"):
        assert not styles.search(file.read_text(encoding="utf-8")), file
