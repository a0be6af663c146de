"""What a project says of the environment in which its scores were made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from leakcheck.findings import Location
from leakcheck.flow.facts import ReportedScore
from leakcheck.flow.prefilter import imported_names
from leakcheck.project.facts import ProjectFacts
from leakcheck.project.requirements import Requirement, load_toml, normal, read_requirements
from leakcheck.project.source import Source

# Packages whose name is not that of the module which they bring.
_PACKAGES = {
    "autosklearn": ("auto-sklearn",),
    "bayes_opt": ("bayesian-optimization",),
    "databricks": ("databricks-connect",),
    "fbprophet": ("fbprophet", "prophet"),
    "ignite": ("pytorch-ignite",),
    "imblearn": ("imbalanced-learn",),
    "keras": ("keras", "tensorflow", "tensorflow-cpu", "tensorflow-gpu"),
    "kerastuner": ("keras-tuner",),
    "lightning": ("lightning", "pytorch-lightning"),
    "mrmr": ("mrmr-selection",),
    "skopt": ("scikit-optimize",),
    "sklearn": ("scikit-learn",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-macos", "tensorflow-intel"),
    "torch": ("torch", "pytorch", "pytorch-cpu", "pytorch-gpu"),
    "umap": ("umap-learn",),
    "xgboost": ("xgboost", "xgboost-cpu", "py-xgboost"),
}


_TESTS = frozenset({"tests", "test"})
_BESIDE_A_PACKAGE = _TESTS | {"examples", "docs", "doc", "tutorials", "benchmarks"}


def project_facts(
    scores: Sequence[ReportedScore], sources: Sequence[Source], libraries: frozenset[str], root: Path
) -> ProjectFacts | None:
    """Hold what the code imports against what the project pins; None where there is nothing to say.

    Nothing is asked of a project that reports no score outside of its tests, nor of a package whose functions score
    what its users give them.

    Parameters
    ----------
    scores : sequence of ReportedScore
        The folders from there up to the root are looked at.
    sources : sequence of Source
        The analysed files.
    libraries : frozenset of str
        Import names of the library tables.
    root : Path
        The project's folder.

    Raises
    ------
    LeakcheckError
        If a file that asks for packages can't be read.
    """
    package = _is_package(root)
    aside = _BESIDE_A_PACKAGE if package else _TESTS
    counted = [s.location for s in scores if (s.runs or not package) and not _is_aside(s.program, aside)]
    if not counted:
        return None
    reporting = {place.path for place in counted}
    homes = [source.file.parent.resolve() for source in sources if source.path in reporting]
    requirements = read_requirements(_folders_above(homes, root.resolve()))
    by_name: dict[str, list[Requirement]] = {}
    for requirement in requirements.asked:
        by_name.setdefault(requirement.name, []).append(requirement)
    asked: dict[str, list[Requirement]] = {}
    for module in sorted(_imported(sources) & libraries - sys.stdlib_module_names):
        packages = _PACKAGES.get(module, (normal(module),))
        asked[packages[0]] = [entry for package in packages for entry in by_name.get(package, ())]
    if requirements.locked or not asked:
        return None
    first = min(counted, key=lambda place: (place.path, place.cell or 0, place.line))
    declared = any(asked.values())
    # What is not asked for itself comes with something that is.
    expected = {name: entries for name, entries in asked.items() if entries or not declared}
    loose = [name for name, entries in expected.items() if not any(entry.pinned for entry in entries)]
    places = sorted((entry.file, entry.line) for name in loose for entry in asked[name])
    if places:
        file, line = places[0]
        first = Location(file, None, line, 1, line, 1)
    return ProjectFacts(tuple(loose), declared, first) if loose else None


def _folders_above(homes: Sequence[Path], root: Path) -> list[Path]:
    """The folders from some up to the root, the root first; each once."""
    found = {root: None}
    for home in homes:
        for folder in reversed((home, *home.parents)):
            if folder.is_relative_to(root):
                found[folder] = None
    return list(found)


def _imported(sources: Sequence[Source]) -> set[str]:
    texts = [chunk.text for source in sources for chunk in source.chunks]
    return {name.partition(".")[0] for text in texts for name in imported_names(text)}


def _is_aside(path: str, folders: frozenset[str]) -> bool:
    """Whether a file tests code, or shows how a package is used: what it scores is no result."""
    *parts, name = Path(path).parts
    return name.startswith(("test_", "conftest")) or not folders.isdisjoint(parts)


def _is_package(root: Path) -> bool:
    """Whether the project is built to be installed by others, who pick the versions."""
    return (root / "setup.py").is_file() or "build-system" in load_toml(root / "pyproject.toml")
