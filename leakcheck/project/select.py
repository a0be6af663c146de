"""Which findings are shown: `select`, `extend-select`, `ignore` and `per-file-ignores`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Severity
from leakcheck.project.config import Config
from leakcheck.project.globs import Globs
from leakcheck.project.nearest import nearest
from leakcheck.project.paths import shown

if TYPE_CHECKING:
    from leakcheck.rule import Rule

# The driver's own codes; all others come from the rules.
DRIVER_CODES = {"LK001": "unreadable-file", "LK002": "unused-suppression"}

_DIGITS = "0123456789"
_DEFAULT, _EXACT = 0, 99  # how closely a selector names a code; a prefix counts its characters


def known_codes() -> dict[str, str]:
    """Every code with its rule's name."""
    from leakcheck.rules import rules

    return DRIVER_CODES | {rule.code: rule.name for rule in rules()}


@dataclass(frozen=True)
class Selection:
    """Decides for each finding whether it is shown.

    The selector that names a code most closely wins; between equals `ignore` wins. Notes are shown only with `ALL` or
    when they are named by their code or name: a prefix doesn't bring them up.
    """

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    per_file: tuple[tuple[Globs, tuple[str, ...]], ...]

    @classmethod
    def of(cls, config: Config) -> Selection:
        """Read the selection of a configuration.

        Raises
        ------
        LeakcheckError
            If a code, prefix or name is unknown.
        """
        per_file = config.per_file_ignores
        given = [
            ("select", config.select or ()),
            ("extend-select", config.extend_select),
            ("ignore", config.ignore),
            *(("per-file-ignores", codes) for _, codes in per_file),
        ]
        if any(selectors for _, selectors in given):
            known = known_codes()
            for key, selectors in given:
                for selector in selectors:
                    _check(selector, known, key, config)
        return cls(
            (*(("",) if config.select is None else config.select), *config.extend_select),
            config.ignore,
            tuple((Globs((pattern,), config.root), codes) for pattern, codes in per_file),
        )

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is selected in its file."""
        code, name = finding.code, finding.name
        chosen = _closest(self.select, code, name, finding.severity is Severity.NOTE)
        if chosen is None or self._ignored_in_file(finding.location.path, code, name):
            return False
        ignored = _closest(self.ignore, code, name)
        return ignored is None or ignored < chosen

    def looks_for(self, rule: Rule[Any]) -> bool:
        """Whether a finding of a rule can be shown at all, in some file."""
        chosen = _closest(self.select, rule.code, rule.name, rule.severity is Severity.NOTE)
        ignored = _closest(self.ignore, rule.code, rule.name)
        return chosen is not None and (ignored is None or ignored < chosen)

    def ignores(self, path: str, code: str) -> bool:
        """Whether a code of the driver is ignored, everywhere or in a file."""
        name = DRIVER_CODES[code]
        return _closest(self.ignore, code, name) is not None or self._ignored_in_file(path, code, name)

    def _ignored_in_file(self, path: str, code: str, name: str) -> bool:
        return any(_closest(codes, code, name) is not None and globs.match(path) for globs, codes in self.per_file)


def _closest(selectors: Iterable[str], code: str, name: str, is_note: bool = False) -> int | None:
    """How closely the best selector names a code; None where none does."""
    best: int | None = None
    for selector in selectors:
        if selector in (code, name):
            return _EXACT
        if selector == "ALL":
            found = _DEFAULT
        elif not is_note and code.startswith(selector):  # "" is the default selection
            found = len(selector)
        else:
            continue
        best = found if best is None else max(best, found)
    return best


def _check(selector: str, known: dict[str, str], key: str, config: Config) -> None:
    if selector == "ALL" or selector in known or selector in known.values():
        return
    if any(code.startswith(selector) and selector.startswith(code.rstrip(_DIGITS)) for code in known):
        return
    names = [*known, *known.values(), "ALL"]
    raise LeakcheckError(
        f"unknown rule {selector!r} in {key}{nearest(selector, names)}",
        file=shown(config.file) if config.file and key in config.from_file else None,
    )
