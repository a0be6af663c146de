"""leakcheck tells whether a reported machine-learning score can be believed."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself would cost the start
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "audit", "compare", "scan"]


def __getattr__(name: str) -> Any:
    # The entry points are loaded on first use, so that `import leakcheck` costs nothing.
    if name == "scan":
        from leakcheck.run import scan

        return scan
    if name == "audit":
        from leakcheck.audit import audit

        return audit
    if name == "compare":
        from leakcheck.claims import compare

        return compare
    raise AttributeError(f"module 'leakcheck' has no attribute {name!r}")
