"""The table of scikit-learn knows every public name of the installed library that rows can pass through."""

import inspect
import warnings
from importlib import import_module

import pytest

from leakcheck.flow.tables import load

# Estimators, transformers, splitters and metrics are classes or functions of these modules.
MODULES = (
    "cluster",
    "compose",
    "covariance",
    "datasets",
    "decomposition",
    "feature_selection",
    "impute",
    "inspection",
    "manifold",
    "metrics",
    "model_selection",
    "pipeline",
    "preprocessing",
    "random_projection",
)


def estimators() -> list[str]:
    from sklearn.utils.discovery import all_estimators

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = all_estimators()
    return sorted({f"{public(cls.__module__)}.{name}" for name, cls in found})


def public(module: str) -> str:
    return ".".join(part for part in module.split(".") if not part.startswith("_"))


def public_names(module: str) -> list[str]:
    from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401

    loaded = import_module(f"sklearn.{module}")
    return [f"sklearn.{module}.{n}" for n in loaded.__all__ if not inspect.ismodule(getattr(loaded, n))]


def test_every_estimator_transformer_and_splitter_is_described() -> None:
    tables = load()
    assert [name for name in estimators() if tables.lookup(name) is None] == []


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_described(module: str) -> None:
    tables = load()
    assert [name for name in public_names(module) if tables.lookup(name) is None] == []


@pytest.mark.parametrize(
    "name",
    ["Normalizer", "Binarizer", "FunctionTransformer", "PolynomialFeatures"],
)
def test_what_works_row_by_row_learns_nothing(name: str) -> None:
    api = load().lookup(f"sklearn.preprocessing.{name}")
    assert api is not None
    assert api.learns == "nothing"
