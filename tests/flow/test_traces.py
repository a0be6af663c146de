"""The steps that a finding shows, in words and places."""

from pathlib import Path

from leakcheck.run import scan

CODE = Path(__file__).parents[2] / "fixtures" / "code"


def test_train_and_test_put_together_are_shown_where_that_happens() -> None:
    (finding,) = scan(CODE / "z04_titanic_l.py", isolated=True).findings
    assert finding.code == "LK108"
    assert [(step.label, step.location.line) for step in finding.trace] == [
        ("median learns from `both` here", 9),
        ("train and test rows are put together here", 8),
        ("these rows are folded here", 13),
    ]
