"""The baseline: a file of accepted findings, which a scan hides."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from leakcheck.errors import LeakcheckError
from leakcheck.findings import Finding, Location, Suppressed
from leakcheck.project.cache import Cache
from leakcheck.project.config import Config
from leakcheck.project.discover import PROSE_SUFFIXES
from leakcheck.project.paths import shown

DEFAULT_NAME = ".leakcheck-baseline.json"
FORMAT_VERSION = 1
_DECLARED = ("LK505", "LK6", "LK7", "LK8")  # of the environment, and of declared data and claims
_PROSE = ("LK504",)  # checked where folders are scanned


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """What an accepted finding is known by: its file, relative to the project's root, its rule and its content."""

    path: str
    code: str
    fingerprint: str


Entries = Counter[Entry]


@dataclass(frozen=True)
class Baseline:
    """Accepted findings and the file they stand in; `missing` where the configuration names one that isn't there."""

    file: Path
    entries: Entries
    missing: bool = False


@dataclass(frozen=True)
class Looked:
    """What a run looked at, which tells a finding that is gone from one that nobody looked for.

    Attributes
    ----------
    root : Path
        The project's root.
    files : collection of str
        Shown paths of the code files that were read.
    folders : collection of str
        Real paths of the folders that were scanned.
    declared : tuple of str
        How the codes start that were looked for in the environment and in declared data and claims.
    """

    root: Path
    files: Collection[str]
    folders: Collection[str]
    declared: tuple[str, ...] = ()

    def at(self, entry: Entry) -> bool:
        """Whether the run would have found what an entry stands for."""
        if entry.code.startswith(_DECLARED):
            return entry.code.startswith(self.declared)
        if shown(self.root / entry.path) in self.files:
            return bool(self.folders) or entry.code not in _PROSE
        real = os.path.realpath(self.root / entry.path)
        inside = any(real.startswith(os.path.join(folder, "")) for folder in self.folders)
        return inside and (real.endswith(PROSE_SUFFIXES) or not os.path.exists(real))


@dataclass(frozen=True)
class Applied:
    """What a baseline does to the findings of a run.

    Attributes
    ----------
    reported, hidden : tuple of Finding
        The findings to show, without and with an entry.
    today : Counter of Entry
        A baseline of all that is shown now; entries of what this run didn't look at are kept.
    pruned : Counter of Entry
        The baseline without the entries whose findings are gone.
    notices : tuple of str
        How many entries are gone, or that there is no such file.
    """

    reported: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    today: Entries
    pruned: Entries
    notices: tuple[str, ...] = ()


def find_baseline(config: Config, given: Baseline | str | os.PathLike[str] | Literal[False] | None) -> Baseline | None:
    """The baseline of a run: the given one, that of the configuration, or the default file if it exists.

    Raises
    ------
    LeakcheckError
        If the file can't be used, or was given and doesn't exist.
    """
    if given is False:
        return None
    if isinstance(given, Baseline):
        return given
    file = baseline_file(config) if given is None else Path(given)
    if given is None and not os.path.lexists(file):
        return Baseline(file, Counter(), missing=True) if config.baseline else None
    return Baseline(file, read_baseline(file))


def baseline_file(config: Config) -> Path:
    """Where the project keeps its baseline."""
    return config.root / (config.baseline or DEFAULT_NAME)


def entry_maker(
    code_of: Callable[[Location], str | None], file_key: Callable[[str], str], cache: Cache | None = None
) -> Callable[[Finding], Entry]:
    """A function that gives the entry of a finding; its parameters are those of `with_fingerprints`."""
    from leakcheck.project.fingerprint import content_fingerprints

    content_of = content_fingerprints(code_of, cache)
    return lambda finding: Entry(file_key(finding.location.path), finding.code, content_of(finding))


