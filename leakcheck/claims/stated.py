"""Checks the number that a claim's text states against the runs."""

from __future__ import annotations

from pathlib import Path

from leakcheck.claims.facts import Claim, Stated, Summary


def stated_numbers(claim: Claim, summary: Summary, root: Path) -> tuple[Stated, ...]:
    """Each sentence of the claim's text that compares its two methods in its metric, with what its numbers say."""
    return ()
