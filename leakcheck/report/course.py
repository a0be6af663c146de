"""How a scan went, file by file, for `--verbose`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leakcheck.report.text import clean

if TYPE_CHECKING:
    from leakcheck.run import Course

_NAMED = 2  # importers that are named


def course_lines(course: Course) -> Iterator[str]:
    """The cache and the processes, then how each file was treated."""
    yield f"cache: {clean(course.cache)}"
    programs = len(course.programs)
    if programs:
        yield f"programs: {programs}, {len(course.recalled)} of them from the cache; processes: {course.jobs}"
    importers: dict[str, list[str]] = {}
    for path, modules in course.programs.items():
        for module in modules:
            importers.setdefault(module, []).append(path)
    treated = {path: _treatment(path, course, importers) for path in {*course.files, *course.unreadable, *importers}}
    treated |= {path: f"left out {why}" for path, why in course.left_out.items()}
    for path in sorted(treated):
        yield f"{clean(path)}: {clean(treated[path])}"


def _treatment(path: str, course: Course, importers: dict[str, list[str]]) -> str:
    said = []
    if path in course.programs:
        said.append("a program" + (", from the cache" if path in course.recalled else ""))
    if path in importers:
        names = importers[path]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        said.append(f"followed from {', '.join(names[:_NAMED])}{more}")
    if path in course.unreadable:
        said.append(course.unreadable[path])
    return "; ".join(said) or "names no machine-learning library"
