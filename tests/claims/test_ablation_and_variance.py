"""Ablation tables, interactions, variance components and budgets, through the command."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leakcheck.claims.variance import accuracy_error, variance_components

Compare = Callable[..., tuple[int, str, str]]

NOISE = (0.000, 0.004, -0.003, 0.002)


def cells(scores: dict[tuple[str, str], float], wobble: float = 1.0) -> str:
    lines = ["seed,augment,dropout,accuracy"]
    for (augment, dropout), score in scores.items():
        for seed, noise in enumerate(NOISE):
            tilt = wobble * 0.001 * ((seed * 7 + len(lines)) % 3)
            lines.append(f"{seed},{augment},{dropout},{score + noise + tilt:.4f}")
    return "\n".join(lines) + "\n"


FOUR = {("on", "on"): 0.90, ("off", "on"): 0.85, ("on", "off"): 0.88, ("off", "off"): 0.80}
ARGUMENTS = ("--ablation", "augment=on,dropout=on", "--metric", "accuracy", "--pair", "seed", "--threshold", "0")


def test_each_knockout_has_its_interval(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells(FOUR))
    status, out, _ = compare("ablation.csv", *ARGUMENTS)
    assert status == 0
    assert "ablation of augment=on, dropout=on (2 cells, Holm over the table)" in out
    augment = next(line for line in out.splitlines() if line.strip().startswith("augment=off"))
    assert "0.04" in augment or "0.05" in augment
    assert "supported" in augment
    assert "2 components differ from the full method" in out


def test_interaction_is_knockout_less_addition(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells(FOUR, wobble=0.0))
    _, out, _ = compare("ablation.csv", *ARGUMENTS)
    # (0.90 - 0.85) - (0.88 - 0.80)
    assert "interaction of augment  -0.03" in out


def test_cell_with_one_run_is_not_used(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells(FOUR).replace("on,off", "on,x", 3).replace("on,x", "on,y", 1))
    _, out, _ = compare("ablation.csv", *ARGUMENTS)
    assert "one run has no spread" in out


def test_ablation_as_json_carries_its_inputs(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells(FOUR, wobble=0.0))
    status, out, _ = compare("ablation.csv", *ARGUMENTS, "--output-format", "json")
    record = json.loads(out)
    assert status == 0
    assert record["ablation"]["full"] == "augment=on, dropout=on"
    knockouts = {one["component"]: one["comparison"] for one in record["ablation"]["knockouts"]}
    assert knockouts["augment"]["summary"]["difference"] == pytest.approx(0.05)
    assert knockouts["dropout"]["summary"]["difference"] == pytest.approx(0.02)
    assert knockouts["augment"]["inputs"]["pairs_total"] == len(NOISE)
    assert [one["comparison"]["summary"]["difference"] for one in record["ablation"]["interactions"]] == [
        pytest.approx(-0.03),
        pytest.approx(-0.03),
    ]


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_report_of_an_ablation(compare: Compare, suffix: str) -> None:
    Path("ablation.csv").write_text(cells(FOUR))
    compare("ablation.csv", *ARGUMENTS, "--report", f"report.{suffix}")
    text = Path(f"report.{suffix}").read_text()
    assert "2 of 2 components shown to help" in text
    assert "augment=off" in text or '"setting": "off"' in text
    assert "2 components differ from the full method" in text
    assert "each with its interval: augment, dropout" in text  # the stage of the loop
    assert "inverted distribution function" in text


def test_report_of_an_ablation_without_a_usable_cell(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells({("on", "on"): 0.9, ("off", "off"): 0.8}))
    compare("ablation.csv", *ARGUMENTS, "--report", "report.md")
    text = Path("report.md").read_text()
    assert text.startswith("## Warning: The table shows the effect of no component")
    assert "- [ ] no evidence Ablations" in text


def test_ablation_goes_to_a_file(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells(FOUR))
    _, out, _ = compare("ablation.csv", *ARGUMENTS, "--output-file", "out.txt")
    assert out == ""
    assert "ablation of augment=on, dropout=on" in Path("out.txt").read_text()


def test_no_full_cell(compare: Compare) -> None:
    Path("ablation.csv").write_text(cells({("off", "on"): 0.8}))
    status, _, err = compare("ablation.csv", *ARGUMENTS)
    assert status == 2
    assert "the table has no run of the full method (expected augment=on, dropout=on)" in err


def test_variance_components_of_simulated_factors() -> None:
    rng = np.random.default_rng(0)
    init, order = rng.normal(0, 0.03, 60), rng.normal(0, 0.01, 60)
    design = list(itertools.product(range(60), range(60)))
    values = np.array([init[i] + order[j] for i, j in design]) + rng.normal(0, 0.02, len(design))
    found = variance_components(values, {"init": [str(i) for i, _ in design], "order": [str(j) for _, j in design]})
    assert [part.factor for part in found] == ["init", "order", "rest"]
    assert [part.variance**0.5 for part in found] == pytest.approx([0.03, 0.01, 0.02], rel=0.2)
    assert sum(part.share for part in found) == pytest.approx(1.0)


def test_variance_components_of_a_table(compare: Compare) -> None:
    rows = [
        f"{i}-{j},{i},{j},0.8,{0.85 + 0.01 * i + 0.002 * j + 0.0005 * ((i + j) % 2):.4f}"
        for i in range(4)
        for j in range(3)
    ]
    Path("runs.csv").write_text("id,init,order,a,b\n" + "\n".join(rows) + "\n")
    _, out, _ = compare("runs.csv", "--factors", "init,order", "--threshold", "0.01", "--report", "report.md")
    assert "where the spread comes from" in out
    assert "| init | " in Path("report.md").read_text()
    init = next(line for line in out.splitlines() if line.startswith("  init"))
    assert int(init.split(",")[1].split()[0]) > 90


def test_unbalanced_factors_are_refused(compare: Compare) -> None:
    Path("runs.csv").write_text("id,init,order,a,b\n1,1,1,0,1\n2,1,2,0,2\n3,2,1,0,3\n")
    status, _, err = compare("runs.csv", "--factors", "init,order", "--threshold", "0.01")
    assert status == 2
    assert "not balanced" in err


@pytest.mark.parametrize(("n", "points"), [(100, 2.862), (500, 1.280), (1000, 0.905), (10000, 0.286)])
def test_error_of_a_finite_test_set(n: int, points: float) -> None:
    assert 100 * accuracy_error(0.91, n) == pytest.approx(points, abs=6e-4)


def test_search_shows_its_expected_best_against_budget(compare: Compare) -> None:
    scores = (0.70, 0.72, 0.75, 0.78, 0.80)
    lines = ["params,split0_test_score,split1_test_score,split2_test_score,rank_test_score"]
    lines += [f"{i},{s:.2f},{s + 0.01 * (i % 2):.2f},{s - 0.01 * (i % 2):.2f},{5 - i}" for i, s in enumerate(scores)]
    Path("search.csv").write_text("\n".join(lines) + "\n")
    _, out, _ = compare("search.csv", "--a", "0", "--b", "3", "--threshold", "0.01")
    assert "best of 2 trials        expected 0.776 (with replacement, biased low: 0.7708)" in out
    assert "best of 5 trials        expected 0.8 (with replacement, biased low: 0.7908)" in out


def test_spread_of_one_method_needs_no_other(compare: Compare) -> None:
    rows = [f"{init},{order},{method},{0.8 + 0.02 * init + 0.001 * order * init}\n"
            for init, order, method in itertools.product(range(3), range(3), ("ours", "theirs"))]  # fmt: skip
    Path("runs.csv").write_text("init,order,method,accuracy\n" + "".join(rows))
    arguments = ("runs.csv", "--factors", "init,order", "--metric", "accuracy")
    status, out, err = compare(*arguments, "--b", "ours")
    assert (status, err) == (0, "")
    assert "init" in out and "order" in out
    status, _, err = compare(*arguments)
    assert status == 2
    assert "name the method with --b (found methods 'ours', 'theirs')" in err
