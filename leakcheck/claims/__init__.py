"""The claims leg: runs to facts."""

from __future__ import annotations

from typing import Any

__all__ = ["compare", "declared"]


def __getattr__(name: str) -> Any:
    # numpy and scipy are loaded on first use.
    if name == "compare":
        from leakcheck.claims.api import compare

        return compare
    if name == "declared":
        from leakcheck.claims.configured import declared

        return declared
    raise AttributeError(f"module 'leakcheck.claims' has no attribute {name!r}")
