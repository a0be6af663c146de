"""Runs the rules of the claims family over facts."""

from __future__ import annotations

from collections.abc import Iterable

from leakcheck.claims.facts import ClaimFacts
from leakcheck.findings import Finding
from leakcheck.rules import check, rules


def findings_of(facts: Iterable[ClaimFacts]) -> tuple[Finding, ...]:
    """All findings about claims, in order of output."""
    checks = [rule for rule in rules(("claims",)) if rule.facts_type is ClaimFacts]
    found = (finding for one in facts for rule in checks for finding in check(rule, one))
    return tuple(sorted(found, key=Finding.sort_key))
