"""The library tables: the built-in ones are whole and current, and what a project's table says wrongly is refused."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from leakcheck.errors import LeakcheckError
from leakcheck.flow import compiled_tables, tables

BUILT_IN = tables.load()


def part(name: str) -> str | None:
    api = BUILT_IN.lookup(name)
    return None if api is None else api.part


def table(folder: Path, text: str) -> Path:
    file = folder / "acme.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_compiled_tables_say_what_the_toml_files_say() -> None:
    assert Path(compiled_tables.__file__).read_text(encoding="utf-8") == tables.compiled()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.nn.Linear", "network"),
        ("torch.nn.modules.loss.CrossEntropyLoss", "loss"),
        ("torch.utils.data.dataset.TensorDataset", "dataset"),
        ("torchmetrics.functional.accuracy", "score"),
        ("pytorch_lightning.metrics.Accuracy", "metric"),
        ("lightning.pytorch.Trainer", "network"),
        ("lightning.pytorch.callbacks.early_stopping.EarlyStopping", "callback"),
        ("gensim.models.ldamodel.LdaModel", "transformer"),
        ("sklearn.externals.joblib.load", "load"),
        ("sklearn.preprocessing.data.StandardScaler", "transformer"),
        ("sklearn.cross_validation.train_test_split", "split"),
        ("fbprophet.Prophet", "estimator"),
        ("torch.nn.NoSuchModule", None),
    ],
)
def test_names_are_known_under_their_old_and_private_homes(name: str, expected: str | None) -> None:
    assert part(name) == expected


@pytest.mark.parametrize("name", ["hyperopt.fmin", "skopt.gp_minimize", "scipy.optimize.minimize"])
def test_optimisers_stay_out_of_the_tables(name: str) -> None:
    """The engine knows them by name and follows their objective; an entry would hide the scores in it."""
    assert part(name) is None


@pytest.mark.parametrize("library", ["gensim.models", "gensim.corpora", "statsmodels.api", "statsmodels.formula.api"])
def test_first_parameters_are_those_of_the_library(library: str) -> None:
    """Held against the library itself: rows given by a wrong name would not be seen."""
    module = pytest.importorskip(library)
    wrong = []
    for name in compiled_tables.NAMES:
        owner, _, short = name.rpartition(".")
        api = BUILT_IN.lookup(name)
        if owner == library and api is not None and api.params and hasattr(module, short):
            parameters = list(inspect.signature(getattr(module, short)).parameters)
            if tuple(parameters[: len(api.params)]) != api.params:
                wrong.append(f"{name}: {parameters[:3]}")
    assert wrong == []


@pytest.mark.parametrize("prefix", ["read_", "scan_"])
def test_all_readers_of_polars_load(prefix: str) -> None:
    polars = pytest.importorskip("polars")
    beside = ("schema", "metadata", "csv_batched")  # no rows, or old
    special = {"scan_arrow_c_stream", "scan_external_reader"}  # from objects at hand, not from outside
    readers = [n for n in dir(polars) if n.startswith(prefix) and not n.endswith(beside) and n not in special]
    assert [n for n in readers if part(f"polars.{n}") != "load"] == []


def test_a_table_of_the_project_goes_before_the_built_in_ones(tmp_path: Path) -> None:
    file = table(
        tmp_path,
        'library = ["acme"]\n[callables]\n"acme.Scaler" = { part = "transformer", learns = "scaling" }\n'
        '"torch.nn.Linear" = { part = "object" }\n',
    )
    both = tables.load([file])
    scaler, linear = both.lookup("acme.Scaler"), both.lookup("torch.nn.Linear")
    assert scaler is not None and scaler.learns == "scaling"
    assert linear is not None and linear.part == "object"
    assert {"acme", "torch"} <= both.libraries


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ('[callables]\n"acme.f" = { part = "spilt" }', 'callables."acme.f".part', "'spilt'"),
        ('[callables]\n"acme.f" = { learns = "scaling" }', 'callables."acme.f"', "learns"),
        ('[callables]\n"acme.f" = { part = "learn", learn = "scaling" }', 'callables."acme.f"', "'learn'"),
        ('[callables]\n"acme.f" = { part = "learn", params = "X" }', 'callables."acme.f".params', "'X'"),
        ('[methods.table]\n"mean" = { part = "statistic" }', "methods", "'table'"),
    ],
)
def test_a_mistake_in_a_table_is_named(tmp_path: Path, text: str, place: str, found: str) -> None:
    with pytest.raises(LeakcheckError) as raised:
        tables.load([table(tmp_path, text)])
    said = str(raised.value)
    assert place in said
    assert found in said
    assert "acme.toml" in said
