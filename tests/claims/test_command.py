"""`leakcheck compare` as people call it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from leakcheck.findings import Severity

Compare = Callable[..., tuple[int, str, str]]

WIDE = "id,a,b\n1,0.80,0.83\n2,0.80,0.82\n3,0.81,0.85\n4,0.80,0.81\n5,0.81,0.84\n"
LONG = "seed,method,accuracy\n" + "".join(
    f"{seed},{method},{base + gain:.3f}\n"
    for seed, base in enumerate((0.80, 0.81, 0.79, 0.82, 0.80, 0.81))
    for method, gain in (("baseline", 0.0), ("ours", 0.03 + seed * 0.001), ("theirs", 0.001 * (seed % 2)))
)


def test_supported_claim_exits_with_0(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    status, out, _ = compare("runs.csv", "--threshold", "0.01")
    assert status == 0
    assert out.startswith("b over a, value, higher is better: supported\n")
    assert "[0.016, 0.034] (95 %, exact" in out
    assert "[0.01184, 0.04016] (95 %, decides)" in out


@pytest.mark.parametrize(
    ("threshold", "verdict"),
    [("0.03", "inconclusive"), ("0.015", "method-sensitive"), ("0.016", "inconclusive"), ("0.05", "not-supported")],
)
def test_other_verdicts_exit_with_1(compare: Compare, threshold: str, verdict: str) -> None:
    Path("runs.csv").write_text(WIDE)
    status, out, _ = compare("runs.csv", "--threshold", threshold)
    assert status == 1
    assert f": {verdict}\n" in out
    assert "LK801 [error]" in out


def test_threshold_left_out(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    status, out, _ = compare("runs.csv")
    assert status == 1
    assert "LK806 [warning]" in out


def test_long_table(compare: Compare) -> None:
    Path("runs.csv").write_text(LONG)
    status, out, _ = compare(
        "runs.csv",
        "--a",
        "baseline",
        "--b",
        "ours",
        "--metric",
        "accuracy",
        "--threshold",
        "0.01",
        "--unit",
        "fraction",
    )
    assert status == 0
    assert "6 paired runs, paired by seed" in out
    assert "percentage points" in out


def test_all_other_methods_are_a_family(compare: Compare) -> None:
    Path("runs.csv").write_text(LONG)
    status, out, _ = compare("runs.csv", "--a", "baseline", "--metric", "accuracy", "--threshold", "0.01")
    assert status == 1
    assert "ours over baseline, accuracy, higher is better: supported" in out
    assert "theirs over baseline, accuracy, higher is better: not-supported" in out
    assert "2 comparisons, holm" in out


def test_row_order_changes_nothing(compare: Compare) -> None:
    lines = LONG.splitlines(keepends=True)
    shuffled = lines[1:]
    random.Random(3).shuffle(shuffled)
    Path("runs.csv").write_text(LONG)
    arguments = (
        "runs.csv",
        "--a",
        "baseline",
        "--metric",
        "accuracy",
        "--threshold",
        "0.01",
        "--output-format",
        "json",
    )
    _, first, _ = compare(*arguments)
    Path("runs.csv").write_text(lines[0] + "".join(shuffled))
    _, second, _ = compare(*arguments, "--b", "ours", "--b", "theirs")
    assert json.loads(first)["claims"] == json.loads(second)["claims"]


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_is_the_same_bytes_each_time(compare: Compare, suffix: str) -> None:
    many = "id,a,b\n" + "".join(
        f"{i},{random.Random(i).random():.4f},{random.Random(-i).random():.4f}\n" for i in range(60)
    )
    Path("runs.csv").write_text(many)
    reports = []
    for name in ("one", "two"):
        compare("runs.csv", "--threshold", "0.01", "--report", f"{name}.{suffix}")
        reports.append(Path(f"{name}.{suffix}").read_bytes())
    assert reports[0] == reports[1]


def test_export_carries_inputs_and_parameters(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    _, out, _ = compare("runs.csv", "--threshold", "0.01", "--output-format", "json")
    claim = json.loads(out)["claims"][0]
    assert claim["inputs"]["pairs"][0] == {"id": "1", "a": 0.8, "b": 0.83, "difference": 0.03}
    assert len(claim["inputs"]["sha256"]) == 64
    parameters = claim["parameters"]
    assert (parameters["level"], parameters["resamples"], parameters["seed"]) == (0.95, 2000, 42)
    assert "inverted distribution function" in parameters["quantile_rule"]
    assert set(parameters["versions"]) == {"leakcheck", "numpy", "scipy"}


def test_more_rows_than_a_classroom_needs(compare: Compare) -> None:
    rng = random.Random(1)
    Path("runs.csv").write_text(
        "id,a,b\n" + "".join(f"{i},{rng.gauss(0, 1):.3f},{rng.gauss(1, 1):.3f}\n" for i in range(201))
    )
    status, out, _ = compare("runs.csv", "--threshold", "0.1")
    assert status == 0
    assert "201 paired runs" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,a,b\n1,1,2\n2,1,2\n1,1,2\n", "line 2 and line 4: the id '1' stands twice"),
        ("id,a,b\n1,1,2\n2,,2\n", "line 3: the value of 'a' for id '2'"),
        ("id,a,b\n1,1,2\n2,,2\n", "(expected a finite number, found a blank)"),
        ("id,a,b\n1,1,2\n2,nan,2\n", "(expected a finite number, found NaN)"),
        ("id,a,b\n1,1,inf\n", "line 2: the value of 'b' for id '1' is not usable (expected a finite"),
        ("id,a,b\n1,1,1e300\n", "(expected a finite number, found 1e300, which is too large to compute with)"),
        ("id,a,b\n1,1,1e-300\n", "found 1e-300, which is too small to compute with)"),
        ("id,a,b\n1,good,2\n", "(expected a finite number, found 'good')"),
        ("id,a,b\n1,1,2\n,1,2\n", "line 3: the 'id' is blank"),
        ("id,a,b\n1,1\n", "line 2: the row has another number of cells than the header (expected 3, found 2)"),
        ("id,a,c\n1,1,2\n", "name the methods with --a and --b (found 'id', 'a', 'c')"),
        ("name,a,b\n1,1,2\n", "the column that pairs the rows is missing"),
        ("id,method,value\n1,a,2\n1,b,2\n2,a,2\n", "1 id of 'a' has no row of 'b': 2"),
        ("id,method,value\n1,a,2\n1,b,2\n2,b,2\n", "1 id of 'b' has no row of 'a': 2"),
        ("id,method,value\n1,a,2\n1,b,2\n1,b,2\n", "the id '1' stands twice for 'b'"),
        ("id,a,a\n1,1,2\n", "the column 'a' stands twice in the header"),
        ("", "the file holds no results"),
        ("id,a,b\n", "the file holds no results"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message(compare: Compare, text: str, message: str) -> None:
    Path("runs.csv").write_text(text)
    status, out, err = compare("runs.csv", "--threshold", "0.01")
    assert status == 2
    assert out == ""
    assert message in err
    assert "runs.csv" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("column", "status"), [("seed", 2), ("fold", 2), ("run", 0), ("id", 0), ("sede", 0)])
def test_what_pairs_the_rows_is_never_guessed_against_the_users_word(
    compare: Compare, column: str, status: int
) -> None:
    rows = "".join(f"{n},0.8{n},0.9{n}\n" for n in range(6))
    Path("runs.csv").write_text(f"{column},a,b\n{rows}")
    found, _, err = compare("runs.csv", "--threshold", "0.01", "--pair", "sede", "--exit-zero")
    assert found == status
    assert ("the column that pairs the rows is missing" in err) == (status == 2)


def test_values_as_large_and_small_as_may_be(compare: Compare, recwarn: pytest.WarningsRecorder) -> None:
    Path("runs.csv").write_text("id,a,b\n1,1e99,1.1e99\n2,1e-99,2e99\n3,0,1.5e99\n4,-1e99,1e99\n")
    status, out, err = compare("runs.csv", "--threshold", "0.01")
    assert (status, err, len(recwarn)) == (1, "", 0)
    assert "nan" not in out


@pytest.mark.parametrize("name", ["b\x1b[31m", "b\u202e", "b\x07"])
def test_names_do_not_reach_the_terminal_as_commands(compare: Compare, name: str) -> None:
    Path("runs.csv").write_text(WIDE.replace("id,a,b", f"id,a,{name}"))
    _, out, _ = compare("runs.csv", "--b", name)
    _, _, err = compare("runs.csv", "--b", name, "--a", f"a{name}")
    for text in (out, err):
        assert all(line.isprintable() for line in text.split("\n"))
        assert text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.csv",), "nothing.csv: the results file does not exist"),
        (("runs.csv", "--direction", "up"), "invalid choice: 'up'"),
        (("runs.csv", "--threshold", "much"), "--threshold is not usable"),
        (("runs.csv", "--threshold", "-1"), "--threshold is not usable"),
        (("runs.csv", "--level", "95"), "--level is not usable"),
        (("runs.csv", "--best-of", "0"), "--best-of is not usable (expected a whole number from 1, found 0)"),
        (("runs.csv", "--trials", "-1", "3"), "--trials is not usable (expected two whole numbers from 0, found -1 3)"),
        (("runs.csv", "--b", "a"), "a method cannot be compared with itself"),
        (("runs.pkl",), "pickles are not read"),
        (("runs.csv", "--report", "runs.pdf"), "unknown kind of report"),
    ],
)
def test_bad_arguments_are_one_message(compare: Compare, arguments: tuple[str, ...], message: str) -> None:
    Path("runs.csv").write_text(WIDE)
    Path("runs.pkl").write_bytes(b"")
    status, _, err = compare(*arguments)
    assert status == 2
    assert message in err
    assert "Traceback" not in err


def test_one_run_is_not_a_result(compare: Compare) -> None:
    Path("runs.csv").write_text("id,a,b\n1,91.0,91.8\n")
    status, out, _ = compare("runs.csv", "--threshold", "0.5", "--unit", "points")
    assert status == 1
    assert "insufficient" in out
    assert "LK802 [warning]" in out
    assert "interval [" not in out


def test_equal_differences_are_degenerate(compare: Compare) -> None:
    # In binary arithmetic these four differences are not equal.
    Path("runs.csv").write_text("id,a,b\n1,0.1,0.2\n2,0.2,0.3\n3,0.6,0.7\n4,1.1,1.2\n")
    status, out, _ = compare("runs.csv", "--threshold", "0.01")
    assert status == 1
    assert ": degenerate\n" in out


def test_exploratory_is_never_more(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    status, out, _ = compare("runs.csv", "--threshold", "0.01", "--stage", "exploratory")
    assert ": exploratory\n" in out
    assert status == 0


def test_rows_of_one_run_are_not_runs(compare: Compare) -> None:
    rng = random.Random(5)
    rows = "".join(f"{i},{i // 200},{rng.random() < 0.7:d},{rng.random() < 0.9:d}\n" for i in range(1000))
    Path("examples.csv").write_text("id,run,a,b\n" + rows)
    status, out, _ = compare("examples.csv", "--threshold", "0.01")
    assert status == 1
    assert "LK803 [error]" in out
    assert "1000 rows as independent; the column 'run' shows 5 runs" in out
    assert "5 paired runs" in out


def test_declared_clusters_are_averaged(compare: Compare) -> None:
    rng = random.Random(5)
    rows = "".join(f"{i},{i // 200},{rng.random() < 0.5:d},{rng.random() < 0.9:d}\n" for i in range(1000))
    Path("examples.csv").write_text("id,run,a,b\n" + rows)
    status, out, _ = compare("examples.csv", "--threshold", "0.01", "--cluster", "run")
    assert status == 0
    assert "1000 in 5 runs" in out
    assert "hierarchical bootstrap" in out


def test_examples_of_an_unknown_run_are_one_run(compare: Compare) -> None:
    Path("examples.csv").write_text("id,a,b\n" + "".join(f"{i},{i % 2},1\n" for i in range(1000)))
    status, out, _ = compare("examples.csv", "--threshold", "0.01", "--unit-of-analysis", "example")
    assert status == 1
    assert "LK803" in out
    assert "insufficient" in out


def test_unequal_budgets(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    status, out, _ = compare("runs.csv", "--threshold", "0.01", "--trials", "5", "20")
    assert status == 1
    assert "LK807" in out
    assert "tuned 'b' with 20 trials and 'a' with 5 (4 times)" in out


def test_best_of_many_is_taken_off(compare: Compare) -> None:
    Path("runs.csv").write_text("id,a,b\n" + "".join(f"{i},0.80,{0.81 + 0.01 * (i % 3):.2f}\n" for i in range(6)))
    status, out, _ = compare("runs.csv", "--threshold", "0.01", "--best-of", "100")
    assert status == 1
    assert "LK805" in out
    assert "sqrt(2 ln k)" in out
    status, out, _ = compare("runs.csv", "--threshold", "0.01")
    assert status == 0


def test_methods_over_data_sets_are_ranked(compare: Compare) -> None:
    rng = random.Random(2)
    rows = [
        f"{task},{seed},{method},{0.7 + gain + 0.02 * rng.random():.4f}\n"
        for task in ("adult", "bank", "covertype", "digits", "eye", "flags")
        for seed in range(3)
        for method, gain in (("forest", 0.0), ("boosting", 0.05), ("linear", -0.05))
    ]
    Path("runs.csv").write_text("task,seed,method,value\n" + "".join(rows))
    _, out, _ = compare("runs.csv", "--a", "linear", "--task", "task", "--pair", "seed", "--threshold", "0.01")
    assert "6 paired tasks" in out
    assert "3 methods over 6 data sets (Friedman" in out
    assert "critical difference" in out
    assert "linear and boosting differ by Nemenyi" in out


def test_severity_of_findings_in_json(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    _, out, _ = compare("runs.csv", "--threshold", "0.03", "--output-format", "json", "--stage", "exploratory")
    severities = {finding["severity"] for finding in json.loads(out)["findings"]}
    assert severities == {Severity.NOTE.value}


def test_concise_is_a_line_a_finding(compare: Compare) -> None:
    Path("runs.csv").write_text(WIDE)
    _, out, _ = compare("runs.csv", "--output-format", "concise")
    assert out.startswith("runs.csv: LK806 [warning] the comparison of 'b' over 'a' in value ")
    assert out.count("\n") == 1


def test_methods_that_are_not_named(compare: Compare) -> None:
    Path("runs.csv").write_text(LONG)
    status, _, err = compare("runs.csv", "--metric", "accuracy")
    assert status == 2
    assert err.rstrip().endswith(
        "runs.csv: name the methods with --a and --b (found methods 'baseline', 'ours', 'theirs')"
    )


def test_two_folders_name_the_methods(compare: Compare) -> None:
    for name, gain in (("base", 0.0), ("ours", 0.03)):
        Path(name).mkdir()
        for seed in range(4):
            Path(name, f"{seed}.json").write_text(json.dumps({"acc": 0.8 + gain + seed * 0.01 * (1 + gain)}))
    _, out, _ = compare("base/", "ours/", "--metric", "acc")
    assert out.startswith("ours over base, acc, higher is better")
    assert "\nbase/: LK806 [warning]" in out
