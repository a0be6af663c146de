"""What README.md promises is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_shown_output_is_what_the_example_prints() -> None:
    arguments = _block("command: try").split("leakcheck ", 1)[1].split()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "leakcheck", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == _block("output: try")


def test_every_code_of_the_table_is_a_rule_with_that_name() -> None:
    from leakcheck.project.select import known_codes

    table = dict(re.findall(r"^\| (LK\d+) \| ([a-z-]+) \|", README, re.MULTILINE))
    known = known_codes()
    assert table == {code: known.get(code) for code in table}
    assert {code for code in known if code < "LK6" and code != "LK504"} == set(table)


def test_links_lead_to_files() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def _block(mark: str) -> str:
    """The content of the fenced block that follows a marker."""
    found = re.findall(rf"<!-- {mark} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert len(found) == 1, mark
    return str(found[0])