def apply_baseline(
    baseline: Baseline,
    findings: Sequence[Finding],
    entries: Sequence[Entry],
    others: Iterable[Entry],
    looked: Looked,
) -> Applied:
    """Hide as many findings of each entry as it counts.

    A finding whose own file has no entry left for it takes one from a file that was looked at and shows it no longer:
    the code has moved. So the number of accepted findings never grows.

    Parameters
    ----------
    baseline : Baseline
    findings, entries : sequence of Finding, of Entry
        What the run would show, in the order of output.
    others : iterable of Entry
        Of findings that are not selected: they are not gone.
    looked : Looked
    """
    left = baseline.entries.copy()
    pruned: Entries = Counter()

    def take(entry: Entry) -> bool:
        if left[entry] > 0:
            left[entry] -= 1
            pruned[entry] += 1
            return True
        return False

    accepted = [take(entry) for entry in entries]
    for entry in others:
        take(entry)
    unseen = Counter({entry: count for entry, count in baseline.entries.items() if not looked.at(entry)})
    moved: Counter[tuple[str, str]] = Counter()
    for entry, count in left.items():
        if entry in unseen:
            pruned[entry] += count
        else:
            moved[entry.code, entry.fingerprint] += count
    for number, entry in enumerate(entries):
        if not accepted[number] and moved[entry.code, entry.fingerprint] > 0:
            moved[entry.code, entry.fingerprint] -= 1
            pruned[entry] += 1
            accepted[number] = True
    mark = Suppressed("baseline", "")
    known = [finding for finding, hide in zip(findings, accepted, strict=True) if hide]
    return Applied(
        reported=tuple(finding for finding, hide in zip(findings, accepted, strict=True) if not hide),
        hidden=tuple(replace(finding, suppressed=mark) for finding in known),
        today=Counter(entries) | unseen,
        pruned=+pruned,
        notices=_notices(baseline, moved.total()),
    )


def _notices(baseline: Baseline, gone: int) -> tuple[str, ...]:
    file = shown(baseline.file)
    if baseline.missing:
        return (f"{file}: there is no such baseline yet; `leakcheck baseline` writes it",)
    if gone:
        total = baseline.entries.total()
        findings = f"{gone} of its {total} findings {'is' if gone == 1 else 'are'} gone"
        return (f"{file}: {findings}; `leakcheck baseline --prune` takes them out",)
    return ()


def read_baseline(file: Path) -> Entries:
    """The entries of a baseline file.

    Raises
    ------
    LeakcheckError
        If the file can't be read or holds something else.
    """
    import json

    try:
        content = json.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise LeakcheckError("no such baseline file; `leakcheck baseline` writes it", file=shown(file)) from None
    except OSError as error:
        raise LeakcheckError(f"the baseline can't be read: {error.strerror}", file=shown(file)) from None
    except UnicodeDecodeError as error:
        raise LeakcheckError("the baseline is not UTF-8 text", file=shown(file), place=f"byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise LeakcheckError(
            f"the baseline is not valid JSON: {error.msg}", file=shown(file), place=f"line {error.lineno}"
        ) from None
    except (RecursionError, ValueError):
        raise LeakcheckError("the baseline is not valid JSON", file=shown(file)) from None
    if not isinstance(content, dict) or not isinstance(content.get("findings"), list):
        raise LeakcheckError("not a baseline file", file=shown(file), expected="an object with a list of findings")
    if content.get("version") != FORMAT_VERSION:
        raise LeakcheckError(
            "a baseline of another version", file=shown(file), expected=f"version {FORMAT_VERSION}",
            found=repr(content.get("version")),
        )  # fmt: skip
    entries: Entries = Counter()
    for number, record in enumerate(content["findings"], 1):
        entry, count = _entry(record, file, number)
        entries[entry] += count
    return entries


def write_baseline(file: Path, entries: Entries) -> None:
    """Write the entries, sorted, one a line.

    Raises
    ------
    LeakcheckError
        If the file can't be written.
    """
    import json

    from leakcheck.project.write import write_file

    lines = [
        json.dumps({"path": entry.path, "code": entry.code, "fingerprint": entry.fingerprint, "count": entries[entry]})
        for entry in sorted(+entries)
    ]
    body = "\n" + ",\n".join(lines) + "\n" if lines else ""
    write_file(file, f'{{"version": {FORMAT_VERSION}, "findings": [{body}]}}\n'.encode())


def _entry(record: Any, file: Path, number: int) -> tuple[Entry, int]:
    if isinstance(record, dict):
        path, code, fingerprint = record.get("path"), record.get("code"), record.get("fingerprint")
        count = record.get("count", 1)
        whole = isinstance(count, int) and not isinstance(count, bool) and count > 0
        if isinstance(path, str) and isinstance(code, str) and isinstance(fingerprint, str) and whole:
            return Entry(path, code, fingerprint), count
    raise LeakcheckError(
        "a broken entry",
        file=shown(file),
        place=f"entry {number}",
        expected="path, code and fingerprint as texts, count as a number from 1",
        found=repr(record)[:80],
    )
