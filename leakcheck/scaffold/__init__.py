"""Starts a new rule: a rule file and its page, which hold together as they are and wait to be edited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from leakcheck import __version__
from leakcheck.errors import LeakcheckError
from leakcheck.plugins import CODE, NAME
from leakcheck.project.config import FILE_NAMES, ROOT_MARKS
from leakcheck.project.paths import shown

_TEMPLATES = Path(__file__).parent

# Each family: the first digit of its codes in leakcheck, and what its rules read.
FAMILIES = {
    "separation": ("1", "code"),
    "selection": ("2", "code"),
    "time": ("3", "code"),
    "features": ("4", "code"),
    "hygiene": ("5", "code"),
    "duplicates": ("6", "data"),
    "shortcuts": ("7", "data"),
    "claims": ("8", "claim"),
}
# Promised to rules that are not written yet; a rule that goes leaves its code here.
RESERVED = ("LK301", "LK302", "LK303", "LK304", "LK501", "LK502", "LK503", "LK505")

_OWN_CODE = re.compile(r"LK[1-8]\d\d")
_stated_code = re.compile(r'^    code = "([A-Z]{2,10}\d{3})"', re.MULTILINE)
_stated_name = re.compile(r'^    name = "([a-z0-9-]+)"', re.MULTILINE)


@dataclass(frozen=True)
class NewRule:
    """What is to be written, and where."""

    folder: Path
    name: str
    code: str
    reads: str  # code, data or claim

    def write(self) -> tuple[Path, Path]:
        """Write the rule file and the page.

        Raises
        ------
        LeakcheckError
            If one of them exists (then neither is written), or can't be written.
        """
        stem = self.name.replace("-", "_")
        files = (self.folder / f"{stem}.py", self.folder / f"{stem}.md")
        for file in files:
            if file.exists():
                raise LeakcheckError("the file exists; nothing was written", file=shown(file))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for file in files:
                with file.open("x", encoding="utf-8", newline="\n") as stream:
                    stream.write(self._filled(file.suffix))
        except OSError as error:
            raise LeakcheckError(f"the rule can't be written: {error.strerror}", file=shown(self.folder)) from None
        return files

    def _filled(self, suffix: str) -> str:
        template = (_TEMPLATES / f"{self.reads}{suffix}.txt").read_text(encoding="utf-8")
        class_name = "".join(part.capitalize() for part in self.name.split("-"))
        return Template(template).substitute(name=self.name, code=self.code, class_name=class_name, version=__version__)


def checkout_at(folder: Path) -> Path | None:
    """The checkout of leakcheck that a folder lies in, unless it lies in another project inside of that."""
    for place in (folder, *folder.parents):
        if (place / "leakcheck/rules/__init__.py").is_file() and (place / "rules/apis").is_dir():
            return place
        if any((place / mark).exists() for mark in (*FILE_NAMES, *ROOT_MARKS)):
            return None
    return None


def new_rule_of_leakcheck(checkout: Path, name: str, family: str | None, code: str | None) -> NewRule:
    """A rule that ships with leakcheck.

    Raises
    ------
    LeakcheckError
        If the family is missing or not that of the code, or the code or the name is taken.
    """
    name = _usable_name(name)
    files = list((checkout / "rules").glob("*/*.py"))
    if code is not None and not _OWN_CODE.fullmatch(code):
        raise LeakcheckError(
            "the code is not usable", expected="LK, a digit from 1 to 8 and two more", found=repr(code)
        )
    if family is None and code is not None:
        family = next(known for known, (digit, _) in FAMILIES.items() if digit == code[2])
    if family is None:
        raise LeakcheckError("--new needs the rule's family", expected=f"--family, one of {', '.join(FAMILIES)}")
    digit, reads = FAMILIES[family]
    codes = {*_stated(files, _stated_code), "LK001", "LK002"}
    if code is None:
        used = [taken for taken in (*codes, *RESERVED) if taken[2] == digit]
        code = f"LK{max((int(taken[2:]) for taken in used), default=int(digit) * 100) + 1}"
    elif code[2] != digit:
        raise LeakcheckError(f"codes of {family} start with LK{digit}", found=repr(code))
    return NewRule(checkout / "rules" / family, _free(name, files), _free_code(code, codes), reads)


def new_rule_of_project(folder: Path, name: str, family: str | None, code: str | None) -> NewRule:
    """An in-house rule.

    Raises
    ------
    LeakcheckError
        If there is no code to go on from and none is given, or the code or the name is taken.
    """
    name = _usable_name(name)
    files = list(folder.glob("*.py")) if folder.is_dir() else []
    codes = _stated(files, _stated_code)
    if code is None:
        if not codes:
            raise LeakcheckError("the first rule of a project needs a code", expected="--code, such as ACME001")
        last = max(codes, key=lambda taken: (int(taken[-3:]), taken))
        code = f"{last[:-3]}{int(last[-3:]) + 1:03}"
    if not CODE.fullmatch(code):
        raise LeakcheckError(
            "the code is not usable", expected="2 to 10 capitals (not LK) and 3 digits, as in ACME001", found=repr(code)
        )
    reads = FAMILIES[family][1] if family else "code"
    return NewRule(folder, _free(name, files), _free_code(code, codes), reads)


def _usable_name(name: str) -> str:
    usable = name.replace("_", "-")
    if not NAME.fullmatch(usable):
        raise LeakcheckError(
            "the name is not usable", expected="small letters and dashes, as in scale-twice", found=repr(name)
        )
    return usable


def _free(name: str, files: Sequence[Path]) -> str:
    from leakcheck.rules import built_in_rules

    if name in {*_stated(files, _stated_name), *(rule.name for rule in built_in_rules())}:
        raise LeakcheckError(f"there is a rule {name!r} already")
    return name


def _free_code(code: str, codes: set[str]) -> str:
    if code in codes:
        raise LeakcheckError(f"the code {code} is taken")
    return code


def _stated(files: Sequence[Path], pattern: re.Pattern[str]) -> set[str]:
    return {stated for file in files for stated in pattern.findall(file.read_text(encoding="utf-8", errors="replace"))}
